//! Node-link JSON, as networkx writes it: the links under `links` (older) or
//! `edges` (newer). A node's `x` and `y`, or `pos`, are its coordinates. An id
//! that is not a text is named by its JSON, so a grid's `[0, 1]` is `[0,1]`.

use serde_json::{Value, json};

use super::ReadError;
use crate::network::{Builder, Network, Node};

pub(super) fn read(text: &str) -> Result<Builder, ReadError> {
    let document: Value = serde_json::from_str(text).map_err(|error| ReadError::At {
        line: error.line(),
        message: format!("not JSON: {error}"),
    })?;
    read_value(&document)
}

/// Reads from JSON that is already parsed.
///
/// # Errors
///
/// The field that is wrong.
pub(crate) fn read_value(document: &Value) -> Result<Builder, ReadError> {
    let wrong = |field: String, message: &str| ReadError::Field {
        field,
        message: message.to_owned(),
    };
    let flag = |name: &str| match document.get(name) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(wrong(name.to_owned(), "expected true or false")),
    };
    let directed = flag("directed")?;
    let Some(nodes) = document.get("nodes").and_then(Value::as_array) else {
        return Err(wrong("nodes".to_owned(), "expected a list of nodes"));
    };
    let mut builder = Builder::default();
    for (index, entry) in nodes.iter().enumerate() {
        let field = format!("nodes[{index}].id");
        let Some(id) = entry.get("id") else {
            return Err(wrong(field, "every node needs an id"));
        };
        let name = name_of(id);
        if builder.find(&name).is_some() {
            return Err(wrong(field, &format!("the node {name:?} is there twice")));
        }
        let node = builder.node(&name);
        if let Some((x, y)) = coordinates(entry) {
            builder.place(node, x, y);
        }
    }
    let (key, links) = ["links", "edges"]
        .into_iter()
        .find_map(|key| Some((key, document.get(key)?.as_array()?)))
        .ok_or_else(|| {
            let field = "links".to_owned();
            wrong(
                field,
                "expected a list of links (or of edges, as newer networkx writes)",
            )
        })?;
    for (index, link) in links.iter().enumerate() {
        let end = |end: &str| {
            let field = format!("{key}[{index}].{end}");
            let Some(id) = link.get(end) else {
                return Err(wrong(field, "expected the id of a node"));
            };
            builder
                .find(&name_of(id))
                .ok_or_else(|| wrong(field, &format!("{} is not the id of a node", name_of(id))))
        };
        let (source, target) = (end("source")?, end("target")?);
        if directed {
            builder.arc(source, target);
        } else {
            builder.link(source, target);
        }
    }
    Ok(builder)
}

fn name_of(id: &Value) -> String {
    match id {
        Value::String(name) => name.clone(),
        other => other.to_string(),
    }
}

fn coordinates(entry: &Value) -> Option<(f64, f64)> {
    if let (Some(x), Some(y)) = (entry.get("x"), entry.get("y")) {
        return Some((x.as_f64()?, y.as_f64()?));
    }
    match entry.get("pos")?.as_array()?.as_slice() {
        [x, y] => Some((x.as_f64()?, y.as_f64()?)),
        _ => None,
    }
}

/// The network as node-link JSON with both keys' readers in mind: `edges`, which
/// networkx 3.4 and later reads by default.
pub(crate) fn write(network: &Network) -> Value {
    let node = |node: Node| {
        let mut entry = json!({ "id": network.name(node) });
        if let Some(coordinates) = network.coordinates() {
            let (x, y) = coordinates[node as usize];
            entry["x"] = json!(x);
            entry["y"] = json!(y);
        }
        entry
    };
    json!({
        "directed": !network.is_symmetric(),
        "multigraph": false,
        "graph": {},
        "nodes": network.nodes().map(node).collect::<Vec<_>>(),
        "edges": super::written_links(network)
            .into_iter()
            .map(|(from, to)| json!({ "source": network.name(from), "target": network.name(to) }))
            .collect::<Vec<_>>(),
    })
}
