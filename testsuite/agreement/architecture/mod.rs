//! ARCHITECTURE.md names files and items that exist, and its picture is the one that
//! `cargo metadata` gives.

use std::fs;

use headway_testsuite::documents::{quoted, read, root};

mod crates;
mod picture;

const PICTURE: &str = "docs/images/crates.svg";

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

/// `HEADWAY_RENEW=1 cargo test -p headway-testsuite --test it architecture` draws it anew.
#[test]
fn the_picture_is_the_workspace() {
    let drawn = picture::svg(&crates::dependencies());
    if std::env::var_os("HEADWAY_RENEW").is_some() {
        fs::write(root().join(PICTURE), &drawn).expect("written");
    }
    assert!(
        read(PICTURE) == drawn,
        "{PICTURE} is stale; renew it: HEADWAY_RENEW=1 cargo test -p headway-testsuite --test it architecture"
    );
    assert!(read("ARCHITECTURE.md").contains(PICTURE));
}

/// A dependency more or less is another picture.
#[test]
fn counter_test_a_missing_arrow_is_another_picture() {
    let whole = crates::dependencies();
    let mut less = whole.clone();
    let (_, uses) = less
        .iter_mut()
        .find(|(_, uses)| uses.len() == 1)
        .expect("a crate");
    uses.clear();
    assert_ne!(picture::svg(&whole), picture::svg(&less));
}

#[test]
fn core_depends_on_nothing_and_nothing_on_the_program() {
    let all = crates::dependencies();
    assert!(all["core"].is_empty());
    assert!(all.values().all(|uses| !uses.contains("headway")));
}
