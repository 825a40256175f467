//! Every single state, without any reduction.

use headway_core::{Process, legitimate, ring};

use super::Instance;
use crate::Domains;
use crate::error::{Result, TooLarge};
use crate::placements::Placements;
use crate::traits::{Deterministic, Model};

/// The largest ring whose states are visited one by one.
const MAX_PROCESSES: usize = 16;

/// The local states; those beyond the ring's size stay empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    processes: [Process; MAX_PROCESSES],
}

/// All states of an instance.
#[derive(Clone, Debug)]
pub struct Explicit {
    instance: Instance,
    placements: Placements,
    /// The counter of every delay, and the placement of the tokens.
    domains: Domains,
}

impl Explicit {
    /// # Errors
    ///
    /// [`CheckError::TooLarge`](crate::CheckError::TooLarge) with more than 16 processes, or from 2^63 states on.
    pub fn new(instance: Instance) -> Result<Explicit> {
        let limit = MAX_PROCESSES as u64;
        TooLarge::bound("processes without reductions", instance.processes(), limit)?;
        let placements = Placements::new(2 * instance.processes(), instance.tokens())?;
        let d = u64::from(instance.separation());
        let counters = instance.ring().delays().map(|_| d);
        Ok(Explicit {
            domains: Domains::new(counters.chain([placements.count()]))?,
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
        self.domains.states()
    }

    fn state(&self, rank: u64) -> State {
        let mut processes = [Process::default(); MAX_PROCESSES];
        let mut values = self.domains.values(rank);
        let mut next = || values.next().expect("one a delay, and one");
        for process in self.instance.ring().delays() {
            processes[process].counter = next() as i32;
        }
        self.placements.place(next(), &mut processes);
        State { processes }
    }

    fn rank(&self, state: &State) -> u64 {
        let processes = self.processes(state);
        let delays = self.instance.ring().delays();
        let counters = delays.map(|process| processes[process].counter as u64);
        self.domains
            .rank(counters.chain([self.placements.rank(processes)]))
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
