//! The observer notices each thing that is promised not to happen, and counts it
//! only while it is promised.

use std::time::Duration;

use headway_node::Plan;
use headway_stage::observer::{Observer, Wrong};

fn watching() -> Observer {
    let mut observer = Observer::new(&Plan::new(12, 3, 2).expect("it fits"));
    observer.settled(at(0));
    observer
}

fn at(second: u64) -> Duration {
    Duration::from_secs(second)
}

fn wrongs(observer: &Observer) -> Vec<Wrong> {
    let violations = observer.violations().iter();
    violations.map(|violation| violation.wrong).collect()
}

#[test]
fn good_order_is_no_violation() {
    let mut observer = watching();
    observer.granted(at(1), 0, 0, 5);
    observer.granted(at(2), 10, 1, 9);
    assert!(observer.ended(0, 0));
    observer.granted(at(4), 1, 0, 6);
    assert_eq!(wrongs(&observer), []);
    // 10 and 0 are two apart over the ring's seam.
    assert_eq!(observer.least_distance(), Some(2));
    assert_eq!(observer.grants(), 3);
    assert_eq!(observer.visits()[..2], [1, 1]);
}

#[test]
fn two_holders_of_one_token_are_noticed() {
    let mut observer = watching();
    observer.granted(at(1), 0, 0, 5);
    observer.granted(at(2), 6, 0, 6);
    assert_eq!(wrongs(&observer), [Wrong::TwoHolders { other: 0 }]);
}

#[test]
fn permits_that_are_too_close_are_noticed_even_over_the_seam() {
    let mut observer = watching();
    observer.granted(at(1), 11, 0, 5);
    observer.granted(at(2), 0, 1, 6);
    let wrong = Wrong::TooClose {
        other: 11,
        token: 0,
        distance: 1,
    };
    assert_eq!(wrongs(&observer), [wrong]);
    assert_eq!(observer.least_distance(), Some(1));
}

#[test]
fn fencing_numbers_that_do_not_grow_are_noticed() {
    let mut observer = watching();
    observer.granted(at(1), 0, 0, 5);
    observer.ended(0, 0);
    // A node that was restarted goes on with its own; nobody else has the same.
    observer.granted(at(3), 0, 0, 5);
    observer.ended(0, 0);
    assert_eq!(wrongs(&observer), []);
    observer.granted(at(5), 1, 0, 5);
    assert_eq!(wrongs(&observer), [Wrong::FenceNotHigher { before: 5 }]);
}

/// A token that was too many had a high one and is gone; whoever has a permit now counts.
#[test]
fn fencing_numbers_from_before_it_settled_promise_nothing() {
    let mut observer = watching();
    observer.fault(at(1), "scrambled");
    observer.granted(at(2), 0, 0, 900);
    observer.ended(0, 0);
    observer.granted(at(3), 1, 0, 7);
    observer.settled(at(4));
    observer.ended(1, 0);
    observer.granted(at(5), 2, 0, 8);
    observer.ended(2, 0);
    assert_eq!(wrongs(&observer), []);
    observer.granted(at(6), 3, 0, 7);
    assert_eq!(wrongs(&observer), [Wrong::FenceNotHigher { before: 8 }]);
}

#[test]
fn a_dead_node_uses_nothing() {
    let mut observer = watching();
    observer.granted(at(1), 0, 0, 5);
    observer.gone(0);
    observer.granted(at(2), 1, 1, 5);
    assert_eq!(wrongs(&observer), []);
    assert!(!observer.ended(0, 0));
}

#[test]
fn between_a_fault_and_settling_nothing_is_promised() {
    let mut observer = watching();
    observer.fault(at(1), "scramble");
    observer.granted(at(2), 0, 0, 5);
    observer.granted(at(3), 1, 1, 5);
    assert_eq!(
        (observer.violation_count(), observer.unsettled_count()),
        (0, 1)
    );
    // What is still used when the ring has settled counts.
    observer.settled(at(4));
    assert_eq!(observer.violation_count(), 1);
    let recovery = &observer.recoveries()[0];
    assert_eq!((recovery.at, recovery.settled), (at(1), Some(at(4))));
}
