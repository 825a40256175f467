//! The guides in `docs/guides` do what they say: every `console` block is run, in order,
//! in one directory a guide, and prints what stands under it. `...` stands for anything:
//! alone on a line for any lines, at the end of a line for its rest. `? 1` is an exit code.
//!
//! `HEADWAY_GUIDE_PRINT=1` prints what each command prints, to write guides with.
//!
//! The commands of the other documents, which stand there without what they print, are
//! run too: none may be refused.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Documents whose commands are run, or at least known. `docs/operators` is read by a
/// test of its own, and guides above.
const DOCUMENTS: &[&str] = &[
    "README.md",
    "docs/check.md",
    "docs/dashboard.md",
    "docs/forecast.md",
    "docs/node.md",
    "docs/petri.md",
    "docs/walks.md",
    "docs/worst-case.md",
];

/// Commands that are not run, and why.
const NOT_RUN: &[(&str, &str)] = &[
    (
        "headway ring",
        "ten seconds; tests/cli/ring.rs runs shorter ones",
    ),
    ("headway ring --transport udp --loss 0.2", "ten seconds"),
    ("headway ring --for 10s --format json", "ten seconds"),
    (
        "headway run --fault scramble@30 --watch",
        "wants a terminal",
    ),
    (
        "headway serve --open",
        "for ever; tests/cli/serve.rs starts it",
    ),
    (
        "headway serve --listen 0.0.0.0:7007 --token-file token",
        "for ever; tests/cli/serve.rs starts it",
    ),
];

/// Commands that a document shows because they are refused.
const REFUSED: &[&str] = &["headway ring --nodes 10 --tokens 4 --separation 2"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A directory to try commands in, with the examples of the repository.
fn workplace() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    std::os::unix::fs::symlink(root().join("examples"), directory.path().join("examples"))
        .expect("a link");
    directory
}

#[test]
fn every_command_of_every_guide() {
    let root = root();
    let mut guides: Vec<PathBuf> = std::fs::read_dir(root.join("docs/guides"))
        .expect("docs/guides")
        .map(|entry| entry.expect("a file").path())
        .collect();
    guides.sort();
    let mut commands = 0;
    for guide in &guides {
        let text = std::fs::read_to_string(guide).expect("a guide");
        let directory = workplace();
        for step in steps(&text) {
            commands += 1;
            let name = guide.file_name().unwrap_or_default().to_string_lossy();
            if let Err(why) = step.run(directory.path()) {
                panic!("{name}, line {}: $ {}\n{why}", step.line, step.command);
            }
        }
    }
    assert!(
        commands >= 10,
        "{commands} commands in {} guides",
        guides.len()
    );
}

#[test]
fn every_command_of_the_other_documents() {
    let mut left: Vec<&str> = NOT_RUN.iter().map(|(command, _)| *command).collect();
    let mut run = 0;
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root().join(document)).expect(document);
        let directory = workplace();
        for (line, command) in commands(&text) {
            if NOT_RUN.iter().any(|(other, _)| *other == command) {
                left.retain(|other| *other != command);
                continue;
            }
            let refused = i32::from(REFUSED.contains(&&*command)) * 2;
            for part in command.split(" && ") {
                run += 1;
                let (code, told) = try_out(part, directory.path());
                let fine = if refused == 2 { code == 2 } else { code < 2 };
                assert!(
                    fine,
                    "{document}, line {line}: $ {part}\nexit code {code}: {told}"
                );
            }
        }
    }
    assert!(left.is_empty(), "no document says {left:?} any more");
    assert!(run >= 30, "{run} commands");
}

/// Lines that are commands, in blocks of any kind: what comes after `$ `, or begins with
/// `headway`, up to a remark.
fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let indented = line.starts_with("    ");
        let line = line.trim_start();
        let line = line.strip_prefix("$ ").unwrap_or(line);
        // A line of the page's sentences about headway has no command in it.
        let named = line == "headway" || line.starts_with("headway ");
        if (fenced || indented) && named && !line.starts_with("headway (") {
            let command = line.split("  ").next().unwrap_or(line);
            let command = command.split(" #").next().unwrap_or(command);
            found.push((index + 1, command.trim_end().to_owned()));
        }
    }
    found
}

/// Its exit code, and what it says on standard error.
fn try_out(command: &str, directory: &Path) -> (i32, String) {
    // What the shell would do with `> file` matters to no later command here.
    let command = command.split(" > ").next().unwrap_or(command);
    let words = command.split_whitespace().skip(1);
    let output = Command::new(env!("CARGO_BIN_EXE_headway"))
        .args(words)
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), told)
}

/// What the documents tell people to run with cargo: packages, tests and examples that
/// exist.
#[test]
fn every_test_and_example_named_exists() {
    let mut documents: Vec<PathBuf> = DOCUMENTS.iter().map(|name| root().join(name)).collect();
    documents.extend(
        [
            "docs/verified.md",
            "CONTRIBUTING.md",
            "docs/operators/README.md",
        ]
        .map(|name| root().join(name)),
    );
    documents.extend(
        std::fs::read_dir(root().join("docs/guides"))
            .expect("docs/guides")
            .map(|entry| entry.expect("a file").path()),
    );
    let mut named = 0;
    for document in &documents {
        let text = std::fs::read_to_string(document).expect("a document");
        for (package, kind, name) in targets(&text) {
            named += 1;
            assert!(
                target_exists(&package, &kind, &name),
                "{}: -p {package} {kind} {name}",
                document.display()
            );
        }
    }
    assert!(named >= 20, "{named} named");
    assert!(!target_exists("headway-core", "--test", "nowhere"));
    assert!(!target_exists("headway-nowhere", "--test", "chain"));
}

/// Every `-p PACKAGE ... --test NAME` and `--example NAME`.
fn targets(text: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for piece in text.split(['`', '\n']) {
        let words: Vec<&str> = piece.split_whitespace().collect();
        let mut package = None;
        for pair in words.windows(2) {
            match *pair {
                ["-p", name] => package = Some(name),
                [kind @ ("--test" | "--example"), name] => {
                    let package = package.unwrap_or("headway").to_owned();
                    found.push((package, kind.to_owned(), name.to_owned()));
                }
                _ => {}
            }
        }
    }
    found
}

fn target_exists(package: &str, kind: &str, name: &str) -> bool {
    let folder = match package {
        "headway" => "crates/cli".to_owned(),
        "headway-testsuite" => "testsuite".to_owned(),
        other => other.replacen("headway-", "crates/", 1),
    };
    let folder = root().join(folder);
    let kind = kind.trim_start_matches('-');
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let files = folder.join(format!("{kind}s"));
    files.join(format!("{name}.rs")).exists()
        || files.join(name).join("main.rs").exists()
        || manifest.contains(&format!("[[{kind}]]\nname = \"{name}\""))
}

/// One command of a guide.
struct Step {
    line: usize,
    command: String,
    expected: Vec<String>,
    code: i32,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if !inside {
        } else if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                line: index + 1,
                command: command.to_owned(),
                expected: Vec::new(),
                code: 0,
            });
        } else if let Some(step) = steps.last_mut() {
            match line.strip_prefix("? ") {
                Some(code) => step.code = code.parse().expect("an exit code"),
                None => step.expected.push(line.to_owned()),
            }
        }
    }
    steps
}

impl Step {
    fn run(&self, directory: &Path) -> Result<(), String> {
        let mut words = self.command.split_whitespace();
        assert_eq!(words.next(), Some("headway"), "only headway is run");
        let output = Command::new(env!("CARGO_BIN_EXE_headway"))
            .args(words)
            .current_dir(directory)
            .env("NO_COLOR", "1")
            .output()
            .map_err(|error| error.to_string())?;
        let printed = String::from_utf8_lossy(&output.stdout);
        if std::env::var_os("HEADWAY_GUIDE_PRINT").is_some() {
            println!("$ {}\n{printed}? {:?}", self.command, output.status.code());
        }
        if output.status.code() != Some(self.code) {
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(format!("exit code {:?}: {told}", output.status.code()));
        }
        let lines: Vec<&str> = printed.trim_end().lines().collect();
        if fits(&self.expected, &lines) {
            Ok(())
        } else {
            Err(format!(
                "expected\n{}\nbut it prints\n{printed}",
                self.expected.join("\n")
            ))
        }
    }
}

/// Whether lines are as expected, where `...` stands for anything.
fn fits(expected: &[String], lines: &[&str]) -> bool {
    let Some((first, rest)) = expected.split_first() else {
        return lines.is_empty();
    };
    if first == "..." {
        return (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..]));
    }
    let Some((line, others)) = lines.split_first() else {
        return false;
    };
    let same = match first.strip_suffix("...") {
        Some(start) => line.starts_with(start),
        None => line.trim_end() == first.trim_end(),
    };
    same && fits(rest, others)
}

#[test]
fn a_guide_that_is_wrong_is_found_out() {
    let expected = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let lines = ["one", "two", "three 3.1 s"];
    assert!(fits(&expected("one\n...\nthree ..."), &lines));
    assert!(!fits(&expected("one\n...\nfour"), &lines));
    assert!(!fits(&expected("one\ntwo"), &lines));
    let wrong = steps("```console\n$ headway --version\nheadway 9.9.9\n```");
    assert!(wrong[0].run(Path::new(".")).is_err());
    let right = steps("```console\n$ headway --version\nheadway ...\n```");
    assert_eq!(right[0].run(Path::new(".")), Ok(()));
}
