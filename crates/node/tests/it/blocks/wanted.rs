//! A permit that is wanted after all, while its token still stands.

use headway_node::state::Stage;
use headway_node::{Config, Grant, Held, Key, Machine, Plan, RingId};

use super::ring::*;

pub(crate) fn all() -> Vec<usize> {
    (0..NODES).collect()
}

/// A ring in which somebody works, and right behind it another token stands that nobody has used:
/// where, and which.
fn standing(grant: Grant) -> (Ring, usize, Held) {
    let mut ring = Ring::of(|index| Config {
        grant,
        ..config_of(index, 2)
    });
    // Everybody passes on everything, until all are settled.
    for _ in 0..2000 {
        for at in all() {
            ring.pass_on(at, |_| true);
        }
        ring.step(&all());
    }
    assert!(ring.nodes.iter().all(Machine::settled));
    // Token 0 is used wherever it is now; the other comes up behind it.
    for _ in 0..2000 {
        for at in all() {
            ring.pass_on(at, |held| held.token != 0);
        }
        ring.step(&all());
    }
    let find = |at: usize| {
        let mut held = ring.nodes[at].held();
        held.find(|held| held.token == 1).map(|held| (at, held))
    };
    let (at, held) = all().into_iter().find_map(find).expect("it stands");
    assert!(!held.permit, "it was passed on, and could not go");
    (ring, at, held)
}

impl Ring {
    /// A node has done its work with these tokens.
    pub(crate) fn pass_on(&mut self, at: usize, which: impl Fn(&Held) -> bool) {
        let held: Vec<Held> = self.nodes[at].held().collect();
        for held in held.into_iter().filter(|held| held.permit && which(held)) {
            self.nodes[at].handle_work_done(self.now, held.token, held.fence, None);
        }
    }
}

/// It is granted under the same number, and the token stays until the work is done, though it could
/// go on.
#[test]
fn a_token_that_stands_is_granted_to_whoever_wants_it_then() {
    for grant in [Grant::WhenSettled, Grant::Always] {
        let (mut ring, at, held) = standing(grant);
        let now = ring.now;
        assert!(ring.nodes[at].handle_wanted(now, held.token, held.fence));
        let in_use = |ring: &Ring| {
            ring.nodes[at].held().any(|one| {
                Held {
                    permit: true,
                    ..held
                } == one
            })
        };
        assert!(in_use(&ring));
        for _ in 0..300 {
            for other in all() {
                ring.pass_on(other, |held| held.token == 0);
            }
            ring.step(&all());
            assert!(in_use(&ring));
        }
        assert!(ring.nodes[at].handle_work_done(ring.now, held.token, held.fence, None));
        for _ in 0..10 {
            ring.step(&all());
        }
        assert!(
            !ring.nodes[at].held().any(|held| held.token == 1),
            "it has gone"
        );
    }
}

#[test]
fn nothing_else_is_granted() {
    let (mut ring, at, held) = standing(Grant::WhenSettled);
    let now = ring.now;
    let mut wants =
        |at: usize, token: u32, fence: u64| ring.nodes[at].handle_wanted(now, token, fence);
    assert!(!wants(at, held.token, held.fence + 1), "another number");
    assert!(!wants(at, 0, held.fence), "another token");
    assert!(!wants(at, 7, held.fence), "no token");
    for other in (0..NODES).filter(|other| *other != at) {
        assert!(!wants(other, held.token, held.fence), "it is not there");
    }
    assert!(wants(at, held.token, held.fence));
    assert!(!wants(at, held.token, held.fence), "it is granted already");

    // The gate is open for it, or for another: it is about to go.
    for watch in [2, 3] {
        let (mut ring, at, held) = standing(Grant::WhenSettled);
        ring.nodes[at].state_mut().block.watch = watch;
        assert!(!ring.nodes[at].handle_wanted(ring.now, held.token, held.fence));
    }

    // What is not settled grants nothing, unless it grants always.
    for grant in [Grant::WhenSettled, Grant::Always] {
        let (mut ring, at, held) = standing(grant);
        for token in &mut ring.nodes[at].state_mut().tokens {
            token.arrived = 0;
        }
        let wanted = ring.nodes[at].handle_wanted(ring.now, held.token, held.fence);
        assert_eq!(wanted, grant == Grant::Always);
    }

    // In lock-step a token that stands holds up everybody else.
    let plans = [Plan::logical(5, 2, 2, 1), Plan::moving_block(5, 2, 1)];
    let wanted = plans.map(|plan| {
        let config = Config {
            grant: Grant::Always,
            ..Config::new(RingId([7; 16]), 0, plan.expect("it fits"))
        };
        let mut node = Machine::new(config, Key::none(), 1).expect("it fits");
        let token = &mut node.state_mut().tokens[0];
        (token.rounds, token.stage, token.fence) = (1, Stage::Done, 5);
        node.handle_wanted(node.now(), 0, 5)
    });
    assert_eq!(wanted, [false, true]);
}
