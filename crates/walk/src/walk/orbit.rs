//! Walks for several tokens on large networks: the tokens turn on a circuit, each
//! towards where the next one began, and make side trips on the way.
//!
//! Such a circuit is a path of formations (see [`crate::walk::formation`]) that is found
//! directly: far-apart corners, one for each token, and paths between them that all
//! tokens take in the same number of steps. Between two steps a token can tour a tree
//! of nodes that keep their distance from where the others are, who meanwhile step to
//! and fro between this formation and the next. Nothing is searched in the space of
//! formations, whose size is a power of the number of nodes; what is kept on the
//! walk is measured afterwards, like that of any other.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use crate::network::distance::hops_from;
use crate::network::{Network, Node};
use crate::random::Choices;
use crate::stop;
use crate::walk::Walk;
use crate::walk::hamiltonian::two_colours;

mod circuit;

use circuit::Circuit;

/// How far to look, and for what.
pub(crate) struct Wish<'a> {
    /// m, at least 2.
    pub(crate) tokens: usize,
    /// What is kept already: only more is of use.
    pub(crate) more_than: u32,
    /// More than this is of no use.
    pub(crate) at_most: u32,
    pub(crate) seed: u64,
    pub(crate) effort: u32,
    pub(crate) stop: &'a AtomicBool,
}

/// Nodes and links looked at for each unit of effort.
const WORK: usize = 2_000_000_000;

/// A closed walk on which the tokens keep more than is kept already, if one is found.
/// For networks whose links go both ways: a token has to be able to step back.
pub(crate) fn walk(network: &Network, wish: &Wish<'_>) -> Option<Walk> {
    if !network.is_symmetric() || network.len() > usize::from(u16::MAX) {
        return None;
    }
    let mut choices = Choices::new(wish.seed, 3);
    let colours = two_colours(network);
    let size = network.len() + network.directed_links();
    let mut work = WORK.saturating_mul(wish.effort.max(1) as usize);
    let mut best: Option<(u32, Vec<Node>, Circuit)> = None;
    'attempts: for attempt in 0..MAX_ATTEMPTS * wish.effort.max(1) {
        if stop::is_set(wish.stop) {
            break;
        }
        let kept = best.as_ref().map_or(wish.more_than, |best| best.0);
        if kept >= wish.at_most {
            break;
        }
        let mut corners = match &best {
            Some((_, corners, _)) if attempt % 4 != 0 => moved(network, corners, &mut choices),
            _ => far_apart(network, wish.tokens, &mut choices),
        };
        if let Some(colours) = &colours {
            same_side(network, colours, &mut corners);
        }
        let Some(circuit) = Circuit::through(network, &corners, &mut choices, wish.stop) else {
            continue;
        };
        let (mut can, mut beyond) = (kept, circuit.kept().min(wish.at_most) + 1);
        let mut searches = circuit.hops.len();
        let mut middle = kept + 1;
        while can + 1 < beyond {
            match circuit.covers(network, middle, wish.stop) {
                Some(true) => can = middle,
                Some(false) => beyond = middle,
                None => break 'attempts,
            }
            searches += circuit.slots();
            middle = can + (beyond - can) / 2;
        }
        if can > kept {
            best = Some((can, corners, circuit));
        }
        work = match work.checked_sub(searches * size) {
            Some(left) => left,
            None => break,
        };
    }
    let (distance, _, circuit) = best?;
    Walk::new(
        network,
        circuit.with_side_trips(network, distance, wish.stop),
    )
    .ok()
}

const MAX_ATTEMPTS: u32 = 100;

/// Nodes far from each other: each as far as can be from those before it.
fn far_apart(network: &Network, tokens: usize, choices: &mut Choices) -> Vec<Node> {
    let mut corners = Vec::new();
    let mut nearest = hops_from(network, choices.below(network.len()) as Node);
    for _ in 0..tokens {
        let furthest = nearest.iter().copied().max().unwrap_or(0);
        // Not always the very furthest, so that attempts differ.
        let enough = furthest - furthest * choices.below(5) as u32 / 16;
        let far: Vec<Node> = network
            .nodes()
            .filter(|&node| nearest[node as usize] >= enough)
            .collect();
        let corner = far[choices.below(far.len())];
        let hops = hops_from(network, corner);
        for (nearest, hops) in nearest.iter_mut().zip(hops) {
            // What was nearest to the first node, which is not a corner, is forgotten.
            *nearest = if corners.is_empty() {
                hops
            } else {
                hops.min(*nearest)
            };
        }
        corners.push(corner);
    }
    in_order(network, &mut corners);
    corners
}

/// Puts corners in an order in which the way round them is short: by 2-opt.
fn in_order(network: &Network, corners: &mut [Node]) {
    let hops: HashMap<Node, Vec<u32>> = corners
        .iter()
        .map(|&corner| (corner, hops_from(network, corner)))
        .collect();
    let apart = |one: Node, other: Node| hops[&one][other as usize];
    let count = corners.len();
    let mut better = true;
    while better {
        better = false;
        for first in 0..count.saturating_sub(2) {
            for last in first + 1..count - 1 {
                let before = corners[(first + count - 1) % count];
                let (one, other, after) = (corners[first], corners[last], corners[last + 1]);
                if apart(before, other) + apart(one, after)
                    < apart(before, one) + apart(other, after)
                {
                    corners[first..=last].reverse();
                    better = true;
                }
            }
        }
    }
}

/// The corners, each moved a little.
fn moved(network: &Network, corners: &[Node], choices: &mut Choices) -> Vec<Node> {
    let furthest = 1 << choices.below(5);
    let mut corners = corners.to_vec();
    for corner in &mut corners {
        for _ in 0..choices.below(furthest + 1) {
            let neighbours = network.neighbours(*corner);
            *corner = neighbours[choices.below(neighbours.len())];
        }
    }
    corners
}

/// In a bipartite network all tokens change sides at once, so that they have to begin
/// on one side for every path to be of the same length.
fn same_side(network: &Network, colours: &[bool], corners: &mut [Node]) {
    let side = colours[corners[0] as usize];
    for corner in corners {
        if colours[*corner as usize] != side {
            *corner = network.neighbours(*corner)[0];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::generators::Generator;
    use crate::stop::NEVER;
    use crate::walk::kept::{self, Offsets};

    fn wish(tokens: usize, more_than: u32, at_most: u32) -> Wish<'static> {
        Wish {
            tokens,
            more_than,
            at_most,
            seed: 1,
            effort: 1,
            stop: &NEVER,
        }
    }

    /// What the walk keeps is measured by other code, which knows nothing of how it
    /// was made.
    #[test]
    fn walks_keep_what_was_asked() {
        let mut found = 0;
        for generator in [
            "grid:9x9",
            "torus:8x9",
            "geometric:200",
            "hypercube:6",
            "ring:30",
        ] {
            let network = generator.parse::<Generator>().unwrap().network(4).unwrap();
            for tokens in 2..=5 {
                for more_than in 0..3 {
                    let Some(walk) = walk(&network, &wish(tokens, more_than, more_than + 1)) else {
                        continue;
                    };
                    let offsets = Offsets::furthest(walk.len(), tokens);
                    let kept = kept::nearest(&network, &walk, &offsets).unwrap().distance;
                    assert!(kept > more_than, "{generator} {tokens} {more_than}: {kept}");
                    assert!(walk.len().is_multiple_of(tokens));
                    found += 1;
                }
            }
        }
        assert!(found > 40, "{found}");
    }

    #[test]
    fn nothing_where_links_go_one_way_or_nothing_is_left_to_gain() {
        let one_way = crate::network::formats::Format::Dot
            .read("digraph { a -> b -> c -> a }")
            .unwrap();
        assert_eq!(walk(&one_way, &wish(2, 0, 9)), None);
        let ring = Generator::Ring(12).network(0).unwrap();
        assert_eq!(walk(&ring, &wish(2, 6, 6)), None);
        let stop = AtomicBool::new(true);
        let stopped = Wish {
            stop: &stop,
            ..wish(2, 0, 6)
        };
        assert_eq!(walk(&ring, &stopped), None);
    }
}
