//! Whole commands, from flags or a file to the printed answer.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use cpu_time::ProcessTime;
use headway_sim::start;
use headway_sim::state_file::render;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

use crate::ring::uniform;
use crate::table::{Goal, Row, Table, ratio, time};

pub(crate) fn measure(table: &mut Table) {
    match program() {
        Some(program) => {
            from_flags(table, &program);
            from_file(table, &program);
        }
        None => {
            eprintln!("  skipped: there is no program headway; build it: cargo build --release");
        }
    }
}

/// The program that was built beside this one.
fn program() -> Option<PathBuf> {
    let this = std::env::current_exe().ok()?;
    Some(this.with_file_name("headway")).filter(|path| path.exists())
}

/// Processor time and peak memory of a command that answers yes or no.
fn cost(command: &mut Command) -> (Duration, u64) {
    let used = || {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("a count of the past");
        let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        Duration::from_micros(micros.unsigned_abs())
    };
    let before = used();
    let mut child = command
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let ended = loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        match child.try_wait().expect("a child") {
            Some(ended) => break ended,
            None => thread::sleep(Duration::from_millis(10)),
        }
    };
    assert!(matches!(ended.code(), Some(0 | 1)), "{command:?} answers");
    (used() - before, peak << 10)
}

fn from_flags(table: &mut Table, program: &Path) {
    let (n, tokens) = (100_000_000, 1_000_000);
    let drawing = {
        let ring = uniform(n, 90);
        let begin = ProcessTime::now();
        black_box(start::random(&ring, tokens, 2009));
        begin.elapsed()
    };
    let (n_text, tokens) = (n.to_string(), tokens.to_string());
    let flags = [
        "--processes",
        &n_text,
        "--tokens",
        &tokens,
        "--separation",
        "90",
    ];
    let (ours, bytes) = cost(Command::new(program).arg("forecast").args(flags));
    table.add(Row {
        work: "headway forecast, N = 100,000,000, M = 1,000,000, from flags to answer".to_owned(),
        ours: time(ours),
        baseline: format!("drawing the start {}", time(drawing)),
        ratio: ratio(ours, drawing),
        goal: Goal::AtMost(3.0),
    });
    table.add(Row {
        work: "memory of that".to_owned(),
        ours: format!("{:.2} GB", bytes as f64 / 1e9),
        baseline: "1 byte per process".to_owned(),
        ratio: bytes as f64 / n as f64,
        goal: Goal::AtMost(24.0),
    });
}

fn from_file(table: &mut Table, program: &Path) {
    let ring = uniform(3_000_000, 90);
    let text = render(&ring, &start::random(&ring, 30_000, 1));
    let begin = ProcessTime::now();
    let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let reading = begin.elapsed();
    drop(black_box(read));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state.json");
    std::fs::write(&file, &text).expect("a file");
    let megabytes = text.len() as f64 / 1e6;
    for (name, before, after) in [
        (
            "headway forecast FILE",
            ["forecast"].as_slice(),
            [].as_slice(),
        ),
        (
            "headway run --start FILE --rounds 1",
            &["run", "--start"],
            &["--rounds", "1"],
        ),
    ] {
        let mut command = Command::new(program);
        let (ours, _) = cost(command.args(before).arg(&file).args(after));
        table.add(Row {
            work: format!("{name}, N = 3,000,000, {megabytes:.0} MB"),
            ours: time(ours),
            baseline: format!(
                "1 MB a second (serde_json's tree of it alone: {})",
                time(reading)
            ),
            ratio: megabytes / ours.as_secs_f64(),
            goal: Goal::AtLeast(200.0),
        });
    }
}
