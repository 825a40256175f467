//! Ctrl-C ends every command with 130, and what is known by then is shown or kept.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Starts a command, interrupts it as soon as `ready` and says how it ended.
///
/// On a busy machine the handler may not be there yet when the signal comes, and the
/// signal ends the program: wait longer then.
fn interrupted(folder: &Path, arguments: &str, ready: impl Fn() -> bool) -> (String, String) {
    let ended = (0..6).find_map(|attempt| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_headway"))
            .args(arguments.split_whitespace())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        // Its input stays open: the end of it is another reason to end.
        let _input = child.stdin.take();
        std::thread::sleep(Duration::from_millis(500 << attempt));
        let began = Instant::now();
        while !ready() && began.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(50));
        }
        let id = child.id().to_string();
        let killed = Command::new("kill").args(["-INT", &id]).status();
        assert!(killed.expect("kill").success(), "{arguments} had ended");
        let output = child.wait_with_output().expect("it ends");
        let code = output.status.code()?;
        Some((code, output.stdout, output.stderr))
    });
    let (code, out, err) = ended.expect("the handler is there after 16 s");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let (out, err) = (text(out), text(err));
    assert_eq!(code, 130, "{arguments}: {out}{err}");
    (out, err)
}

fn here() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn a_check_says_what_is_known() {
    let long = "check delay-relay --processes 24 --tokens 4 --separation 6 --delays at:0,1,5";
    let (_, err) = interrupted(here().path(), long, || true);
    assert!(err.contains("stopped") && err.contains("so far"), "{err}");
}

#[test]
fn a_run_shows_the_rounds_so_far() {
    let long = "run --processes 3000 --rounds 10000000000";
    let (out, err) = interrupted(here().path(), long, || true);
    assert!(out.contains("Legitimate after round"), "{out}");
    assert!(err.contains("stopped after round"), "{err}");
}

#[test]
fn a_sweep_keeps_its_finished_cells() {
    let folder = here();
    let journal = folder.path().join("headway-sweep");
    let long = "sweep --processes 20 2000 --tokens 9 --samples 3000000";
    let (_, err) = interrupted(folder.path(), long, || journal.exists());
    assert!(err.contains("--resume goes on"), "{err}");
}

#[test]
fn a_ring_sums_up() {
    let (out, _) = interrupted(here().path(), "ring --for 60s --nodes 6 --tokens 1", || {
        true
    });
    assert!(out.contains("violations"), "{out}");
}

#[test]
fn a_server_stops() {
    let (out, _) = interrupted(here().path(), "serve --port 0", || true);
    assert!(out.contains("Headway is at"), "{out}");
}

#[test]
fn a_walk_is_the_best_so_far() {
    let long = "walk --generate grid:20x20 --tokens 3 --effort 1000 --format json";
    let (out, err) = interrupted(here().path(), long, || true);
    assert!(err.contains("the best walk so far"), "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(json["interrupted"], true);
    assert!(json["length"].as_u64().expect("steps") >= 400);
}

#[test]
fn a_played_net_is_whole_json() {
    let net = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/petri/conveyor.pnml"
    );
    let folder = here();
    let long = format!("petri play {net} --rounds 99999999999 --format json -o last.pnml");
    let (out, err) = interrupted(folder.path(), &long, || true);
    assert!(err.contains("stopped after round"), "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert!(json["played"].as_array().expect("rounds").len() > 1);
    assert!(folder.path().join("last.pnml").exists());
}

#[test]
fn an_analysis_says_what_is_known() {
    let folder = here();
    let net = "<pnml><net id=\"n\"><place id=\"p\"/><place id=\"q\"/><transition id=\"t\"/>\
               <arc source=\"p\" target=\"t\"/><arc source=\"t\" target=\"q\"/>\
               <arc source=\"t\" target=\"q\"/></net></pnml>";
    std::fs::write(folder.path().join("n.pnml"), net).expect("written");
    let long = "petri analyze n.pnml --mark p=9223372036854775808 --max-markings 100000000";
    let (out, err) = interrupted(folder.path(), long, || true);
    assert!(err.contains("this is what was known by then"), "{err}");
    assert!(
        out.contains("stopped after") && out.contains("2·p + q"),
        "{out}"
    );
}

#[test]
fn a_plan_is_the_best_so_far() {
    let folder = here();
    // A random graph of some hundred members: nobody knows its bandwidth.
    let mut number = 1_u64;
    let mut next = || {
        number = number
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        number >> 33
    };
    let pairs: String = (0..900)
        .map(|_| (next() % 300, next() % 300))
        .filter(|(one, other)| one != other)
        .map(|(one, other)| format!("m{one},m{other}\n"))
        .collect();
    std::fs::write(folder.path().join("pairs.txt"), pairs).expect("written");
    let long = "plan pairs.txt --effort 1000 --format json";
    let (out, err) = interrupted(folder.path(), long, || true);
    assert!(err.contains("the best order so far"), "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(json["interrupted"], true);
    assert!(json["separation"].as_u64() >= json["lower_bound"].as_u64());
}

/// A command that has nothing to show ends at once.
#[test]
fn what_waits_for_input_ends() {
    interrupted(here().path(), "forecast -", || true);
}

/// Nothing is known yet: that is said, too.
#[test]
fn a_command_that_still_reads_says_that_there_is_nothing() {
    let (out, err) = interrupted(here().path(), "forecast -", || true);
    assert_eq!(out, "");
    assert!(
        err.contains("stopped: there is nothing to show yet"),
        "{err}"
    );
}

/// The states are still being listed, or their components looked for.
#[test]
fn a_check_of_actions_says_what_is_known() {
    let long = "check moving-block -n 4 -m 1 -d 3";
    let (_, err) = interrupted(here().path(), long, || true);
    assert!(err.contains("stopped after"), "{err}");
}
