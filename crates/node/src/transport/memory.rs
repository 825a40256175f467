//! A whole ring in one program: datagrams are copied from node to node.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::{Doorbell, Transport, Waker, no_way_to, too_long};

/// How many datagrams from one sender wait for a receiver at most.
pub const MOST_PER_SENDER: usize = 4;

/// How many datagrams wait for a receiver at most, from whomever.
pub const MOST_WAITING: usize = 4 * MOST_PER_SENDER;

/// The inboxes of all nodes.
///
/// ```
/// use std::time::Duration;
/// use headway_node::transport::{Transport, memory::Network};
///
/// let network = Network::new(2);
/// let (mut one, mut other) = (network.endpoint(0), network.endpoint(1));
/// one.send(1, b"hello").unwrap();
/// let mut buffer = [0; 64];
/// let received = other.receive(&mut buffer, Duration::from_secs(1)).unwrap();
/// assert_eq!(received, Some(5));
/// ```
#[derive(Clone, Debug)]
pub struct Network {
    inboxes: Arc<[Inbox]>,
    largest: usize,
}

/// One node's connection.
#[derive(Debug)]
pub struct Endpoint {
    network: Network,
    index: u32,
}

#[derive(Debug, Default)]
struct Inbox {
    waiting: Mutex<Waiting>,
    arrival: Condvar,
    /// Rung for every arrival, if one thread looks after several inboxes.
    bell: OnceLock<Arc<Bell>>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Sender and datagram, oldest first.
    datagrams: VecDeque<(u32, Vec<u8>)>,
    /// Emptied ones, to be filled again.
    spare: Vec<Vec<u8>>,
    woken: bool,
}

impl Network {
    /// The inboxes of `nodes` nodes, for datagrams as long as UDP's.
    pub fn new(nodes: u32) -> Network {
        Network {
            inboxes: (0..nodes).map(|_| Inbox::default()).collect(),
            largest: 65_507,
        }
    }

    /// The connection of node `index`. Two connections of one node share its inbox.
    ///
    /// # Panics
    ///
    /// When there is no such node.
    pub fn endpoint(&self, index: u32) -> Endpoint {
        assert!((index as usize) < self.inboxes.len(), "no node {index}");
        Endpoint {
            network: self.clone(),
            index,
        }
    }
}

impl Network {
    /// The connections of several nodes that one thread looks after, and their
    /// common bell.
    ///
    /// # Panics
    ///
    /// When there is no such node, or it has a bell already.
    pub fn together(&self, nodes: impl IntoIterator<Item = u32>) -> (Vec<Endpoint>, MemoryBell) {
        let bell = Arc::new(Bell::default());
        let endpoints = nodes.into_iter().map(|index| {
            let endpoint = self.endpoint(index);
            let hung = self.inboxes[index as usize].bell.set(Arc::clone(&bell));
            assert!(hung.is_ok(), "node {index} has a bell already");
            endpoint
        });
        (endpoints.collect(), MemoryBell(bell))
    }
}

/// Waits for several inboxes at once.
#[derive(Debug)]
pub struct MemoryBell(Arc<Bell>);

/// Rung for several inboxes.
#[derive(Debug, Default)]
struct Bell {
    rung: AtomicBool,
    sleeping: Mutex<()>,
    ringing: Condvar,
}

impl Bell {
    fn ring(&self) {
        if !self.rung.swap(true, Ordering::SeqCst) {
            // Whoever saw it not rung before going to sleep holds this.
            drop(self.sleeping.lock());
            self.ringing.notify_all();
        }
    }
}

impl Doorbell for MemoryBell {
    fn wait(&mut self, most: Duration) -> io::Result<()> {
        let bell = &self.0;
        let sleeping = bell.sleeping.lock().unwrap_or_else(PoisonError::into_inner);
        let quiet = |(): &mut ()| !bell.rung.load(Ordering::SeqCst);
        let most = most.min(LONGEST);
        drop(bell.ringing.wait_timeout_while(sleeping, most, quiet));
        bell.rung.store(false, Ordering::SeqCst);
        Ok(())
    }
}

/// As long as waiting makes sense, and no clock overflows.
const LONGEST: Duration = Duration::from_secs(86_400);

impl Transport for Endpoint {
    fn send(&mut self, to: u32, datagram: &[u8]) -> io::Result<()> {
        let largest = self.network.largest;
        if datagram.len() > largest {
            return Err(too_long(datagram.len(), largest));
        }
        let inbox = self.network.inboxes.get(to as usize);
        inbox
            .ok_or_else(|| no_way_to(to))?
            .put(self.index, datagram);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
        Ok(self.network.inboxes[self.index as usize].take(buffer, wait))
    }

    fn largest_datagram(&self) -> usize {
        self.network.largest
    }

    fn waker(&self) -> Waker {
        let (network, index) = (self.network.clone(), self.index as usize);
        Waker::new(move || {
            let inbox = &network.inboxes[index];
            inbox.lock().woken = true;
            inbox.notify();
        })
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // No code that holds it can panic half-way.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, from: u32, datagram: &[u8]) {
        let mut waiting = self.lock();
        waiting.make_room(from);
        let mut copy = waiting.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(datagram);
        waiting.datagrams.push_back((from, copy));
        drop(waiting);
        self.notify();
    }

    fn notify(&self) {
        match self.bell.get() {
            Some(bell) => bell.ring(),
            None => self.arrival.notify_all(),
        }
    }

    fn take(&self, buffer: &mut [u8], wait: Duration) -> Option<usize> {
        let mut waiting = self.lock();
        let mut until = None;
        loop {
            while let Some((_, datagram)) = waiting.datagrams.pop_front() {
                let length = datagram.len();
                let fits = buffer.get_mut(..length);
                let taken = fits.map(|place| place.copy_from_slice(&datagram));
                waiting.keep(datagram);
                if taken.is_some() {
                    return Some(length);
                }
            }
            if std::mem::take(&mut waiting.woken) || wait.is_zero() || self.bell.get().is_some() {
                return None;
            }
            let now = Instant::now();
            let until = *until.get_or_insert_with(|| now + wait.min(LONGEST));
            let left = until.saturating_duration_since(now);
            if left.is_zero() {
                return None;
            }
            let woken = self.arrival.wait_timeout(waiting, left);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Waiting {
    /// Drops the oldest of this sender, or of all, if there are too many.
    fn make_room(&mut self, from: u32) {
        let own = || self.datagrams.iter().filter(|(sender, _)| *sender == from);
        let oldest = if own().count() >= MOST_PER_SENDER {
            let mut all = self.datagrams.iter();
            all.position(|(sender, _)| *sender == from)
        } else if self.datagrams.len() >= MOST_WAITING {
            Some(0)
        } else {
            None
        };
        if let Some((_, datagram)) = oldest.and_then(|at| self.datagrams.remove(at)) {
            self.keep(datagram);
        }
    }

    fn keep(&mut self, datagram: Vec<u8>) {
        if self.spare.len() < MOST_WAITING {
            self.spare.push(datagram);
        }
    }
}
