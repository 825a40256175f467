//! Every error that can be built in is caught by a promise of `tests/virtual.rs`, and is
//! the error that it says.
//!
//! Prints the table: which promise caught it, and after how many seeds.

#[allow(dead_code)]
mod common;
// Only what errors are caught with is used here.
#[allow(dead_code)]
mod promises;

use common::Scenario;
use headway_core::phase_clock::PhaseClock;
use headway_node::{Config, Flaw, Key, Local, Machine, Plan, RingId};

type Promise = fn(Scenario) -> Result<f64, String>;

const PROMISES: [(&str, Promise); 4] = [
    ("closure", promises::closure_of),
    ("convergence", promises::convergence_of),
    ("intrusion", promises::intrusion_of),
    ("stranger", promises::stranger_of),
];

/// More than enough: most are caught by the first few.
const SEEDS: u64 = 1_000;

#[test]
fn every_flaw_is_caught() {
    let mut missed = Vec::new();
    // What a panic would print is not news here.
    std::panic::set_hook(Box::new(|_| {}));
    println!("| flaw | caught by | seeds needed | how |");
    println!("|---|---|---|---|");
    for flaw in Flaw::ALL {
        match caught(flaw) {
            Some((promise, seeds, how)) => {
                let how = how
                    .split([':', ',', '('])
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                println!("| {flaw:?} | {promise} | {seeds} | {how} |");
            }
            None => missed.push(flaw),
        }
    }
    let _ = std::panic::take_hook();
    assert!(missed.is_empty(), "not caught: {missed:?}");
}

fn caught(flaw: Flaw) -> Option<(&'static str, u64, String)> {
    for seed in 0..SEEDS {
        for (name, promise) in PROMISES {
            let mut scenario = Scenario::draw(seed);
            scenario.flaw = Some(flaw);
            let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| promise(scenario)));
            match told {
                Ok(Ok(share)) if share <= 1.0 => {}
                Ok(Ok(_)) => return Some((name, seed + 1, "too late".to_owned())),
                Ok(Err(how)) => return Some((name, seed + 1, how)),
                Err(_) => return Some((name, seed + 1, "a panic".to_owned())),
            }
        }
    }
    None
}

fn config(plan: Plan, flaw: Option<Flaw>) -> Config {
    Config {
        flaw,
        ..Config::new(RingId([7; 16]), 1, plan)
    }
}

#[test]
fn clocks_that_are_too_small() {
    for (nodes, pace, modulus) in [
        (12, 1, 12),
        (12, 5, 10),
        (7, 3, 6),
        (4, 6, 6),
        (2, 1, 3),
        (2, 2, 3),
    ] {
        let plan = Plan::logical(nodes, 1, 1, pace).unwrap();
        let clock = |flaw| config(plan, flaw).clock();
        let tail = nodes as i32;
        let small = PhaseClock { modulus, tail };
        assert_eq!(clock(Some(Flaw::ClockModulusTooSmall)), small);
        let whole = clock(None);
        assert_eq!(clock(Some(Flaw::NoTail)), PhaseClock { tail: 0, ..whole });
        assert_eq!(clock(Some(Flaw::NoDelay)), whole);
    }
}

/// What a node does in one call: with the error the wrong thing, without it, or with
/// another one, the right one.
#[test]
fn steps_that_are_wrong() {
    let plan = Plan::logical(6, 1, 2, 1).unwrap();
    let local = |phase, value, counter| Local {
        phase,
        values: vec![value],
        released: None,
        counter,
        turn: 0,
    };
    let after = |flaw, own: &Local, predecessor: &Local, successor: &Local| {
        let mut node = Machine::new(config(plan, flaw), Key::none(), 1).unwrap();
        let after = node.react(own, predecessor, successor);
        (after.phase, after.released.is_some())
    };
    let tail = config(plan, None).clock().tail;
    let (five, nine) = (local(5, 0, 0), local(9, 0, 0));
    let (four, token, rested) = (local(4, 0, 0), local(5, 1, 0), local(5, 0, 1));
    let (zero, recovering) = (local(0, 0, 0), local(-2, 0, 0));
    let reset = (-tail, false);
    // Own, predecessor and successor; the phase and whether a token goes on, right and wrong.
    for (flaw, own, predecessor, successor, right, wrong) in [
        (Flaw::NoReset, &five, &nine, &five, reset, (5, false)),
        // Having ticked it is out of step.
        (Flaw::TickAlone, &five, &four, &five, (5, false), reset),
        (
            Flaw::TickAlone,
            &zero,
            &recovering,
            &zero,
            (0, false),
            (0, false),
        ),
        (Flaw::NoDelay, &rested, &token, &five, (6, false), (6, true)),
    ] {
        assert_eq!(after(None, own, predecessor, successor), right, "{flaw:?}");
        let other = Some(Flaw::FenceFromMemory);
        assert_eq!(after(other, own, predecessor, successor), right, "{flaw:?}");
        let flawed = after(Some(flaw), own, predecessor, successor);
        assert_eq!(flawed, wrong, "{flaw:?}");
    }
}
