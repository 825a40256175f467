//! Slow and simple ways to the numbers that the library finds quickly.

use headway_walk::network::Builder;
use headway_walk::{Network, Node};

/// Hops by Floyd and Warshall, one way or the other, whichever is less.
pub(crate) fn all_distances(network: &Network) -> Vec<Vec<u32>> {
    let nodes = network.len();
    let mut hops = vec![vec![u32::MAX / 2; nodes]; nodes];
    for from in network.nodes() {
        hops[from as usize][from as usize] = 0;
        for &to in network.neighbours(from) {
            hops[from as usize][to as usize] = 1;
        }
    }
    for middle in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                hops[from][to] = hops[from][to].min(hops[from][middle] + hops[middle][to]);
            }
        }
    }
    (0..nodes)
        .map(|one| {
            (0..nodes)
                .map(|other| hops[one][other].min(hops[other][one]))
                .collect()
        })
        .collect()
}

/// The least distance while tokens at these positions go once round together.
pub(crate) fn simulate(hops: &[Vec<u32>], walk: &[Node], tokens: &[usize]) -> Option<u32> {
    let mut nearest = None;
    let mut tokens = tokens.to_vec();
    for _ in 0..walk.len() {
        for (index, &one) in tokens.iter().enumerate() {
            for &other in &tokens[..index] {
                let apart = hops[walk[one] as usize][walk[other] as usize];
                nearest = Some(nearest.map_or(apart, |nearest: u32| nearest.min(apart)));
            }
        }
        for token in &mut tokens {
            *token = (*token + 1) % walk.len();
        }
    }
    nearest
}

/// Every arrangement of tokens, the first at position 0, whose successive gaps
/// (the last one round to the first included) are at least `separation`.
pub(crate) fn arrangements(length: usize, tokens: usize, separation: usize) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    extend(length, tokens, separation, &mut vec![0], &mut all);
    all
}

fn extend(
    length: usize,
    tokens: usize,
    separation: usize,
    placed: &mut Vec<usize>,
    all: &mut Vec<Vec<usize>>,
) {
    let last = placed[placed.len() - 1];
    if placed.len() == tokens {
        if length - last >= separation || tokens == 1 {
            all.push(placed.clone());
        }
        return;
    }
    for next in last + separation..length {
        placed.push(next);
        extend(length, tokens, separation, placed, all);
        placed.pop();
    }
}

/// The least over all arrangements.
pub(crate) fn simulate_all(
    hops: &[Vec<u32>],
    walk: &[Node],
    tokens: usize,
    separation: usize,
) -> Option<u32> {
    arrangements(walk.len(), tokens, separation)
        .iter()
        .filter_map(|arrangement| simulate(hops, walk, arrangement))
        .min()
}

/// A network of numbered nodes from links both ways; `None` when not connected.
pub(crate) fn network(nodes: usize, links: &[(usize, usize)]) -> Option<Network> {
    let mut builder = Builder::default();
    for node in 0..nodes {
        builder.node(&node.to_string());
    }
    for &(one, other) in links {
        builder.link(one as Node, other as Node);
    }
    builder.finish().ok()
}

/// All connected networks of that many nodes, one of each shape.
pub(crate) fn connected_networks(nodes: usize) -> Vec<Network> {
    let pairs: Vec<(usize, usize)> = (0..nodes)
        .flat_map(|other| (0..other).map(move |one| (one, other)))
        .collect();
    let bit = |one: usize, other: usize| {
        let pair = (one.min(other), one.max(other));
        1usize << pairs.iter().position(|&known| known == pair).unwrap()
    };
    let orders = orders(nodes);
    let mut seen = vec![false; 1 << pairs.len()];
    let mut networks = Vec::new();
    for graph in 0..1usize << pairs.len() {
        if seen[graph] {
            continue;
        }
        let links: Vec<(usize, usize)> = (0..pairs.len())
            .filter(|index| graph >> index & 1 == 1)
            .map(|index| pairs[index])
            .collect();
        for order in &orders {
            let same: usize = links
                .iter()
                .map(|&(one, other)| bit(order[one], order[other]))
                .sum();
            seen[same] = true;
        }
        networks.extend(network(nodes, &links));
    }
    networks
}

fn orders(items: usize) -> Vec<Vec<usize>> {
    if items == 0 {
        return vec![Vec::new()];
    }
    orders(items - 1)
        .into_iter()
        .flat_map(|order| {
            (0..items).map(move |place| {
                let mut order = order.clone();
                order.insert(place, items - 1);
                order
            })
        })
        .collect()
}
