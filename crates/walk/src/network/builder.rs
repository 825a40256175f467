//! Nodes and links, collected until they are a network.

use std::collections::{HashMap, HashSet};

use petgraph::graph::DiGraph;

use super::{Network, NetworkError, Node, listed};

/// Collects nodes and links; [`Builder::finish`] makes the network of them.
///
/// ```
/// use headway_walk::network::Builder;
/// let mut triangle = Builder::default();
/// let [a, b, c] = ["a", "b", "c"].map(|name| triangle.node(name));
/// triangle.link(a, b);
/// triangle.arc(b, c);
/// triangle.arc(c, a);
/// let triangle = triangle.finish().unwrap();
/// assert_eq!(triangle.neighbours(b), [a, c]);
/// assert!(!triangle.is_symmetric());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    names: Vec<String>,
    by_name: HashMap<String, Node>,
    arcs: Vec<(Node, Node)>,
    coordinates: HashMap<Node, (f64, f64)>,
    labels: HashMap<Node, String>,
    self_loops: Vec<Node>,
    /// Links that one of their ends has listed.
    listed: HashSet<(Node, Node)>,
    notes: Vec<String>,
}

impl Builder {
    /// The node of that name, new if it was not there.
    pub fn node(&mut self, name: &str) -> Node {
        if let Some(&node) = self.by_name.get(name) {
            return node;
        }
        let node = self.names.len() as Node;
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), node);
        node
    }

    /// The node of that name, if it is there.
    pub fn find(&self, name: &str) -> Option<Node> {
        self.by_name.get(name).copied()
    }

    /// The name of a node.
    pub fn name(&self, node: Node) -> &str {
        &self.names[node as usize]
    }

    /// What people call a node.
    pub fn label(&mut self, node: Node, label: &str) {
        let label = label.trim();
        if !label.is_empty() && label != self.names[node as usize] {
            self.labels.insert(node, label.to_owned());
        }
    }

    /// Nodes so far.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no node yet.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// A link in both directions.
    pub fn link(&mut self, one: Node, other: Node) {
        if one == other {
            self.self_loops.push(one);
        } else {
            self.arcs.push((one, other));
            self.arcs.push((other, one));
        }
    }

    /// A link in one direction.
    pub fn arc(&mut self, from: Node, to: Node) {
        if from == to {
            self.self_loops.push(from);
        } else {
            self.arcs.push((from, to));
        }
    }

    /// A link in one direction or in both.
    pub fn join(&mut self, from: Node, to: Node, directed: bool) {
        if directed {
            self.arc(from, to);
        } else {
            self.link(from, to);
        }
    }

    /// The same, where both ends of a link list it: the second time is no duplicate.
    pub(crate) fn join_once(&mut self, from: Node, to: Node, directed: bool) {
        if directed || from == to {
            self.arc(from, to);
        } else if self.listed.insert((from, to)) && !self.listed.contains(&(to, from)) {
            self.link(from, to);
        }
    }

    /// Only the largest part that can be toured: the largest strong component, of
    /// several the one with the first node.
    #[must_use]
    pub fn largest_component(self) -> Builder {
        let components = self.components();
        let Some(largest) = components
            .iter()
            .max_by_key(|it| (it.len(), std::cmp::Reverse(it[0])))
        else {
            return self;
        };
        if components.len() == 1 {
            return self;
        }
        let mut kept = Builder::default();
        for &node in largest {
            let new = kept.node(&self.names[node as usize]);
            if let Some(&(x, y)) = self.coordinates.get(&node) {
                kept.place(new, x, y);
            }
            if let Some(label) = self.labels.get(&node) {
                kept.label(new, label);
            }
        }
        let place = |node: Node| largest.binary_search(&node).ok().map(|index| index as Node);
        for &(from, to) in &self.arcs {
            if let (Some(from), Some(to)) = (place(from), place(to)) {
                kept.arc(from, to);
            }
        }
        kept.self_loops = self
            .self_loops
            .iter()
            .filter_map(|&node| place(node))
            .collect();
        kept.notes.push(format!(
            "kept the largest of {} components: {} of {} nodes",
            components.len(),
            largest.len(),
            self.names.len()
        ));
        kept
    }

    /// Where to draw a node: x to the right, y downwards.
    pub fn place(&mut self, node: Node, x: f64, y: f64) {
        if x.is_finite() && y.is_finite() {
            self.coordinates.insert(node, (x, y));
        }
    }

    /// The network.
    ///
    /// # Errors
    ///
    /// When there are fewer than two nodes, or not every node can be reached from
    /// every other one.
    pub fn finish(mut self) -> Result<Network, NetworkError> {
        if self.names.len() < 2 {
            return Err(NetworkError::TooSmall {
                nodes: self.names.len(),
            });
        }
        let mut notes = std::mem::take(&mut self.notes);
        if !self.self_loops.is_empty() {
            self.self_loops.sort_unstable();
            self.self_loops.dedup();
            notes.push(format!(
                "ignored self-loops at {}: a token that stays does not move",
                listed(self.self_loops.iter().map(|&v| &self.names[v as usize]))
            ));
        }
        self.arcs.sort_unstable();
        let before = self.arcs.len();
        self.arcs.dedup();
        let duplicates = before - self.arcs.len();
        if duplicates > 0 {
            notes.push(format!(
                "ignored {duplicates} duplicate directed links (a two-way link counts as two)"
            ));
        }
        let mut starts = vec![0u32; self.names.len() + 1];
        for &(from, _) in &self.arcs {
            starts[from as usize + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let symmetric = self
            .arcs
            .iter()
            .all(|&(from, to)| self.arcs.binary_search(&(to, from)).is_ok());
        self.check_connected(symmetric)?;
        let coordinates = (self.coordinates.len() == self.names.len()).then(|| {
            (0..self.names.len() as Node)
                .map(|node| self.coordinates[&node])
                .collect()
        });
        let mut times = HashMap::<&str, usize>::new();
        for label in self.labels.values() {
            *times.entry(label).or_insert(0) += 1;
        }
        let label = |node: Node| {
            let label = self.labels.get(&node)?;
            Some((label.clone(), times[label.as_str()] == 1))
        };
        let labels = match self.labels.is_empty() {
            true => Vec::new(),
            false => (0..self.names.len() as Node).map(label).collect(),
        };
        Ok(Network {
            labels,
            targets: self.arcs.iter().map(|&(_, to)| to).collect(),
            names: self.names,
            starts,
            symmetric,
            coordinates,
            notes,
        })
    }

    /// The strong components, each ascending.
    fn components(&self) -> Vec<Vec<Node>> {
        let mut graph = DiGraph::<(), (), Node>::with_capacity(self.names.len(), self.arcs.len());
        for _ in &self.names {
            graph.add_node(());
        }
        graph.extend_with_edges(&self.arcs);
        let mut components: Vec<Vec<Node>> = petgraph::algo::kosaraju_scc(&graph)
            .into_iter()
            .map(|component| component.iter().map(|node| node.index() as Node).collect())
            .collect();
        for component in &mut components {
            component.sort_unstable();
        }
        components
    }

    fn check_connected(&self, symmetric: bool) -> Result<(), NetworkError> {
        let mut components = self.components();
        if components.len() == 1 {
            return Ok(());
        }
        components.sort_unstable();
        let components = components
            .into_iter()
            .map(|component| {
                component
                    .into_iter()
                    .map(|node| self.names[node as usize].clone())
                    .collect()
            })
            .collect();
        Err(if symmetric {
            NetworkError::Disconnected { components }
        } else {
            NetworkError::NotStronglyConnected { components }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn self_loops_and_duplicates_are_noted() {
        let mut builder = Builder::default();
        let (a, b) = (builder.node("a"), builder.node("b"));
        builder.link(a, b);
        builder.link(b, a);
        builder.link(a, a);
        let network = builder.finish().unwrap();
        assert_eq!(network.notes().len(), 2);
        assert_eq!(network.links().collect::<Vec<_>>(), [(a, b)]);
    }

    #[test]
    fn components_are_listed() {
        let mut builder = Builder::default();
        let nodes = ["a", "b", "c", "d"].map(|name| builder.node(name));
        builder.link(nodes[0], nodes[2]);
        builder.link(nodes[1], nodes[3]);
        let error = builder.clone().finish().unwrap_err();
        assert_eq!(
            error,
            NetworkError::Disconnected {
                components: vec![vec!["a".into(), "c".into()], vec!["b".into(), "d".into()]]
            }
        );
        builder.arc(nodes[0], nodes[1]);
        let error = builder.clone().finish().unwrap_err();
        assert!(matches!(error, NetworkError::NotStronglyConnected { .. }));
        builder.arc(nodes[3], nodes[2]);
        assert!(!builder.finish().unwrap().is_symmetric());
    }
}
