//! What no walk can exceed: upper bounds on the distance that m tokens can keep.

use std::fmt;
use std::sync::atomic::AtomicBool;

use crate::network::distance::{Reach, hops_from};
use crate::network::{Network, Node};
use crate::stop;
use crate::walk::formation;

/// A distance that m tokens cannot exceed, on any walk of any length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The most that can be hoped for.
    pub distance: u32,
    /// Why.
    pub reason: Reason,
}

impl Bound {
    /// There is no room to keep a distance while a token is at a node.
    fn no_room(network: &Network, node: Node, tokens: usize, distance: u32) -> Bound {
        let node = network.label(node).into_owned();
        Bound {
            distance: distance - 1,
            reason: Reason::Room { node, tokens },
        }
    }
}

/// Why a distance cannot be exceeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// While a token is at this node, no other node is further away.
    Radius {
        /// A centre of the network.
        centre: String,
    },
    /// While a token is at this node, the others would be that far from it and
    /// from each other, for which there is no room.
    Room {
        /// The node.
        node: String,
        /// All tokens.
        tokens: usize,
    },
    /// Looking at all formations of this many of the tokens: none that are further
    /// apart can keep moving and visit every node.
    Formations {
        /// How many tokens were looked at.
        tokens: usize,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Radius { centre } => {
                write!(
                    f,
                    "no node is further from {centre}, which a token must visit"
                )
            }
            Reason::Room { node, tokens } => write!(
                f,
                "while a token visits {node} there is no room for the {} others",
                tokens - 1
            ),
            Reason::Formations { tokens } => write!(
                f,
                "no {tokens} tokens further apart can keep moving and visit every node"
            ),
        }
    }
}

/// As many formations, and steps from them, are looked at for a bound.
const MAX_FORMATIONS: usize = 1_500_000;
const MAX_STEPS: usize = 100_000_000;
/// Up to this many nodes, the surroundings of each are counted for a bound.
const MAX_SURROUNDINGS: usize = 20_000;

/// The best bound known for m tokens; `None` when there are no two. Soon after `stop` becomes
/// true, the best so far.
///
/// ```
/// use headway_walk::{NEVER, walk::bound, network::generators::Generator};
/// let star = Generator::Star(6).network(0).unwrap();
/// assert_eq!(bound::upper(&star, 2, &NEVER).unwrap().distance, 1);
/// // One of three would have to leave its leaf for the centre with another one.
/// assert_eq!(bound::upper(&star, 3, &NEVER).unwrap().distance, 0);
/// ```
pub fn upper(network: &Network, tokens: usize, stop: &AtomicBool) -> Option<Bound> {
    if tokens < 2 {
        return None;
    }
    let (centre, radius) = radius(network, stop);
    let mut bound = Bound {
        distance: radius,
        reason: Reason::Radius {
            centre: network.label(centre).into_owned(),
        },
    };
    if tokens > 2 && network.is_symmetric() {
        if network.len() <= MAX_SURROUNDINGS {
            crowd(network, tokens, &mut bound, stop);
        }
        room(network, centre, tokens, &mut bound, stop);
    }
    let links = network.directed_links();
    let looked_at = (2..=tokens.min(6)).rev().find(|&looked_at| {
        let formations = network.len().checked_pow(looked_at as u32);
        // All steps from all formations: every token takes every link.
        let steps = links.checked_pow(looked_at as u32);
        formations.is_some_and(|formations| formations <= MAX_FORMATIONS)
            && steps.is_some_and(|steps| steps <= MAX_STEPS)
    });
    if let Some(looked_at) = looked_at {
        // The largest conceivable distance, by bisection: less is always easier.
        let conceivable = |distance| {
            formation::conceivable(network, looked_at, distance, MAX_FORMATIONS, stop)
                != Some(false)
        };
        let can = largest(bound.distance, conceivable);
        if can < bound.distance {
            bound = Bound {
                distance: can,
                reason: Reason::Formations { tokens: looked_at },
            };
        }
    }
    Some(bound)
}

/// A node from which the furthest other one is as near as possible, and how near.
fn radius(network: &Network, stop: &AtomicBool) -> (Node, u32) {
    if !network.is_symmetric() {
        // Tokens are as far apart as the shorter way between them.
        let reversed = network.reversed();
        return network
            .nodes()
            .take(MAX_SURROUNDINGS)
            .take_while(|&node| node == 0 || !stop::is_set(stop))
            .map(|node| {
                let there = hops_from(network, node);
                let back = hops_from(&reversed, node);
                let furthest = there.iter().zip(&back).map(|(&a, &b)| a.min(b)).max();
                (node, furthest.unwrap_or(0))
            })
            .min_by_key(|&(node, furthest)| (furthest, node))
            .expect("a network has nodes");
    }
    // Nodes that may still beat the best are tried, most promising first; every
    // search also tells something about all others (Takes and Kosters, 2011).
    let mut at_least = vec![0u32; network.len()];
    let mut open: Vec<Node> = network.nodes().collect();
    let mut best = (0, u32::MAX);
    // Any node's furthest is a bound; on huge networks the best of some has to do.
    let links = network.directed_links();
    let mut searches = (1_000_000_000 / (network.len() + links)).max(16);
    while let Some(&node) = open
        .iter()
        .min_by_key(|&&node| (at_least[node as usize], node))
    {
        if searches == 0 || (best.1 < u32::MAX && stop::is_set(stop)) {
            break;
        }
        searches -= 1;
        let hops = hops_from(network, node);
        let furthest = hops.iter().copied().max().unwrap_or(0);
        best = if furthest < best.1 {
            (node, furthest)
        } else {
            best
        };
        at_least[node as usize] = u32::MAX;
        open.retain(|&other| {
            let hops = hops[other as usize];
            let known = &mut at_least[other as usize];
            *known = (*known).max(hops).max(furthest - hops);
            *known < best.1
        });
    }
    best
}

/// Lowers the bound to where the surroundings of tokens that keep it still fit: what
/// is within (d-1)/2 of one token is within it of no other.
fn crowd(network: &Network, tokens: usize, bound: &mut Bound, stop: &AtomicBool) {
    let mut reach = Reach::new(network.len());
    let mut fits = |distance: u32| -> Result<(), Node> {
        let (mut fewest, mut most) = (usize::MAX, (0, 0));
        for node in network.nodes() {
            if stop::is_set(stop) {
                return Ok(());
            }
            let mut around = 0;
            reach.search(network, node, (distance - 1) / 2, |_, _| {
                around += 1;
                false
            });
            fewest = fewest.min(around);
            most = most.max((around, node));
        }
        // Some token visits the node with the most around it.
        if most.0 + (tokens - 1) * fewest <= network.len() {
            Ok(())
        } else {
            Err(most.1)
        }
    };
    largest(bound.distance, |distance| {
        let crowded = fits(distance).err();
        if let Some(node) = crowded {
            *bound = Bound::no_room(network, node, tokens, distance);
        }
        crowded.is_none()
    });
}

/// The largest distance up to `most` that is possible, by bisection; 0 always is.
fn largest(most: u32, mut is_possible: impl FnMut(u32) -> bool) -> u32 {
    let (mut can, mut beyond) = (0, most + 1);
    while can + 1 < beyond {
        let middle = can + (beyond - can) / 2;
        if is_possible(middle) {
            can = middle;
        } else {
            beyond = middle;
        }
    }
    can
}

/// Lowers the bound while the nodes far from some node fall into too few clusters,
/// each too narrow for two tokens.
fn room(network: &Network, centre: Node, tokens: usize, bound: &mut Bound, stop: &AtomicBool) {
    let mut reach = Reach::new(network.len());
    let mut around: Vec<Node> = Vec::new();
    let checked = if network.len() <= 300 { usize::MAX } else { 8 };
    reach.search(network, centre, u32::MAX, |node, _| {
        around.push(node);
        around.len() >= checked
    });
    'lower: while bound.distance > 0 {
        let distance = bound.distance;
        for &node in &around {
            if stop::is_set(stop) {
                return;
            }
            let mut far: Vec<bool> = hops_from(network, node)
                .iter()
                .map(|&hops| hops >= distance)
                .collect();
            let mut clusters = 0;
            // Two nodes within (d-1)/2 of a third are less than d apart.
            for seed in network.nodes() {
                if far[seed as usize] {
                    clusters += 1;
                    if clusters + 1 >= tokens {
                        break;
                    }
                    // A middle some way off covers more than the node itself.
                    let half = (distance - 1) / 2;
                    let mut middle = seed;
                    reach.search(network, seed, half, |other, hops| {
                        if hops == half {
                            middle = other;
                        }
                        hops == half
                    });
                    reach.search(network, middle, half, |other, _| {
                        far[other as usize] = false;
                        false
                    });
                }
            }
            if clusters + 1 < tokens {
                *bound = Bound::no_room(network, node, tokens, distance);
                continue 'lower;
            }
        }
        return;
    }
}
