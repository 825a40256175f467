//! Edge lists: one link a line, two names separated by blanks or a comma; what
//! follows the second name is ignored, as are comments from `#`. A name with
//! blanks is written in double quotes. `a -> b` is a link in one direction, and
//! so is every link of a file with the comment `# directed`. In an adjacency list a
//! line has a name and all names that it is linked to.

use super::{Format, WriteError, words};
use crate::network::{Builder, Network, Node};
use crate::read::ReadError;

const DIRECTED: &str = "# directed";

pub(super) fn read(text: &str) -> Result<Builder, ReadError> {
    let mut builder = Builder::default();
    let directed = text.lines().any(|line| line.trim() == DIRECTED);
    for (index, line) in text.lines().enumerate() {
        let words = words(line, '#').map_err(|message| ReadError::at(index + 1, message))?;
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        let arrow = words
            .get(1)
            .copied()
            .filter(|word| ["->", "--"].contains(word));
        if arrow.is_some() {
            words.remove(1);
            if words.len() < 2 {
                return Err(ReadError::at(index + 1, "expected a name after the arrow"));
            }
        }
        match words[..] {
            [] => {}
            [alone] => {
                builder.node(alone);
            }
            [from, to, ..] => {
                let (from, to) = (builder.node(from), builder.node(to));
                builder.join(
                    from,
                    to,
                    arrow == Some("->") || (directed && arrow.is_none()),
                );
            }
        }
    }
    Ok(builder)
}

/// An adjacency list. A link that both of its ends list is one link.
pub(super) fn read_adjacency(text: &str) -> Result<Builder, ReadError> {
    let mut builder = Builder::default();
    let directed = text.lines().any(|line| line.trim() == DIRECTED);
    for (index, line) in text.lines().enumerate() {
        let words = words(line, '#').map_err(|message| ReadError::at(index + 1, message))?;
        let nodes: Vec<Node> = words.iter().map(|word| builder.node(word)).collect();
        if let Some((&from, all)) = nodes.split_first() {
            for &to in all {
                builder.join_once(from, to, directed);
            }
        }
    }
    Ok(builder)
}

pub(super) fn write(network: &Network) -> Result<String, WriteError> {
    for name in network.names() {
        let awkward = |character: char| character.is_whitespace() || ",#\"".contains(character);
        if name.is_empty() || name.contains(awkward) || ["->", "--"].contains(&name.as_str()) {
            return Err(WriteError::Name {
                name: name.clone(),
                format: Format::Edges,
                reason: "in an edge list a name has no blanks, commas, quotes or #",
            });
        }
    }
    let mut text = String::new();
    if !network.is_symmetric() {
        text.push_str(DIRECTED);
        text.push('\n');
    }
    for (from, to) in super::written_links(network) {
        text.push_str(&format!("{} {}\n", network.name(from), network.name(to)));
    }
    Ok(text)
}
