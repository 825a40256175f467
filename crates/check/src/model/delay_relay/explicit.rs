//! Every single state, without any reduction: of delays and relays, or of relays and one
//! process that measures.
//!
//! Both are protocol files too, the second way to every number. But here only states with m
//! tokens have a rank, and a state takes a byte: with n = 6, m = d = 2 a file of delays takes
//! 1.45 s and this less than 0.01 s, with n = 4, m = 2 a file that measures 0.18 s and this less
//! than 0.01 s (in one run of a release build, one thread).

use headway_core::{Configuration, Measuring, Process, Program, Ring, legitimate, ring};

use super::Instance;
use crate::Domains;
use crate::error::{Result, TooLarge};
use crate::model::measure::{blame, properties};
use crate::placements::Placements;
use crate::traits::{Deterministic, Model};

/// The largest ring whose states are visited one by one.
const MAX_PROCESSES: usize = 16;

/// The local states, those beyond the ring's size empty; and the variables of process 0 if it
/// measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State<const M: usize> {
    processes: [Process; MAX_PROCESSES],
    measuring: [Measuring; M],
}

/// All states of a ring on which nobody measures (M = 0), or process 0 does (M = 1).
#[derive(Clone, Debug)]
pub struct Explicit<const M: usize = 0> {
    ring: Ring,
    tokens: usize,
    /// What the measuring process is born with: its parameters.
    parameters: [Measuring; M],
    /// The smallest value of base, counter and `ignore`: 0, or -1 as printed.
    smallest: i32,
    placements: Placements,
    /// Timing with ignore, elapsed and base, if process 0 measures; the counter of every delay,
    /// and the placement of the tokens.
    domains: Domains,
}

impl Explicit {
    /// # Errors
    ///
    /// [`CheckError::TooLarge`](crate::CheckError::TooLarge) with more than 16 processes, or from 2^63 states on.
    pub fn new(instance: &Instance) -> Result<Explicit> {
        let counters = instance.separation().into();
        Explicit::of(
            instance.ring().clone(),
            instance.tokens(),
            [],
            0,
            &[],
            counters,
        )
    }
}

impl Explicit<1> {
    /// Of a ring of relays on which process 0 measures up to a limit.
    pub(crate) fn measuring(ring: Ring, tokens: usize, limit: u32) -> Result<Explicit<1>> {
        let smallest = -i32::from(ring.programs()[0] == Program::MeasureAsPrinted);
        // While it times, even the printed program has `ignore` at 0 or more: line 18
        // sets it so, and below 1 the timing ends. So timing with ignore is
        // 2m values, and one more as printed, which comes last.
        let timings = 2 * tokens as u64 + u64::from(smallest < 0);
        let parameters = Measuring::new(tokens as u32, limit);
        let bases = (parameters.largest_base() - smallest + 1) as u64;
        let variables = [timings, u64::from(limit) + 1, bases];
        Explicit::of(ring, tokens, [parameters], smallest, &variables, bases)
    }
}

impl<const M: usize> Explicit<M> {
    fn of(
        ring: Ring,
        tokens: usize,
        parameters: [Measuring; M],
        smallest: i32,
        variables: &[u64],
        counters: u64,
    ) -> Result<Explicit<M>> {
        let limit = MAX_PROCESSES as u64;
        TooLarge::bound("processes without reductions", ring.len(), limit)?;
        let placements = Placements::new(2 * ring.len(), tokens)?;
        let counters = ring.delays().map(|_| counters);
        let variables = variables.iter().copied().chain(counters);
        Ok(Explicit {
            domains: Domains::new(variables.chain([placements.count()]))?,
            placements,
            ring,
            tokens,
            parameters,
            smallest,
        })
    }

    /// The ring.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// The local states of a state.
    pub fn processes<'a>(&self, state: &'a State<M>) -> &'a [Process] {
        &state.processes[..self.ring.len()]
    }

    /// The state of a rank as it can be replayed.
    pub(crate) fn start(&self, rank: u64) -> (Ring, Configuration) {
        let state = self.state(rank);
        let configuration = Configuration {
            processes: self.processes(&state).to_vec(),
            measuring: (0..).zip(state.measuring).collect(),
            counts: Vec::new(),
        };
        (self.ring.clone(), configuration)
    }
}

impl<const M: usize> Model for Explicit<M> {
    type State = State<M>;

    fn states(&self) -> u64 {
        self.domains.states()
    }

    fn state(&self, rank: u64) -> State<M> {
        let mut processes = [Process::default(); MAX_PROCESSES];
        let mut values = self.domains.values(rank);
        let mut next = || {
            values
                .next()
                .expect("three if it measures, one a delay, and one")
        };
        let m = self.tokens as u64;
        let measuring = self.parameters.map(|parameters| {
            let timing = next();
            Measuring {
                timing: timing / m == 1,
                elapsed: next() as u32,
                ignore: match timing == 2 * m {
                    true => -1,
                    false => (timing % m) as i32,
                },
                base: next() as i32 + self.smallest,
                ..parameters
            }
        });
        for process in self.ring.delays() {
            processes[process].counter = next() as i32 + self.smallest;
        }
        self.placements.place(next(), &mut processes);
        State {
            processes,
            measuring,
        }
    }

    fn rank(&self, state: &State<M>) -> u64 {
        let (processes, m) = (self.processes(state), self.tokens as i32);
        let above = |value: i32| (value - self.smallest) as u64;
        let measuring = state.measuring.iter().flat_map(|measuring| {
            let timing = match measuring.ignore {
                -1 => 2 * m,
                ignore => i32::from(measuring.timing) * m + ignore,
            };
            [
                timing as u64,
                measuring.elapsed.into(),
                above(measuring.base),
            ]
        });
        let counters = self
            .ring
            .delays()
            .map(|process| above(processes[process].counter));
        let placement = self.placements.rank(processes);
        self.domains
            .rank(measuring.chain(counters).chain([placement]))
    }

    fn legitimate(&self, state: &State<M>) -> bool {
        let (separation, programs) = (self.ring.separation(), self.ring.programs());
        let (processes, tokens) = (self.processes(state), self.tokens as u64);
        legitimate::check(separation, programs, processes, &state.measuring, tokens).is_ok()
    }

    fn show(&self, state: &State<M>) -> String {
        let mut text = super::show(self.processes(state), &self.ring);
        for measuring in &state.measuring {
            text.push_str(&format!(
                "  timing {} elapsed {} ignore {} base {}",
                if measuring.timing { "yes" } else { "no" },
                measuring.elapsed,
                measuring.ignore,
                measuring.base
            ));
        }
        text
    }
}

impl<const M: usize> Deterministic for Explicit<M> {
    fn next(&self, state: &State<M>) -> State<M> {
        let mut next = *state;
        let ring = &self.ring;
        let processes = &mut next.processes[..ring.len()];
        let (separation, programs) = (ring.separation(), ring.programs());
        ring::round(separation, programs, processes, &mut next.measuring);
        next
    }

    fn starts_anywhere(&self) -> bool {
        self.smallest == 0
    }

    fn initial(&self, state: &State<M>) -> bool {
        let fine = |measuring: &Measuring| measuring.ignore >= 0 && measuring.base >= 0;
        state.measuring.iter().all(fine) && state.processes[0].counter >= 0
    }

    fn blame(&self, cycle: &[State<M>]) -> &'static str {
        if M == 0 {
            return "convergence";
        }
        let size = (self.ring.len(), self.ring.separation().hops() as usize);
        let process = |state: usize, process: usize| &cycle[state].processes[process];
        let queued = |state, at| process(state, at).queued.into();
        blame(properties(false), size, cycle.len(), queued, |state, at| {
            process(state, at).tokens()
        })
    }
}
