//! delay/relay without lock-step.

use headway_testkit::tier::pick;

use crate::common::report;

/// The true distance is at least g - ⌊(g+p)/(p+1)⌋ under every schedule, and that
/// is met.
#[test]
fn true_distance_holds_and_is_tight() {
    true_distances(3..=pick(3, 4, 4));
}

#[test]
fn true_distance_on_the_smallest_ring() {
    true_distances(2..=2);
}

fn true_distances(separations: std::ops::RangeInclusive<u32>) {
    for g in separations {
        let n = 2 * g as usize;
        for pace in 1..=g {
            let ring = format!("processes={n} tokens=2 separation={g} delays=at:0");
            let report = report(&format!("asynchronous {ring} pace={pace}"));
            assert!(report.all_hold(), "{}", report.instance);
            let bound = g - (g + pace) / (pace + 1);
            assert_eq!(
                report.figures.least_true_distance,
                Some(bound.into()),
                "g {g} p {pace}"
            );
        }
    }
}

const RING: &str = "asynchronous processes=4 tokens=2 separation=2";

#[test]
fn logical_rounds_are_lock_step_rounds_from_every_state_and_schedule() {
    let states = |scheduler| {
        let report = report(&format!("{RING} every_start scheduler={scheduler}"));
        assert!(report.all_hold(), "{report:?}");
        report.states
    };
    // Steps of several processes reach nothing that single steps do not.
    assert_eq!(states("central"), states("distributed"));
}

#[test]
fn asynchrony_without_previous_state_or_with_a_small_modulus_is_caught() {
    let with = |modulus: u32| report(&format!("{RING} values={modulus}"));
    assert!(with(5).all_hold());
    let forgetful = report(&format!("{RING} without_previous"));
    let broken = forgetful.property("logical-rounds").unwrap();
    assert_eq!(
        broken.counterexample.as_ref().unwrap().states.len(),
        3,
        "two ticks suffice"
    );
    for modulus in [2, 3, 4] {
        assert!(!with(modulus).all_hold(), "modulus {modulus}");
    }
    assert!(!with(4).property("no-deadlock").unwrap().holds);
}
