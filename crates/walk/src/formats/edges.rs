//! Edge lists: one link a line, two names separated by blanks or a comma; what
//! follows the second name is ignored, as are comments from `#`. A name with
//! blanks is written in double quotes. `a -> b` is a link in one direction, and
//! so is every link of a file with the comment `# directed`.

use super::{Format, ReadError, WriteError};
use crate::network::{Builder, Network};

const DIRECTED: &str = "# directed";

pub(super) fn read(text: &str) -> Result<Builder, ReadError> {
    let mut builder = Builder::default();
    let directed = text.lines().any(|line| line.trim() == DIRECTED);
    for (index, line) in text.lines().enumerate() {
        let words = words(line).map_err(|message| ReadError::At {
            line: index + 1,
            message,
        })?;
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        let arrow = words
            .get(1)
            .copied()
            .filter(|word| ["->", "--"].contains(word));
        if arrow.is_some() {
            words.remove(1);
            if words.len() < 2 {
                return Err(ReadError::At {
                    line: index + 1,
                    message: "expected a name after the arrow".to_owned(),
                });
            }
        }
        match words[..] {
            [] => {}
            [alone] => {
                builder.node(alone);
            }
            [from, to, ..] => {
                let (from, to) = (builder.node(from), builder.node(to));
                if arrow == Some("->") || (directed && arrow.is_none()) {
                    builder.arc(from, to);
                } else {
                    builder.link(from, to);
                }
            }
        }
    }
    Ok(builder)
}

fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        match first {
            '#' => break,
            '"' => {
                let Some(end) = rest[1..].find('"') else {
                    return Err("a name in double quotes has no end".to_owned());
                };
                words.push(rest[1..=end].to_owned());
                rest = &rest[end + 2..];
            }
            _ => {
                let end = rest
                    .find(|character: char| character.is_whitespace() || ",#".contains(character))
                    .unwrap_or(rest.len());
                if end == 0 {
                    return Err("expected a name before the comma".to_owned());
                }
                words.push(rest[..end].to_owned());
                rest = &rest[end..];
            }
        }
        rest = rest.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Ok(words)
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
