//! Functions on more states than one worker takes at a time: what is found is the
//! same as by following every state, wherever it is found; what is blamed; and what
//! is known when it is stopped.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{Rules, Table, tables};
use headway_check::function::{self, FunctionAnswer};
use headway_check::{CheckError, Control, Deterministic, Model, Scheduler, guarded};
use headway_testkit::tier::properties;
use proptest::prelude::*;

const MANY: u64 = 50_000;

/// Paths that end at the multiples of 100, except where it is changed.
fn paths(change: impl Fn(&mut Table)) -> FunctionAnswer {
    let mut table = Table {
        next: (0..MANY)
            .map(|rank| rank - u64::from(rank % 100 != 0))
            .collect(),
        legitimate: (0..MANY).map(|rank| rank % 100 == 0).collect(),
    };
    change(&mut table);
    let control = Control::default();
    let answer = function::explore(&table, &control).unwrap();
    assert_eq!(control.progress(), (MANY, MANY));
    answer
}

#[test]
fn what_workers_find_is_put_together() {
    let plain = paths(|_| {});
    assert_eq!(plain.distances, vec![MANY / 100; 100]);
    assert_eq!((plain.states, plain.legitimate), (MANY, MANY / 100));
    assert_eq!(plain.worst, Some((99, 99)), "the lowest of many");
    assert_eq!((plain.closure_violation, plain.never), (None, 0));
    // The furthest is far behind, twice: the lower counts.
    let far = paths(|table| {
        for from in [20_000, 40_000] {
            table.next[from + 100] = from as u64 + 99;
            table.legitimate[from + 100] = false;
        }
    });
    assert_eq!(far.worst, Some((20_199, 199)));
    assert_eq!(far.distances.len(), 200);
    assert_eq!(far.distances[150], 2);
    // Legitimate states that lead astray, in two workers' parts and twice in one.
    let open = paths(|table| {
        for from in [45_000, 20_000, 20_300] {
            table.next[from] = from as u64 + 1;
        }
    });
    assert_eq!(open.closure_violation, Some(20_000));
    // A cycle of three and one of two behind it.
    let cycles = paths(|table| {
        for rank in [30_000, 30_001, 30_002, 48_000, 48_001] {
            table.legitimate[rank] = false;
        }
        (table.next[30_000], table.next[48_000]) = (30_002, 48_001);
    });
    assert_eq!(cycles.never, 200);
    assert_eq!(cycles.worst, None);
    assert_eq!(cycles.lassos["convergence"].cycle, [48_000, 48_001]);
}

/// A table that blames cycles on their lowest state's parity, and starts only where
/// the rank is a multiple of `initial`.
#[derive(Clone, Debug)]
struct Blaming {
    table: Table,
    initial: u64,
}

impl Model for Blaming {
    type State = u64;
    fn states(&self) -> u64 {
        self.table.states()
    }
    fn state(&self, rank: u64) -> u64 {
        rank
    }
    fn rank(&self, state: &u64) -> u64 {
        *state
    }
    fn legitimate(&self, state: &u64) -> bool {
        self.table.legitimate(state)
    }
    fn show(&self, state: &u64) -> String {
        state.to_string()
    }
}

impl Deterministic for Blaming {
    fn next(&self, state: &u64) -> u64 {
        self.table.next(state)
    }
    fn starts_anywhere(&self) -> bool {
        self.initial == 1
    }
    fn initial(&self, state: &u64) -> bool {
        state.is_multiple_of(self.initial)
    }
    fn blame(&self, cycle: &[u64]) -> &'static str {
        match cycle.iter().min().unwrap() % 3 {
            0 => "none",
            1 => "one",
            _ => "two",
        }
    }
}

proptest! {
    #![proptest_config(properties(500))]

    /// Of every blame the shortest run, over the initial states only.
    #[test]
    fn every_blame_gets_its_shortest_run(table in tables(), initial in 1..4_u64) {
        let model = Blaming { table, initial };
        let answer = function::explore(&model, &Control::default()).unwrap();
        let mut shortest = std::collections::BTreeMap::new();
        let (mut never, mut worst) = (0, None::<(u64, u64)>);
        for rank in (0..model.states()).filter(|rank| model.initial(rank)) {
            let lasso = function::trace(&model, rank);
            if lasso.cycle.is_empty() {
                let rounds = lasso.stem.len() as u64 - 1;
                if worst.is_none_or(|(_, most)| rounds > most) {
                    worst = Some((rank, rounds));
                }
                continue;
            }
            never += 1;
            let length = lasso.stem.len() + lasso.cycle.len();
            let entry = shortest.entry(model.blame(&lasso.cycle)).or_insert((length, lasso.clone()));
            *entry = entry.clone().min((length, lasso));
        }
        prop_assert_eq!(answer.never, never);
        prop_assert_eq!(answer.worst, worst.filter(|_| never == 0));
        let shortest: std::collections::BTreeMap<_, _> =
            shortest.into_iter().map(|(name, (_, lasso))| (name, lasso)).collect();
        prop_assert_eq!(answer.lassos, shortest);
    }
}

/// A model that has itself stopped after so many questions.
struct Stopping<'a, M> {
    model: M,
    control: &'a Control,
    left: AtomicU64,
}

impl<M> Stopping<'_, M> {
    fn asked(&self) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.control.stop();
        }
    }
}

impl<M: Model> Model for Stopping<'_, M> {
    type State = M::State;
    fn states(&self) -> u64 {
        self.model.states()
    }
    fn state(&self, rank: u64) -> M::State {
        self.model.state(rank)
    }
    fn rank(&self, state: &M::State) -> u64 {
        self.model.rank(state)
    }
    fn legitimate(&self, state: &M::State) -> bool {
        self.model.legitimate(state)
    }
    fn show(&self, state: &M::State) -> String {
        self.model.show(state)
    }
}

impl<M: Deterministic> Deterministic for Stopping<'_, M> {
    fn next(&self, state: &M::State) -> M::State {
        self.asked();
        self.model.next(state)
    }
}

impl<M: headway_check::Guarded> headway_check::Guarded for Stopping<'_, M> {
    fn processes(&self) -> usize {
        self.model.processes()
    }
    fn step(&self, state: &M::State, process: usize) -> Option<M::State> {
        self.asked();
        self.model.step(state, process)
    }
}

/// It is noticed before the next state.
#[test]
fn a_function_that_is_stopped_says_how_far_it_got() {
    let control = Control::default();
    let stopping = Stopping {
        // 0 is legitimate; 1, 2, 3 lead there; 4 and 5 lead to each other.
        model: Table {
            next: vec![0, 0, 1, 2, 5, 4],
            legitimate: vec![true, false, false, false, false, false],
        },
        control: &control,
        left: AtomicU64::new(3),
    };
    let error = function::explore(&stopping, &control).unwrap_err();
    let known = "of 3 states settled, 1 are legitimate, 0 never become so, and the furthest is \
                 2 rounds away";
    assert_eq!(
        error,
        CheckError::Interrupted {
            done: 3,
            total: 6,
            known: known.to_owned(),
        }
    );
    // Who is stopped before does nothing, and looks at nothing.
    let Err(CheckError::Interrupted { done, known, .. }) = function::explore(&stopping, &control)
    else {
        panic!("it was stopped");
    };
    assert_eq!((done, control.progress()), (3, (3, 12)));
    assert!(known.starts_with("of 0 states settled"), "{known}");
}

/// A counter of four values that runs down, one step at a time.
#[test]
fn a_scheduler_that_is_stopped_says_how_far_it_got() {
    let rules = || Rules {
        processes: 1,
        values: 4,
        moves: vec![vec![None, Some(0), Some(1), Some(2)]],
        legitimate: vec![true, false, false, false],
    };
    let control = Control::default();
    let whole = guarded::explore(&rules(), Scheduler::Central, &control).unwrap();
    assert_eq!(whole.slowest, [3, 2, 1, 0]);
    let worst = whole.worst.unwrap();
    assert_eq!(
        (worst.from, worst.steps, worst.moves, worst.rounds),
        (3, 3, 3, Some(3))
    );
    assert_eq!((whole.legitimate_deadlock, whole.diverging), (Some(0), 0));
    assert_eq!(control.progress(), (4, 4));
    let control = Control::default();
    let stopping = Stopping {
        model: rules(),
        control: &control,
        left: AtomicU64::new(1),
    };
    let error = guarded::explore(&stopping, Scheduler::Central, &control).unwrap_err();
    let CheckError::Interrupted { total, known, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(total, 4);
    assert!(
        known.starts_with("1 states are legitimate, 3 are not settled"),
        "{known}"
    );
}

/// From state 0 either process leads away and back forever: the first is shown.
#[test]
fn a_run_that_never_gets_there_takes_the_first_way() {
    let rules = Rules {
        processes: 2,
        values: 2,
        // The state's number is the first value and twice the second.
        moves: vec![
            vec![Some(1), Some(0), None, Some(0)],
            vec![Some(1), None, Some(0), None],
        ],
        legitimate: vec![false; 4],
    };
    let control = Control::default();
    let answer = guarded::explore(&rules, Scheduler::Central, &control).unwrap();
    let lasso = answer.divergence.unwrap();
    assert_eq!((lasso.stem, lasso.cycle), (vec![], vec![0, 1]));
    assert_eq!(answer.diverging, 4);
}

/// What is reported of a guarded model is true, run by run.
mod reported {
    use super::*;
    use crate::common::rules;
    use headway_check::Guarded;

    proptest! {
        #![proptest_config(properties(300))]

        #[test]
        fn runs_of_a_scheduler_are_runs(rules in rules()) {
            for scheduler in Scheduler::ALL {
                let answer =
                    guarded::explore(&rules, scheduler, &Control::default()).unwrap();
                let steps = |rank: u64| {
                    let state = rules.state(rank);
                    let neighbours = |process| rules.neighbours(process);
                    let sets = scheduler.selections(rules.enabled(&state), neighbours);
                    sets.map(|set| rules.rank(&rules.fire(&state, set))).collect::<Vec<_>>()
                };
                let legitimate = |rank: u64| rules.legitimate(&rules.state(rank));
                let all = || 0..rules.states();
                prop_assert_eq!(answer.states, rules.states());
                prop_assert_eq!(answer.legitimate, all().filter(|&rank| legitimate(rank)).count() as u64);
                let leaves = |rank: &u64| steps(*rank).into_iter().find(|&to| !legitimate(to));
                let broken = all().filter(|&rank| legitimate(rank)).find_map(|rank| Some((rank, leaves(&rank)?)));
                prop_assert_eq!(answer.closure_violation.map(|step| step.0), broken.map(|step| step.0));
                if let Some((from, to)) = answer.closure_violation {
                    prop_assert!(steps(from).contains(&to) && !legitimate(to));
                }
                let dead = all().find(|&rank| legitimate(rank) && steps(rank).is_empty());
                prop_assert_eq!(answer.legitimate_deadlock, dead);
                prop_assert_eq!(answer.diverging > 0, answer.divergence.is_some());
                if let Some(lasso) = &answer.divergence {
                    let run: Vec<u64> = lasso.stem.iter().chain(&lasso.cycle).copied().collect();
                    prop_assert!(run.iter().all(|&rank| !legitimate(rank)));
                    prop_assert!(run.windows(2).all(|pair| steps(pair[0]).contains(&pair[1])));
                    let last = steps(run[run.len() - 1]);
                    let closes = match lasso.cycle.first() {
                        Some(first) => last.contains(first),
                        None => last.is_empty(),
                    };
                    prop_assert!(closes);
                }
                if let Some(worst) = answer.worst {
                    let run = &answer.slowest;
                    prop_assert_eq!(run.len() as u64, worst.steps + 1);
                    prop_assert_eq!(run[0], worst.from);
                    prop_assert!(run.windows(2).all(|pair| steps(pair[0]).contains(&pair[1])));
                    prop_assert!(run.iter().take(run.len() - 1).all(|&rank| !legitimate(rank)));
                }
            }
        }
    }
}
