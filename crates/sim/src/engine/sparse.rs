//! Only the tokens, every round.
//!
//! A counter that runs down by one a round need not be touched in every round:
//! it is enough to know the round from which its process may release again. A
//! process without tokens then needs no work at all, and a round costs O(m).

use headway_core::program::Counts;
use headway_core::tokens::{Pile, Tokens};
use headway_core::{Configuration, Measuring, Process, ProcessIndex, Program, Ring, Round};

use super::Engine;

/// The same run as [`super::Dense`] at a cost by tokens: O(m) a round.
#[derive(Clone, Debug)]
pub struct Sparse {
    ring: Ring,
    rounds: Round,
    tokens: Tokens,
    /// Per process: the first round in which it may release, or a mark.
    ready: Vec<Round>,
    measurers: Vec<Measurer>,
    /// What each token carries, less its position, which is what it carries more with
    /// every hop; empty where nobody reads it.
    counts: Vec<u32>,
}

/// Marks in [`Sparse::ready`], above any round number.
const RELAY: Round = Round::MAX;
const MEASURES: Round = Round::MAX - 1;

/// A measuring process, in the state that round `at` led to. It has been idle
/// since: no token rested and none arrived.
#[derive(Clone, Copy, Debug)]
struct Measurer {
    process: ProcessIndex,
    program: Program,
    at: Round,
    state: Process,
    variables: Measuring,
}

impl Sparse {
    /// An engine at round 0 of the given state.
    pub fn new(ring: Ring, start: Configuration) -> Sparse {
        let mut engine = Sparse {
            tokens: Tokens::new(&start),
            ready: vec![RELAY; ring.len()],
            measurers: Vec::new(),
            counts: Vec::new(),
            rounds: 0,
            ring,
        };
        engine.load(start);
        engine
    }
}

impl Engine for Sparse {
    fn ring(&self) -> &Ring {
        &self.ring
    }

    fn rounds(&self) -> Round {
        self.rounds
    }

    fn round(&mut self) {
        let round = self.rounds + 1;
        let again = round + Round::from(self.ring.separation().hops());
        let (ready, measurers) = (&mut self.ready, &mut self.measurers);
        let (counts, n) = (&self.counts, self.ring.len() as u64);
        self.tokens.advance(|pile| {
            let ready = &mut ready[pile.process];
            if *ready <= round {
                *ready = again;
                return true;
            }
            match *ready {
                RELAY => true,
                MEASURES => {
                    let found = measurers.binary_search_by_key(&pile.process, |m| m.process);
                    found.is_ok_and(|index| {
                        measurers[index].round(round, pile.arriving, seen(counts, n, pile))
                    })
                }
                _ => false,
            }
        });
        // Tokens arrive at every process that they leave, so a measurer whose
        // queue was taken without a new arrival is idle from here on.
        self.rounds = round;
    }

    fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    fn configuration(&self) -> Configuration {
        let mut state = Configuration::from(vec![Process::default(); self.ring.len()]);
        for (process, &ready) in state.processes.iter_mut().zip(&self.ready) {
            if ready < MEASURES {
                // Below d, because a delay is ready at most d rounds from now.
                process.counter = ready.saturating_sub(self.rounds + 1) as i32;
            }
        }
        for measurer in &self.measurers {
            let now = measurer.idle_until(self.rounds);
            state.processes[now.process].counter = now.state.counter;
            state.measuring.insert(now.process, now.variables);
        }
        for place in self.tokens.places() {
            let process = &mut state.processes[place.process()];
            if place.resting {
                process.resting += 1;
            } else {
                process.queued += 1;
            }
        }
        let carried = self.counts.iter().zip(self.tokens.places());
        let counts = carried.map(|(count, place)| count.wrapping_add(place.lifted as u32));
        state.counts = counts.collect();
        if !state.counts.is_empty() {
            state.counts.rotate_left(self.tokens.first_backwards());
        }
        state
    }

    fn load(&mut self, configuration: Configuration) {
        self.tokens = Tokens::new(&configuration);
        self.measurers.clear();
        let carried = configuration.counts.iter().zip(self.tokens.places());
        let counts = carried.map(|(count, place)| count.wrapping_sub(place.lifted as u32));
        self.counts = counts.collect();
        let mut measuring = configuration.measuring.into_values();
        for (index, state) in configuration.processes.into_iter().enumerate() {
            let program = self.ring.programs()[index];
            self.ready[index] = match program {
                Program::Relay => RELAY,
                Program::Delay => self.rounds + 1 + Round::from(state.counter.unsigned_abs()),
                _ => {
                    self.measurers.push(Measurer {
                        process: index,
                        program,
                        at: self.rounds,
                        state,
                        variables: measuring.next().expect("variables for every measurer"),
                    });
                    MEASURES
                }
            };
        }
    }
}

/// What the tokens of a pile show.
fn seen(counts: &[u32], n: u64, pile: Pile) -> Counts {
    let shown = |ahead: u32| {
        // Tokens from the list's other end are a turn ahead of its last ones.
        let (token, lifted) = match pile.first + ahead as usize {
            token if token < counts.len() => (token, pile.lifted),
            beyond => (beyond - counts.len(), pile.lifted + n),
        };
        let count = counts.get(token);
        count.map_or(0, |count| count.wrapping_add(lifted as u32))
    };
    Counts {
        arrived: shown(pile.held - pile.arriving),
        leaving: shown(0),
    }
}

impl Measurer {
    /// The round that leads to state `round`, with tokens there: catches up, then
    /// does what the program says. Returns whether a token is released.
    fn round(&mut self, round: Round, arriving: u32, seen: Counts) -> bool {
        *self = self.idle_until(round - 1);
        (self.state, self.variables) =
            self.program
                .measuring_round(self.state, self.variables, arriving, seen);
        self.at = round;
        self.state.queued > 0
    }

    /// The same process after the rounds up to `round`, in which no token rested
    /// here and none arrived: only the clocks have moved.
    fn idle_until(mut self, round: Round) -> Measurer {
        let rounds = round - self.at;
        if rounds > 0 {
            self.state.queued = 0;
            let passed = i32::try_from(rounds).unwrap_or(i32::MAX);
            if self.state.counter > 0 {
                self.state.counter = self.state.counter.saturating_sub(passed).max(0);
            }
            if !self.program.reads_counts() {
                let room = self.variables.limit.saturating_sub(self.variables.elapsed);
                let passed = u32::try_from(rounds).unwrap_or(u32::MAX);
                self.variables.elapsed += passed.min(room);
            }
        }
        self.at = round;
        self
    }
}
