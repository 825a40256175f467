//! Which published crate of the workspace depends on which, as cargo says.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use headway_testsuite::documents::root;
use serde_json::Value;

/// Crates without the prefix `headway-`, and those that each is built from.
pub(crate) type Dependencies = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn dependencies() -> Dependencies {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {error}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let published = list(&metadata["packages"])
        .iter()
        // `publish = false` is an empty list of registries.
        .filter(|package| package["publish"].is_null());
    published
        .map(|package| (short(&package["name"]), uses(package)))
        .collect()
}

fn uses(package: &Value) -> BTreeSet<String> {
    list(&package["dependencies"])
        .iter()
        // Neither of tests (`dev`) nor of build scripts, and in the workspace.
        .filter(|dependency| dependency["kind"].is_null() && dependency["path"].is_string())
        .map(|dependency| short(&dependency["name"]))
        .collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn short(name: &Value) -> String {
    let name = name.as_str().expect("a name");
    name.strip_prefix("headway-").unwrap_or(name).to_owned()
}
