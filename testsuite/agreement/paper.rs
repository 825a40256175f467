//! PAPER.md names files and tests that exist.

use std::fs;
use std::path::PathBuf;

use headway_testsuite::documents::{quoted, read, root};

/// The first path or command of `text` that leads nowhere.
fn dead_end(text: &str) -> Option<&str> {
    quoted(text).find(|item| {
        if let Some(arguments) = item.strip_prefix("cargo test ") {
            !command_exists(arguments)
        } else {
            item.contains('/') && !root().join(item).exists()
        }
    })
}

/// Whether `-p PACKAGE --release --test TARGET [NAME]` selects a test.
fn command_exists(arguments: &str) -> bool {
    let words: Vec<&str> = arguments.split(' ').collect();
    let (&["-p", package, "--release", "--test", target, ref name @ ..]
    | &["-p", package, "--test", target, ref name @ ..]) = words.as_slice()
    else {
        return false;
    };
    let files = match (package, target) {
        ("headway-testsuite", "claims") => files_of("testsuite/claims"),
        ("headway-testsuite", _) => vec![root().join(format!("testsuite/agreement/{target}.rs"))],
        ("headway-core", "it") => files_of("crates/core/tests/it"),
        _ => return false,
    };
    let selects = |file: &PathBuf| {
        let source = fs::read_to_string(file).unwrap_or_default();
        let module = file.file_stem().unwrap_or_default().to_string_lossy();
        let (within, test) = match name {
            [] => return !source.is_empty(),
            [name] => name.rsplit_once("::").unwrap_or(("", name)),
            _ => return false,
        };
        let in_module = within.is_empty() || within == module;
        in_module && (module.contains(test) || source.contains(&format!("fn {test}")))
    };
    files.iter().any(selects)
}

fn files_of(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).expect("a folder");
    entries.flatten().map(|entry| entry.path()).collect()
}

#[test]
fn every_file_and_command_of_the_map_exists() {
    let text = read("PAPER.md");
    assert_eq!(dead_end(&text), None);
    assert!(quoted(&text).count() > 60);
}

#[test]
fn every_claim_has_a_row() {
    let text = read("PAPER.md");
    for file in files_of("testsuite/claims") {
        let name = file.file_name().expect("a file").to_string_lossy();
        assert!(name == "main.rs" || text.contains(&*name), "{name}");
    }
}

#[test]
fn counter_test_what_does_not_exist_is_found() {
    for text in [
        "`crates/core/src/nowhere.rs`",
        "`cargo test -p headway-core --test it no_such_test`",
        "`cargo test -p headway-core --release --test nowhere`",
        "`cargo test -p headway-testsuite --release --test claims claim5_arrivals_are_apart::no_such`",
        "`cargo test -p headway-core chain`",
    ] {
        assert!(dead_end(text).is_some(), "{text}");
    }
    assert_eq!(dead_end("`crates/core` and `C = 0`"), None);
}
