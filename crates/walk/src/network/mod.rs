//! A network: named nodes and the links along which a token can move. Uses nothing of walks
//! and plans.

use std::borrow::Cow;
use std::collections::HashMap;

use thiserror::Error;

mod builder;
pub mod distance;
pub mod formats;
pub mod generators;
pub mod layout;

pub use builder::Builder;

/// The place of a node in [`Network::names`].
pub type Node = u32;

/// A connected network without self-loops and duplicate links.
///
/// Directed links are honoured: a token moves only along them. Every node can be
/// reached from every other one, otherwise no closed walk could visit them all.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    names: Vec<String>,
    /// Invariant: `targets[starts[v]..starts[v + 1]]` are the nodes to which v
    /// has a link, ascending; `starts` has one entry more than there are nodes.
    starts: Vec<u32>,
    targets: Vec<Node>,
    /// Every link goes both ways.
    symmetric: bool,
    coordinates: Option<Vec<(f64, f64)>>,
    /// What the source calls the nodes, and whether it calls only one so; empty when
    /// it has names only.
    labels: Vec<Option<(String, bool)>>,
    notes: Vec<String>,
}

impl Network {
    /// The names of all nodes; their order numbers the nodes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of a node.
    pub fn name(&self, node: Node) -> &str {
        &self.names[node as usize]
    }

    /// What people call a node: its label, with the name where several have that
    /// label; its name when there is none.
    pub fn label(&self, node: Node) -> Cow<'_, str> {
        let name = self.name(node);
        match self.labels.get(node as usize) {
            Some(Some((label, true))) => label.into(),
            Some(Some((label, false))) => format!("{label} ({name})").into(),
            _ => name.into(),
        }
    }

    /// The label alone, if the node has one.
    pub(crate) fn own_label(&self, node: Node) -> Option<&str> {
        let (label, _) = self.labels.get(node as usize)?.as_ref()?;
        Some(label)
    }

    /// Whether some node has a label beside its name.
    pub(crate) fn has_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// V, at least 2.
    #[expect(clippy::len_without_is_empty, reason = "a network is never empty")]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// All nodes, in order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + use<> {
        0..self.names.len() as Node
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<Node> {
        self.names
            .iter()
            .position(|other| other == name)
            .map(|index| index as Node)
    }

    /// All nodes by name, for looking up many.
    pub fn by_name(&self) -> HashMap<&str, Node> {
        self.names.iter().map(String::as_str).zip(0..).collect()
    }

    /// Where a token at `node` can go, ascending.
    pub fn neighbours(&self, node: Node) -> &[Node] {
        let node = node as usize;
        &self.targets[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// Whether a token can move from `from` to `to` in one step.
    pub fn linked(&self, from: Node, to: Node) -> bool {
        self.neighbours(from).binary_search(&to).is_ok()
    }

    /// Every link, as a pair (from, to); a two-way link once, smaller node first.
    pub fn links(&self) -> impl Iterator<Item = (Node, Node)> + '_ {
        let once = |&(from, to): &(Node, Node)| from < to || !self.linked(to, from);
        self.arcs().filter(once)
    }

    /// Every way that a token can take in one step, as a pair (from, to).
    pub fn arcs(&self) -> impl Iterator<Item = (Node, Node)> + '_ {
        self.nodes().flat_map(|from| {
            let next = self.neighbours(from).iter();
            next.map(move |&to| (from, to))
        })
    }

    /// How many links there are, a two-way link counted twice.
    pub(crate) fn directed_links(&self) -> usize {
        self.targets.len()
    }

    /// Whether every link goes both ways.
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// Where the nodes are to be drawn, when the source of the network says.
    pub fn coordinates(&self) -> Option<&[(f64, f64)]> {
        self.coordinates.as_deref()
    }

    /// What was tolerated while reading: self-loops and duplicate links.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// All links turned round.
    #[must_use]
    pub(crate) fn reversed(&self) -> Network {
        let mut builder = Builder::default();
        for name in &self.names {
            builder.node(name);
        }
        self.arcs().for_each(|(from, to)| builder.arc(to, from));
        builder.finish().expect("as connected as the original")
    }
}

/// Why nodes and links do not make a network that a token can tour.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A token must be able to move.
    #[error("{nodes} nodes: a network needs at least 2 for a token to move")]
    TooSmall {
        /// Nodes there are.
        nodes: usize,
    },
    /// In several pieces.
    #[error(
        "the network is not connected: it falls into {} components:{}",
        components.len(),
        itemized(components)
    )]
    Disconnected {
        /// The names in each.
        components: Vec<Vec<String>>,
    },
    /// Connected, but some links can not be travelled back.
    #[error(
        "the network is not strongly connected, so no closed walk along its directed links visits \
         all nodes; its strong components are:{}",
        itemized(components)
    )]
    NotStronglyConnected {
        /// The names in each.
        components: Vec<Vec<String>>,
    },
}

/// As many names as fit a line, then how many more.
pub(crate) fn listed<T: AsRef<str>>(names: impl ExactSizeIterator<Item = T>) -> String {
    const SHOWN: usize = 8;
    let more = names.len().saturating_sub(SHOWN);
    let mut text = names
        .take(SHOWN)
        .map(|name| name.as_ref().to_owned())
        .collect::<Vec<_>>()
        .join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

fn itemized(components: &[Vec<String>]) -> String {
    const SHOWN: usize = 12;
    let mut text = String::new();
    for component in components.iter().take(SHOWN) {
        text.push_str(&format!("\n  - {}", listed(component.iter())));
    }
    if components.len() > SHOWN {
        text.push_str(&format!("\n  - and {} more", components.len() - SHOWN));
    }
    text
}
