//! A network within one program: datagrams are copied from node to node.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

use headway_node::transport::udp::MAX_DATAGRAM_BYTES;
use headway_node::transport::{Transport, Waker, no_way_to, too_long};

use crate::group::Poller;
use crate::lock;

/// How many datagrams from one sender wait for a receiver.
pub const MAX_PER_SENDER: usize = 4;

/// How many datagrams wait for a receiver, from all senders.
pub const MAX_WAITING: usize = 4 * MAX_PER_SENDER;

/// The inboxes of all nodes.
///
/// ```
/// use std::time::Duration;
/// use headway_node::transport::Transport;
/// use headway_stage::memory::MemoryNetwork;
///
/// let network = MemoryNetwork::new(2);
/// let (mut one, mut other) = (network.endpoint(0), network.endpoint(1));
/// one.send(1, b"hello").unwrap();
/// let mut buffer = [0; 64];
/// let received = other.receive(&mut buffer, Duration::from_secs(1)).unwrap();
/// assert_eq!(received, Some(5));
/// ```
#[derive(Clone, Debug)]
pub struct MemoryNetwork {
    inboxes: Arc<[Inbox]>,
}

/// One node's connection.
#[derive(Debug)]
pub struct MemoryEndpoint {
    network: MemoryNetwork,
    index: u32,
    /// Somebody else waits for this endpoint, among others.
    polled: bool,
}

#[derive(Debug, Default)]
struct Inbox {
    waiting: Mutex<Waiting>,
    /// Raised for every arrival.
    signal: OnceLock<Arc<Signal>>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Sender and datagram, oldest first.
    datagrams: VecDeque<(u32, Vec<u8>)>,
    /// Emptied ones, to be filled again.
    spare: Vec<Vec<u8>>,
    woken: bool,
}

/// Waits for several inboxes at once.
#[derive(Debug)]
pub struct MemoryPoller(Arc<Signal>);

#[derive(Debug, Default)]
struct Signal {
    raised: AtomicBool,
    sleeping: Mutex<()>,
    changed: Condvar,
}

impl MemoryNetwork {
    /// The inboxes of `nodes` nodes, for datagrams as long as UDP's.
    pub fn new(nodes: u32) -> MemoryNetwork {
        MemoryNetwork {
            inboxes: (0..nodes).map(|_| Inbox::default()).collect(),
        }
    }

    /// The connection of node `index`. Two connections of one node share its inbox.
    ///
    /// # Panics
    ///
    /// When there is no such node.
    pub fn endpoint(&self, index: u32) -> MemoryEndpoint {
        assert!((index as usize) < self.inboxes.len(), "no node {index}");
        self.inboxes[index as usize]
            .signal
            .get_or_init(Arc::default);
        MemoryEndpoint {
            network: self.clone(),
            index,
            polled: false,
        }
    }

    /// The connections of several nodes that one thread serves, and what waits for all
    /// of them.
    ///
    /// # Panics
    ///
    /// When there is no such node, or it has a connection already.
    pub fn together(
        &self,
        nodes: impl IntoIterator<Item = u32>,
    ) -> (Vec<MemoryEndpoint>, MemoryPoller) {
        let signal = Arc::new(Signal::default());
        let endpoints = nodes.into_iter().map(|index| {
            let inbox = &self.inboxes[index as usize];
            let first = inbox.signal.set(Arc::clone(&signal));
            assert!(first.is_ok(), "node {index} has a connection already");
            MemoryEndpoint {
                polled: true,
                ..self.endpoint(index)
            }
        });
        (endpoints.collect(), MemoryPoller(signal))
    }
}

impl Signal {
    fn raise(&self) {
        if !self.raised.swap(true, Ordering::SeqCst) {
            // Whoever saw it down and is about to sleep holds this.
            drop(self.sleeping.lock());
            self.changed.notify_all();
        }
    }

    /// Waits until it is raised, and takes it down.
    fn wait(&self, limit: Duration) {
        let sleeping = lock(&self.sleeping);
        let down = |(): &mut ()| !self.raised.load(Ordering::SeqCst);
        let limit = limit.min(MAX_WAIT);
        drop(self.changed.wait_timeout_while(sleeping, limit, down));
        self.raised.store(false, Ordering::SeqCst);
    }
}

impl Poller for MemoryPoller {
    fn wait(&mut self, limit: Duration) -> io::Result<()> {
        self.0.wait(limit);
        Ok(())
    }
}

/// So that no clock overflows.
const MAX_WAIT: Duration = Duration::from_secs(86_400);

impl Transport for MemoryEndpoint {
    fn send(&mut self, to: u32, datagram: &[u8]) -> io::Result<()> {
        if datagram.len() > MAX_DATAGRAM_BYTES {
            return Err(too_long(datagram.len(), MAX_DATAGRAM_BYTES));
        }
        let inbox = self.network.inboxes.get(to as usize);
        inbox
            .ok_or_else(|| no_way_to(to))?
            .put(self.index, datagram);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
        let inbox = &self.network.inboxes[self.index as usize];
        let mut until = None;
        loop {
            let (length, woken) = inbox.take(buffer);
            if length.is_some() || woken || wait.is_zero() || self.polled {
                return Ok(length);
            }
            let now = Instant::now();
            let until = *until.get_or_insert_with(|| now + wait.min(MAX_WAIT));
            let left = until.saturating_duration_since(now);
            if left.is_zero() {
                return Ok(None);
            }
            if let Some(signal) = inbox.signal.get() {
                signal.wait(left);
            }
        }
    }

    fn largest_datagram(&self) -> usize {
        MAX_DATAGRAM_BYTES
    }

    fn waker(&self) -> Waker {
        let (network, index) = (self.network.clone(), self.index as usize);
        Waker::new(move || {
            let inbox = &network.inboxes[index];
            lock(&inbox.waiting).woken = true;
            inbox.notify();
        })
    }
}

impl Inbox {
    fn put(&self, from: u32, datagram: &[u8]) {
        let mut waiting = lock(&self.waiting);
        waiting.make_room(from);
        let mut copy = waiting.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(datagram);
        waiting.datagrams.push_back((from, copy));
        drop(waiting);
        self.notify();
    }

    fn notify(&self) {
        if let Some(signal) = self.signal.get() {
            signal.raise();
        }
    }

    /// The oldest datagram that fits, and, if there is none, whether the waker was used.
    fn take(&self, buffer: &mut [u8]) -> (Option<usize>, bool) {
        let mut waiting = lock(&self.waiting);
        while let Some((_, datagram)) = waiting.datagrams.pop_front() {
            let length = datagram.len();
            let fits = buffer.get_mut(..length);
            let taken = fits.map(|place| place.copy_from_slice(&datagram));
            waiting.keep(datagram);
            if taken.is_some() {
                return (Some(length), false);
            }
        }
        (None, std::mem::take(&mut waiting.woken))
    }
}

impl Waiting {
    /// Drops the oldest of this sender, or of all, if there are too many.
    fn make_room(&mut self, from: u32) {
        let own = || self.datagrams.iter().filter(|(sender, _)| *sender == from);
        let oldest = if own().count() >= MAX_PER_SENDER {
            let mut all = self.datagrams.iter();
            all.position(|(sender, _)| *sender == from)
        } else if self.datagrams.len() >= MAX_WAITING {
            Some(0)
        } else {
            None
        };
        if let Some((_, datagram)) = oldest.and_then(|at| self.datagrams.remove(at)) {
            self.keep(datagram);
        }
    }

    fn keep(&mut self, datagram: Vec<u8>) {
        if self.spare.len() < MAX_WAITING {
            self.spare.push(datagram);
        }
    }
}
