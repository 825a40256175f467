//! A copy of the repository with the switches in it, made to compile: a mutant that
//! does not is taken out again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Asked;
use crate::list::{Genre, Mutant};
use crate::weave::{self, Trace};

/// Which mutants are in the tree, and why the others are not.
pub struct Tree {
    pub woven: BTreeSet<u32>,
    pub unviable: BTreeSet<u32>,
    pub executables: Vec<Executable>,
}

/// A test binary and the folder it runs in.
#[derive(Clone, Debug)]
pub struct Executable {
    pub path: String,
    pub folder: String,
    pub name: String,
}

pub fn weave(asked: &Asked, mutants: &[Mutant]) -> Result<Tree, String> {
    copy(&asked.tree)?;
    add_switch(&asked.tree, mutants)?;
    let (mut dropped, mut unviable) = remembered(&asked.tree, mutants);
    loop {
        let traces = write(&asked.tree, mutants, &dropped)?;
        let woven: BTreeSet<u32> = traces.values().flatten().map(|trace| trace.id).collect();
        let build = build(asked)?;
        if build.errors.is_empty() {
            eprintln!("{} woven", woven.len());
            remember(&asked.tree, mutants, &dropped, &unviable)?;
            let executables = build.executables;
            return Ok(Tree {
                woven,
                unviable,
                executables,
            });
        }
        let before = dropped.len();
        for error in &build.errors {
            let Some(traces) = traces.get(&error.file) else {
                continue;
            };
            let within = |range: &std::ops::Range<usize>| {
                range.start <= error.start && error.start < range.end
            };
            // In the text of one mutant: it is not viable. Around it: the switch is
            // what does not compile, so all of that expression go.
            let own = traces.iter().filter(|trace| within(&trace.own));
            if let Some(own) = own.min_by_key(|trace| trace.own.len()) {
                // A base that cannot be cloned is no fault of the mutant's.
                if mutants[own.id as usize].genre != Genre::StructField {
                    unviable.insert(own.id);
                }
                dropped.insert(own.id);
                continue;
            }
            let around = traces.iter().filter(|trace| within(&trace.site));
            if let Some(least) = around.clone().map(|trace| trace.site.len()).min() {
                dropped.extend(around.filter(|t| t.site.len() == least).map(|t| t.id));
            }
        }
        eprintln!(
            "{} errors, {} mutants taken out",
            build.errors.len(),
            dropped.len()
        );
        if dropped.len() == before {
            return Err(format!(
                "the woven tree does not compile:\n{}",
                build.errors[0].said
            ));
        }
    }
}

/// What did not compile the last time, by name: dropped, and of those unviable. A
/// changed file moves lines, and with them names, so nothing is remembered wrongly.
fn remembered(tree: &Path, mutants: &[Mutant]) -> (BTreeSet<u32>, BTreeSet<u32>) {
    let text = fs::read_to_string(tree.join(REMEMBERED)).unwrap_or_default();
    let (dropped, unviable): (BTreeSet<String>, BTreeSet<String>) =
        serde_json::from_str(&text).unwrap_or_default();
    let ids = |names: &BTreeSet<String>| {
        let named = (0..)
            .zip(mutants)
            .filter(|(_, mutant)| names.contains(&mutant.name));
        named.map(|(id, _)| id).collect()
    };
    (ids(&dropped), ids(&unviable))
}

fn remember(
    tree: &Path,
    mutants: &[Mutant],
    dropped: &BTreeSet<u32>,
    unviable: &BTreeSet<u32>,
) -> Result<(), String> {
    let names = |ids: &BTreeSet<u32>| -> BTreeSet<String> {
        ids.iter()
            .map(|&id| mutants[id as usize].name.clone())
            .collect()
    };
    let text = serde_json::to_string(&(names(dropped), names(unviable)));
    let text = text.map_err(|error| error.to_string())?;
    let to = tree.join(REMEMBERED);
    fs::create_dir_all(tree.join("trace"))
        .and_then(|()| fs::write(to, text))
        .map_err(|error| error.to_string())
}

/// In the folder that is not copied.
const REMEMBERED: &str = "trace/dropped.json";

/// What git knows of, as it is in the working tree.
fn copy(tree: &Path) -> Result<(), String> {
    let listed = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .output()
        .map_err(|error| format!("git ls-files: {error}"))?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    let wanted = |name: &&str| Path::new(name).is_file() && !name.starts_with("ci/mutants/");
    let names: BTreeSet<&str> = listed.split('\0').filter(wanted).collect();
    remove_others(tree, Path::new(""), &names)
        .map_err(|error| format!("{}: {error}", tree.display()))?;
    for name in names {
        let to = tree.join(name);
        copy_file(Path::new(name), &to).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    Ok(())
}

/// Removes what an earlier copy had and this one has not.
fn remove_others(tree: &Path, folder: &Path, names: &BTreeSet<&str>) -> std::io::Result<()> {
    let Ok(entries) = fs::read_dir(tree.join(folder)) else {
        return Ok(());
    };
    for entry in entries {
        let entry = entry?;
        let name = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if !["target", "trace", "mutant-switch"]
                .iter()
                .any(|kept| name == Path::new(kept))
            {
                remove_others(tree, &name, names)?;
            }
        } else if !name.to_str().is_some_and(|name| names.contains(name)) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Keeps the time of a file that has not changed, so that it is not compiled again.
fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    let text = fs::read(from)?;
    if fs::read(to).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(to, text)
}

fn add_switch(tree: &Path, mutants: &[Mutant]) -> Result<(), String> {
    let put = |name: &str, text: &str| {
        let to = tree.join("mutant-switch").join(name);
        fs::create_dir_all(to.parent().unwrap_or(tree)).and_then(|()| fs::write(to, text))
    };
    put("Cargo.toml", include_str!("../switch/Cargo.toml"))
        .and_then(|()| put("src/lib.rs", include_str!("../switch/src/lib.rs")))
        .map_err(|error| error.to_string())?;
    let folders: BTreeSet<&str> = mutants
        .iter()
        .filter_map(|mutant| mutant.file.split_once("/src/").map(|(folder, _)| folder))
        .collect();
    for folder in folders {
        let name = tree.join(folder).join("Cargo.toml");
        let mut text = fs::read_to_string(&name).map_err(|error| error.to_string())?;
        let up = "../".repeat(folder.split('/').count());
        let line = format!("mutant-switch = {{ path = \"{up}mutant-switch\" }}\n");
        match text.find("[dependencies]\n") {
            Some(at) => text.insert_str(at + "[dependencies]\n".len(), &line),
            None => text.push_str(&format!("\n[dependencies]\n{line}")),
        }
        fs::write(&name, text).map_err(|error| error.to_string())?;
    }
    let manifest = tree.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(|error| error.to_string())?;
    let text = text.replace(
        "exclude = [\"ci\"]",
        "exclude = [\"ci\", \"mutant-switch\"]",
    );
    fs::write(manifest, text).map_err(|error| error.to_string())
}

fn write(
    tree: &Path,
    mutants: &[Mutant],
    dropped: &BTreeSet<u32>,
) -> Result<BTreeMap<String, Vec<Trace>>, String> {
    let mut files: BTreeMap<&str, Vec<(u32, &Mutant)>> = BTreeMap::new();
    for (id, mutant) in (0..).zip(mutants) {
        let list = files.entry(&mutant.file).or_default();
        if !dropped.contains(&id) {
            list.push((id, mutant));
        }
    }
    let mut traces = BTreeMap::new();
    for (name, mutants) in files {
        let text = fs::read_to_string(name).map_err(|error| format!("{name}: {error}"))?;
        let woven = weave::weave(&text, &mutants).map_err(|error| format!("{name}: {error}"))?;
        let to = tree.join(name);
        if fs::read_to_string(&to).is_ok_and(|old| old != woven.text) {
            fs::write(&to, &woven.text).map_err(|error| format!("{name}: {error}"))?;
        }
        traces.insert(name.to_owned(), woven.traces);
    }
    Ok(traces)
}

struct Build {
    errors: Vec<Error>,
    executables: Vec<Executable>,
}

struct Error {
    file: String,
    start: usize,
    said: String,
}

fn build(asked: &Asked) -> Result<Build, String> {
    let output = Command::new("cargo")
        .args([
            "test",
            "--no-run",
            "--profile",
            "mutants",
            "--message-format",
            "json",
        ])
        .args(&asked.tests)
        .current_dir(&asked.tree)
        .env("RUSTC_BOOTSTRAP", "mutant_switch")
        .env("RUSTFLAGS", "--cap-lints allow")
        .env(
            "CARGO_TARGET_DIR",
            std::path::absolute(&asked.tree)
                .unwrap_or_default()
                .join("target"),
        )
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("cargo test: {error}"))?;
    let mut build = Build {
        errors: Vec::new(),
        executables: Vec::new(),
    };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if message["message"]["level"] == "error" {
            build.errors.extend(error(&message["message"]));
        }
        if let (Some(path), Some(manifest)) = (
            message["executable"].as_str(),
            message["manifest_path"].as_str(),
        ) && message["profile"]["test"] == true
        {
            build.executables.push(Executable {
                path: path.to_owned(),
                folder: manifest.trim_end_matches("Cargo.toml").to_owned(),
                name: message["target"]["name"].as_str().unwrap_or("").to_owned(),
            });
        }
    }
    if !output.status.success() && build.errors.is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(build)
}

fn error(message: &Value) -> Option<Error> {
    let spans = message["spans"].as_array()?;
    let primary = spans.iter().find(|span| span["is_primary"] == true)?;
    Some(Error {
        file: primary["file_name"].as_str()?.to_owned(),
        start: primary["byte_start"].as_u64()? as usize,
        said: message["rendered"].as_str().unwrap_or("").to_owned(),
    })
}
