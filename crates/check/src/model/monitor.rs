//! Active monitoring: a distinguished process counts arrivals, and puts tokens in
//! or takes them out (paper, section 5.2).
//!
//! A monitor works in periods of 2n rounds. During the first n it only lets the
//! ring settle; during the second n it counts the tokens that arrive. At the end
//! it corrects by one token: fewer than m counted, it puts one in; more, or a
//! token rests here although m were counted, it takes one out: one that rests
//! here, else the next to arrive. Tokens come from and go to a store, so tokens on
//! the ring and in the store are together constant and the state space is finite.
//!
//! The monitor is the only delay of the ring, so surplus tokens gather where it
//! sees them. A second monitor is a second delay, and each corrects what the
//! other corrected.
//!
//! A sample is taken once in 2n rounds, so a surplus can hide from it forever in two
//! cases (`tests/it/models/monitored.rs` has both, and rings beside them where nothing hides):
//!
//! * d divides 2n but not n, and m is ⌊n/d⌋: n = 3, m = 1, d = 2. One token too many
//!   makes the delay release every d rounds, which rests a token in some rounds of every
//!   d and makes m or m+1 arrive in n rounds, by where in the d rounds the sample
//!   begins. It begins at the same place every time, and half of the places show m
//!   arrivals and nothing resting. (For other d the place moves on, to one that shows
//!   the surplus.)
//! * d = 1 and m = n: a full ring. A delay is then no slower than a relay, so a surplus
//!   may rest at a relay, and n arrive in n rounds either way.

use headway_core::program::{delay, relay};
use headway_core::{Process, Program, Separation, legitimate};

use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::placements::Placements;
use crate::report::Report;
use crate::settings::{Tokens, separation, settings};
use crate::traits::{Deterministic, Model};
use crate::{Domains, function};

const MAX_PROCESSES: usize = 16;

settings! {
    /// A monitored ring.
    Settings {
        /// Number of processes
        processes: usize = 6, "N";
        /// Number of tokens
        tokens: Tokens = Tokens::UpTo(2), "M";
        /// Hops to keep between successive tokens [default: N/M]
        separation: Option<u32> = None, "D";
        /// Tokens on the ring and in the store together [default: M+2]
        supply: Option<usize> = None, "K";
        /// Where the monitors are, one or two
        monitors: Vec<usize> = vec![0], "I,J";
    }
}

/// Checks a monitored ring.
///
/// # Errors
///
/// As [`MonitoredRing::new`]; when too large, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    let model = MonitoredRing::new(settings)?;
    let instance = format!(
        "{} processes, {} of {} tokens wanted on the ring, separation {}, {}",
        model.len(),
        model.tokens,
        model.supply(),
        model.separation,
        match model.monitors[..] {
            [one, other] => format!("monitors at {one} and {other}"),
            _ => format!("a monitor at {}", model.monitors[0]),
        }
    );
    function::report(&model, "monitor", instance, control, |_| None)
}

/// The variables of a monitor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Monitor {
    /// Round of the period, 0 to 2n-1.
    clock: u32,
    /// Arrivals counted in this period, up to n.
    count: u32,
    /// The next token to arrive is taken out.
    take: bool,
}

/// The ring and its monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    processes: [Process; MAX_PROCESSES],
    monitors: [Monitor; 2],
}

/// A ring of relays with one or two monitors that also delay. Legitimate: as
/// delay/relay with m tokens on the ring, and no monitor is about to correct.
#[derive(Clone, Debug)]
pub struct MonitoredRing {
    /// m.
    tokens: usize,
    /// Where the monitors are, ascending.
    monitors: Vec<usize>,
    programs: Vec<Program>,
    separation: Separation,
    /// Placements of 0, 1, …, supply tokens, and how many come before each.
    placements: Vec<(u64, Placements)>,
    /// Counter, clock, count and take of each monitor, and the placement.
    domains: Domains,
}

impl MonitoredRing {
    /// The ring of the settings.
    ///
    /// # Errors
    ///
    /// When the settings make no sense, or there are 2^63 states or more.
    pub fn new(settings: &Settings) -> Result<MonitoredRing> {
        let (n, monitors) = (settings.processes, settings.monitors.clone());
        let tokens = settings.tokens.on(n);
        let supply = settings.supply.unwrap_or(tokens.saturating_add(2));
        let makes_sense = (2..=MAX_PROCESSES).contains(&n)
            && tokens >= 1
            && (tokens..=MAX_PROCESSES).contains(&supply)
            && (1..=2).contains(&monitors.len())
            && monitors.iter().all(|&place| place < n)
            && monitors.is_sorted_by(|one, other| one < other);
        let separation = Separation::new(separation(settings.separation, n, tokens))
            .filter(|_| makes_sense)
            .ok_or_else(|| {
                CheckError::settings(format!(
                    "monitor: 2 to {MAX_PROCESSES} processes, 1 token or more, a supply from the \
                     tokens to {MAX_PROCESSES}, a separation of 1 or more, and one or two \
                     monitors on the ring"
                ))
            })?;
        let mut programs = vec![Program::Relay; n];
        for &monitor in &monitors {
            programs[monitor] = Program::Delay;
        }
        let mut placements = Vec::new();
        let mut before = 0_u64;
        for tokens in 0..=supply {
            let ways = Placements::new(2 * n, tokens)?;
            let count = ways.count();
            placements.push((before, ways));
            before += count;
        }
        let n = n as u64;
        let monitor = [separation.hops().into(), 2 * n, n + 1, 2];
        let variables = monitors.iter().flat_map(|_| monitor);
        Ok(MonitoredRing {
            programs,
            separation,
            placements,
            domains: Domains::new(variables.chain([before]))?,
            tokens,
            monitors,
        })
    }

    fn len(&self) -> usize {
        self.programs.len()
    }

    /// Tokens on the ring and in the store together.
    fn supply(&self) -> usize {
        self.placements.len() - 1
    }

    fn on_ring(&self, state: &State) -> usize {
        let tokens = state.processes.iter().map(|process| process.tokens());
        tokens.sum::<u64>() as usize
    }

    /// Arrivals at a process in the next `rounds` rounds when all tokens move.
    fn arrivals(&self, state: &State, process: usize, rounds: u32) -> u32 {
        let n = self.len();
        (1..=rounds as usize)
            .map(|hops| state.processes[(process + n * 2 - hops) % n].queued)
            .sum()
    }
}

impl Model for MonitoredRing {
    type State = State;

    fn states(&self) -> u64 {
        self.domains.states()
    }

    fn state(&self, rank: u64) -> State {
        let mut state = State {
            processes: [Process::default(); MAX_PROCESSES],
            monitors: [Monitor::default(); 2],
        };
        let mut values = self.domains.values(rank);
        let mut next = || values.next().expect("four variables a monitor, and one");
        for (&place, monitor) in self.monitors.iter().zip(&mut state.monitors) {
            state.processes[place].counter = next() as i32;
            *monitor = Monitor {
                clock: next() as u32,
                count: next() as u32,
                take: next() == 1,
            };
        }
        let placement = next();
        let more = |(before, _): &(u64, Placements)| *before <= placement;
        let (before, ways) = &self.placements[self.placements.partition_point(more) - 1];
        ways.place(placement - before, &mut state.processes);
        state
    }

    fn rank(&self, state: &State) -> u64 {
        let (before, ways) = &self.placements[self.on_ring(state)];
        let placement = before + ways.rank(&state.processes[..self.len()]);
        let places = self.monitors.iter();
        let monitors = places.zip(&state.monitors).flat_map(|(&place, monitor)| {
            [
                state.processes[place].counter as u64,
                monitor.clock.into(),
                monitor.count.into(),
                monitor.take.into(),
            ]
        });
        self.domains.rank(monitors.chain([placement]))
    }

    fn legitimate(&self, state: &State) -> bool {
        let n = self.len() as u32;
        let (programs, tokens) = (&self.programs, self.tokens as u64);
        let processes = &state.processes[..self.len()];
        legitimate::check(self.separation, programs, processes, &[], tokens).is_ok()
            && self
                .monitors
                .iter()
                .zip(state.monitors)
                .all(|(&place, monitor)| {
                    // What it will have counted by the end of its period.
                    let due = if monitor.clock < n {
                        self.tokens as u32
                    } else {
                        monitor.count + self.arrivals(state, place, 2 * n - monitor.clock)
                    };
                    !monitor.take && due == self.tokens as u32
                })
    }

    fn show(&self, state: &State) -> String {
        let row = |value: &dyn Fn(&Process) -> u32| {
            let cells = state.processes[..self.len()]
                .iter()
                .map(|p| value(p).to_string());
            cells.collect::<Vec<_>>().join(" ")
        };
        let monitors = self
            .monitors
            .iter()
            .zip(state.monitors)
            .map(|(&place, monitor)| {
                format!(
                    "  monitor {place}: counter {} clock {} count {}{}",
                    state.processes[place].counter,
                    monitor.clock,
                    monitor.count,
                    if monitor.take { " taking" } else { "" }
                )
            });
        format!(
            "queued {}  resting {}{}",
            row(&|process| process.queued),
            row(&|process| process.resting),
            monitors.collect::<String>()
        )
    }
}

impl Deterministic for MonitoredRing {
    fn next(&self, state: &State) -> State {
        let mut next = *state;
        let n = self.len();
        let mut in_store = self.supply() - self.on_ring(state);
        for process in 0..n {
            let before = state.processes[process];
            let mut arriving = state.processes[(process + n - 1) % n].queued;
            let Some(index) = self.monitors.iter().position(|&place| place == process) else {
                next.processes[process] = relay::round(before, arriving);
                continue;
            };
            let monitor = &mut next.monitors[index];
            monitor.count = if monitor.clock < n as u32 {
                0
            } else {
                (monitor.count + arriving).min(n as u32)
            };
            if monitor.take && arriving > 0 {
                arriving -= 1;
                monitor.take = false;
            }
            let mut after = delay::round(before, arriving, self.separation.top());
            monitor.clock += 1;
            if monitor.clock == 2 * n as u32 {
                let (counted, wanted) = (monitor.count, self.tokens as u32);
                // With two monitors, the first one served takes the last token.
                if counted < wanted && in_store > 0 {
                    after.resting += 1;
                    in_store -= 1;
                } else if counted > wanted || (counted == wanted && after.resting > 0) {
                    if after.resting > 0 {
                        after.resting -= 1;
                    } else {
                        monitor.take = true;
                    }
                }
                monitor.clock = 0;
                monitor.count = 0;
            }
            next.processes[process] = after;
        }
        next
    }
}
