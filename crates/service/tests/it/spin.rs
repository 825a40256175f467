//! The agreement on the next membership as a model of its own, which SPIN explores. It is written
//! from the rules, without the program (`models/register.pml` says what it leaves out).

use std::path::{Path, PathBuf};
use std::process::Command;

use headway_testkit::tier::{Tier, pick, tier};
use headway_testkit::tools;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/register.pml");

/// SPIN, or what to install.
fn spin() -> Result<PathBuf, String> {
    tools::program(&["gcc"], "gcc libc6-dev").and_then(|_| tools::program(&["spin"], "spin"))
}

/// Explores an instance in at most 3 GB: the states stored if all hold, none if one does not.
fn explore(spin: &Path, instance: &str) -> Option<u64> {
    let name = format!("register {instance}").replace(' ', "-");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder below target");
    let run = |program: &Path, arguments: &[String]| {
        let mut command = Command::new(program);
        let output = command.args(arguments).current_dir(&folder).output();
        let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{instance}: {output:?}");
        text
    };
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let macros = instance.split_whitespace().map(|name| format!("-D{name}"));
    let generate = [words("-a"), macros.collect(), words(MODEL)].concat();
    run(spin, &generate);
    let optimize = pick("-O0", "-O2", "-O2");
    // Steps in random order, by a fixed seed, find the flaw that takes four ballots in 500 MB.
    let flags = "-w -DSAFETY -DCOLLAPSE -DMEMLIM=3000 -DT_RAND -o pan pan.c";
    run(Path::new("gcc"), &words(&format!("{optimize} {flags}")));
    let text = run(&folder.join("pan"), &words("-m100000 -RS1"));
    let _ = std::fs::remove_dir_all(&folder);
    if text.contains("assertion violated") {
        return None;
    }
    let whole = text.contains("errors: 0")
        && ["Search not completed", "max search depth too small"]
            .iter()
            .all(|short| !text.contains(short));
    assert!(whole, "{instance}: not all states were explored:\n{text}");
    let stored = text.lines().find(|line| line.contains("states, stored"));
    let stored = stored.and_then(|line| line.split_whitespace().next()?.parse().ok());
    Some(stored.unwrap_or_else(|| panic!("SPIN's count of states in:\n{text}")))
}

#[test]
fn a_version_has_one_membership_in_the_independent_model() {
    let spin = match spin() {
        Ok(spin) => spin,
        Err(why) => {
            return tools::skip(
                "a_version_has_one_membership_in_the_independent_model",
                &why,
            );
        }
    };
    let instances: &[(&str, u64)] = &[
        ("VOTERS=2 BALLOTS=3 LOST=0", 14_280),
        ("VOTERS=2 BALLOTS=4 LOST=0", 211_058),
        ("VOTERS=3 BALLOTS=3 LOST=0", 4_282_678),
        ("VOTERS=2 BALLOTS=2 VERSIONS=2 LOST=0", 96_266),
        ("VOTERS=2 BALLOTS=2 VERSIONS=2 SWAP=1 LOST=0", 244_758),
    ];
    for &(instance, states) in &instances[..pick(1, instances.len(), instances.len())] {
        assert_eq!(explore(&spin, instance), Some(states), "{instance}");
    }
}

#[test]
fn the_independent_model_notices_each_flaw() {
    let spin = match spin() {
        Ok(spin) => spin,
        Err(why) => return tools::skip("the_independent_model_notices_each_flaw", &why),
    };
    // With two voters each certificate has both votes, and one disk keeps them.
    let mut broken = vec!["VOTERS=3 BALLOTS=2 LOST=0 LOST_DISK_VOTES"];
    if tier() != Tier::Small {
        // Without the ballot, three ballots are too few to go wrong.
        let three = "VOTERS=3 BALLOTS=3 NO_BALLOT";
        assert_eq!(explore(&spin, three), Some(2_226_745), "{three}");
        broken.extend([
            "VOTERS=3 BALLOTS=4 NO_BALLOT",
            "VOTERS=2 BALLOTS=2 OWN_VALUE",
            "VOTERS=2 BALLOTS=2 VOTE_NOT_ON_DISK",
            "VOTERS=2 BALLOTS=2 PROMISE_NOT_ON_DISK",
            // No flaws: something is certified, also with the vote of a new disk or a new voter.
            "VOTERS=2 BALLOTS=2 REACH=1",
            "VOTERS=2 BALLOTS=2 VERSIONS=2 LOST=0 REACH=2",
            "VOTERS=2 BALLOTS=2 VERSIONS=2 SWAP=1 REACH=2",
        ]);
    }
    for instance in broken {
        assert_eq!(explore(&spin, instance), None, "{instance}");
    }
}
