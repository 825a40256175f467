//! The transport that a node has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use headway_node::transport::{Transport, Waker, no_way_to, too_long};

use crate::inbox::{Inbox, Mailbox};
use crate::keeper::{Keeper, Shared};
use crate::options::Options;
use crate::outbox::{Channel, Outbox};
use crate::setup::Keys;

/// As with UDP, so that nothing depends on which of them carries a ring.
pub use headway_node::transport::udp::MAX_DATAGRAM_BYTES;

/// One node's sessions.
///
/// Nodes have numbers; who is beside this one on the ring is told by
/// [`ZenohTransport::set_neighbours`], and where anybody is by
/// [`ZenohTransport::set_peer`]. It opens even if nobody is reachable;
/// [`ZenohTransport::links`] shows the connections. Do not open it inside an asynchronous
/// runtime, where Zenoh refuses to wait.
pub struct ZenohTransport {
    mailbox: Arc<Mailbox>,
    shared: Arc<Shared>,
    /// Of neighbours.
    names: BTreeMap<u32, String>,
    peers: BTreeMap<u32, Peer>,
    keeper: Option<JoinHandle<()>>,
}

struct Peer {
    outbox: Arc<Outbox>,
    /// A neighbour's.
    name: Option<String>,
}

/// The state of the connection to one neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkStatus {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
    /// How long ago it was heard, if it was.
    pub heard: Option<Duration>,
    /// There is a session to it, connected or not.
    pub open: bool,
    /// It reads what it is told, as far as Zenoh knows.
    pub connected: bool,
    /// It lives, as far as Zenoh knows: a hint.
    pub alive: bool,
    /// How often its session was opened anew.
    pub reopened: u64,
}

impl ZenohTransport {
    /// Listens. Nobody is reached yet.
    ///
    /// # Errors
    ///
    /// When it cannot listen there, or the certificates are not usable.
    pub fn open(options: Options) -> io::Result<ZenohTransport> {
        let keys = Keys::new(&options.ring);
        let mailbox = Arc::new(Mailbox::default());
        let shared = Arc::new(Shared::default());
        let inbox = Inbox::open(&options, &keys, &BTreeSet::new(), &mailbox)?;
        let keeper = Keeper::new(
            options,
            keys,
            Arc::clone(&mailbox),
            Arc::clone(&shared),
            inbox,
        );
        let keeper = std::thread::Builder::new()
            .name("zenoh keeper".into())
            .spawn(move || keeper.run())?;
        Ok(ZenohTransport {
            mailbox,
            shared,
            names: BTreeMap::new(),
            peers: BTreeMap::new(),
            keeper: Some(keeper),
        })
    }

    /// The nodes beside this one, by number and name; replaces those before. What is
    /// sent to them is the state of the ring, and only what they tell is heard as
    /// that. Their addresses follow by [`ZenohTransport::set_peer`].
    pub fn set_neighbours(&mut self, neighbours: &[(u32, &str)]) {
        let named = neighbours.iter();
        self.names = named
            .map(|(node, name)| (*node, (*name).to_owned()))
            .collect();
        let names = &self.names;
        self.peers.retain(|node, peer| {
            let name = names.get(node).cloned();
            let gone = peer.name.is_some() && name.is_none();
            peer.name = name;
            !gone
        });
        self.tell_neighbours();
    }

    /// Where a node listens, `HOST:PORT`; replaces what was known. To one that is no
    /// neighbour, control datagrams are sent.
    pub fn set_peer(&mut self, node: u32, address: &str) {
        let known = self.peers.get(&node);
        if known.is_some_and(|peer| peer.outbox.address == address) {
            return;
        }
        let outbox = {
            let mut wanted = self.shared.wanted();
            let outbox = wanted
                .outboxes
                .entry(address.to_owned())
                .or_insert_with(|| Arc::new(Outbox::new(address)));
            Arc::clone(outbox)
        };
        let name = self.names.get(&node).cloned();
        let neighbour = name.is_some();
        self.peers.insert(node, Peer { outbox, name });
        if neighbour {
            self.tell_neighbours();
        }
    }

    /// There is no way to this node any more.
    pub fn remove_peer(&mut self, node: u32) {
        if let Some(Peer { name: Some(_), .. }) = self.peers.remove(&node) {
            self.tell_neighbours();
        }
    }

    /// The connections to the neighbours, by name.
    pub fn links(&self) -> Vec<LinkStatus> {
        let now = Instant::now();
        let mut links: BTreeMap<&str, LinkStatus> = BTreeMap::new();
        for peer in self.peers.values() {
            let Some(name) = &peer.name else { continue };
            let condition = peer.outbox.condition();
            let heard = self.mailbox.heard(name);
            links.insert(
                name,
                LinkStatus {
                    name: name.clone(),
                    address: peer.outbox.address.clone(),
                    heard: heard.map(|heard| now.saturating_duration_since(heard)),
                    open: condition.is_some(),
                    connected: condition.is_some_and(|condition| condition.matched),
                    alive: condition.is_some_and(|condition| condition.alive),
                    reopened: peer.outbox.reopened(),
                },
            );
        }
        links.into_values().collect()
    }

    /// How many datagrams came from somebody who is no neighbour, or were too long.
    /// What access control has kept out is not among them.
    pub fn refused(&self) -> u64 {
        self.mailbox.refused()
    }

    fn tell_neighbours(&self) {
        let neighbours: BTreeMap<String, String> = self
            .peers
            .values()
            .filter_map(|peer| Some((peer.name.clone()?, peer.outbox.address.clone())))
            .collect();
        // From the names, so that access control changes once, not address by address.
        let allowed: BTreeSet<String> = self.names.values().cloned().collect();
        self.mailbox.set_neighbours(&allowed);
        let mut wanted = self.shared.wanted();
        wanted.neighbours = neighbours;
        wanted.allowed = allowed;
        drop(wanted);
        self.shared.signal.raise();
    }
}

impl Transport for ZenohTransport {
    fn send(&mut self, to: u32, datagram: &[u8]) -> io::Result<()> {
        if datagram.len() > MAX_DATAGRAM_BYTES {
            return Err(too_long(datagram.len(), MAX_DATAGRAM_BYTES));
        }
        let peer = self.peers.get(&to).ok_or_else(|| no_way_to(to))?;
        let channel = match peer.name {
            Some(_) => Channel::Ring,
            None => Channel::Control,
        };
        if peer.outbox.send(channel, datagram) {
            self.shared.signal.raise();
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
        Ok(self.mailbox.take(buffer, wait))
    }

    fn largest_datagram(&self) -> usize {
        MAX_DATAGRAM_BYTES
    }

    fn waker(&self) -> Waker {
        let mailbox = Arc::clone(&self.mailbox);
        Waker::new(move || mailbox.wake())
    }
}

impl Drop for ZenohTransport {
    fn drop(&mut self) {
        self.shared.wanted().stop = true;
        self.shared.signal.raise();
        if let Some(keeper) = self.keeper.take() {
            // If it has panicked, its sessions are closed all the same.
            let _ = keeper.join();
        }
    }
}

impl fmt::Debug for ZenohTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ZenohTransport")
            .field("links", &self.links())
            .finish_non_exhaustive()
    }
}
