//! Nodes that are broken from outside, one error at a time: each error is caught by a
//! promise of `promises.rs`, and is the error that it says.
//!
//! Prints the table: which promise caught it, and from which seed.

use headway_core::phase_clock::PhaseClock;
use headway_node::{Config, Key, Local, Machine, Plan, RingId, Rule};
use headway_stage::world::Sabotage;

use crate::promises;
use crate::saboteur::{Flaw, Saboteur};
use crate::scenario::Scenario;

type Promise = fn(Scenario) -> Result<f64, String>;

const PROMISES: [(&str, Promise); 4] = [
    ("closure", promises::closure),
    ("convergence", promises::convergence),
    ("intrusion", promises::intrusion),
    ("stranger", promises::stranger),
];

#[test]
fn every_flaw_is_caught() {
    let mut missed = Vec::new();
    println!("| rule | flaw | caught by | seed | how |\n|---|---|---|---|---|");
    for rule in [Rule::LockStep, Rule::MovingBlock] {
        for flaw in Flaw::ALL.into_iter().filter(|flaw| flaw.concerns(rule)) {
            match caught(flaw, rule) {
                Some((promise, seed, how)) => {
                    let how = how.split([':', ',', '(']).next().unwrap_or_default();
                    println!("| {rule:?} | {flaw:?} | {promise} | {seed} | {how} |");
                }
                None => missed.push((rule, flaw)),
            }
        }
    }
    assert!(missed.is_empty(), "not caught: {missed:?}");
}

/// The promise that catches it, from which seed, and what it says.
fn caught(flaw: Flaw, rule: Rule) -> Option<(&'static str, u64, String)> {
    // Small rings first, where waiting in vain costs least; most need no other.
    let mut seeds: Vec<u64> = (0..60).collect();
    seeds.sort_by_key(|&seed| Scenario::draw(seed, rule).plan.nodes());
    for seed in seeds.into_iter().chain(60..2_000) {
        for (name, promise) in PROMISES {
            let mut scenario = Scenario::draw(seed, rule);
            scenario.misconfigure = flaw.misconfigure();
            scenario.sabotage = Some(Box::new(move |key| Box::new(Saboteur::new(flaw, key))));
            let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| promise(scenario)));
            match told {
                Ok(Ok(share)) if share <= 1.0 => {}
                Ok(Ok(_)) => return Some((name, seed, "too late".to_owned())),
                Ok(Err(how)) => return Some((name, seed, how)),
                Err(_) => return Some((name, seed, "a panic".to_owned())),
            }
        }
    }
    None
}

fn config(plan: Plan) -> Config {
    Config::new(RingId([7; 16]), 1, plan)
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
        let config = config(Plan::logical(nodes, 1, 1, pace).unwrap());
        let clock = |flaw| Saboteur::new(flaw, &Key::none()).domain(&config).clock;
        let whole = config.domain().clock;
        let tail = nodes as i32;
        let small = PhaseClock { modulus, tail };
        assert_eq!(clock(Flaw::ClockModulusTooSmall), small);
        assert_eq!(clock(Flaw::NoTail), PhaseClock { tail: 0, ..whole });
        assert_eq!(clock(Flaw::NoDelay), whole);
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
        heard: Vec::new(),
        block: [0; 4],
    };
    let after = |flaw: Option<Flaw>, own: &Local, predecessor: &Local, successor: &Local| {
        let mut config = config(plan);
        if let Some(flaw) = flaw {
            flaw.misconfigure()(&mut config);
        }
        let mut node = Machine::new(config, Key::none(), 1).unwrap();
        let mut saboteur = flaw.map(|flaw| Saboteur::new(flaw, &Key::none()));
        node.assume(own, predecessor, successor);
        if let Some(saboteur) = &mut saboteur {
            saboteur.before(&mut node, None);
        }
        node.handle_timeout(node.now());
        if let Some(saboteur) = &mut saboteur {
            saboteur.after(&mut node);
        }
        let after = node.local();
        (after.phase, after.released.is_some())
    };
    let tail = config(plan).domain().clock.tail;
    let (five, nine) = (local(5, 0, 0), local(9, 0, 0));
    let (four, token, rested) = (local(4, 0, 0), local(5, 1, 0), local(5, 0, 1));
    let (zero, recovering) = (local(0, 0, 0), local(-2, 0, 0));
    let reset = (-tail, false);
    let (stays, waits) = ((5, false), (0, false));
    // Own, predecessor and successor; the phase and whether a token goes on, right and wrong.
    for (flaw, own, predecessor, successor, right, wrong) in [
        (Flaw::NoReset, &five, &nine, &five, reset, stays),
        (Flaw::TickAlone, &five, &four, &five, stays, (6, false)),
        (Flaw::TickAlone, &zero, &recovering, &zero, waits, waits),
        (Flaw::NoDelay, &rested, &token, &five, (6, false), (6, true)),
    ] {
        assert_eq!(after(None, own, predecessor, successor), right, "{flaw:?}");
        let other = Some(Flaw::FenceFromMemory);
        assert_eq!(after(other, own, predecessor, successor), right, "{flaw:?}");
        let flawed = after(Some(flaw), own, predecessor, successor);
        assert_eq!(flawed, wrong, "{flaw:?}");
    }
}
