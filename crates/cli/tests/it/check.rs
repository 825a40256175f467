//! `headway check` and `headway export`, as a person would use them.

use std::path::Path;

use headway_check::BigUint;
use serde_json::Value;

use crate::common::{folder, headway_in, json, refused, root};

/// What a command prints that ends with this code.
fn told(folder: &Path, arguments: &str, code: i32) -> String {
    let ran = headway_in(folder, arguments);
    assert_eq!(ran.code, code, "{arguments}: {}{}", ran.out, ran.err);
    ran.out
}

fn report(arguments: &str, code: i32) -> Value {
    let text = told(Path::new("."), &format!("{arguments} --format json"), code);
    serde_json::from_str(&text).expect("one JSON object")
}

#[test]
fn the_default_instance_is_settled_and_reads_as_a_verdict() {
    let text = told(Path::new("."), "check delay-relay", 0);
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
    let check = "check delay-relay --processes 6 --tokens 2";
    let reduced = report(check, 0);
    assert_eq!(reduced["state_count"], "56862");
    assert_eq!(reduced["legitimate_count"], "12");
    assert!(reduced["cases_followed"].as_u64() > Some(0));
    assert_eq!(reduced["closure"], true);
    assert_eq!(reduced["convergence"], true);
    assert_eq!(reduced["worst_steps"], 6);
    assert_eq!(reduced["step"], "round");
    assert_eq!(reduced["worst_last_rest"], 5);
    assert_eq!(reduced["witness"]["start"]["separation"], 3);
    let unreduced = report(&format!("{check} --unreduced"), 0);
    for field in [
        "state_count",
        "legitimate_count",
        "closure",
        "convergence",
        "worst_steps",
        "distribution",
    ] {
        assert_eq!(reduced[field], unreduced[field], "{field}");
    }
}

#[test]
fn a_witness_is_a_state_file_that_run_replays() {
    let folder = folder();
    let check = "check delay-relay --delays at:0";
    let text = told(folder.path(), &format!("{check} --witness slow.json"), 0);
    assert!(text.contains("headway run --start slow.json"), "{text}");
    let run = headway_in(folder.path(), "run --start slow.json --format json");
    let worst = &report(check, 0)["worst_steps"];
    assert_eq!(&run.json()["legitimate_at"], worst);
}

#[test]
fn the_infeasible_ring_is_rejected_and_its_counterexample_replays() {
    let folder = folder();
    let ring = "check delay-relay --processes 5 --tokens 2 --separation 3";
    let text = told(folder.path(), &format!("{ring} --witness jam.json"), 1);
    let says = text.contains("✗ convergence") && text.contains("forever");
    assert!(says, "{text}");
    let jam = report(ring, 1);
    assert_eq!(jam["convergence"], false);
    assert_eq!(jam["worst_steps"], Value::Null);
    assert!(jam["witness"]["repeats_from"].is_u64());
    told(folder.path(), "run --start jam.json --rounds 50", 1);
}

#[test]
fn the_printed_program_fails_in_both_ways() {
    let printed = report("check measure-as-printed --processes 6 --tokens 2", 1);
    let properties = printed["properties"].as_array().unwrap().iter();
    let failed: Vec<&str> = properties
        .filter(|property| property["holds"] == false && property["counterexample"].is_object())
        .filter_map(|property| property["name"].as_str())
        .collect();
    for name in ["no-deadlock", "full-separation"] {
        assert!(failed.contains(&name), "{failed:?}");
    }
    report("check measure --processes 6 --tokens 2", 0);
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
        let report = report(&format!("check {model} --threads 2"), 0);
        assert_eq!(report["model"], model);
        assert_eq!(report["closure"], true, "{model}");
        assert_eq!(report["convergence"], true, "{model}");
        let states = report["state_count"].as_str().unwrap();
        assert!(states.parse::<u64>().unwrap() > 0);
    }
}

#[test]
fn wrong_input_says_what_to_do() {
    let cases = &[
        ("check monitor --pace 3", "unexpected argument '--pace'"),
        ("check k-state --values 1", "2 to 255 values"),
        ("check delay-relay --tokens 0", "at least one token"),
        ("check delay-relay --delays at:99", "there is no process 99"),
        ("check delay-relay --delays 3", "which ones?"),
        ("check delay-relay --processes 0", "error"),
        (
            "check delay-relay --processes 40 --tokens 8 --separation 5 --delays every:2",
            "too large",
        ),
        (
            "check delay-relay --processes 9 --unreduced --memory 1",
            "too large",
        ),
        ("check handover --witness w.json", "no single slowest run"),
        ("check k-state --scheduler fair", "expected synchronous"),
        (
            "export promela --model monitor",
            "possible values: delay-relay, k-state",
        ),
        (
            "export promela --model k-state --tokens 2",
            "--tokens has no meaning for this --model",
        ),
        ("export dot", "expected promela, prism or tla"),
    ];
    refused(Path::new("."), cases);
}

/// A protocol file: checked, set, shown, exported, and wrong.
#[test]
fn protocols_are_files() {
    let folder = folder();
    std::os::unix::fs::symlink(
        root().join("examples/protocols/herman.protocol"),
        folder.path().join("herman.protocol"),
    )
    .unwrap();
    let check = "check herman.protocol --set n=3";
    let text = told(folder.path(), check, 0);
    assert!(text.contains("Expected, exactly: 4/3 steps"), "{text}");
    let report = headway_in(folder.path(), &format!("{check} --format json")).json();
    assert_eq!(report["expected_steps_exact"], "4/3");
    assert_eq!(report["state_count"], "8");
    told(folder.path(), &format!("{check} --states herman.dot"), 0);
    let dot = std::fs::read_to_string(folder.path().join("herman.dot")).unwrap();
    assert!(dot.starts_with("digraph"), "{dot}");
    let prism = told(folder.path(), "export prism herman.protocol --set n=3", 0);
    let choice = "1/2 : (x_0' = 0) + 1/2 : (x_0' = 1)";
    assert!(prism.contains(choice), "{prism}");
    let wrong = "graph ring(3)\nvariable x: 0..\n";
    std::fs::write(folder.path().join("wrong.protocol"), wrong).unwrap();
    let cases = &[
        (
            "check wrong.protocol",
            "wrong.protocol:3:1: expected an expression",
        ),
        ("check absent.protocol", "cannot read absent.protocol"),
        ("check delay-rely", "no model has this name"),
        ("check", "give a model or a protocol file"),
        ("check herman.protocol --set n", "expected NAME=VALUE"),
        (
            "check herman.protocol --set q=1",
            "there is no parameter `q`",
        ),
        (
            "check herman.protocol --states x.png",
            "expected dot, aut or csv",
        ),
        (
            "export prism herman.protocol --scheduler distributed",
            "only the central",
        ),
        (
            "export prism herman.protocol --processes 7",
            "--processes has no meaning for a protocol file",
        ),
    ];
    refused(folder.path(), cases);
    for (command, _) in cases {
        let err = headway_in(folder.path(), command).err;
        let helps = err.contains("help:") || err.contains("--help");
        assert!(helps, "{command}: {err}");
    }
}

#[test]
fn exports_go_to_standard_output_or_a_file() {
    let folder = folder();
    let told = |arguments: &str| told(folder.path(), arguments, 0);
    assert!(told("export promela --processes 5 --tokens 2").contains("ltl convergence"));
    assert!(told("export tla --delays at:0,2").contains("Delays == {0, 2}"));
    told("export prism --model k-state --output k.prism");
    let prism = std::fs::read_to_string(folder.path().join("k.prism")).unwrap();
    assert!(prism.contains("endmodule"), "{prism}");
}

/// More states than 128 bits count.
#[test]
fn counts_are_exact_at_any_size() {
    let report = json("check delay-relay --processes 64 --tokens 2 --separation 4 --format json");
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
    let has = |command: &str, flag: &str| told(Path::new("."), command, 0).contains(flag);
    assert!(has("check --help", "delay-relay") && has("check --help", "monitor"));
    let monitor = "check monitor --help";
    assert!(has(monitor, "--monitors") && has(monitor, "--witness"));
    assert!(!has(monitor, "--pace"));
}
