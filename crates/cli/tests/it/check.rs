//! `headway check` and `headway export`, as a person would use them.

use std::path::Path;

use headway_check::{BigUint, MODELS};
use serde_json::Value;

use crate::common::{Place, has, json, read, refused};

#[test]
fn the_default_instance_is_settled_and_reads_as_a_verdict() {
    has(
        &Place::new().told("check delay-relay"),
        &[
            "43,620,761,600 states, 256 of them legitimate",
            "✓ closure",
            "✓ convergence",
            "Worst case, exactly: 13 rounds",
            "Reductions used",
            "rotation",
            "--witness FILE.json",
            "Every property holds",
        ],
    );
}

#[test]
fn json_has_the_promised_fields() {
    let place = Place::new();
    let check = "check delay-relay --processes 6 --tokens 2";
    let reduced = place.json(check);
    assert_eq!(reduced["state_count"], "56862");
    assert_eq!(reduced["legitimate_count"], "12");
    assert!(reduced["cases_followed"].as_u64() > Some(0));
    assert_eq!(reduced["closure"], true);
    assert_eq!(reduced["convergence"], true);
    assert_eq!(reduced["worst_steps"], 6);
    assert_eq!(reduced["step"], "round");
    assert_eq!(reduced["worst_last_rest"], 5);
    assert_eq!(reduced["witness"]["start"]["separation"], 3);
    let unreduced = place.json(&format!("{check} --unreduced"));
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
    let place = Place::new();
    let check = "check delay-relay --delays at:0";
    let text = place.told(&format!("{check} --witness slow.json"));
    has(&text, &["headway run --start slow.json"]);
    let run = place.json("run --start slow.json");
    assert_eq!(run["legitimate_at"], place.json(check)["worst_steps"]);
}

#[test]
fn the_infeasible_ring_is_rejected_and_its_counterexample_replays() {
    let place = Place::new();
    let ring = "check delay-relay --processes 5 --tokens 2 --separation 3";
    let text = place.run(1, &format!("{ring} --witness jam.json")).out;
    has(&text, &["✗ convergence", "forever"]);
    let jam = place.run(1, &format!("{ring} --format json")).json();
    assert_eq!(jam["convergence"], false);
    assert_eq!(jam["worst_steps"], Value::Null);
    assert!(jam["witness"]["repeats_from"].is_u64());
    place.run(1, "run --start jam.json --rounds 50");
}

#[test]
fn the_printed_program_fails_in_both_ways() {
    let place = Place::new();
    let check = "check measure-as-printed --processes 6 --tokens 2 --format json";
    let printed = place.run(1, check).json();
    let properties = printed["properties"].as_array().unwrap().iter();
    let failed: Vec<&str> = properties
        .filter(|property| property["holds"] == false && property["counterexample"].is_object())
        .filter_map(|property| property["name"].as_str())
        .collect();
    for name in ["no-deadlock", "full-separation"] {
        assert!(failed.contains(&name), "{failed:?}");
    }
    place.told("check measure --processes 6 --tokens 2");
}

#[test]
fn every_model_has_a_default_that_holds() {
    // Those of unknown size, and what is printed, have tests of their own; the last two take long.
    let elsewhere = [
        "shortest-lap",
        "shortest-lap-epochs",
        "hop-count",
        "measure-as-printed",
    ];
    let slow = ["moving-block", "patrol"];
    let names = MODELS.iter().map(|model| model.name);
    for model in names.filter(|name| !elsewhere.contains(name) && !slow.contains(name)) {
        let report = json(&format!("check {model} --threads 2 --format json"));
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
            "possible values: delay-relay, measure, k-state, phase-clock",
        ),
        (
            "export promela --model k-state --tokens 2",
            "--tokens has no meaning for the model k-state",
        ),
        (
            "export prism --scheduler central",
            "--scheduler has no meaning for the model delay-relay",
        ),
        (
            "export prism --model k-state --scheduler distributed",
            "only the central and the synchronous scheduler",
        ),
        (
            "export prism --model measure --delays all",
            "process 0 measures",
        ),
        ("export prism k-state", "give --model k-state"),
        ("export dot", "expected promela, prism or tla"),
    ];
    refused(Path::new("."), cases);
}

/// A protocol file: checked, set, shown, exported, and wrong.
#[test]
fn protocols_are_files() {
    let place = Place::new();
    place.write(
        "herman.protocol",
        &read("examples/protocols/herman.protocol"),
    );
    let check = "check herman.protocol --set n=3";
    has(&place.told(check), &["Expected, exactly: 4/3 steps"]);
    let report = place.json(check);
    assert_eq!(report["expected_steps_exact"], "4/3");
    assert_eq!(report["state_count"], "8");
    place.told(&format!("{check} --states herman.dot"));
    assert!(place.read("herman.dot").starts_with("digraph"));
    let prism = place.told("export prism herman.protocol --set n=3");
    has(&prism, &["1/2 : (x_0' = 0) + 1/2 : (x_0' = 1)"]);
    place.write("wrong.protocol", "graph ring(3)\nvariable x: 0..\n");
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
    place.refused(cases);
    for (command, _) in cases {
        let err = place.run(2, command).err;
        let helps = err.contains("help:") || err.contains("--help");
        assert!(helps, "{command}: {err}");
    }
}

#[test]
fn exports_go_to_standard_output_or_a_file() {
    let place = Place::new();
    let promela = place.told("export promela --processes 5 --tokens 2");
    has(&promela, &["ltl convergence"]);
    let tla = place.told("export tla --delays at:0,2");
    has(
        &tla,
        &[
            "ring(6), n = 6, m = 2, d = 3",
            "counter_2 \\in {0, 1, 2}",
            "counter_1 \\in {0}",
        ],
    );
    place.told("export prism --model k-state --output k.prism");
    has(&place.read("k.prism"), &["endmodule"]);
    for model in MODELS.iter().filter(|model| model.has_file()) {
        place.told(&format!("export promela --model {}", model.name));
    }
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
    let place = Place::new();
    let all = place.told("check --help");
    for model in MODELS {
        has(&all, &[model.name]);
        let help = place.told(&format!("check {} --help", model.name));
        let flags = model.settings().into_iter().map(|setting| setting.name);
        let flags: Vec<String> = flags
            .map(|name| format!("--{}", name.replace('_', "-")))
            .collect();
        has(&help, &flags.iter().map(String::as_str).collect::<Vec<_>>());
        has(&help, &["--witness"]);
        assert_eq!(
            help.contains("--pace"),
            model.name == "asynchronous",
            "{help}"
        );
    }
}
