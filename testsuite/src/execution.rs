//! A run in which tokens have an identity, so that one can say which have been
//! where.

use headway_core::tokens::Tokens;
use headway_core::{Configuration, ProcessIndex, Ring, Round};

use crate::space::Case;

/// From which state on claim 5 is taken to speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Premise {
    /// The paper's: every token has arrived at least once at some delay.
    AsPrinted,
    /// What makes it true: every token has arrived at (or rests at) some delay
    /// *since no token rests at a relay*.
    SinceRelaysAreEmpty,
}

/// A run. The step is an argument so that counter-tests can run another
/// protocol than the one that they check.
pub struct Execution<'a, S> {
    case: &'a Case,
    step: S,
    state: Configuration,
    tokens: Tokens,
    round: Round,
    premise: Premise,
    /// Per token, whether it has been at a delay as the premise asks.
    passed: Vec<bool>,
    relays_empty: bool,
}

impl<'a, S: Fn(&mut Configuration)> Execution<'a, S> {
    /// The run of `step` from `initial`.
    pub fn new(case: &'a Case, premise: Premise, initial: &Configuration, step: S) -> Self {
        let tokens = Tokens::new(initial);
        let mut execution = Execution {
            case,
            step,
            passed: vec![false; tokens.places().len()],
            tokens,
            state: initial.clone(),
            round: 0,
            premise,
            relays_empty: premise == Premise::AsPrinted,
        };
        execution.note_empty_relays();
        execution
    }

    /// The present state.
    pub fn state(&self) -> &Configuration {
        &self.state
    }

    /// Rounds so far.
    pub fn round(&self) -> Round {
        self.round
    }

    /// Whether the present state is the σ of claim 5, or comes after it.
    pub fn reached(&self) -> bool {
        self.passed.iter().all(|&passed| passed)
    }

    /// Executes a round. Calls `arrives` with every process at which a token
    /// arrives in it.
    pub fn advance(&mut self, mut arrives: impl FnMut(ProcessIndex)) {
        let n = self.case.ring.len();
        for (index, process) in self.state.processes.iter().enumerate() {
            if process.queued > 0 {
                arrives((index + 1) % n);
            }
        }
        if self.relays_empty {
            for (passed, &place) in self.passed.iter_mut().zip(self.tokens.places()) {
                let next = (place.process() + 1) % n;
                *passed |= !place.resting && Self::delays(self.case, next);
            }
        }
        (self.step)(&mut self.state);
        self.tokens.follow(&self.state);
        self.round += 1;
        self.note_empty_relays();
    }

    fn delays(case: &Case, index: ProcessIndex) -> bool {
        case.ring.programs()[index].delays()
    }

    /// Relays stay empty once they are: at most one token arrives in a round.
    fn note_empty_relays(&mut self) {
        if self.relays_empty || self.premise == Premise::AsPrinted {
            return;
        }
        self.relays_empty = relays_are_empty(&self.case.ring, &self.state);
        if self.relays_empty {
            // Now all that rest, rest at delays.
            for (passed, place) in self.passed.iter_mut().zip(self.tokens.places()) {
                *passed |= place.resting;
            }
        }
    }
}

/// Whether no token rests at a relay.
pub fn relays_are_empty(ring: &Ring, state: &Configuration) -> bool {
    let mut programs = ring.programs().iter().zip(&state.processes);
    programs.all(|(program, process)| program.delays() || process.resting == 0)
}

/// σ was not reached within twice the horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotReached;

/// Runs `step` from `initial` until σ, and from there on calls `visit` with every
/// state (σ first) and the processes at which a token arrived in the round that
/// led to it (none at σ), until it returns false or the horizon is past.
///
/// # Errors
///
/// [`NotReached`], which the corrected protocol never gives.
pub fn from_sigma(
    case: &Case,
    premise: Premise,
    initial: &Configuration,
    step: impl Fn(&mut Configuration),
    mut visit: impl FnMut(Round, &Configuration, &[ProcessIndex]) -> bool,
) -> Result<(), NotReached> {
    let mut execution = Execution::new(case, premise, initial, step);
    while !execution.reached() {
        if execution.round() > 2 * case.horizon() {
            return Err(NotReached);
        }
        execution.advance(|_| {});
    }
    let end = execution.round() + case.horizon();
    let mut arrivals = Vec::new();
    while visit(execution.round(), execution.state(), &arrivals) && execution.round() < end {
        arrivals.clear();
        execution.advance(|process| arrivals.push(process));
    }
    Ok(())
}
