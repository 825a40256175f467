//! Nodes of a ring of moving blocks that start again: from a saved state, from an older one, or,
//! two neighbours at once, from nothing.

use std::time::Duration;

use headway_node::{Key, Machine};

use super::ring::*;

/// Wherever the token is: a node that starts again from its latest state changes nothing.
#[test]
fn the_latest_state_is_gone_on_from() {
    let mut ring = Ring::new();
    ring.hops(20);
    for at in (0..NODES).cycle().take(40) {
        ring.hops(3);
        let saved = ring.saved(at);
        ring.restore(at, &saved);
        assert!(!ring.nodes[at].joined(), "it asks first");
        ring.hops(NODES as u64);
        assert!(ring.nodes.iter().all(Machine::joined));
    }
}

/// A node that goes on from an older state than it had told says nothing of it before it has
/// heard what its successor knows; after that it is too late to hear it.
#[test]
fn an_older_state_is_not_told_before_the_successor_has_spoken() {
    for at in 0..NODES {
        let mut ring = Ring::new();
        ring.hops(20);
        let (saved, old) = (ring.saved(at), ring.values(at));
        ring.hops(2 * NODES as u64);
        let latest = ring.values(at);
        assert_ne!(old, latest);
        ring.restore(at, &saved);
        let after = (at + 1) % NODES;
        // The neighbours hear it, and it does not hear them.
        let mut buffer = [0; 1500];
        ring.nodes[at].handle_timeout(ring.now);
        while let Some(datagram) = ring.nodes[at].poll_transmit(&mut buffer) {
            let to = &mut ring.nodes[datagram.to as usize];
            let _ = to.handle_datagram(ring.now, &buffer[..datagram.bytes]);
        }
        assert_eq!(ring.nodes[after].local().heard, latest, "of n{at}");
        for _ in 0..10 {
            ring.step(&(0..NODES).collect::<Vec<_>>());
            if ring.nodes[at].joined() {
                break;
            }
        }
        let heard: Vec<u32> = ring.nodes[at].state().heard_of.to_vec();
        assert_eq!(heard, latest, "n{at} can tell");
    }
}

/// Its successor starts again at the same time, and does not say at once what it knows.
#[test]
fn an_older_state_waits_for_a_successor_that_starts_again_too() {
    let all: Vec<usize> = (0..NODES).collect();
    for at in 0..NODES {
        let mut ring = Ring::new();
        ring.hops(20);
        let saved = ring.saved(at);
        ring.hops(2 * NODES as u64);
        let (latest, after) = (ring.values(at), (at + 1) % NODES);
        let kept = ring.saved(after);
        ring.restore(at, &saved);
        ring.restore(after, &kept);
        for _ in 0..1500 {
            ring.step(&all);
            if ring.nodes[at].joined() {
                break;
            }
        }
        assert!(ring.nodes[at].joined(), "n{at}");
        let heard: Vec<u32> = ring.nodes[at].state().heard_of.to_vec();
        assert_eq!(heard, latest, "n{at} can tell");
    }
}

/// All nodes start again, so that nobody is there who could be asked: each goes on from its own
/// state when it has waited as long as for a neighbour that is silent.
#[test]
fn all_nodes_start_again_and_go_on() {
    let all: Vec<usize> = (0..NODES).collect();
    for hops in 0..NODES as u64 {
        let mut ring = Ring::new();
        ring.hops(20 + hops);
        for at in 0..NODES {
            let saved = ring.saved(at);
            ring.restore(at, &saved);
        }
        let (silence, began) = (config(0).timing.heartbeat_timeout, ring.now);
        while !ring.nodes.iter().all(Machine::joined) {
            ring.step(&all);
            assert!(ring.held() <= 1);
            assert!(ring.now <= began + silence, "they wait for each other");
        }
        assert_eq!(ring.now, began + silence, "and so long");
        ring.hops(2 * NODES as u64);
        assert_eq!(ring.held(), 1);
    }
}

/// It says until when it waits, though nothing else is due then.
#[test]
fn who_waits_for_a_successor_that_starts_again_goes_on_by_itself() {
    let config = |index| {
        let mut config = config(index);
        config.timing.refresh = config.timing.heartbeat_timeout - Duration::from_micros(100);
        config
    };
    let mut ring = Ring::of(config);
    ring.hops(20);
    let silence = config(0).timing.heartbeat_timeout;
    for at in [1, 2] {
        let (saved, incarnation) = (ring.saved(at), 100 + at as u64);
        let node = Machine::restore(config(at), Key::none(), incarnation, ring.now, &saved);
        ring.nodes[at] = node.expect("its own");
    }
    let due = ring.now + silence;
    // That one hears nobody who could tell it what it has to know.
    for _ in 0..50 {
        ring.step(&[0, 1, 2, 4]);
    }
    assert!(!ring.nodes[1].joined());
    assert_eq!(ring.nodes[1].poll_timeout(), due);
    ring.nodes[1].handle_timeout(due);
    assert!(ring.nodes[1].joined());
}

/// Nobody is no answer, however long that lasts, and nothing is done meanwhile but asking.
#[test]
fn who_hears_nobody_waits() {
    let mut alone = Machine::new(config(2), Key::none(), 1).expect("it fits");
    alone.handle_timeout(Duration::from_millis(1));
    let late = 10 * config(2).timing.heartbeat_timeout;
    alone.handle_timeout(late);
    assert!(!alone.joined());
    while alone.poll_transmit(&mut [0; 1500]).is_some() {}
    assert!(alone.poll_timeout() > late);
}

/// One that has lost everything, while all others are there, is as it was: what it had handed over
/// its successor has heard, and what it had not, it still has.
#[test]
fn a_node_that_loses_everything_is_as_it_was() {
    let all: Vec<usize> = (0..NODES).collect();
    for (at, hops) in (0..NODES).flat_map(|at| (0..2 * NODES).map(move |hops| (at, hops))) {
        let mut ring = Ring::new();
        ring.hops(20 + hops as u64);
        // Until whatever was told has been heard.
        for _ in 0..5 {
            ring.step(&all);
        }
        let (held, values) = (ring.nodes[at].held().count() as u64, ring.values(at));
        ring.lose(at);
        while !ring.nodes[at].joined() {
            ring.step(&all);
        }
        let node = &ring.nodes[at];
        // It has not settled, so it passes on what it has at once.
        assert_eq!(node.hops(), held, "n{at} after {hops}");
        let next = |value: u32| (value + held as u32) % node.config().domain().values;
        let then: Vec<u32> = values.into_iter().map(next).collect();
        assert_eq!(ring.values(at), then, "n{at} after {hops}");
        for _ in 0..100 {
            assert_eq!(ring.tokens(), 1, "n{at} after {hops}");
            ring.step(&all);
        }
        ring.hops(3 * NODES as u64);
    }
}

/// Two neighbours have lost everything, and the second is back first. It hears only its successor,
/// and tells the other where that must have been; there is one token all the time.
#[test]
fn a_predecessor_that_knows_nothing_is_expected_where_it_was() {
    for (at, hops) in (0..NODES).flat_map(|at| (0..2 * NODES).map(move |hops| (at, hops))) {
        let mut ring = Ring::new();
        ring.hops(20 + hops as u64);
        let mut there: Vec<usize> = (0..NODES).collect();
        for _ in 0..5 {
            ring.step(&there);
        }
        let first = (at + NODES - 1) % NODES;
        there.retain(|other| *other != first);
        ring.lose(first);
        ring.lose(at);
        while !ring.nodes[at].joined() {
            ring.step(&there);
        }
        there.push(first);
        while !ring.nodes[first].joined() {
            ring.step(&there);
        }
        for _ in 0..100 {
            assert_eq!(ring.tokens(), 1, "n{at} after {hops}");
            ring.step(&there);
        }
    }
}

/// Two neighbours, or three, lose everything, and come back in any order: what they take fits the
/// others, and no token is there twice.
#[test]
fn neighbours_that_lose_everything_make_no_second_token() {
    for (first, hops) in (0..NODES).flat_map(|at| (0..2 * NODES).map(move |hops| (at, hops))) {
        for back in [[1, 0, 2], [0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            for lost in [2, 3] {
                let mut ring = Ring::new();
                ring.hops(20 + hops as u64);
                let mut there: Vec<usize> = (0..NODES).collect();
                for far in 0..lost {
                    let at = (first + far) % NODES;
                    ring.lose(at);
                    there.retain(|other| *other != at);
                }
                for far in back.into_iter().filter(|far| *far < lost) {
                    there.push((first + far) % NODES);
                    // Longer than it waits for a neighbour that does not answer.
                    for _ in 0..1500 {
                        ring.step(&there);
                        assert!(ring.held() <= 1, "{lost} from n{first} on, {back:?}");
                    }
                }
                assert!(ring.nodes.iter().all(Machine::joined));
                assert_eq!(ring.held(), 1, "{lost} from n{first} on, {back:?}");
            }
        }
    }
}
