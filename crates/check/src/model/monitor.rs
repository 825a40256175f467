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
//! A sample is taken once in 2n rounds, so a surplus can hide from it, for ever, in two
//! cases (`tests/models/monitored.rs` has both, and rings beside them where nothing hides):
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

use crate::control::{CheckError, Control, Limits};
use crate::ranking::{Multisets, count_states, digit, place_tokens, token_slots};
use crate::report::Report;
use crate::traits::{Deterministic, Model};
use crate::{function, report};

const LARGEST: usize = 16;

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
    processes: [Process; LARGEST],
    monitors: [Monitor; 2],
}

/// A ring of relays with one or two monitors that also delay. Legitimate: as
/// delay/relay with m tokens on the ring, and no monitor is about to correct.
#[derive(Clone, Debug)]
pub struct MonitoredRing {
    programs: Vec<Program>,
    separation: Separation,
    /// m, the number wanted.
    tokens: usize,
    /// Tokens on the ring and in the store.
    supply: usize,
    /// Where the monitors are.
    monitors: Vec<usize>,
    /// Placements of 0, 1, …, supply tokens, and how many come before each.
    placements: Vec<(u64, Multisets)>,
    states: u64,
}

impl MonitoredRing {
    /// m = `tokens` wanted of `supply` there are, monitors at the given places
    /// (one or two, sharing the store).
    ///
    /// # Errors
    ///
    /// When the numbers make no sense, or there are 2^63 states or more.
    pub fn new(
        processes: usize,
        tokens: usize,
        separation: u32,
        supply: usize,
        monitors: &[usize],
    ) -> Result<MonitoredRing, CheckError> {
        let sensible = (2..=LARGEST).contains(&processes)
            && tokens >= 1
            && (tokens..=LARGEST).contains(&supply)
            && (1..=2).contains(&monitors.len())
            && monitors.iter().all(|&monitor| monitor < processes)
            && monitors.windows(2).all(|pair| pair[0] < pair[1]);
        let separation = Separation::new(separation)
            .filter(|_| sensible)
            .ok_or_else(|| {
                CheckError::instance(format!(
                    "monitor: 2 to {LARGEST} processes, 1 token or more, a supply from the tokens \
                 to {LARGEST}, a separation of 1 or more, and one or two monitors on the ring"
                ))
            })?;
        let mut programs = vec![Program::Relay; processes];
        for &monitor in monitors {
            programs[monitor] = Program::Delay;
        }
        let mut placements = Vec::new();
        let mut before = 0_u64;
        for count in 0..=supply {
            let ways = Multisets::new(2 * processes, count);
            let count = ways.count() as u64;
            placements.push((before, ways));
            before += count;
        }
        let mut model = MonitoredRing {
            programs,
            separation,
            tokens,
            supply,
            monitors: monitors.to_vec(),
            placements,
            states: 0,
        };
        let one = model
            .radices()
            .iter()
            .map(|&r| u128::from(r))
            .product::<u128>();
        let states = u128::from(before).saturating_mul(one.pow(monitors.len() as u32));
        model.states = count_states(states)?;
        Ok(model)
    }

    fn len(&self) -> usize {
        self.programs.len()
    }

    /// Of counter, clock, count and take.
    fn radices(&self) -> [u64; 4] {
        let n = self.len() as u64;
        [self.separation.hops().into(), 2 * n, n + 1, 2]
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

/// Checks a monitored ring.
///
/// # Errors
///
/// As [`MonitoredRing::new`]; when too large, or when stopped.
pub fn check(
    processes: usize,
    tokens: usize,
    separation: u32,
    supply: usize,
    monitors: &[usize],
    limits: Limits,
    control: &Control,
) -> Result<Report, CheckError> {
    let model = MonitoredRing::new(processes, tokens, separation, supply, monitors)?;
    let places: Vec<String> = monitors.iter().map(ToString::to_string).collect();
    let instance = format!(
        "{processes} processes, {tokens} of {supply} tokens wanted on the ring, separation \
         {separation}, {} at {}",
        if monitors.len() == 1 {
            "a monitor"
        } else {
            "monitors"
        },
        places.join(" and ")
    );
    let answer = function::explore(&model, limits, control)?;
    Ok(report::of_function(
        &model,
        "monitor",
        instance,
        &answer,
        |_| None,
    ))
}

impl Model for MonitoredRing {
    type State = State;

    fn states(&self) -> u64 {
        self.states
    }

    fn state(&self, mut rank: u64) -> State {
        let mut state = State {
            processes: [Process::default(); LARGEST],
            monitors: [Monitor::default(); 2],
        };
        let [counters, clocks, counts, takes] = self.radices();
        for (index, &place) in self.monitors.iter().enumerate() {
            state.processes[place].counter = digit(&mut rank, counters) as i32;
            state.monitors[index] = Monitor {
                clock: digit(&mut rank, clocks) as u32,
                count: digit(&mut rank, counts) as u32,
                take: digit(&mut rank, takes) == 1,
            };
        }
        let tokens = self
            .placements
            .partition_point(|(before, _)| *before <= rank)
            - 1;
        let (before, ways) = &self.placements[tokens];
        let mut slots = [0; LARGEST];
        ways.unrank(rank - before, &mut slots[..tokens]);
        place_tokens(&mut state.processes, &slots[..tokens]);
        state
    }

    fn rank(&self, state: &State) -> u64 {
        let mut slots = [0; LARGEST];
        let tokens = token_slots(&state.processes[..self.len()], &mut slots);
        let (before, ways) = &self.placements[tokens];
        let mut rank = before + ways.rank(&slots[..tokens]);
        let [counters, clocks, counts, takes] = self.radices();
        for (index, &place) in self.monitors.iter().enumerate().rev() {
            let monitor = state.monitors[index];
            rank = rank * takes + u64::from(monitor.take);
            rank = rank * counts + u64::from(monitor.count);
            rank = rank * clocks + u64::from(monitor.clock);
            rank = rank * counters + state.processes[place].counter as u64;
        }
        rank
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
        let mut in_store = self.supply - self.on_ring(state);
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
