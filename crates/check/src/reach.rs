//! Models that are explored from given initial states: every state that any
//! schedule can reach, each stored in full and compared exactly.

use std::collections::HashMap;
use std::hash::Hash;

use crate::control::Control;
use crate::error::Result;

/// A model explored from its initial states.
pub trait Reachable {
    /// A global state.
    type State: Clone + Eq + Hash;

    /// Where runs start; nothing for a candidate that is none. One after the other, so that
    /// the exploration can refuse or stop in between.
    fn starts(&self) -> impl Iterator<Item = Option<Self::State>>;

    /// Adds every state that a step can lead to.
    fn successors(&self, state: &Self::State, successors: &mut Vec<Self::State>);

    /// The name of a property that the state violates, if any.
    fn violates(&self, state: &Self::State) -> Option<&'static str>;
}

/// What was found. States are given by their place in `reached`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachAnswer<S> {
    /// All states reached, breadth first.
    pub reached: Vec<S>,
    /// How many of them were looked at: all, or those before a violation.
    pub explored: usize,
    /// From which one each was reached first; nothing for a start.
    parents: Vec<Option<usize>>,
    /// Steps between them.
    pub steps: u64,
    /// The first violation.
    pub violation: Option<(&'static str, usize)>,
    /// The first state without successor.
    pub deadlock: Option<usize>,
}

impl<S: Clone> ReachAnswer<S> {
    /// How many states were reached.
    pub fn states(&self) -> u64 {
        self.reached.len() as u64
    }

    /// A shortest run to a state.
    pub fn run_to(&self, place: usize) -> Vec<S> {
        let back = std::iter::successors(Some(place), |&place| self.parents[place]);
        let mut run: Vec<S> = back.map(|place| self.reached[place].clone()).collect();
        run.reverse();
        run
    }
}

/// Breadth-first from all starts, up to the first violation.
///
/// # Errors
///
/// [`crate::CheckError::TooLarge`] when more than `control.limits.work` states, or more than fit
/// the memory, turn up; [`crate::CheckError::Interrupted`] when stopped.
pub fn explore<M: Reachable>(model: &M, control: &Control) -> Result<ReachAnswer<M::State>> {
    let mut places: HashMap<M::State, usize> = HashMap::new();
    let mut found = ReachAnswer {
        reached: Vec::new(),
        explored: 0,
        parents: Vec::new(),
        steps: 0,
        violation: None,
        deadlock: None,
    };
    let mut add = |found: &mut ReachAnswer<M::State>, state: M::State, parent| {
        let next = found.reached.len();
        if *places.entry(state.clone()).or_insert(next) == next {
            found.reached.push(state);
            found.parents.push(parent);
        }
    };
    let bytes = 2 * size_of::<M::State>() as u64 + 32;
    for (candidate, start) in model.starts().enumerate() {
        if candidate % 4096 == 0 {
            control.go_on(|| format!("{} starts found so far", found.states()))?;
            control.limits.admit(found.states(), bytes)?;
        }
        if let Some(start) = start {
            add(&mut found, start, None);
        }
    }
    let mut successors = Vec::new();
    while found.explored < found.reached.len() {
        let place = found.explored;
        if place % 4096 == 0 {
            control.advance(4096);
            control.go_on(|| format!("{place} states explored without a violation"))?;
            control.limits.admit(found.states(), bytes)?;
        }
        let state = found.reached[place].clone();
        if let Some(property) = model.violates(&state) {
            found.violation = Some((property, place));
            break;
        }
        successors.clear();
        model.successors(&state, &mut successors);
        if successors.is_empty() {
            found.deadlock.get_or_insert(place);
        }
        for successor in successors.drain(..) {
            found.steps += 1;
            add(&mut found, successor, Some(place));
        }
        found.explored += 1;
    }
    Ok(found)
}
