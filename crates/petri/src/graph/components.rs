//! Strongly connected components (Tarjan 1972), without recursion.

use super::ArcsByNode;

/// The strongly connected components of a graph, numbered so that every arc
/// between two components goes from a higher to a lower number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Components {
    of: Vec<u32>,
    count: usize,
}

const UNSEEN: u32 = u32::MAX;

impl Components {
    /// The components of a graph given by its leaving arcs and their targets.
    pub(crate) fn of(
        nodes: usize,
        leaving: &ArcsByNode,
        target: impl Fn(usize) -> usize,
    ) -> Components {
        let mut of = vec![UNSEEN; nodes];
        let mut seen_at = vec![UNSEEN; nodes];
        let mut low = vec![0_u32; nodes];
        let mut open: Vec<u32> = Vec::new();
        let mut way: Vec<(u32, u32)> = Vec::new();
        let (mut clock, mut count) = (0, 0);
        for root in 0..nodes {
            if seen_at[root] != UNSEEN {
                continue;
            }
            way.push((root as u32, 0));
            while let Some(&mut (node, ref mut next)) = way.last_mut() {
                let index = node as usize;
                if *next == 0 {
                    seen_at[index] = clock;
                    low[index] = clock;
                    clock += 1;
                    open.push(node);
                }
                if let Some(&arc) = leaving.of(index).get(*next as usize) {
                    *next += 1;
                    let to = target(arc as usize);
                    if seen_at[to] == UNSEEN {
                        way.push((to as u32, 0));
                    } else if of[to] == UNSEEN {
                        low[index] = low[index].min(seen_at[to]);
                    }
                    continue;
                }
                way.pop();
                if let Some(&(parent, _)) = way.last() {
                    low[parent as usize] = low[parent as usize].min(low[index]);
                }
                if low[index] == seen_at[index] {
                    while let Some(member) = open.pop() {
                        of[member as usize] = count;
                        if member == node {
                            break;
                        }
                    }
                    count += 1;
                }
            }
        }
        Components {
            of,
            count: count as usize,
        }
    }

    /// The component of a node.
    pub(crate) fn component(&self, node: usize) -> usize {
        self.of[node] as usize
    }

    /// How many components there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}
