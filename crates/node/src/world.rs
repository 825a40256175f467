//! A whole ring on virtual time: every run is a function of one seed.
//!
//! Machines, a network that delays, loses, duplicates, reorders and corrupts, and
//! applications that work for a while when they are granted a permit, all driven by
//! one queue of events in order of time. Nothing waits, so a minute of a ring's life
//! takes milliseconds, and a run that went wrong can be had again.
//!
//! ```
//! use headway_node::world::{Network, World, Work};
//! use headway_node::{Config, Key, Plan, RingId};
//! use std::time::Duration;
//!
//! let plan = Plan::new(8, 2, 2).unwrap();
//! let nodes = (0..8).map(|index| Config::new(RingId([1; 16]), index, plan));
//! let network = Network { loss: 0.2, ..Network::default() };
//! let mut world = World::new(nodes, &Key::none(), network, Work::default(), 2009).unwrap();
//! world.run_for(Duration::from_secs(10));
//! assert!(world.settled() && world.observer().violations().is_empty());
//!
//! world.scramble_all();
//! world.run_for(Duration::from_secs(10));
//! assert!(world.settled());
//! ```

mod faults;
mod network;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;
use std::vec::Vec;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::observer::Observer;
use crate::{Config, ConfigError, Event, Key, Machine, Micros, micros};

pub use network::Network;

use network::Datagram;

/// How long applications work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// At least.
    pub least: Duration,
    /// At most, which is also how long they take to stop when asked to.
    pub most: Duration,
}

impl Default for Work {
    /// Up to a millisecond.
    fn default() -> Work {
        Work {
            least: Duration::ZERO,
            most: Duration::from_millis(1),
        }
    }
}

/// A ring, its network and its applications.
#[derive(Debug)]
pub struct World {
    machines: Vec<Machine>,
    key: Key,
    /// Nodes that are switched off.
    down: Vec<bool>,
    /// Ordered pairs of nodes that cannot reach each other.
    cut: Vec<(u32, u32)>,
    network: Network,
    work: Work,
    random: ChaCha8Rng,
    now: Micros,
    queue: BinaryHeap<Reverse<(Micros, u64, Happening)>>,
    events: u64,
    /// When each node is to be called, as far as the queue knows.
    timers: Vec<Micros>,
    buffer: Vec<u8>,
    under_way: Vec<Datagram>,
    unused: Vec<usize>,
    observer: Observer,
    /// The latest moment at which some node was not settled.
    unsettled_at: Micros,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// A datagram arrives: its place in `under_way`.
    Arrival(usize),
    Timeout(u32),
    /// An application is done: node, token, fencing number.
    Done(u32, u32, u64),
}

impl World {
    /// A new ring, all nodes just started.
    ///
    /// # Errors
    ///
    /// When a configuration is wrong.
    pub fn new(
        nodes: impl IntoIterator<Item = Config>,
        key: &Key,
        network: Network,
        work: Work,
        seed: u64,
    ) -> Result<World, ConfigError> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let machines = nodes
            .into_iter()
            .map(|config| Machine::new(config, key.clone(), random.next_u64()))
            .collect::<Result<Vec<_>, _>>()?;
        // A new ring is promised to do no harm from the start.
        let mut observer = Observer::new(&machines[0].config().plan);
        observer.settled(Duration::ZERO);
        let n = machines.len();
        let mut world = World {
            down: vec![false; n],
            cut: Vec::new(),
            network,
            work,
            random,
            now: 1,
            queue: BinaryHeap::new(),
            events: 0,
            timers: vec![Micros::MAX; n],
            buffer: vec![
                0;
                machines
                    .iter()
                    .map(|m| m.config().datagram_bytes())
                    .max()
                    .unwrap_or(0)
            ],
            under_way: Vec::new(),
            unused: Vec::new(),
            observer,
            unsettled_at: 0,
            machines,
            key: key.clone(),
        };
        for node in 0..n {
            world.call_at(node as u32, 1);
        }
        Ok(world)
    }

    /// Lets time pass.
    pub fn run_for(&mut self, time: Duration) {
        let end = self.now.saturating_add(micros(time));
        while let Some(&Reverse((at, _, happening))) = self.queue.peek() {
            if at > end {
                break;
            }
            self.queue.pop();
            self.now = at;
            self.happen(happening);
        }
        self.now = end;
    }

    /// The nodes.
    pub fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// Who has watched.
    pub fn observer(&self) -> &Observer {
        &self.observer
    }

    /// From now on everything is promised again, which a corruption had put off.
    pub fn promise(&mut self) {
        self.observer.settled(Duration::from_micros(self.now));
    }

    /// Whether every node that is on says that it is settled.
    pub fn settled(&self) -> bool {
        let mut nodes = self.machines.iter().zip(&self.down);
        nodes.all(|(machine, down)| *down || machine.settled())
    }

    /// How long every node has been settled; nothing if one is not.
    pub fn settled_for(&self) -> Duration {
        if !self.settled() {
            return Duration::ZERO;
        }
        Duration::from_micros(self.now - self.unsettled_at.min(self.now))
    }

    /// The time.
    pub fn now(&self) -> Duration {
        Duration::from_micros(self.now)
    }

    fn happen(&mut self, happening: Happening) {
        let now = Duration::from_micros(self.now);
        let node = match happening {
            Happening::Arrival(place) => {
                let datagram = &mut self.under_way[place];
                datagram.live = false;
                self.unused.push(place);
                let to = datagram.to;
                if datagram.dropped || self.down[to as usize] {
                    return;
                }
                let bytes = core::mem::take(&mut datagram.bytes);
                // Its reasons are counted by the machine.
                let _ = self.machines[to as usize].handle_datagram(now, &bytes);
                self.under_way[place].bytes = bytes;
                to
            }
            Happening::Timeout(node) => {
                if self.timers[node as usize] != self.now || self.down[node as usize] {
                    return;
                }
                self.timers[node as usize] = Micros::MAX;
                self.machines[node as usize].handle_timeout(now);
                node
            }
            Happening::Done(node, token, fence) => {
                if self.fence_of(node, token) == Some(fence) {
                    self.observer.ended(now, node, token);
                    self.machines[node as usize].handle_work_done(now, token, fence, None);
                }
                node
            }
        };
        self.after(node);
    }

    /// Does what a node's application and its socket would do after a call.
    fn after(&mut self, node: u32) {
        let index = node as usize;
        if self.down[index] {
            return;
        }
        while let Some(event) = self.machines[index].poll_event() {
            match event {
                Event::Granted { token, fence } => {
                    let now = Duration::from_micros(self.now);
                    // Whoever was not told of the end of a permit begins anew.
                    self.observer.ended(now, node, token);
                    self.observer.granted(now, node, token, fence);
                    let most = micros(self.work.most - self.work.least);
                    let time = micros(self.work.least) + self.draw(most);
                    self.push(self.now + time, Happening::Done(node, token, fence));
                }
                Event::Withdrawn { token, .. } => {
                    // It takes its time to stop, but less than it takes to finish.
                    if let Some(fence) = self.fence_of(node, token) {
                        let time = self.draw(micros(self.work.most) / 2);
                        self.push(self.now + time, Happening::Done(node, token, fence));
                    }
                }
                _ => {}
            }
        }
        if !self.machines[index].settled() {
            self.unsettled_at = self.now;
        }
        let mut buffer = core::mem::take(&mut self.buffer);
        while let Some(datagram) = self.machines[index].poll_transmit(&mut buffer) {
            self.send(node, datagram.to, &buffer[..datagram.bytes]);
        }
        self.buffer = buffer;
        let next = micros(self.machines[index].poll_timeout());
        self.call_at(node, next.max(self.now + 1));
    }

    /// Under which number an application works, if it does.
    fn fence_of(&self, node: u32, token: u32) -> Option<u64> {
        let mut permits = self.observer.permits().iter();
        permits
            .find(|permit| (permit.node, permit.token) == (node, token))
            .map(|permit| permit.fence)
    }

    fn call_at(&mut self, node: u32, at: Micros) {
        if self.timers[node as usize] != at {
            self.timers[node as usize] = at;
            self.push(at, Happening::Timeout(node));
        }
    }

    fn push(&mut self, at: Micros, happening: Happening) {
        self.events += 1;
        self.queue.push(Reverse((at, self.events, happening)));
    }

    /// A number from 0 to `most`.
    fn draw(&mut self, most: u64) -> u64 {
        match most {
            0 => 0,
            _ => self.random.next_u64() % (most + 1),
        }
    }
}
