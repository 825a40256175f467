//! Wrong commands and wrong files: exit code 2 and a sentence that says what to do.

use crate::common::{headway, headway_in};

#[test]
fn wrong_flags_say_what_to_change() {
    for (arguments, says) in [
        ("run --processes 0", "at least one process"),
        ("run --processes 99999999999", "at most 4294967296"),
        ("run --tokens 0", "no tokens"),
        ("run --tokens 4294967296", "at most 4294967295"),
        ("run --separation 0", "expected 1 to"),
        ("run --separation 2147483649", "expected 1 to"),
        ("run --delays 0", "no process delays"),
        ("run --delays 25", "25 delays"),
        ("run --delays at:24", "no process 24"),
        ("run --delays every:0", "every:K"),
        ("run --delays some", "expected all"),
        ("run --start middle", "expected random"),
        ("run --start nowhere.json", "cannot read nowhere.json"),
        ("run --seed red", "whole number"),
        (
            "run --program measure --separation 3",
            "--separation contradicts",
        ),
        (
            "run --program measure --start worst",
            "not known in closed form",
        ),
        ("run --limit 9", "only has a meaning"),
        (
            "run --horizon 9",
            "only has a meaning for shortest-lap-epochs",
        ),
        (
            "run --program shortest-lap-epochs --horizon 0",
            "an epoch of 0 turns would forget every lap at once",
        ),
        ("run --program shortest-lap --delays 0", "no process delays"),
        (
            "check shortest-lap --processes 3 --tokens 4",
            "at most as many as processes; not 3 and 4",
        ),
        ("check shortest-lap-epochs --horizon 0", "a horizon from 1"),
        (
            "run --start worst --tokens 9 --separation 5",
            "no worst start",
        ),
        ("run --fault scramble", "after which round"),
        ("run --fault melt@3", "'melt' is not a fault"),
        ("run --fault scramble:101%@3", "between 1% and 100%"),
        ("run --fault pile:99@3", "no process 99"),
        ("run --fault counter:0:5@3", "out of range"),
        ("run --fault move:0:1@3 --rounds 2", "after the last round"),
        ("run --fault move:12:1@3 --start piled", "no token to move"),
        ("run --watch", "needs a terminal"),
        ("run --watch --format json", "--watch contradicts"),
        ("run --trace nowhere/t.jsonl", "create the folder"),
        ("forecast --program measure", "headway run"),
        ("forecast --at -1", "expected a whole number from 0 to"),
        ("forecast --svg nowhere/a.svg", "create the folder"),
        ("worst --start piled", "--start has no meaning"),
        ("worst --tokens 9 --separation 5", "none of them settles"),
        ("chain --processes 1", "second process"),
        ("chain --separation 0", "expected 1 to"),
        ("chain --arrivals often", "expected burst"),
        ("completions tcl", "invalid value"),
        ("export tla delay-relay", "give --model delay-relay"),
        ("check delay-relay --threads 1025", "at most 1024 threads"),
        ("check monitor --monitors a", "expected a whole number"),
        ("rnu", "unrecognized subcommand"),
        ("run --sepration 3", "--separation"),
    ] {
        let ran = headway(arguments);
        assert_eq!(ran.code, 2, "{arguments}: {}", ran.err);
        assert!(
            ran.err.contains(says),
            "{arguments} should say '{says}':\n{}",
            ran.err
        );
        assert!(!ran.err.contains("panicked"), "{arguments}: {}", ran.err);
        assert!(
            ran.out.is_empty(),
            "{arguments} prints nothing else: {}",
            ran.out
        );
    }
}

#[test]
fn wrong_state_files_show_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "counter.json",
        "{ \"separation\": 3,\n  \"processes\": [\n    {\"program\": \"delay\", \"resting\": 1, \"counter\": 3} ] }",
    );
    write("cut.json", "{ \"separation\": 3,");
    write("empty.json", "");
    write(
        "tokens.json",
        "{ \"separation\": 3, \"processes\": [{\"program\": \"delay\"}] }",
    );
    write(
        "relays.json",
        "{ \"separation\": 3, \"processes\": [{\"program\": \"relay\", \"resting\": 1}] }",
    );
    write(
        "good.json",
        "{ \"separation\": 1, \"processes\": [{\"program\": \"delay\", \"resting\": 1}] }",
    );
    for (arguments, says) in [
        (
            "run --start counter.json",
            "counter.json:3:51: processes[0].counter: 3 given, expected a whole number from 0 to 2",
        ),
        ("forecast counter.json", "processes[0].counter"),
        (
            "run --start cut.json",
            "cut.json:1:18: the file ends too early",
        ),
        ("run --start empty.json", "empty.json is empty"),
        ("run --start tokens.json", "no tokens"),
        ("run --start relays.json", "no process delays"),
        ("run --start .", "cannot read"),
        (
            "run --start good.json --tokens 2",
            "--tokens contradicts the state file",
        ),
        ("forecast good.json --start piled", "--start contradicts"),
    ] {
        let ran = headway_in(folder.path(), arguments);
        assert_eq!(ran.code, 2, "{arguments}: {}", ran.err);
        assert!(
            ran.err.contains(says),
            "{arguments} should say '{says}':\n{}",
            ran.err
        );
    }
    let snippet = headway_in(folder.path(), "run --start counter.json").err;
    assert!(snippet.contains("     3 |     {\"program\""), "{snippet}");
    assert!(snippet.contains("^"), "{snippet}");
}

/// What has nowhere to go is a failure, and no panic.
#[test]
fn a_full_disk_and_a_closed_pipe_are_noticed() {
    let headway = assert_cmd::cargo::cargo_bin("headway");
    let folder = tempfile::tempdir().unwrap();
    let ran = headway_in(folder.path(), "node init node.toml --shared-key ring.key");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for arguments in [
        "run --rounds 3",
        "man",
        "completions fish",
        "node init",
        "node identity identity",
        "node identity --operator operator.key",
        "node check-config --config node.toml",
        "plan node.toml --help",
        "fleet demo --for 1ms",
    ] {
        let run = |to: &str| {
            let script = format!("'{}' {arguments} {to}", headway.display());
            let mut shell = std::process::Command::new("bash");
            shell.args(["-c", &script]).current_dir(folder.path());
            let output = shell.output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            (output.status.code(), err)
        };
        let (code, err) = run(">/dev/full");
        assert_eq!(code, Some(2), "{arguments}: {err}");
        assert!(
            err.contains("error: cannot write the output: no space"),
            "{arguments}: {err}"
        );
        let (_, err) = run("| (exec 0<&-; sleep 0.3); exit ${PIPESTATUS[0]}");
        assert!(!err.contains("panicked"), "{arguments}: {err}");
    }
}

#[test]
fn a_key_is_not_left_behind_where_the_file_is_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("node.toml"), "mine").unwrap();
    let ran = headway_in(folder.path(), "node init node.toml --shared-key ring.key");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("cannot write node.toml"), "{}", ran.err);
    assert!(!folder.path().join("ring.key").exists());
    let ran = headway_in(
        folder.path(),
        "node init other.toml --shared-key none/ring.key",
    );
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(!folder.path().join("other.toml").exists());
}

#[test]
fn nobody_listening_is_no_fault() {
    let headway = assert_cmd::cargo::cargo_bin("headway");
    let script = format!(
        "'{}' run --rounds 3000 --format csv | head -1",
        headway.display()
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!err.contains("panicked") && !err.contains("error"), "{err}");
    // It ends as if by the signal; not with 0, because the answer may have been no.
    let script = format!(
        "(sleep 0.2; '{}' run --rounds 3; echo $? >&2) | true",
        headway.display()
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "141\n");
}
