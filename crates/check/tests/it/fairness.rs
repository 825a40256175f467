//! Runs of actions that are fair and never get there, told state by state.

use crate::common::Steps;
use headway_check::Control;
use headway_check::actions::{self, ActionsAnswer};

/// Actions 0 and 1 are fair, 2 is not; the last state is legitimate.
fn explored(next: &[&[(usize, u64)]]) -> ActionsAnswer {
    let mut legitimate = vec![false; next.len()];
    legitimate[next.len() - 1] = true;
    let next = next.iter().map(|steps| steps.to_vec()).collect();
    let model = Steps { next, legitimate };
    actions::explore(&model, &Control::default()).unwrap()
}

fn cycle(next: &[&[(usize, u64)]]) -> Vec<u64> {
    let lasso = explored(next).divergence.unwrap();
    assert!(lasso.stem.is_empty());
    lasso.cycle
}

/// Going round without the fair way out is possible only where there is none.
#[test]
fn states_that_have_a_fair_way_out_are_left_in_the_end() {
    // Round 0, 1, 2 there is a fair way out at 2; round 0 and 1 there is none.
    let next: [&[_]; 4] = [&[(2, 1)], &[(2, 0), (2, 2)], &[(2, 0), (0, 3)], &[(0, 3)]];
    assert_eq!(cycle(&next), [0, 1]);
    // A way out at 1 too: nothing is left.
    let next: [&[_]; 4] = [
        &[(2, 1)],
        &[(2, 0), (2, 2), (1, 3)],
        &[(2, 0), (0, 3)],
        &[(0, 3)],
    ];
    assert_eq!(explored(&next).divergence, None);
}

/// What is not fair need not happen, be it a way round or a way out.
#[test]
fn a_run_takes_the_fair_actions_and_no_others() {
    let next: [&[_]; 4] = [&[(0, 1), (2, 2), (2, 3)], &[(0, 0)], &[(2, 0)], &[(0, 3)]];
    assert_eq!(cycle(&next), [0, 1]);
    // With a second fair action on another way round, both ways are taken.
    let next: [&[_]; 4] = [&[(0, 1), (2, 2), (2, 3)], &[(0, 0)], &[(1, 0)], &[(0, 3)]];
    assert_eq!(cycle(&next), [0, 1, 0, 2]);
    // A state that leads to itself.
    let next: [&[_]; 2] = [&[(2, 0), (2, 1)], &[(0, 1)]];
    assert_eq!(cycle(&next), [0]);
}

#[test]
fn a_model_violates_nothing_unless_it_says_so() {
    let next: [&[_]; 2] = [&[(0, 1)], &[(0, 1), (2, 1)]];
    let answer = explored(&next);
    assert!(answer.violations.is_empty());
    assert_eq!((answer.states, answer.legitimate), (2, 1));
    assert_eq!((answer.closure_violation, answer.divergence), (None, None));
}
