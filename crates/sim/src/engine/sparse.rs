//! Only the tokens, every round.
//!
//! A counter that runs down by one a round need not be touched in every round:
//! it is enough to know the round from which its process may release again. A
//! process without tokens then needs no work at all, and a round costs O(m).

use headway_core::program::MeasuringRound;
use headway_core::tokens::Tokens;
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
}

/// Marks in [`Sparse::ready`], above any round number.
const RELAY: Round = Round::MAX;
const MEASURES: Round = Round::MAX - 1;

/// A measuring process, in the state that round `at` led to. It has been idle
/// since: no token rested and none arrived.
#[derive(Clone, Copy, Debug)]
struct Measurer {
    process: ProcessIndex,
    step: MeasuringRound,
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
                    found.is_ok_and(|index| measurers[index].round(round, pile.arriving))
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
        state
    }

    fn load(&mut self, configuration: Configuration) {
        self.tokens = Tokens::new(&configuration);
        self.measurers.clear();
        let mut measuring = configuration.measuring.into_values();
        for (index, state) in configuration.processes.into_iter().enumerate() {
            let program = self.ring.programs()[index];
            self.ready[index] = match program.measuring_round() {
                None if program == Program::Relay => RELAY,
                None => self.rounds + 1 + Round::from(state.counter.unsigned_abs()),
                Some(step) => {
                    self.measurers.push(Measurer {
                        process: index,
                        step,
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

impl Measurer {
    /// The round that leads to state `round`, with tokens there: catches up, then
    /// does what the program says. Returns whether a token is released.
    fn round(&mut self, round: Round, arriving: u32) -> bool {
        *self = self.idle_until(round - 1);
        (self.state, self.variables) = (self.step)(self.state, self.variables, arriving);
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
            let room = self.variables.limit.saturating_sub(self.variables.elapsed);
            let passed = u32::try_from(rounds).unwrap_or(u32::MAX);
            self.variables.elapsed += passed.min(room);
        }
        self.at = round;
        self
    }
}
