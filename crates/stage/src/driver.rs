//! A node in real time: a [`Machine`], a [`Transport`] and an [`Application`] in one
//! thread.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use headway_node::transport::Transport;
use headway_node::{Event, Machine};

mod remote;

pub use remote::{Call, Command, Refused, Remote};

/// How many commands wait for a node at most.
pub const MAX_COMMANDS: usize = 64;

/// How many datagrams are listened to before the node speaks. Both neighbours may
/// have told several states; only their latest matters.
const MAX_DATAGRAMS: usize = 16;

/// The node looks after itself this often at least.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// What a node is for.
pub trait Application {
    /// Something has happened. Work that takes no time may be ended here, by
    /// [`Machine::handle_work_done`]; other work goes elsewhere, and its end comes by
    /// [`Remote::work_done`] or in [`Application::turn`].
    fn event(&mut self, now: Duration, event: Event, node: &mut Machine);

    /// Called once in every turn of the loop, after events: the place for timers, and
    /// for looking whether the node still agrees (a corrupted one may have forgotten
    /// a permit, and [`Machine::held`] tells). When to be called again at the latest, if that
    /// matters.
    fn turn(&mut self, _now: Duration, _node: &mut Machine) -> Option<Duration> {
        None
    }

    /// The node was crashed by [`Command::Crash`]: what it held is no longer used.
    fn crashed(&mut self, _now: Duration, _node: &Machine) {}

    /// Called before datagrams leave that tell a state: the place to save it.
    /// `false` keeps them from leaving, which is as if they were lost.
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
/// // A thread for each, by `Driver::run`, is the usual thing; here all in one.
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
    wish: Option<Duration>,
    /// There are events that were not told yet.
    events_left: bool,
    running: bool,
    alive: bool,
    errors: u64,
    latest_error: Option<io::Error>,
}

impl<T: Transport, A: Application> Driver<T, A> {
    /// A node that has not started yet. The machine's times count from `epoch`; a
    /// machine that was restored has to have been told times from there.
    pub fn new(machine: Machine, transport: T, application: A, epoch: Instant) -> Driver<T, A> {
        let (remote, commands) = Remote::new(transport.waker());
        let bytes = machine.config().datagram_bytes();
        Driver {
            machine,
            transport,
            application,
            epoch,
            commands,
            remote,
            // One more, so that what is too long is seen to be.
            arrived: vec![0; bytes + 1],
            leaving: [vec![0; bytes], vec![0; bytes]],
            wish: None,
            events_left: false,
            running: true,
            alive: true,
            errors: 0,
            latest_error: None,
        }
    }

    /// To command it from other threads.
    pub fn remote(&self) -> Remote {
        self.remote.clone()
    }

    /// Runs until it is told to stop.
    pub fn run(&mut self) {
        while self.running {
            self.turn(LONGEST_WAIT);
        }
    }

    /// One turn of the loop: datagrams, commands, timeouts, events, and then what
    /// there is to send. Waits for a datagram if there is nothing else to do, but no
    /// longer than `most`. Whether a datagram came, or anything was sent.
    pub fn turn(&mut self, most: Duration) -> bool {
        if !self.running {
            return false;
        }
        if !self.alive {
            self.ignore(most);
            self.obey(self.now());
            return false;
        }
        let now = self.now();
        let wait = if self.events_left || self.remote.pending.load(Ordering::Acquire) {
            Duration::ZERO
        } else {
            most.min(self.deadline().saturating_sub(now))
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
        self.wish = self.application.turn(now, &mut self.machine);
        if before != (self.machine.rounds(), self.machine.phase()) {
            self.tell_events(now);
        }
        self.speak(now) || heard
    }

    /// When it has to have its next turn if nothing arrives.
    pub fn deadline(&self) -> Duration {
        if !self.alive {
            return Duration::MAX;
        }
        let timeout = self.machine.poll_timeout();
        let due = self.transport.due();
        let due = due.map(|due| due.saturating_duration_since(self.epoch));
        let others = self.wish.into_iter().chain(due);
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

    /// Whether it was not crashed.
    pub const fn alive(&self) -> bool {
        self.alive
    }

    /// The machine.
    pub const fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine, to change.
    pub const fn machine_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// The application.
    pub const fn application(&self) -> &A {
        &self.application
    }

    /// The application, to change.
    pub const fn application_mut(&mut self) -> &mut A {
        &mut self.application
    }

    /// The transport, to change.
    pub const fn transport_mut(&mut self) -> &mut T {
        &mut self.transport
    }

    /// How often the transport has failed, and how the last time. The node takes it
    /// for loss.
    pub fn errors(&self) -> (u64, Option<&io::Error>) {
        (self.errors, self.latest_error.as_ref())
    }

    fn obey(&mut self, now: Duration) {
        // Looked at first because it costs less.
        if !self.remote.pending.swap(false, Ordering::AcqRel) {
            return;
        }
        for _ in 0..MAX_COMMANDS {
            match self.commands.try_recv() {
                Ok(Command::WorkDone {
                    token,
                    fence,
                    payload,
                }) => {
                    self.machine
                        .handle_work_done(now, token, fence, payload.as_deref());
                }
                Ok(Command::Call(call)) => call(now, &mut self.machine),
                Ok(Command::Crash) => {
                    self.application.crashed(now, &self.machine);
                    self.alive = false;
                }
                Ok(Command::Restart(machine)) => {
                    self.machine = *machine;
                    self.alive = true;
                }
                Ok(Command::Stop) => self.running = false,
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
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
                Err(error) => {
                    self.failed(error);
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
    fn ignore(&mut self, most: Duration) {
        let mut wait = most;
        while let Ok(Some(_)) = self.transport.receive(&mut self.arrived, wait) {
            wait = Duration::ZERO;
        }
    }

    fn tell_events(&mut self, now: Duration) {
        // Ending one permit may bring the next; the rest is for the next turn.
        let most = 4 * self.machine.config().plan.tokens() as usize + 16;
        for _ in 0..most {
            match self.machine.poll_event() {
                Some(event) => self.application.event(now, event, &mut self.machine),
                None => {
                    self.events_left = false;
                    return;
                }
            }
        }
        self.events_left = true;
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
            for (at, transmit) in due.into_iter().flatten().enumerate() {
                let datagram = &self.leaving[at][..transmit.bytes];
                if let Err(error) = self.transport.send(transmit.to, datagram) {
                    self.failed(error);
                }
            }
        }
        true
    }

    fn failed(&mut self, error: io::Error) {
        self.errors += 1;
        self.latest_error = Some(error);
    }
}
