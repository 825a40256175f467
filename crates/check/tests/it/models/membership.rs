//! Changes of members together with permits: all schedules of small rings, and every rule
//! left out once.

use headway_check::reach::Reachable;
use headway_check::{Control, reach};
use headway_testkit::tier::pick;

mod model;

use model::{Membership, Settings, Variant};

fn found(members: usize, changes: usize, variant: Variant) -> (u64, Option<usize>) {
    let settings = Settings {
        members,
        changes,
        variant,
    };
    let model = Membership(settings);
    let answer = reach::explore(&model, &Control::default()).unwrap();
    let run = answer
        .violation
        .map(|(_, place)| answer.run_to(place).len());
    (answer.states(), run)
}

#[test]
fn no_two_permits_whoever_is_paused_cut_off_or_left_out() {
    let rings = [(3, 2), (4, 1), (5, 1)];
    for &(members, changes) in &rings[..pick(2, 3, 3)] {
        let (states, violation) = found(members, changes, Variant::Sound);
        println!("{members} members, {changes} changes: {states} states");
        assert_eq!(violation, None, "{members} members, {changes} changes");
        assert!(states > 1000, "{states}");
    }
}

#[test]
fn every_rule_is_needed() {
    for (members, changes, variant) in [
        (3, 1, Variant::NobodyIsAsked),
        (3, 1, Variant::OldAnswers),
        (3, 1, Variant::NobodyWaits),
        (3, 2, Variant::NoDrain),
        (4, 1, Variant::OneIsAsked),
        (3, 1, Variant::Forgets),
    ] {
        let (_, violation) = found(members, changes, variant);
        println!("{variant:?}: two permits after {violation:?} steps");
        assert!(violation.is_some(), "{variant:?}");
    }
}

/// Two that need larger rings. A run to two permits is kept as the number of the step that is
/// taken in each state, because exploring finds it only after a million states.
#[test]
fn runs_to_two_permits_are_as_they_were() {
    for (variant, run) in LONG {
        let model = Membership(variant);
        let mut state = model.starts().next().flatten().unwrap();
        for &step in run {
            assert_eq!(model.violates(&state), None, "{variant:?}");
            let mut steps = Vec::new();
            model.successors(&state, &mut steps);
            state = steps.swap_remove(step);
        }
        assert!(model.violates(&state).is_some(), "{variant:?}");
    }
}

#[test]
#[ignore = "make test-all"]
fn exploring_finds_these_runs() {
    for (variant, run) in LONG {
        let model = Membership(variant);
        let answer = reach::explore(&model, &Control::default()).unwrap();
        let (_, place) = answer.violation.expect("two permits");
        let states = answer.run_to(place);
        let step = |pair: &[_]| {
            let mut steps = Vec::new();
            model.successors(&pair[0], &mut steps);
            steps.iter().position(|state| *state == pair[1]).unwrap()
        };
        let found: Vec<usize> = states.windows(2).map(step).collect();
        assert_eq!(found, run, "{variant:?}");
    }
}

const LONG: [(Settings, &[usize]); 2] = [
    (
        Settings {
            members: 5,
            changes: 1,
            variant: Variant::AnySegment,
        },
        &[7, 4, 4, 4, 4, 4, 4, 2, 1, 2, 3, 3, 3, 3, 3, 4, 3, 4],
    ),
    (
        Settings {
            members: 4,
            changes: 2,
            variant: Variant::TwoLogs,
        },
        &[0, 4, 3, 2, 3, 4, 5, 5, 5, 5, 5, 5, 6, 5, 6],
    ),
];
