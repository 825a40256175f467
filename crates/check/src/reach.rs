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

    /// A number; its smallest value over all states is reported.
    fn measure(&self, state: &Self::State) -> u64;
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachAnswer<S> {
    /// States reached.
    pub states: u64,
    /// Steps between them.
    pub steps: u64,
    /// The first violation in breadth-first order, by a shortest run.
    pub violation: Option<(&'static str, Vec<S>)>,
    /// A reached state without successor, by a shortest run.
    pub deadlock: Option<Vec<S>>,
    /// The smallest measure, by a shortest run to a state that has it.
    pub least: Option<(u64, Vec<S>)>,
}

/// Breadth-first from all starts, up to the first violation.
///
/// # Errors
///
/// [`crate::CheckError::TooLarge`] when more than `control.limits.work` states, or more than fit
/// the memory, turn up; [`crate::CheckError::Interrupted`] when stopped.
pub fn explore<M: Reachable>(model: &M, control: &Control) -> Result<ReachAnswer<M::State>> {
    let mut exploration = Exploration {
        places: HashMap::new(),
        states: Vec::new(),
        parents: Vec::new(),
    };
    let bytes = 2 * size_of::<M::State>() as u64 + 32;
    for (candidate, start) in model.starts().enumerate() {
        if candidate % 4096 == 0 {
            let found = exploration.states.len();
            control.go_on(|| format!("{found} starts found so far"))?;
            control.limits.admit(found as u64, bytes)?;
        }
        if let Some(start) = start {
            exploration.add(start, None);
        }
    }
    let (mut steps, mut deadlock, mut least) = (0, None, None::<(u64, usize)>);
    let mut violation = None;
    let mut successors = Vec::new();
    let mut place = 0;
    while place < exploration.states.len() {
        if place % 4096 == 0 {
            control.advance(4096);
            control.go_on(|| format!("{place} states explored without a violation"))?;
            control
                .limits
                .admit(exploration.states.len() as u64, bytes)?;
        }
        let state = exploration.states[place].clone();
        if let Some(property) = model.violates(&state) {
            violation = Some((property, exploration.run_to(place)));
            break;
        }
        let measure = model.measure(&state);
        if least.is_none_or(|(smallest, _)| measure < smallest) {
            least = Some((measure, place));
        }
        successors.clear();
        model.successors(&state, &mut successors);
        if successors.is_empty() && deadlock.is_none() {
            deadlock = Some(place);
        }
        for successor in successors.drain(..) {
            steps += 1;
            exploration.add(successor, Some(place));
        }
        place += 1;
    }
    Ok(ReachAnswer {
        states: exploration.states.len() as u64,
        steps,
        violation,
        deadlock: deadlock.map(|place| exploration.run_to(place)),
        least: least.map(|(measure, place)| (measure, exploration.run_to(place))),
    })
}

struct Exploration<S> {
    places: HashMap<S, usize>,
    states: Vec<S>,
    parents: Vec<Option<usize>>,
}

impl<S: Clone + Eq + Hash> Exploration<S> {
    fn add(&mut self, state: S, parent: Option<usize>) {
        let next = self.states.len();
        if *self.places.entry(state.clone()).or_insert(next) == next {
            self.states.push(state);
            self.parents.push(parent);
        }
    }

    fn run_to(&self, place: usize) -> Vec<S> {
        let mut run = vec![self.states[place].clone()];
        let mut place = place;
        while let Some(parent) = self.parents[place] {
            run.push(self.states[parent].clone());
            place = parent;
        }
        run.reverse();
        run
    }
}
