//! JSON as networkx writes it, in any of three forms: node-link, with the links under
//! `links` (older) or `edges` (newer); adjacency, with a list of neighbours for each
//! node; and that of Cytoscape, under `elements`. A node's `x` and `y`, or `pos`, are
//! its coordinates, its `label` or `name` is shown. An id that is not a text is named
//! by its JSON, so a grid's `[0, 1]` is `[0,1]`.

use serde_json::{Value, json};

use crate::network::{Builder, Network, Node};
use crate::read::ReadError;

pub(super) fn read(text: &str) -> Result<Builder, ReadError> {
    if text.trim().is_empty() {
        return Err(ReadError::at(1, "it is empty; expected a network in JSON"));
    }
    let document: Value = serde_json::from_str(text)
        .map_err(|error| ReadError::at(error.line(), format!("not JSON: {error}")))?;
    read_value(&document)
}

/// Reads from JSON that is already parsed.
///
/// # Errors
///
/// The field that is wrong.
pub(crate) fn read_value(document: &Value) -> Result<Builder, ReadError> {
    let flag = |name: &str| match document.get(name) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(ReadError::field(name, "expected true or false")),
    };
    let directed = flag("directed")?;
    let (nodes, links) = match document.get("elements") {
        Some(elements) => cytoscape(elements)?,
        None => {
            let nodes = listed(document, "nodes", "expected a list of nodes")?;
            let key = ["links", "edges", "adjacency"]
                .into_iter()
                .find(|key| document.get(key).is_some_and(Value::is_array));
            let expected = "expected a list of links (or of edges, as newer networkx writes)";
            (nodes, listed(document, key.unwrap_or("links"), expected)?)
        }
    };
    let mut builder = Builder::default();
    for (field, entry) in &nodes {
        let Some(id) = entry.get("id") else {
            return Err(ReadError::field(
                format!("{field}.id"),
                "every node needs an id",
            ));
        };
        let name = name_of(id);
        if builder.find(&name).is_some() {
            let message = format!("the node {name:?} is there twice");
            return Err(ReadError::field(format!("{field}.id"), message));
        }
        let node = builder.node(&name);
        if let Some((x, y)) = coordinates(entry) {
            builder.place(node, x, y);
        }
        if let Some(label) = entry.get("label").or(entry.get("name")) {
            builder.label(node, &name_of(label));
        }
    }
    let end = |builder: &Builder, field: &str, entry: &Value, end: &str| {
        let field = format!("{field}.{end}");
        let Some(id) = entry.get(end) else {
            return Err(ReadError::field(field, "expected the id of a node"));
        };
        let name = name_of(id);
        let known = builder.find(&name);
        known.ok_or_else(|| ReadError::field(field, format!("{name} is not the id of a node")))
    };
    for (from, (field, link)) in links.iter().enumerate() {
        if let Some(neighbours) = link.as_array() {
            if from >= builder.len() {
                return Err(ReadError::field(
                    field.clone(),
                    "there are more lists than nodes",
                ));
            }
            for (index, neighbour) in neighbours.iter().enumerate() {
                let to = end(&builder, &format!("{field}[{index}]"), neighbour, "id")?;
                builder.join_once(from as Node, to, directed);
            }
        } else {
            let source = end(&builder, field, link, "source")?;
            let target = end(&builder, field, link, "target")?;
            builder.join(source, target, directed);
        }
    }
    Ok(builder)
}

/// The entries of a list, each with the name of its field.
type Entries<'a> = Vec<(String, &'a Value)>;

fn listed<'a>(parent: &'a Value, key: &str, expected: &str) -> Result<Entries<'a>, ReadError> {
    let list = parent.get(key).and_then(Value::as_array);
    let list = list.ok_or_else(|| ReadError::field(key, expected))?;
    let field = |index| format!("{key}[{index}]");
    Ok((0..).map(field).zip(list).collect())
}

/// Cytoscape: everything is under `data`; nodes and edges apart, or in one list.
fn cytoscape(elements: &Value) -> Result<(Entries<'_>, Entries<'_>), ReadError> {
    let all = match elements.as_array() {
        Some(list) => (0..)
            .map(|index| format!("elements[{index}]"))
            .zip(list)
            .collect(),
        None => {
            let mut all = listed(elements, "nodes", "expected a list of nodes")?;
            all.extend(listed(elements, "edges", "expected a list of edges")?);
            all
        }
    };
    let mut found = (Vec::new(), Vec::new());
    for (field, element) in all {
        let data = element
            .get("data")
            .ok_or_else(|| ReadError::field(field.clone(), "expected data in every element"))?;
        let list = if data.get("source").is_some() {
            &mut found.1
        } else {
            &mut found.0
        };
        list.push((format!("{field}.data"), data));
    }
    Ok(found)
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
        if let Some(label) = network.own_label(node) {
            entry["label"] = json!(label);
        }
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
