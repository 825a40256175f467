//! What no ring does is noticed all the same, and is not forgotten.

use num_bigint::BigUint;

use super::*;
use crate::model::delay_relay::reduced;

#[test]
fn a_token_too_many_is_noticed() {
    let (instance, control) = (Instance::uniform(4, 2, 2).unwrap(), Control::default());
    let explorer = Explorer::<u128>::new(&instance, &control);
    assert!(explorer.placement(&[1, 1, 0, 0], 1).conserved);
    assert!(!explorer.placement(&[1, 1, 1, 0], 1).conserved);
}

#[test]
fn what_is_broken_once_stays_broken() {
    let (instance, control) = (Instance::uniform(4, 2, 2).unwrap(), Control::default());
    let explorer = Explorer::<u128>::new(&instance, &control);
    let broken = || {
        let mut tally = Tally::<u128>::of_cases();
        (tally.conserved, tally.one_queued, tally.tokens_move) = (false, false, false);
        tally
    };
    let mut tally = broken();
    explorer.legitimate_states(&[1, 0, 1, 0], 1, &mut tally);
    assert_eq!(tally.legitimate, 1, "one was looked at");
    let mut case = Case {
        round: 0,
        processes: [Process::default(); MAX_PROCESSES],
        open: 0,
        chosen: [0; MAX_PROCESSES],
        weight: 1,
        splits: 0,
        units: 7,
    };
    (case.processes[0].resting, case.processes[2].resting) = (1, 1);
    assert!(explorer.follow(&mut case, &[1, 0, 1, 0], &mut tally));
    assert_eq!(tally.cases, 1, "one was followed");
    let fine = Tally::of_cases();
    for tally in [
        tally,
        fine.merge(broken()),
        broken().merge(Tally::of_cases()),
    ] {
        assert!(!tally.conserved && !tally.one_queued && !tally.tokens_move);
    }
    let fine = Tally::<u128>::of_cases().merge(Tally::of_cases());
    assert!(fine.conserved && fine.one_queued && fine.tokens_move);
}

/// Whatever the order in which threads finish, tallies are merged in order of rank.
#[test]
fn of_equally_good_examples_the_first_is_kept() {
    let example = |resting| {
        vec![Process {
            resting,
            ..Process::default()
        }]
    };
    let with = |rounds, resting| {
        let mut tally = Tally::<u128>::of_cases();
        tally.slow(rounds, || example(resting));
        tally.rests(rounds, || example(resting));
        tally.closure_violation = Some(example(resting));
        tally
    };
    for (first, second, kept) in [(5, 5, 1), (5, 4, 1), (4, 5, 2)] {
        let answer = with(first, 1).merge(with(second, 2)).answer(0_u32.into());
        let expected = Some((first.max(second), example(kept)));
        assert_eq!(answer.worst, expected);
        assert_eq!(answer.worst_last_rest, expected);
        assert_eq!(answer.closure_violation, Some(example(1)));
    }
}

#[test]
fn numbers_of_any_size_count_the_same() {
    for (n, m, d) in [(6, 2, 3), (5, 2, 3), (7, 3, 2)] {
        let (instance, control) = (Instance::uniform(n, m, d).unwrap(), Control::default());
        let small = reduced::explore_counting::<u128>(&instance, &control).unwrap();
        let large = reduced::explore_counting::<BigUint>(&instance, &control).unwrap();
        assert_eq!(small, large);
        let (done, total) = control.progress();
        assert_eq!(done, total, "every unit of progress is accounted for");
    }
}
