//! Seeded runs on virtual time, 100,000 and more of them: what is promised while
//! faults are bounded (closure), and after any corruption (convergence).

mod common;
mod promises;

use common::every_seed;

#[test]
fn closure() {
    every_seed("closure", 50_000, promises::closure);
}

#[test]
fn convergence() {
    let share = every_seed("convergence", 50_000, promises::convergence);
    assert!(share <= 1.0, "recovery took {share} of the stated bound");
}

#[test]
fn restarts() {
    every_seed("restarts", 10_000, promises::restarts);
}

#[test]
fn amnesia() {
    every_seed("amnesia", 10_000, promises::amnesia);
}

#[test]
fn intrusion() {
    every_seed("intrusion", 5_000, promises::intrusion);
}

#[test]
fn stranger() {
    every_seed("stranger", 5_000, promises::stranger);
}
