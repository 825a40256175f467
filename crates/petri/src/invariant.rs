//! P-invariants of event graphs.
//!
//! The tokens of a circuit never change in number: every circuit is a
//! P-invariant. In a strongly connected event graph, places - transitions + 1
//! circuits generate all of them; the ears of an ear decomposition give such
//! circuits. For the net of a ring they are the major ring and the minor rings.

use std::collections::VecDeque;

use crate::graph::{ArcsByNode, EventGraph};
use crate::net::PlaceIndex;

/// A weighted sum of tokens that no firing changes, here with all weights 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// The places of a circuit, in order.
    pub places: Vec<PlaceIndex>,
    /// Their tokens together.
    pub tokens: u64,
}

/// Circuits that generate all P-invariants of a strongly connected event graph;
/// of any other, those of its strongly connected components.
///
/// ```
/// use headway_core::{Configuration, Ring, Separation};
/// use headway_petri::{invariant, ring, EventGraph};
/// let ring = Ring::with_delays(Separation::new(3).unwrap(), 5, [2]).unwrap();
/// let (net, marking) = ring::to_net(&ring, &Configuration::piled(&ring, 4, 0)).unwrap();
/// let graph = EventGraph::of(&net, &marking).unwrap();
/// let generators = invariant::generators(&graph);
/// let sizes: Vec<(usize, u64)> = generators.iter().map(|i| (i.places.len(), i.tokens)).collect();
/// // The major ring, then four loops and the minor ring.
/// assert_eq!(sizes, [(5, 4), (1, 1), (1, 1), (1, 1), (3, 1), (1, 1)]);
/// ```
pub fn generators(graph: &EventGraph) -> Vec<Invariant> {
    let components = graph.components();
    let inside = |place: usize| components.joins(graph.arc(place).from, graph.arc(place).to);
    let mut ears = Ears {
        graph,
        leaving: graph.leaving(),
        joined: vec![false; graph.nodes()],
        used: vec![false; graph.arcs().len()],
    };
    let mut found = Vec::new();
    for start in 0..graph.arcs().len() {
        let from = graph.arc(start).from as usize;
        if !inside(start) || ears.joined[from] {
            continue;
        }
        ears.joined[from] = true;
        let mut open = vec![from];
        let mut next = 0;
        while next < open.len() {
            for index in 0..ears.leaving.of(open[next]).len() {
                let place = ears.leaving.of(open[next])[index] as usize;
                if inside(place) && !ears.used[place] {
                    found.push(ears.circuit_through(place, &mut open));
                }
            }
            next += 1;
        }
    }
    let tokens = |places: &[usize]| places.iter().map(|&place| graph.arc(place).tokens).sum();
    found
        .into_iter()
        .map(|places| Invariant {
            tokens: tokens(&places),
            places,
        })
        .collect()
}

struct Ears<'a> {
    graph: &'a EventGraph,
    leaving: ArcsByNode,
    /// Nodes that earlier ears have joined.
    joined: Vec<bool>,
    /// Places that earlier ears have used.
    used: Vec<bool>,
}

impl Ears<'_> {
    /// The shortest circuit through a place that leaves a joined node: out to
    /// the next joined node by new nodes (the ear), and back by joined ones.
    fn circuit_through(&mut self, place: usize, open: &mut Vec<usize>) -> Vec<usize> {
        let home = self.graph.arc(place).from as usize;
        let first = self.graph.arc(place).to as usize;
        let joined = &self.joined;
        let mut ear = vec![place];
        if !joined[first] {
            ear.extend(self.way(first, |node| joined[node], |_| true));
        }
        let end = ear
            .last()
            .map_or(first, |&last| self.graph.arc(last).to as usize);
        let back = if end == home {
            Vec::new()
        } else {
            self.way(end, |node| node == home, |place| self.used[place])
        };
        for &place in &ear {
            self.used[place] = true;
            let to = self.graph.arc(place).to as usize;
            if !self.joined[to] {
                self.joined[to] = true;
                open.push(to);
            }
        }
        ear.extend(back);
        ear
    }

    /// The places of a shortest way from a node to the nearest goal.
    fn way(
        &self,
        from: usize,
        goal: impl Fn(usize) -> bool,
        allowed: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut came_by: std::collections::HashMap<usize, usize> = std::collections::HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if goal(node) {
                let mut places = Vec::new();
                let mut at = node;
                while at != from {
                    let place = came_by[&at];
                    places.push(place);
                    at = self.graph.arc(place).from as usize;
                }
                places.reverse();
                return places;
            }
            for &place in self.leaving.of(node) {
                let to = self.graph.arc(place as usize).to as usize;
                if to != from && allowed(place as usize) && !came_by.contains_key(&to) {
                    came_by.insert(to, place as usize);
                    queue.push_back(to);
                }
            }
        }
        Vec::new()
    }
}
