//! The engines against the plainest thing that could work, on random models; and
//! what they do when stopped or asked too much.

use std::collections::BTreeSet;

use crate::common::{Rules, Steps, Table, rules, tables};
use headway_check::actions;
use headway_check::function::{self, FunctionAnswer};
use headway_check::guarded::{self, Divergences, GuardedAnswer};
use headway_check::model::delay_relay::{self, Explicit, Instance};
use headway_check::{CheckError, Control, Deterministic, Guarded, Limits, Model, Scheduler};
use headway_testkit::tier::properties;
use proptest::prelude::*;

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
    function::explore(table, &Control::default()).unwrap()
}

proptest! {

    #![proptest_config(properties(256))]

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
            // Every state is initial: the shortest is the shortest cycle, and of those
            // the one with the lowest state.
            prop_assert!(lasso.stem.is_empty());
            let cycles = (0..table.states()).filter_map(|rank| {
                let mut cycle = vec![rank];
                while !table.legitimate(&cycle[cycle.len() - 1]) && cycle.len() <= table.next.len() {
                    let next = table.next(&cycle[cycle.len() - 1]);
                    if next == rank {
                        return Some((cycle.len(), cycle));
                    }
                    cycle.push(next);
                }
                None
            });
            let shortest = cycles.min().map(|(_, cycle)| cycle);
            prop_assert_eq!(Some(&lasso.cycle), shortest.as_ref());
        }
    }
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
    let neighbours = |process| rules.neighbours(process);
    let sets: Vec<u64> = scheduler.selections(enabled, neighbours).collect();
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

    #![proptest_config(properties(256))]

    #[test]
    fn guarded_models_agree_with_following_every_run(rules in rules()) {
        for scheduler in Scheduler::ALL {
            let answer: GuardedAnswer =
                guarded::explore(&rules, scheduler, &Control::default()).unwrap();
            let (mut worst, mut total) = (Some((0, 0, 0)), 0);
            for rank in 0..rules.states() {
                let state = rules.state(rank);
                if rules.legitimate(&state) {
                    continue;
                }
                let enabled = rules.enabled(&state);
                let longest = plain_longest(&rules, scheduler, rank, enabled, &mut Vec::new());
                total += longest.map_or(0, |(steps, ..)| steps);
                worst = match (worst, longest) {
                    (Some(a), Some(b)) => Some((a.0.max(b.0), a.1.max(b.1), a.2.max(b.2))),
                    _ => None,
                };
            }
            prop_assert_eq!(answer.divergence.is_some(), worst.is_none());
            let found = answer.worst.map(|w| (w.steps, w.moves, w.rounds.unwrap()));
            prop_assert_eq!(found, worst);
            prop_assert!(answer.worst.is_none_or(|worst| worst.total_steps == total));
            let divergences =
                Divergences::new(&rules, scheduler, &Control::default()).unwrap();
            for fair in [false, true] {
                let plain = plain_cycle(&rules, scheduler, fair);
                prop_assert_eq!(divergences.any(fair), plain.is_some());
                let found = divergences.shortest(fair, u64::MAX);
                prop_assert_eq!(found.map(|lasso| lasso.cycle.len()), plain, "fair: {}", fair);
            }
        }
    }
}

/// The length of a shortest run of illegitimate states that goes on for ever; 0 if one stops.
/// All walks of one length after the other, with the processes that were selected or disabled.
fn plain_cycle(rules: &Rules, scheduler: Scheduler, fair: bool) -> Option<usize> {
    let all = (1 << rules.processes) - 1;
    let enabled = |rank: u64| rules.enabled(&rules.state(rank));
    let served = |rank: u64| if fair { all & !enabled(rank) } else { all };
    let illegitimate = |rank: &u64| !rules.legitimate(&rules.state(*rank));
    let starts: Vec<u64> = (0..rules.states()).filter(illegitimate).collect();
    if starts.iter().any(|&rank| enabled(rank) == 0) {
        return Some(0);
    }
    let mut walks: BTreeSet<(u64, u64, u64)> = starts
        .iter()
        .map(|&rank| (rank, rank, served(rank)))
        .collect();
    // A walk that is needed passes no state twice with the same processes served.
    (1..=rules.states() as usize * (all as usize + 1)).find(|_| {
        let mut longer = BTreeSet::new();
        for &(start, at, already) in &walks {
            let state = rules.state(at);
            for set in scheduler.selections(enabled(at), |process| rules.neighbours(process)) {
                let to = rules.rank(&rules.fire(&state, set));
                if illegitimate(&to) {
                    longer.insert((start, to, already | set | served(to)));
                }
            }
        }
        walks = longer;
        walks
            .iter()
            .any(|&(start, at, already)| start == at && already == all)
    })
}

proptest! {

    #![proptest_config(properties(256))]

    #[test]
    fn fairness_agrees_with_trying_every_set_of_states(
        steps in prop::collection::vec(prop::collection::vec((0..4_usize, 0..6_u64), 0..4), 6),
        legitimate in prop::collection::vec(prop::bool::weighted(0.3), 6),
    ) {
        let model = Steps { next: steps, legitimate };
        let answer = actions::explore(&model, &Control::default()).unwrap();
        let stops = (0..6_u64)
            .any(|rank| !model.legitimate(&rank) && model.next[rank as usize].is_empty());
        let circles = (1..64_u64).any(|set| model.fair_for_ever(set));
        prop_assert_eq!(answer.divergence.is_some(), stops || circles);
        // A run without a cycle ends where nothing can be done.
        let ends = answer.divergence.as_ref().filter(|lasso| lasso.cycle.is_empty());
        if let Some(lasso) = ends {
            let last = lasso.stem[lasso.stem.len() - 1];
            prop_assert!(model.next[last as usize].is_empty() && !model.legitimate(&last));
        }
        if let Some(lasso) = answer.divergence.filter(|lasso| !lasso.cycle.is_empty()) {
            let set = lasso.cycle.iter().fold(0, |set, rank| set | 1 << rank);
            let follows = |from: u64, to: u64| {
                model.next[from as usize].iter().any(|step| step.1 == to)
            };
            let cycle = &lasso.cycle;
            prop_assert!(cycle.windows(2).all(|pair| follows(pair[0], pair[1])));
            prop_assert!(follows(cycle[cycle.len() - 1], cycle[0]));
            prop_assert!((0..6).all(|rank| set >> rank & 1 == 0 || !model.legitimate(&rank)));
            // A strongly fair action that a state of the cycle enables is taken on it, and
            // the weakly fair one, if all states do.
            for fair in [0, 1, 3] {
                let steps = |rank: u64| model.next[rank as usize].iter();
                let mut enabling = cycle.iter().map(|&rank| steps(rank).any(|step| step.0 == fair));
                let enabled = if fair == 3 { enabling.all(|on| on) } else { enabling.any(|on| on) };
                let next = |at: usize| cycle[(at + 1) % cycle.len()];
                let taken = (0..cycle.len()).any(|at| steps(cycle[at]).any(|step| *step == (fair, next(at))));
                prop_assert!(taken || !enabled, "action {} is starved by {:?}", fair, cycle);
            }
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
            let d = u64::from(self.0.ring().separation().hops());
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
    let whole = Explicit::new(&Instance::uniform(6, 2, 3).unwrap()).unwrap();
    let answer = function::explore(&Broken(whole), &Control::default()).unwrap();
    assert!(answer.closure_violation.is_some() && answer.never > 0);
    assert!(!answer.lassos["convergence"].cycle.is_empty());
}

#[test]
fn the_infeasible_ring_is_rejected_with_a_lasso() {
    let ring = Instance::uniform(5, 2, 3).unwrap();
    for check in [delay_relay::check_by_cases, delay_relay::check_every_state] {
        let report = check(&ring, &Control::default()).unwrap();
        assert!(!report.convergence());
        let run = report.counterexample("convergence").cloned().unwrap();
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
    let control = Control::new(Limits {
        memory_bytes: 1 << 20,
        work: 1_000_000,
    });
    let ring = Instance::uniform(9, 3, 3).unwrap();
    let refused = delay_relay::check_every_state(&ring, &control).unwrap_err();
    assert!(matches!(refused, CheckError::TooLarge { .. }), "{refused}");
    let message = refused.to_string();
    assert!(
        message.contains("22438620 states") && message.contains("1048576 states"),
        "{message}"
    );
    assert_eq!(control.progress(), (0, 0), "nothing was begun");
    let huge = Instance::uniform(40, 8, 5).unwrap();
    let refused = delay_relay::check_by_cases(&huge, &control).unwrap_err();
    assert!(matches!(refused, CheckError::TooLarge { .. }), "{refused}");
}

#[test]
fn stopping_says_what_is_known() {
    let control = Control::default();
    control.stop();
    let ring = Instance::uniform(6, 2, 3).unwrap();
    for check in [delay_relay::check_by_cases, delay_relay::check_every_state] {
        let stopped = check(&ring, &control);
        let Err(CheckError::Interrupted { known, .. }) = stopped else {
            panic!("{stopped:?}");
        };
        assert!(!known.is_empty());
    }
}
