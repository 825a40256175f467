//! UDP whose nodes may be given by name. Names are looked up in a thread of their own,
//! because that may take seconds, and the protocol cannot wait.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use headway_node::transport::udp::Udp;
use headway_node::transport::{Transport, Waker};

use crate::config::Settings;
use crate::membership::roster::MAX_MEMBERS;
use crate::service::{ServiceError, system};

/// How long a name means the same address at least.
const FRESH_FOR: Duration = Duration::from_secs(5);

/// Names that wait to be looked up, and names that are remembered.
const MAX_NAMES: usize = 1024;

/// Control datagrams go to nodes with numbers from here on; below are the places of the ring.
const CONTROL: u32 = 1 << 31;

/// Addresses that control datagrams go to, before all are forgotten.
const MAX_ADDRESSES: usize = 2 * MAX_MEMBERS;

/// A socket, and what names mean. One address may have a number on the ring and another.
pub(crate) struct ByName {
    udp: Udp,
    /// Numbers of addresses that control datagrams go to.
    numbers: BTreeMap<String, u32>,
    names: Arc<Mutex<Names>>,
    ask: SyncSender<String>,
}

/// What each name means, and when it was last looked up.
type Names = BTreeMap<String, (Option<SocketAddr>, Instant)>;

impl ByName {
    /// A socket at `node.listen`.
    ///
    /// # Errors
    ///
    /// When the address cannot be had.
    pub(crate) fn open(settings: &Settings) -> Result<ByName, ServiceError> {
        let listen = &settings.node.listen;
        let what = format!("cannot receive at {listen} (node.listen)");
        let address = listen
            .to_socket_addrs()
            .and_then(|mut found| {
                found
                    .next()
                    .ok_or_else(|| io::Error::other("no such address"))
            })
            .map_err(system(&*what))?;
        let udp = Udp::bind(address).map_err(system(what))?;
        ByName::new(udp).map_err(system("cannot start a thread"))
    }

    fn new(udp: Udp) -> io::Result<ByName> {
        let names = Arc::new(Mutex::new(Names::new()));
        let (ask, asked) = sync_channel::<String>(MAX_NAMES);
        let (answers, waker) = (Arc::clone(&names), udp.waker());
        std::thread::Builder::new()
            .name("names".into())
            .spawn(move || {
                for name in asked {
                    let found = name
                        .to_socket_addrs()
                        .ok()
                        .and_then(|mut found| found.next());
                    if let Some(known) = lock(&answers).get_mut(&name) {
                        known.0 = found.or(known.0);
                    }
                    waker.wake();
                }
            })?;
        let numbers = BTreeMap::new();
        Ok(ByName {
            udp,
            numbers,
            names,
            ask,
        })
    }

    /// From now on `node` is at `address`, as written in the roster.
    ///
    /// # Errors
    ///
    /// When it is not known yet what the address means (`WouldBlock`); sending to the node is
    /// then loss.
    pub(crate) fn reach(&mut self, node: u32, address: &str) -> io::Result<()> {
        let found = address.parse().ok().or_else(|| self.address(address));
        let found = found.ok_or(io::ErrorKind::WouldBlock)?;
        self.udp.set_peer(node, found);
        Ok(())
    }

    /// Sends to an address as written in the roster. What a name means is looked up again and
    /// again: a member may be elsewhere by now.
    ///
    /// # Errors
    ///
    /// As for [`ByName::reach`] and [`ByName::send`].
    pub(crate) fn send_to(&mut self, address: &str, datagram: &[u8]) -> io::Result<()> {
        let known = self.numbers.get(address).copied();
        if known.is_none() && self.numbers.len() >= MAX_ADDRESSES {
            for node in std::mem::take(&mut self.numbers).into_values() {
                self.udp.remove_peer(node);
            }
        }
        let node = known.unwrap_or(CONTROL + self.numbers.len() as u32);
        self.reach(node, address)?;
        if known.is_none() {
            self.numbers.insert(address.to_owned(), node);
        }
        self.send(node, datagram)
    }

    /// As [`Transport::send`].
    pub(crate) fn send(&mut self, to: u32, datagram: &[u8]) -> io::Result<()> {
        self.udp.send(to, datagram)
    }

    /// As [`Transport::receive`].
    pub(crate) fn receive(
        &mut self,
        buffer: &mut [u8],
        wait: Duration,
    ) -> io::Result<Option<usize>> {
        self.udp.receive(buffer, wait)
    }

    /// As [`Transport::waker`].
    pub(crate) fn waker(&self) -> Waker {
        self.udp.waker()
    }

    /// What a name means, as far as that is known already.
    fn address(&self, name: &str) -> Option<SocketAddr> {
        let mut names = lock(&self.names);
        if names.len() >= MAX_NAMES && !names.contains_key(name) {
            names.clear();
        }
        let now = Instant::now();
        let known = names.get(name).copied();
        if known.is_none_or(|(_, asked)| now.duration_since(asked) >= FRESH_FOR)
            && self.ask.try_send(name.to_owned()).is_ok()
        {
            names.insert(name.to_owned(), (known.and_then(|known| known.0), now));
        }
        known?.0
    }
}

fn lock(names: &Mutex<Names>) -> MutexGuard<'_, Names> {
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_without_waiting_for_it_and_an_address_at_once() {
        let udp = Udp::bind(([127, 0, 0, 1], 0).into()).unwrap();
        let mut transport = ByName::new(udp).unwrap();
        transport.reach(1, "127.0.0.1:7400").unwrap();
        let name = "localhost:7400";
        let first = transport.reach(2, name).unwrap_err();
        assert_eq!(first.kind(), io::ErrorKind::WouldBlock);
        let began = Instant::now();
        while transport.reach(2, name).is_err() {
            assert!(began.elapsed() < Duration::from_secs(30), "never found");
            let _ = transport.receive(&mut [0; 10], Duration::from_millis(100));
        }
        transport.send(2, b"x").unwrap();
        assert!(transport.reach(3, "no such name:7400").is_err());
    }

    /// A member has another address after its restart, under the same name.
    #[test]
    fn a_name_that_means_another_address_by_now_is_sent_to_that() {
        let bind = || std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let udp = Udp::bind(([127, 0, 0, 1], 0).into()).unwrap();
        let mut transport = ByName::new(udp).unwrap();
        for socket in [bind(), bind()] {
            let found = Some(socket.local_addr().unwrap());
            let known = (found, Instant::now());
            lock(&transport.names).insert("c:7400".into(), known);
            transport.send_to("c:7400", b"x").unwrap();
            let wait = Some(Duration::from_secs(30));
            socket.set_read_timeout(wait).unwrap();
            assert_eq!(socket.recv(&mut [0; 10]).unwrap(), 1);
        }
        assert_eq!(transport.numbers.len(), 1);
    }
}
