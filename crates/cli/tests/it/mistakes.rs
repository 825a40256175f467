//! Wrong commands and wrong files: exit code 2 and a sentence that says what to do.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{folder, headway_in, init_node, program, refused};

#[test]
fn wrong_flags_say_what_to_change() {
    let cases = &[
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
        ("run --program measure --limit 3", "expected at least 24"),
        (
            "walk --generate grid:3x3 --longest 30",
            "--longest only has a meaning for --method exact",
        ),
        ("walk --generate grid:3x3 --svg w.png", "ends in .svg"),
        ("forecast --svg f.png", "ends in .svg"),
        ("petri export --svg f.png", "ends in .svg"),
        ("check delay-relay --threads 0", "at least 1 thread"),
        ("sweep --samples 0", "expected a whole number, at least 1"),
        ("sweep --threads x", "expected a whole number"),
        ("walk --generate grid:3x3 --effort 5000", "from 1 to 1000"),
        ("walk --generate grid:3x3 --effort x", "from 1 to 1000"),
        (
            "forecast --at 9999999999999999999",
            "from 0 to 9223372036854775808",
        ),
        ("chain --processes 5000000000", "give at most --processes"),
        ("forecast -n 10 -m 4294967295 -d 1", "give at most --tokens"),
    ];
    refused(Path::new("."), cases);
}

#[test]
fn wrong_state_files_show_the_place() {
    let folder = folder();
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
    let cases = &[
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
    ];
    refused(folder.path(), cases);
    let snippet = headway_in(folder.path(), "run --start counter.json").err;
    assert!(snippet.contains("     3 |     {\"program\""), "{snippet}");
    assert!(snippet.contains("^"), "{snippet}");
}

/// What has nowhere to go is a failure, and no panic. Where nobody reads, the program ends as if by
/// the signal; not with 0, because the answer may have been no.
#[test]
fn a_full_disk_and_a_closed_pipe_are_noticed() {
    let folder = folder();
    init_node(folder.path(), "node.toml");
    for arguments in [
        "run --rounds 3",
        "man",
        "completions fish",
        "node init",
        "node identity identity",
        "node identity --recovery-key operator.key",
        "node check-config --config node.toml",
        "plan node.toml --help",
        "fleet demo --for 1ms",
    ] {
        let run = |out: Stdio| {
            let mut command = Command::new(program());
            command
                .args(arguments.split(' '))
                .current_dir(folder.path());
            let output = command.stdin(Stdio::null()).stdout(out).output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            (output.status.code(), err)
        };
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (code, err) = run(full.into());
        let says = "error: cannot write the output: no space";
        assert!(code == Some(2) && err.contains(says), "{arguments}: {err}");
        let (nobody, pipe) = std::io::pipe().unwrap();
        drop(nobody);
        assert_eq!(run(pipe.into()), (Some(141), String::new()), "{arguments}");
    }
}

/// One who reads a line of many and goes.
#[test]
fn nobody_listening_any_more_is_no_fault() {
    let mut command = Command::new(program());
    let many = ["run", "--rounds", "300000", "--format", "csv"];
    command.args(many).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut first).unwrap();
    drop(out);
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!((ended.status.code(), &*err), (Some(141), ""), "{first}");
}

#[test]
fn a_file_that_is_there_is_left_as_it_is() {
    let folder = folder();
    std::fs::write(folder.path().join("node.toml"), "mine").unwrap();
    let ran = headway_in(folder.path(), "node init node.toml");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("cannot write node.toml"), "{}", ran.err);
    let text = std::fs::read_to_string(folder.path().join("node.toml")).unwrap();
    assert_eq!(text, "mine");
}
