//! Models of guarded assignments under a scheduler.
//!
//! Convergence under an unfair scheduler means that the illegitimate states have
//! no cycle and no dead end among themselves. They are settled from the
//! legitimate ones backwards, without storing the edges: an illegitimate state is
//! settled once all its successors are, and its longest way to legitimacy is one
//! more than the longest of theirs. Until then it watches one successor that is
//! not settled, so that a sweep over the unsettled states costs one look each.
//! When a sweep settles nothing, every state left has a successor that is left:
//! from each of them a run can avoid the legitimate states for ever, and
//! following such successors closes the lasso that is reported. Sweeps run in
//! parallel; a settled value is final and the same whatever the order, so the
//! answer does not depend on the number of threads.
//!
//! **Rounds** are counted by the usual definition with neutralization: a round
//! ends when every process that was enabled at its start has been selected or has
//! become disabled without being selected. With U the processes that the current
//! round still waits for, a step that selects A from s to s' leaves
//! U' = (U \ A) ∩ enabled(s'); when U' is empty the next round begins with
//! U' = enabled(s'). The worst case in rounds is the longest path over the pairs
//! (s, U), in the order that the longest ways in steps give. A round that is
//! under way when the first legitimate state appears counts as one.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rayon::prelude::*;

use crate::control::{CheckError, Control, Limits};
use crate::function::Lasso;
use crate::schedule::Scheduler;
use crate::traits::Guarded;

mod report;
mod rounds;

pub(crate) use report::report;

/// The answer about a guarded model. States are given by rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedAnswer {
    /// All states.
    pub states: u64,
    /// Legitimate ones.
    pub legitimate: u64,
    /// A step from a legitimate state to one that is not; the lowest, if any.
    pub closure_violation: Option<(u64, u64)>,
    /// A legitimate state in which no process is enabled; the lowest, if any.
    pub legitimate_deadlock: Option<u64>,
    /// A run that never becomes legitimate; its cycle is empty if it stops.
    pub divergence: Option<Lasso>,
    /// States from which some run never becomes legitimate.
    pub diverging: u64,
    /// The longest way to a legitimate state: first state, steps, moves, rounds.
    /// `None` without convergence. Rounds are `None` when they would not fit.
    pub worst: Option<GuardedWorst>,
    /// A run that takes the most steps, from its first state to a legitimate one.
    pub slowest: Vec<u64>,
}

/// The worst case over all states and schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardedWorst {
    /// The lowest state from which a run can take the most steps.
    pub from: u64,
    /// Steps, at most.
    pub steps: u64,
    /// Moves of single processes, at most (perhaps in another run).
    pub moves: u64,
    /// Rounds, at most (perhaps in another run).
    pub rounds: Option<u64>,
}

const UNSETTLED: u32 = u32::MAX;
const NOBODY: u32 = u32::MAX;
/// Steps, moves and the watched successor.
const BYTES_PER_STATE: u64 = 12;

/// Explores every state of a model under a scheduler.
///
/// # Errors
///
/// [`CheckError::TooLarge`] before it starts, [`CheckError::Interrupted`] when
/// stopped.
pub fn explore<M: Guarded>(
    model: &M,
    scheduler: Scheduler,
    limits: Limits,
    control: &Control,
) -> Result<GuardedAnswer, CheckError> {
    let states = model.states();
    limits.admit(u128::from(states), BYTES_PER_STATE)?;
    let steps = u128::from(states).saturating_mul(most_selections(model, scheduler));
    limits.admit_work(steps)?;
    if states >= u64::from(u32::MAX) {
        return Err(CheckError::TooLarge {
            what: format!("{states} states"),
            need: "numbers above 32 bits".into(),
            fits: format!("{} states", u32::MAX - 1),
        });
    }
    let table =
        |value: u32| -> Vec<AtomicU32> { (0..states).map(|_| AtomicU32::new(value)).collect() };
    let exploration = Exploration {
        model,
        scheduler,
        control,
        steps: table(UNSETTLED),
        moves: table(0),
        watched: table(NOBODY),
        progress: AtomicBool::new(false),
    };
    exploration.run()
}

/// How many steps a state can have: sets of processes that may be selected.
fn most_selections<M: Guarded>(model: &M, scheduler: Scheduler) -> u128 {
    let n = model.processes() as u32;
    match scheduler {
        Scheduler::Synchronous => 1,
        Scheduler::Central => u128::from(n),
        Scheduler::LocallyCentral | Scheduler::Distributed => 1 << n,
    }
}

struct Exploration<'a, M> {
    model: &'a M,
    scheduler: Scheduler,
    control: &'a Control,
    /// Longest way in steps; 0 for legitimate states.
    steps: Vec<AtomicU32>,
    moves: Vec<AtomicU32>,
    watched: Vec<AtomicU32>,
    progress: AtomicBool,
}

#[derive(Default)]
struct First {
    legitimate: u64,
    closure_violation: Option<(u64, u64)>,
    deadlock: Option<u64>,
}

fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl<M: Guarded> Exploration<'_, M> {
    fn run(&self) -> Result<GuardedAnswer, CheckError> {
        let states = self.model.states();
        self.control.begin(2 * states);
        let first = (0..states)
            .into_par_iter()
            .map(|rank| self.legitimate_state(rank))
            .reduce(First::default, |a, b| First {
                legitimate: a.legitimate + b.legitimate,
                closure_violation: least(a.closure_violation, b.closure_violation),
                deadlock: least(a.deadlock, b.deadlock),
            });
        self.control.advance(states);
        let mut left: Vec<u64> = (0..states)
            .filter(|&rank| self.settled(rank).is_none())
            .collect();
        self.control.advance(states - left.len() as u64);
        loop {
            if self.control.stopped() {
                return Err(self.interrupted(&first, left.len()));
            }
            self.progress.store(false, Ordering::Relaxed);
            left.par_iter().for_each(|&rank| self.settle(rank));
            if self.control.stopped() {
                continue;
            }
            if !self.progress.load(Ordering::Relaxed) {
                break;
            }
            let before = left.len();
            left.retain(|&rank| self.settled(rank).is_none());
            self.control.advance((before - left.len()) as u64);
        }
        let divergence = left.first().map(|&rank| self.lasso(rank));
        let worst = if left.is_empty() {
            Some(self.worst()?)
        } else {
            None
        };
        let slowest = worst.map_or(Vec::new(), |worst| self.slowest_run(worst.from));
        Ok(GuardedAnswer {
            states,
            legitimate: first.legitimate,
            closure_violation: first.closure_violation,
            legitimate_deadlock: first.deadlock,
            divergence,
            diverging: left.len() as u64,
            worst,
            slowest,
        })
    }

    fn interrupted(&self, first: &First, left: usize) -> CheckError {
        let furthest = (0..self.model.states())
            .filter_map(|rank| self.settled(rank))
            .max();
        CheckError::interrupted(
            self.control,
            format!(
                "{} states are legitimate, {left} are not settled, and the longest way found \
                 takes {} steps",
                first.legitimate,
                furthest.unwrap_or(0)
            ),
        )
    }

    fn settled(&self, rank: u64) -> Option<u32> {
        let steps = self.steps[rank as usize].load(Ordering::Acquire);
        (steps != UNSETTLED).then_some(steps)
    }

    /// Calls `f` with the selection and the state of every step, in a fixed order.
    fn each_step(&self, state: &M::State, mut f: impl FnMut(u64, M::State)) {
        let enabled = self.model.enabled(state);
        self.scheduler.selections(
            enabled,
            |process| self.model.neighbours(process),
            |selected| f(selected, self.model.fire(state, selected)),
        );
    }

    fn legitimate_state(&self, rank: u64) -> First {
        let mut first = First::default();
        let state = self.model.state(rank);
        if !self.model.legitimate(&state) {
            return first;
        }
        self.steps[rank as usize].store(0, Ordering::Release);
        first.legitimate = 1;
        if self.model.enabled(&state) == 0 {
            first.deadlock = Some(rank);
        }
        self.each_step(&state, |_, after| {
            if first.closure_violation.is_none() && !self.model.legitimate(&after) {
                first.closure_violation = Some((rank, self.model.rank(&after)));
            }
        });
        first
    }

    fn settle(&self, rank: u64) {
        if self.control.stopped() {
            return;
        }
        let watched = self.watched[rank as usize].load(Ordering::Relaxed);
        if watched != NOBODY && self.settled(u64::from(watched)).is_none() {
            return;
        }
        let state = self.model.state(rank);
        let (mut steps, mut moves, mut blocked, mut any) = (0, 0, None, false);
        self.each_step(&state, |selected, after| {
            any = true;
            if blocked.is_some() {
                return;
            }
            let after = self.model.rank(&after);
            match self.settled(after) {
                Some(further) => {
                    steps = steps.max(further + 1);
                    let further = self.moves[after as usize].load(Ordering::Relaxed);
                    moves = moves.max(further + selected.count_ones());
                }
                None => blocked = Some(after),
            }
        });
        match blocked {
            Some(after) => self.watched[rank as usize].store(after as u32, Ordering::Relaxed),
            // A dead end is never settled.
            None if !any => {}
            None => {
                self.moves[rank as usize].store(moves, Ordering::Relaxed);
                // Released last: who sees the steps sees the moves.
                self.steps[rank as usize].store(steps, Ordering::Release);
                self.progress.store(true, Ordering::Relaxed);
            }
        }
    }

    /// From an unsettled state, first unsettled successors until one repeats or
    /// there is none.
    fn lasso(&self, from: u64) -> Lasso {
        let mut place = std::collections::BTreeMap::new();
        let mut path = Vec::new();
        let mut rank = from;
        loop {
            if let Some(&at) = place.get(&rank) {
                let cycle = path.split_off(at);
                return Lasso { stem: path, cycle };
            }
            place.insert(rank, path.len());
            path.push(rank);
            let mut next = None;
            self.each_step(&self.model.state(rank), |_, after| {
                let after = self.model.rank(&after);
                if next.is_none() && self.settled(after).is_none() {
                    next = Some(after);
                }
            });
            match next {
                Some(after) => rank = after,
                None => {
                    return Lasso {
                        stem: path,
                        cycle: Vec::new(),
                    };
                }
            }
        }
    }

    fn worst(&self) -> Result<GuardedWorst, CheckError> {
        let (mut from, mut steps, mut moves) = (0, 0, 0);
        for rank in 0..self.model.states() {
            let here = self.settled(rank).unwrap_or(0);
            if here > steps {
                (from, steps) = (rank, here);
            }
            moves = moves.max(self.moves[rank as usize].load(Ordering::Relaxed));
        }
        Ok(GuardedWorst {
            from,
            steps: u64::from(steps),
            moves: u64::from(moves),
            rounds: self.rounds(steps)?,
        })
    }

    /// From a settled state, always a successor with the longest way left.
    fn slowest_run(&self, from: u64) -> Vec<u64> {
        let mut run = vec![from];
        let mut rank = from;
        while let Some(steps) = self.settled(rank).filter(|&steps| steps > 0) {
            let mut next = None;
            self.each_step(&self.model.state(rank), |_, after| {
                let after = self.model.rank(&after);
                if next.is_none() && self.settled(after) == Some(steps - 1) {
                    next = Some(after);
                }
            });
            let Some(after) = next else { break };
            run.push(after);
            rank = after;
        }
        run
    }
}
