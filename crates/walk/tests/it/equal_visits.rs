//! Whether all nodes can be visited equally often, against a search for such a walk
//! on every connected network of up to five nodes.

use crate::support::connected_networks;
use headway_walk::network::Builder;
use headway_walk::walk::fairness::{self, EqualVisits};
use headway_walk::{Network, Node};

/// Whether a closed walk visits every node exactly `times` times.
fn exists(network: &Network, times: u32) -> bool {
    fn extend(network: &Network, walk: &mut Vec<Node>, visits: &mut [u32], times: u32) -> bool {
        let last = walk[walk.len() - 1];
        if walk.len() == network.len() * times as usize {
            return network.linked(last, walk[0]);
        }
        for &next in network.neighbours(last) {
            if visits[next as usize] < times {
                visits[next as usize] += 1;
                walk.push(next);
                if extend(network, walk, visits, times) {
                    return true;
                }
                walk.pop();
                visits[next as usize] -= 1;
            }
        }
        false
    }
    let mut visits = vec![0; network.len()];
    visits[0] = 1;
    extend(network, &mut vec![0], &mut visits, times)
}

#[test]
fn on_all_small_networks() {
    let (mut possible, mut crowded, mut confined) = (0, 0, 0);
    for nodes in 2..=5 {
        for network in connected_networks(nodes) {
            let links: Vec<_> = network.links().collect();
            let found = (1..=3).any(|times| exists(&network, times));
            let verdict = fairness::equal_visits(&network);
            assert_eq!(
                verdict == EqualVisits::Possible,
                found,
                "{links:?}: {verdict:?}"
            );
            match verdict {
                EqualVisits::Possible => possible += 1,
                EqualVisits::Crowded { from, to } => {
                    // The reason given is one.
                    assert!(to.len() < from.len());
                    for &node in &from {
                        for next in network.neighbours(node) {
                            assert!(to.contains(next), "{links:?}");
                        }
                    }
                    crowded += 1;
                }
                EqualVisits::Confined { groups } => {
                    assert!(groups.len() > 1);
                    assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), network.len());
                    confined += 1;
                }
            }
        }
    }
    // All three answers occur among the 30 networks.
    assert_eq!(possible + crowded + confined, 30);
    assert!(possible > 0 && crowded > 0 && confined > 0);
}

#[test]
fn with_one_way_links() {
    // Two one-way triangles that share a node: it is visited twice as often.
    let mut builder = Builder::default();
    for name in ["shared", "a", "b", "c", "d"] {
        builder.node(name);
    }
    for (from, to) in [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)] {
        builder.arc(from, to);
    }
    let network = builder.finish().unwrap();
    assert!(!(1..=3).any(|times| exists(&network, times)));
    let verdict = fairness::equal_visits(&network);
    assert!(
        matches!(verdict, EqualVisits::Crowded { .. }),
        "{verdict:?}"
    );
    assert!(verdict.in_words(&network).unwrap().contains("shared"));
}

/// A tree of many nodes has more leaves than what they hang from; a ring of as many has not.
/// The search for that grows a little faster than the network, no more.
#[test]
fn on_large_networks() {
    let nodes = 60_000_u32;
    let ring = (0..nodes).map(|node| (node, (node + 1) % nodes));
    // Every node hangs from one of the thousand before it.
    let mut state = 1_u32;
    let tree = (1..nodes).map(move |node| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (node, node - 1 - (state >> 8) % node.min(1000))
    });
    let network = |links: &mut dyn Iterator<Item = (Node, Node)>| {
        let mut builder = Builder::default();
        for node in 0..nodes {
            builder.node(&node.to_string());
        }
        links.for_each(|(from, to)| builder.join(from, to, false));
        builder.finish().unwrap()
    };
    let ring = network(&mut ring.into_iter());
    assert_eq!(fairness::equal_visits(&ring), EqualVisits::Possible);
    let tree = network(&mut tree.into_iter());
    let EqualVisits::Crowded { from, to } = fairness::equal_visits(&tree) else {
        panic!("a tree with many leaves");
    };
    assert!(to.len() < from.len());
    let reached = from.iter().flat_map(|&node| tree.neighbours(node));
    let reached: std::collections::BTreeSet<Node> = reached.copied().collect();
    assert_eq!(reached.into_iter().collect::<Vec<_>>(), to);
}
