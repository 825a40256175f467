//! Nothing that Headway is built from wants a newer Rust than the workspace promises, and all
//! packages have one version. `cargo deny` compares licences and sources with `deny.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use headway_testsuite::documents::{read, root};
use serde_json::Value;

/// A package that is really built, with some feature or on some system.
struct Package {
    name: String,
    rust_version: Option<String>,
    ours: bool,
}

/// Everything that the workspace is built from, with all features, on all systems.
///
/// The metadata alone mentions more: what a feature would add that nobody asks for.
fn packages() -> Vec<Package> {
    let tree = cargo(&["tree", "--workspace", "--target", "all", "--prefix", "none"]);
    let built: BTreeSet<&str> = tree
        .lines()
        .filter(|line| !line.is_empty())
        .map(name_and_version)
        .collect();
    let metadata = cargo(&["metadata", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let packages = metadata["packages"].as_array().expect("a list");
    let of = |package: &Value| {
        let (name, version) = (text(&package["name"])?, text(&package["version"])?);
        Some(Package {
            name: format!("{name} v{version}"),
            rust_version: text(&package["rust_version"]),
            ours: package["source"].is_null(),
        })
    };
    let all: Vec<Package> = packages.iter().filter_map(of).collect();
    let known: BTreeSet<&str> = all.iter().map(|package| &*package.name).collect();
    for name in &built {
        assert!(known.contains(name), "{name} is not in the metadata");
    }
    let used = |package: &Package| built.contains(&*package.name);
    all.into_iter().filter(used).collect()
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--locked", "--all-features"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// `serde v1.0.0` of `serde v1.0.0 (proc-macro) (*)`.
fn name_and_version(line: &str) -> &str {
    let second = line.match_indices(' ').nth(1);
    &line[..second.map_or(line.len(), |(at, _)| at)]
}

fn toml_of(file: &str) -> toml::Table {
    read(file).parse().expect(file)
}

/// Major, minor and patch.
fn version(text: &str) -> [u32; 3] {
    let mut parts = text.split('.').map(|part| part.parse().expect("a number"));
    [(); 3].map(|()| parts.next().unwrap_or(0))
}

fn too_new(packages: &[Package], promised: &str) -> Vec<String> {
    let newer = |package: &&Package| {
        let wants = package.rust_version.as_deref();
        wants.is_some_and(|wants| version(wants) > version(promised))
    };
    let of = |package: &Package| {
        let wants = package.rust_version.as_deref().unwrap_or_default();
        format!(
            "{} wants Rust {wants}, and {promised} is promised",
            package.name
        )
    };
    packages.iter().filter(newer).map(of).collect()
}

fn promised() -> String {
    let workspace = &toml_of("Cargo.toml")["workspace"];
    let version = workspace["package"]["rust-version"].as_str();
    version.expect("a version").to_owned()
}

#[test]
fn nothing_wants_a_newer_rust() {
    let (packages, promised) = (packages(), promised());
    assert!(packages.len() > 300, "{} packages", packages.len());
    let newer = too_new(&packages, &promised);
    assert!(newer.is_empty(), "\n{}", newer.join("\n"));
    for package in packages.iter().filter(|package| package.ours) {
        let wants = package.rust_version.as_deref();
        assert_eq!(wants, Some(promised.as_str()), "{}", package.name);
    }
    // Counter-test: an older promise would not be kept.
    assert!(!too_new(&packages, "1.70").is_empty());
}

/// Every package of ours is under the lint that refuses newer parts of the standard
/// library than the promised version has.
#[test]
fn newer_library_calls_are_denied() {
    let lints = &toml_of("Cargo.toml")["workspace"]["lints"]["clippy"];
    assert_eq!(lints["incompatible_msrv"].as_str(), Some("deny"));
    let mut manifests = vec![
        "bench/Cargo.toml".to_owned(),
        "testsuite/Cargo.toml".to_owned(),
    ];
    for entry in fs::read_dir(root().join("crates"))
        .expect("crates")
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        manifests.push(format!("crates/{name}/Cargo.toml"));
    }
    for manifest in &manifests {
        let inherits = toml_of(manifest)["lints"]["workspace"].as_bool();
        assert_eq!(inherits, Some(true), "{manifest}");
    }
}

/// `scripts/set-version` changes all of them.
#[test]
fn there_is_one_version() {
    let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    let citation = read("CITATION.cff");
    let line = format!("\nversion: {}\n", version.trim_matches('"'));
    assert!(citation.contains(&line), "CITATION.cff");
    for manifest in ["Cargo.toml", "crates/node/Cargo.toml"] {
        let text = read(manifest);
        let ours = text
            .lines()
            .filter(|line| line.contains("path = \"") && line.contains("version ="));
        for line in ours {
            assert!(
                line.contains(&format!("version = {version}")),
                "{manifest}: {line}"
            );
        }
    }
    let changelog = read("CHANGELOG.md");
    let named = changelog.lines().find_map(|line| line.strip_prefix("## "));
    let first = named
        .and_then(|line| line.split(' ').next())
        .expect("a heading");
    assert!(
        first == "Unreleased" || first == version.trim_matches('"'),
        "CHANGELOG.md: {first}"
    );
}
