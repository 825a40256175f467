//! python/headway/_answers.py: the keys of the answers as attributes with types.

use serde_json::Value;

/// Names of classes, the schemas that they are made from, and the keys that Python gives in
/// types of its own, in python/headway/*.py.
const CLASSES: [(&str, &str, &[&str]); 7] = [
    (
        "CheckAnswer",
        "check",
        &["properties", "state_count", "legitimate_count", "witness"],
    ),
    ("ForecastAnswer", "forecast", &["cycle_time", "waits"]),
    (
        "AnalysisAnswer",
        "petri-analyze",
        &["cycle_time", "eigenvector"],
    ),
    ("PlanAnswer", "plan", &["order", "stations"]),
    ("RunAnswer", "run", &[]),
    ("WalkAnswer", "walk", &["walk", "nearest"]),
    ("WorstAnswer", "worst", &[]),
];

/// The module, from schemas by name.
pub(super) fn text(schema_of: impl Fn(&str) -> Value) -> String {
    let mut text = String::from(
        "\"\"\"What commands answer, as types.\n\n\
         Generated from the types of the answers: HEADWAY_UPDATE=1 cargo test -p headway --bin \
         headway schemas\n\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from typing import Any, Dict, List, Optional, Union\n\n\
         from ._table import Answer\n",
    );
    for (class, name, own) in CLASSES {
        let schema = schema_of(name);
        text += &format!(
            "\n\nclass {class}(Answer):\n    \"\"\"{}.\"\"\"\n",
            title(&schema)
        );
        // A walk's schema has other answers beside it.
        let whole = match schema["anyOf"].as_array() {
            Some(several) => &several[0],
            None => &schema,
        };
        let fields = whole["properties"].as_object().expect("fields");
        for (key, field) in fields {
            if own.contains(&key.as_str()) {
                continue;
            }
            let about = field["description"].as_str().unwrap_or_default();
            text += &format!("\n    {key}: {}\n    \"\"\"{about}\"\"\"\n", kind(field));
        }
    }
    text
}

fn title(schema: &Value) -> &str {
    schema["title"].as_str().expect("a title")
}

fn kind(schema: &Value) -> String {
    if let Some(several) = schema["anyOf"].as_array() {
        let is_null = |one: &&Value| one["type"] == "null";
        let others: Vec<String> = several
            .iter()
            .filter(|one| !is_null(one))
            .map(kind)
            .collect();
        let either = match &others[..] {
            [one] => one.clone(),
            others => format!("Union[{}]", others.join(", ")),
        };
        return match several.iter().any(|one| is_null(&one)) {
            true => format!("Optional[{either}]"),
            false => either,
        };
    }
    if let Some(names) = schema["type"].as_array() {
        let other = names.iter().find(|name| *name != "null").expect("a type");
        return format!("Optional[{}]", of_type(other, schema));
    }
    of_type(&schema["type"], schema)
}

fn of_type(name: &Value, schema: &Value) -> String {
    match name.as_str() {
        Some("integer") => "int".to_owned(),
        Some("number") => "float".to_owned(),
        Some("string") => "str".to_owned(),
        Some("boolean") => "bool".to_owned(),
        Some("array") => match schema.get("items") {
            Some(items) => format!("List[{}]", kind(items)),
            None => "List[Any]".to_owned(),
        },
        Some(_) => "Dict[str, Any]".to_owned(),
        None if schema["enum"].is_array() || schema["const"].is_string() => "str".to_owned(),
        // All of these are objects.
        None if schema["$ref"].is_string() => "Dict[str, Any]".to_owned(),
        None => "Any".to_owned(),
    }
}
