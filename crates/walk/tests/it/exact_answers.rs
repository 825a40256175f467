//! Exact answers against all closed walks there are, on every connected network
//! of up to six nodes.

use crate::support::{self, all_distances, connected_networks, simulate_all};
use headway_walk::walk::exact::{self, ExactSearch};
use headway_walk::{NEVER, Network, Node, Walk, walk::bound};

/// All closed walks from node 0 of a length, whatever they visit.
fn closed_walks(network: &Network, length: usize, found: &mut impl FnMut(&[Node])) {
    fn extend(
        network: &Network,
        walk: &mut Vec<Node>,
        length: usize,
        found: &mut impl FnMut(&[Node]),
    ) {
        let last = walk[walk.len() - 1];
        if walk.len() == length {
            if network.linked(last, 0) {
                found(walk);
            }
            return;
        }
        for &next in network.neighbours(last) {
            walk.push(next);
            extend(network, walk, length, found);
            walk.pop();
        }
    }
    extend(network, &mut vec![0], length, found);
}

/// Walks from node 0 of exactly that many steps, closed or not.
fn walks_of(network: &Network, steps: usize) -> usize {
    let mut ends = vec![0usize; network.len()];
    ends[0] = 1;
    for _ in 0..steps {
        let mut next = vec![0; ends.len()];
        for node in network.nodes() {
            for &to in network.neighbours(node) {
                next[to as usize] += ends[node as usize];
            }
        }
        ends = next;
    }
    ends.iter().sum()
}

/// (distance, length, unfairness) of the best, by trying every walk.
fn best_of_all(network: &Network, tokens: usize, longest: usize) -> Option<(u32, usize, u64)> {
    let hops = all_distances(network);
    let mut best: Option<(u32, usize, u64)> = None;
    for length in network.len()..=longest {
        closed_walks(network, length, &mut |positions| {
            let Ok(walk) = Walk::new(network, positions.to_vec()) else {
                return;
            };
            // Two tokens on one position are 0 apart.
            let kept = if length < tokens {
                0
            } else {
                simulate_all(&hops, positions, tokens, length / tokens).unwrap()
            };
            let unfairness = walk.unfairness(network);
            let better = best.is_none_or(|(distance, length, least)| {
                (u32::MAX - kept, walk.len(), unfairness) < (u32::MAX - distance, length, least)
            });
            if better {
                best = Some((kept, walk.len(), unfairness));
            }
        });
    }
    best
}

fn confirm(nodes: usize, tokens: usize) -> usize {
    let networks = connected_networks(nodes);
    for network in &networks {
        // As long as trying every walk stays cheap, but long enough for a tree.
        let longest = (nodes..=2 * nodes)
            .take_while(|&length| length <= 2 * (nodes - 1) && walks_of(network, length) < 40_000)
            .last()
            .unwrap_or(nodes);
        let links: Vec<_> = network.links().collect();
        let ExactSearch::Best(found) =
            exact::best(network, tokens, None, longest, 50_000_000, &NEVER)
        else {
            assert_eq!(best_of_all(network, tokens, longest), None, "{links:?}");
            continue;
        };
        let answer = (
            found.distance,
            found.walk.len(),
            found.walk.unfairness(network),
        );
        assert_eq!(
            Some(answer),
            best_of_all(network, tokens, longest),
            "{tokens} tokens up to length {longest} on {links:?}"
        );
        let bound = bound::upper(network, tokens, &NEVER).unwrap();
        assert!(found.distance <= bound.distance, "{links:?}");
    }
    networks.len()
}

#[test]
fn up_to_five_nodes() {
    for tokens in [2, 3, 4] {
        // The known numbers of connected graphs: all of them were tried.
        let counts: Vec<usize> = (2..=5).map(|nodes| confirm(nodes, tokens)).collect();
        assert_eq!(counts, [1, 2, 6, 21]);
    }
}

#[test]
fn six_nodes_two_tokens() {
    assert_eq!(confirm(6, 2), 112);
}

#[test]
fn six_nodes_three_tokens() {
    assert_eq!(confirm(6, 3), 112);
}

#[test]
fn a_length_that_is_too_short_is_said_to_be() {
    let star = support::network(5, &[(0, 1), (0, 2), (0, 3), (0, 4)]).unwrap();
    assert_eq!(
        exact::best(&star, 2, None, 7, 1_000_000, &NEVER),
        ExactSearch::TooShort { longest: 7 }
    );
    assert_eq!(
        exact::best(&star, 2, None, 8, 10, &NEVER),
        ExactSearch::GaveUp
    );
}

/// When less is enough, nothing is claimed about more.
#[test]
fn enough_is_enough() {
    let ring =
        support::network(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3)]).unwrap();
    let best = |enough| match exact::best(&ring, 2, enough, 12, 10_000_000, &NEVER) {
        ExactSearch::Best(best) => best,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (best(None).distance, best(None).proved_up_to),
        (2, Some(12))
    );
    assert_eq!(
        (best(Some(1)).distance, best(Some(1)).proved_up_to),
        (1, None)
    );
    assert_eq!(best(Some(9)), best(None));
}
