//! The guide for embedded engineers, followed as it is written: every file and every command,
//! in one folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use headway_boards::image::{self, root, target};
use headway_testkit::tools;

use super::text::{Block, Step, blocks, fits};

/// Programs that do a little more here: the target is there or cannot be had, the package is
/// not published yet, where rustup has no compiler for the board, Debian has, and the
/// repository is elsewhere.
const STAND_INS: &[(&str, &str)] = &[
    ("rustup", "exit 0"),
    (
        "cargo",
        r#"PATH=${PATH#*:}
        case "$*" in
        "add --quiet headway-node "*) exec cargo "$@" --path ROOT/crates/node ;;
        *thumbv7m-none-eabi*) exec ROOT/firmware/cargo "$@" ;;
        *firmware/Cargo.toml*) exec cargo $(echo "$@" | sed 's| firmware/| ROOT/firmware/|') ;;
        *) exec cargo "$@" ;;
        esac"#,
    ),
];

fn prepare(folder: &Path) {
    let root = root().canonicalize().expect("the repository");
    fs::create_dir(folder.join("bin")).expect("a folder");
    for (program, script) in STAND_INS {
        let script = script.replace("ROOT", &root.display().to_string());
        let path = folder.join("bin").join(program);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(path, runs).expect("made a program");
    }
    // Compiled things are where those of the other tests are.
    fs::create_dir_all(target()).expect("a folder");
    let shared = target().canonicalize().expect("a folder");
    for (name, what) in [("target", shared), ("firmware", root.join("firmware"))] {
        std::os::unix::fs::symlink(what, folder.join(name)).expect("a link");
    }
}

/// Runs a command of the guide; what is wrong with it, if anything.
fn check(step: &Step, folder: &Path) -> Result<(), String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &step.command])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", folder.join("bin").display()))
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(step.code) {
        return Err(format!("{}: {printed}{told}", output.status));
    }
    let lines: Vec<&str> = printed.lines().collect();
    if fits(&step.expected, &lines) {
        return Ok(());
    }
    Err(format!("it prints\n{printed}{told}"))
}

/// Writes a file that stands in the guide: its first line names it.
fn write(lines: &[String], folder: &Path) {
    let Some(first) = lines.first() else { return };
    let name = first.trim_matches(['/', '*', '#', ' ']);
    let text = lines.join("\n") + "\n";
    if let Some(name) = name.strip_prefix("at the end of ") {
        let before = fs::read_to_string(folder.join(name)).expect("a file");
        fs::write(folder.join(name), before + "\n" + &text).expect("written");
    } else if ["memory.x", "build.rs", "src/main.rs", "ring.sh"].contains(&name) {
        fs::write(folder.join(name), text).expect("written");
    }
}

#[test]
#[ignore = "make test-all"]
fn a_blinking_ring_by_the_guide() {
    let test = "a_blinking_ring_by_the_guide";
    let found = image::emulator().map(drop).and_then(|()| image::compiler());
    if let Err(why) = found.and_then(|()| tools::program(&["cc"], "gcc").map(drop)) {
        return tools::skip(test, &why);
    }
    let guide = fs::read_to_string(root().join("docs/embedded.md")).expect("the guide");
    let folder = tempfile::tempdir().expect("a folder");
    prepare(folder.path());
    let mut commands = 0;
    for block in blocks(&guide) {
        match block {
            Block::Text(_, lines) => write(&lines, folder.path()),
            Block::Console(steps) => {
                for step in steps {
                    commands += 1;
                    if let Err(why) = check(&step, folder.path()) {
                        panic!("embedded.md, line {}: $ {}\n{why}", step.line, step.command);
                    }
                }
            }
        }
    }
    assert!(commands >= 10, "{commands} commands");
    // Three boards and one permit: what goes on goes off before anything else goes on.
    let lamps = fs::read_to_string(folder.path().join("lamps")).expect("lamps");
    let lines: Vec<&str> = lamps.lines().collect();
    for pair in lines.chunks_exact(2) {
        let off = pair[0]
            .strip_suffix(" on")
            .map(|lamp| format!("{lamp} off"));
        assert_eq!(off.as_deref(), Some(pair[1]), "{lamps}");
    }
    let wrong = Step {
        line: 1,
        machine: String::new(),
        command: "echo one".into(),
        expected: vec!["two".into()],
        code: 0,
    };
    assert!(check(&wrong, folder.path()).is_err());
}
