//! Short closed walks: the tour of a spanning tree, and a tour improved by 2-opt
//! and Or-opt moves on shortest paths.

use std::sync::atomic::AtomicBool;

use crate::network::distance::{self, Reach};
use crate::network::{Network, Node};
use crate::random::Choices;
use crate::stop::{self, NEVER};
use crate::walk::Walk;

/// The depth-first tour of a breadth-first spanning tree: every link of the tree
/// there and back, so W = 2(V-1). With one-way links, the nodes in depth-first
/// order, joined by shortest paths.
pub fn tree(network: &Network) -> Walk {
    let mut children = vec![Vec::new(); network.len()];
    let mut reach = Reach::new(network.len());
    reach.spread(
        network,
        &[0],
        u32::MAX,
        |_, _| true,
        |node, distance, parent: Node| {
            if distance > 0 {
                children[parent as usize].push(node);
            }
            false
        },
    );
    let mut tour = Vec::new();
    let mut order = Vec::new();
    let mut path = vec![(0, 0)];
    while let Some((node, next)) = path.pop() {
        tour.push(node);
        if next == 0 {
            order.push(node);
        }
        if let Some(&child) = children[node as usize].get(next) {
            path.push((node, next + 1));
            path.push((child, 0));
        }
    }
    // The root stands at both ends.
    tour.pop();
    let positions = if network.is_symmetric() {
        tour
    } else {
        joined(network, &order, &NEVER)
    };
    Walk::new(network, positions).expect("a spanning tree spans")
}

/// The nodes in cyclic order, joined by shortest paths, without detours that visit
/// nothing new.
pub(crate) fn joined(network: &Network, order: &[Node], stop: &AtomicBool) -> Vec<Node> {
    let mut positions = Vec::with_capacity(order.len());
    for (index, &node) in order.iter().enumerate() {
        let next = order[(index + 1) % order.len()];
        positions.push(node);
        if !network.linked(node, next) {
            let path = distance::path(network, node, next);
            positions.extend_from_slice(&path[..path.len() - 1]);
        }
    }
    trim(network, positions, stop)
}

/// Replaces stretches of up to a dozen steps whose nodes are all visited elsewhere
/// by shorter ones, as long as it has not to stop.
pub(crate) fn trim(network: &Network, mut positions: Vec<Node>, stop: &AtomicBool) -> Vec<Node> {
    const STRETCH: usize = 12;
    let mut visits = vec![0u32; network.len()];
    for &node in &positions {
        visits[node as usize] += 1;
    }
    let mut reach = Reach::new(network.len());
    let mut start = 0;
    'walk: while start < positions.len() && !stop::is_set(stop) {
        // Stretches that run over the end are met after the walk has been turned.
        let most = STRETCH.min(positions.len() - 1 - start);
        let mut inside = 0;
        for steps in 2..=most {
            let leaving = positions[start + steps - 1];
            visits[leaving as usize] -= 1;
            inside += 1;
            if visits[leaving as usize] == 0 {
                break;
            }
            let (from, to) = (positions[start], positions[start + steps]);
            let limit = steps as u32 - 1;
            // A stretch of no steps would let a position repeat.
            let shorter = match reach.hops(network, from, to, limit) {
                Some(0) if steps + 1 < positions.len() => Some(0),
                Some(hops) if hops > 0 => Some(hops),
                _ => None,
            };
            if let Some(hops) = shorter {
                let path = distance::path(network, from, to);
                debug_assert_eq!(path.len(), hops as usize);
                if hops == 0 {
                    // The second of two equal nodes goes, too.
                    visits[to as usize] -= 1;
                } else {
                    for &node in &path[..path.len() - 1] {
                        visits[node as usize] += 1;
                    }
                }
                positions.splice(start + 1..=start + steps, path);
                start = start.saturating_sub(STRETCH);
                continue 'walk;
            }
        }
        for steps in 2..2 + inside {
            visits[positions[start + steps - 1] as usize] += 1;
        }
        start += 1;
    }
    positions
}

/// A short tour: nearest unvisited node first, then `moves` attempts at 2-opt
/// (two-way networks) or Or-opt moves that do not lengthen the tour, as long as `stop` is not
/// true.
pub fn short(network: &Network, seed: u64, moves: usize, stop: &AtomicBool) -> Walk {
    let mut choices = Choices::new(seed, 1);
    let start = choices.below(network.len()) as Node;
    let order = nearest_first(network, start);
    let order = if network.is_symmetric() {
        two_opt(network, order, &mut choices, moves, stop)
    } else {
        or_opt(network, order, &mut choices, moves.min(20_000), stop)
    };
    Walk::new(network, joined(network, &order, stop)).expect("joined by paths through all nodes")
}

/// From `start` always to a nearest unvisited node; of several to the one with
/// the fewest unvisited neighbours, which would be left behind otherwise.
fn nearest_first(network: &Network, start: Node) -> Vec<Node> {
    let mut open: Vec<u32> = network
        .nodes()
        .map(|node| network.neighbours(node).len() as u32)
        .collect();
    let mut visited = vec![false; network.len()];
    let mut order = Vec::with_capacity(network.len());
    let mut reach = Reach::new(network.len());
    let mut node = start;
    loop {
        visited[node as usize] = true;
        order.push(node);
        for &next in network.neighbours(node) {
            open[next as usize] = open[next as usize].saturating_sub(1);
        }
        let mut best: Option<(u32, u32, Node)> = None;
        reach.search(network, node, u32::MAX, |other, distance| {
            if best.is_some_and(|(nearest, ..)| nearest < distance) {
                return true;
            }
            if !visited[other as usize] {
                let key = (distance, open[other as usize], other);
                best = Some(best.map_or(key, |best| best.min(key)));
            }
            false
        });
        match best {
            Some((_, _, next)) => node = next,
            None => return order,
        }
    }
}

/// Pósa-like 2-opt: a gap (two successive nodes without a link) is closed or moved
/// by turning a stretch of the tour round, whenever the tour gets no longer.
fn two_opt(
    network: &Network,
    mut order: Vec<Node>,
    choices: &mut Choices,
    moves: usize,
    stop: &AtomicBool,
) -> Vec<Node> {
    let nodes = order.len();
    let mut place = vec![0; nodes];
    for (index, &node) in order.iter().enumerate() {
        place[node as usize] = index;
    }
    let mut reach = Reach::new(nodes);
    let mut gaps: Vec<Node> = Vec::new();
    let mut near = Vec::new();
    for attempt in 0..moves {
        if stop::is_set(stop) {
            break;
        }
        // Gaps are found again from time to time: those that moves leave behind.
        if gaps.is_empty() || attempt % nodes == 0 {
            gaps = (0..nodes)
                .filter(|&index| !network.linked(order[index], order[(index + 1) % nodes]))
                .map(|index| order[index])
                .collect();
            if gaps.is_empty() {
                break;
            }
        }
        let pick = choices.below(gaps.len());
        let forward = choices.below(2) == 0;
        let mut from = gaps[pick];
        let mut index = place[from as usize];
        let mut next = order[(index + 1) % nodes];
        if network.linked(from, next) {
            gaps.swap_remove(pick);
            continue;
        }
        if !forward {
            (from, next) = (next, from);
            index = place[from as usize];
        }
        let gap = reach
            .hops(network, from, next, u32::MAX)
            .expect("a connected network");
        near.clear();
        reach.search(network, from, gap - 1, |other, distance| {
            if distance > 0 {
                near.push((other, distance));
            }
            near.len() > 24
        });
        let (other, distance) = near[choices.below(near.len())];
        let other_index = place[other as usize];
        let beyond_index = if forward {
            (other_index + 1) % nodes
        } else {
            (other_index + nodes - 1) % nodes
        };
        let beyond = order[beyond_index];
        if beyond == from {
            continue;
        }
        let removed = reach
            .hops(network, other, beyond, u32::MAX)
            .expect("a connected network");
        let allowed = gap + removed - distance;
        if reach.hops(network, next, beyond, allowed).is_none() {
            continue;
        }
        // from..next and other..beyond become from..other and next..beyond.
        if forward {
            reverse(&mut order, &mut place, (index + 1) % nodes, other_index);
            gaps.push(next);
        } else {
            reverse(
                &mut order,
                &mut place,
                other_index,
                (index + nodes - 1) % nodes,
            );
            gaps.push(beyond);
        }
        gaps.push(from);
        gaps.push(other);
    }
    order
}

/// Turns the stretch from one place to another round, cyclically; the rest of the
/// tour instead, when that is shorter (the same tour, the other way).
fn reverse(order: &mut [Node], place: &mut [usize], first: usize, last: usize) {
    let nodes = order.len();
    let inside = (last + nodes - first) % nodes + 1;
    let (mut left, mut right, steps) = if 2 * inside <= nodes {
        (first, last, inside / 2)
    } else {
        let outside = nodes - inside;
        ((last + 1) % nodes, (first + nodes - 1) % nodes, outside / 2)
    };
    for _ in 0..steps {
        order.swap(left, right);
        place[order[left] as usize] = left;
        place[order[right] as usize] = right;
        left = (left + 1) % nodes;
        right = (right + nodes - 1) % nodes;
    }
}

/// Moves stretches of one to three nodes elsewhere, which respects one-way links.
fn or_opt(
    network: &Network,
    mut order: Vec<Node>,
    choices: &mut Choices,
    moves: usize,
    stop: &AtomicBool,
) -> Vec<Node> {
    let mut reach = Reach::new(network.len());
    let nodes = order.len();
    let mut hops = |from: Node, to: Node| {
        reach
            .hops(network, from, to, u32::MAX)
            .expect("a strongly connected network")
    };
    for _ in 0..moves {
        let stretch = 1 + choices.below(3);
        if nodes < stretch + 2 || stop::is_set(stop) {
            break;
        }
        order.rotate_left(choices.below(nodes));
        // The stretch stands at the front; it moves behind `after`.
        let after = stretch + choices.below(nodes - stretch - 1);
        let (first, last) = (order[0], order[stretch - 1]);
        let (before, next) = (order[nodes - 1], order[stretch]);
        let (one, two) = (order[after], order[after + 1]);
        let removed = hops(before, first) + hops(last, next) + hops(one, two);
        let added = hops(before, next) + hops(one, first) + hops(last, two);
        if added <= removed {
            order[..=after].rotate_left(stretch);
        }
    }
    order
}
