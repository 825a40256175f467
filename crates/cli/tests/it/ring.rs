//! `headway ring`: real nodes, on one machine.

use std::path::Path;

use serde_json::Value;

use crate::common::{has, headway, refused, run_with_input};

/// Runs until the ring is settled at the end and has shown enough, longer and longer if the machine
/// is too busy for that; everything else has to hold every time.
fn ring(arguments: &str, enough: impl Fn(&Value) -> bool) -> Value {
    for seconds in [1, 4, 20, 60] {
        let ran = headway(&format!("ring --format json --for {seconds}s {arguments}"));
        let summary = ran.json();
        assert_eq!(summary["violations"], 0, "{summary:#}");
        let settled = summary["settled"] == true;
        assert_eq!(ran.code, i32::from(!settled), "{summary:#}");
        if settled && enough(&summary) {
            return summary;
        }
    }
    panic!("{arguments}: not settled, or too little was seen");
}

#[test]
fn a_ring_settles_and_its_permits_stay_apart() {
    let summary = ring("--nodes 24 --tokens 4 --separation 2", |summary| {
        summary["rounds"].as_u64() > Some(24) && summary["hops"].as_u64() > Some(4 * 24)
    });
    let least = summary["min_true_distance"].as_u64();
    assert!(least >= Some(2), "{summary:#}");
    assert_eq!(summary["plan"]["logical_separation"], 4);
    assert_eq!(summary["plan"]["pace"], 1);
    assert_eq!(summary["plan"]["token_capacity"], 8);
    assert_eq!(summary["seed"], 2009);
    // Each token's visits to two nodes differ by one at most.
    let visits = |which: &str| summary["fairness"][which].as_u64().expect("a number");
    let uneven = visits("visits_max") - visits("visits_min");
    assert!(uneven <= 4, "{summary:#}");
}

#[test]
fn a_ring_over_udp_in_bad_weather_gets_over_anything() {
    let summary = ring(
        "--nodes 10 --tokens 2 --transport udp --hold 1ms --loss 0.1 --duplicate 0.1 \
         --reorder 0.1 --corrupt 0.05 --delay 1ms --fault scramble@200ms --fault crash:3@400ms \
         --fault restart:3@450ms --fault cut:5,6@500ms --fault heal@550ms",
        |summary| summary["rejected"]["unauthenticated"].as_u64() > Some(0),
    );
    assert_eq!(summary["transport"], "udp");
    let recoveries = summary["recoveries"].as_array().expect("a list");
    assert_eq!(recoveries.len(), 1, "{summary:#}");
    assert_eq!(recoveries[0]["fault"], "scramble");
    assert!(recoveries[0]["settled_after_s"].is_number(), "{summary:#}");
    let rounds = recoveries[0]["settled_after_rounds"].as_u64();
    let bound = summary["recovery_bound_rounds"].as_u64();
    assert!(rounds <= bound, "{summary:#}");
    assert_eq!(summary["events"].as_array().map(Vec::len), Some(5));
}

#[test]
fn a_node_without_its_memory_is_taken_back() {
    let ring_of = "--nodes 8 --tokens 2 --separation 1";
    let faults = "--fault crash:3@200ms --fault restart-empty:3@300ms";
    let summary = ring(&format!("{ring_of} {faults}"), |_| true);
    assert_eq!(summary["recoveries"][0]["fault"], "restart-empty:3");
}

/// A line a second says who is dead, if the machine is not too busy.
#[test]
fn a_dead_node_is_a_no_and_no_violation() {
    let ring = "ring --nodes 6 --tokens 2 --separation 1 --fault crash:3@300ms";
    let ran = ["1500ms", "6s", "30s"]
        .iter()
        .map(|time| headway(&format!("{ring} --for {time}")))
        .find(|ran| ran.out.contains("1 dead"));
    let ran = ran.expect("a line that says so");
    assert_eq!(ran.code, 1, "{}", ran.out);
    has(&ran.out, &["✗ settled", "✓ violations       0"]);
}

#[test]
fn a_line_a_second_and_orders_from_standard_input() {
    let ring = ["ring", "--for", "60s", "--nodes", "6", "--tokens", "1"];
    let typed = b"help\nloss 0.5\ncut 1 4\nmelt 3\nscramble 9\nquit\n";
    let ran = run_with_input(Path::new("."), &ring, typed);
    has(
        &ran.out,
        &[
            "scramble | scramble I",
            " s loss:0.5",
            "nodes 1 and 4 are not neighbours",
            "'melt' is not one of",
            "no node 9; they are 0 to 5",
        ],
    );
    // Stopped before it could settle, most likely; never a usage error.
    assert!(matches!(ran.code, 0 | 1));
}

#[test]
fn mistakes_say_what_to_change() {
    let cases = &[
        (
            "ring --nodes 10 --tokens 4 --separation 2",
            "--tokens 3, or --separation 1",
        ),
        (
            "ring --nodes 3 --tokens 3 --separation 1",
            "help: --tokens 1, or more --nodes",
        ),
        ("ring --nodes 1", "2 to 268435456 nodes, not 1"),
        ("ring --nodes 100001", "at most 100000"),
        ("ring --tokens 0", "1 to 32768 tokens, not 0"),
        ("ring --separation 0", "at least 1 hop"),
        ("ring --loss 2", "--loss 2: expected a probability"),
        ("ring --reorder=-1", "--reorder -1: expected a probability"),
        ("ring --corrupt 0.1 --no-key", "--no-key contradicts"),
        (
            "ring --fault corrupt:0.1@1s --no-key",
            "--no-key contradicts",
        ),
        ("ring --refresh 1us", "--refresh 1us: at least 10 µs"),
        ("ring --for 5", "expected a length of time such as"),
        ("ring --hold 3ms..1ms", "ends before it begins"),
        ("ring --fault scramble", "when? add @TIME"),
        ("ring --fault melt:3@1s", "crash:I, restart:I"),
        ("ring --fault crash:99@1s", "no node 99; they are 0 to 23"),
        ("ring --fault cut:2,9@1s", "not neighbours"),
        ("ring --fault loss:1.5@1s", "expected a probability"),
        ("ring --fault quit@1s", "can only be typed"),
        ("ring --for 1s --fault heal@2s", "after the end"),
        ("ring --threads 0", "at least 1 thread"),
        ("ring --threads x", "expected a whole number"),
        ("ring --loss x", "expected a number such as 0.2"),
        ("ring --transport pigeon", "memory"),
        ("ring --loss NaN", "expected a number such as 0.2"),
        ("ring --fault foo@500ms", "scramble:I, crash:I"),
    ];
    refused(Path::new("."), cases);
}
