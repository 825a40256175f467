//! GEXF, the format of Gephi: `node` and `edge` elements; a node's `label` is shown,
//! the `position` that Gephi gave it are its coordinates. An edge that is `mutual`
//! goes both ways.

use super::xml::{Document, Element, child};
use crate::network::Builder;
use crate::read::ReadError;

pub(super) fn read(text: &str) -> Result<Builder, ReadError> {
    let document = Document::parse(text, "gexf")?;
    let mut builder = Builder::default();
    for element in document.elements("node") {
        let id = document.required(element, "id")?;
        let node = builder.new_node(id, document.line(element))?;
        if let Some(label) = element.attribute("label") {
            builder.label(node, label);
        }
        let coordinate =
            |position: Element<'_>, name| -> Option<f64> { position.attribute(name)?.parse().ok() };
        // Gephi counts y upwards.
        let place = child(element, "position")
            .and_then(|position| Some((coordinate(position, "x")?, -coordinate(position, "y")?)));
        if let Some((x, y)) = place {
            builder.place(node, x, y);
        }
    }
    for edge in document.elements("edge") {
        let (source, target) = document.ends(edge, &builder)?;
        let default = document.graph_of(edge)?.attribute("defaultedgetype");
        let directed = match edge.attribute("type").or(default) {
            Some("directed") => true,
            Some("undirected" | "mutual") | None => false,
            Some(other) => {
                let message =
                    format!("an edge of type {other:?}, expected directed, undirected or mutual");
                return Err(document.wrong(edge, message));
            }
        };
        builder.join(source, target, directed);
    }
    Ok(builder)
}
