//! Tokens by definition: m K-state rings under the delay/relay rule.
//!
//! **Reduction by value shift.** The rule compares the values of one ring only
//! with each other and changes them only by copying and by adding 1 modulo K. So
//! adding a constant, modulo K, to all values of one ring maps runs to runs and
//! keeps who holds what. Each of the K^m shifts maps a state to a different one
//! (already at process 0), so every class has K^m members, and one of each is
//! explored: the one with value 0 at process 0 in every ring.

use headway_core::token_ring::{self, Gate, holds};
use headway_core::{Process, Program, Ring, legitimate};
use num_bigint::BigUint;

use super::Search;
use super::delay_relay::Instance;
use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::report::{Figure, Report};
use crate::traits::{Deterministic, Model};
use crate::{Domains, function};

/// Values of all processes and tokens together.
const MAX_VALUES: usize = 32;
const MAX_PROCESSES: usize = 16;

/// A ring of delays and relays whose m tokens are those of m K-state rings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The delays and relays, and m: 2 to 16 processes, and at most 32 processes times
    /// tokens.
    pub instance: Instance,
    /// K of every K-state ring, at least 2.
    pub values: u32,
    /// Up to value shift, or every state.
    pub search: Search,
}

impl Settings {
    /// One value more than processes.
    pub fn new(instance: Instance) -> Settings {
        Settings {
            values: instance.processes() as u32 + 1,
            instance,
            search: Search::Reduced,
        }
    }
}

/// Checks tokens by definition on a ring of delays and relays.
///
/// # Errors
///
/// As [`Definitional::new`]; when too large, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    let model = Definitional::new(settings)?;
    let instance = format!("{}, {} values", settings.instance, settings.values);
    let mut report = function::report(&model, "definitional", instance, control, |_| None)?;
    if settings.search == Search::EveryState {
        return Ok(report);
    }
    // Each state explored stands for so many.
    let class = BigUint::from(settings.values).pow(model.tokens as u32);
    report.states *= &class;
    report.legitimate *= &class;
    for (_, figure) in &mut report.figures {
        match figure {
            Figure::Count(count) => *count *= &class,
            Figure::Counts(counts) => counts.iter_mut().for_each(|count| *count *= &class),
            Figure::Number(_) | Figure::Real(_) | Figure::Text(_) => {}
        }
    }
    report.reductions.push(format!(
        "value shift: one state for the {class} that differ by constants added to a ring's values"
    ));
    Ok(report)
}

/// Values by process, then ring, and the gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    values: [u32; MAX_VALUES],
    gates: [Gate; MAX_PROCESSES],
}

/// The model. Legitimate: one token per ring, and the state legitimate as a delay/relay
/// state in which each held token has just been queued by the predecessor.
#[derive(Clone, Debug)]
pub struct Definitional {
    ring: Ring,
    tokens: usize,
    values: u32,
    search: Search,
    /// The values that are free, then turn and counter (of one value at a relay) of
    /// every process.
    domains: Domains,
}

impl Definitional {
    /// The ring of the settings.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range, or there are 2^63 states or more.
    pub fn new(settings: &Settings) -> Result<Definitional> {
        let (instance, values) = (&settings.instance, settings.values);
        let (ring, tokens) = (instance.ring(), instance.tokens());
        let (n, cells) = (ring.len(), ring.len() * tokens);
        if !(2..=MAX_PROCESSES).contains(&n) || tokens == 0 || cells > MAX_VALUES || values < 2 {
            return Err(CheckError::settings(format!(
                "definitional: 2 to {MAX_PROCESSES} processes, at least 1 token, at most \
                 {MAX_VALUES} values of processes and tokens together, and at least 2 values for \
                 each"
            )));
        }
        let free = match settings.search {
            Search::Reduced => cells - tokens,
            Search::EveryState => cells,
        };
        let gates = ring.programs().iter().flat_map(|program| {
            let counters = if program.delays() {
                ring.separation().hops()
            } else {
                1
            };
            [tokens as u64, counters.into()]
        });
        let values_domain = std::iter::repeat_n(u64::from(values), free);
        Ok(Definitional {
            ring: ring.clone(),
            tokens,
            values,
            search: settings.search,
            domains: Domains::new(values_domain.chain(gates))?,
        })
    }

    /// The cells of values that are not 0 by the reduction.
    fn free(&self) -> std::ops::Range<usize> {
        let first = match self.search {
            Search::Reduced => self.tokens,
            Search::EveryState => 0,
        };
        first..self.ring.len() * self.tokens
    }

    fn of<'a>(&self, state: &'a State, process: usize) -> &'a [u32] {
        &state.values[process * self.tokens..][..self.tokens]
    }

    fn top(&self, process: usize) -> i32 {
        if self.ring.programs()[process] == Program::Delay {
            self.ring.separation().top()
        } else {
            0
        }
    }

    /// The rings whose tokens a process holds.
    fn held(&self, state: &State, process: usize) -> Vec<usize> {
        let n = self.ring.len();
        let own = self.of(state, process);
        let before = self.of(state, (process + n - 1) % n);
        let rings = 0..self.tokens;
        rings
            .filter(|&ring| holds(own[ring], before[ring], process == 0))
            .collect()
    }
}

impl Model for Definitional {
    type State = State;

    fn states(&self) -> u64 {
        self.domains.states()
    }

    fn state(&self, rank: u64) -> State {
        let mut state = State {
            values: [0; MAX_VALUES],
            gates: [Gate::default(); MAX_PROCESSES],
        };
        let mut values = self.domains.values(rank);
        let mut next = || values.next().expect("as many as there are domains") as u32;
        for value in &mut state.values[self.free()] {
            *value = next();
        }
        for gate in &mut state.gates[..self.ring.len()] {
            gate.turn = next();
            gate.counter = next() as i32;
        }
        state
    }

    fn rank(&self, state: &State) -> u64 {
        let values = self.free().map(|cell| {
            // Shifted so that process 0 has the value 0.
            let shift = match self.search {
                Search::Reduced => state.values[cell % self.tokens],
                Search::EveryState => 0,
            };
            let values = u64::from(self.values);
            (u64::from(state.values[cell]) + values - u64::from(shift)) % values
        });
        let gates = state.gates[..self.ring.len()].iter();
        let gates = gates.flat_map(|gate| [gate.turn.into(), gate.counter as u64]);
        self.domains.rank(values.chain(gates))
    }

    fn legitimate(&self, state: &State) -> bool {
        let n = self.ring.len();
        let mut processes = [Process::default(); MAX_PROCESSES];
        for process in 0..n {
            processes[process].counter = state.gates[process].counter;
            processes[(process + n - 1) % n].queued = self.held(state, process).len() as u32;
        }
        // There is no ring of values without a token, so m in all are one of each.
        let (ring, tokens) = (&self.ring, self.tokens as u64);
        let (separation, programs) = (ring.separation(), ring.programs());
        legitimate::check(separation, programs, &processes[..n], &[], tokens).is_ok()
    }

    fn show(&self, state: &State) -> String {
        let cells = (0..self.ring.len()).map(|process| {
            let held = self.held(state, process);
            let values = self
                .of(state, process)
                .iter()
                .enumerate()
                .map(|(ring, value)| {
                    format!("{value}{}", if held.contains(&ring) { "*" } else { "" })
                });
            let gate = state.gates[process];
            let values = values.collect::<Vec<_>>().join(",");
            format!("[{values} counter {} turn {}]", gate.counter, gate.turn)
        });
        cells.collect::<Vec<_>>().join(" ")
    }
}

impl Deterministic for Definitional {
    fn next(&self, state: &State) -> State {
        let mut next = *state;
        let n = self.ring.len();
        for process in 0..n {
            let before = self.of(state, (process + n - 1) % n);
            let own = &mut next.values[process * self.tokens..][..self.tokens];
            let gate = &mut next.gates[process];
            let (k, top) = (self.values, self.top(process));
            token_ring::round(own, before, process == 0, k, gate, top);
        }
        next
    }
}
