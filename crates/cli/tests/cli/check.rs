//! `headway check` and `headway export`, as a person would use them.

use std::path::Path;

use headway_check::BigUint;
use serde_json::Value;

use crate::common;

fn output(args: &[&str], code: i32) -> (String, String) {
    let ran = common::run(Path::new("."), args);
    assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    (ran.out, ran.err)
}

fn json(args: &[&str], code: i32) -> Value {
    let args = [args, &["--format", "json"]].concat();
    serde_json::from_str(&output(&args, code).0).expect("one JSON object")
}

#[test]
fn the_default_instance_is_settled_and_reads_as_a_verdict() {
    let (text, _) = output(&["check", "delay-relay"], 0);
    for part in [
        "43,620,761,600 states, 256 of them legitimate",
        "✓ closure",
        "✓ convergence",
        "Worst case, exactly: 13 rounds",
        "Reductions used",
        "rotation",
        "--witness FILE.json",
        "Every property holds",
    ] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
}

#[test]
fn json_has_the_promised_fields() {
    let report = json(
        &["check", "delay-relay", "--processes", "6", "--tokens", "2"],
        0,
    );
    assert_eq!(report["state_count"], "56862");
    assert_eq!(report["legitimate_count"], "12");
    assert_eq!(
        report["cases_followed"].as_u64().map(|cases| cases > 0),
        Some(true)
    );
    assert_eq!(report["closure"], true);
    assert_eq!(report["convergence"], true);
    assert_eq!(report["worst_steps"], 6);
    assert_eq!(report["step"], "round");
    assert_eq!(report["worst_last_rest"], 5);
    assert_eq!(report["witness"]["start"]["separation"], 3);
    let unreduced = json(
        &[
            "check",
            "delay-relay",
            "--processes",
            "6",
            "--tokens",
            "2",
            "--unreduced",
        ],
        0,
    );
    for field in [
        "state_count",
        "legitimate_count",
        "closure",
        "convergence",
        "worst_steps",
        "distribution",
    ] {
        assert_eq!(report[field], unreduced[field], "{field}");
    }
}

#[test]
fn a_witness_is_a_state_file_that_run_replays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slow.json");
    let path = path.to_str().unwrap();
    let (text, _) = output(
        &[
            "check",
            "delay-relay",
            "--delays",
            "at:0",
            "--witness",
            path,
        ],
        0,
    );
    let replay = format!("headway run --start {path}");
    assert!(text.contains(&replay), "{text}");
    let worst = json(&["check", "delay-relay", "--delays", "at:0"], 0)["worst_steps"].clone();
    let run = json(&["run", "--start", path], 0);
    assert_eq!(run["legitimate_at"], worst);
}

#[test]
fn the_infeasible_ring_is_rejected_and_its_counterexample_replays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jam.json");
    let path = path.to_str().unwrap();
    let ring = [
        "check",
        "delay-relay",
        "--processes",
        "5",
        "--tokens",
        "2",
        "--separation",
        "3",
    ];
    let (text, _) = output(&[&ring[..], &["--witness", path]].concat(), 1);
    assert!(
        text.contains("✗ convergence") && text.contains("forever"),
        "{text}"
    );
    let report = json(&ring, 1);
    assert_eq!(report["convergence"], false);
    assert_eq!(report["worst_steps"], Value::Null);
    assert!(report["witness"]["repeats_from"].is_u64());
    output(&["run", "--start", path, "--rounds", "50"], 1);
}

#[test]
fn the_printed_program_fails_in_both_ways() {
    let report = json(
        &[
            "check",
            "measure-as-printed",
            "--processes",
            "6",
            "--tokens",
            "2",
        ],
        1,
    );
    let failed: Vec<&str> = report["properties"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|property| property["holds"] == false && property["counterexample"].is_object())
        .filter_map(|property| property["name"].as_str())
        .collect();
    for name in ["no-deadlock", "full-separation"] {
        assert!(failed.contains(&name), "{failed:?}");
    }
    json(
        &["check", "measure", "--processes", "6", "--tokens", "2"],
        0,
    );
}

#[test]
fn every_model_has_a_default_that_holds() {
    for model in [
        "measure",
        "k-state",
        "definitional",
        "phase-clock",
        "asynchronous",
        "handover",
        "monitor",
    ] {
        let report = json(&["check", model, "--threads", "2"], 0);
        assert_eq!(report["model"], model);
        assert_eq!(report["closure"], true, "{model}");
        assert_eq!(report["convergence"], true, "{model}");
        assert!(
            report["state_count"]
                .as_str()
                .unwrap()
                .parse::<u64>()
                .unwrap()
                > 0
        );
    }
}

#[test]
fn wrong_input_says_what_to_do() {
    for (args, message) in [
        (
            &["check", "monitor", "--pace", "3"][..],
            "unexpected argument '--pace'",
        ),
        (&["check", "k-state", "--values", "1"], "2 to 255 values"),
        (
            &["check", "delay-relay", "--tokens", "0"],
            "at least one token",
        ),
        (
            &["check", "delay-relay", "--delays", "at:99"],
            "there is no process 99",
        ),
        (&["check", "delay-relay", "--delays", "3"], "which ones?"),
        (&["check", "delay-relay", "--processes", "0"], "error"),
        (
            &[
                "check",
                "delay-relay",
                "--processes",
                "40",
                "--tokens",
                "8",
                "--separation",
                "5",
                "--delays",
                "every:2",
            ],
            "too large",
        ),
        (
            &[
                "check",
                "delay-relay",
                "--processes",
                "9",
                "--unreduced",
                "--memory",
                "1",
            ],
            "too large",
        ),
        (
            &["check", "handover", "--witness", "w.json"],
            "no single slowest run",
        ),
        (
            &["check", "k-state", "--scheduler", "fair"],
            "expected synchronous",
        ),
        (
            &["export", "promela", "--model", "monitor"],
            "possible values: delay-relay, k-state",
        ),
        (
            &["export", "promela", "--model", "k-state", "--tokens", "2"],
            "--tokens has no meaning for this --model",
        ),
        (&["export", "dot"], "expected promela, prism or tla"),
    ] {
        let (_, error) = output(args, 2);
        assert!(error.contains(message), "{args:?}: {error}");
        assert!(!error.contains("panicked"), "{args:?}: {error}");
    }
}

/// A protocol file: checked, set, shown, exported, and wrong.
#[test]
fn protocols_are_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let herman = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/protocols/herman.protocol"
    );
    let (told, _) = output(&["check", herman, "--set", "n=3"], 0);
    assert!(told.contains("Expected, exactly: 4/3 steps"), "{told}");
    let (told, _) = output(&["check", herman, "--set", "n=3", "--format", "json"], 0);
    let report: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(report["expected_steps_exact"], "4/3");
    assert_eq!(report["state_count"], "8");
    let dot = path("herman.dot");
    output(&["check", herman, "--set", "n=3", "--states", &dot], 0);
    assert!(
        std::fs::read_to_string(&dot)
            .unwrap()
            .starts_with("digraph")
    );
    let (told, _) = output(&["export", "prism", herman, "--set", "n=3"], 0);
    assert!(
        told.contains("1/2 : (x_0' = 0) + 1/2 : (x_0' = 1)"),
        "{told}"
    );
    let wrong = path("wrong.protocol");
    std::fs::write(&wrong, "graph ring(3)\nvariable x: 0..\n").unwrap();
    for (args, message) in [
        (
            &["check", &wrong][..],
            "wrong.protocol:3:1: expected an expression",
        ),
        (&["check", "absent.protocol"], "cannot read absent.protocol"),
        (&["check", "delay-rely"], "no model has this name"),
        (&["check"], "give a model or a protocol file"),
        (&["check", herman, "--set", "n"], "expected NAME=VALUE"),
        (
            &["check", herman, "--set", "q=1"],
            "there is no parameter `q`",
        ),
        (
            &["check", herman, "--states", "x.png"],
            "expected dot, aut or csv",
        ),
        (
            &["export", "prism", herman, "--scheduler", "distributed"],
            "only the central",
        ),
        (
            &["export", "prism", herman, "--processes", "7"],
            "--processes has no meaning for a protocol file",
        ),
    ] {
        let (_, error) = output(args, 2);
        assert!(error.contains(message), "{args:?}: {error}");
        assert!(
            error.contains("help:") || error.contains("--help"),
            "{args:?}: {error}"
        );
    }
}

#[test]
fn exports_go_to_standard_output_or_a_file() {
    let (text, _) = output(
        &["export", "promela", "--processes", "5", "--tokens", "2"],
        0,
    );
    assert!(text.contains("ltl convergence"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.prism");
    let to = path.to_str().expect("a plain path");
    output(
        &["export", "prism", "--model", "k-state", "--output", to],
        0,
    );
    assert!(std::fs::read_to_string(path).unwrap().contains("endmodule"));
    let (text, _) = output(&["export", "tla", "--delays", "at:0,2"], 0);
    assert!(text.contains("Delays == {0, 2}"));
}

/// More states than 128 bits count.
#[test]
fn counts_are_exact_at_any_size() {
    let args = [
        "check",
        "delay-relay",
        "--processes",
        "64",
        "--tokens",
        "2",
        "--separation",
        "4",
    ];
    let report = json(&args, 0);
    let count = |value: &Value| value.as_str().unwrap().parse::<BigUint>().unwrap();
    // C(129, 2) placements and 4 values of 64 counters.
    let states = BigUint::from(129_u32 * 128 / 2) * BigUint::from(4_u32).pow(64);
    assert_eq!(count(&report["state_count"]), states);
    let distribution = report["distribution"].as_array().unwrap();
    let total: BigUint = distribution.iter().map(count).sum();
    assert_eq!(total, states);
    let sum: BigUint = distribution
        .iter()
        .zip(0_u32..)
        .map(|(n, at)| count(n) * at)
        .sum();
    let mean = report["mean"].as_f64().unwrap();
    let thousandths = sum * 1000_u32 / total;
    assert_eq!(thousandths, BigUint::from((mean * 1000.0) as u64));
}

#[test]
fn every_model_has_help_of_its_own() {
    let (text, _) = output(&["check", "--help"], 0);
    assert!(
        text.contains("delay-relay") && text.contains("monitor"),
        "{text}"
    );
    let (text, _) = output(&["check", "monitor", "--help"], 0);
    assert!(
        text.contains("--monitors") && text.contains("--witness"),
        "{text}"
    );
    assert!(!text.contains("--pace"), "{text}");
}
