//! GraphML: `graph`, `node` and `edge` elements; node data named x and y are
//! coordinates. Ports and hyperedges are refused.

use std::collections::HashMap;
use std::fmt::Write;

use roxmltree::{Document, Node as Element};

use super::{Format, ReadError, WriteError};
use crate::network::{Builder, Network};

pub(super) fn read(text: &str) -> Result<Builder, ReadError> {
    let document = Document::parse(text).map_err(|error| ReadError::At {
        line: error.pos().row as usize,
        message: format!("not well-formed XML: {error}"),
    })?;
    let at = |element: Element<'_, '_>, message: String| ReadError::At {
        line: document.text_pos_at(element.range().start).row as usize,
        message,
    };
    let root = document.root_element();
    if root.tag_name().name() != "graphml" {
        let found = root.tag_name().name();
        return Err(at(root, format!("expected <graphml>, found <{found}>")));
    }
    let elements = || root.descendants().filter(Element::is_element);
    let mut coordinate_keys = HashMap::new();
    for key in elements().filter(|element| element.has_tag_name_local("key")) {
        if let (Some(id), Some(name)) = (key.attribute("id"), key.attribute("attr.name")) {
            coordinate_keys.insert(id, name);
        }
    }
    let mut builder = Builder::default();
    let mut graphs = 0;
    // Nodes first: an edge may come before the nodes that it joins.
    for element in elements() {
        match element.tag_name().name() {
            "graph" => graphs += 1,
            "hyperedge" => {
                let message = "a <hyperedge> is not a link between two nodes".to_owned();
                return Err(at(element, message));
            }
            "node" => {
                let Some(id) = element.attribute("id") else {
                    return Err(at(element, "this <node> has no id".to_owned()));
                };
                if builder.find(id).is_some() {
                    return Err(at(element, format!("the node {id:?} is there twice")));
                }
                let node = builder.node(id);
                let data = |wanted: &str| {
                    element
                        .children()
                        .filter(|child| child.has_tag_name_local("data"))
                        .find(|child| {
                            child
                                .attribute("key")
                                .and_then(|key| coordinate_keys.get(key))
                                == Some(&wanted)
                        })
                        .and_then(|child| child.text()?.trim().parse().ok())
                };
                if let (Some(x), Some(y)) = (data("x"), data("y")) {
                    builder.place(node, x, y);
                }
            }
            _ => {}
        }
    }
    if graphs == 0 {
        return Err(at(root, "there is no <graph> in this file".to_owned()));
    }
    for edge in elements().filter(|element| element.has_tag_name_local("edge")) {
        let end = |name: &str| {
            let Some(id) = edge.attribute(name) else {
                return Err(at(edge, format!("this <edge> has no {name}")));
            };
            builder
                .find(id)
                .ok_or_else(|| at(edge, format!("{name} {id:?} is not a node of the graph")))
        };
        let (source, target) = (end("source")?, end("target")?);
        let default = edge
            .ancestors()
            .find(|ancestor| ancestor.has_tag_name_local("graph"))
            .and_then(|graph| graph.attribute("edgedefault"));
        let directed = match (edge.attribute("directed"), default) {
            (Some("true"), _) | (None, Some("directed")) => true,
            (Some("false"), _) | (None, Some("undirected") | None) => false,
            (Some(other), _) => {
                let message = format!("directed is {other:?}, expected true or false");
                return Err(at(edge, message));
            }
            (None, Some(other)) => {
                let message = format!("edgedefault is {other:?}, expected directed or undirected");
                return Err(at(edge, message));
            }
        };
        if directed {
            builder.arc(source, target);
        } else {
            builder.link(source, target);
        }
    }
    Ok(builder)
}

trait LocalName {
    fn has_tag_name_local(&self, name: &str) -> bool;
}

impl LocalName for Element<'_, '_> {
    /// Many tools leave the namespace out, so only the local name is compared.
    fn has_tag_name_local(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

pub(super) fn write(network: &Network) -> Result<String, WriteError> {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    if network.coordinates().is_some() {
        for axis in ["x", "y"] {
            let _ = writeln!(
                text,
                "  <key id=\"{axis}\" for=\"node\" attr.name=\"{axis}\" attr.type=\"double\"/>"
            );
        }
    }
    let directed = !network.is_symmetric();
    let default = if directed { "directed" } else { "undirected" };
    let _ = writeln!(text, "  <graph edgedefault=\"{default}\">");
    for node in network.nodes() {
        let id = escaped(network.name(node))?;
        match network.coordinates() {
            None => {
                let _ = writeln!(text, "    <node id=\"{id}\"/>");
            }
            Some(coordinates) => {
                let (x, y) = coordinates[node as usize];
                let _ = writeln!(
                    text,
                    "    <node id=\"{id}\"><data key=\"x\">{x}</data><data key=\"y\">{y}</data></node>"
                );
            }
        }
    }
    for (from, to) in super::written_links(network) {
        let (source, target) = (escaped(network.name(from))?, escaped(network.name(to))?);
        let _ = writeln!(text, "    <edge source=\"{source}\" target=\"{target}\"/>");
    }
    text.push_str("  </graph>\n</graphml>\n");
    Ok(text)
}

fn escaped(name: &str) -> Result<String, WriteError> {
    let mut text = String::new();
    for character in name.chars() {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '"' => text.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(text, "&#{};", character as u32);
            }
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => {
                return Err(WriteError::Name {
                    name: name.to_owned(),
                    format: Format::Graphml,
                    reason: "XML has no such control character",
                });
            }
            _ => text.push(character),
        }
    }
    Ok(text)
}
