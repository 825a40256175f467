//! Every single state, without any reduction.

use headway_core::{Process, legitimate, ring};

use super::Instance;
use crate::CheckError;
use crate::ranking::{Multisets, count_states, digit, place_tokens, token_slots};
use crate::traits::{Deterministic, Model};

/// The largest ring whose states are visited one by one.
const LARGEST: usize = 16;

/// The local states; those beyond the ring's size stay empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    processes: [Process; LARGEST],
}

/// All states of an instance. A rank is the counters as a number in base d, less
/// significant, and the placement of the tokens.
#[derive(Clone, Debug)]
pub struct Explicit {
    instance: Instance,
    placements: Multisets,
    counters: u64,
    states: u64,
}

impl Explicit {
    /// # Errors
    ///
    /// [`CheckError::TooLarge`] with more than 16 processes or 2^63 states.
    pub fn new(instance: Instance) -> Result<Explicit, CheckError> {
        if instance.processes() > LARGEST {
            return Err(CheckError::TooLarge {
                what: format!("{} processes", instance.processes()),
                need: "visiting every state".into(),
                fits: format!("{LARGEST} processes without reductions"),
            });
        }
        let states = count_states(instance.states())?;
        let placements = Multisets::new(2 * instance.processes(), instance.tokens());
        Ok(Explicit {
            counters: states / placements.count() as u64,
            states,
            placements,
            instance,
        })
    }

    /// The instance.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The local states of a state.
    pub fn processes<'a>(&self, state: &'a State) -> &'a [Process] {
        &state.processes[..self.instance.processes()]
    }
}

impl Model for Explicit {
    type State = State;

    fn states(&self) -> u64 {
        self.states
    }

    fn state(&self, rank: u64) -> State {
        let mut processes = [Process::default(); LARGEST];
        let mut slots = [0; 256];
        let slots = &mut slots[..self.instance.tokens()];
        self.placements.unrank(rank / self.counters, slots);
        place_tokens(&mut processes, slots);
        // The digits taken are the low ones; the placement is above them.
        let mut rest = rank;
        let d = u64::from(self.instance.separation());
        for process in self.instance.ring().delays() {
            processes[process].counter = digit(&mut rest, d) as i32;
        }
        State { processes }
    }

    fn rank(&self, state: &State) -> u64 {
        let d = u64::from(self.instance.separation());
        let mut slots = [0; 256];
        let count = token_slots(self.processes(state), &mut slots);
        let (mut counters, mut weight) = (0, 1);
        for (index, process) in self.processes(state).iter().enumerate() {
            if self.instance.delays_at(index) {
                counters += weight * process.counter as u64;
                weight *= d;
            }
        }
        self.placements.rank(&slots[..count]) * self.counters + counters
    }

    fn legitimate(&self, state: &State) -> bool {
        let ring = self.instance.ring();
        let (processes, tokens) = (self.processes(state), self.instance.tokens() as u64);
        legitimate::check(ring.separation(), ring.programs(), processes, &[], tokens).is_ok()
    }

    fn show(&self, state: &State) -> String {
        super::show(self.processes(state), self.instance.ring())
    }
}

impl Deterministic for Explicit {
    fn next(&self, state: &State) -> State {
        let mut next = *state;
        let ring = self.instance.ring();
        let processes = &mut next.processes[..ring.len()];
        ring::round(ring.separation(), ring.programs(), processes, &mut []);
        next
    }
}
