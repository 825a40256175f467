//! delay/relay: the reduced answer against the unreduced one, pinned counts,
//! and the closed forms.

use crate::common::report;
use headway_check::function;
use headway_check::model::delay_relay::{self, Explicit, Instance, piles, reduced};
use headway_check::{BigUint, Control, Model};
use headway_testkit::tier::pick;

fn reduced_answer(instance: &Instance) -> reduced::ReducedAnswer {
    reduced::explore(instance, &Control::default()).unwrap()
}

fn explicit_answer(instance: &Instance) -> function::FunctionAnswer {
    let model = Explicit::new(instance).unwrap();
    function::explore(&model, &Control::default()).unwrap()
}

/// Rounds until legitimate and the last rest, by running the ring.
fn run(instance: &Instance, start: &[headway_core::Process]) -> (u64, Option<u64>) {
    let ring = instance.ring();
    let mut state = headway_core::Configuration::from(start.to_vec());
    let mut last_rest = None;
    for round in 0.. {
        if state.resting() > 0 {
            last_rest = Some(round);
        }
        if ring.legitimate(&state, instance.tokens() as u64).is_ok() {
            return (round, last_rest);
        }
        ring.round(&mut state);
    }
    unreachable!()
}

fn agree(instance: &Instance) {
    let what = instance.to_string();
    let (reduced, explicit) = (reduced_answer(instance), explicit_answer(instance));
    assert_eq!(reduced.states, BigUint::from(explicit.states), "{what}");
    assert_eq!(
        reduced.legitimate,
        BigUint::from(explicit.legitimate),
        "{what}"
    );
    assert_eq!(reduced.never, BigUint::from(explicit.never), "{what}");
    let distances: Vec<BigUint> = explicit.distances.iter().map(|&n| n.into()).collect();
    assert_eq!(reduced.distances, distances, "{what}");
    assert_eq!(
        reduced.closure_violation.is_none(),
        explicit.closure_violation.is_none(),
        "{what}"
    );
    assert_eq!(
        reduced.worst.as_ref().map(|(rounds, _)| *rounds),
        explicit.worst.map(|(_, rounds)| rounds),
        "{what}"
    );
    if let Some((rounds, state)) = &reduced.worst {
        assert_eq!(
            run(instance, state).0,
            *rounds,
            "{what}: the witness is as slow"
        );
    }
    if let Some((rounds, state)) = &reduced.worst_last_rest {
        assert_eq!(
            run(instance, state).1,
            Some(*rounds),
            "{what}: it rests as late"
        );
        assert!(
            delay_relay::check_by_cases(instance, &Control::default())
                .unwrap()
                .property("worst-last-rest")
                .unwrap()
                .holds,
            "{what}"
        );
    }
}

#[test]
fn reductions_agree_with_every_state_visited() {
    for n in 1..=6_usize {
        for m in 1..=3 {
            for d in 1..=3_u32 {
                for set in 1..1_u32 << n {
                    let delays = (0..n).filter(|i| set >> i & 1 == 1);
                    let instance = Instance::with_delays(n, m, d, delays).unwrap();
                    if instance.states() <= 6_000_u32.into() {
                        agree(&instance);
                    }
                }
            }
        }
    }
    for (n, m, d) in [
        (6, 2, 3),
        (7, 3, 2),
        (8, 2, 2),
        (5, 2, 3),
        (4, 2, 4),
        (6, 1, 5),
    ] {
        agree(&Instance::uniform(n, m, d).unwrap());
    }
}

#[test]
fn ranks_are_a_bijection() {
    let model = Explicit::new(&Instance::with_delays(5, 3, 3, [0, 2, 3]).unwrap()).unwrap();
    for rank in 0..model.states() {
        assert_eq!(model.rank(&model.state(rank)), rank);
    }
}

/// Two of the paper's sizes, pinned. States by formula: C(2n+m-1, m)·d^n.
#[test]
fn pinned_counts() {
    let pinned = [
        (9, 3, 3, 1_140 * 19_683, 24_u32, 9, 8),
        (12, 3, 4, 2_600 * 16_777_216_u64, 256, 13, 11),
    ];
    for &(n, m, d, states, legitimate, worst, last_rest) in &pinned[..pick(1, 2, 2)] {
        let answer = reduced_answer(&Instance::uniform(n, m, d).unwrap());
        assert_eq!(answer.states, states.into());
        assert_eq!(answer.legitimate, legitimate.into());
        assert_eq!(answer.worst.map(|(rounds, _)| rounds), Some(worst));
        assert_eq!(
            answer.worst_last_rest.map(|(rounds, _)| rounds),
            Some(last_rest)
        );
        assert_eq!(answer.never, BigUint::ZERO);
        assert_eq!(answer.distances.iter().sum::<BigUint>(), states.into());
    }
    // Legitimate states in a second way, for m·d = n: d turns of the evenly spaced
    // tokens; the process h hops before a token may count d-1-h, or be at 0, if
    // that value is positive and less than its distance to the token behind.
    let formula = |m: usize, d: u32| {
        let free = (1..d).filter(|&hops| {
            let counter = d - 1 - hops;
            counter > 0 && d - hops > counter
        });
        u128::from(d) * 2_u128.pow(free.count() as u32 * m as u32)
    };
    for (n, m, d) in [(4, 2, 2), (6, 2, 3), (6, 3, 2), (8, 2, 4)] {
        let explicit = explicit_answer(&Instance::uniform(n, m, d).unwrap());
        assert_eq!(
            u128::from(explicit.legitimate),
            formula(m, d),
            "n {n} m {m} d {d}"
        );
    }
    assert_eq!((formula(3, 3), formula(3, 4)), (24, 256));
}

/// The closed forms of the worst case, for every placement of delays on small
/// feasible rings.
#[test]
fn worst_cases_follow_the_closed_forms() {
    let mut checked = 0;
    for n in 1..=8_usize {
        for m in 1..=4 {
            for d in (1..=8_u32).filter(|&d| m * d as usize <= n) {
                let ring = format!("processes={n} tokens={m} separation={d}");
                let report = report(&format!("delay-relay {ring} all_placements"));
                assert!(report.all_hold(), "{report:?}");
                assert!(report.property("worst-last-rest").is_some());
                assert!(report.property("worst-legitimate-at").is_some());
                checked += report.figures.placements.unwrap();
            }
        }
    }
    // Necklaces of two colours on n beads, less the one without delays, times the
    // number of (m, d) that fit: 1, 2, 3, 5, 7, 13, 19, 35 for n = 1 to 8.
    let necklaces = [1_usize, 2, 3, 5, 7, 13, 19, 35];
    let fitting = |n: usize| (1..=4).map(|m| n / m).sum::<usize>();
    let expected: usize = (1..=8).map(|n| necklaces[n - 1] * fitting(n)).sum();
    assert_eq!(checked, expected as u64);
}

/// The state of theorem 3 in docs/research/worst-case.md attains the bound.
#[test]
fn the_slow_counter_is_attained() {
    for d in 4..=8_u32 {
        for gap in 1..=d as usize - 3 {
            for m in 1..=4 {
                let n = m * d as usize + 1;
                let instance = Instance::with_delays(n, m, d, [0, gap]).unwrap();
                let mut start = vec![headway_core::Process::default(); n];
                start[0].resting = m as u32;
                start[0].counter = d as i32 - 2 - gap as i32;
                start[gap].counter = d as i32 - 1;
                let last_rest = u64::from(d) * m as u64 - 1;
                let late = u64::from(d) - 1 - gap as u64;
                assert_eq!(
                    run(&instance, &start),
                    (last_rest + late, Some(last_rest)),
                    "{instance} gap {gap}"
                );
            }
        }
    }
}

/// Piles and cases: two ways to the whole distribution.
#[test]
fn piles_agree_with_cases() {
    let control = Control::default();
    let mut compared = 0;
    for n in 1..=10_usize {
        for m in 1..=n {
            for d in 1..=n / m {
                let instance = Instance::uniform(n, m, d as u32).unwrap();
                if n + m + d > 15 || !piles::applies(&instance) {
                    continue;
                }
                let cases = reduced_answer(&instance);
                let piles = piles::explore(&instance, &control).unwrap();
                compared += 1;
                let what = instance.to_string();
                assert_eq!(piles.distances, cases.distances, "{what}");
                assert_eq!(piles.legitimate, cases.legitimate, "{what}");
                for (mine, theirs) in [
                    (&piles.worst, &cases.worst),
                    (&piles.worst_last_rest, &cases.worst_last_rest),
                ] {
                    let rounds = |found: &Option<(u64, _)>| found.as_ref().map(|found| found.0);
                    assert_eq!(rounds(mine), rounds(theirs), "{what}");
                }
                let found = piles.worst.expect("feasible rings converge");
                assert_eq!(run(&instance, &found.1).0, found.0, "{what}");
                assert!(piles.conserved && piles.one_queued && piles.tokens_move);
                assert_eq!(piles.closure_violation, None);
            }
        }
    }
    assert!(compared > 80, "{compared}");
}
