//! The schemas of the outputs: one key has one meaning, and what differs is seen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use headway_testkit::schemas;
use serde_json::{Value, json as value};

use crate::common::{json, root};

/// Every `properties` in a schema, at any depth.
fn properties<'a>(schema: &'a Value, found: &mut Vec<(&'a str, &'a Value)>) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value.as_object()) {
                    // A key may be called properties, too.
                    ("$defs", Some(keys)) => keys.values().for_each(|key| properties(key, found)),
                    ("properties", Some(keys)) => {
                        found.extend(keys.iter().map(|(key, value)| (key.as_str(), value)));
                    }
                    _ => properties(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| properties(item, found)),
        _ => {}
    }
}

/// Keys that do not refer to their one definition.
fn strays(schemas: &[(String, Value)]) -> Vec<String> {
    let mut strays = Vec::new();
    // The state file has keys of its own.
    for (name, schema) in schemas.iter().filter(|(name, _)| name != "state") {
        let mut found = Vec::new();
        properties(schema, &mut found);
        let file = if name == "keys" { "" } else { "keys.json" };
        for (key, value) in found {
            if *value != value!({ "$ref": format!("{file}#/$defs/{key}") }) {
                strays.push(format!("{name}: {key}"));
            }
        }
    }
    strays
}

#[test]
fn a_key_has_one_meaning_in_all_outputs() {
    let schemas = schemas::all();
    assert!(schemas.len() > 12, "they were found");
    assert_eq!(strays(&schemas), [""; 0]);
    let keys = &schemas
        .iter()
        .find(|(name, _)| name == "keys")
        .expect("keys")
        .1["$defs"];
    let mut used = BTreeSet::new();
    for (_, schema) in schemas.iter().filter(|(name, _)| name != "state") {
        let mut found = Vec::new();
        properties(schema, &mut found);
        used.extend(found.into_iter().map(|(key, _)| key));
    }
    let known: BTreeSet<&str> = keys
        .as_object()
        .expect("keys")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(known, used, "keys that are defined, keys that are used");
    for (key, definition) in keys.as_object().expect("keys") {
        let about = definition["description"].as_str().unwrap_or_default();
        assert!(about.len() > 5, "{key} says what it means");
    }
    // A second meaning is seen.
    let mut broken = schemas.clone();
    let run = broken
        .iter_mut()
        .find(|(name, _)| name == "run")
        .expect("run");
    run.1["properties"]["tokens"] = value!({ "type": "string" });
    assert_eq!(strays(&broken), ["run: tokens"]);
}

#[test]
fn what_differs_from_a_schema_is_seen() {
    let ran = json("run --format json");
    assert_eq!(schemas::validate("run", &ran), Ok(()));
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 5] = [
        ("a key more", |run| run["colour"] = value!("red")),
        ("a key less", |run| {
            drop(run.as_object_mut().expect("an object").remove("seed"));
        }),
        ("another type", |run| run["rounds"] = value!("44")),
        ("a negative count", |run| run["tokens"] = value!(-1)),
        ("a wrong verdict deep inside", |run| {
            run["desiderata"]["D3"] = value!("yes");
        }),
    ];
    for (what, change) in changes {
        let mut other = ran.clone();
        change(&mut other);
        assert!(schemas::validate("run", &other).is_err(), "{what}");
    }
    assert!(schemas::validate("no-such-command", &ran).is_err());
    let wrong = ran.to_string().replace("\"seed\"", "\"sead\"");
    let seen = std::panic::catch_unwind(|| {
        schemas::check(Path::new("."), &["run", "--format", "json"], &wrong);
    });
    assert!(seen.is_err());
}

/// Files that start the program without `common::run`, and why that is no way around the schemas.
const BY_THEMSELVES: &[(&str, &str)] = &[
    ("common.rs", "checks every output"),
    ("fleet.rs", "nodes that run until they are killed"),
    ("guides/operators.rs", "by a shell, and nothing in JSON"),
    ("interrupt.rs", "sends signals"),
    ("mistakes.rs", "pipes that nobody reads"),
    ("node.rs", "gives it to other programs"),
    ("serve.rs", "servers that run until they are killed"),
];

#[test]
fn no_test_runs_the_program_past_the_schemas() {
    let mut files = Vec::new();
    for folder in ["crates", "testsuite", "bench"] {
        collect(&root().join(folder), &mut files);
    }
    assert!(files.len() > 100, "they were found");
    let own = root().join("crates/cli/tests/it");
    let needles = [
        ["cargo_bin(\"", "headway"].concat(),
        ["CARGO_BIN_EXE_", "headway"].concat(),
    ];
    let mut found = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("text");
        let inside = file.strip_prefix(&own).ok();
        let by_name = inside.is_some() && text.contains(&["program", "()"].concat());
        if by_name || needles.iter().any(|needle| text.contains(needle)) {
            found.insert(inside.unwrap_or(&file).to_string_lossy().into_owned());
        }
    }
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    let allowed: Vec<&str> = BY_THEMSELVES.iter().map(|(path, _)| *path).collect();
    assert_eq!(
        found, allowed,
        "run it by common::run, or say on the list why not"
    );
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md");

/// `docs/json.md` is made from the schemas: `HEADWAY_UPDATE=1 cargo test -p headway --test
/// it the_document_lists_every_key` writes it.
#[test]
fn the_document_lists_every_key() {
    let schemas = schemas::all();
    let mut text = String::from(
        "# The keys of the JSON outputs\n\n\
         What `headway` prints with `--format json` is described by the JSON schemas in \
         [schemas/v1](../schemas/v1). A key means the same in all outputs. Counts of states are \
         text, because most readers of JSON lose digits above 2^53. Keys may be added within a \
         version; a key that changes or goes makes a new one.\n\n\
         This file is made from the schemas by a test (`crates/cli/tests/it/schemas.rs`).\n\n\
         | output | schema |\n|---|---|\n",
    );
    let mut owners: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, schema) in schemas.iter().filter(|(name, _)| name != "keys") {
        let title = schema["title"].as_str().expect("a title");
        text += &format!("| {title} | [{name}.json](../schemas/v1/{name}.json) |\n");
        let mut found = Vec::new();
        properties(schema, &mut found);
        if name != "state" {
            for (key, _) in found {
                owners.entry(key).or_default().insert(name);
            }
        }
    }
    text += "\n| key | type | meaning | in |\n|---|---|---|---|\n";
    let keys = &schemas
        .iter()
        .find(|(name, _)| name == "keys")
        .expect("keys")
        .1["$defs"];
    let mut sorted: Vec<_> = keys.as_object().expect("keys").iter().collect();
    sorted.sort_by_key(|(key, _)| key.to_lowercase());
    for (key, definition) in sorted {
        let kind = match &definition["type"] {
            Value::String(one) => one.clone(),
            Value::Array(several) => several
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(" or "),
            _ if definition["enum"].is_array() => "one of a few".to_owned(),
            _ => "state".to_owned(),
        };
        let inside = || "inside others".to_owned();
        let owners = owners.get(key.as_str()).map_or_else(inside, |names| {
            names.iter().copied().collect::<Vec<_>>().join(", ")
        });
        let about = definition["description"].as_str().unwrap_or_default();
        text += &format!("| `{key}` | {kind} | {about} | {owners} |\n");
    }
    if std::env::var_os("HEADWAY_UPDATE").is_some() {
        std::fs::write(TABLE, &text).expect("written");
    }
    assert_eq!(std::fs::read_to_string(TABLE).expect("docs/json.md"), text);
}
