//! Claim 7 (conv5): after σ, once a delay has no token resting and its counter has
//! run down, no token ever rests there again.
//!
//! The proof rests on claim 5, which is false as printed. The claim is true all the
//! same: tokens that arrive too close together do so in a row behind a token that
//! comes to a delay for the first time, and the delay is busy with that row from
//! before σ until the last of it has left.
//!
//! Checked with both premises: all states of all rings up to 6 processes (the
//! printed premise: those with three tokens or more up to 8), and random rings up
//! to 60. Counter-test: the claim without its condition on the counter.

use headway_core::{Configuration, ProcessIndex, Round};
use headway_testkit::tier::pick;
use headway_testsuite::execution::{NotReached, Premise, from_sigma};
use headway_testsuite::space::Case;

use super::{crowded, every_small, first_failing, random_large};

/// A token rests where none should any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rest {
    process: ProcessIndex,
    round: Round,
}

/// The first rest at a delay after a state in which it had no token resting and
/// its counter was at most `counter` (the claim: 0).
fn rest_again(
    case: &Case,
    premise: Premise,
    initial: &Configuration,
    counter: i32,
) -> Result<Option<Rest>, NotReached> {
    let delays: Vec<_> = case.ring.delays().collect();
    let mut ready = vec![false; case.ring.len()];
    let mut first = None;
    let step = |state: &mut Configuration| case.ring.round(state);
    from_sigma(case, premise, initial, step, |round, state, _| {
        for &process in &delays {
            let variables = state.processes[process];
            if ready[process] && variables.resting > 0 {
                first.get_or_insert(Rest { process, round });
            }
            ready[process] |= variables.resting == 0 && variables.counter <= counter;
        }
        first.is_none()
    })?;
    Ok(first)
}

const CORRECTED: Premise = Premise::SinceRelaysAreEmpty;

/// Also with the printed premise, although not for the printed reason.
#[test]
fn as_printed_it_holds_too() {
    let fails = |case: &Case, state: &Configuration| {
        rest_again(case, Premise::AsPrinted, state, 0) != Ok(None)
    };
    assert!(first_failing(crowded(pick(6, 8, 8)), fails).is_none());
    random_large(4000, 1, |case, state, seed| {
        assert!(!fails(case, state), "seed {seed}");
    });
}

#[test]
fn corrected_it_holds_from_every_state_of_small_rings() {
    every_small(6, 1, |case, state| {
        let found = rest_again(case, CORRECTED, state, 0);
        assert_eq!(found, Ok(None), "{case:?} {state:?}");
    });
}

#[test]
fn corrected_it_holds_on_random_rings() {
    random_large(4000, 1, |case, state, seed| {
        assert_eq!(
            rest_again(case, CORRECTED, state, 0),
            Ok(None),
            "seed {seed}"
        );
    });
}

/// Counter-test: an idle delay whose counter still runs does make a token rest.
#[test]
fn counter_test_the_counter_has_to_have_run_down() {
    let fails =
        |case: &Case, state: &Configuration| rest_again(case, CORRECTED, state, 1) != Ok(None);
    assert!(first_failing([Case::new(4, 2, 2, &[0])], fails).is_some());
}
