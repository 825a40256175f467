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

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;
use std::vec::Vec;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::observer::Observer;
use crate::{Config, ConfigError, Event, Key, Machine, Micros, RestoreError, micros};

/// What the network does to datagrams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// The least time on the way.
    pub delay_least: Duration,
    /// The most. Datagrams overtake each other when it is more than the least.
    pub delay_most: Duration,
    /// The share that is lost, 0 to 1.
    pub loss: f64,
    /// The share that arrives twice.
    pub duplicate: f64,
    /// The share in which bits are flipped.
    pub corrupt: f64,
    /// The most datagrams under way from one node to another; more push out the
    /// oldest.
    pub capacity: usize,
}

impl Default for Network {
    /// 50 to 500 µs, nothing lost, at most eight under way.
    fn default() -> Network {
        Network {
            delay_least: Duration::from_micros(50),
            delay_most: Duration::from_micros(500),
            loss: 0.0,
            duplicate: 0.0,
            corrupt: 0.0,
            capacity: 8,
        }
    }
}

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

#[derive(Clone, Debug, Default)]
struct Datagram {
    from: u32,
    to: u32,
    bytes: Vec<u8>,
    /// Dropped on arrival.
    dropped: bool,
    live: bool,
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

    /// Overwrites a node's memory.
    pub fn scramble(&mut self, node: u32) {
        self.observer.fault(self.now(), "scramble");
        let random = &mut self.random;
        self.machines[node as usize].scramble(&mut || random.next_u64());
        self.after(node);
    }

    /// Overwrites every node's memory, and puts datagrams under way that such
    /// nodes might have sent: authentic, and wrong.
    pub fn scramble_all(&mut self) {
        for node in 0..self.machines.len() as u32 {
            let mut liar = self.machines[node as usize].clone();
            for _ in 0..self.random.next_u32() % 3 {
                let random = &mut self.random;
                liar.scramble(&mut || random.next_u64());
                liar.transmit_all();
                let mut buffer = core::mem::take(&mut self.buffer);
                while let Some(datagram) = liar.poll_transmit(&mut buffer) {
                    self.send(node, datagram.to, &buffer[..datagram.bytes]);
                }
                self.buffer = buffer;
            }
            self.scramble(node);
        }
        // Now and then the most stubborn of all wrong clocks: each in step with its
        // neighbours, and all together wound round the ring.
        if self.random.next_u32().is_multiple_of(4) {
            self.wind();
        }
    }

    fn wind(&mut self) {
        let n = self.machines.len() as u64;
        let modulus = self.machines[0].clock.modulus as u64;
        let first = self.random.next_u64() % modulus;
        // A tick from each node to the next, or as many as close the circle.
        let (rise, run) = match self.random.next_u32() % 2 {
            0 => (1, 1),
            _ => (modulus, n),
        };
        let phase = |node: u64| ((first + (node % n) * rise / run) % modulus) as i32;
        for node in 0..n {
            let machine = &mut self.machines[node as usize];
            machine.joined = true;
            machine.phase = phase(node);
            for link in &mut machine.links {
                link.known = true;
                link.joining = false;
                link.phase = phase(u64::from(link.node));
            }
        }
    }

    /// Switches a node off. Its application stops at once.
    pub fn crash(&mut self, node: u32) {
        self.down[node as usize] = true;
        self.observer.gone(node);
        self.timers[node as usize] = Micros::MAX;
    }

    /// Switches a node on again, with what it saved or, without, as new.
    ///
    /// # Errors
    ///
    /// When what was saved is damaged or not of that node.
    pub fn restart(&mut self, node: u32, saved: Option<&[u8]>) -> Result<(), RestoreError> {
        let config = *self.machines[node as usize].config();
        let incarnation = self.random.next_u64();
        let now = Duration::from_micros(self.now);
        let machine = match saved {
            Some(bytes) => Machine::restore(config, self.key.clone(), incarnation, now, bytes)?,
            None => {
                self.observer.fault(now, "amnesia");
                Machine::new(config, self.key.clone(), incarnation)?
            }
        };
        self.machines[node as usize] = machine;
        self.down[node as usize] = false;
        self.call_at(node, self.now);
        Ok(())
    }

    /// Switches a node on again that was told something else: another program at the
    /// same address.
    ///
    /// # Errors
    ///
    /// When what it was told is wrong.
    pub fn restart_as(&mut self, node: u32, config: Config) -> Result<(), ConfigError> {
        let incarnation = self.random.next_u64();
        self.machines[node as usize] = Machine::new(config, self.key.clone(), incarnation)?;
        self.down[node as usize] = false;
        self.call_at(node, self.now);
        Ok(())
    }

    /// Cuts the way from one node to another, in that direction.
    pub fn cut(&mut self, from: u32, to: u32) {
        self.cut.push((from, to));
    }

    /// Mends every cut.
    pub fn mend(&mut self) {
        self.cut.clear();
    }

    /// Changes the network's manners.
    pub fn set_network(&mut self, network: Network) {
        self.network = network;
    }

    /// Hands a datagram to a node, as anybody on the network might.
    pub fn inject(&mut self, to: u32, bytes: &[u8]) {
        let at = self.now + 1;
        self.put(u32::MAX, to, bytes, at);
    }

    /// The datagrams that are under way: for whom, and what.
    pub fn under_way(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let live = self.under_way.iter().filter(|datagram| datagram.live);
        live.map(|datagram| (datagram.to, &datagram.bytes[..]))
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

    /// Puts a datagram on its way, or does to it what networks do.
    fn send(&mut self, from: u32, to: u32, bytes: &[u8]) {
        if self.cut.contains(&(from, to)) || self.chance(self.network.loss) {
            return;
        }
        let copies = 1 + u32::from(self.chance(self.network.duplicate));
        for _ in 0..copies {
            let least = micros(self.network.delay_least);
            let spread = micros(self.network.delay_most).saturating_sub(least);
            let at = self.now + (least + self.draw(spread)).max(1);
            let place = self.put(from, to, bytes, at);
            if self.chance(self.network.corrupt) {
                let drawn = self.random.next_u64() as usize;
                self.under_way[place].bytes[drawn % bytes.len()] ^= 1 << (drawn >> 32 & 7);
            }
        }
        let mine = |datagram: &&mut Datagram| {
            datagram.live && !datagram.dropped && (datagram.from, datagram.to) == (from, to)
        };
        let crowd = self.under_way.iter_mut().filter(mine).count();
        if crowd > self.network.capacity {
            // Which of them is the oldest does not matter: some are lost.
            if let Some(lost) = self.under_way.iter_mut().find(mine) {
                lost.dropped = true;
            }
        }
    }

    fn put(&mut self, from: u32, to: u32, bytes: &[u8], at: Micros) -> usize {
        let place = self.unused.pop().unwrap_or_else(|| {
            self.under_way.push(Datagram::default());
            self.under_way.len() - 1
        });
        let datagram = &mut self.under_way[place];
        (datagram.from, datagram.to) = (from, to);
        (datagram.dropped, datagram.live) = (false, true);
        datagram.bytes.clear();
        datagram.bytes.extend_from_slice(bytes);
        self.push(at, Happening::Arrival(place));
        place
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

    fn chance(&mut self, share: f64) -> bool {
        share > 0.0 && f64::from(self.random.next_u32()) < share * 4_294_967_296.0
    }
}
