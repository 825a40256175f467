//! delay/relay without lock-step.

use headway_check::model::asynchronous::{self, Settings};
use headway_check::model::delay_relay::Instance;
use headway_check::{Control, Report, Scheduler};
use headway_testkit::tier::pick;

use crate::models::figure;

fn settings(n: usize, g: u32, delays: &[usize], pace: u32) -> Settings {
    let ring = Instance::with_delays(n, 2, g, delays.iter().copied()).unwrap();
    Settings::new(ring, pace)
}

fn checked(settings: &Settings) -> Report {
    asynchronous::check(settings, &Control::default()).unwrap()
}

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
            let report = checked(&settings(n, g, &[0], pace));
            assert!(report.all_hold(), "{}", report.instance);
            let bound = g - (g + pace) / (pace + 1);
            assert_eq!(
                figure(&report, "least_true_distance"),
                u64::from(bound),
                "g {g} p {pace}"
            );
        }
    }
}

#[test]
fn logical_rounds_are_lock_step_rounds_from_every_state_and_schedule() {
    let states = |scheduler| {
        let report = checked(&Settings {
            every_start: true,
            scheduler,
            ..settings(4, 2, &[0, 1, 2, 3], 1)
        });
        assert!(report.all_hold(), "{report:?}");
        report.states
    };
    // Steps of several processes reach nothing that single steps do not.
    assert_eq!(states(Scheduler::Central), states(Scheduler::Distributed));
}

#[test]
fn asynchrony_without_previous_state_or_with_a_small_modulus_is_caught() {
    let all = [0, 1, 2, 3];
    let good = || settings(4, 2, &all, 1);
    let with = |modulus| checked(&Settings { modulus, ..good() });
    assert!(with(5).all_hold());
    let forgetful = checked(&Settings {
        previous: false,
        ..good()
    });
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
