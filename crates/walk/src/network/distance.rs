//! Graph distances, as few and as near as are needed.

use std::sync::atomic::AtomicBool;

use fixedbitset::FixedBitSet;

use crate::network::{Network, Node};
use crate::stop;

/// A breadth-first search that can be run again and again without clearing: it
/// costs what it visits, and V words of memory once.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Equal to `stamp` where the current search has been.
    seen: Vec<u32>,
    stamp: u32,
    queue: Vec<Node>,
}

impl Reach {
    /// For networks of that many nodes.
    pub fn new(nodes: usize) -> Reach {
        Reach {
            seen: vec![0; nodes],
            stamp: 0,
            queue: Vec::new(),
        }
    }

    /// Calls `found` with every node within `limit` hops of `from` and its
    /// distance, nearest first, until `found` returns true.
    pub fn search(
        &mut self,
        network: &Network,
        from: Node,
        limit: u32,
        mut found: impl FnMut(Node, u32) -> bool,
    ) {
        if self.stamp == u32::MAX {
            self.seen.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
        self.queue.clear();
        self.queue.push(from);
        self.seen[from as usize] = self.stamp;
        self.spread(network, limit, &mut found);
    }

    fn spread(&mut self, network: &Network, limit: u32, found: &mut impl FnMut(Node, u32) -> bool) {
        if found(self.queue[0], 0) {
            return;
        }
        let mut layer = 0..1;
        for distance in 1..=limit {
            for index in layer.clone() {
                for &next in network.neighbours(self.queue[index]) {
                    if self.seen[next as usize] != self.stamp {
                        self.seen[next as usize] = self.stamp;
                        self.queue.push(next);
                        if found(next, distance) {
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
    pub fn hops(&mut self, network: &Network, from: Node, to: Node, limit: u32) -> Option<u32> {
        let mut answer = None;
        self.search(network, from, limit, |node, distance| {
            if node == to {
                answer = Some(distance);
            }
            node == to
        });
        answer
    }
}

/// Hops along links from `from` to every node.
pub fn hops_from(network: &Network, from: Node) -> Vec<u32> {
    let mut hops = vec![u32::MAX; network.len()];
    Reach::new(network.len()).search(network, from, u32::MAX, |node, distance| {
        hops[node as usize] = distance;
        false
    });
    hops
}

/// A shortest path from `from` to `to`, without `from`.
pub fn path(network: &Network, from: Node, to: Node) -> Vec<Node> {
    let mut previous = vec![Node::MAX; network.len()];
    previous[from as usize] = from;
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        if node == to {
            break;
        }
        for &next in network.neighbours(node) {
            if previous[next as usize] == Node::MAX {
                previous[next as usize] = node;
                queue.push_back(next);
            }
        }
    }
    let mut path = Vec::new();
    let mut node = to;
    while node != from {
        path.push(node);
        node = previous[node as usize];
    }
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
