//! Tokens by definition: values on rings of their own.

use headway_check::{BigUint, Report};

use crate::common::report;

fn token_rings(n: usize, m: usize, d: u32, k: u32, delays: &str, how: &str) -> Report {
    let ring = format!("processes={n} tokens={m} separation={d} delays={delays}");
    report(&format!("definitional {ring} values={k} {how}"))
}

/// States by formula: K^(n·m) values, m turns at every process, d counters at every
/// delay. The reduction by value shift against all states.
#[test]
fn tokens_by_definition_converge() {
    let report = token_rings(4, 2, 2, 5, "all", "");
    assert!(report.all_hold());
    assert_eq!(
        report.states,
        BigUint::from(5_u64.pow(8) * 2_u64.pow(4) * 2_u64.pow(4))
    );
    let small = token_rings(3, 1, 2, 4, "all", "");
    assert!(small.all_hold());
    assert_eq!(small.states, BigUint::from(4_u64.pow(3) * 2_u64.pow(3)));
}

#[test]
fn the_value_shift_is_exact() {
    for (n, m, d, k, delays) in [
        (3, 1, 2, 4, "all"),
        (3, 1, 3, 4, "at:1"),
        (4, 2, 2, 3, "at:0"),
        (4, 2, 2, 2, "at:0,1"),
        (3, 2, 1, 4, "at:0"),
    ] {
        let reduced = token_rings(n, m, d, k, delays, "");
        let mut full = token_rings(n, m, d, k, delays, "unreduced");
        full.reductions = reduced.reductions.clone();
        // The same state is shown, shifted to 0 at process 0.
        full.witness = reduced.witness.clone();
        let mut reduced = reduced;
        let mean = |report: &mut Report| report.figures.mean.take().unwrap_or(0.0);
        let (one, other) = (mean(&mut reduced), mean(&mut full));
        assert!((one - other).abs() < 1e-9);
        for report in [&mut full, &mut reduced] {
            for property in &mut report.properties {
                property.counterexample = None;
            }
        }
        assert_eq!(reduced, full, "{}", reduced.instance);
    }
}
