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

use crate::schedule::{bits, ring_neighbours};

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

    /// Whether the state is one of the model's at all: ranks may count some that are not,
    /// such as those with another number of tokens. No step leads to one of these.
    fn exists(&self, _state: &Self::State) -> bool {
        true
    }

    /// Whether the state is legitimate.
    fn legitimate(&self, state: &Self::State) -> bool;

    /// The state on one line, for counterexamples and witnesses.
    fn show(&self, state: &Self::State) -> String;

    /// The states of a run, and where it repeats from. A model in which one state stands
    /// for several shows a run of those here.
    fn unfold(&self, stem: &[u64], cycle: &[u64]) -> (Vec<Self::State>, Option<usize>) {
        let states = stem.iter().chain(cycle).map(|&rank| self.state(rank));
        (states.collect(), (!cycle.is_empty()).then_some(stem.len()))
    }
}

/// A model in which every state has exactly one successor.
pub trait Deterministic: Model {
    /// The state after one round.
    fn next(&self, state: &Self::State) -> Self::State;

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

    /// The named property that a cycle without a legitimate state violates. A
    /// model that can go wrong in several ways names them here, and gets the
    /// shortest counterexample of each.
    fn blame(&self, _cycle: &[Self::State]) -> &'static str {
        "convergence"
    }
}

/// What the processes of a state can do: differences that they make to its rank.
#[derive(Clone, Debug)]
pub struct Moves {
    pub(crate) enabled: u64,
    /// The first of each process, modulo 2^64.
    differences: [u64; 64],
    /// All but the first.
    more: Vec<(usize, u64)>,
}

impl Default for Moves {
    fn default() -> Moves {
        Moves {
            enabled: 0,
            differences: [0; 64],
            more: Vec::new(),
        }
    }
}

impl Moves {
    /// Forgets all moves.
    pub fn clear(&mut self) {
        self.enabled = 0;
        self.more.clear();
    }

    /// Adds a move of a process: the difference it makes to the rank, modulo 2^64.
    pub fn add(&mut self, process: usize, difference: u64) {
        if self.enabled >> process & 1 == 0 {
            self.enabled |= 1 << process;
            self.differences[process] = difference;
        } else {
            self.more.push((process, difference));
        }
    }

    /// Calls `each` with the ranks that moves of all selected processes lead to, until it
    /// says true; whether it did.
    pub(crate) fn after(
        &self,
        rank: u64,
        selected: u64,
        each: &mut impl FnMut(u64) -> bool,
    ) -> bool {
        if !self
            .more
            .iter()
            .any(|(process, _)| selected >> process & 1 == 1)
        {
            let sum = |rank: u64, process: usize| rank.wrapping_add(self.differences[process]);
            return each(bits(selected).fold(rank, sum));
        }
        let process = selected.trailing_zeros() as usize;
        let rest = selected & (selected - 1);
        let more = self.more.iter().filter(|(other, _)| *other == process);
        let mut all = std::iter::once(self.differences[process]).chain(more.map(|(_, d)| *d));
        if rest == 0 {
            return all.any(|difference| each(rank.wrapping_add(difference)));
        }
        all.any(|difference| self.after(rank.wrapping_add(difference), rest, each))
    }
}

/// A model of processes with guarded assignments: [`Guarded::step`] if a process never has
/// more than one to choose from, [`Guarded::moves`] otherwise.
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
    fn step(&self, _state: &Self::State, _process: usize) -> Option<Self::State> {
        None
    }

    /// All moves of all processes.
    fn moves(&self, rank: u64, moves: &mut Moves) {
        moves.clear();
        let state = self.state(rank);
        for process in 0..self.processes() {
            if let Some(after) = self.step(&state, process) {
                moves.add(process, self.rank(&after).wrapping_sub(rank));
            }
        }
    }

    /// The rank of the state that stands for the one that the differences of the selected
    /// processes lead to.
    fn canonical(&self, rank: u64, _selected: u64) -> u64 {
        rank
    }

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
