//! ARCHITECTURE.md names files and items that exist, and its picture of the crates is what
//! `cargo metadata` says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use headway_testsuite::documents::{quoted, read, root};
use serde_json::Value;

/// Paths that do not exist, and items that none of the files named in their line has.
fn dead_ends(text: &str) -> Vec<&str> {
    text.lines().flat_map(dead_ends_of_line).collect()
}

fn dead_ends_of_line(line: &str) -> Vec<&str> {
    let is_path = |item: &&str| item.contains('/') && !item.contains([' ', '<', '*']);
    let (paths, items): (Vec<&str>, Vec<&str>) = quoted(line).partition(is_path);
    let missing = |path: &&str| !root().join(path).exists();
    let mut found: Vec<&str> = paths.iter().copied().filter(missing).collect();
    let files = paths.iter().filter(|path| path.ends_with(".rs"));
    let sources: Vec<String> = files
        .filter_map(|path| fs::read_to_string(root().join(path)).ok())
        .collect();
    if !sources.is_empty() {
        let known =
            |item: &&str| is_folder(item) || sources.iter().any(|source| names(source, item));
        found.extend(
            items
                .into_iter()
                .filter(|item| is_item(item) && !known(item)),
        );
    }
    found
}

/// A crate by its short name, or a folder beside the crates.
fn is_folder(name: &str) -> bool {
    ["crates", "."]
        .iter()
        .any(|at| root().join(at).join(name).is_dir())
}

/// An identifier, with what it belongs to before it and brackets after it at will.
fn is_item(item: &str) -> bool {
    let part =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    item.trim_end_matches("()").split("::").all(part)
}

fn names(source: &str, item: &str) -> bool {
    let mut parts = item.trim_end_matches("()").split("::");
    parts.all(|part| {
        source
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == part)
    })
}

#[test]
fn every_file_and_item_named_exists() {
    let text = read("ARCHITECTURE.md");
    assert_eq!(dead_ends(&text), Vec::<&str>::new());
    assert!(quoted(&text).count() > 60);
}

#[test]
fn counter_test_what_does_not_exist_is_found() {
    for (line, wrong) in [
        ("`crates/core/src/nowhere.rs`", "crates/core/src/nowhere.rs"),
        ("`crates/core/src/ring.rs`: `no_such_item`", "no_such_item"),
        (
            "`crates/core/src/ring.rs`, `testsuite/src/listing.rs`: `Ring::no_such()`",
            "Ring::no_such()",
        ),
    ] {
        assert_eq!(dead_ends(line), [wrong]);
    }
    let fine = "`crates/core/src/ring.rs`: `Ring`, with `--flags` and `m = 2`";
    assert_eq!(dead_ends(fine), Vec::<&str>::new());
}

/// Published crates without the prefix `headway-`, and those that each is built from.
type Dependencies = BTreeMap<String, BTreeSet<String>>;

fn dependencies() -> Dependencies {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {error}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let short = |value: &Value| {
        let name = value["name"].as_str().expect("a name");
        name.strip_prefix("headway-").unwrap_or(name).to_owned()
    };
    let uses = |package: &Value| {
        let all = package["dependencies"].as_array().into_iter().flatten();
        // Neither of tests (`dev`) nor of build scripts, and in the workspace.
        all.filter(|it| it["kind"].is_null() && it["path"].is_string())
            .map(short)
            .collect()
    };
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        // `publish = false` is an empty list of registries.
        .filter(|package| package["publish"].is_null())
        .map(|package| (short(package), uses(package)))
        .collect()
}

/// The picture in the language of Mermaid, without arrows that follow from others.
fn picture(all: &Dependencies) -> String {
    let reaches = |from: &str, to: &str| {
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            open.extend(all[at].iter().map(String::as_str));
        }
        false
    };
    let mut lines = vec!["graph TD".to_owned()];
    for (name, uses) in all {
        for to in uses {
            if !uses.iter().any(|other| other != to && reaches(other, to)) {
                lines.push(format!("    {name} --> {to}"));
            }
        }
    }
    lines.join("\n")
}

#[test]
fn the_picture_is_the_workspace() {
    let all = dependencies();
    let drawn = picture(&all);
    let text = read("ARCHITECTURE.md");
    let shown = text.contains(&format!("```mermaid\n{drawn}\n```\n"));
    assert!(shown, "the picture in ARCHITECTURE.md should be\n{drawn}");
    // Counter-test: a dependency less is another picture.
    let mut less = all.clone();
    let (_, uses) = less
        .iter_mut()
        .find(|(_, uses)| uses.len() == 1)
        .expect("a crate");
    uses.clear();
    assert_ne!(picture(&less), drawn);
}

#[test]
fn core_depends_on_nothing_and_nothing_on_the_program() {
    let all = dependencies();
    assert!(all["core"].is_empty());
    assert!(all.values().all(|uses| !uses.contains("headway")));
}
