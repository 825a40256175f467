//! What is made from the types of the answers: `schemas/v1`, docs/json.md, the tables of
//! crates/dashboard/API.md, and Python's types.
//! `HEADWAY_UPDATE=1 cargo test -p headway --bin headway schemas` writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use headway_answer as answer;
use headway_service as service;

use crate::command;

mod interface;
mod python;

/// Names of files, what prints it, and its schema.
type Schemas = Vec<(&'static str, &'static str, Value)>;

fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<T>();
    schema.to_value()
}

/// Either of several.
fn one_of(several: Vec<Value>) -> Value {
    let mut definitions = serde_json::Map::new();
    let several = several.into_iter().map(|mut schema| {
        if let Some(Value::Object(own)) = schema.as_object_mut().expect("object").remove("$defs") {
            definitions.extend(own);
        }
        schema
    });
    let several: Vec<Value> = several.collect();
    json!({ "anyOf": several, "$defs": definitions })
}

fn generated() -> Schemas {
    vec![
        (
            "chain",
            "headway chain --format json",
            of::<command::chain::ChainJson>(),
        ),
        (
            "check",
            "headway check MODEL --format json",
            of::<answer::check::CheckJson<'_>>(),
        ),
        (
            "forecast",
            "headway forecast --format json",
            of::<answer::forecast::ForecastJson<'_>>(),
        ),
        (
            "node-members",
            "headway node members apply --format json: what has become of a list of members",
            of::<command::node::members::MembersJson<'_>>(),
        ),
        (
            "node-status",
            "headway node status --format json and GET /v1/status",
            of::<service::Status>(),
        ),
        (
            "petri-analyze",
            "headway petri analyze --format json",
            of::<answer::petri::AnalysisJson<'_>>(),
        ),
        (
            "petri-play",
            "headway petri play --format json",
            of::<command::petri::play::PlayJson>(),
        ),
        (
            "petri-separate",
            "headway petri separate --format json: circuits to choose from, or what was added",
            one_of(vec![
                of::<answer::petri::separate::Circuits>(),
                of::<answer::petri::separate::SeparateJson<'_>>(),
            ]),
        ),
        (
            "plan",
            "headway plan --format json: stations, and a ring order that keeps conflicting members apart",
            of::<answer::plan::PlanJson<'_>>(),
        ),
        (
            "ring",
            "headway ring --format json",
            of::<command::ring::summary::RingJson>(),
        ),
        (
            "rollout-status",
            "headway rollout status --format json, and each of GET /v1/rollouts",
            of::<service::RolloutView>(),
        ),
        (
            "run",
            "headway run --format json",
            of::<answer::json::RunJson>(),
        ),
        (
            "trace",
            "a line of the file that headway run --trace writes: the ring, then a state",
            of::<answer::json::TraceLine>(),
        ),
        (
            "walk",
            "headway walk --format json, and the walk file: a walk, rings, or why there is neither",
            one_of(vec![
                of::<headway_walk::walk::file::WalkJson<'_>>(),
                of::<command::walk::rings::RingsJson<'_>>(),
                of::<command::walk::NoWalk<'_>>(),
            ]),
        ),
        (
            "worst",
            "headway worst --format json",
            of::<answer::worst::WorstJson<'_>>(),
        ),
    ]
}

/// Calls this with every key in a schema and what is said of it, at any depth.
fn keys(schema: &mut Value, found: &mut dyn FnMut(&str, &mut Value)) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value) {
                    ("properties", Value::Object(keys_of)) => {
                        for (key, value) in keys_of {
                            found(key, value);
                            keys(value, found);
                        }
                    }
                    ("$defs", Value::Object(types)) => {
                        types.values_mut().for_each(|value| keys(value, found));
                    }
                    (_, value) => keys(value, found),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| keys(item, found)),
        _ => {}
    }
}

/// The type of a key without what may differ between outputs: its meaning, whether it may be
/// null, and how large its numbers are.
fn kind(value: &Value) -> Value {
    let mut bare = value.clone();
    let null = json!("null");
    if let Some(fields) = bare.as_object_mut() {
        // Which object it is may differ, too: `recoveries` are of rounds or of seconds.
        for name in [
            "$ref",
            "description",
            "format",
            "maxItems",
            "minItems",
            "minimum",
            "maximum",
        ] {
            fields.remove(name);
        }
        if let Some(Value::Array(types)) = fields.get_mut("type") {
            types.retain(|one| *one != null);
            if let [one] = &types[..] {
                fields["type"] = one.clone();
            }
        }
        if let Some(Value::Array(several)) = fields.get_mut("anyOf") {
            several.retain(|one| one["type"] != null);
            if let [one] = &several[..] {
                return kind(one);
            }
        }
        if let Some(items) = fields.get_mut("items") {
            *items = kind(items);
        }
    }
    bare
}

/// What each key means: its type, its sentence, and which outputs have it. Whatever gives a
/// key a second meaning, or none, is listed beside them.
struct Meanings {
    keys: BTreeMap<String, (Value, Option<String>, BTreeSet<&'static str>)>,
    faults: Vec<String>,
}

fn meanings(schemas: &mut Schemas) -> Meanings {
    let mut known = Meanings {
        keys: BTreeMap::new(),
        faults: Vec::new(),
    };
    for (name, _, schema) in schemas.iter_mut() {
        keys(schema, &mut |key, value| {
            let (first, sentence, owners) = known
                .keys
                .entry(key.to_owned())
                .or_insert_with(|| (kind(value), None, BTreeSet::new()));
            owners.insert(name);
            if *first != kind(value) {
                known
                    .faults
                    .push(format!("{name}: {key} is {}, and {first}", kind(value)));
            }
            match (value["description"].as_str(), &sentence) {
                (Some(new), Some(old)) if new != old => {
                    known
                        .faults
                        .push(format!("{name}: {key} means {new:?}, and {old:?}"));
                }
                (Some(new), None) => *sentence = Some(new.to_owned()),
                _ => {}
            }
        });
    }
    let without = known.keys.iter().filter(|(_, meaning)| meaning.1.is_none());
    let without = without.map(|(key, _)| format!("{key}: its type has to say what it means"));
    known.faults.extend(without.collect::<Vec<_>>());
    known
}

/// Every object has these keys and no others; a key's sentence stands at one type, and here
/// wherever it is used.
fn complete(schema: &mut Value, known: &Meanings) {
    keys(schema, &mut |key, value| {
        if let (Some(fields), Some((_, Some(sentence), _))) =
            (value.as_object_mut(), known.keys.get(key))
        {
            fields.insert("description".into(), sentence.replace('\n', " ").into());
        }
    });
    close(schema);
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields
                .get("properties")
                .is_some_and(|keys| !keys["type"].is_string())
            {
                fields.insert("additionalProperties".into(), false.into());
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the files are to be, by their paths.
fn files() -> Vec<(String, String)> {
    let mut schemas = generated();
    let known = meanings(&mut schemas);
    let mut files = Vec::new();
    for (name, title, mut schema) in schemas {
        complete(&mut schema, &known);
        let mut whole = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": format!("https://headway.example/schemas/v1/{name}.json"),
            "title": title,
        });
        let fields = whole.as_object_mut().expect("an object");
        for (key, value) in schema.as_object().expect("an object") {
            if !fields.contains_key(key) {
                fields.insert(key.clone(), value.clone());
            }
        }
        files.push((format!("schemas/v1/{name}.json"), format!("{whole:#}\n")));
    }
    let schema_of = |name: &str| {
        let path = format!("schemas/v1/{name}.json");
        let (_, text) = files
            .iter()
            .find(|(own, _)| *own == path)
            .expect("a schema");
        serde_json::from_str(text).expect("JSON")
    };
    let types = python::text(schema_of);
    files.push(("python/headway/_answers.py".into(), types));
    files.push(("docs/json.md".into(), document(&known)));
    files.push(("crates/dashboard/API.md".into(), interface::text()));
    files
}

fn document(known: &Meanings) -> String {
    let mut text = String::from(
        "# The keys of the JSON outputs\n\n\
         *Generated from the types of the answers by `crates/cli/src/schemas.rs`.*\n\n\
         What `headway` prints with `--format json` is described by the JSON schemas in \
         [schemas/v1](../schemas/v1). A key means the same in all outputs. Counts of states are \
         text, because most readers of JSON lose digits above 2^53. Keys may be added within a \
         version; a key that changes or goes makes a new one.\n\n\
         | output | schema |\n|---|---|\n",
    );
    let state = (
        "state",
        "The state file: a ring and its state (`headway run --start FILE`)",
        Value::Null,
    );
    let mut outputs = generated();
    outputs.push(state);
    outputs.sort_by_key(|output| output.0);
    for (name, title, _) in outputs {
        text += &format!("| {title} | [{name}.json](../schemas/v1/{name}.json) |\n");
    }
    text += "\n| key | meaning | in |\n|---|---|---|\n";
    let mut sorted: Vec<_> = known.keys.iter().collect();
    sorted.sort_by_key(|(key, _)| key.to_lowercase());
    for (key, (_, sentence, owners)) in sorted {
        let owners: Vec<&str> = owners.iter().copied().collect();
        let sentence = sentence.as_deref().unwrap_or_default().replace('\n', " ");
        text += &format!("| `{key}` | {sentence} | {} |\n", owners.join(", "));
    }
    text
}

#[test]
fn schemas_are_those_of_the_types() {
    for (path, text) in files() {
        let file = root().join(&path);
        if std::env::var_os("HEADWAY_UPDATE").is_some() {
            std::fs::write(&file, &text).expect("written");
        }
        let there = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            there == text,
            "{path} is not what the types say: \
             HEADWAY_UPDATE=1 cargo test -p headway --bin headway schemas"
        );
    }
}

#[test]
fn a_key_has_one_meaning_in_all_outputs() {
    let mut schemas = generated();
    let known = meanings(&mut schemas);
    assert_eq!(known.faults, [""; 0]);
    assert!(known.keys.len() > 150, "they were found");
    // A second type and a second sentence are seen.
    let run = schemas.iter_mut().find(|(name, ..)| *name == "run");
    let run = &mut run.expect("run").2["properties"];
    run["tokens"]["type"] = json!("string");
    run["rounds"]["description"] = json!("Something else.");
    let faults = meanings(&mut schemas).faults;
    assert!(faults.iter().any(|fault| fault.starts_with("run: tokens")));
    assert!(
        faults
            .iter()
            .any(|fault| fault.starts_with("run: rounds") || fault.contains("rounds means"))
    );
}
