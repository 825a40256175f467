//! Claim 2 (conv0): after the first round, no process ever has more than one token
//! queued.
//!
//! True, and even between the lines of the listing from the first round's line 2
//! on.
//!
//! Checked: all states, with any queues, of all rings up to 5 processes, for one
//! round (they are all states); 2000 random rings up to 60 for a whole run; line
//! by line on the listing. Counter-tests: before the first round it does not hold,
//! and a relay that releases all its tokens at once is caught.

use headway_core::Configuration;
use headway_testsuite::listing::{Listing, Padding};
use headway_testsuite::space::Case;

use super::{every_small, random_large};

fn holds(state: &Configuration) -> bool {
    state.processes.iter().all(|process| process.queued <= 1)
}

#[test]
fn holds_one_round_after_every_state_of_small_rings() {
    let mut before = 0;
    every_small(5, u32::MAX, |case, state| {
        before += u64::from(!holds(state));
        assert!(holds(&case.ring.after_round(state)), "{case:?} {state:?}");
    });
    assert!(before > 0, "counter-test: it does not hold before");
}

#[test]
fn holds_along_random_runs() {
    random_large(2000, u32::MAX, |case, state, seed| {
        let mut state = state.clone();
        for round in 1..=case.horizon() {
            case.ring.round(&mut state);
            assert!(holds(&state), "seed {seed}, round {round}");
        }
    });
}

#[test]
fn holds_after_every_line_of_later_rounds() {
    random_large(200, u32::MAX, |case, state, seed| {
        let mut listing = Listing::new(&case.ring, state, Padding::Aligned);
        for round in 1..=20 {
            // Line 2 is step 8 of the longest listing.
            listing.round(|step, listing| {
                let cleared = round > 1 || step >= 8;
                assert!(!cleared || holds(&listing.state()), "seed {seed}");
            });
        }
    });
}

#[test]
fn counter_test_a_relay_that_releases_all_at_once_is_caught() {
    let case = Case::new(5, 3, 1, &[0]);
    let mut state = Configuration::piled(&case.ring, 3, 2);
    case.ring.round(&mut state);
    let relay = &mut state.processes[2];
    relay.queued += std::mem::take(&mut relay.resting);
    assert!(!holds(&state));
}
