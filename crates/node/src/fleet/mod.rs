//! A whole real ring in one program: nodes on a few threads, real time, memory or
//! real sockets, faults at any moment, and an [`Observer`] outside of the nodes.

use std::io;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use thiserror::Error;

use crate::crew::Crew;
use crate::driver::{Command, Driver, Refused, Remote};
use crate::observer::Observer;
use crate::transport::faulty::{Faulty, Weather};
use crate::transport::memory::Network;
use crate::transport::{Doorbell, Transport};
use crate::{Config, ConfigError, Key, Machine, Plan, Rejected, RestoreError, Role, Timing};

mod sockets;
mod worker;

use sockets::sockets;
use worker::{Status, Worker};

/// What ring, and how it runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Size, tokens, separation.
    pub plan: Plan,
    /// Over what.
    pub carrier: Carrier,
    /// How long a permit is used: anything from the first to the second.
    pub dwell: (Duration, Duration),
    /// How long things take.
    pub timing: Timing,
    /// Bytes of payload per token. With 8 or more, a token counts its permits in it.
    pub payload: u8,
    /// The ring's key.
    pub key: Key,
    /// Of everything random but the network's own whims.
    pub seed: u64,
    /// How bad the network is.
    pub weather: Weather,
    /// On how many threads; at least one.
    pub threads: u32,
}

/// What carries the datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// Memory.
    Memory,
    /// UDP sockets on the loopback interface, at free ports.
    Udp,
}

/// Why something was not done.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The ring cannot be configured.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No sockets or threads to be had.
    #[error("{0}")]
    System(#[from] io::Error),
    /// No such node.
    #[error("there is no node {0}")]
    NoNode(u32),
    /// It is dead already.
    #[error("node {0} is dead already")]
    Dead(u32),
    /// It is alive.
    #[error("node {0} is alive")]
    Alive(u32),
    /// It was not saved as it should be.
    #[error("node {0}: {1}")]
    Restore(u32, RestoreError),
    /// The node's thread does not answer.
    #[error("node {0}: {1}")]
    Refused(u32, Refused),
}

/// A ring that runs.
#[derive(Debug)]
pub struct Fleet {
    options: Options,
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
    status: Arc<Status>,
    /// Rounds that it had executed at the latest fault.
    rounds_at_fault: u64,
}

/// One node as last seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeSample {
    /// Not crashed.
    pub alive: bool,
    /// What it says of the ring.
    pub settled: bool,
    /// Does not hear a neighbour.
    pub deaf: bool,
    /// Rounds that it has executed.
    pub rounds: u64,
    /// Tokens that it has passed on.
    pub hops: u64,
    /// Datagrams that it has rejected, for all reasons.
    pub rejected: u64,
}

impl Fleet {
    /// Starts all nodes, none of which knows anything.
    ///
    /// # Errors
    ///
    /// When the configuration does not fit a datagram, or the system has no more
    /// sockets or threads.
    pub fn start(options: Options) -> Result<Fleet, FleetError> {
        let plan = options.plan;
        let mut fleet = Fleet {
            epoch: Instant::now(),
            nodes: Vec::new(),
            observer: Arc::new(Mutex::new(Observer::new(&plan))),
            random: ChaCha8Rng::seed_from_u64(options.seed),
            threads: Vec::new(),
            recovery_rounds: Vec::new(),
            options,
        };
        let nodes: Vec<u32> = (0..plan.nodes()).collect();
        let size = nodes.len().div_ceil(fleet.options.threads.max(1) as usize);
        match fleet.options.carrier {
            Carrier::Memory => {
                let network = Network::new(plan.nodes());
                for chunk in nodes.chunks(size) {
                    let (endpoints, bell) = network.together(chunk.iter().copied());
                    fleet.launch(chunk, endpoints, bell)?;
                }
            }
            Carrier::Udp => {
                for (chunk, (sockets, bell)) in nodes.chunks(size).zip(sockets(&nodes, size)?) {
                    fleet.launch(chunk, sockets, bell)?;
                }
            }
        }
        Ok(fleet)
    }

    /// Starts the nodes of one thread.
    fn launch<T: Transport + 'static>(
        &mut self,
        indices: &[u32],
        transports: Vec<T>,
        bell: impl Doorbell + 'static,
    ) -> Result<(), FleetError> {
        let mut drivers = Vec::with_capacity(indices.len());
        for (&index, transport) in indices.iter().zip(transports) {
            let Options {
                plan,
                timing,
                payload,
                ..
            } = self.options;
            let config = Config {
                timing,
                payload,
                role: Role::usual(index, plan.nodes()),
                ..Config::new(Config::identity(b"fleet", &plan, payload), index, plan)
            };
            let incarnation = self.random.next_u64();
            let machine = Machine::new(config, self.options.key.clone(), incarnation)?;
            let status = Arc::new(Status::default());
            let worker = Worker::new(index, &self.options, &self.observer, &status);
            let weather = self.options.weather.clone();
            let transport = Faulty::new(transport, index, weather, self.options.seed);
            let driver = Driver::new(machine, transport, worker, self.epoch);
            self.nodes.push(Node {
                config,
                remote: driver.remote(),
                status,
                rounds_at_fault: 0,
            });
            drivers.push(driver);
        }
        let mut crew = Crew::new(drivers, bell);
        let thread = std::thread::Builder::new().name("headway nodes".to_owned());
        self.threads.push(thread.spawn(move || crew.run())?);
        Ok(())
    }

    /// Time since the ring was started.
    pub fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// How it was started.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// The network's faults, to change.
    pub const fn weather(&self) -> &Weather {
        &self.options.weather
    }

    /// The one who watches the permits.
    pub fn observer(&self) -> MutexGuard<'_, Observer> {
        self.observer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the nodes say, in order. If all of them have called the ring settled for
    /// a whole turn since the latest corruption, the observer is told.
    pub fn sample(&mut self) -> Vec<NodeSample> {
        let nodes: Vec<NodeSample> = self.nodes.iter().map(|node| node.status.sample()).collect();
        let turn = u64::from(self.options.plan.nodes());
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
            for (sum, count) in sums.iter_mut().zip(node.status.rejected()) {
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
    pub fn scramble(&mut self, nodes: &[u32], name: &str) -> Result<(), FleetError> {
        for &index in nodes {
            self.node(index)?;
        }
        self.fault(name);
        let (sender, done) = channel();
        for &index in nodes {
            let (sender, seed) = (sender.clone(), self.random.next_u64());
            let scramble = move |_now, machine: &mut Machine| {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                machine.scramble(&mut || random.next_u64());
                // Nobody waits for it any more if this fails.
                let _ = sender.send(());
            };
            let sent = self.node(index)?.remote.call(scramble);
            sent.map_err(|refused| FleetError::Refused(index, refused))?;
        }
        for &index in nodes {
            let answer = done.recv_timeout(Duration::from_secs(10));
            answer.map_err(|_| FleetError::Refused(index, Refused::Busy))?;
        }
        self.note_rounds();
        Ok(())
    }

    /// Kills a node: it says and hears nothing any more.
    ///
    /// # Errors
    ///
    /// When there is no such node or it is dead.
    pub fn crash(&mut self, index: u32) -> Result<(), FleetError> {
        let node = self.node(index)?;
        if !node.status.sample().alive {
            return Err(FleetError::Dead(index));
        }
        self.command(index, Command::Crash)?;
        // So that a restart finds what it left.
        self.wait_until(index, |status| !status.sample().alive)
    }

    /// Starts a dead node again: with what it had saved, which is no fault, or with
    /// nothing, which is.
    ///
    /// # Errors
    ///
    /// When there is no such node or it is alive.
    pub fn restart(&mut self, index: u32, saved: bool, name: &str) -> Result<(), FleetError> {
        let node = self.node(index)?;
        if node.status.sample().alive {
            return Err(FleetError::Alive(index));
        }
        let (config, state) = (node.config, node.status.saved());
        let (key, incarnation) = (self.options.key.clone(), self.random.next_u64());
        let machine = if saved {
            Machine::restore(config, key, incarnation, self.now(), &state)
                .map_err(|error| FleetError::Restore(index, error))?
        } else {
            self.fault(name);
            Machine::new(config, key, incarnation)?
        };
        self.command(index, Command::Restart(Box::new(machine)))?;
        self.wait_until(index, |status| status.sample().alive)?;
        if !saved {
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
            node.rounds_at_fault = node.status.sample().rounds;
        }
    }

    fn node(&self, index: u32) -> Result<&Node, FleetError> {
        let node = self.nodes.get(index as usize);
        node.ok_or(FleetError::NoNode(index))
    }

    fn command(&self, index: u32, command: Command) -> Result<(), FleetError> {
        let sent = self.node(index)?.remote.send(command);
        sent.map_err(|refused| FleetError::Refused(index, refused))
    }

    fn wait_until(&self, index: u32, done: impl Fn(&Status) -> bool) -> Result<(), FleetError> {
        let status = &self.node(index)?.status;
        for _ in 0..10_000 {
            if done(status) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(FleetError::Refused(index, Refused::Busy))
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.stop();
    }
}
