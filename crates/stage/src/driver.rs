//! A node on real time: a [`Machine`], a [`Transport`] and an [`Application`] in one
//! thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use headway_node::transport::{Transport, Waker};
use headway_node::{Event, Machine};
use thiserror::Error;

/// How many commands may wait for a node.
const MAX_COMMANDS: usize = 64;

/// How many datagrams a node hears before it speaks. Both neighbours may have told several
/// states; only their latest matters.
const MAX_DATAGRAMS: usize = 16;

/// A node has a turn at least this often.
pub(crate) const MAX_WAIT: Duration = Duration::from_millis(500);

/// What a node is for.
pub trait Application {
    /// Something has happened. Work that takes no time may end here, by
    /// [`Machine::handle_work_done`]; the end of longer work is reported in
    /// [`Application::turn`].
    fn event(&mut self, now: Duration, event: Event, node: &mut Machine);

    /// Called once in every turn of the loop, after events: the place for timers, and
    /// for checking that the node still agrees (a corrupted one may have forgotten a
    /// permit; [`Machine::held`] tells). Returns when it has to be called again at the
    /// latest, if that matters.
    fn turn(&mut self, _now: Duration, _node: &mut Machine) -> Option<Duration> {
        None
    }

    /// [`Remote::crash`] has crashed the node: what it held is no longer used.
    fn crashed(&mut self, _now: Duration, _node: &Machine) {}

    /// Called before datagrams leave that tell a state: the place to save it. `false`
    /// keeps them from leaving, as if they were lost.
    fn before_transmit(&mut self, _now: Duration, _node: &Machine) -> bool {
        true
    }
}

/// A node that runs.
///
/// ```
/// use std::time::{Duration, Instant};
/// use headway_stage::driver::{Application, Driver};
/// use headway_stage::memory::MemoryNetwork;
/// use headway_node::{Config, Event, Key, Machine, Plan, RingId};
///
/// /// Ends its work at once, and stops after a hundred permits.
/// struct Count(u32);
///
/// impl Application for Count {
///     fn event(&mut self, now: Duration, event: Event, node: &mut Machine) {
///         if let Event::Granted { token, fence } = event {
///             self.0 += 1;
///             node.handle_work_done(now, token, fence, None);
///         }
///     }
/// }
///
/// let network = MemoryNetwork::new(3);
/// let plan = Plan::new(3, 1, 1).unwrap();
/// let mut nodes: Vec<_> = (0..3)
///     .map(|index| {
///         let config = Config::new(RingId([7; 16]), index, plan);
///         let machine = Machine::new(config, Key::none(), u64::from(index)).unwrap();
///         Driver::new(machine, network.endpoint(index), Count(0), Instant::now())
///     })
///     .collect();
/// // Usually each has a thread, in `Driver::run`; here all take turns in one.
/// while nodes.iter().any(|node| node.application().0 < 100) {
///     for node in &mut nodes {
///         node.turn(Duration::ZERO);
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Driver<T, A> {
    machine: Machine,
    transport: T,
    application: A,
    epoch: Instant,
    commands: Receiver<Command>,
    remote: Remote,
    arrived: Vec<u8>,
    leaving: [Vec<u8>; 2],
    /// When the application wants its turn.
    turn_due: Option<Duration>,
    /// The application has not heard all events yet.
    events_left: bool,
    running: bool,
    alive: bool,
}

impl<T: Transport, A: Application> Driver<T, A> {
    /// A node that has not started yet. The machine's times count from `epoch`; those of a
    /// restored machine must do so already.
    pub fn new(machine: Machine, transport: T, application: A, epoch: Instant) -> Driver<T, A> {
        let (sender, commands) = sync_channel(MAX_COMMANDS);
        let remote = Remote {
            commands: sender,
            pending: Arc::default(),
            waker: transport.waker(),
        };
        let bytes = machine.config().datagram_bytes();
        Driver {
            machine,
            transport,
            application,
            epoch,
            commands,
            remote,
            // One more, to notice a datagram that is too long.
            arrived: vec![0; bytes + 1],
            leaving: [vec![0; bytes], vec![0; bytes]],
            turn_due: None,
            events_left: false,
            running: true,
            alive: true,
        }
    }

    /// To command it from other threads.
    pub fn remote(&self) -> Remote {
        self.remote.clone()
    }

    /// Runs until it is told to stop.
    pub fn run(&mut self) {
        while self.running {
            self.turn(MAX_WAIT);
        }
    }

    /// One turn of the loop: datagrams, commands, timeouts, events, and then what
    /// there is to send. Waits for a datagram if there is nothing else to do, but no
    /// longer than `limit`. Whether a datagram came, or anything was sent.
    pub fn turn(&mut self, limit: Duration) -> bool {
        if !self.running {
            return false;
        }
        if !self.alive {
            self.ignore(limit);
            self.obey(self.now());
            return false;
        }
        let now = self.now();
        let wait = if self.events_left || self.remote.pending.load(Ordering::Acquire) {
            Duration::ZERO
        } else {
            limit.min(self.deadline().saturating_sub(now))
        };
        let (now, heard) = self.listen(now, wait);
        self.obey(now);
        if !self.alive || !self.running {
            return heard;
        }
        if self.machine.poll_timeout() <= now {
            self.machine.handle_timeout(now);
        }
        self.tell_events(now);
        let before = (self.machine.rounds(), self.machine.phase());
        self.turn_due = self.application.turn(now, &mut self.machine);
        if before != (self.machine.rounds(), self.machine.phase()) {
            self.tell_events(now);
        }
        self.speak(now) || heard
    }

    /// When it needs its next turn if nothing arrives.
    pub fn deadline(&self) -> Duration {
        if !self.alive {
            return Duration::MAX;
        }
        let timeout = self.machine.poll_timeout();
        let due = self.transport.due();
        let due = due.map(|due| due.saturating_duration_since(self.epoch));
        let others = self.turn_due.into_iter().chain(due);
        others.fold(timeout, Duration::min)
    }

    /// Time since the epoch.
    pub fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// Whether it was not told to stop.
    pub const fn running(&self) -> bool {
        self.running
    }

    /// The machine.
    pub const fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The application.
    pub const fn application(&self) -> &A {
        &self.application
    }

    fn obey(&mut self, now: Duration) {
        // Looking at this first is cheaper.
        if !self.remote.pending.swap(false, Ordering::AcqRel) {
            return;
        }
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Call(call) => call(now, &mut self.machine),
                Command::Crash => {
                    self.application.crashed(now, &self.machine);
                    self.alive = false;
                }
                Command::Restart(machine) => {
                    self.machine = *machine;
                    self.alive = true;
                }
                Command::Stop => self.running = false,
            }
        }
    }

    /// Waits for a datagram, then takes all that are there. The time then, and
    /// whether there was any.
    fn listen(&mut self, mut now: Duration, mut wait: Duration) -> (Duration, bool) {
        let mut heard = false;
        for _ in 0..MAX_DATAGRAMS {
            let received = self.transport.receive(&mut self.arrived, wait);
            if !wait.is_zero() {
                now = self.now();
            }
            match received {
                Ok(Some(bytes)) => {
                    // The machine counts what it rejects.
                    let _ = self.machine.handle_datagram(now, &self.arrived[..bytes]);
                    heard = true;
                }
                Ok(None) => break,
                Err(_) => {
                    // A broken transport must not keep a core busy.
                    std::thread::sleep(wait.min(Duration::from_millis(10)));
                    break;
                }
            }
            wait = Duration::ZERO;
        }
        (now, heard)
    }

    /// What a dead node does.
    fn ignore(&mut self, mut wait: Duration) {
        while let Ok(Some(_)) = self.transport.receive(&mut self.arrived, wait) {
            wait = Duration::ZERO;
        }
    }

    fn tell_events(&mut self, now: Duration) {
        // The end of one permit may bring the next; the rest is for the next turn.
        let limit = 4 * self.machine.config().plan.tokens() as usize + 16;
        self.events_left = true;
        for _ in 0..limit {
            let Some(event) = self.machine.poll_event() else {
                self.events_left = false;
                return;
            };
            self.application.event(now, event, &mut self.machine);
        }
    }

    /// Sends what is due; whether anything was.
    fn speak(&mut self, now: Duration) -> bool {
        let mut due = [None; 2];
        for (place, buffer) in due.iter_mut().zip(&mut self.leaving) {
            *place = self.machine.poll_transmit(buffer);
        }
        if due[0].is_none() {
            return false;
        }
        if self.application.before_transmit(now, &self.machine) {
            for (transmit, buffer) in due.into_iter().flatten().zip(&self.leaving) {
                // A datagram that cannot be sent is lost.
                let _ = self.transport.send(transmit.to, &buffer[..transmit.bytes]);
            }
        }
        true
    }
}

type Call = Box<dyn FnOnce(Duration, &mut Machine) + Send>;

enum Command {
    Call(Call),
    Crash,
    Restart(Box<Machine>),
    Stop,
}

/// Why a node did not take a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// Too many commands wait already.
    #[error("the node is busy")]
    Busy,
    /// The node has stopped.
    #[error("the node has stopped")]
    Stopped,
}

/// Commands a node from other threads.
///
/// Every method fails when the node has too many commands waiting, or has stopped.
#[derive(Clone, Debug)]
pub struct Remote {
    commands: SyncSender<Command>,
    /// There are commands that the node has not seen yet.
    pending: Arc<AtomicBool>,
    waker: Waker,
}

impl Remote {
    /// Does something with the machine, in the node's thread, at a time of its clock.
    pub fn call(
        &self,
        call: impl FnOnce(Duration, &mut Machine) + Send + 'static,
    ) -> Result<(), Refused> {
        self.send(Command::Call(Box::new(call)))
    }

    /// Kills the node: whatever is sent to it is lost.
    pub fn crash(&self) -> Result<(), Refused> {
        self.send(Command::Crash)
    }

    /// Replaces the node's machine, and brings it to life.
    pub fn restart(&self, machine: Machine) -> Result<(), Refused> {
        self.send(Command::Restart(Box::new(machine)))
    }

    /// Ends the loop. What the node holds stays with it.
    pub fn stop(&self) -> Result<(), Refused> {
        self.send(Command::Stop)
    }

    fn send(&self, command: Command) -> Result<(), Refused> {
        self.commands
            .try_send(command)
            .map_err(|refused| match refused {
                TrySendError::Full(_) => Refused::Busy,
                TrySendError::Disconnected(_) => Refused::Stopped,
            })?;
        self.pending.store(true, Ordering::Release);
        self.waker.wake();
        Ok(())
    }
}
