//! What the program prints against its schemas: what differs is seen.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use headway_testkit::schemas;
use serde_json::{Value, json as value};

use crate::common::{json, root};

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
