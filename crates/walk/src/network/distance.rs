//! Graph distances, as few and as near as are needed.

use std::sync::atomic::AtomicBool;

use fixedbitset::FixedBitSet;

use crate::network::{Network, Node};
use crate::stop;

/// What can be searched: nodes from 0 on, and whom each is joined to.
pub trait Graph {
    /// How many nodes there are.
    fn nodes(&self) -> usize;
    /// Where links from a node lead.
    fn neighbours(&self, node: Node) -> &[Node];
}

impl Graph for Network {
    fn nodes(&self) -> usize {
        self.len()
    }

    fn neighbours(&self, node: Node) -> &[Node] {
        self.neighbours(node)
    }
}

/// A set of nodes that is emptied in no time.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    /// Equal to `stamp` for those in the set.
    stamps: Vec<u32>,
    stamp: u32,
}

impl Marks {
    pub(crate) fn new(nodes: usize) -> Marks {
        Marks {
            stamps: vec![0; nodes],
            stamp: 1,
        }
    }

    pub(crate) fn clear(&mut self) {
        if self.stamp == u32::MAX {
            self.stamps.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    pub(crate) fn insert(&mut self, node: Node) {
        self.stamps[node as usize] = self.stamp;
    }

    pub(crate) fn contains(&self, node: Node) -> bool {
        self.stamps[node as usize] == self.stamp
    }
}

/// A breadth-first search that can be run again and again without clearing: it
/// costs what it visits, and V words of memory once.
#[derive(Clone, Debug)]
pub struct Reach {
    seen: Marks,
    queue: Vec<Node>,
}

impl Reach {
    /// For networks of that many nodes.
    pub fn new(nodes: usize) -> Reach {
        Reach {
            seen: Marks::new(nodes),
            queue: Vec::new(),
        }
    }

    /// Calls `found` with every node within `limit` hops of `from` and its
    /// distance, nearest first, until `found` returns true.
    pub fn search(
        &mut self,
        graph: &impl Graph,
        from: Node,
        limit: u32,
        mut found: impl FnMut(Node, u32) -> bool,
    ) {
        let found = |node, distance, _| found(node, distance);
        self.spread(graph, &[from], limit, |_, _| true, found);
    }

    /// The same from several nodes at once, only by nodes that are allowed at a distance;
    /// `found` is told, too, from which node each is reached.
    pub(crate) fn spread(
        &mut self,
        graph: &impl Graph,
        from: &[Node],
        limit: u32,
        allowed: impl Fn(Node, u32) -> bool,
        mut found: impl FnMut(Node, u32, Node) -> bool,
    ) {
        self.seen.clear();
        self.queue.clear();
        for &node in from {
            self.seen.insert(node);
            self.queue.push(node);
            if found(node, 0, node) {
                return;
            }
        }
        let mut layer = 0..from.len();
        for distance in 1..=limit {
            for index in layer.clone() {
                let node = self.queue[index];
                for &next in graph.neighbours(node) {
                    if !self.seen.contains(next) && allowed(next, distance) {
                        self.seen.insert(next);
                        self.queue.push(next);
                        if found(next, distance, node) {
                            return;
                        }
                    }
                }
            }
            layer = layer.end..self.queue.len();
            if layer.is_empty() {
                return;
            }
        }
    }

    /// Hops along links from `from` to `to`, when at most `limit`.
    pub fn hops(&mut self, graph: &impl Graph, from: Node, to: Node, limit: u32) -> Option<u32> {
        let mut answer = None;
        self.search(graph, from, limit, |node, distance| {
            if node == to {
                answer = Some(distance);
            }
            node == to
        });
        answer
    }
}

/// Hops along links from `from` to every node.
pub fn hops_from(graph: &impl Graph, from: Node) -> Vec<u32> {
    let mut hops = vec![u32::MAX; graph.nodes()];
    Reach::new(graph.nodes()).search(graph, from, u32::MAX, |node, distance| {
        hops[node as usize] = distance;
        false
    });
    hops
}

/// A shortest path from `from` to `to`, without `from`.
pub fn path(network: &Network, from: Node, to: Node) -> Vec<Node> {
    let mut previous = vec![from; network.len()];
    let mut reach = Reach::new(network.len());
    reach.spread(
        network,
        &[from],
        u32::MAX,
        |_, _| true,
        |node, _, before| {
            previous[node as usize] = before;
            node == to
        },
    );
    let back = |&node: &Node| Some(previous[node as usize]).filter(|&node| node != from);
    let to = Some(to).filter(|&to| to != from);
    let mut path: Vec<Node> = std::iter::successors(to, back).collect();
    path.reverse();
    path
}

/// How far any two nodes are apart: the smaller of the hops one way and the
/// other. V² numbers of 16 bits, for networks where that is little.
#[derive(Clone, Debug)]
pub struct Apart {
    nodes: usize,
    hops: Vec<u16>,
}

impl Apart {
    /// All pairs by one search per node; of no use once `stop` is true.
    pub fn new(network: &Network, stop: &AtomicBool) -> Apart {
        let nodes = network.len();
        let mut hops = vec![u16::MAX; nodes * nodes];
        let mut reach = Reach::new(nodes);
        for from in network.nodes() {
            if stop::is_set(stop) {
                break;
            }
            reach.search(network, from, u32::MAX, |to, distance| {
                let distance = u16::try_from(distance).unwrap_or(u16::MAX);
                let (from, to) = (from as usize, to as usize);
                for place in [from * nodes + to, to * nodes + from] {
                    hops[place] = hops[place].min(distance);
                }
                false
            });
        }
        Apart { nodes, hops }
    }

    /// How far two nodes are apart, at most 65535.
    pub fn hops(&self, one: Node, other: Node) -> u32 {
        u32::from(self.hops[one as usize * self.nodes + other as usize])
    }
}

/// Which pairs of nodes are less than a set distance apart: V² bits.
#[derive(Clone, Debug)]
pub struct Near {
    nodes: usize,
    pairs: FixedBitSet,
}

impl Near {
    /// Pairs less than `distance` apart, by bounded searches; of no use once `stop` is true.
    pub fn new(network: &Network, distance: u32, stop: &AtomicBool) -> Near {
        let nodes = network.len();
        let mut pairs = FixedBitSet::with_capacity(nodes * nodes);
        let mut reach = Reach::new(network.len());
        if let Some(limit) = distance.checked_sub(1) {
            for from in network.nodes() {
                if stop::is_set(stop) {
                    break;
                }
                reach.search(network, from, limit, |to, _| {
                    let (from, to) = (from as usize, to as usize);
                    pairs.insert(from * nodes + to);
                    pairs.insert(to * nodes + from);
                    false
                });
            }
        }
        Near { nodes, pairs }
    }

    /// Whether the two are less than the set distance apart.
    pub fn contains(&self, one: Node, other: Node) -> bool {
        self.pairs[one as usize * self.nodes + other as usize]
    }
}
