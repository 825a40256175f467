//! Processes that can all do the same things, and whose states are in a list.

use crate::traits::{Action, Actions, Fairness, Model, Step};

/// Such processes. Nobody puts off forever what it can always do.
pub(crate) trait Alike: Sync {
    /// A global state.
    type State: Clone + Ord + Send + Sync;

    /// What a process can do.
    const ACTIONS: &'static [&'static str];

    /// As [`Actions::looks_for_closure`].
    const LOOKS_FOR_CLOSURE: bool = false;

    /// How many processes there are.
    fn processes(&self) -> usize;

    /// What a process does in a state: the places of the actions, and the states after them.
    fn acts(
        &self,
        state: &Self::State,
        process: usize,
    ) -> impl Iterator<Item = (usize, Self::State)>;

    /// As [`Model::legitimate`].
    fn legitimate(&self, state: &Self::State) -> bool;

    /// As [`Model::show`].
    fn show(&self, state: &Self::State) -> String;

    /// What all processes do.
    fn all_act(&self, state: &Self::State) -> impl Iterator<Item = Step<Self::State>> {
        (0..self.processes()).flat_map(move |process| {
            let acts = self.acts(state, process);
            acts.map(move |(place, state)| Step {
                action: process * Self::ACTIONS.len() + place,
                state,
            })
        })
    }

    /// The action by which process 0 gets a token from the last process, if receiving is the
    /// first of all actions.
    fn visit(&self) -> usize {
        (self.processes() - 1) * Self::ACTIONS.len()
    }
}

/// All states that there are, or that are reached.
pub(crate) struct Listed<'a, P: Alike> {
    processes: &'a P,
    /// Ascending.
    states: Vec<P::State>,
}

impl<P: Alike> Listed<'_, P> {
    pub(crate) fn new(processes: &P, mut states: Vec<P::State>) -> Listed<'_, P> {
        states.sort_unstable();
        Listed { processes, states }
    }
}

impl<P: Alike> Model for Listed<'_, P> {
    type State = P::State;

    fn states(&self) -> u64 {
        self.states.len() as u64
    }

    fn state(&self, rank: u64) -> P::State {
        self.states[rank as usize].clone()
    }

    fn rank(&self, state: &P::State) -> u64 {
        let found = self.states.binary_search(state);
        found.expect("a step leads to a state of the list") as u64
    }

    fn legitimate(&self, state: &P::State) -> bool {
        self.processes.legitimate(state)
    }

    fn show(&self, state: &P::State) -> String {
        self.processes.show(state)
    }
}

impl<P: Alike> Actions for Listed<'_, P> {
    fn actions(&self) -> Vec<Action> {
        let all = (0..self.processes.processes()).flat_map(|_| P::ACTIONS);
        let weak = |&name| Action {
            name,
            fairness: Fairness::Weak,
        };
        all.map(weak).collect()
    }

    fn steps(&self, state: &P::State, steps: &mut Vec<Step<P::State>>) {
        steps.extend(self.processes.all_act(state));
    }

    fn looks_for_closure(&self) -> bool {
        P::LOOKS_FOR_CLOSURE
    }
}
