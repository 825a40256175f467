//! The monitor against the same numbers worked out from the whole history.

use crate::common::any_ring;
use headway_core::desiderata::{Monitor, Recovery};
use headway_core::tokens::Tokens;
use headway_core::{Configuration, Ring, Separation};
use headway_testkit::tier::properties;
use proptest::prelude::*;

struct Seen {
    tokens: Tokens,
    legitimate: bool,
}

fn history(ring: &Ring, initial: &Configuration, rounds: usize) -> Vec<Seen> {
    let m = initial.tokens();
    let mut state = initial.clone();
    let mut tokens = Tokens::new(&state);
    let mut seen = Vec::new();
    for _ in 0..=rounds {
        seen.push(Seen {
            tokens: tokens.clone(),
            legitimate: ring.legitimate(&state, m).is_ok(),
        });
        ring.round(&mut state);
        tokens.follow(&state);
    }
    seen
}

fn watch(d: Separation, seen: &[Seen]) -> Monitor {
    let mut monitor = Monitor::new(d, &seen[0].tokens);
    for (round, seen) in seen.iter().enumerate() {
        monitor.observe(round as u64, &seen.tokens, || seen.legitimate);
    }
    monitor
}

proptest! {
    #![proptest_config(properties(400))]

    #[test]
    fn numbers_agree_with_the_history((ring, initial) in any_ring()) {
        let seen = history(&ring, &initial, 80);
        let monitor = watch(ring.separation(), &seen);
        let legitimate_at = seen.iter().position(|seen| seen.legitimate);
        prop_assert_eq!(monitor.outcome().legitimate_at, legitimate_at.map(|at| at as u64));
        prop_assert_eq!(monitor.settled_since(), monitor.outcome().legitimate_at);
        let last_rest = seen.iter().rposition(|seen| seen.tokens.any_resting());
        prop_assert_eq!(monitor.outcome().last_rest, last_rest.map(|at| at as u64));
        let split = legitimate_at.unwrap_or(seen.len());
        let least = |seen: &[Seen]| seen.iter().filter_map(|s| s.tokens.min_distance()).min();
        prop_assert_eq!(monitor.outcome().min_distance_before, least(&seen[..split]));
        prop_assert_eq!(monitor.outcome().min_distance_after, least(&seen[split..]));
        if split < seen.len() {
            let mut visits = vec![0_u64; ring.len()];
            for place in seen[split + 1..].iter().flat_map(|seen| seen.tokens.places()) {
                visits[place.process()] += 1;
            }
            let range = (*visits.iter().min().unwrap(), *visits.iter().max().unwrap());
            prop_assert_eq!(monitor.outcome().visits, Some(range));
            prop_assert!(monitor.outcome().desiderata.iter().all(|verdict| verdict.holds == Some(true)));
        } else {
            prop_assert_eq!(monitor.outcome().visits, None);
            prop_assert!(monitor.outcome().desiderata[1..].iter().all(|verdict| verdict.holds.is_none()));
        }
    }
}

fn piled() -> (Ring, Configuration) {
    let ring = Ring::with_delays(Separation::new(3).unwrap(), 8, 0..8).unwrap();
    let state = Configuration::piled(&ring, 2, 0);
    (ring, state)
}

#[test]
fn a_fault_starts_a_new_recovery() {
    let (ring, state) = piled();
    let first = history(&ring, &state, 10);
    let mut monitor = watch(ring.separation(), &first);
    monitor.fault(&first[0].tokens, || false);
    assert_eq!(monitor.outcome().visits, None);
    assert_eq!(
        monitor.outcome().desiderata[4].holds,
        None,
        "not recovered yet"
    );
    for (round, seen) in first.iter().enumerate().skip(1) {
        monitor.observe(10 + round as u64, &seen.tokens, || seen.legitimate);
    }
    let recovery = |fault_at, legitimate_at| Recovery {
        fault_at,
        legitimate_at: Some(legitimate_at),
    };
    assert_eq!(
        monitor.outcome().recoveries,
        [recovery(0, 4), recovery(10, 14)]
    );
    assert_eq!(monitor.outcome().recoveries[1].rounds(), Some(4));
    assert_eq!(monitor.outcome().last_rest, Some(13));
    assert!(
        monitor
            .outcome()
            .desiderata
            .iter()
            .all(|verdict| verdict.holds == Some(true))
    );
}

/// Two faults at once are one to recover from.
#[test]
fn a_fault_cut_short_by_another_is_not_held_against_the_ring() {
    let (ring, state) = piled();
    let first = history(&ring, &state, 10);
    let mut monitor = watch(ring.separation(), &first);
    monitor.fault(&first[0].tokens, || false);
    monitor.fault(&first[0].tokens, || false);
    for (round, seen) in first.iter().enumerate().skip(1) {
        monitor.observe(10 + round as u64, &seen.tokens, || seen.legitimate);
    }
    assert_eq!(monitor.outcome().recoveries[1].legitimate_at, None);
    assert_eq!(monitor.outcome().desiderata[4].holds, Some(true));
}

/// Visits are counted since the state became legitimate, whenever that was.
#[test]
fn one_visit_too_many_after_a_whole_turn_is_unequal() {
    let (ring, state) = piled();
    let seen = history(&ring, &state, 20);
    let settled = &seen[4..];
    let mut monitor = Monitor::new(ring.separation(), &settled[0].tokens);
    for (round, seen) in (2..).zip(&settled[..8]) {
        monitor.observe(round, &seen.tokens, || true);
    }
    let verdict = |monitor: &Monitor| monitor.outcome().desiderata[3].holds == Some(true);
    let mut equal = monitor.clone();
    equal.observe(10, &settled[8].tokens, || true);
    assert!(verdict(&equal));
    monitor.observe(10, &settled[7].tokens, || true);
    assert!(!verdict(&monitor), "8 rounds, one place twice");
}

/// Each verdict turns to "no" for its own reason.
#[test]
fn each_verdict_can_fail() {
    let (ring, state) = piled();
    let seen = history(&ring, &state, 20);
    let failed = |monitor: &Monitor| {
        let verdicts = monitor.outcome().desiderata;
        let failed = verdicts
            .iter()
            .filter(|verdict| verdict.holds == Some(false));
        failed.map(|verdict| verdict.of.name()).collect::<Vec<_>>()
    };
    let mut lost = watch(ring.separation(), &seen);
    let one = Configuration::piled(&ring, 1, 0);
    lost.observe(21, &Tokens::new(&one), || true);
    assert!(failed(&lost).contains(&"D1"));
    // All at process 0 again, resting, without a fault to explain it.
    let mut close = watch(ring.separation(), &seen);
    close.observe(21, &seen[0].tokens, || false);
    assert_eq!(failed(&close), ["D2", "D3", "D4"]);
    // The same places twice more: after two whole turns and two rounds, one visit
    // more than elsewhere is in order, two are not.
    let mut unfair = watch(ring.separation(), &seen);
    unfair.observe(21, &seen[20].tokens, || true);
    assert_eq!(failed(&unfair), [""; 0]);
    unfair.observe(22, &seen[20].tokens, || true);
    assert_eq!(failed(&unfair), ["D4"]);
    let mut stuck = watch(ring.separation(), &seen);
    stuck.fault(&seen[0].tokens, || false);
    assert_eq!(failed(&stuck), [""; 0], "too early to say");
    let mut outcome = stuck.outcome();
    outcome.overdue();
    assert_eq!(outcome.desiderata[4].holds, Some(false));
    let mut settled = watch(ring.separation(), &seen).outcome();
    settled.overdue();
    assert_eq!(settled.desiderata[4].holds, Some(true));
}

/// What a monitor does not ask in a release build, it asks in tests.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "legitimacy ended in round 2")]
fn a_run_whose_legitimacy_ends_is_noticed() {
    let ring = Ring::with_delays(Separation::new(2).unwrap(), 6, [0]).unwrap();
    let tokens = Tokens::new(&Configuration::piled(&ring, 1, 0));
    let mut apart = tokens.clone();
    let mut state = Configuration::piled(&ring, 1, 0);
    ring.round(&mut state);
    apart.follow(&state);
    let mut monitor = Monitor::new(ring.separation(), &tokens);
    for (round, legitimate) in [(0, true), (1, true), (2, false)] {
        monitor.observe(round, &apart, || legitimate);
    }
}
