//! Hamiltonian cycles: walks that visit every node exactly once, where there are
//! any. On them every node has a token equally often.

use std::sync::atomic::AtomicBool;

use petgraph::graph::UnGraph;

use crate::network::distance::hops_from;
use crate::network::{Network, Node, listed};
use crate::stop;
use crate::walk::Walk;
use crate::walk::tour;

/// Whether there is a walk that visits every node once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cycle {
    /// There is.
    Found(Walk),
    /// There is none, for this reason.
    Impossible(String),
    /// None was found, and none was excluded.
    NotFound,
}

/// Looks for a cycle: reasons against one first, then backtracking for up to
/// `steps` steps on networks of up to 64 nodes, then a tour by 2-opt. Soon after `stop` becomes
/// true nothing was found.
///
/// ```
/// use headway_walk::{NEVER, network::generators::Generator, walk::hamiltonian::{self, Cycle}};
/// let grid = |rows, columns| Generator::Grid(rows, columns).network(0).unwrap();
/// let cycle = |network| hamiltonian::cycle(&network, 0, 100_000, &NEVER);
/// assert!(matches!(cycle(grid(4, 5)), Cycle::Found(_)));
/// assert!(matches!(cycle(grid(3, 5)), Cycle::Impossible(_)));
/// ```
pub fn cycle(network: &Network, seed: u64, steps: usize, stop: &AtomicBool) -> Cycle {
    if let Some(reason) = obstacle(network) {
        return Cycle::Impossible(reason);
    }
    if network.len() == 2 {
        return Cycle::Found(Walk::new(network, vec![0, 1]).expect("two nodes, one link"));
    }
    if network.len() <= 64 {
        let mut search = Backtracking {
            network,
            path: vec![0],
            visited: 1,
            left: steps,
            stop,
        };
        match search.extend() {
            Some(true) => {
                let walk = Walk::new(network, search.path).expect("closed and complete");
                return Cycle::Found(walk);
            }
            Some(false) => {
                return Cycle::Impossible("an exhaustive search found no cycle".to_owned());
            }
            None => {}
        }
    }
    let walk = tour::short(network, seed, steps, stop);
    if walk.len() == network.len() {
        Cycle::Found(walk)
    } else {
        Cycle::NotFound
    }
}

/// A reason why no walk visits every node exactly once, if one is easily seen.
fn obstacle(network: &Network) -> Option<String> {
    if network.len() > 2 && network.is_symmetric() {
        if let Some(end) = network
            .nodes()
            .find(|&node| network.neighbours(node).len() == 1)
        {
            return Some(format!(
                "{} has one neighbour only, which must be passed before and after it",
                network.label(end)
            ));
        }
        let graph = UnGraph::<(), (), Node>::from_edges(network.links());
        let cut = petgraph::algo::articulation_points::articulation_points(&graph);
        if let Some(node) = cut.into_iter().min() {
            return Some(format!(
                "the network falls apart without {}, which must be passed for every part",
                network.label(node.index() as Node)
            ));
        }
    }
    let colours = two_colours(network)?;
    let (dark, light): (Vec<Node>, Vec<Node>) =
        network.nodes().partition(|&node| colours[node as usize]);
    if dark.len() == light.len() {
        return None;
    }
    let (few, many) = if dark.len() < light.len() {
        (dark, light)
    } else {
        (light, dark)
    };
    Some(format!(
        "every step leads between {} nodes ({}) and the {} others, so the fewer are visited more often",
        few.len(),
        listed(few.iter().map(|&node| network.label(node))),
        many.len()
    ))
}

/// The two sides of a bipartite network; `None` when it is not bipartite.
pub(crate) fn two_colours(network: &Network) -> Option<Vec<bool>> {
    let hops = hops_from(network, 0);
    let colours: Vec<bool> = hops.iter().map(|hops| hops % 2 == 1).collect();
    let across = |(from, to): (Node, Node)| colours[from as usize] != colours[to as usize];
    network.arcs().all(across).then_some(colours)
}

struct Backtracking<'a> {
    network: &'a Network,
    path: Vec<Node>,
    visited: u64,
    left: usize,
    stop: &'a AtomicBool,
}

impl Backtracking<'_> {
    /// Whether the path can be closed to a cycle; `None` when the steps ran out, or it
    /// has to stop.
    fn extend(&mut self) -> Option<bool> {
        self.left = self.left.checked_sub(1)?;
        if stop::is_set(self.stop) {
            return None;
        }
        let head = self.path[self.path.len() - 1];
        if self.path.len() == self.network.len() {
            return Some(self.network.linked(head, self.path[0]));
        }
        let mut next: Vec<Node> = self
            .network
            .neighbours(head)
            .iter()
            .copied()
            .filter(|&node| self.visited >> node & 1 == 0)
            .collect();
        next.sort_by_key(|&node| self.ways_on(node));
        for node in next {
            self.path.push(node);
            self.visited |= 1 << node;
            if self.alive() && self.extend()? {
                return Some(true);
            }
            self.path.pop();
            self.visited &= !(1 << node);
        }
        Some(false)
    }

    /// Neighbours from which the cycle could still come or go.
    fn ways_on(&self, node: Node) -> usize {
        let head = self.path[self.path.len() - 1];
        self.network
            .neighbours(node)
            .iter()
            .filter(|&&next| self.visited >> next & 1 == 0 || next == self.path[0] || next == head)
            .count()
    }

    /// Whether every unvisited node can still be entered and left.
    fn alive(&self) -> bool {
        let needed = if self.network.is_symmetric() { 2 } else { 1 };
        self.network
            .nodes()
            .filter(|&node| self.visited >> node & 1 == 0)
            .all(|node| self.ways_on(node) >= needed)
    }
}
