//! Seeded runs on virtual time, 180,000 of them: what is promised while faults are
//! bounded (closure), and after any corruption (convergence), under both rules.

mod common;
mod promises;

use common::every_seed;
use headway_node::Rule::{LockStep, MovingBlock};

#[test]
fn closure() {
    every_seed("closure", 50_000, LockStep, promises::closure);
    every_seed("closure", 15_000, MovingBlock, promises::closure);
}

#[test]
fn convergence() {
    for (runs, rule) in [(50_000, LockStep), (15_000, MovingBlock)] {
        let share = every_seed("convergence", runs, rule, promises::convergence);
        assert!(share <= 1.0, "recovery took {share} of the stated bound");
    }
}

#[test]
fn restarts() {
    every_seed("restarts", 10_000, LockStep, promises::restarts);
    every_seed("restarts", 5_000, MovingBlock, promises::restarts);
}

#[test]
fn amnesia() {
    every_seed("amnesia", 10_000, LockStep, promises::amnesia);
    every_seed("amnesia", 5_000, MovingBlock, promises::amnesia);
}

#[test]
fn intrusion() {
    every_seed("intrusion", 5_000, LockStep, promises::intrusion);
    every_seed("intrusion", 2_500, MovingBlock, promises::intrusion);
}

#[test]
fn stranger() {
    every_seed("stranger", 5_000, LockStep, promises::stranger);
    every_seed("stranger", 2_500, MovingBlock, promises::stranger);
}
