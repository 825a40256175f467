//! The usual networks, and the one of the paper's figure 7.

use std::str::FromStr;

use thiserror::Error;

use crate::network::{Builder, Network, NetworkError, Node};
use crate::random::Choices;

/// A network to be made, as named on the command line: `grid:4x5`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Generator {
    /// Rows and columns, linked to the neighbours in both.
    Grid(u32, u32),
    /// A grid whose borders meet; at least 3 by 3.
    Torus(u32, u32),
    /// A centre and all others linked only to it.
    Star(u32),
    /// Nodes in a row.
    Line(u32),
    /// Nodes in a circle, at least 3.
    Ring(u32),
    /// A balanced binary tree.
    Tree(u32),
    /// All words of that many bits, linked when they differ in one.
    Hypercube(u32),
    /// Every node linked to every other.
    Complete(u32),
    /// Points thrown at random on a square of side 1, linked when at most that
    /// far apart.
    Geometric(u32, f64),
    /// Three rows of three that are joined only at their ends: a network as the
    /// caption of the paper's figure 7 describes it, where a walk passes the
    /// centre row twice and three tokens stay 2 apart. (The drawing itself is not
    /// in the paper's source.)
    Figure7,
}

/// Larger networks are not made: a slip of the finger should not fill the memory.
const MAX_NODES: u64 = 1_000_000;

impl Generator {
    /// The forms that [`Generator::from_str`] takes.
    pub const FORMS: &str = "grid:RxC, torus:RxC, star:N, line:N, ring:N, tree:N, hypercube:D, \
         complete:N, geometric:N, geometric:N:RADIUS or figure7";

    /// Makes the network. Only [`Generator::Geometric`] depends on the seed: it
    /// throws again, up to a thousand times, until the network is connected.
    ///
    /// # Errors
    ///
    /// When no geometric network came out connected.
    ///
    /// ```
    /// use headway_walk::network::generators::Generator;
    /// let generator: Generator = "grid:4x5".parse().unwrap();
    /// assert_eq!(generator.network(0).unwrap().len(), 20);
    /// ```
    pub fn network(self, seed: u64) -> Result<Network, NetworkError> {
        let number = |node: Node| node.to_string();
        match self {
            Generator::Grid(rows, columns) => lattice(rows, columns, false).finish(),
            Generator::Torus(rows, columns) => lattice(rows, columns, true).finish(),
            Generator::Star(nodes) => {
                let names = |node| match node {
                    0 => "centre".to_owned(),
                    leaf => format!("leaf{leaf}"),
                };
                linked(nodes, names, |node| Vec::from_iter((node > 0).then_some(0)))
            }
            Generator::Line(nodes) => {
                let mut line = numbered(nodes);
                for node in 1..nodes {
                    line.link(node - 1, node);
                }
                for node in 0..nodes {
                    line.place(node, f64::from(node), 0.0);
                }
                line.finish()
            }
            Generator::Ring(nodes) => linked(nodes, number, |node| vec![(node + 1) % nodes]),
            Generator::Tree(nodes) => {
                let parent = |node: Node| Some(node.checked_sub(1)? / 2);
                linked(nodes, number, |node| parent(node).into_iter().collect())
            }
            Generator::Hypercube(dimensions) => linked(
                1 << dimensions,
                |node| format!("{node:0width$b}", width = dimensions as usize),
                |node| {
                    (0..dimensions)
                        .map(|bit| node ^ (1 << bit))
                        .filter(|&other| other < node)
                        .collect()
                },
            ),
            Generator::Complete(nodes) => linked(nodes, number, |node| (0..node).collect()),
            Generator::Geometric(nodes, radius) => geometric(nodes, radius, seed),
            Generator::Figure7 => figure7().finish(),
        }
    }

    /// How large the network will be: its nodes, or more where there are many links
    /// to a node.
    pub fn size(self) -> u64 {
        match self {
            Generator::Grid(rows, columns) | Generator::Torus(rows, columns) => {
                u64::from(rows) * u64::from(columns)
            }
            Generator::Star(nodes)
            | Generator::Line(nodes)
            | Generator::Ring(nodes)
            | Generator::Tree(nodes)
            | Generator::Geometric(nodes, _) => u64::from(nodes),
            // The links count here: there are V²/2 of them.
            Generator::Complete(nodes) => u64::from(nodes) * u64::from(nodes) / 8,
            Generator::Hypercube(dimensions) => 1 << dimensions.min(63),
            Generator::Figure7 => 9,
        }
    }
}

fn numbered(nodes: u32) -> Builder {
    let mut builder = Builder::default();
    for node in 0..nodes {
        builder.node(&node.to_string());
    }
    builder
}

fn linked(
    nodes: u32,
    name: impl Fn(Node) -> String,
    others: impl Fn(Node) -> Vec<Node>,
) -> Result<Network, NetworkError> {
    let mut builder = Builder::default();
    for node in 0..nodes {
        builder.node(&name(node));
    }
    for node in 0..nodes {
        for other in others(node) {
            builder.link(node, other);
        }
    }
    builder.finish()
}

fn lattice(rows: u32, columns: u32, wrapped: bool) -> Builder {
    let mut builder = Builder::default();
    for row in 0..rows {
        for column in 0..columns {
            let node = builder.node(&format!("{row},{column}"));
            builder.place(node, f64::from(column), f64::from(row));
        }
    }
    let at = |row: u32, column: u32| (row % rows) * columns + column % columns;
    for row in 0..rows {
        for column in 0..columns {
            if wrapped || row + 1 < rows {
                builder.link(at(row, column), at(row + 1, column));
            }
            if wrapped || column + 1 < columns {
                builder.link(at(row, column), at(row, column + 1));
            }
        }
    }
    builder
}

fn geometric(nodes: u32, radius: f64, seed: u64) -> Result<Network, NetworkError> {
    let mut last = None;
    for throw in 0..1000 {
        let mut choices = Choices::new(seed, throw);
        // Six digits, so that files hold them exactly.
        let mut coordinate = || (choices.unit() * 1e6).floor() / 1e6;
        let points: Vec<(f64, f64)> = (0..nodes).map(|_| (coordinate(), coordinate())).collect();
        let mut builder = numbered(nodes);
        let cells = cells(nodes, radius);
        let cell = |coordinate: f64| ((coordinate * cells as f64) as usize).min(cells - 1);
        let mut members = vec![Vec::new(); cells * cells];
        for (node, &(x, y)) in points.iter().enumerate() {
            members[cell(y) * cells + cell(x)].push(node);
            builder.place(node as Node, x, y);
        }
        for (node, &(x, y)) in points.iter().enumerate() {
            for row in cell(y).saturating_sub(1)..=(cell(y) + 1).min(cells - 1) {
                for column in cell(x).saturating_sub(1)..=(cell(x) + 1).min(cells - 1) {
                    for &other in &members[row * cells + column] {
                        let (dx, dy) = (points[other].0 - x, points[other].1 - y);
                        if other < node && dx.hypot(dy) <= radius {
                            builder.link(other as Node, node as Node);
                        }
                    }
                }
            }
        }
        match builder.finish() {
            Ok(network) => return Ok(network),
            Err(error) => last = Some(error),
        }
    }
    Err(last.expect("thrown at least once"))
}

/// Cells on a side of the square: at least as wide as the radius, so that only
/// neighbouring cells matter, and hardly more of them than nodes.
fn cells(nodes: u32, radius: f64) -> usize {
    let most = f64::from(nodes).sqrt().ceil();
    (1.0 / radius).clamp(1.0, most) as usize
}

fn figure7() -> Builder {
    let mut builder = Builder::default();
    for (row, name) in ["a", "b", "c"].into_iter().enumerate() {
        for column in 0..3u32 {
            let node = builder.node(&format!("{name}{}", column + 1));
            builder.place(node, f64::from(column), row as f64);
            if column > 0 {
                builder.link(node - 1, node);
            }
        }
    }
    for (upper, lower) in [(0, 3), (2, 5), (3, 6), (5, 8)] {
        builder.link(upper, lower);
    }
    builder
}

/// The radius at which points on a square are linked unless told otherwise:
/// somewhat above the threshold of connectivity, sqrt(ln V / (pi V)).
pub(crate) fn usual_radius(nodes: u32) -> f64 {
    let nodes = f64::from(nodes.max(2));
    (2.2 * nodes.ln() / (std::f64::consts::PI * nodes)).sqrt()
}

/// The text names no network to make.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?}: {reason}; expected {}", Generator::FORMS)]
pub struct UnknownGenerator {
    text: String,
    reason: String,
}

impl FromStr for Generator {
    type Err = UnknownGenerator;

    fn from_str(text: &str) -> Result<Generator, UnknownGenerator> {
        let wrong = |reason: &str| UnknownGenerator {
            text: text.to_owned(),
            reason: reason.to_owned(),
        };
        let mut parts = text.split(':');
        let kind = parts.next().unwrap_or_default();
        let sizes: Vec<&str> = parts.collect();
        let number = |text: &str, least: u32| match text.parse::<u32>() {
            Ok(number) if number >= least => Ok(number),
            Ok(_) => Err(wrong(&format!("{text} is too small, at least {least}"))),
            Err(_) => Err(wrong(&format!("{text:?} is not a size"))),
        };
        let pair = |text: &str, least: u32| {
            let (rows, columns) = text
                .split_once('x')
                .ok_or_else(|| wrong("rows and columns are missing"))?;
            Ok((number(rows, least)?, number(columns, least)?))
        };
        let generator = match (kind, &sizes[..]) {
            ("grid", [size]) => {
                let (rows, columns) = pair(size, 1)?;
                Generator::Grid(rows, columns)
            }
            ("torus", [size]) => {
                let (rows, columns) = pair(size, 3)?;
                Generator::Torus(rows, columns)
            }
            ("star", [size]) => Generator::Star(number(size, 2)?),
            ("line", [size]) => Generator::Line(number(size, 2)?),
            ("ring", [size]) => Generator::Ring(number(size, 3)?),
            ("tree", [size]) => Generator::Tree(number(size, 2)?),
            ("hypercube", [size]) => match number(size, 1)? {
                dimensions @ ..=19 => Generator::Hypercube(dimensions),
                _ => return Err(wrong("more than 19 dimensions")),
            },
            ("complete", [size]) => Generator::Complete(number(size, 2)?),
            ("geometric", [size]) => {
                let nodes = number(size, 2)?;
                Generator::Geometric(nodes, usual_radius(nodes))
            }
            ("geometric", [size, radius]) => match radius.parse::<f64>() {
                Ok(radius) if radius > 0.0 && radius.is_finite() => {
                    Generator::Geometric(number(size, 2)?, radius)
                }
                _ => return Err(wrong("the radius is not a positive number")),
            },
            ("figure7", []) => Generator::Figure7,
            _ => return Err(wrong("no such network")),
        };
        match generator.size() {
            ..2 => Err(wrong("a network has at least 2 nodes")),
            2..=MAX_NODES => Ok(generator),
            _ => Err(wrong("too many nodes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> Network {
        text.parse::<Generator>().unwrap().network(7).unwrap()
    }

    #[test]
    fn sizes_and_links() {
        for (text, nodes, links) in [
            ("grid:3x4", 12, 17),
            ("torus:3x4", 12, 24),
            ("star:6", 6, 5),
            ("line:5", 5, 4),
            ("ring:5", 5, 5),
            ("tree:7", 7, 6),
            ("hypercube:4", 16, 32),
            ("complete:5", 5, 10),
            ("figure7", 9, 10),
        ] {
            let network = made(text);
            assert_eq!(
                (network.len(), network.links().count()),
                (nodes, links),
                "{text}"
            );
            assert!(network.notes().is_empty(), "{text}");
        }
    }

    #[test]
    fn geometric_links_are_the_close_pairs() {
        let network = made("geometric:60:0.25");
        let points = network.coordinates().unwrap();
        for one in network.nodes() {
            for other in network.nodes().filter(|&other| other != one) {
                let (a, b) = (points[one as usize], points[other as usize]);
                let close = (a.0 - b.0).hypot(a.1 - b.1) <= 0.25;
                assert_eq!(network.linked(one, other), close);
            }
        }
        assert_eq!(network, made("geometric:60:0.25"));
    }

    /// A thousand throws with a cell for every tiny radius took forever.
    #[test]
    fn few_cells_for_few_nodes() {
        for (nodes, radius) in [
            (2, 1e-300),
            (10, 0.0001),
            (60, 0.25),
            (1_000_000, 1e-6),
            (9, 5.0),
        ] {
            let cells = cells(nodes, radius);
            assert!(
                cells >= 1 && cells * cells <= 4 * nodes as usize,
                "{nodes} {radius}"
            );
            assert!(
                radius > 1.0 || 1.0 / cells as f64 >= radius,
                "{nodes} {radius}"
            );
        }
        let made = "geometric:10:0.0001"
            .parse::<Generator>()
            .unwrap()
            .network(7);
        assert!(
            matches!(made, Err(NetworkError::Disconnected { .. })),
            "{made:?}"
        );
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "grid",
            "grid:4",
            "torus:2x9",
            "star:x",
            "cube:3",
            "grid:1x1",
            "geometric:9:0",
            "grid:4000x4000",
        ] {
            assert!(text.parse::<Generator>().is_err(), "{text}");
        }
    }
}
