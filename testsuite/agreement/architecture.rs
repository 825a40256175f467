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

/// The parts of the picture, the top one first, and their crates.
const PARTS: [(&str, &[&str]); 4] = [
    ("front", &["answer", "cli", "dashboard", "page"]),
    ("study", &["check", "draw", "lab", "petri", "sim", "walk"]),
    ("fleet", &["service"]),
    ("protocol", &["core", "node", "stage"]),
];

/// What something is built on, without what follows from the others.
fn reduced(all: &Dependencies) -> Dependencies {
    let reaches = |from: &str, to: &str| {
        let (mut open, mut seen) = (vec![from], BTreeSet::new());
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                open.extend(all[at].iter().map(String::as_str));
            }
        }
        seen.contains(to)
    };
    let needed = |uses: &BTreeSet<String>| {
        let follows = |to: &String| uses.iter().any(|other| other != to && reaches(other, to));
        uses.iter().filter(|to| !follows(to)).cloned().collect()
    };
    let entries = all.iter();
    entries
        .map(|(name, uses)| (name.clone(), needed(uses)))
        .collect()
}

fn part(name: &str) -> &'static str {
    let name = if name == "headway" { "cli" } else { name };
    let part = PARTS.iter().find(|(_, crates)| crates.contains(&name));
    part.unwrap_or_else(|| panic!("PARTS in architecture.rs misses the crate {name}"))
        .0
}

/// The picture in the language of Mermaid. The boards are a workspace of their own.
fn picture(all: &Dependencies) -> String {
    let mut parts = Dependencies::new();
    for (name, uses) in all {
        let from = part(name);
        let others = uses.iter().map(|to| part(to)).filter(|&to| to != from);
        parts
            .entry(from.to_owned())
            .or_default()
            .extend(others.map(str::to_owned));
    }
    let parts = reduced(&parts);
    let mut lines = vec!["graph TD".to_owned()];
    for (name, crates) in PARTS {
        if name == "protocol" {
            lines.push("    boards[\"boards: firmware\"]".to_owned());
        }
        lines.push(format!("    {name}[\"{name}: {}\"]", crates.join(", ")));
    }
    for (name, _) in PARTS {
        lines.extend(parts[name].iter().map(|to| format!("    {name} --> {to}")));
    }
    lines.push("    boards --> protocol".to_owned());
    lines.join("\n")
}

/// The crates whose row of the map does not begin with what they are built on.
fn wrong_rows(text: &str, all: &Dependencies) -> Vec<String> {
    let rows = reduced(all).into_iter().map(|(name, uses)| {
        let name = if name == "headway" { "cli" } else { &name };
        let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
        let uses = match uses.len() {
            0 => "nothing".to_owned(),
            _ => uses.join(", "),
        };
        format!("| `crates/{name}` | {uses} |")
    });
    rows.filter(|row| !text.contains(row)).collect()
}

#[test]
fn the_picture_and_the_map_are_the_workspace() {
    let all = dependencies();
    let drawn = picture(&all);
    let text = read("ARCHITECTURE.md");
    let shown = text.contains(&format!("```mermaid\n{drawn}\n```\n"));
    assert!(shown, "the picture in ARCHITECTURE.md should be\n{drawn}");
    assert_eq!(wrong_rows(&text, &all), Vec::<String>::new());
    assert!(read("firmware/node/Cargo.toml").contains("headway-node"));
    // Counter-test: a dependency more or less is another picture, or another row.
    let mut more = all.clone();
    more.entry("service".to_owned())
        .or_default()
        .insert("draw".to_owned());
    assert_ne!(picture(&more), drawn);
    assert_eq!(wrong_rows(&text, &more).len(), 1);
    let mut less = all.clone();
    less.insert("service".to_owned(), BTreeSet::new());
    assert_ne!(picture(&less), drawn);
}

#[test]
fn core_depends_on_nothing_and_nothing_on_the_program() {
    let all = dependencies();
    assert!(all["core"].is_empty());
    assert!(all.values().all(|uses| !uses.contains("headway")));
}
