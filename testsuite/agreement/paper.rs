//! PAPER.md names files and tests that exist.

use std::fs;
use std::path::Path;

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

/// Whether `-p PACKAGE --test it [FILTER]` selects a test.
fn command_exists(arguments: &str) -> bool {
    let words: Vec<&str> = arguments.split(' ').collect();
    let &["-p", package, "--test", "it", ref filter @ ..] = words.as_slice() else {
        return false;
    };
    let folders: &[&str] = match package {
        "headway-testsuite" => &["testsuite/claims", "testsuite/agreement"],
        "headway-core" => &["crates/core/tests/it"],
        _ => return false,
    };
    let filter = match filter {
        [] => "",
        [filter] => filter,
        _ => return false,
    };
    let mut tests = Vec::new();
    for folder in folders {
        let name = folder.rsplit('/').next().unwrap_or_default();
        tests_of(&root().join(folder), &format!("{name}::"), &mut tests);
    }
    tests.iter().any(|test| test.contains(filter))
}

/// The names of all tests in the files below a folder, `module::test`.
fn tests_of(folder: &Path, within: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let module = match name.trim_end_matches(".rs") {
            "mod" => within.to_owned(),
            name => format!("{within}{name}::"),
        };
        if path.is_dir() {
            tests_of(&path, &module, found);
        } else if name.ends_with(".rs") {
            let source = fs::read_to_string(&path).expect("a source");
            let functions = source.split("#[test]").skip(1);
            let named = functions.filter_map(|text| text.split_once("fn ")?.1.split('(').next());
            found.extend(named.map(|test| format!("{module}{test}")));
        }
    }
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
    for file in fs::read_dir(root().join("testsuite/claims")).expect("claims") {
        let name = file.expect("a file").file_name();
        let name = name.to_string_lossy();
        assert!(name == "mod.rs" || text.contains(&*name), "{name}");
    }
}

/// How many items the lists below a heading have.
fn items(text: &str, heading: &str) -> usize {
    let (_, behind) = text.split_once(heading).expect("the heading");
    let section = behind.split("\n## ").next().unwrap_or_default();
    let numbered = |line: &&str| {
        line.split_once(". ")
            .is_some_and(|(number, _)| number.parse::<u32>().is_ok())
    };
    section.lines().filter(numbered).count()
}

/// The first document that tells another number of errata or remarks than PAPER.md lists.
fn miscounted(paper: &str) -> Option<&'static str> {
    let errata = format!("{} errata", items(paper, "\n## Errata\n"));
    let words = ["six", "seven", "eight", "nine"];
    let remarks = words[items(paper, "\n## Remarks\n") - 6];
    let documents = [
        "PAPER.md",
        "docs/research/results.md",
        "docs/dev/verified.md",
    ];
    documents.into_iter().find(|document| {
        let text = read(document).to_lowercase();
        !text.contains(&errata) || !text.contains(&format!("{remarks} remarks"))
    })
}

#[test]
fn every_document_counts_the_errata_alike() {
    let paper = read("PAPER.md");
    assert_eq!(miscounted(&paper), None);
    let more = paper.replace("\n## Remarks\n", "\n14. **New**\n\n## Remarks\n");
    assert!(miscounted(&more).is_some(), "one erratum more is noticed");
    assert!(miscounted(&format!("{paper}9. **New**\n")).is_some());
}

#[test]
fn counter_test_what_does_not_exist_is_found() {
    for text in [
        "`crates/core/src/nowhere.rs`",
        "`cargo test -p headway-core --test it no_such_test`",
        "`cargo test -p headway-core --test nowhere`",
        "`cargo test -p headway-testsuite --test it claim5_arrivals_are_apart::no_such`",
        "`cargo test -p headway-core chain`",
    ] {
        assert!(dead_end(text).is_some(), "{text}");
    }
    assert_eq!(dead_end("`crates/core` and `C = 0`"), None);
}
