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
use headway_sim::placement::Delays;
use num_bigint::BigUint;

use super::delay_relay::Instance;
use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::report::Report;
use crate::settings::{Tokens, settings};
use crate::traits::{Deterministic, Model};
use crate::{Domains, function};

/// Values of all processes and tokens together.
const MAX_VALUES: usize = 32;
const MAX_PROCESSES: usize = 16;

settings! {
    /// A ring of delays and relays whose m tokens are those of m K-state rings.
    Settings {
        /// Number of processes
        processes: usize = 4, "N";
        /// Number of tokens
        tokens: Tokens = Tokens::UpTo(2), "M";
        /// Hops to keep between successive tokens [default: N/M]
        separation: Option<u32> = None, "D";
        /// Which processes delay: all, every:K or at:0,5,9
        delays: Delays = Delays::All, "WHICH";
        /// Values of each K-state ring [default: N+1]
        values: Option<u32> = None, "K";
        /// Visit every single state, without the reduction
        unreduced: bool = false, "";
    }
}

/// Checks tokens by definition on a ring of delays and relays.
///
/// # Errors
///
/// As [`Definitional::new`]; when too large, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    let model = Definitional::new(settings)?;
    let instance = format!("{}, {} values", model.instance, model.values);
    let mut report = function::report(&model, "definitional", instance, control, |_| None)?;
    if settings.unreduced {
        return Ok(report);
    }
    // Each state explored stands for so many.
    let class = BigUint::from(model.values).pow(model.tokens as u32);
    report.states *= &class;
    report.legitimate *= &class;
    let figures = &mut report.figures;
    let counts = figures
        .distribution
        .iter_mut()
        .flatten()
        .chain(&mut figures.never);
    counts.for_each(|count| *count *= &class);
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
    instance: Instance,
    ring: Ring,
    tokens: usize,
    values: u32,
    unreduced: bool,
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
        let (tokens, separation) = (settings.tokens, settings.separation);
        let instance = Instance::of(settings.processes, tokens, separation, &settings.delays)?;
        let values = settings.values.unwrap_or(settings.processes as u32 + 1);
        let (ring, tokens) = (instance.ring().clone(), instance.tokens());
        let (n, cells) = (ring.len(), ring.len() * tokens);
        if !(2..=MAX_PROCESSES).contains(&n) || tokens == 0 || cells > MAX_VALUES || values < 2 {
            return Err(CheckError::settings(format!(
                "definitional: 2 to {MAX_PROCESSES} processes, at least 1 token, at most \
                 {MAX_VALUES} values of processes and tokens together, and at least 2 values for \
                 each"
            )));
        }
        let free = match settings.unreduced {
            false => cells - tokens,
            true => cells,
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
            domains: Domains::new(values_domain.chain(gates))?,
            instance,
            ring,
            tokens,
            values,
            unreduced: settings.unreduced,
        })
    }

    /// The cells of values that are not 0 by the reduction.
    fn free(&self) -> std::ops::Range<usize> {
        let first = if self.unreduced { 0 } else { self.tokens };
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
            let shift = match self.unreduced {
                false => state.values[cell % self.tokens],
                true => 0,
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
