//! The JSON that `headway` prints, against `schemas/`.
//!
//! [`check`] is called by whatever runs the program in a test, so that no test can forget.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use jsonschema::{Registry, Validator};
use serde_json::Value;

/// The schemas that hold today.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/v1")
}

/// All schemas, by name without ending, sorted.
pub fn all() -> Vec<(String, Value)> {
    let files = std::fs::read_dir(folder()).expect("the folder of schemas");
    let mut schemas: Vec<(String, Value)> = files
        .map(|file| file.expect("a file").path())
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy();
            let text = std::fs::read_to_string(&path).expect("a schema");
            let schema = serde_json::from_str(&text);
            let schema = schema.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (name.into_owned(), schema)
        })
        .collect();
    schemas.sort_by(|one, other| one.0.cmp(&other.0));
    schemas
}

/// The schemas, compiled: a trace has a thousand lines.
fn validators() -> &'static BTreeMap<String, Validator> {
    static COMPILED: OnceLock<BTreeMap<String, Validator>> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let schemas = all();
        let mut registry = Registry::new();
        for (_, schema) in &schemas {
            let id = schema["$id"].as_str().expect("every schema has an $id");
            registry = registry.add(id, schema.clone()).expect("a URI");
        }
        let registry = registry.prepare().expect("schemas");
        let options = jsonschema::options().with_registry(&registry);
        let compile = |(name, schema): &(String, Value)| {
            let compiled = options.build(schema).expect("a schema");
            (name.clone(), compiled)
        };
        schemas.iter().map(compile).collect()
    })
}

/// What is wrong with an output, or nothing.
///
/// # Errors
///
/// Where it differs from the schema of this name, or that there is none.
pub fn validate(name: &str, output: &Value) -> Result<(), String> {
    let Some(validator) = validators().get(name) else {
        return Err(format!("there is no schemas/v1/{name}.json"));
    };
    let wrong: Vec<String> = validator
        .iter_errors(output)
        .take(5)
        .map(|error| {
            let text: String = error.to_string().chars().take(300).collect();
            format!("{}: {text}", error.instance_path())
        })
        .collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}

/// Fails the test if a command that was asked for JSON has printed anything that its
/// schema does not describe. `folder` is where it ran: a trace is looked at as well.
///
/// # Panics
///
/// If so.
pub fn check(folder: &Path, arguments: &[&str], printed: &str) {
    let after = |flag: &str| {
        let value = arguments.iter().skip_while(|&&word| word != flag).nth(1);
        let joined = arguments
            .iter()
            .find_map(|word| word.strip_prefix(&format!("{flag}=")));
        value.copied().or(joined)
    };
    let complain = |name: &str, what: Result<(), String>| {
        if let Err(why) = what {
            panic!(
                "headway {}: what it prints differs from schemas/v1/{name}.json:\n{why}\n\
                 The schemas are made from the types of the answers (crates/cli/src/schemas.rs).",
                arguments.join(" ")
            );
        }
    };
    if let Some(trace) = after("--trace")
        // Not a device, which may have no end.
        && folder.join(trace).is_file()
        && let Ok(text) = std::fs::read_to_string(folder.join(trace))
    {
        for line in text.lines() {
            let line = serde_json::from_str(line).expect("a line of JSON");
            complain("trace", validate("trace", &line));
        }
    }
    if after("--format") != Some("json") || printed.trim().is_empty() {
        return;
    }
    let name = name(arguments);
    let output = serde_json::from_str(printed).map_err(|error| error.to_string());
    complain(&name, output.and_then(|output| validate(&name, &output)));
}

/// The schema of a command.
fn name(arguments: &[&str]) -> String {
    let mut words = arguments.iter().take_while(|word| !word.starts_with('-'));
    match words.next() {
        None => "run".to_owned(),
        Some(&group @ ("petri" | "node" | "rollout")) => {
            format!("{group}-{}", words.next().unwrap_or(&"run"))
        }
        Some(command) => (*command).to_owned(),
    }
}
