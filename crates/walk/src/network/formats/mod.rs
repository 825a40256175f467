//! Network files: read in ten formats, written in four of them.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use strum::VariantArray;
use thiserror::Error;

use crate::network::{Builder, Network, Node};
use crate::read::ReadError;

mod dot;
mod edges;
mod gexf;
mod gml;
mod graph6;
mod graphml;
mod matrix_market;
pub(crate) mod node_link;
mod pajek;
mod xml;

/// How a network is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub enum Format {
    /// GraphML, an XML vocabulary.
    Graphml,
    /// The language of Graphviz.
    Dot,
    /// One link a line, two names each.
    Edges,
    /// JSON in the forms that networkx writes; here with nodes and links.
    NodeLink,
    /// GML, with nodes and edges in brackets; only read.
    Gml,
    /// GEXF, the XML of Gephi; only read.
    Gexf,
    /// Pajek's vertices and edges; only read.
    Pajek,
    /// graph6, sparse6 or digraph6; only read.
    Graph6,
    /// One node a line with its neighbours; only read.
    Adjacency,
    /// A matrix in the format of the Matrix Market; only read.
    MatrixMarket,
}

impl Format {
    /// All formats.
    pub const ALL: &[Format] = Format::VARIANTS;

    /// Those that can be written.
    pub const WRITTEN: [Format; 4] = [
        Format::Graphml,
        Format::Dot,
        Format::Edges,
        Format::NodeLink,
    ];

    /// The name on the command line, and the usual file endings.
    const fn names(self) -> &'static [&'static str] {
        match self {
            Format::Graphml => &["graphml", "xml"],
            Format::Dot => &["dot", "gv"],
            Format::Edges => &["edges", "edgelist", "txt", "csv"],
            Format::NodeLink => &["json", "cyjs"],
            Format::Gml => &["gml"],
            Format::Gexf => &["gexf"],
            Format::Pajek => &["pajek", "net", "paj"],
            Format::Graph6 => &["graph6", "g6", "sparse6", "s6", "digraph6", "d6"],
            Format::Adjacency => &["adjlist", "adj"],
            Format::MatrixMarket => &["mtx"],
        }
    }

    /// The name on the command line, which is also a file ending.
    pub const fn name(self) -> &'static str {
        self.names()[0]
    }

    /// All names, with commas.
    pub fn list() -> String {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        names.join(", ")
    }

    /// The format that a file's ending tells.
    pub fn of_path(path: &Path) -> Option<Format> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        let fits = |format: &Format| format.names().contains(&ending.as_str());
        Format::ALL.iter().copied().find(fits)
    }

    /// The network that a text describes.
    ///
    /// # Errors
    ///
    /// What is wrong and where, or why the network cannot be toured.
    ///
    /// ```
    /// use headway_walk::network::formats::Format;
    /// let ring = Format::Dot.read("graph { a -- b -- c -- a }").unwrap();
    /// assert_eq!(ring.names(), ["a", "b", "c"]);
    /// ```
    pub fn read(self, text: &str) -> Result<Network, ReadError> {
        Ok(self.builder(text)?.finish()?)
    }

    /// The nodes and links that a text describes, which need not be connected.
    ///
    /// # Errors
    ///
    /// What is wrong and where.
    pub fn builder(self, text: &str) -> Result<Builder, ReadError> {
        // Windows tools like to begin a text file with a byte-order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match self {
            Format::Graphml => graphml::read(text),
            Format::Dot => dot::read(text),
            Format::Edges => edges::read(text),
            Format::NodeLink => node_link::read(text),
            Format::Gml => gml::read(text),
            Format::Gexf => gexf::read(text),
            Format::Pajek => pajek::read(text),
            Format::Graph6 => graph6::read(text),
            Format::Adjacency => edges::read_adjacency(text),
            Format::MatrixMarket => matrix_market::read(text),
        }
    }

    /// The text that describes a network.
    ///
    /// # Errors
    ///
    /// When a name cannot be written in this format, or nothing can.
    pub fn write(self, network: &Network) -> Result<String, WriteError> {
        Ok(match self {
            Format::Graphml => graphml::write(network)?,
            Format::Dot => dot::write(network)?,
            Format::Edges => edges::write(network)?,
            Format::NodeLink => format!("{:#}\n", node_link::write(network)),
            _ => return Err(WriteError::OnlyRead { format: self }),
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        let found = Format::ALL.iter().find(|format| format.name() == text);
        found
            .copied()
            .ok_or(format!("expected one of {}", Format::list()))
    }
}

/// Why a network cannot be written in a format.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The format has no way to write this name.
    #[error("the name {name:?} cannot be written as {format}: {reason}; choose another format")]
    Name {
        /// The name.
        name: String,
        /// The format.
        format: Format,
        /// What stands in the way.
        reason: &'static str,
    },
    /// The format is only read.
    #[error("{format} is only read; write graphml, dot, edges or json")]
    OnlyRead {
        /// The format.
        format: Format,
    },
}

/// What a file lists: in an undirected file a two-way link once, in a directed
/// one every direction.
fn written_links(network: &Network) -> Vec<(Node, Node)> {
    network
        .links()
        .flat_map(|(from, to)| {
            let back = !network.is_symmetric() && network.linked(to, from);
            std::iter::once((from, to)).chain(back.then_some((to, from)))
        })
        .collect()
}

/// The words of a line up to a comment: separated by blanks or a comma, or in double
/// quotes.
fn words(line: &str, comment: char) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == comment {
            break;
        }
        if let Some(quoted) = rest.strip_prefix('"') {
            let Some(end) = quoted.find('"') else {
                return Err("a name in double quotes has no end".to_owned());
            };
            words.push(quoted[..end].to_owned());
            rest = &quoted[end + 1..];
        } else {
            let end = rest
                .find(|c: char| c.is_whitespace() || c == ',' || c == comment)
                .unwrap_or(rest.len());
            if end == 0 {
                return Err("expected a name before the comma".to_owned());
            }
            words.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        rest = rest.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Ok(words)
}

/// That many nodes, named by numbers. A file of a few bytes can announce any number,
/// but with three for each of its bytes most of them have no link.
fn numbered(
    builder: &mut Builder,
    first: u64,
    count: u64,
    (text, line): (&str, usize),
) -> Result<(), ReadError> {
    let bytes = text.len() as u64;
    if count > 100 + 3 * bytes {
        let message = format!("{count} nodes in {bytes} bytes: most of them have no link");
        return Err(ReadError::at(line, message));
    }
    for number in first..first + count {
        builder.node(&number.to_string());
    }
    Ok(())
}

impl Builder {
    /// A node that must not be there yet.
    fn new_node(&mut self, name: &str, line: usize) -> Result<Node, ReadError> {
        match self.find(name) {
            Some(_) => Err(ReadError::at(
                line,
                format!("the node {name:?} is there twice"),
            )),
            None => Ok(self.node(name)),
        }
    }

    /// The node at one end of a link, which must be there.
    fn known(&self, end: &str, name: &str, line: usize) -> Result<Node, ReadError> {
        self.find(name).ok_or_else(|| {
            ReadError::at(line, format!("{end} {name:?} is not a node of the graph"))
        })
    }
}
