//! The tables of crates/dashboard/API.md, from the document that the server gives out.

use serde_json::Value;

use super::root;

/// Ends what is written by hand.
const MARK: &str = "schemas -->\n\n";

/// What the file is to be: its own text up to the mark, then the tables.
pub(super) fn text() -> String {
    let kept = std::fs::read_to_string(root().join("crates/dashboard/API.md")).unwrap_or_default();
    let by_hand = kept.split(MARK).next().unwrap_or_default();
    let document = headway_dashboard::document();
    format!(
        "{by_hand}{MARK}## Requests\n\n{}\n## Types\n{}",
        requests(&document),
        types(&document)
    )
}

fn requests(document: &Value) -> String {
    let mut text = String::from("| request | brings | answer |\n|---|---|---|\n");
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            text += &format!(
                "| `{} {path}`<br>{} | {} | {} |\n",
                method.to_uppercase(),
                said(operation, "summary"),
                brings(operation),
                answers(operation)
            );
        }
    }
    text
}

fn brings(operation: &Value) -> String {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let mut parts: Vec<String> = parameters
        .filter(|parameter| parameter["in"] == "query")
        .map(|parameter| {
            let (name, schema) = (said(parameter, "name"), &parameter["schema"]);
            let default = match &schema["default"] {
                Value::Null => String::new(),
                value => format!(", by default {}", value.to_string().replace('"', "`")),
            };
            let about = said(parameter, "description");
            let about = about.trim_end_matches('.');
            format!("`?{name}` {}: {about}{default}", kind(schema))
        })
        .collect();
    let bodies = operation["requestBody"]["content"].as_object();
    parts.extend(
        bodies
            .into_iter()
            .flatten()
            .map(|(content, body)| match body.get("schema") {
                Some(schema) => kind(schema),
                None => format!("a file, `{content}`"),
            }),
    );
    parts.join("<br>")
}

fn answers(operation: &Value) -> String {
    let all = operation["responses"].as_object().expect("answers");
    let parts = all.iter().map(|(status, answer)| {
        let content = answer["content"].as_object().into_iter().flatten().next();
        match content.map(|(_, media)| &media["schema"]) {
            Some(schema) if status.starts_with('2') && schema.is_object() => {
                format!("{status} {}", kind(schema))
            }
            _ => format!("{status} {}", said(answer, "description")),
        }
    });
    parts.collect::<Vec<_>>().join("<br>")
}

fn types(document: &Value) -> String {
    let mut text = String::new();
    let types = document["components"]["schemas"].as_object();
    for (name, schema) in types.expect("types") {
        text += &format!("\n### {name}\n\n{}\n", said(schema, "description"));
        let fields = schema["properties"].as_object().into_iter().flatten();
        let rows: String = fields
            .map(|(name, field)| {
                format!(
                    "| `{name}` | {} | {} |\n",
                    kind(field),
                    said(field, "description")
                )
            })
            .collect();
        if !rows.is_empty() {
            text += &format!("\n| field | is | |\n|---|---|---|\n{rows}");
        }
        for one in schema["oneOf"].as_array().into_iter().flatten() {
            text += &format!("\n* {}", kind(one));
            if one["description"].is_string() {
                text += &format!(": {}", said(one, "description"));
            }
        }
        if schema["oneOf"].is_array() {
            text.push('\n');
        }
    }
    text
}

/// A type in a few words.
fn kind(schema: &Value) -> String {
    if let Some(path) = schema["$ref"].as_str() {
        let name = path.rsplit('/').next().unwrap_or(path);
        return format!("[{name}](#{})", name.to_lowercase());
    }
    let list = |key: &str| schema[key].as_array().map(|all| all.iter());
    let joined = |all: Vec<String>, between: &str| all.join(between);
    if let Some(several) = list("anyOf").or(list("oneOf")) {
        return joined(several.map(kind).collect(), " or ");
    }
    if let Some(words) = list("enum") {
        let words = words.map(|word| format!("`{}`", word.as_str().unwrap_or_default()));
        return joined(words.collect(), ", ");
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`{word}`");
    }
    if let Some(parts) = list("prefixItems") {
        return format!("[{}]", joined(parts.map(kind).collect(), ", "));
    }
    if let Some(fields) = schema["properties"].as_object() {
        let fields = fields.iter();
        let fields = fields.map(|(name, field)| format!("`{name}` {}", kind(field)));
        return joined(fields.collect(), ", ");
    }
    let named = |name: &Value| match (name.as_str().unwrap_or("anything"), schema.get("items")) {
        ("array", Some(items)) => format!("list of {}", kind(items)),
        (name, _) => name.to_owned(),
    };
    match list("type") {
        Some(names) => joined(names.map(named).collect(), " or "),
        None => named(&schema["type"]),
    }
}

/// A text on one line, as a cell of a table takes it.
fn said(value: &Value, key: &str) -> String {
    let text = value[key].as_str().unwrap_or_default();
    text.replace('\n', " ").replace('|', "\\|")
}
