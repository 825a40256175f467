//! Several nodes in one thread.

use std::time::Duration;

use crate::driver::{Application, Driver};
use crate::transport::{Doorbell, Transport};

/// It looks after itself this often at least.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// Nodes that one thread looks after, in turn. Their transports must not wait on
/// their own: [`memory::Network::together`](crate::transport::memory::Network::together),
/// [`Udp::bind_at`](crate::transport::udp::Udp::bind_at).
#[derive(Debug)]
pub struct Crew<T, A, B> {
    /// The nodes.
    pub nodes: Vec<Driver<T, A>>,
    bell: B,
    /// So many turns without anything to do are made before it waits.
    patience: u32,
}

impl<T: Transport, A: Application, B: Doorbell> Crew<T, A, B> {
    /// Nodes and what rings when something arrives for any of them.
    pub const fn new(nodes: Vec<Driver<T, A>>, bell: B) -> Crew<T, A, B> {
        Crew {
            nodes,
            bell,
            patience: 0,
        }
    }

    /// Makes so many idle turns before it waits: quicker, and a core busy.
    #[must_use]
    pub const fn patient(mut self, turns: u32) -> Crew<T, A, B> {
        self.patience = turns;
        self
    }

    /// Runs until all nodes were told to stop.
    pub fn run(&mut self) {
        let mut idle = 0;
        while self.nodes.iter().any(Driver::running) {
            if self.turn() {
                idle = 0;
            } else if idle < self.patience {
                idle += 1;
                std::hint::spin_loop();
            } else {
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
        let waits = self
            .nodes
            .iter()
            .filter(|node| node.running())
            .map(|node| node.deadline().saturating_sub(node.now()));
        let wait = waits.min().unwrap_or_default().min(LONGEST_WAIT);
        if !wait.is_zero() && self.bell.wait(wait).is_err() {
            std::thread::sleep(wait.min(Duration::from_millis(10)));
        }
    }
}
