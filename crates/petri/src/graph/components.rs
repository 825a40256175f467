//! Strongly connected components.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

/// The strongly connected components of a graph, numbered so that every arc
/// between two components goes from a higher to a lower number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Components {
    of: Vec<u32>,
    count: usize,
}

impl Components {
    /// The components of a graph given by its arcs, each from a node to a node.
    /// (Kosaraju's algorithm: that of Tarjan in the same library is recursive,
    /// and rings of a million nodes are ordinary here.)
    pub(crate) fn of(nodes: usize, arcs: impl Iterator<Item = (u32, u32)>) -> Components {
        let mut graph = DiGraph::<(), (), u32>::with_capacity(nodes, arcs.size_hint().0);
        for _ in 0..nodes {
            graph.add_node(());
        }
        graph.extend_with_edges(arcs);
        let components = kosaraju_scc(&graph);
        let mut of = vec![0; nodes];
        for (number, members) in components.iter().enumerate() {
            for member in members {
                of[member.index()] = number as u32;
            }
        }
        Components {
            of,
            count: components.len(),
        }
    }

    /// The component of a node.
    pub(crate) fn component(&self, node: usize) -> usize {
        self.of[node] as usize
    }

    /// Whether both ends of an arc are in one component.
    pub(crate) fn joins(&self, from: u32, to: u32) -> bool {
        self.of[from as usize] == self.of[to as usize]
    }

    /// How many components there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}
