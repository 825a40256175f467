//! Seeded runs on virtual time, 178,000 of them in `make soak`, a third in `make test-all`
//! and 2,000 in `make test`: what is promised while faults are bounded (closure), and after any corruption
//! (convergence), under both rules.

use headway_node::Machine;
use headway_node::Rule::{LockStep, MovingBlock};
use headway_node::state::{Stage, Token};
use headway_stage::world::Sabotage;

use crate::promises;
use crate::scenario::{Scenario, every_seed};

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

#[test]
fn wanted_late() {
    let most = every_seed("wanted_late", 3_000, MovingBlock, promises::wanted_late);
    assert!(most > 3.0, "{most} at most in a run");
}

/// Counter-test: a node that grants a token which has gone on is caught.
#[test]
fn wanted_too_late() {
    let promise = |seed| {
        let mut scenario = Scenario::draw(seed, MovingBlock);
        scenario.sabotage = Some(Box::new(|_| Box::new(GrantsWhatHasGone)));
        promises::wanted_late(scenario)
    };
    let caught = (0..50).filter(|&seed| promise(seed).is_err()).count();
    assert!(caught > 25, "{caught} of 50");
}

#[derive(Debug)]
struct GrantsWhatHasGone;

impl Sabotage for GrantsWhatHasGone {
    fn after(&mut self, node: &mut Machine) {
        let settled = node.settled();
        let gone =
            |token: &&mut Token| settled && token.rounds == 0 && token.fence.is_multiple_of(5);
        for token in node.state_mut().tokens.iter_mut().filter(gone) {
            token.stage = Stage::Working;
        }
    }
}
