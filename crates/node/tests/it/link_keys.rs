//! A key for each link: neighbours understand each other, and whoever knows one key speaks on
//! one link only.

use std::time::Duration;

use headway_node::{Config, Key, Machine, Plan, Rejected, RingId};

fn key(number: u8) -> Key {
    Key::new(&[number; 32]).expect("long enough")
}

/// Three nodes; link i leads from node i to the next one.
fn ring() -> Vec<Machine> {
    let plan = Plan::new(3, 1, 1).expect("it fits");
    let node = |index: u32| {
        let config = Config::new(RingId([7; 16]), index, plan);
        let mut node = Machine::new(config, key(9), 10 + u64::from(index)).expect("right");
        node.set_link_key(config.predecessor(), &key(((index + 2) % 3) as u8));
        node.set_link_key(config.successor(), &key(index as u8));
        node
    };
    (0..3).map(node).collect()
}

/// Lets the nodes run, and counts what was not authenticated.
fn run(nodes: &mut [Machine]) -> u64 {
    let mut buffer = [0; 256];
    for millisecond in 0..200 {
        let now = Duration::from_millis(millisecond);
        for index in 0..3 {
            nodes[index].handle_timeout(now);
            while nodes[index].poll_event().is_some() {}
            while let Some(sent) = nodes[index].poll_transmit(&mut buffer) {
                let _ = nodes[sent.to as usize].handle_datagram(now, &buffer[..sent.bytes]);
            }
        }
    }
    let count = |node: &Machine| {
        let mut rejected = node.rejected();
        let found = rejected.find(|(reason, _)| *reason == Rejected::Unauthenticated);
        found.map_or(0, |(_, count)| count)
    };
    nodes.iter().map(count).sum()
}

#[test]
fn neighbours_with_keys_of_their_own_settle() {
    let mut nodes = ring();
    assert_eq!(run(&mut nodes), 0);
    assert!(nodes.iter().all(Machine::settled));
}

#[test]
fn a_key_is_good_for_one_link_only() {
    let mut nodes = ring();
    // Node 1 uses the key of its other link, which it knows, towards node 2.
    nodes[1].set_link_key(2, &key(0));
    assert!(run(&mut nodes) > 0);
    assert!(!nodes.iter().any(Machine::settled));
}
