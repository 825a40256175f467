//! One strongly connected component, laid out for sweeps.
//!
//! Nodes are renumbered in reverse postorder of a depth-first search, so that
//! most arcs lead forward and one sweep in that order carries a change along a
//! whole path; arcs lie in the order of their targets, so that a sweep reads
//! memory from front to back.

use crate::graph::{ArcsByNode, EventGraph};

pub(super) struct Local {
    /// Global node of each local one.
    pub(super) nodes: Vec<u32>,
    /// The arcs that enter local node j are `starts[j]..starts[j+1]`.
    pub(super) starts: Vec<u32>,
    /// Local source, time, tokens and global number of each arc.
    pub(super) arcs: Vec<LocalArc>,
}

#[derive(Clone, Copy)]
pub(super) struct LocalArc {
    pub(super) from: u32,
    pub(super) place: u32,
    pub(super) time: u64,
    pub(super) tokens: u64,
}

const UNSEEN: u32 = u32::MAX;

/// Finds components one by one; keeps its scratch space between them.
pub(super) struct Layout<'a> {
    graph: &'a EventGraph,
    leaving: &'a ArcsByNode,
    entering: &'a ArcsByNode,
    local_of: Vec<u32>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(
        graph: &'a EventGraph,
        leaving: &'a ArcsByNode,
        entering: &'a ArcsByNode,
    ) -> Layout<'a> {
        Layout {
            graph,
            leaving,
            entering,
            local_of: vec![UNSEEN; graph.nodes()],
        }
    }

    /// The component of `root`, given which nodes are in it.
    pub(super) fn component(&mut self, root: usize, inside: impl Fn(usize) -> bool) -> Local {
        let arcs = self.graph.arcs();
        let mut postorder: Vec<u32> = Vec::new();
        let mut way = vec![(root as u32, 0_u32)];
        self.local_of[root] = 0;
        while let Some(&mut (node, ref mut next)) = way.last_mut() {
            if let Some(&arc) = self.leaving.of(node as usize).get(*next as usize) {
                *next += 1;
                let to = arcs[arc as usize].to as usize;
                if self.local_of[to] == UNSEEN && inside(to) {
                    self.local_of[to] = 0;
                    way.push((to as u32, 0));
                }
            } else {
                way.pop();
                postorder.push(node);
            }
        }
        postorder.reverse();
        let nodes = postorder;
        for (local, &node) in nodes.iter().enumerate() {
            self.local_of[node as usize] = local as u32;
        }
        let mut starts = Vec::with_capacity(nodes.len() + 1);
        let mut local_arcs = Vec::new();
        starts.push(0);
        for &node in &nodes {
            for &place in self.entering.of(node as usize) {
                let arc = arcs[place as usize];
                if inside(arc.from as usize) {
                    local_arcs.push(LocalArc {
                        from: self.local_of[arc.from as usize],
                        place,
                        time: arc.time,
                        tokens: arc.tokens,
                    });
                }
            }
            starts.push(local_arcs.len() as u32);
        }
        Local {
            nodes,
            starts,
            arcs: local_arcs,
        }
    }
}
