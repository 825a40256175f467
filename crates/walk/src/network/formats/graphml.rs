//! GraphML: `graph`, `node` and `edge` elements; node data named x and y are
//! coordinates. Ports and hyperedges are refused.

use std::collections::HashMap;
use std::fmt::Write;

use super::xml::{Document, Element};
use super::{Format, WriteError};
use crate::network::{Builder, Network};
use crate::read::ReadError;

pub(super) fn read(text: &str) -> Result<Builder, ReadError> {
    let document = Document::parse(text, "graphml")?;
    if let Some(element) = document.elements("hyperedge").next() {
        let message = "a <hyperedge> is not a link between two nodes";
        return Err(document.wrong(element, message));
    }
    let keys: HashMap<&str, &str> = document
        .elements("key")
        .filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name")?)))
        .collect();
    let mut builder = Builder::default();
    // Nodes first: an edge may come before the nodes that it joins.
    for element in document.elements("node") {
        let id = document.required(element, "id")?;
        let node = builder.new_node(id, document.line(element))?;
        let data = |wanted: &str| {
            let children = element.children();
            let mut data = children.filter(|child| child.tag_name().name() == "data");
            let key = |data: &Element<'_>| keys.get(data.attribute("key")?).copied();
            let found =
                data.find(|data| key(data).is_some_and(|key| key.eq_ignore_ascii_case(wanted)));
            found?.text().map(str::trim)
        };
        let number = |wanted: &str| data(wanted)?.parse().ok();
        // yEd keeps the label in an element of its own.
        let drawn = element
            .descendants()
            .find(|inner| inner.tag_name().name() == "NodeLabel");
        let label = data("label")
            .or(data("name"))
            .or(drawn.and_then(|inner| inner.text()));
        if let Some(label) = label {
            builder.label(node, label);
        }
        if let (Some(x), Some(y)) = (number("x"), number("y")) {
            builder.place(node, x, y);
        }
    }
    for edge in document.elements("edge") {
        let (source, target) = document.ends(edge, &builder)?;
        let default = document.graph_of(edge)?.attribute("edgedefault");
        let directed = match (edge.attribute("directed"), default) {
            (Some("true"), _) | (None, Some("directed")) => true,
            (Some("false"), _) | (None, Some("undirected") | None) => false,
            (Some(other), _) => {
                let message = format!("directed is {other:?}, expected true or false");
                return Err(document.wrong(edge, message));
            }
            (None, Some(other)) => {
                let message = format!("edgedefault is {other:?}, expected directed or undirected");
                return Err(document.wrong(edge, message));
            }
        };
        builder.join(source, target, directed);
    }
    Ok(builder)
}

pub(super) fn write(network: &Network) -> Result<String, WriteError> {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    if network.has_labels() {
        text.push_str(
            "  <key id=\"label\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>\n",
        );
    }
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
        let _ = write!(text, "    <node id=\"{id}\">");
        if let Some(label) = network.own_label(node) {
            let _ = write!(text, "<data key=\"label\">{}</data>", escaped(label)?);
        }
        if let Some(coordinates) = network.coordinates() {
            let (x, y) = coordinates[node as usize];
            let _ = write!(text, "<data key=\"x\">{x}</data><data key=\"y\">{y}</data>");
        }
        text.push_str("</node>\n");
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
