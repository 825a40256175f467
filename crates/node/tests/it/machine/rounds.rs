//! What a round does: which tokens are seen, which one goes on, and what is not
//! legitimate about them.

use headway_node::wire::{Header, Released};
use headway_node::{Config, Grant, Key, Local, Machine, Plan, RingId, Role};

use super::fields::{ANY_ARRIVED, CLEAN, COUNTER, arrived_of, rounds_of};
use super::harness::Nodes;
use super::scripted::{ELSEWHERE, HERE, Scripted, at};

/// Of the tokens that are here the first in turn goes on, and then it is the next one's
/// turn: whatever is here, and whosever turn it is.
#[test]
fn tokens_go_on_in_turn() {
    let tokens = 3;
    let plan = Plan::logical(6, tokens, 2, 1).unwrap();
    let config = Config::new(RingId([7; 16]), 1, plan);
    let mut machine = Machine::new(config, Key::none(), 1).unwrap();
    let local = |values: Vec<u32>, turn| Local {
        phase: 3,
        values,
        released: None,
        counter: 0,
        turn,
        heard: Vec::new(),
        block: [0; 4],
    };
    for turn in 0..tokens {
        for here in 0..1_u32 << tokens {
            let values = (0..tokens).map(|token| here >> token & 1).collect();
            let neighbour = local(vec![0; tokens as usize], 0);
            let after = machine.react(&local(values, turn), &neighbour, &neighbour);
            let first = (0..tokens)
                .map(|offset| (turn + offset) % tokens)
                .find(|token| here >> token & 1 == 1);
            let gone = first.map(|token| Released {
                token: token as u16,
                previous: 1,
            });
            assert_eq!((after.phase, after.released), (4, gone), "{turn} {here:b}");
            let next = first.map_or(turn, |token| (token + 1) % tokens);
            assert_eq!(after.turn, next, "{turn} {here:b}");
        }
    }
}

/// Between two rounds a predecessor that is a tick behind is in the same state, and so a
/// token that it has passed on is here; when it has a round to go, nothing is known.
#[test]
fn a_predecessor_behind_counts_within_a_round() {
    let pace = 3;
    let plan = Plan::logical(6, 1, 2, pace).unwrap();
    for phase in 1..=9 {
        let mut node = Scripted::in_phase(plan, phase, &[]);
        node.hears(at(2, phase), &[ELSEWHERE]).unwrap();
        node.hears(at(0, phase - 1), &[HERE]).unwrap();
        assert_eq!(node.machine.phase(), phase, "it waits");
        let within = phase % pace as i32 != 0;
        assert_eq!(node.machine.held().count(), usize::from(within), "{phase}");
    }
    // Out of step nothing is known either, nor while the clock recovers.
    for (phase, others) in [(1, 4), (4, 1), (5, 2), (-2, -2), (-1, -2)] {
        let config = Config {
            grant: Grant::Always,
            ..Config::new(RingId([7; 16]), 1, plan)
        };
        let mut node = Scripted::configured(config, phase, &[]);
        node.hears(at(2, others), &[ELSEWHERE]).unwrap();
        node.hears(at(0, others), &[HERE]).unwrap();
        assert_eq!(node.machine.held().count(), 0, "{phase} {others}");
    }
}

/// The node of these tests is settled until it sees that something is wrong.
const SETTLED: i64 = 1000;

/// A token is late when it has not come back after a turn.
#[test]
fn a_late_token_unsettles() {
    let plan = Plan::logical(6, 2, 3, 1).unwrap();
    for (arrived, settled) in [(3, true), (4, true), (5, true), (6, false), (7, false)] {
        let fields = [(CLEAN, SETTLED), (arrived_of(1), arrived)];
        let mut node = Scripted::in_phase(plan, 1, &fields);
        assert!(node.machine.settled());
        let tokens = [ELSEWHERE; 2];
        node.hears(at(2, 1), &tokens).unwrap();
        node.hears(at(0, 1), &tokens).unwrap();
        assert_eq!(node.machine.phase(), 2, "it has ticked");
        assert_eq!(node.machine.settled(), settled, "{arrived} rounds ago");
    }
}

/// A token that a delay has to keep rests, which it does not in a legitimate ring.
#[test]
fn a_token_that_rests_unsettles() {
    let plan = Plan::logical(6, 2, 3, 1).unwrap();
    for (counter, settled) in [(0, true), (1, false)] {
        let fields = [(CLEAN, SETTLED), (COUNTER, counter), (rounds_of(0), 1)];
        let mut node = Scripted::in_phase(plan, 1, &fields);
        node.hears(at(2, 1), &[ELSEWHERE; 2]).unwrap();
        node.hears(at(0, 1), &[HERE, ELSEWHERE]).unwrap();
        assert_eq!(node.machine.phase(), 2, "it has ticked");
        assert_eq!(node.machine.held().count(), counter as usize);
        assert_eq!(node.machine.settled(), settled);
    }
}

/// A token comes back after a turn exactly, and not closer than the separation to the
/// one before it, whichever that was.
#[test]
fn an_arrival_out_of_order_unsettles() {
    let plan = Plan::logical(6, 2, 3, 1).unwrap();
    for (own, any, settled) in [
        (6, 3, true),
        (6, 6, true),
        (6, 2, false),
        (5, 3, false),
        (7, 3, false),
        (5, 2, false),
    ] {
        let fields = [(CLEAN, SETTLED), (arrived_of(0), own), (ANY_ARRIVED, any)];
        let mut node = Scripted::in_phase(plan, 1, &fields);
        // The successor is behind, so that nothing else happens.
        node.hears(at(2, 0), &[ELSEWHERE; 2]).unwrap();
        node.hears(at(0, 1), &[HERE, ELSEWHERE]).unwrap();
        assert_eq!(node.machine.held().count(), 1);
        assert_eq!(node.machine.settled(), settled, "{own} {any}");
    }
}

/// A token that is gone without having been passed on was taken by a fault.
#[test]
fn a_token_that_is_lost_unsettles() {
    let plan = Plan::logical(6, 2, 3, 1).unwrap();
    let fields = [(CLEAN, SETTLED), (rounds_of(0), 1)];
    let mut node = Scripted::in_phase(plan, 1, &fields);
    assert_eq!(node.machine.held().count(), 1);
    let tokens = [ELSEWHERE; 2];
    node.hears(at(2, 0), &tokens).unwrap();
    node.hears(at(0, 1), &tokens).unwrap();
    assert_eq!(node.machine.held().count(), 0);
    assert!(!node.machine.settled());
}

/// Whoever joins goes on at once with what is known.
#[test]
fn a_node_ticks_in_the_call_in_which_it_joins() {
    let plan = Plan::logical(6, 1, 2, 1).unwrap();
    let config = Config::new(RingId([7; 16]), 1, plan);
    let mut node = Scripted::new(Machine::new(config, Key::none(), 1).unwrap());
    node.hears(at(0, 3), &[(2, 0, b"")]).unwrap();
    assert!(!node.machine.joined());
    node.hears(at(2, 3), &[(2, 0, b"")]).unwrap();
    assert_eq!((node.machine.joined(), node.machine.phase()), (true, 4));
}

/// Tokens are seen in the state of the own tick: what a predecessor that is a tick ahead
/// has released since does not count yet.
#[test]
fn what_a_predecessor_has_just_released_is_not_here_yet() {
    let plan = Plan::logical(6, 2, 3, 1).unwrap();
    let mut node = Scripted::in_phase(plan, 1, &[]);
    let tokens = [HERE; 2];
    node.hears(at(2, 0), &[ELSEWHERE; 2]).unwrap();
    let ahead = Header {
        released: Some(Released {
            token: 1,
            previous: 0,
        }),
        ..at(0, 2)
    };
    node.hears(ahead, &tokens).unwrap();
    let held: Vec<u32> = node.machine.held().map(|held| held.token).collect();
    assert_eq!(
        held,
        [0],
        "token 1 was released in tick 2, and this is tick 1"
    );
}

/// A node that measures finds what the others were told.
#[test]
fn a_measuring_node_finds_the_separation() {
    for (tokens, separation) in [(2, 3), (1, 6)] {
        let plan = Plan::logical(6, tokens, 3, 1).unwrap();
        let mut nodes = Nodes::new(plan, |config| {
            config.role = if config.index == 2 {
                Role::Measure
            } else {
                Role::Relay
            };
        });
        nodes.settle();
        assert_eq!(nodes.all[2].separation(), separation);
        assert_eq!(nodes.all[0].separation(), 3);
    }
}
