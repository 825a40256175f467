//! Several nodes in one thread.

use std::io;
use std::time::Duration;

use headway_node::transport::Transport;
use headway_node::transport::udp::UdpPoller;

use crate::driver::{Application, Driver, MAX_WAIT};

/// Waits for several transports at once, each of which is asked with a `wait` of zero.
pub trait Poller: Send {
    /// Returns when a datagram may have arrived for any of them, when a
    /// [`Waker`](headway_node::transport::Waker) of any was used, or after `limit`.
    ///
    /// # Errors
    ///
    /// When the system does not let it wait.
    fn wait(&mut self, limit: Duration) -> io::Result<()>;
}

impl Poller for UdpPoller {
    fn wait(&mut self, limit: Duration) -> io::Result<()> {
        UdpPoller::wait(self, limit)
    }
}

/// Nodes that take turns in one thread. Their transports must not wait on their own:
/// [`MemoryNetwork::together`](crate::memory::MemoryNetwork::together),
/// [`Udp::bind_with`](headway_node::transport::udp::Udp::bind_with).
#[derive(Debug)]
pub struct NodeGroup<T, A, P> {
    /// The nodes.
    pub nodes: Vec<Driver<T, A>>,
    poller: P,
}

impl<T: Transport, A: Application, P: Poller> NodeGroup<T, A, P> {
    /// Nodes and the poller that waits for all of their transports.
    pub const fn new(nodes: Vec<Driver<T, A>>, poller: P) -> NodeGroup<T, A, P> {
        NodeGroup { nodes, poller }
    }

    /// Runs until all nodes were told to stop.
    pub fn run(&mut self) {
        while self.nodes.iter().any(Driver::running) {
            if !self.turn() {
                self.wait();
            }
        }
    }

    /// One turn of every node. Whether any had something to do.
    ///
    /// Every other node first, then those in between: a node that hears both its
    /// neighbours before it speaks makes two ticks with one datagram to each.
    pub fn turn(&mut self) -> bool {
        let mut busy = false;
        for first in [0, 1] {
            for node in self.nodes.iter_mut().skip(first).step_by(2) {
                busy |= node.turn(Duration::ZERO);
            }
        }
        busy
    }

    fn wait(&mut self) {
        let running = self.nodes.iter().filter(|node| node.running());
        let waits = running.map(|node| node.deadline().saturating_sub(node.now()));
        let wait = waits.min().unwrap_or_default().min(MAX_WAIT);
        if !wait.is_zero() && self.poller.wait(wait).is_err() {
            std::thread::sleep(wait.min(Duration::from_millis(10)));
        }
    }
}
