//! Rings that cover a network.

use super::{MAX_NODES, Rings, Timing};
use crate::network::distance::Apart;
use crate::network::{Network, Node};
use crate::random::Choices;
use crate::stop::NEVER;

/// Looks for rings that cover the network, at most one per token, and their best
/// timing: the most distance, then the fewest rounds at rest, then the fewest
/// nodes on rings. `None` when no cover was found or the network is too large.
pub fn best(
    network: &Network,
    tokens: usize,
    slowest: u32,
    seed: u64,
    effort: u32,
) -> Option<(Rings, Timing)> {
    if network.len() > MAX_NODES || tokens == 0 {
        return None;
    }
    let apart = Apart::new(network, &NEVER);
    let mut best: Option<((u32, u32, usize), Rings, Timing)> = None;
    for stream in 0..200 * u64::from(effort.max(1)) {
        let mut choices = Choices::new(seed, 1 << 33 | stream);
        let Some(rings) = cover(network, &apart, tokens, &mut choices) else {
            continue;
        };
        // Different paces multiply the work; they are tried for a few rings only.
        let slowest = if rings.len() <= 3 && network.len() <= 100 {
            slowest
        } else {
            1
        };
        let rings = Rings { rings };
        let timing = rings.timed_by(&apart, tokens, slowest);
        let nodes = rings.rings.iter().map(Vec::len).sum();
        let rank = (u32::MAX - timing.distance, timing.paces.iter().sum(), nodes);
        if best.as_ref().is_none_or(|(known, ..)| rank < *known) {
            best = Some((rank, rings, timing));
        }
    }
    best.map(|(_, rings, timing)| (rings, timing))
}

/// Cycles through all nodes, at most `most`, of lengths near one that is drawn.
fn cover(
    network: &Network,
    apart: &Apart,
    most: usize,
    choices: &mut Choices,
) -> Option<Vec<Vec<Node>>> {
    let shortest = network.len().div_ceil(most).max(2);
    let length = shortest + choices.below(shortest + 3);
    let mut covered = vec![false; network.len()];
    let mut rings = Vec::new();
    let mut order: Vec<Node> = network.nodes().collect();
    choices.shuffle(&mut order);
    while let Some(&node) = order.iter().find(|&&node| !covered[node as usize]) {
        if rings.len() == most {
            return None;
        }
        let ring = cycle(network, apart, node, length, &covered, choices)?;
        for &node in &ring {
            covered[node as usize] = true;
        }
        rings.push(ring);
    }
    Some(rings)
}

/// A cycle through a node: of `length` nodes if the search finds one, else of the
/// longest shorter length, else there and back along a link.
fn cycle(
    network: &Network,
    apart: &Apart,
    node: Node,
    length: usize,
    covered: &[bool],
    choices: &mut Choices,
) -> Option<Vec<Node>> {
    (2..=length).rev().find_map(|length| {
        let mut path = vec![node];
        let mut left = 2_000;
        let found = extend(
            network, apart, &mut path, length, covered, choices, &mut left,
        );
        found.then_some(path)
    })
}

fn extend(
    network: &Network,
    apart: &Apart,
    path: &mut Vec<Node>,
    length: usize,
    covered: &[bool],
    choices: &mut Choices,
    left: &mut u32,
) -> bool {
    let (first, last) = (path[0], path[path.len() - 1]);
    if path.len() == length {
        return network.linked(last, first);
    }
    let mut next: Vec<(bool, usize, Node)> = network
        .neighbours(last)
        .iter()
        .filter(|node| !path.contains(node))
        .map(|&node| (covered[node as usize], choices.below(1 << 16), node))
        .collect();
    next.sort_unstable();
    for (_, _, node) in next {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        if apart.hops(node, first) as usize <= length - path.len() {
            path.push(node);
            if extend(network, apart, path, length, covered, choices, left) {
                return true;
            }
            path.pop();
        }
    }
    false
}
