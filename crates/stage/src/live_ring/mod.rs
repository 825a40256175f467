//! A whole ring in one program on real time: nodes on a few threads, memory or real
//! sockets, faults at any moment, and an [`Observer`] outside of the nodes.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use headway_node::transport::Transport;
use headway_node::{Config, Machine, Rejected, Role};

use crate::driver::{Driver, Refused, Remote};
use crate::faulty::{Faulty, SharedFaults};
use crate::group::{NodeGroup, Poller};
use crate::lock;
use crate::memory::MemoryNetwork;
use crate::observer::Observer;
use crate::scramble::scramble;

mod settings;
mod sockets;
mod worker;

pub use settings::{Carrier, LiveError, LiveSettings, Range};

use sockets::sockets;
use worker::{Status, Worker};

/// A ring that runs.
#[derive(Debug)]
pub struct LiveRing {
    settings: LiveSettings,
    epoch: Instant,
    nodes: Vec<Node>,
    observer: Arc<Mutex<Observer>>,
    random: ChaCha8Rng,
    threads: Vec<JoinHandle<()>>,
    recovery_rounds: Vec<(Duration, u64)>,
}

#[derive(Debug)]
struct Node {
    config: Config,
    remote: Remote,
    status: Arc<Mutex<Status>>,
    /// Rounds that it had executed at the latest fault.
    rounds_at_fault: u64,
}

impl Node {
    fn sample(&self) -> NodeSample {
        lock(&self.status).sample
    }
}

/// What a node that starts again knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory<'n> {
    /// What it had saved: the restart is not a fault.
    Saved,
    /// Nothing, which is a fault of this name.
    Lost {
        /// For the observer's records.
        fault: &'n str,
    },
}

/// One node as last seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeSample {
    /// Not crashed.
    pub alive: bool,
    /// What it says of the ring.
    pub settled: bool,
    /// It does not hear a neighbour.
    pub deaf: bool,
    /// Rounds that it has executed.
    pub rounds: u64,
    /// Tokens that it has passed on.
    pub hops: u64,
    /// Datagrams that it has rejected, for all reasons.
    pub rejected: u64,
}

impl LiveRing {
    /// Starts all nodes, none of which knows anything.
    ///
    /// # Errors
    ///
    /// When the configuration does not fit a datagram, or the system has no more
    /// sockets or threads.
    pub fn start(settings: LiveSettings) -> Result<LiveRing, LiveError> {
        let plan = settings.plan;
        let mut ring = LiveRing {
            epoch: Instant::now(),
            nodes: Vec::new(),
            observer: Arc::new(Mutex::new(Observer::new(&plan))),
            random: ChaCha8Rng::seed_from_u64(settings.seed),
            threads: Vec::new(),
            recovery_rounds: Vec::new(),
            settings,
        };
        let nodes: Vec<u32> = (0..plan.nodes()).collect();
        let size = nodes.len().div_ceil(ring.settings.threads.max(1) as usize);
        match ring.settings.carrier {
            Carrier::Memory => {
                let network = MemoryNetwork::new(plan.nodes());
                for chunk in nodes.chunks(size) {
                    let (endpoints, poller) = network.together(chunk.iter().copied());
                    ring.launch(chunk, endpoints, poller)?;
                }
            }
            Carrier::Udp => {
                for (chunk, (sockets, poller)) in nodes.chunks(size).zip(sockets(&nodes, size)?) {
                    ring.launch(chunk, sockets, poller)?;
                }
            }
        }
        Ok(ring)
    }

    /// Starts the nodes of one thread.
    fn launch<T: Transport + 'static>(
        &mut self,
        indices: &[u32],
        transports: Vec<T>,
        poller: impl Poller + 'static,
    ) -> Result<(), LiveError> {
        let mut drivers = Vec::with_capacity(indices.len());
        for (&index, transport) in indices.iter().zip(transports) {
            let (plan, timing) = (self.settings.plan, self.settings.timing);
            let payload = self.settings.payload;
            let config = Config {
                timing,
                payload,
                role: Role::usual(index, plan.nodes()),
                ..Config::new(Config::identity(b"live", &plan, payload), index, plan)
            };
            let incarnation = self.random.next_u64();
            let machine = Machine::new(config, self.settings.key.clone(), incarnation)?;
            let status = Arc::<Mutex<Status>>::default();
            let worker = Worker::new(index, &self.settings, &self.observer, &status);
            let faults = self.settings.faults.clone();
            let transport = Faulty::new(transport, index, faults, self.settings.seed);
            let driver = Driver::new(machine, transport, worker, self.epoch);
            self.nodes.push(Node {
                config,
                remote: driver.remote(),
                status,
                rounds_at_fault: 0,
            });
            drivers.push(driver);
        }
        let mut group = NodeGroup::new(drivers, poller);
        let thread = std::thread::Builder::new().name("headway nodes".to_owned());
        self.threads.push(thread.spawn(move || group.run())?);
        Ok(())
    }

    /// Time since the ring was started.
    pub fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// How it was started.
    pub const fn settings(&self) -> &LiveSettings {
        &self.settings
    }

    /// The network's faults, to change.
    pub const fn faults(&self) -> &SharedFaults {
        &self.settings.faults
    }

    /// The one who watches the permits.
    pub fn observer(&self) -> MutexGuard<'_, Observer> {
        lock(&self.observer)
    }

    /// What the nodes say, in order. If all of them have called the ring settled for
    /// a whole turn since the latest corruption, the observer is told.
    pub fn sample(&mut self) -> Vec<NodeSample> {
        let nodes: Vec<NodeSample> = self.nodes.iter().map(Node::sample).collect();
        let turn = u64::from(self.settings.plan.nodes());
        let settled = self.nodes.iter().zip(&nodes).all(|(node, sample)| {
            sample.alive
                && sample.settled
                && sample.rounds > node.rounds_at_fault.saturating_add(turn)
        });
        if settled && !self.observer().is_settled() {
            let now = self.now();
            self.observer().settled(now);
            let passed = self.nodes.iter().zip(&nodes);
            let passed =
                passed.map(|(node, sample)| sample.rounds.saturating_sub(node.rounds_at_fault));
            let rounds = passed.max().unwrap_or_default();
            self.recovery_rounds.push((now, rounds));
        }
        nodes
    }

    /// When it was found settled, and how many rounds that took since the latest
    /// corruption or the start.
    pub fn recovery_rounds(&self) -> &[(Duration, u64)] {
        &self.recovery_rounds
    }

    /// How many datagrams were rejected, for each reason.
    pub fn rejected(&self) -> Vec<(Rejected, u64)> {
        let mut sums: Vec<_> = Rejected::ALL.iter().map(|&reason| (reason, 0)).collect();
        for node in &self.nodes {
            for (sum, count) in sums.iter_mut().zip(lock(&node.status).rejected) {
                sum.1 += count;
            }
        }
        sums
    }

    /// Overwrites the memory of these nodes with anything, and returns when that is
    /// done. Nothing is promised until the ring has settled again.
    ///
    /// # Errors
    ///
    /// When there is no such node or it does not answer.
    pub fn scramble(&mut self, nodes: &[u32], name: &str) -> Result<(), LiveError> {
        for &index in nodes {
            self.node(index)?;
        }
        self.fault(name);
        let (sender, done) = channel();
        for &index in nodes {
            let (sender, seed) = (sender.clone(), self.random.next_u64());
            let scramble = move |_now, machine: &mut Machine| {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                scramble(machine, &mut || random.next_u64());
                // Nobody waits for it any more if this fails.
                let _ = sender.send(());
            };
            self.command(index, |remote| remote.call(scramble))?;
        }
        for &index in nodes {
            let answer = done.recv_timeout(Duration::from_secs(10));
            answer.map_err(|_| LiveError::Refused(index, Refused::Busy))?;
        }
        self.note_rounds();
        Ok(())
    }

    /// Kills a node: it neither sends nor hears.
    ///
    /// # Errors
    ///
    /// When there is no such node or it is dead.
    pub fn crash(&mut self, index: u32) -> Result<(), LiveError> {
        let node = self.node(index)?;
        if !node.sample().alive {
            return Err(LiveError::Dead(index));
        }
        self.command(index, Remote::crash)?;
        // So that a restart finds what it left.
        self.wait_until(index, |node| !node.alive)
    }

    /// Starts a dead node again.
    ///
    /// # Errors
    ///
    /// When there is no such node or it is alive.
    pub fn restart(&mut self, index: u32, memory: Memory<'_>) -> Result<(), LiveError> {
        let node = self.node(index)?;
        if node.sample().alive {
            return Err(LiveError::Alive(index));
        }
        let (config, state) = (node.config, lock(&node.status).saved.clone());
        let (key, incarnation) = (self.settings.key.clone(), self.random.next_u64());
        let machine = match memory {
            Memory::Saved => Machine::restore(config, key, incarnation, self.now(), &state)
                .map_err(|error| LiveError::Restore(index, error))?,
            Memory::Lost { fault } => {
                self.fault(fault);
                Machine::new(config, key, incarnation)?
            }
        };
        self.command(index, |remote| remote.restart(machine))?;
        self.wait_until(index, |node| node.alive)?;
        if memory != Memory::Saved {
            self.note_rounds();
        }
        Ok(())
    }

    /// Stops all nodes and waits for them.
    pub fn stop(&mut self) {
        for node in &self.nodes {
            // One that has stopped already is as good.
            let _ = node.remote.stop();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }

    fn fault(&mut self, name: &str) {
        let now = self.now();
        self.observer().fault(now, name);
    }

    fn note_rounds(&mut self) {
        for node in &mut self.nodes {
            node.rounds_at_fault = node.sample().rounds;
        }
    }

    fn node(&self, index: u32) -> Result<&Node, LiveError> {
        let node = self.nodes.get(index as usize);
        node.ok_or(LiveError::NoNode(index))
    }

    fn command(
        &self,
        index: u32,
        command: impl FnOnce(&Remote) -> Result<(), Refused>,
    ) -> Result<(), LiveError> {
        let sent = command(&self.node(index)?.remote);
        sent.map_err(|refused| LiveError::Refused(index, refused))
    }

    fn wait_until(&self, index: u32, done: impl Fn(NodeSample) -> bool) -> Result<(), LiveError> {
        let node = self.node(index)?;
        for _ in 0..10_000 {
            if done(node.sample()) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(LiveError::Refused(index, Refused::Busy))
    }
}

impl Drop for LiveRing {
    fn drop(&mut self) {
        self.stop();
    }
}
