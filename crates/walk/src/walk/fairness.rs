//! Whether every node can have a token equally often (the paper's D4) while every
//! token moves in every step (D3): decided exactly, for any network.
//!
//! A closed walk on which all nodes occur equally often is a circulation with the
//! same flow through every node. Such a flow exists when every node can be given
//! a successor of its own (a perfect matching of nodes as left to nodes as
//! entered); a link carries flow in some such circulation exactly when it lies in
//! some perfect matching; and the links that can carry flow must hold the network
//! together.

use std::collections::VecDeque;

use petgraph::graph::DiGraph;

use crate::network::{Network, Node, listed};

/// Whether some closed walk visits all nodes equally often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EqualVisits {
    /// Some walk does.
    Possible,
    /// A token that is at one of `from` is next at one of `to`, which are fewer.
    Crowded {
        /// Nodes.
        from: Vec<Node>,
        /// All nodes to which links lead from them.
        to: Vec<Node>,
    },
    /// Equal visits would confine a token forever to one of these groups.
    Confined {
        /// The groups.
        groups: Vec<Vec<Node>>,
    },
}

impl EqualVisits {
    /// The impossibility in words; `None` when it is possible.
    pub fn in_words(&self, network: &Network) -> Option<String> {
        let names = |nodes: &[Node]| listed(nodes.iter().map(|&node| network.label(node)));
        match self {
            EqualVisits::Possible => None,
            EqualVisits::Crowded { from, to } => Some(format!(
                "D3 and D4 cannot both hold here: a token at any of {} nodes ({}) must move next to \
                 one of {} ({}), so these few are visited more often than others on every walk",
                from.len(),
                names(from),
                to.len(),
                names(to)
            )),
            EqualVisits::Confined { groups } => Some(format!(
                "D3 and D4 cannot both hold here: if all nodes had a token equally often, tokens \
                 could never leave the group of nodes that they are in ({})",
                groups
                    .iter()
                    .take(4)
                    .map(|group| format!("{{{}}}", names(group)))
                    .collect::<Vec<_>>()
                    .join(", ")
            )),
        }
    }
}

/// Decides it, by one maximum flow.
///
/// ```
/// use headway_walk::{walk::fairness::{self, EqualVisits}, network::generators::Generator};
/// let decide = |generator: Generator| fairness::equal_visits(&generator.network(0).unwrap());
/// assert_eq!(decide(Generator::Ring(5)), EqualVisits::Possible);
/// assert!(matches!(decide(Generator::Star(5)), EqualVisits::Crowded { .. }));
/// assert!(matches!(decide(Generator::Line(4)), EqualVisits::Confined { .. }));
/// ```
pub fn equal_visits(network: &Network) -> EqualVisits {
    let nodes = network.len();
    let successor = matching(network);
    let mut predecessor = vec![None; nodes];
    for (node, &next) in successor.iter().enumerate() {
        if let Some(next) = next {
            predecessor[next as usize] = Some(node as Node);
        }
    }
    let alone = || {
        network
            .nodes()
            .filter(|&node| successor[node as usize].is_none())
    };
    if alone().next().is_some() {
        // Hall: what alternating paths reach from unmatched nodes is crowded.
        let mut left: Vec<bool> = successor.iter().map(Option::is_none).collect();
        let mut right = vec![false; nodes];
        let mut queue: Vec<Node> = alone().collect();
        while let Some(node) = queue.pop() {
            for &next in network.neighbours(node) {
                if !right[next as usize] {
                    right[next as usize] = true;
                    let owner = predecessor[next as usize].expect("else the matching could grow");
                    if !left[owner as usize] {
                        left[owner as usize] = true;
                        queue.push(owner);
                    }
                }
            }
        }
        let members = |flags: &[bool]| {
            network
                .nodes()
                .filter(|&node| flags[node as usize])
                .collect()
        };
        return EqualVisits::Crowded {
            from: members(&left),
            to: members(&right),
        };
    }
    // A link v→u is in some perfect matching when v and the present owner of u
    // are in one strong component of "could take over the successor of".
    let owner = |next: Node| predecessor[next as usize].expect("a perfect matching");
    let takeover = network.arcs().map(|(node, next)| (node, owner(next)));
    let takeover = DiGraph::<(), (), Node>::from_edges(takeover);
    let mut component = vec![0; nodes];
    for (index, members) in petgraph::algo::kosaraju_scc(&takeover).iter().enumerate() {
        for member in members {
            component[member.index()] = index;
        }
    }
    let mut groups = petgraph::unionfind::UnionFind::<usize>::new(nodes);
    for (node, next) in network.arcs() {
        if component[node as usize] == component[owner(next) as usize] {
            groups.union(node as usize, next as usize);
        }
    }
    let labels = groups.into_labeling();
    let mut by_label = std::collections::BTreeMap::<usize, Vec<Node>>::new();
    for node in network.nodes() {
        by_label
            .entry(labels[node as usize])
            .or_default()
            .push(node);
    }
    if by_label.len() == 1 {
        EqualVisits::Possible
    } else {
        let mut groups: Vec<Vec<Node>> = by_label.into_values().collect();
        groups.sort();
        EqualVisits::Confined { groups }
    }
}

/// A successor of its own for as many nodes as possible: in phases, each of which takes
/// shortest ways to a free successor that share no node (Hopcroft and Karp, 1973), so that a
/// million nodes take seconds.
fn matching(network: &Network) -> Vec<Option<Node>> {
    const FAR: u32 = u32::MAX;
    let nodes = network.len();
    let mut successor: Vec<Option<Node>> = vec![None; nodes];
    let mut owner: Vec<Option<Node>> = vec![None; nodes];
    loop {
        // How many others would have to change their successor for this node to get one.
        let mut depth = vec![FAR; nodes];
        let mut queue: VecDeque<Node> = network
            .nodes()
            .filter(|&node| successor[node as usize].is_none())
            .collect();
        let free: Vec<Node> = queue.iter().copied().collect();
        for &node in &free {
            depth[node as usize] = 0;
        }
        let mut more = false;
        while let Some(node) = queue.pop_front() {
            for &next in network.neighbours(node) {
                match owner[next as usize] {
                    None => more = true,
                    Some(other) if depth[other as usize] == FAR => {
                        depth[other as usize] = depth[node as usize] + 1;
                        queue.push_back(other);
                    }
                    Some(_) => {}
                }
            }
        }
        if !more {
            return successor;
        }
        // By node, the link to try next.
        let mut link = vec![0; nodes];
        for first in free {
            let mut way = vec![first];
            while let Some(&node) = way.last() {
                let tried = link[node as usize];
                let Some(&next) = network.neighbours(node).get(tried) else {
                    way.pop();
                    continue;
                };
                link[node as usize] += 1;
                match owner[next as usize] {
                    Some(other) if depth[other as usize] == depth[node as usize] + 1 => {
                        way.push(other);
                    }
                    Some(_) => {}
                    None => {
                        for &node in &way {
                            let next = network.neighbours(node)[link[node as usize] - 1];
                            successor[node as usize] = Some(next);
                            owner[next as usize] = Some(node);
                        }
                        break;
                    }
                }
            }
        }
    }
}
