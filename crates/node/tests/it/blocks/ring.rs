//! A ring of moving blocks, a millisecond at a time.

use std::time::Duration;

use headway_core::token_ring::holds;
use headway_node::{Config, Key, Machine, Plan, RingId};

pub(crate) const NODES: usize = 5;

pub(crate) struct Ring {
    pub(crate) nodes: Vec<Machine>,
    pub(crate) now: Duration,
    started: u64,
}

/// A node of a ring with one token.
pub(crate) fn config(index: usize) -> Config {
    config_of(index, 1)
}

pub(crate) fn config_of(index: usize, tokens: u32) -> Config {
    let plan = Plan::moving_block(NODES as u32, tokens, 1).expect("it fits");
    Config::new(RingId([7; 16]), index as u32, plan)
}

impl Ring {
    pub(crate) fn new() -> Ring {
        Ring::of(config)
    }

    pub(crate) fn of(config: impl Fn(usize) -> Config) -> Ring {
        let node = |index| Machine::new(config(index), Key::none(), index as u64 + 1);
        let nodes = (0..NODES).map(|index| node(index).expect("it fits"));
        Ring {
            nodes: nodes.collect(),
            now: Duration::ZERO,
            started: NODES as u64,
        }
    }

    fn incarnation(&mut self) -> u64 {
        self.started += 1;
        self.started << 32
    }

    /// A millisecond in which only these nodes are there.
    pub(crate) fn step(&mut self, there: &[usize]) {
        self.now += Duration::from_millis(1);
        let mut buffer = [0; 1500];
        for &at in there {
            self.nodes[at].handle_timeout(self.now);
            while self.nodes[at].poll_event().is_some() {}
        }
        for &at in there {
            while let Some(datagram) = self.nodes[at].poll_transmit(&mut buffer) {
                let to = datagram.to as usize;
                if there.contains(&to) {
                    let _ = self.nodes[to].handle_datagram(self.now, &buffer[..datagram.bytes]);
                }
            }
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.nodes.iter().map(|node| node.held().count()).sum()
    }

    /// Until the token has moved so many hops.
    pub(crate) fn hops(&mut self, hops: u64) {
        let all: Vec<usize> = (0..NODES).collect();
        let count = |ring: &Ring| ring.nodes.iter().map(Machine::hops).sum::<u64>();
        let end = count(self) + hops;
        for _ in 0..100_000 {
            if count(self) >= end {
                return;
            }
            let held: Vec<_> = self.nodes.iter().map(|node| node.held().next()).collect();
            for (at, held) in held.into_iter().enumerate() {
                if let Some(held) = held {
                    self.nodes[at].handle_work_done(self.now, held.token, held.fence, None);
                }
            }
            self.step(&all);
            assert!(self.held() <= 1, "{} tokens", self.held());
        }
        panic!("the token stands");
    }

    /// How many tokens there are, by what all nodes say together.
    pub(crate) fn tokens(&self) -> usize {
        let value = |at: usize| self.values(at)[0];
        let has = |at: &usize| holds(value(*at), value((at + NODES - 1) % NODES), *at == 0);
        (0..NODES).filter(has).count()
    }

    pub(crate) fn saved(&self, at: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.nodes[at].save(&mut bytes);
        bytes
    }

    pub(crate) fn restore(&mut self, at: usize, saved: &[u8]) {
        let incarnation = self.incarnation();
        let node = Machine::restore(config(at), Key::none(), incarnation, self.now, saved);
        self.nodes[at] = node.expect("its own");
    }

    pub(crate) fn lose(&mut self, at: usize) {
        let incarnation = self.incarnation();
        self.nodes[at] = Machine::new(config(at), Key::none(), incarnation).expect("it fits");
    }

    pub(crate) fn values(&self, at: usize) -> Vec<u32> {
        self.nodes[at].local().values
    }
}
