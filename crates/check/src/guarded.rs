//! Models of guarded assignments under a scheduler.
//!
//! Convergence under an unfair scheduler means that the illegitimate states have
//! no cycle and no dead end among themselves. They are settled from the
//! legitimate ones backwards, without storing the edges: an illegitimate state is
//! settled once all its successors are, and its longest way to legitimacy is one
//! more than the longest of theirs. Until then it watches one successor that is
//! not settled, so that a sweep over the unsettled states costs one look each.
//! When a sweep settles nothing, every state left has a successor that is left:
//! from each of them a run can avoid the legitimate states forever, and
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

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use num_bigint::BigUint;

use crate::control::Control;
use crate::error::{Result, TooLarge};
use crate::parallel::{self, STRETCH};
use crate::report::{Lasso, follow};
use crate::schedule::Scheduler;
use crate::traits::{Guarded, Moves};

mod cycles;
mod report;
mod rounds;

pub use cycles::Divergences;
pub(crate) use report::{report, report_on};

/// The answer about a guarded model. States are given by rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedAnswer {
    /// All states.
    pub states: u64,
    /// Legitimate ones.
    pub legitimate: u64,
    /// A step from a legitimate state to one that is not; the lowest, if any.
    pub closure_violation: Option<(u64, u64)>,
    /// A step to a state that is not the model's; the lowest, if any.
    pub strays: Option<(u64, u64)>,
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
    /// The most steps from each state, added up.
    pub total_steps: u64,
}

/// States that an estimate looks at, and how often each is looked at in all.
const SAMPLE: u64 = 1000;
const LOOKS: f64 = 4.0;
const UNSETTLED: u32 = u32::MAX;
const NOBODY: u32 = u32::MAX;
/// Not a state of the model.
const ABSENT: u32 = u32::MAX - 1;
/// Steps, moves, the watched successor, and the list of unsettled states.
pub(crate) const BYTES_PER_STATE: u64 = 16;

/// Explores every state of a model under a scheduler.
///
/// # Errors
///
/// [`crate::CheckError::TooLarge`] before it starts, [`crate::CheckError::Interrupted`] when
/// stopped.
pub fn explore<M: Guarded>(
    model: &M,
    scheduler: Scheduler,
    control: &Control,
) -> Result<GuardedAnswer> {
    Exploration::new(model, scheduler, control)?.run()
}

/// Whether so many states of so many processes would be admitted.
pub(crate) fn fits(
    states: &BigUint,
    processes: usize,
    scheduler: Scheduler,
    control: &Control,
) -> bool {
    let Ok(count) = u64::try_from(states) else {
        return false;
    };
    let steps = u128::from(count).saturating_mul(max_selections(processes, scheduler));
    count < u64::from(u32::MAX) - 1
        && control.limits.admit(count, BYTES_PER_STATE).is_ok()
        && control.limits.admit_work(steps).is_ok()
}

/// How many steps a state can have: sets of processes that may be selected.
fn max_selections(processes: usize, scheduler: Scheduler) -> u128 {
    let n = processes as u32;
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
}

impl<'a, M: Guarded> Exploration<'a, M> {
    /// Refuses what is too large.
    fn new(model: &'a M, scheduler: Scheduler, control: &'a Control) -> Result<Self> {
        let states = model.states();
        control.limits.admit(states, BYTES_PER_STATE)?;
        control
            .limits
            .admit_work(BigUint::from(states) * max_selections(model.processes(), scheduler))?;
        TooLarge::bound("states", states, u64::from(u32::MAX) - 2)?;
        let table =
            |value: u32| -> Vec<AtomicU32> { (0..states).map(|_| AtomicU32::new(value)).collect() };
        Ok(Exploration {
            model,
            scheduler,
            control,
            steps: table(UNSETTLED),
            moves: table(0),
            watched: table(NOBODY),
        })
    }

    /// Tells how long it will take: each state is looked at a few times, and as long as
    /// the states of a sample.
    fn estimate(&self) {
        let states = self.model.states();
        let sample = states.min(SAMPLE);
        let since = Instant::now();
        for rank in (0..sample).map(|at| at * (states / sample)) {
            let state = self.model.state(rank);
            if !self.model.exists(&state) {
                continue;
            }
            std::hint::black_box(self.model.legitimate(&state));
            self.each_step(rank, &self.moves(rank), |_, after| {
                std::hint::black_box(after);
                false
            });
        }
        let threads = rayon::current_num_threads().max(1) as f64;
        let each = since.elapsed().as_secs_f64() / sample.max(1) as f64 / threads;
        let time = each * LOOKS * states as f64;
        self.control.expect(Duration::from_secs_f64(time.min(1e9)));
    }

    fn run(&self) -> Result<GuardedAnswer> {
        let states = self.model.states();
        self.estimate();
        self.control.begin(states);
        let absent = |ranks: Range<u64>| {
            let mut absent = 0;
            for rank in ranks {
                let state = self.model.state(rank);
                if !self.model.exists(&state) {
                    self.steps[rank as usize].store(ABSENT, Ordering::Relaxed);
                    absent += 1;
                } else if self.model.legitimate(&state) {
                    self.steps[rank as usize].store(0, Ordering::Relaxed);
                }
            }
            absent
        };
        let absent = parallel::reduce(0..states, STRETCH, &absent, &|a, b| a + b);
        self.control.advance(absent);
        let strays = if absent == 0 {
            None
        } else {
            let stray = |rank| Some((rank, self.successor(rank, |after| self.absent(after))?));
            let first = |ranks: Range<u64>| {
                let mut present = ranks.filter(|&rank| !self.absent(rank));
                present.find_map(stray)
            };
            parallel::reduce(0..states, STRETCH, &first, &Option::or)
        };
        let legitimate = |ranks: Range<u64>| {
            let mut found = (0, None, None);
            for rank in ranks.filter(|&rank| self.legitimate(rank)) {
                let (violation, deadlock) = self.leaves(rank);
                found = (found.0 + 1, found.1.or(violation), found.2.or(deadlock));
            }
            found
        };
        let (legitimate, closure_violation, legitimate_deadlock) =
            parallel::reduce(0..states, STRETCH, &legitimate, &|one, other| {
                (one.0 + other.0, one.1.or(other.1), one.2.or(other.2))
            });
        self.control.advance(legitimate);
        let mut left = self.left();
        loop {
            self.control.go_on(|| self.known(legitimate, left.len()))?;
            let settle = |places: Range<u64>| {
                let ranks = left[places.start as usize..places.end as usize].iter();
                let settled = ranks.filter(|&&rank| self.settle(rank.into())).count() as u64;
                self.control.advance(settled);
                settled
            };
            let settled = parallel::reduce(0..left.len() as u64, STRETCH, &settle, &|a, b| a + b);
            if settled == 0 && !self.control.stopped() {
                break;
            }
            left.retain(|&rank| self.settled(rank.into()).is_none());
        }
        let worst = match left.first() {
            None => Some(self.worst()?),
            Some(_) => None,
        };
        Ok(GuardedAnswer {
            states: states - absent,
            legitimate,
            strays,
            closure_violation,
            legitimate_deadlock,
            divergence: left.first().map(|&rank| self.lasso(rank.into())),
            diverging: left.len() as u64,
            worst,
            slowest: worst.map_or(Vec::new(), |worst| self.slowest_run(worst.from)),
        })
    }

    fn known(&self, legitimate: u64, left: usize) -> String {
        let furthest = (0..self.model.states()).filter_map(|rank| self.settled(rank));
        let furthest = furthest.max().unwrap_or(0);
        format!(
            "{legitimate} states are legitimate, {left} are not settled, and the longest way found \
             takes {furthest} steps"
        )
    }

    /// The states that are not settled, ascending.
    fn left(&self) -> Vec<u32> {
        let states = 0..self.model.states() as u32;
        states
            .filter(|&rank| self.settled(rank.into()).is_none())
            .collect()
    }

    fn settled(&self, rank: u64) -> Option<u32> {
        match self.steps[rank as usize].load(Ordering::Acquire) {
            UNSETTLED => None,
            ABSENT => Some(0),
            steps => Some(steps),
        }
    }

    fn absent(&self, rank: u64) -> bool {
        self.steps[rank as usize].load(Ordering::Relaxed) == ABSENT
    }

    fn legitimate(&self, rank: u64) -> bool {
        self.steps[rank as usize].load(Ordering::Relaxed) == 0
    }

    fn moves(&self, rank: u64) -> Moves {
        let mut moves = Moves::default();
        self.model.moves(rank, &mut moves);
        moves
    }

    /// Calls `each` with the set selected and the state led to of every step, in a fixed
    /// order, until it says true.
    fn each_step(&self, rank: u64, moves: &Moves, mut each: impl FnMut(u64, u64) -> bool) {
        let neighbours = |process| self.model.neighbours(process);
        let mut sets = self.scheduler.selections(moves.enabled, neighbours);
        sets.any(|selected| {
            let mut each = |after| each(selected, self.model.canonical(after, selected));
            moves.after(rank, selected, &mut each)
        });
    }

    /// The first successor of which something holds.
    fn successor(&self, rank: u64, wanted: impl Fn(u64) -> bool) -> Option<u64> {
        self.first_wanted(rank, &self.moves(rank), wanted)
    }

    fn first_wanted(&self, rank: u64, moves: &Moves, wanted: impl Fn(u64) -> bool) -> Option<u64> {
        let mut found = None;
        self.each_step(rank, moves, |_, after| {
            found = wanted(after).then_some(after);
            found.is_some()
        });
        found
    }

    /// Of a legitimate state: a step to an illegitimate one, and itself if it has no
    /// step.
    fn leaves(&self, rank: u64) -> (Option<(u64, u64)>, Option<u64>) {
        let moves = self.moves(rank);
        let illegitimate = self.first_wanted(rank, &moves, |after| self.settled(after).is_none());
        (
            illegitimate.map(|after| (rank, after)),
            (moves.enabled == 0).then_some(rank),
        )
    }

    /// Settles a state if all its successors are; whether it did.
    fn settle(&self, rank: u64) -> bool {
        let watched = self.watched[rank as usize].load(Ordering::Relaxed);
        let waits = watched != NOBODY && self.settled(u64::from(watched)).is_none();
        if waits || self.control.stopped() {
            return false;
        }
        let all = self.moves(rank);
        let (mut steps, mut moves, mut waits) = (0, 0, false);
        self.each_step(rank, &all, |selected, after| {
            let Some(further) = self.settled(after) else {
                self.watched[rank as usize].store(after as u32, Ordering::Relaxed);
                waits = true;
                return true;
            };
            steps = steps.max(further + 1);
            let further = self.moves[after as usize].load(Ordering::Relaxed);
            moves = moves.max(further + selected.count_ones());
            false
        });
        // A dead end is never settled.
        let settles = !waits && all.enabled != 0;
        if settles {
            self.moves[rank as usize].store(moves, Ordering::Relaxed);
            // Released last: who sees the steps sees the moves.
            self.steps[rank as usize].store(steps, Ordering::Release);
        }
        settles
    }

    /// From an unsettled state, first unsettled successors until one repeats or
    /// there is none.
    fn lasso(&self, from: u64) -> Lasso {
        let next = |&rank: &u64| self.successor(rank, |after| self.settled(after).is_none());
        let (path, repeats_from) = follow(from, next);
        Lasso::new(path, repeats_from)
    }

    fn worst(&self) -> Result<GuardedWorst> {
        let (mut from, mut steps, mut moves, mut total_steps) = (0, 0, 0, 0);
        for rank in 0..self.model.states() {
            let here = self.settled(rank).unwrap_or(0);
            if here > steps {
                (from, steps) = (rank, here);
            }
            moves = moves.max(self.moves[rank as usize].load(Ordering::Relaxed));
            total_steps += u64::from(here);
        }
        Ok(GuardedWorst {
            from,
            steps: u64::from(steps),
            moves: u64::from(moves),
            rounds: self.rounds(steps)?,
            total_steps,
        })
    }

    /// From a settled state, always a successor with the longest way left.
    fn slowest_run(&self, from: u64) -> Vec<u64> {
        std::iter::successors(Some(from), |&rank| {
            let left = self.settled(rank)?.checked_sub(1)?;
            self.successor(rank, |after| self.settled(after) == Some(left))
        })
        .collect()
    }
}
