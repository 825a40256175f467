//! Claim 8 (conv6): F, the tuple of all delays' resting bounds, cannot stay
//! positive and constant. With it the text around it: resting bounds hold for the
//! rest of the execution, F never increases, and F = 0 means a legitimate state.
//!
//! True from a state of claim 5 with its premise corrected. But the proof's reason
//! is not: it wants, at every state with a token resting, a segment of more than
//! C+1 processes without a token. Tokens exactly C+1 apart with one of them resting
//! leave only segments of C (`as_printed_the_empty_segment_does_not_exist`). What
//! does hold: while a token rests, at most m-1 tokens hop in a round, so that a
//! process sees at most (m-1)/n < 1/(C+1) arrivals a round in the long run, fewer
//! than a delay with resting tokens releases.
//!
//! Checked: all states of all rings up to 6 processes, 4000 random rings up to 60:
//! r_i within its bound at every state; F zero in the end; F constant and positive
//! for at most n + C rounds; legitimate when F is zero. Counter-tests: m·d > n, and
//! F as printed from σ as printed.

use headway_core::{Configuration, Round};
use headway_testsuite::execution::{NotReached, Premise, from_sigma};
use headway_testsuite::resting::Variant;
use headway_testsuite::space::Case;

use super::{every_small, random_large, state_of};

/// What became of F along a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Course {
    /// Some r_i exceeded its bound.
    exceeded: bool,
    /// Rounds from σ until F was zero.
    zero_after: Option<Round>,
    /// The state was legitimate when F first was zero.
    legitimate_at_zero: bool,
    /// The most rounds in a row that F was positive and did not change.
    constant_for: Round,
}

fn course(case: &Case, premise: Premise, initial: &Configuration) -> Result<Course, NotReached> {
    let mut course = Course::default();
    let mut variant: Option<Variant> = None;
    let (mut sigma, mut changed) = (0, 0);
    let step = |state: &mut Configuration| case.ring.round(state);
    from_sigma(case, premise, initial, step, |round, state, _| {
        let variant = variant.get_or_insert_with(|| {
            (sigma, changed) = (round, round);
            Variant::new(case, state)
        });
        let before = variant.clone();
        course.exceeded |= variant.exceeded(state).is_some();
        variant.observe(state);
        if *variant != before {
            changed = round;
        }
        if variant.is_zero() {
            if course.zero_after.is_none() {
                course.zero_after = Some(round - sigma);
                let tokens = u64::from(case.tokens);
                course.legitimate_at_zero = case.ring.legitimate(state, tokens).is_ok();
            }
        } else {
            course.constant_for = course.constant_for.max(round - changed);
        }
        true
    })?;
    Ok(course)
}

const CORRECTED: Premise = Premise::SinceRelaysAreEmpty;

fn check(case: &Case, state: &Configuration, what: &dyn Fn() -> String) {
    let course = course(case, CORRECTED, state).expect("σ");
    assert!(!course.exceeded, "{}", what());
    assert!(course.zero_after.is_some(), "{}", what());
    assert!(course.legitimate_at_zero, "{}", what());
    let limit = case.ring.len() as u64 + case.top();
    assert!(course.constant_for <= limit, "{course:?} {}", what());
}

#[test]
fn holds_from_every_state_of_small_rings() {
    every_small(6, 1, |case, state| {
        check(case, state, &|| format!("{case:?} {state:?}"));
    });
}

#[test]
fn holds_on_random_rings() {
    random_large(4000, 1, |case, state, seed| {
        check(case, state, &|| format!("seed {seed}"));
    });
}

/// From σ as printed, F is not what it is meant to be: the ring of claim 6's
/// counterexample exceeds its bounds.
#[test]
fn as_printed_resting_bounds_are_exceeded() {
    let case = Case::new(12, 6, 2, &[0]);
    let mut rows = [(0, 0, 0); 12];
    (rows[1], rows[11]) = ((0, 3, 0), (1, 2, 0));
    let initial = state_of(&case, &rows);
    let exceeded = |premise| course(&case, premise, &initial).expect("σ").exceeded;
    assert!(exceeded(Premise::AsPrinted));
    assert!(!exceeded(CORRECTED));
}

/// Claim 8's proof: with a token resting, there is a segment of more than C+1
/// processes without a token.
#[test]
fn as_printed_the_empty_segment_does_not_exist() {
    let case = Case::new(4, 2, 2, &[0]);
    let mut state = Configuration::piled(&case.ring, 1, 0);
    state.processes[0].counter = 1;
    state.processes[2].queued = 1;
    let mut rests_without_segment = false;
    let step = |state: &mut Configuration| case.ring.round(state);
    from_sigma(&case, CORRECTED, &state, step, |_, state, _| {
        rests_without_segment |= state.resting() > 0 && longest_segment(state) <= case.top() + 1;
        true
    })
    .expect("σ");
    assert!(rests_without_segment);
}

/// The most processes in a row without a token.
fn longest_segment(state: &Configuration) -> u64 {
    let n = state.processes.len();
    let (mut longest, mut run) = (0, 0);
    for at in 0..2 * n {
        let empty = state.processes[at % n].tokens() == 0;
        run = if empty { run + 1 } else { 0 };
        longest = run.max(longest);
    }
    longest
}

/// Counter-test: with m·d > n tokens rest forever and F stays positive.
#[test]
fn counter_test_too_many_tokens() {
    let case = Case::new(5, 3, 2, &[0]);
    let initial = Configuration::piled(&case.ring, 3, 0);
    let course = course(&case, CORRECTED, &initial).expect("σ");
    assert_eq!(course.zero_after, None);
}
