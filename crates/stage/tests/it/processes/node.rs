//! One process of the ring.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use headway_node::transport::udp::Udp;
use headway_node::{Config, Event, Key, Machine, Plan, Role, Rule, Timing};
use headway_stage::driver::{Application, Driver};
use headway_stage::faulty::{Faults, Faulty, SharedFaults};

/// The variable that says which node of the ring a process is.
pub(crate) const INDEX: &str = "NODE_INDEX";
/// How many processes.
pub(crate) const NODES: u32 = 16;
/// How many tokens.
pub(crate) const TOKENS: u32 = 3;
/// How far apart permits are.
pub(crate) const SEPARATION: u32 = 2;
/// How much is lost.
pub(crate) const LOSS: f64 = 0.2;

/// How often a process tells how it is.
const TELL: Duration = Duration::from_millis(40);

/// The plan of the ring.
pub(crate) fn plan(rule: Rule) -> Plan {
    let plan = match rule {
        Rule::LockStep => Plan::new,
        Rule::MovingBlock => Plan::moving_block,
    };
    plan(NODES, TOKENS, SEPARATION).expect("it fits")
}

/// Runs until it is killed, or nobody listens any more.
pub(crate) fn run() {
    let setting = |name: &str| {
        std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: started by hand?"))
    };
    let number = |name: &str| -> u64 { setting(name).parse().expect("a number") };
    let index = number(INDEX) as u32;
    let incarnation = number("NODE_INCARNATION");
    let ports: Vec<u16> = setting("NODE_PORTS")
        .split(',')
        .map(|port| port.parse().expect("a port"))
        .collect();
    let state = std::env::var("NODE_STATE").ok().map(PathBuf::from);

    let address = |node: u32| ([127, 0, 0, 1], ports[node as usize]).into();
    let rule = match &*setting("NODE_RULE") {
        "LockStep" => Rule::LockStep,
        "MovingBlock" => Rule::MovingBlock,
        other => panic!("no rule {other}"),
    };
    let config = config(index, plan(rule));
    let mut udp = Udp::bind(address(index)).expect("the port is free");
    for node in [config.predecessor(), config.successor()] {
        udp.set_peer(node, address(node));
    }
    let faults = SharedFaults::new(Faults {
        loss: LOSS,
        ..Faults::default()
    });
    let transport = Faulty::new(udp, index, faults, incarnation);

    let epoch = Instant::now();
    let key = Key::new(b"sixteen processes").expect("long enough");
    let saved = state.as_ref().and_then(|path| std::fs::read(path).ok());
    let machine = match &saved {
        Some(saved) => {
            let restored =
                Machine::restore(config, key.clone(), incarnation, Duration::ZERO, saved);
            restored.unwrap_or_else(|error| {
                tell(format_args!("X {index} {error}"));
                Machine::new(config, key, incarnation).expect("configured")
            })
        }
        None => Machine::new(config, key, incarnation).expect("configured"),
    };
    let work = Work {
        index,
        state,
        saved: saved.unwrap_or_default(),
        next: Vec::new(),
        works: Vec::new(),
        random: incarnation,
        told: Duration::ZERO,
        careless: std::env::var_os("NODE_CARELESS").is_some(),
    };
    Driver::new(machine, transport, work, epoch).run();
}

fn config(index: u32, plan: Plan) -> Config {
    Config {
        role: Role::usual(index, NODES),
        timing: Timing {
            refresh: Duration::from_millis(5),
            heartbeat_timeout: Duration::from_millis(300),
            ..Timing::default()
        },
        ..Config::new(Config::identity(b"processes", &plan, 0), index, plan)
    }
}

/// One line to the observer, in one piece.
fn tell(line: std::fmt::Arguments<'_>) {
    let line = format!("{line}\n");
    if std::io::stderr().lock().write_all(line.as_bytes()).is_err() {
        // Nobody watches any more.
        std::process::exit(0);
    }
}

/// Uses permits for 2 to 10 ms, tells when, and saves the node's state.
struct Work {
    index: u32,
    state: Option<PathBuf>,
    saved: Vec<u8>,
    next: Vec<u8>,
    works: Vec<(u32, u64, Duration)>,
    random: u64,
    told: Duration,
    /// Passes the token on first and works then.
    careless: bool,
}

impl Work {
    fn end(&mut self, now: Duration, at: usize, node: &mut Machine) {
        let (token, fence, _) = self.works.swap_remove(at);
        tell(format_args!("E {} {token}", self.index));
        node.handle_work_done(now, token, fence, None);
    }
}

impl Application for Work {
    fn event(&mut self, now: Duration, event: Event, node: &mut Machine) {
        match event {
            Event::Granted { token, fence } => {
                tell(format_args!("G {} {token} {fence}", self.index));
                self.random = self.random.wrapping_mul(0x5851_F42D_4C95_7F2D) | 1;
                let hold = Duration::from_micros(2_000 + (self.random >> 32) % 8_000);
                self.works.push((token, fence, now + hold));
                if self.careless {
                    node.handle_work_done(now, token, fence, None);
                }
            }
            Event::Withdrawn { token, fence } => {
                let found = self
                    .works
                    .iter()
                    .position(|work| (work.0, work.1) == (token, fence));
                if let Some(at) = found {
                    self.end(now, at, node);
                }
            }
            _ => {}
        }
    }

    fn turn(&mut self, now: Duration, node: &mut Machine) -> Option<Duration> {
        while let Some(at) = self.works.iter().position(|work| work.2 <= now) {
            self.end(now, at, node);
        }
        if now >= self.told + TELL || self.told.is_zero() {
            self.told = now;
            let settled = u8::from(node.settled());
            // A turn of all tokens is n rounds.
            let rounds = match node.config().plan.rule() {
                Rule::LockStep => node.rounds(),
                Rule::MovingBlock => node.hops() * u64::from(NODES / TOKENS),
            };
            tell(format_args!("R {} {rounds} {settled}", self.index));
        }
        let next = self.works.iter().map(|work| work.2).min();
        Some(next.map_or(self.told + TELL, |next| next.min(self.told + TELL)))
    }

    fn before_transmit(&mut self, _now: Duration, node: &Machine) -> bool {
        let Some(path) = &self.state else { return true };
        self.next.clear();
        node.save(&mut self.next);
        if self.next == self.saved {
            return true;
        }
        // Whole or not at all, whenever the process is killed.
        let beside = path.with_extension("new");
        let done =
            std::fs::write(&beside, &self.next).and_then(|()| std::fs::rename(&beside, path));
        if done.is_ok() {
            std::mem::swap(&mut self.saved, &mut self.next);
        }
        done.is_ok()
    }
}
