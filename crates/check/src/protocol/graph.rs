//! Who is whose neighbour.

use petgraph::graph::{NodeIndex, UnGraph};

/// A connected graph of processes, and names that some processes have for others.
#[derive(Clone, Debug)]
pub struct Graph {
    /// As written: "ring(5)".
    pub(crate) says: String,
    neighbours: Vec<Vec<usize>>,
    /// By name and process.
    names: Vec<(&'static str, Vec<Option<usize>>)>,
}

/// The most processes: a set of them is a machine word.
const MAX_PROCESSES: usize = 64;

impl Graph {
    /// A graph by its kind and sizes.
    pub(super) fn generated(kind: &str, sizes: &[i64]) -> Result<Graph, String> {
        let wanted = if kind == "grid" { 2 } else { 1 };
        if sizes.len() != wanted {
            return Err(format!(
                "{kind} takes {wanted} numbers, not {}",
                sizes.len()
            ));
        }
        let small = |size: &i64| {
            usize::try_from(*size)
                .ok()
                .filter(|&n| (1..=MAX_PROCESSES).contains(&n))
        };
        let listed: Option<Vec<usize>> = sizes.iter().map(small).collect();
        let listed = listed.ok_or(format!("a {kind} of 1 to {MAX_PROCESSES} processes"))?;
        let n = listed[0];
        let before = |i: usize| i.checked_sub(1);
        let after = |i: usize| (i + 1 < n).then_some(i + 1);
        let edges: Vec<(usize, usize)> = match kind {
            // Of 2, each is left and right of the other; 1 is its own.
            "ring" => (0..n - usize::from(n == 1))
                .map(|i| (i, (i + 1) % n))
                .collect(),
            "line" => (1..n).map(|i| (i - 1, i)).collect(),
            "star" => (1..n).map(|i| (0, i)).collect(),
            "complete" => (0..n).flat_map(|i| (0..i).map(move |j| (j, i))).collect(),
            "tree" => (1..n).map(|i| ((i - 1) / 2, i)).collect(),
            "grid" => {
                let (rows, columns) = (listed[0], listed[1]);
                let right = (0..rows * columns)
                    .filter(|i| (i + 1) % columns > 0)
                    .map(|i| (i, i + 1));
                let down = (0..(rows - 1) * columns).map(|i| (i, i + columns));
                right.chain(down).collect()
            }
            _ => return Err("expected ring, line, star, complete, tree, grid or edges".to_owned()),
        };
        let mut graph = Graph::new(listed.iter().product(), &edges)?;
        let numbers: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        graph.says = format!("{kind}({})", numbers.join(","));
        graph.names = match kind {
            "ring" => vec![
                ("left", (0..n).map(|i| Some((i + n - 1) % n)).collect()),
                ("right", (0..n).map(|i| Some((i + 1) % n)).collect()),
            ],
            "line" => vec![
                ("left", (0..n).map(before).collect()),
                ("right", (0..n).map(after).collect()),
            ],
            "tree" | "star" => {
                let parent = |i: usize| if kind == "tree" { (i - 1) / 2 } else { 0 };
                vec![(
                    "parent",
                    (0..n).map(|i| (i > 0).then(|| parent(i))).collect(),
                )]
            }
            _ => Vec::new(),
        };
        Ok(graph)
    }

    /// A graph by its edges.
    pub(super) fn new(n: usize, edges: &[(usize, usize)]) -> Result<Graph, String> {
        if !(1..=MAX_PROCESSES).contains(&n) {
            return Err(format!("1 to {MAX_PROCESSES} processes, not {n}"));
        }
        let mut neighbours = vec![Vec::new(); n];
        let mut graph = UnGraph::<(), ()>::new_undirected();
        let nodes: Vec<NodeIndex> = (0..n).map(|_| graph.add_node(())).collect();
        for &(a, b) in edges {
            if a >= n || b >= n || a == b {
                return Err(format!(
                    "{a}-{b} joins no two of the processes 0 to {}",
                    n - 1
                ));
            }
            if !neighbours[a].contains(&b) {
                neighbours[a].push(b);
                neighbours[b].push(a);
                graph.add_edge(nodes[a], nodes[b], ());
            }
        }
        if petgraph::algo::connected_components(&graph) != 1 {
            return Err("the graph is not connected".to_owned());
        }
        for list in &mut neighbours {
            list.sort_unstable();
        }
        let listed: Vec<String> = edges.iter().map(|(a, b)| format!("{a}-{b}")).collect();
        Ok(Graph {
            says: format!("{n} processes, edges {}", listed.join(", ")),
            neighbours,
            names: Vec::new(),
        })
    }

    /// How many processes there are.
    pub fn len(&self) -> usize {
        self.neighbours.len()
    }

    /// Never: there is at least one process.
    pub fn is_empty(&self) -> bool {
        self.neighbours.is_empty()
    }

    /// The neighbours of a process, ascending.
    pub fn neighbours(&self, process: usize) -> &[usize] {
        &self.neighbours[process]
    }

    /// How many hops one process is from another.
    pub(super) fn distance(&self, from: usize, to: usize) -> usize {
        let mut hops = vec![usize::MAX; self.len()];
        let mut queue = std::collections::VecDeque::from([from]);
        hops[from] = 0;
        while let Some(process) = queue.pop_front() {
            for &next in &self.neighbours[process] {
                if hops[next] == usize::MAX {
                    hops[next] = hops[process] + 1;
                    queue.push_back(next);
                }
            }
        }
        hops[to]
    }

    /// Whom a process calls by a name: `None` if the graph has no such name, `Some(None)`
    /// if this process calls nobody so.
    pub(super) fn named(&self, name: &str, process: usize) -> Option<Option<usize>> {
        let found = self.names.iter().find(|(known, _)| *known == name);
        found.map(|(_, by_process)| by_process[process])
    }
}
