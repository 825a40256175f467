//! Changes of members together with permits: all schedules of small rings, and every rule
//! left out once.

use headway_check::{Control, reach};

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
    (answer.states, answer.violation.map(|(_, run)| run.len()))
}

#[test]
fn no_two_permits_whoever_is_paused_cut_off_or_left_out() {
    for (members, changes) in [(3, 2), (4, 1), (5, 1)] {
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
        (5, 1, Variant::AnySegment),
        (4, 2, Variant::TwoLogs),
        (4, 1, Variant::Forgets),
    ] {
        let (_, violation) = found(members, changes, variant);
        println!("{variant:?}: two permits after {violation:?} steps");
        assert!(violation.is_some(), "{variant:?}");
    }
}
