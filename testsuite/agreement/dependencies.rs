//! What Headway is built from: licences on the list of `deny.toml`, and nothing that
//! wants a newer Rust than the workspace promises.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use headway_testsuite::documents::{read, root};
use serde_json::Value;
use spdx::{Expression, ParseMode};

/// A package that is really built, with some feature or on some system.
struct Package {
    name: String,
    licence: Option<String>,
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
            licence: text(&package["license"]),
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

/// The licences that `cargo deny` allows.
fn allowed() -> Vec<String> {
    let deny = toml_of("deny.toml");
    let list = deny["licenses"]["allow"].as_array().expect("a list");
    let name = |licence: &toml::Value| licence.as_str().expect("a licence").to_owned();
    list.iter().map(name).collect()
}

/// Why a licence expression does not allow the use; `None` if it does.
fn refused(licence: Option<&str>, allowed: &[String]) -> Option<String> {
    let Some(licence) = licence else {
        return Some("names no licence".to_owned());
    };
    let expression = match Expression::parse_mode(licence.trim(), ParseMode::LAX) {
        Ok(expression) => expression,
        Err(error) => return Some(format!("{licence:?} is no licence expression: {error}")),
    };
    let holds = expression.evaluate(|one| allowed.contains(&one.to_string()));
    (!holds).then(|| format!("{licence} is not allowed by deny.toml"))
}

fn all_refused(packages: &[Package], allowed: &[String]) -> Vec<String> {
    let of = |package: &Package| {
        let why = refused(package.licence.as_deref(), allowed)?;
        Some(format!("{}: {why}", package.name))
    };
    packages.iter().filter_map(of).collect()
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
fn every_licence_is_on_the_list() {
    let packages = packages();
    assert!(packages.len() > 300, "{} packages", packages.len());
    let refused = all_refused(&packages, &allowed());
    assert!(refused.is_empty(), "\n{}", refused.join("\n"));
}

/// A list that allows what nobody uses hides what is used one day.
#[test]
fn every_licence_of_the_list_is_used() {
    let packages = packages();
    let used: BTreeSet<String> = packages
        .iter()
        .filter_map(|package| package.licence.as_deref())
        .filter_map(|licence| Expression::parse_mode(licence.trim(), ParseMode::LAX).ok())
        .flat_map(|expression| {
            let parts = expression.requirements();
            parts.map(|part| part.req.to_string()).collect::<Vec<_>>()
        })
        .collect();
    let idle: Vec<String> = allowed()
        .into_iter()
        .filter(|licence| !used.contains(licence))
        .collect();
    assert_eq!(idle, [""; 0]);
}

#[test]
fn counter_test_licences() {
    let allowed = allowed();
    for wrong in [
        None,
        Some("GPL-3.0-only"),
        Some("MIT AND GPL-3.0-only"),
        Some("(MIT OR Apache-2.0) AND WTFPL"),
        Some("Apache-2.0 WITH Classpath-exception-2.0"),
        Some("do what you like"),
    ] {
        assert!(refused(wrong, &allowed).is_some(), "{wrong:?}");
    }
    for fine in [
        "MIT/Apache-2.0",
        "GPL-2.0-only OR MIT",
        " EPL-2.0 OR Apache-2.0",
    ] {
        assert_eq!(refused(Some(fine), &allowed), None);
    }
    let without: Vec<String> = allowed.into_iter().filter(|one| one != "MIT").collect();
    assert!(all_refused(&packages(), &without).len() > 50);
}

#[test]
fn nothing_wants_a_newer_rust() {
    let (packages, promised) = (packages(), promised());
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

/// Breaks the promise in a package of one line, and sees it caught.
#[test]
fn counter_test_a_newer_library_call_is_caught() {
    let folder = tempfile::tempdir().expect("a folder");
    let clippy = |rust_version: &str| {
        let manifest = format!(
            "[package]\nname = \"promise\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
             rust-version = \"{rust_version}\"\n[lints.clippy]\nincompatible_msrv = \"deny\"\n"
        );
        fs::write(folder.path().join("Cargo.toml"), manifest).expect("written");
        fs::create_dir_all(folder.path().join("src")).expect("made");
        // is_none_or came with 1.82.
        let source = "pub fn f(x: Option<u8>) -> bool {\n    x.is_none_or(|x| x > 0)\n}\n";
        fs::write(folder.path().join("src/lib.rs"), source).expect("written");
        let output = Command::new(env!("CARGO"))
            .args(["clippy", "--quiet", "--offline"])
            .current_dir(folder.path())
            .env("CARGO_TARGET_DIR", folder.path().join("target"))
            .output()
            .expect("cargo runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !error.contains("no such command"),
            "clippy is missing: rustup component add clippy"
        );
        (output.status.success(), error)
    };
    let (fine, error) = clippy("1.82");
    assert!(fine, "{error}");
    let (fine, error) = clippy("1.80");
    assert!(!fine && error.contains("incompatible_msrv"), "{error}");
}

/// `scripts/set-version` changes all of them.
#[test]
fn there_is_one_version() {
    let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    let api = read("crates/dashboard/API.md");
    assert!(
        api.contains(&format!("{{ \"version\": {version},")),
        "API.md"
    );
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

/// deny.toml lets Zenoh have a package that leaks memory when it decompresses, because nothing is
/// decompressed.
#[test]
fn zenoh_decompresses_nothing() {
    let asked_for = |package: &str, feature: &str| {
        let line = format!("{package} feature \"{feature}\"");
        let features = cargo(&["tree", "--workspace", "-e", "features", "-i", package]);
        features.lines().any(|found| found.contains(&line))
    };
    assert!(asked_for("zenoh", "transport_tls"), "features are found");
    assert!(!asked_for("zenoh", "transport_compression"));
    assert!(!asked_for("zenoh-transport", "transport_compression"));
}
