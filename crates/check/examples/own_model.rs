//! A model of one's own: every process of a ring may copy its predecessor's value when
//! the two differ. Does the ring come to agree? Not for sure, unless one process, the
//! leader, keeps its own.
//!
//!     cargo run --release -p headway-check --example own_model

use headway_check::{Control, Guarded, Model, Scheduler, guarded};

/// n processes with one bit each; the state is the bits.
struct Copying {
    processes: usize,
    /// Whether process 0 keeps its own.
    leader: bool,
}

impl Copying {
    fn bit(&self, state: u64, process: usize) -> u64 {
        state >> (process % self.processes) & 1
    }
}

impl Model for Copying {
    type State = u64;

    fn states(&self) -> u64 {
        1 << self.processes
    }

    fn state(&self, rank: u64) -> u64 {
        rank
    }

    fn rank(&self, state: &u64) -> u64 {
        *state
    }

    fn legitimate(&self, state: &u64) -> bool {
        *state == 0 || *state == self.states() - 1
    }

    fn show(&self, state: &u64) -> String {
        format!("{state:0width$b}", width = self.processes)
    }
}

impl Guarded for Copying {
    fn processes(&self) -> usize {
        self.processes
    }

    fn step(&self, state: &u64, process: usize) -> Option<u64> {
        let leads = self.leader && process == 0;
        let before = self.bit(*state, process + self.processes - 1);
        let differs = self.bit(*state, process) != before;
        // A process that differs from its predecessor and copies it flips its bit.
        (differs && !leads).then_some(state ^ 1 << process)
    }
}

fn main() {
    for leader in [false, true] {
        let model = Copying {
            processes: 6,
            leader,
        };
        let scheduler = Scheduler::Distributed;
        let answer =
            guarded::explore(&model, scheduler, &Control::default()).expect("64 states fit");
        let who = if leader { "with a leader" } else { "without" };
        match (answer.worst, answer.divergence) {
            (Some(worst), None) => println!("{who}: agrees after {} steps at most", worst.steps),
            (_, Some(lasso)) => {
                let cycle = lasso.cycle.iter().map(|rank| model.show(rank));
                let cycle = cycle.collect::<Vec<_>>().join(" -> ");
                println!("{who}: may never agree, as in {cycle}");
            }
            (None, None) => unreachable!("it converges or it does not"),
        }
    }
}
