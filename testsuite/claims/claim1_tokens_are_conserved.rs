//! Claim 1 (convX0): the tokens, resting and queued, always add up to m.
//!
//! True of the states between rounds. Read literally, with the states between
//! global steps of section 4 included, it is not: between lines 1 and 2 a moving
//! token is counted both where it comes from and where it arrives
//! (`between_lines_1_and_2_moving_tokens_count_twice`).
//!
//! Checked: all states, with any queues, of all rings up to 5 processes, for one
//! round (which suffices: they are all states); 2000 random rings up to 60 for a
//! whole run. Counter-tests: a protocol that loses a token, one that copies one.

use headway_core::Configuration;
use headway_testsuite::listing::{Listing, Padding, STEPS};
use headway_testsuite::space::Case;

use super::{every_small, random_large};

/// The first round after which the sum is not m.
fn broken(
    case: &Case,
    initial: &Configuration,
    rounds: u64,
    step: impl Fn(&mut Configuration),
) -> Option<u64> {
    let mut state = initial.clone();
    (1..=rounds).find(|_| {
        step(&mut state);
        state.tokens() != u64::from(case.tokens)
    })
}

#[test]
fn holds_for_every_state_of_small_rings() {
    every_small(5, u32::MAX, |case, state| {
        let found = broken(case, state, 1, |state| case.ring.round(state));
        assert_eq!(found, None, "{case:?} {state:?}");
    });
}

#[test]
fn holds_along_random_runs() {
    random_large(2000, u32::MAX, |case, state, seed| {
        let found = broken(case, state, case.horizon(), |state| case.ring.round(state));
        assert_eq!(found, None, "seed {seed}");
    });
}

#[test]
fn between_lines_1_and_2_moving_tokens_count_twice() {
    let case = Case::new(6, 3, 2, &[0, 3]);
    let mut initial = Configuration::piled(&case.ring, 1, 0);
    initial.processes[4].queued = 2;
    let mut sums = [0; STEPS + 1];
    let mut listing = Listing::new(&case.ring, &initial, Padding::Aligned);
    listing.round(|step, listing| sums[step] = listing.state().tokens());
    // Lines 1 and 2 are steps 7 and 8 of the longest listing.
    assert_eq!((sums[6], sums[7], sums[8], sums[STEPS]), (3, 5, 3, 3));
}

#[test]
fn counter_test_loss_and_copies_are_caught() {
    let case = Case::new(5, 2, 2, &[0]);
    let initial = Configuration::piled(&case.ring, 2, 0);
    let loses = |state: &mut Configuration| {
        case.ring.round(state);
        state.processes[3].queued = 0;
    };
    assert_eq!(broken(&case, &initial, 20, loses), Some(4));
    // Line 2 left out: the queue is taken, but not cleared.
    let copies = |state: &mut Configuration| {
        let before = state.processes[1].queued;
        case.ring.round(state);
        state.processes[1].queued += before;
    };
    assert_eq!(broken(&case, &initial, 20, copies), Some(3));
}
