//! Claim 5 (conv3): once every token has arrived at a delay, arrivals at any one
//! process are more than C rounds apart.
//!
//! **False as printed.** A token that has passed a delay can queue up behind a
//! pile at a relay, and leaves it one round behind its predecessor. The proof's
//! "simple inductive argument" that no token rests at a relay fails for the same
//! reason. `as_printed_it_is_false` finds the smallest ring where it happens.
//!
//! What is true, and what the later claims need: arrivals are more than C rounds
//! apart once every token has arrived at (or rests at) a delay *since no token
//! rests at a relay*. A relay's pile cannot grow (at most one token arrives in a
//! round and one leaves) and shrinks at every gap, so relays empty and stay empty,
//! and such a state comes in every execution. All tokens between one delay and the
//! next have then left that delay, C+1 rounds apart, and nothing has held one up
//! since.
//!
//! Checked: all states (of at most one queued token per process, as the paper
//! assumes from here on) of all rings up to 6 processes, and 4000 random rings up
//! to 60. Counter-tests: the premise left out, and delays that count from C-1.

use headway_core::{Configuration, ProcessIndex, Round};
use headway_testkit::tier::pick;
use headway_testsuite::execution::{NotReached, Premise, from_sigma, relays_are_empty};
use headway_testsuite::space::Case;

use super::{crowded, every_small, first_failing, random_large, row, state_of};

/// Two arrivals at one process, C or fewer rounds apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clash {
    process: ProcessIndex,
    rounds: (Round, Round),
}

/// The first clash after σ, when `protocol` is run on the ring of `case`.
fn clash(
    case: &Case,
    premise: Premise,
    initial: &Configuration,
    protocol: &Case,
) -> Result<Option<Clash>, NotReached> {
    let mut latest: Vec<Option<Round>> = vec![None; case.ring.len()];
    let mut first = None;
    let step = |state: &mut Configuration| protocol.ring.round(state);
    from_sigma(case, premise, initial, step, |round, _, arrivals| {
        for &process in arrivals {
            let clashing = |earlier: &Round| round - *earlier <= case.top();
            if let Some(earlier) = latest[process].replace(round).filter(clashing) {
                let rounds = (earlier, round);
                first.get_or_insert(Clash { process, rounds });
            }
        }
        first.is_none()
    })?;
    Ok(first)
}

const CORRECTED: Premise = Premise::SinceRelaysAreEmpty;

#[test]
fn as_printed_it_is_false() {
    let fails = |case: &Case, state: &Configuration| {
        clash(case, Premise::AsPrinted, state, case) != Ok(None)
    };
    // With two tokens, the one in front is at the same delay when σ comes.
    every_small(6, 1, |case, state| assert!(!fails(case, state)));
    let (case, state) = first_failing(crowded(8), fails).expect("a counterexample");
    assert_eq!((case.ring.len(), case.tokens, case.top()), (8, 4, 1));
    assert_eq!(case.ring.delays().collect::<Vec<_>>(), [0]);
    let expected = Clash {
        process: 0,
        rounds: (10, 11),
    };
    // Two tokens pile up at relay 1; two more pass the delay, two rounds apart,
    // and then follow the pile and each other at a distance of one.
    let (o, pile) = ((0, 0, 0), (0, 2, 0));
    assert_eq!(row(&state), [o, pile, o, o, o, o, o, (1, 1, 0)]);
    assert_eq!(
        clash(&case, Premise::AsPrinted, &state, &case),
        Ok(Some(expected))
    );
}

/// The proof's induction: r_j = 0 at all relays after σ. With another delay right
/// behind the pile, σ comes while a token still rests at the relay.
#[test]
fn as_printed_relays_are_not_even_empty() {
    let case = Case::new(10, 5, 2, &[0, 2]);
    let o = (0, 0, 0);
    let initial = state_of(&case, &[o, (0, 3, 0), o, o, o, o, o, o, o, (1, 1, 0)]);
    let step = |state: &mut Configuration| case.ring.round(state);
    let mut resting_at_relays = None;
    let visit = |_, state: &Configuration, _: &[ProcessIndex]| {
        resting_at_relays = Some(!relays_are_empty(&case.ring, state));
        false
    };
    from_sigma(&case, Premise::AsPrinted, &initial, step, visit).expect("σ");
    assert_eq!(resting_at_relays, Some(true));
}

#[test]
fn corrected_it_holds_from_every_state_of_small_rings() {
    let states = every_small(6, 1, |case, state| {
        assert_eq!(
            clash(case, CORRECTED, state, case),
            Ok(None),
            "{case:?} {state:?}"
        );
    });
    assert!(states > 100_000, "{states}");
}

#[test]
fn corrected_it_holds_on_random_rings() {
    random_large(4000, 1, |case, state, seed| {
        assert_eq!(clash(case, CORRECTED, state, case), Ok(None), "seed {seed}");
    });
}

#[test]
fn corrected_it_holds_where_the_printed_one_fails() {
    let fails =
        |case: &Case, state: &Configuration| clash(case, CORRECTED, state, case) != Ok(None);
    let rings = pick(
        vec![Case::new(8, 4, 2, &[0])],
        crowded(8).collect(),
        crowded(8).collect(),
    );
    assert!(first_failing(rings, fails).is_none());
}

/// Counter-test: from a state of claim 5, the bound C is the best possible.
#[test]
fn counter_test_arrivals_can_be_c_plus_1_apart() {
    let case = Case::new(4, 2, 2, &[0]);
    let initial = state_of(&case, &[(1, 0, 1), (0, 0, 0), (1, 0, 0), (0, 0, 0)]);
    let wider = case.with_separation(3);
    assert_eq!(clash(&case, CORRECTED, &initial, &case), Ok(None));
    let asked_for_more = clash(&wider, CORRECTED, &initial, &case);
    assert!(matches!(asked_for_more, Ok(Some(_))));
}

/// Counter-test: delays that count from C-1 are caught.
#[test]
fn counter_test_short_counters_are_caught() {
    let case = Case::new(6, 2, 3, &[0]);
    let initial = Configuration::piled(&case.ring, 2, 0);
    let short = case.with_separation(2);
    let found = clash(&case, CORRECTED, &initial, &short);
    assert!(matches!(found, Ok(Some(_))));
}
