//! What a model says about itself.
//!
//! A model is a finite set of states, numbered from 0 without gaps; the number
//! is the state's *rank*, which [`Domains`](crate::Domains) computes for variables with
//! finite domains. A model says which states are legitimate and how one state leads to
//! the next, in one of three ways:
//!
//! * [`Deterministic`]: lock-step protocols, whose round is a function;
//! * [`Guarded`]: processes with guarded assignments, of which a
//!   [`Scheduler`](crate::Scheduler) selects some in every step;
//! * [`Actions`]: anything else that has named actions, such as a channel that
//!   may lose a message.

use crate::schedule::ring_neighbours;

/// A finite set of states, some of which are legitimate.
pub trait Model: Sync {
    /// A global state.
    type State: Clone + PartialEq + Send + Sync;

    /// How many states there are. All ranks are below.
    fn states(&self) -> u64;

    /// The state of a rank below [`Model::states`].
    fn state(&self, rank: u64) -> Self::State;

    /// The rank of a state: the inverse of [`Model::state`].
    fn rank(&self, state: &Self::State) -> u64;

    /// Whether the state is legitimate.
    fn legitimate(&self, state: &Self::State) -> bool;

    /// Whether all states are initial, as self-stabilization asks; saves asking
    /// for each.
    fn starts_anywhere(&self) -> bool {
        true
    }

    /// Whether a transient fault can leave the system here. States for which it
    /// cannot are still explored; they only start no counterexample and no worst
    /// case.
    fn initial(&self, _state: &Self::State) -> bool {
        true
    }

    /// The state on one line, for counterexamples and witnesses.
    fn show(&self, state: &Self::State) -> String;
}

/// A model in which every state has exactly one successor.
pub trait Deterministic: Model {
    /// The state after one round.
    fn next(&self, state: &Self::State) -> Self::State;

    /// The named property that a cycle without a legitimate state violates. A
    /// model that can go wrong in several ways names them here, and gets the
    /// shortest counterexample of each.
    fn blame(&self, _cycle: &[Self::State]) -> &'static str {
        "convergence"
    }
}

/// A model of processes that each have at most one enabled assignment.
///
/// A process changes only variables of its own, and a rank is a sum to which every
/// variable contributes separately, as that of [`Domains`](crate::Domains) is. So when
/// several processes make their assignments at once, the differences that each of them
/// makes to the rank add up.
pub trait Guarded: Model {
    /// How many processes there are, at most 64.
    fn processes(&self) -> usize;

    /// The state after a process alone has made its assignment; `None` unless its guard
    /// holds.
    fn step(&self, state: &Self::State, process: usize) -> Option<Self::State>;

    /// The neighbours of a process as a set, bit i for process i: a locally central
    /// scheduler never selects two neighbours at once. A ring, unless said otherwise.
    fn neighbours(&self, process: usize) -> u64 {
        ring_neighbours(process, self.processes())
    }
}

/// An action of an [`Actions`] model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// Its name.
    pub name: &'static str,
    /// When it has to happen.
    pub fairness: Fairness,
}

/// When an action has to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fairness {
    /// It may or may not, as the loss of a message.
    Unfair,
    /// It happens in the end if from some time on it can always happen.
    Weak,
    /// It happens again and again if it can happen again and again.
    Strong,
}

/// One step of an [`Actions`] model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step<S> {
    /// Which action, by its place in [`Actions::actions`].
    pub action: usize,
    /// Where it leads.
    pub state: S,
}

/// A model whose steps are named actions, any of which may be next.
pub trait Actions: Model {
    /// The actions, at most 64.
    fn actions(&self) -> Vec<Action>;

    /// Adds every step that the state allows.
    fn steps(&self, state: &Self::State, steps: &mut Vec<Step<Self::State>>);

    /// Whether the engine is to look for closure itself: [`Model::legitimate`] then says
    /// only how it should be, and the legitimate states are those of them from which no
    /// step ever leads to another.
    fn looks_for_closure(&self) -> bool {
        false
    }

    /// The name of the property that a step from a legitimate state violates, if any.
    fn violates(&self, _before: &Self::State, _step: &Step<Self::State>) -> Option<&'static str> {
        None
    }
}
