//! A whole ring on virtual time: every run is a function of one seed.
//!
//! Machines, a network that delays, loses, duplicates, reorders and corrupts, and
//! applications that work for a while when they are granted a permit, all driven by one
//! queue of events in order of time. Nothing waits, so a minute of a ring's life takes
//! milliseconds, and a run that went wrong can be repeated.
//!
//! ```
//! use headway_node::{Config, Plan, RingId};
//! use headway_stage::world::{Conditions, Settings, World};
//! use std::time::Duration;
//!
//! let plan = Plan::new(8, 2, 2).unwrap();
//! let nodes = (0..8).map(|index| Config::new(RingId([1; 16]), index, plan));
//! let conditions = Conditions { loss: 0.2, ..Conditions::default() };
//! let mut world = World::new(nodes, Settings { conditions, ..Settings::default() }).unwrap();
//! world.run_for(Duration::from_secs(10));
//! assert!(world.settled() && world.observer().violations().is_empty());
//!
//! world.scramble_all();
//! world.run_for(Duration::from_secs(10));
//! assert!(world.settled());
//! ```

mod faults;
mod network;
mod sabotage;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use headway_node::{Config, ConfigError, Event, Key, Machine};

use crate::observer::Observer;

pub use network::Conditions;
pub use sabotage::Sabotage;

use network::Datagram;

type Micros = u64;

fn micros(duration: Duration) -> Micros {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// What surrounds the nodes.
#[derive(Debug)]
pub struct Settings {
    /// The ring's key.
    pub key: Key,
    /// What the network does to datagrams.
    pub conditions: Conditions,
    /// How long applications work.
    pub work: Work,
    /// Of everything random.
    pub seed: u64,
    /// What breaks the nodes, if anything does.
    pub sabotage: Option<Box<dyn Sabotage>>,
}

impl Default for Settings {
    /// No key, the default network and work, seed 2009, nothing broken.
    fn default() -> Settings {
        Settings {
            key: Key::none(),
            conditions: Conditions::default(),
            work: Work::default(),
            seed: 2009,
            sabotage: None,
        }
    }
}

/// How long applications work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// At least.
    pub min: Duration,
    /// At most, which is also how long they take to stop when asked to.
    pub max: Duration,
}

impl Default for Work {
    /// Up to a millisecond.
    fn default() -> Work {
        Work {
            min: Duration::ZERO,
            max: Duration::from_millis(1),
        }
    }
}

/// A ring, its network and its applications.
#[derive(Debug)]
pub struct World {
    machines: Vec<Machine>,
    settings: Settings,
    /// Nodes that are switched off.
    down: Vec<bool>,
    random: ChaCha8Rng,
    now: Micros,
    queue: BinaryHeap<Reverse<(Micros, u64, Happening)>>,
    events: u64,
    /// When each node is to be called, as far as the queue knows.
    timers: Vec<Micros>,
    buffer: Vec<u8>,
    under_way: Vec<Datagram>,
    unused: Vec<usize>,
    /// The datagrams under way from one node to another, as places in `under_way`.
    between: BTreeMap<(u32, u32), Vec<usize>>,
    /// Nodes whose applications work for another time.
    works: BTreeMap<u32, Work>,
    observer: Observer,
    /// The latest moment at which some node was not settled.
    unsettled_at: Micros,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// A datagram arrives: its place in `under_way`.
    Arrival(usize),
    Timeout(u32),
    /// An application is done.
    Done {
        node: u32,
        token: u32,
        fence: u64,
    },
}

impl World {
    /// A new ring, all nodes just started.
    ///
    /// # Errors
    ///
    /// When a configuration is wrong.
    pub fn new(
        nodes: impl IntoIterator<Item = Config>,
        settings: Settings,
    ) -> Result<World, ConfigError> {
        let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
        let machines = nodes
            .into_iter()
            .map(|config| settings.machine(config, random.next_u64()))
            .collect::<Result<Vec<_>, _>>()?;
        // A new ring is promised to do no harm from the start.
        let mut observer = Observer::new(&machines[0].config().plan);
        observer.settled(Duration::ZERO);
        let n = machines.len();
        let bytes = machines.iter().map(|node| node.config().datagram_bytes());
        let mut world = World {
            settings,
            down: vec![false; n],
            random,
            now: 1,
            queue: BinaryHeap::new(),
            events: 0,
            timers: vec![Micros::MAX; n],
            buffer: vec![0; bytes.max().unwrap_or(0)],
            under_way: Vec::new(),
            unused: Vec::new(),
            between: BTreeMap::new(),
            works: BTreeMap::new(),
            observer,
            unsettled_at: 0,
            machines,
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

    /// How long the application of one node works from now on, when it next begins.
    pub fn set_work(&mut self, node: u32, work: Work) {
        self.works.insert(node, work);
    }

    /// The application of a node wants to work with a token that it has done with and that
    /// still stands there. Whether it may.
    pub fn want(&mut self, node: u32, token: u32) -> bool {
        let now = self.now();
        let machine = &mut self.machines[node as usize];
        let held = machine.held().find(|held| held.token == token);
        let may = held.is_some_and(|held| machine.handle_wanted(now, token, held.fence));
        self.after(node);
        may
    }

    /// The one who watches the permits.
    pub fn observer(&self) -> &Observer {
        &self.observer
    }

    /// From now on everything is promised again, which a corruption had suspended.
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
        let now = self.now();
        let node = match happening {
            Happening::Arrival(place) => {
                let datagram = &mut self.under_way[place];
                datagram.live = false;
                self.unused.push(place);
                let (from, to) = (datagram.from, datagram.to);
                let dropped = datagram.dropped;
                if let Some(places) = self.between.get_mut(&(from, to)) {
                    places.retain(|other| *other != place);
                }
                if dropped || self.down[to as usize] {
                    return;
                }
                let datagram = &mut self.under_way[place];
                let mut bytes = std::mem::take(&mut datagram.bytes);
                let machine = &mut self.machines[to as usize];
                if let Some(sabotage) = &mut self.settings.sabotage {
                    sabotage.before(machine, Some(&mut bytes));
                }
                // The machine counts what it rejects.
                let _ = machine.handle_datagram(now, &bytes);
                self.under_way[place].bytes = bytes;
                to
            }
            Happening::Timeout(node) => {
                if self.timers[node as usize] != self.now || self.down[node as usize] {
                    return;
                }
                self.timers[node as usize] = Micros::MAX;
                let machine = &mut self.machines[node as usize];
                if let Some(sabotage) = &mut self.settings.sabotage {
                    sabotage.before(machine, None);
                }
                machine.handle_timeout(now);
                node
            }
            Happening::Done { node, token, fence } => {
                if self.fence_of(node, token) == Some(fence) {
                    self.observer.ended(node, token);
                    self.machines[node as usize].handle_work_done(now, token, fence, None);
                }
                node
            }
        };
        if let Some(sabotage) = &mut self.settings.sabotage {
            sabotage.after(&mut self.machines[node as usize]);
        }
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
                Event::Granted { token, fence } => self.work(node, token, fence),
                Event::Withdrawn { token, .. } => {
                    // It takes its time to stop, but less than it takes to finish.
                    if let Some(fence) = self.fence_of(node, token) {
                        let time = self.draw(micros(self.settings.work.max) / 2);
                        self.push(self.now + time, Happening::Done { node, token, fence });
                    }
                }
                _ => {}
            }
        }
        if !self.machines[index].settled() {
            self.unsettled_at = self.now;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        while let Some(datagram) = self.machines[index].poll_transmit(&mut buffer) {
            self.send(node, datagram.to, &buffer[..datagram.bytes]);
        }
        self.buffer = buffer;
        let next = micros(self.machines[index].poll_timeout());
        self.call_at(node, next.max(self.now + 1));
    }

    /// An application begins to work.
    fn work(&mut self, node: u32, token: u32, fence: u64) {
        let now = self.now();
        // One that was not told of the end of a permit begins anew.
        self.observer.ended(node, token);
        self.observer.granted(now, node, token, fence);
        let usual = self.settings.work;
        let Work { min, max } = self.works.get(&node).copied().unwrap_or(usual);
        let time = micros(min) + self.draw(micros(max - min));
        self.push(self.now + time, Happening::Done { node, token, fence });
        if let Some(sabotage) = &mut self.settings.sabotage
            && sabotage.ends_early()
        {
            self.machines[node as usize].handle_work_done(now, token, fence, None);
        }
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

    /// A number from 0 to `max`.
    fn draw(&mut self, max: u64) -> u64 {
        match max {
            0 => 0,
            _ => self.random.next_u64() % (max + 1),
        }
    }
}
