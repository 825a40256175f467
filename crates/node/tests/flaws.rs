//! Every error that can be built in is caught by a promise of `tests/virtual.rs`.
//!
//! Prints the table: which promise caught it, and after how many seeds.

#[allow(dead_code)]
mod common;
// Only what errors are caught with is used here.
#[allow(dead_code)]
mod promises;

use common::Scenario;
use headway_node::Flaw;

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
