//! Closed walks that visit every node: rings laid over a network.
//!
//! What is on a walk: [`kept`], [`fairness`], [`file`](mod@file) and [`svg`]. Where walks come
//! from: [`search`], which takes the best of several methods. Walks use networks, and nothing
//! of plans.

use std::collections::HashSet;

use headway_core::{Program, Ring, Separation};
use thiserror::Error;

use crate::network::{Network, Node};

pub mod bound;
pub mod exact;
pub mod fairness;
pub mod file;
pub mod formation;
pub mod hamiltonian;
pub mod kept;
mod orbit;
mod refine;
pub mod rings;
pub mod search;
pub mod svg;
pub mod tour;

/// A closed walk over a network: from every position one link leads to the next,
/// and from the last to the first. It visits every node.
///
/// The ring of the protocol has one process for every position; a node hosts the
/// processes of all positions at which it occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    positions: Vec<Node>,
}

impl Walk {
    /// Checks that the nodes are a closed walk that visits every node.
    ///
    /// # Errors
    ///
    /// The first missing link, or the nodes left out.
    pub fn new(network: &Network, positions: Vec<Node>) -> Result<Walk, WalkError> {
        if let Some((position, from, to)) = first_gap(network, &positions) {
            return Err(WalkError::NoLink { position, from, to });
        }
        let nodes = left_out(network, &positions);
        match nodes.is_empty() {
            true => Ok(Walk { positions }),
            false => Err(WalkError::LeftOut { nodes }),
        }
    }

    /// W, the number of positions and of steps once round.
    #[expect(clippy::len_without_is_empty, reason = "a walk is never empty")]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// The node at each position.
    pub fn positions(&self) -> &[Node] {
        &self.positions
    }

    /// The node at a position, which may be any number of turns ahead.
    pub fn at(&self, position: usize) -> Node {
        self.positions[position % self.positions.len()]
    }

    /// At which positions each node occurs.
    pub fn occurrences(&self, network: &Network) -> Occurrences {
        let mut starts = vec![0u32; network.len() + 1];
        for &node in &self.positions {
            starts[node as usize + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut ends = starts.clone();
        let mut positions = vec![0; self.positions.len()];
        for (position, &node) in self.positions.iter().enumerate() {
            positions[ends[node as usize] as usize] = position as u32;
            ends[node as usize] += 1;
        }
        Occurrences { starts, positions }
    }

    /// How often each node occurs.
    pub fn visits(&self, network: &Network) -> Vec<u32> {
        let occurrences = self.occurrences(network);
        network
            .nodes()
            .map(|node| occurrences.of(node).len() as u32)
            .collect()
    }

    /// How unfair the visits are: the sum over all nodes of visits squared. Of two
    /// walks of one length the smaller is the fairer; V·(W/V)² is perfectly fair.
    pub fn unfairness(&self, network: &Network) -> u64 {
        self.visits(network)
            .into_iter()
            .map(|visits| u64::from(visits).pow(2))
            .sum()
    }

    /// For each node, the fewest and the most rounds from one visit to the next,
    /// when tokens at these positions move one position every round.
    ///
    /// # Panics
    ///
    /// When there is no token or one is at a position beyond the walk.
    pub fn rounds_between_visits(&self, network: &Network, tokens: &[usize]) -> Vec<(u32, u32)> {
        assert!(!tokens.is_empty() && tokens.iter().all(|&token| token < self.len()));
        let length = self.len() as u32;
        let occurrences = self.occurrences(network);
        let mut times = Vec::new();
        network
            .nodes()
            .map(|node| {
                times.clear();
                for &position in occurrences.of(node) {
                    times.extend(
                        tokens
                            .iter()
                            .map(|&token| (position + length - token as u32) % length),
                    );
                }
                times.sort_unstable();
                times.dedup();
                let wrap = times[0] + length - times[times.len() - 1];
                times
                    .windows(2)
                    .map(|pair| pair[1] - pair[0])
                    .chain([wrap])
                    .fold((u32::MAX, 0), |(least, most), gap| {
                        (least.min(gap), most.max(gap))
                    })
            })
            .collect()
    }

    /// The ring of the protocol on this walk, for m tokens as far apart as it allows:
    /// one delay for each position, separation ⌊W/m⌋. `None` when m is 0 or more
    /// than W. Which positions a node hosts, [`Walk::occurrences`] tells.
    ///
    /// ```
    /// use headway_walk::{network::generators::Generator, walk::tour};
    /// let star = Generator::Star(4).network(0).unwrap();
    /// let ring = tour::tree(&star).ring(2).unwrap();
    /// assert_eq!((ring.len(), ring.separation().hops()), (6, 3));
    /// ```
    pub fn ring(&self, tokens: usize) -> Option<Ring> {
        let separation = u32::try_from(self.len().checked_div(tokens)?).ok()?;
        Ring::new(
            Separation::new(separation)?,
            vec![Program::Delay; self.len()],
        )
        .ok()
    }

    /// Where m tokens stand when they are spread as evenly as they can be.
    pub fn even_tokens(&self, tokens: usize) -> Vec<usize> {
        (0..tokens)
            .map(|token| (token as u128 * self.len() as u128 / tokens as u128) as usize)
            .collect()
    }
}

/// Where on a cycle no link leads on, and from which node to which.
pub(crate) fn first_gap(network: &Network, cycle: &[Node]) -> Option<(usize, String, String)> {
    let next = |at: usize| cycle[(at + 1) % cycle.len()];
    let gap = (0..cycle.len()).find(|&at| !network.linked(cycle[at], next(at)))?;
    let [from, to] = [cycle[gap], next(gap)].map(|node| network.name(node).to_owned());
    Some((gap, from, to))
}

/// The names of the nodes that are not visited.
pub(crate) fn left_out<'a>(
    network: &Network,
    visited: impl IntoIterator<Item = &'a Node>,
) -> Vec<String> {
    let visited: HashSet<&Node> = visited.into_iter().collect();
    let left = network.nodes().filter(|node| !visited.contains(node));
    left.map(|node| network.name(node).to_owned()).collect()
}

/// At which positions each node occurs, ascending.
#[derive(Clone, Debug)]
pub struct Occurrences {
    starts: Vec<u32>,
    positions: Vec<u32>,
}

impl Occurrences {
    /// The positions of a node.
    pub fn of(&self, node: Node) -> &[u32] {
        let node = node as usize;
        &self.positions[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

/// Why nodes in order are not a closed walk over a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WalkError {
    /// A step goes where no link is.
    #[error("position {position} of the walk: there is no link from {from:?} to {to:?}")]
    NoLink {
        /// Where, from 0.
        position: usize,
        /// The node there.
        from: String,
        /// The next node.
        to: String,
    },
    /// Not every node is visited.
    #[error("the walk leaves out {}", crate::network::listed(nodes.iter()))]
    LeftOut {
        /// Which.
        nodes: Vec<String>,
    },
}
