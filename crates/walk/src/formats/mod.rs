//! Network files: GraphML, DOT, edge lists and node-link JSON, read and written.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use thiserror::Error;

use crate::network::{Network, NetworkError};

mod dot;
mod edges;
mod graphml;
pub(crate) mod node_link;

/// How a network is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// GraphML, an XML vocabulary.
    Graphml,
    /// The language of Graphviz.
    Dot,
    /// One link a line, two names each.
    Edges,
    /// JSON with nodes and links, as networkx writes it.
    NodeLink,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 4] = [
        Format::Graphml,
        Format::Dot,
        Format::Edges,
        Format::NodeLink,
    ];

    /// The name on the command line, which is also the usual file ending.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Graphml => "graphml",
            Format::Dot => "dot",
            Format::Edges => "edges",
            Format::NodeLink => "json",
        }
    }

    /// The format that a file's ending tells.
    pub fn of_path(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "graphml" | "xml" => Some(Format::Graphml),
            "dot" | "gv" => Some(Format::Dot),
            "edges" | "edgelist" | "txt" | "csv" => Some(Format::Edges),
            "json" => Some(Format::NodeLink),
            _ => None,
        }
    }

    /// The network that a text describes.
    ///
    /// # Errors
    ///
    /// What is wrong and where, or why the network cannot be toured.
    ///
    /// ```
    /// use headway_walk::formats::Format;
    /// let ring = Format::Dot.read("graph { a -- b -- c -- a }").unwrap();
    /// assert_eq!(ring.names(), ["a", "b", "c"]);
    /// ```
    pub fn read(self, text: &str) -> Result<Network, ReadError> {
        // Windows tools like to begin a text file with a byte-order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let builder = match self {
            Format::Graphml => graphml::read(text),
            Format::Dot => dot::read(text),
            Format::Edges => edges::read(text),
            Format::NodeLink => node_link::read(text),
        }?;
        Ok(builder.finish()?)
    }

    /// The text that describes a network.
    ///
    /// # Errors
    ///
    /// When a name cannot be written in this format.
    pub fn write(self, network: &Network) -> Result<String, WriteError> {
        Ok(match self {
            Format::Graphml => graphml::write(network)?,
            Format::Dot => dot::write(network)?,
            Format::Edges => edges::write(network)?,
            Format::NodeLink => format!("{:#}\n", node_link::write(network)),
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
        Format::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| "expected graphml, dot, edges or json".to_owned())
    }
}

/// Why a text is not a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Something at a place.
    #[error("line {line}: {message}")]
    At {
        /// From 1.
        line: usize,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// Something in a field of a JSON document.
    #[error("{field}: {message}")]
    Field {
        /// Such as `links[3].source`.
        field: String,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// Well-formed, but no network for tokens.
    #[error(transparent)]
    Network(#[from] NetworkError),
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
}

/// What a file lists: in an undirected file a two-way link once, in a directed
/// one every direction.
fn written_links(network: &Network) -> Vec<(crate::network::Node, crate::network::Node)> {
    network
        .links()
        .flat_map(|(from, to)| {
            let back = !network.is_symmetric() && network.linked(to, from);
            std::iter::once((from, to)).chain(back.then_some((to, from)))
        })
        .collect()
}
