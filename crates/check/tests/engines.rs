//! The engines against the plainest thing that could work, on random models; and
//! what they do when stopped or asked too much.

use headway_check::actions;
use headway_check::function::{self, FunctionAnswer};
use headway_check::guarded::{self, GuardedAnswer};
use headway_check::model::delay_relay::{self, Explicit, Instance};
use headway_check::{
    Actions, CheckError, Control, Deterministic, Guarded, Limits, Model, Scheduler, Step,
};
use proptest::prelude::*;

/// Any function on a few states.
#[derive(Clone, Debug)]
struct Table {
    next: Vec<u64>,
    legitimate: Vec<bool>,
}

impl Model for Table {
    type State = u64;
    fn states(&self) -> u64 {
        self.next.len() as u64
    }
    fn state(&self, rank: u64) -> u64 {
        rank
    }
    fn rank(&self, state: &u64) -> u64 {
        *state
    }
    fn legitimate(&self, state: &u64) -> bool {
        self.legitimate[*state as usize]
    }
    fn show(&self, state: &u64) -> String {
        state.to_string()
    }
}

impl Deterministic for Table {
    fn next(&self, state: &u64) -> u64 {
        self.next[*state as usize]
    }
}

fn tables() -> impl Strategy<Value = Table> {
    (1..60_usize).prop_flat_map(|size| {
        (
            prop::collection::vec(0..size as u64, size),
            prop::collection::vec(prop::bool::weighted(0.2), size),
        )
            .prop_map(|(next, legitimate)| Table { next, legitimate })
    })
}

fn plain_distance(table: &Table, from: u64) -> Option<u64> {
    let mut state = from;
    for rounds in 0..=table.next.len() as u64 {
        if table.legitimate(&state) {
            return Some(rounds);
        }
        state = table.next(&state);
    }
    None
}

fn explored(table: &Table) -> FunctionAnswer {
    function::explore(table, Limits::default(), &Control::default()).unwrap()
}

proptest! {
    #[test]
    fn functions_agree_with_following_every_state(table in tables()) {
        let answer = explored(&table);
        let plain: Vec<Option<u64>> =
            (0..table.states()).map(|rank| plain_distance(&table, rank)).collect();
        let never = plain.iter().filter(|distance| distance.is_none()).count() as u64;
        prop_assert_eq!(answer.never, never);
        for (distance, &count) in answer.distances.iter().enumerate() {
            let plainly = plain.iter().filter(|&&d| d == Some(distance as u64)).count() as u64;
            prop_assert_eq!(count, plainly);
        }
        let worst = if never == 0 { plain.iter().flatten().max().copied() } else { None };
        prop_assert_eq!(answer.worst.map(|(_, rounds)| rounds), worst);
        let broken = (0..table.states())
            .find(|rank| table.legitimate(rank) && !table.legitimate(&table.next(rank)));
        prop_assert_eq!(answer.closure_violation, broken);
        prop_assert_eq!(answer.lassos.is_empty(), never == 0);
        if let Some(lasso) = answer.lassos.get("convergence") {
            let run: Vec<u64> = lasso.stem.iter().chain(&lasso.cycle).copied().collect();
            prop_assert!(run.iter().all(|rank| !table.legitimate(rank)));
            prop_assert!(run.windows(2).all(|pair| table.next(&pair[0]) == pair[1]));
            prop_assert_eq!(table.next(&run[run.len() - 1]), lasso.cycle[0]);
        }
    }
}

/// Two or three processes with few values and any guards and assignments.
#[derive(Clone, Debug)]
struct Rules {
    processes: usize,
    values: u64,
    /// By process and global state: the new value, if enabled.
    moves: Vec<Vec<Option<u64>>>,
    legitimate: Vec<bool>,
}

impl Model for Rules {
    type State = Vec<u64>;
    fn states(&self) -> u64 {
        self.values.pow(self.processes as u32)
    }
    fn state(&self, mut rank: u64) -> Vec<u64> {
        (0..self.processes)
            .map(|_| {
                let value = rank % self.values;
                rank /= self.values;
                value
            })
            .collect()
    }
    fn rank(&self, state: &Vec<u64>) -> u64 {
        state
            .iter()
            .rev()
            .fold(0, |rank, value| rank * self.values + value)
    }
    fn legitimate(&self, state: &Vec<u64>) -> bool {
        self.legitimate[self.rank(state) as usize]
    }
    fn show(&self, state: &Vec<u64>) -> String {
        format!("{state:?}")
    }
}

impl Guarded for Rules {
    fn processes(&self) -> usize {
        self.processes
    }
    fn enabled(&self, state: &Vec<u64>) -> u64 {
        let rank = self.rank(state) as usize;
        (0..self.processes)
            .filter(|&process| self.moves[process][rank].is_some())
            .fold(0, |set, process| set | 1 << process)
    }
    fn fire(&self, state: &Vec<u64>, selected: u64) -> Vec<u64> {
        let rank = self.rank(state) as usize;
        let mut after = state.clone();
        for process in (0..self.processes).filter(|process| selected >> process & 1 == 1) {
            after[process] = self.moves[process][rank].unwrap();
        }
        after
    }
}

fn rules() -> impl Strategy<Value = Rules> {
    (2..=3_usize, 2..=3_u64).prop_flat_map(|(processes, values)| {
        let states = values.pow(processes as u32) as usize;
        let one = prop::option::weighted(0.5, 0..values);
        (
            prop::collection::vec(prop::collection::vec(one, states), processes),
            prop::collection::vec(prop::bool::weighted(0.6), states),
        )
            .prop_map(move |(moves, legitimate)| Rules {
                processes,
                values,
                moves,
                legitimate,
            })
    })
}

/// The longest way by plain recursion over runs: steps, moves and rounds; `None`
/// when a run repeats a state or stops outside the legitimate ones.
fn plain_longest(
    rules: &Rules,
    scheduler: Scheduler,
    rank: u64,
    waited: u64,
    path: &mut Vec<u64>,
) -> Option<(u64, u64, u64)> {
    let state = rules.state(rank);
    if path.contains(&rank) {
        return None;
    }
    let enabled = rules.enabled(&state);
    let mut sets = Vec::new();
    scheduler.selections(
        enabled,
        |process| rules.neighbours(process),
        |set| sets.push(set),
    );
    if sets.is_empty() {
        return None;
    }
    path.push(rank);
    let mut most = (0, 0, 0);
    for set in sets {
        let after = rules.fire(&state, set);
        let (steps, moves, rounds) = if rules.legitimate(&after) {
            (0, 0, 1)
        } else {
            let now = rules.enabled(&after);
            let left = waited & !set & now;
            let (begun, waited) = if left == 0 { (1, now) } else { (0, left) };
            let (steps, moves, rounds) =
                plain_longest(rules, scheduler, rules.rank(&after), waited, path)?;
            (steps, moves, rounds + begun)
        };
        most.0 = most.0.max(steps + 1);
        most.1 = most.1.max(moves + u64::from(set.count_ones()));
        most.2 = most.2.max(rounds);
    }
    path.pop();
    Some(most)
}

proptest! {
    #[test]
    fn guarded_models_agree_with_following_every_run(rules in rules()) {
        for scheduler in Scheduler::ALL {
            let answer: GuardedAnswer =
                guarded::explore(&rules, scheduler, Limits::default(), &Control::default()).unwrap();
            let mut worst = Some((0, 0, 0));
            for rank in 0..rules.states() {
                let state = rules.state(rank);
                if rules.legitimate(&state) {
                    continue;
                }
                let enabled = rules.enabled(&state);
                let longest = plain_longest(&rules, scheduler, rank, enabled, &mut Vec::new());
                worst = match (worst, longest) {
                    (Some(a), Some(b)) => Some((a.0.max(b.0), a.1.max(b.1), a.2.max(b.2))),
                    _ => None,
                };
            }
            prop_assert_eq!(answer.divergence.is_some(), worst.is_none());
            let found = answer.worst.map(|w| (w.steps, w.moves, w.rounds.unwrap()));
            prop_assert_eq!(found, worst);
        }
    }
}

/// Six states, three actions of which the first two are fair, any steps.
#[derive(Clone, Debug)]
struct Steps {
    /// By state: action and successor.
    steps: Vec<Vec<(usize, u64)>>,
    legitimate: Vec<bool>,
}

impl Model for Steps {
    type State = u64;
    fn states(&self) -> u64 {
        self.steps.len() as u64
    }
    fn state(&self, rank: u64) -> u64 {
        rank
    }
    fn rank(&self, state: &u64) -> u64 {
        *state
    }
    fn legitimate(&self, state: &u64) -> bool {
        self.legitimate[*state as usize]
    }
    fn show(&self, state: &u64) -> String {
        state.to_string()
    }
}

impl Actions for Steps {
    fn actions(&self) -> Vec<&'static str> {
        vec!["fair", "fair too", "unfair"]
    }
    fn fair(&self) -> u64 {
        0b011
    }
    fn steps(&self, state: &u64, steps: &mut Vec<Step<u64>>) {
        let all = self.steps[*state as usize].iter();
        steps.extend(all.map(|&(action, state)| Step { action, state }));
    }
}

impl Steps {
    /// Whether a fair run can visit exactly the states of a set for ever: all
    /// illegitimate, each reachable from each inside it, and no fair action
    /// enabled but never taken.
    fn fair_for_ever(&self, set: u64) -> bool {
        let members: Vec<u64> = (0..self.states())
            .filter(|rank| set >> rank & 1 == 1)
            .collect();
        let inside = |rank: u64| set >> rank & 1 == 1;
        let reached_from = |from: u64| {
            let mut reached = 0_u64;
            loop {
                let mut next = reached;
                for &rank in members
                    .iter()
                    .filter(|&&r| r == from || reached >> r & 1 == 1)
                {
                    for &(_, to) in self.steps[rank as usize]
                        .iter()
                        .filter(|step| inside(step.1))
                    {
                        next |= 1 << to;
                    }
                }
                if next == reached {
                    return reached;
                }
                reached = next;
            }
        };
        let (mut enabled, mut taken) = (0_u64, 0_u64);
        for &rank in &members {
            for &(action, to) in &self.steps[rank as usize] {
                enabled |= 1 << action;
                taken |= u64::from(inside(to)) << action;
            }
        }
        members.iter().all(|rank| !self.legitimate(rank))
            && members.iter().all(|&rank| reached_from(rank) == set)
            && enabled & 0b011 & !taken == 0
    }
}

proptest! {
    #[test]
    fn fairness_agrees_with_trying_every_set_of_states(
        steps in prop::collection::vec(prop::collection::vec((0..3_usize, 0..6_u64), 0..4), 6),
        legitimate in prop::collection::vec(prop::bool::weighted(0.3), 6),
    ) {
        let model = Steps { steps, legitimate };
        let answer = actions::explore(&model, Limits::default(), &Control::default()).unwrap();
        let stops = (0..6_u64)
            .any(|rank| !model.legitimate(&rank) && model.steps[rank as usize].is_empty());
        let circles = (1..64_u64).any(|set| model.fair_for_ever(set));
        prop_assert_eq!(answer.divergence.is_some(), stops || circles);
        if let Some(lasso) = answer.divergence.filter(|lasso| !lasso.cycle.is_empty()) {
            let set = lasso.cycle.iter().fold(0, |set, rank| set | 1 << rank);
            let follows = |from: u64, to: u64| {
                model.steps[from as usize].iter().any(|step| step.1 == to)
            };
            let cycle = &lasso.cycle;
            prop_assert!(cycle.windows(2).all(|pair| follows(pair[0], pair[1])));
            prop_assert!(follows(cycle[cycle.len() - 1], cycle[0]));
            prop_assert!((0..6).all(|rank| set >> rank & 1 == 0 || !model.legitimate(&rank)));
        }
    }
}

/// A delay whose counter starts one too low is caught, with a run to show for it.
#[test]
fn a_broken_delay_is_caught() {
    struct Broken(Explicit);
    impl Model for Broken {
        type State = <Explicit as Model>::State;
        fn states(&self) -> u64 {
            self.0.states()
        }
        fn state(&self, rank: u64) -> Self::State {
            self.0.state(rank)
        }
        fn rank(&self, state: &Self::State) -> u64 {
            self.0.rank(state)
        }
        fn legitimate(&self, state: &Self::State) -> bool {
            self.0.legitimate(state)
        }
        fn show(&self, state: &Self::State) -> String {
            self.0.show(state)
        }
    }
    impl Deterministic for Broken {
        fn next(&self, state: &Self::State) -> Self::State {
            // Every counter loses one more whenever it has just been set.
            let next = self.0.next(state);
            let mut rank = self.0.rank(&next);
            let d = u64::from(self.0.instance().separation());
            let mut weight = 1;
            for process in self.0.processes(&next) {
                if process.queued > 0 && process.counter > 0 {
                    rank -= weight;
                }
                weight *= d;
            }
            self.0.state(rank)
        }
    }
    let whole = Explicit::new(Instance::uniform(6, 2, 3).unwrap()).unwrap();
    let answer = function::explore(&Broken(whole), Limits::default(), &Control::default()).unwrap();
    assert!(answer.closure_violation.is_some() && answer.never > 0);
    assert!(!answer.lassos["convergence"].cycle.is_empty());
}

#[test]
fn the_infeasible_ring_is_rejected_with_a_lasso() {
    let ring = Instance::uniform(5, 2, 3).unwrap();
    for unreduced in [false, true] {
        let report =
            delay_relay::check(&ring, unreduced, Limits::default(), &Control::default()).unwrap();
        assert!(!report.convergence);
        let run = report
            .property("convergence")
            .unwrap()
            .counterexample
            .clone()
            .unwrap();
        let (ring, mut state) = run.start.clone().unwrap();
        // Replayed by the core, it returns where it says.
        let mut states = vec![state.clone()];
        for _ in 0..run.states.len() {
            ring.round(&mut state);
            states.push(state.clone());
        }
        assert_eq!(states[run.states.len()], states[run.repeats_from.unwrap()]);
    }
}

#[test]
fn too_large_is_refused_before_it_starts_and_says_what_fits() {
    let small = Limits {
        memory_bytes: 1 << 20,
        work: 1_000_000,
    };
    let control = Control::default();
    let ring = Instance::uniform(9, 3, 3).unwrap();
    let refused = delay_relay::check(&ring, true, small, &control).unwrap_err();
    assert!(matches!(refused, CheckError::TooLarge { .. }), "{refused}");
    let message = refused.to_string();
    assert!(
        message.contains("22438620 states") && message.contains("1048576 states"),
        "{message}"
    );
    assert_eq!(control.progress(), (0, 0), "nothing was begun");
    let huge = Instance::uniform(40, 8, 5).unwrap();
    let refused = delay_relay::check(&huge, false, Limits::default(), &control).unwrap_err();
    assert!(matches!(refused, CheckError::TooLarge { .. }), "{refused}");
}

#[test]
fn stopping_says_what_is_known() {
    let control = Control::default();
    control.stop();
    let ring = Instance::uniform(6, 2, 3).unwrap();
    for unreduced in [false, true] {
        let stopped = delay_relay::check(&ring, unreduced, Limits::default(), &control);
        let Err(CheckError::Interrupted { known, .. }) = stopped else {
            panic!("{stopped:?}");
        };
        assert!(!known.is_empty());
    }
}
