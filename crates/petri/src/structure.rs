//! What the shape of an event graph says, without looking at states.
//!
//! In an event graph the tokens of a circuit never change in number. Hence
//! (Commoner, Holt, Even, Pnueli, *Marked directed graphs*, 1971): it is live
//! exactly if every circuit has a token; the most tokens that a place can ever
//! have are the fewest on any circuit through it, without limit if there is
//! none; and it is safe if that number is at most 1 everywhere.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::{ArcsByNode, Components, EventGraph, arcs_by_node};
use crate::net::{Net, PlaceIndex, TransitionIndex};

/// A circuit without tokens, in order; `None` exactly if the graph is live.
/// Linear time.
///
/// ```
/// use headway_petri::{graph::{EventGraph, TimedArc}, structure};
/// let arc = |from, to, tokens| TimedArc { from, to, time: 1, tokens };
/// let dead = EventGraph::new(2, vec![arc(0, 1, 0), arc(1, 0, 0), arc(1, 1, 1)]).unwrap();
/// assert_eq!(structure::unmarked_circuit(&dead), Some(vec![0, 1]));
/// let live = EventGraph::new(2, vec![arc(0, 1, 0), arc(1, 0, 1)]).unwrap();
/// assert_eq!(structure::unmarked_circuit(&live), None);
/// ```
pub fn unmarked_circuit(graph: &EventGraph) -> Option<Vec<PlaceIndex>> {
    let empty: Vec<u32> = (0..graph.arcs().len() as u32)
        .filter(|&place| graph.arc(place as usize).tokens == 0)
        .collect();
    let arc = |empty_arc: u32| graph.arc(empty[empty_arc as usize] as usize);
    let leaving = arcs_by_node(
        graph.nodes(),
        empty.iter().map(|&place| graph.arc(place as usize).from),
    );
    let ends = |empty_arc: u32| (arc(empty_arc).from, arc(empty_arc).to);
    let components = Components::of(graph.nodes(), (0..empty.len() as u32).map(ends));
    let inside = |&empty_arc: &u32| components.joins(arc(empty_arc).from, arc(empty_arc).to);
    let first = (0..empty.len() as u32).find(inside)?;
    // Within a component there is always a way on, so a walk meets itself.
    let mut met_at = vec![usize::MAX; graph.nodes()];
    let mut walk: Vec<u32> = Vec::new();
    let mut node = arc(first).from as usize;
    while met_at[node] == usize::MAX {
        met_at[node] = walk.len();
        let on = leaving.of(node).iter().copied().find(inside)?;
        walk.push(on);
        node = arc(on).to as usize;
    }
    let circuit = &walk[met_at[node]..];
    Some(
        circuit
            .iter()
            .map(|&empty_arc| empty[empty_arc as usize] as usize)
            .collect(),
    )
}

/// Whether every place and transition of a net, event graph or not, leads to every
/// other.
pub fn strongly_connected(net: &Net) -> bool {
    Components::of(net.places() + net.transitions(), net.ends()).count() <= 1
}

/// Transitions that can fire again and again whatever the marking: those without input,
/// which nothing stops, and those all of whose inputs are fed by such. (Fire the first ones
/// as often as the later ones need, in the order in which they are found here.)
///
/// ```
/// use headway_petri::net::{Direction::*, Net};
/// use headway_petri::structure;
/// let mut net = Net::new("source");
/// let (q, t, u) = (net.add_place("q", 1), net.add_transition("t"), net.add_transition("u"));
/// net.add_arc(q, t, TransitionToPlace, 1);
/// net.add_arc(q, u, PlaceToTransition, 3);
/// assert_eq!(structure::never_starved(&net), [t, u]);
/// ```
pub fn never_starved(net: &Net) -> Vec<TransitionIndex> {
    let adjacency = net.adjacency();
    let mut missing: Vec<usize> = (0..net.transitions())
        .map(|transition| adjacency.inputs(transition).len())
        .collect();
    let mut found: Vec<TransitionIndex> = (0..net.transitions())
        .filter(|&transition| missing[transition] == 0)
        .collect();
    let mut fed = vec![false; net.places()];
    let mut next = 0;
    while let Some(&transition) = found.get(next) {
        next += 1;
        for &(place, _) in adjacency.outputs(transition) {
            if std::mem::replace(&mut fed[place as usize], true) {
                continue;
            }
            for &(consumer, _) in adjacency.consumers(place as usize) {
                missing[consumer as usize] -= 1;
                if missing[consumer as usize] == 0 {
                    found.push(consumer as usize);
                }
            }
        }
    }
    found
}

/// The first place through which no circuit leads, so that its tokens have no
/// limit; `None` exactly if the graph is bounded. Linear time.
pub fn unbounded_place(graph: &EventGraph) -> Option<PlaceIndex> {
    let components = graph.components();
    let mut arcs = graph.arcs().iter();
    arcs.position(|arc| !components.joins(arc.from, arc.to))
}

/// The most tokens that each place can ever have in a live event graph (in any
/// order of firing): the fewest on a circuit through it. `None` where there is
/// no circuit. One shortest-path search per place: for nets of up to some
/// thousands of places.
pub fn place_bounds(graph: &EventGraph) -> Vec<Option<u64>> {
    let leaving = graph.leaving();
    let mut search = Search::new(graph, &leaving);
    let bound = |arc: &crate::graph::TimedArc| {
        let back = search.fewest_tokens(arc.to as usize, arc.from as usize, u64::MAX)?;
        // All tokens of an event graph are at most 2^62.
        Some(back + arc.tokens)
    };
    graph.arcs().iter().map(bound).collect()
}

/// The first place that can have more than one token in some order of firing,
/// in a live event graph; `None` exactly if the graph is safe. Searches no
/// further than ways with at most one token.
pub fn unsafe_place(graph: &EventGraph) -> Option<PlaceIndex> {
    let leaving = graph.leaving();
    let mut search = Search::new(graph, &leaving);
    (0..graph.arcs().len()).find(|&place| {
        let arc = graph.arc(place);
        let Some(room) = 1_u64.checked_sub(arc.tokens) else {
            return true;
        };
        let back = search.fewest_tokens(arc.to as usize, arc.from as usize, room);
        back.is_none()
    })
}

/// Dijkstra's algorithm with tokens as lengths; marks are stamped rather than
/// cleared, so that a short search costs little.
struct Search<'a> {
    graph: &'a EventGraph,
    leaving: &'a ArcsByNode,
    fewest: Vec<u64>,
    stamp_of: Vec<u64>,
    stamp: u64,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a EventGraph, leaving: &'a ArcsByNode) -> Search<'a> {
        Search {
            graph,
            leaving,
            fewest: vec![0; graph.nodes()],
            stamp_of: vec![0; graph.nodes()],
            stamp: 0,
            heap: BinaryHeap::new(),
        }
    }

    fn fewest_tokens(&mut self, from: usize, to: usize, limit: u64) -> Option<u64> {
        self.stamp += 1;
        self.heap.clear();
        self.offer(from, 0);
        while let Some(Reverse((tokens, node))) = self.heap.pop() {
            let node = node as usize;
            if node == to {
                return Some(tokens);
            }
            if tokens > self.fewest[node] {
                continue;
            }
            for &place in self.leaving.of(node) {
                let arc = self.graph.arc(place as usize);
                let sum = tokens + arc.tokens;
                if sum <= limit {
                    self.offer(arc.to as usize, sum);
                }
            }
        }
        None
    }

    fn offer(&mut self, node: usize, tokens: u64) {
        if self.stamp_of[node] != self.stamp || tokens < self.fewest[node] {
            self.stamp_of[node] = self.stamp;
            self.fewest[node] = tokens;
            self.heap.push(Reverse((tokens, node as u32)));
        }
    }
}
