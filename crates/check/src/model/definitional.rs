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

use crate::control::{CheckError, Control, Limits};
use crate::ranking::{count_states, digit};
use crate::report::{Figure, Report};
use crate::traits::{Deterministic, Model};
use crate::{function, report};

const MOST_VALUES: usize = 32;
const LARGEST: usize = 16;

/// Values by process, then ring, and the gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    values: [u32; MOST_VALUES],
    gates: [Gate; LARGEST],
}

/// A ring of delays and relays whose m tokens are those of m K-state rings.
/// Legitimate: one token per ring, and the state legitimate as a delay/relay
/// state in which each held token has just been queued by the predecessor.
#[derive(Clone, Debug)]
pub struct Definitional {
    ring: Ring,
    tokens: usize,
    values: u64,
    reduced: bool,
    states: u64,
}

impl Definitional {
    /// With `values` values in every ring; explored up to value shift, or every
    /// state when not `reduced`.
    ///
    /// # Errors
    ///
    /// With fewer than 2 processes or more than 16, no tokens, more than 32 values
    /// in all, fewer than 2 values, or 2^63 states and more.
    pub fn new(
        ring: Ring,
        tokens: usize,
        values: u32,
        reduced: bool,
    ) -> Result<Definitional, CheckError> {
        let n = ring.len();
        let cells = n * tokens;
        if !(2..=LARGEST).contains(&n) || tokens == 0 || cells > MOST_VALUES || values < 2 {
            return Err(CheckError::instance(format!(
                "definitional: 2 to {LARGEST} processes, at least 1 token, at most {MOST_VALUES} \
                 values of processes and tokens together, and at least 2 values for each"
            )));
        }
        if ring.programs().iter().any(|program| program.measures()) {
            return Err(CheckError::instance("definitional: no process may measure"));
        }
        let mut model = Definitional {
            ring,
            tokens,
            values: u64::from(values),
            reduced,
            states: 0,
        };
        let power = |base: u64, exponent: usize| u128::from(base).saturating_pow(exponent as u32);
        let states = power(model.values, model.free_values())
            .saturating_mul(power(tokens as u64, n))
            .saturating_mul(power(
                model.ring.separation().hops().into(),
                model.ring.delays().count(),
            ));
        model.states = count_states(states)?;
        Ok(model)
    }

    fn free_values(&self) -> usize {
        let processes = self.ring.len() - usize::from(self.reduced);
        processes * self.tokens
    }

    fn first_free(&self) -> usize {
        if self.reduced { self.tokens } else { 0 }
    }

    fn cells(&self) -> usize {
        self.ring.len() * self.tokens
    }

    /// How many states each explored one stands for.
    fn class(&self) -> u128 {
        if self.reduced {
            u128::from(self.values).pow(self.tokens as u32)
        } else {
            1
        }
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

/// Checks tokens by definition on a ring of delays and relays.
///
/// # Errors
///
/// As [`Definitional::new`]; when too large, or when stopped.
pub fn check(
    ring: Ring,
    tokens: usize,
    values: u32,
    reduced: bool,
    limits: Limits,
    control: &Control,
) -> Result<Report, CheckError> {
    let instance = super::delay_relay::Instance::new(ring.clone(), tokens)?.describe();
    let instance = format!("{instance}, {values} values");
    let model = Definitional::new(ring, tokens, values, reduced)?;
    let answer = function::explore(&model, limits, control)?;
    let mut report = report::of_function(&model, "definitional", instance, &answer, |_| None);
    let class = model.class();
    report.states *= class;
    report.legitimate *= class;
    for (_, figure) in &mut report.figures {
        match figure {
            Figure::Number(count) => *count *= class,
            Figure::List(counts) => counts.iter_mut().for_each(|count| *count *= class),
            _ => {}
        }
    }
    if reduced {
        report.reductions.push(format!(
            "value shift: one state for the {class} that differ by constants added to a ring's values"
        ));
    }
    Ok(report)
}

impl Model for Definitional {
    type State = State;

    fn states(&self) -> u64 {
        self.states
    }

    fn state(&self, mut rank: u64) -> State {
        let mut state = State {
            values: [0; MOST_VALUES],
            gates: [Gate::default(); LARGEST],
        };
        for value in &mut state.values[self.first_free()..self.cells()] {
            *value = digit(&mut rank, self.values) as u32;
        }
        let d = u64::from(self.ring.separation().hops());
        for (process, program) in self.ring.programs().iter().enumerate() {
            state.gates[process].turn = digit(&mut rank, self.tokens as u64) as u32;
            if program.delays() {
                state.gates[process].counter = digit(&mut rank, d) as i32;
            }
        }
        state
    }

    fn rank(&self, state: &State) -> u64 {
        let d = u64::from(self.ring.separation().hops());
        let mut rank = 0;
        for (process, program) in self.ring.programs().iter().enumerate().rev() {
            if program.delays() {
                rank = rank * d + state.gates[process].counter as u64;
            }
            rank = rank * self.tokens as u64 + u64::from(state.gates[process].turn);
        }
        let k = self.values as u32;
        for cell in (self.first_free()..self.cells()).rev() {
            // Shifted so that process 0 has the value 0.
            let shift = if self.reduced {
                state.values[cell % self.tokens]
            } else {
                0
            };
            let value = (state.values[cell] + k - shift) % k;
            rank = rank * self.values + u64::from(value);
        }
        rank
    }

    fn legitimate(&self, state: &State) -> bool {
        let n = self.ring.len();
        let mut processes = [Process::default(); LARGEST];
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
            let (k, top) = (self.values as u32, self.top(process));
            token_ring::round(own, before, process == 0, k, gate, top);
        }
        next
    }
}
