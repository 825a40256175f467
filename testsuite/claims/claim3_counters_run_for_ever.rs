//! Claim 3 (conv1): if there is a token, every counter takes every value
//! 0 ≤ k < C at infinitely many states, for every process 0 ≤ i < n.
//!
//! Two slips in the ranges. A relay has no counter (section 5 says so), so that i
//! can only range over the delays. And k = C belongs in: claim 4 concludes from
//! this claim that c_i ← C happens, which the printed range leaves out; with d = 1
//! the printed range is empty. As corrected, 0 ≤ k ≤ C at every delay, it is true,
//! also where m·d > n.
//!
//! Checked: a run is periodic sooner or later, because there are finitely many
//! states; "infinitely many" is "in the period". All states of all rings up to 5
//! processes, feasible or not, and 500 random ones up to 60. Counter-tests: no
//! token, and a relay.

use headway_core::{Configuration, ProcessIndex};
use headway_testsuite::space::{Case, each_state, placements};

use super::{every_small, random_large};

/// The first process and value that the period of a run lacks.
fn missing(case: &Case, initial: &Configuration) -> Option<(ProcessIndex, u64)> {
    let values = case.top() as usize + 1;
    let mut seen = vec![false; case.ring.len() * values];
    each_of_period(case, initial, |state| {
        for (index, process) in state.processes.iter().enumerate() {
            seen[index * values + process.counter as usize] = true;
        }
    });
    let mut all = case
        .ring
        .delays()
        .flat_map(|i| (0..values).map(move |k| (i, k)));
    all.find(|(i, k)| !seen[i * values + k])
        .map(|(i, k)| (i, k as u64))
}

/// Calls `visit` with the states that a run comes back to forever (Brent).
fn each_of_period(case: &Case, initial: &Configuration, mut visit: impl FnMut(&Configuration)) {
    let (mut tortoise, mut hare) = (initial.clone(), case.ring.after_round(initial));
    let (mut power, mut length) = (1_u64, 1_u64);
    while tortoise != hare {
        if length == power {
            tortoise.clone_from(&hare);
            (power, length) = (2 * power, 0);
        }
        case.ring.round(&mut hare);
        length += 1;
    }
    for _ in 0..length {
        visit(&hare);
        case.ring.round(&mut hare);
    }
}

#[test]
fn holds_at_every_delay_for_every_state_of_small_rings() {
    every_small(5, u32::MAX, |case, state| {
        assert_eq!(missing(case, state), None, "{case:?} {state:?}");
    });
}

#[test]
fn holds_on_rings_with_too_many_tokens() {
    for delays in placements(4) {
        let case = Case::new(4, 3, 3, &delays);
        each_state(&case, u32::MAX, &mut |state| {
            assert_eq!(missing(&case, state), None, "{case:?} {state:?}");
        });
    }
}

#[test]
fn holds_on_random_rings() {
    random_large(500, u32::MAX, |case, state, seed| {
        assert_eq!(missing(case, state), None, "seed {seed}");
    });
}

/// As printed, i ranges over all processes: but a relay's c, if it had one, would
/// not move.
#[test]
fn as_printed_it_speaks_of_counters_that_relays_do_not_have() {
    let case = Case::new(6, 2, 3, &[0]);
    let initial = Configuration::piled(&case.ring, 2, 0);
    each_of_period(&case, &initial, |state| {
        assert_eq!(state.processes[1].counter, 0, "k = 1 < C is never taken");
    });
}

#[test]
fn counter_test_without_tokens_counters_stop() {
    let mut case = Case::new(6, 1, 3, &[0]);
    case.tokens = 0;
    let initial = Configuration::empty(&case.ring, 1, 1);
    assert_eq!(missing(&case, &initial), Some((0, 1)));
}
