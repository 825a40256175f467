//! Monitors that keep the number of tokens.

use headway_check::{BigUint, Report};
use headway_testkit::tier::pick;

use crate::common::{binomial, report};

fn check(n: usize, m: usize, d: u32, supply: usize, monitors: &str) -> Report {
    let ring = format!("processes={n} tokens={m} separation={d}");
    report(&format!(
        "monitor {ring} supply={supply} monitors={monitors}"
    ))
}

/// One monitor converges; states by formula.
fn monitored(n: usize, m: usize, d: u32, supply: usize) {
    let report = check(n, m, d, supply, "0");
    assert!(report.all_hold(), "{}", report.instance);
    let placements: usize = (0..=supply).map(|t| binomial(2 * n + t - 1, t)).sum();
    let variables = d as usize * 2 * n * (n + 1) * 2;
    assert_eq!(report.states, BigUint::from(placements * variables));
}

#[test]
fn one_monitor_on_a_small_ring() {
    monitored(4, 2, 2, 4);
}

#[test]
fn one_monitor_converges_from_any_number_of_tokens_and_two_interfere() {
    let rings = [(5, 1, 3, 3), (6, 2, 3, 4), (6, 3, 2, 4)];
    for &(n, m, d, supply) in &rings[..pick(1, 3, 3)] {
        monitored(n, m, d, supply);
    }
    let two = check(4, 1, 2, 3, "0,2");
    assert!(two.closure() && !two.convergence());
    let run = two.counterexample("convergence").cloned().unwrap();
    assert!(run.repeats_from.is_some());
}

/// One token too many hides from the samples exactly when d divides 2n but not n and
/// m = ⌊n/d⌋, or when the ring is full and d = 1.
#[test]
fn a_surplus_may_hide_from_samples_that_keep_pace_with_it() {
    for d in 1..=4_u32 {
        for n in d.max(2)..=6 {
            for m in 1..=(n / d).min(3) {
                let (n, m) = (n as usize, m as usize);
                let report = check(n, m, d, m + 1, "0");
                let every = d as usize;
                let in_pace = (2 * n).is_multiple_of(every) && !n.is_multiple_of(every);
                let hides = in_pace && m == n / every || every == 1 && m == n;
                assert!(report.closure(), "{}", report.instance);
                assert_eq!(report.convergence(), !hides, "{}", report.instance);
                if hides {
                    let run = report.counterexample("convergence").unwrap();
                    assert!(run.repeats_from.is_some(), "{}", report.instance);
                }
            }
        }
    }
}
