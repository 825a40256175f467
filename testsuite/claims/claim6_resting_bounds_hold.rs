//! Claim 6 (conv4): from the σ of claim 5 on, at most one token more rests at a
//! process than rested there at σ, r_i ≤ 1 + r_i^σ. The bound is then improved
//! whenever fewer tokens rest: one more than the fewest since σ.
//!
//! **False as printed** because claim 5 is: tokens that bunch up behind a relay's
//! pile arrive at a delay one round apart. With claim 5's premise corrected it
//! holds. (The proof has "no additional token arrives for C+1 rounds"; claim 5
//! gives C rounds, which is enough, because p_i releases in the round of the next
//! arrival at the latest.)
//!
//! Checked in the improved form, which implies the printed one for every later
//! state taken as σ: all states of all rings up to 6 processes, 4000 random rings
//! up to 60, relays included. The printed claim's counterexample is the smallest
//! over all states of all rings up to 8 processes, of rings with 9 and 10 and one
//! or two delays, and of the ring with 12 and one delay. Counter-tests: the printed premise, and claim 6
//! without the "1 +".

use headway_core::{Configuration, ProcessIndex, Round};
use headway_testkit::tier::pick;
use headway_testsuite::execution::{NotReached, Premise, from_sigma};
use headway_testsuite::space::{Case, placements};

use super::{crowded, every_small, first_failing, random_large, row};

/// More tokens rest than the bound allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Excess {
    process: ProcessIndex,
    round: Round,
    resting: u32,
    bound: u32,
}

/// Whether the bound is kept as at σ, or improved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    AtSigma,
    Improved,
}

/// The first excess over `slack` + r_i^σ.
fn excess(
    case: &Case,
    premise: Premise,
    initial: &Configuration,
    kind: Bound,
    slack: u32,
) -> Result<Option<Excess>, NotReached> {
    let mut fewest: Vec<u32> = Vec::new();
    let mut first = None;
    let step = |state: &mut Configuration| case.ring.round(state);
    from_sigma(case, premise, initial, step, |round, state, _| {
        let resting = state.processes.iter().map(|process| process.resting);
        if fewest.is_empty() {
            fewest = resting.collect();
            return true;
        }
        for (process, (resting, fewest)) in resting.zip(&mut fewest).enumerate() {
            let bound = *fewest + slack;
            if resting > bound {
                first.get_or_insert(Excess {
                    process,
                    round,
                    resting,
                    bound,
                });
            }
            if kind == Bound::Improved {
                *fewest = resting.min(*fewest);
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
        excess(case, Premise::AsPrinted, state, Bound::AtSigma, 1) != Ok(None)
    };
    assert!(first_failing(crowded(pick(6, 8, 8)), fails).is_none());
    let larger = [(9, 4), (10, 5)];
    for &(n, m) in pick(&[][..], &larger, &larger) {
        let few = placements(n).into_iter().filter(|delays| delays.len() <= 2);
        let rings = few.map(|delays| Case::new(n, m, 2, &delays));
        assert!(first_failing(rings, fails).is_none());
    }
    // Three tokens at relay 1, three that pass the delay and catch up with them:
    // six arrive in a row, of which the last three have been there before.
    let smallest = Case::new(12, 6, 2, &[0]);
    let (case, state) = first_failing([smallest], fails).expect("a counterexample");
    let mut expected = [(0, 0, 0); 12];
    (expected[1], expected[11]) = ((0, 3, 0), (1, 2, 0));
    assert_eq!(row(&state), expected);
    let found = excess(&case, Premise::AsPrinted, &state, Bound::AtSigma, 1);
    let expected = Excess {
        process: 0,
        round: 17,
        resting: 3,
        bound: 2,
    };
    assert_eq!(found, Ok(Some(expected)));
}

#[test]
fn corrected_it_holds_from_every_state_of_small_rings() {
    every_small(6, 1, |case, state| {
        let found = excess(case, CORRECTED, state, Bound::Improved, 1);
        assert_eq!(found, Ok(None), "{case:?} {state:?}");
    });
}

#[test]
fn corrected_it_holds_on_random_rings() {
    random_large(4000, 1, |case, state, seed| {
        let found = excess(case, CORRECTED, state, Bound::Improved, 1);
        assert_eq!(found, Ok(None), "seed {seed}");
    });
}

/// Counter-test: the 1 in the bound is needed.
#[test]
fn counter_test_the_bound_is_met() {
    let fails = |case: &Case, state: &Configuration| {
        excess(case, CORRECTED, state, Bound::AtSigma, 0) != Ok(None)
    };
    assert!(first_failing([Case::new(4, 2, 2, &[0])], fails).is_some());
}
