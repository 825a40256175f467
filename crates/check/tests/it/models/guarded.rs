//! Dijkstra's ring and the phase clock, under every scheduler.

use headway_check::{BigUint, Report, Scheduler};
use headway_core::phase_clock::PhaseClock;
use headway_testkit::tier::pick;

use crate::common::report;

fn k_state(n: usize, k: u32, scheduler: Scheduler) -> Report {
    report(&format!(
        "k-state processes={n} values={k} scheduler={scheduler}"
    ))
}

/// Published for N = K under the distributed scheduler: 3, and 3N(N-1)/2 - N - 1
/// from N = 4 on (13, 24, 38, 55).
#[test]
fn k_state_worst_cases_are_the_published_ones() {
    let worst_cases = [(3, 3), (4, 13), (5, 24), (6, 38), (7, 55)];
    for &(n, published) in &worst_cases[..pick(4, 5, 5)] {
        let report = k_state(n, n as u32, Scheduler::Distributed);
        assert!(report.all_hold());
        assert_eq!(report.worst.unwrap().steps, published, "N = K = {n}");
        if n >= 4 {
            assert_eq!(published, (3 * n * (n - 1) / 2 - n - 1) as u64);
        }
        // States: K^N. Legitimate: all equal, or one step of two values at one of
        // N - 1 places.
        let (k, places) = (n as u64, n as u64 - 1);
        assert_eq!(report.states, BigUint::from(k.pow(n as u32)));
        assert_eq!(report.legitimate, BigUint::from(k + places * k * (k - 1)));
        assert_eq!(report.witness.unwrap().states.len() as u64, published + 1);
    }
}

/// K = N-1 is enough for a central scheduler (and for a locally central one, whose
/// steps a central one can make one by one), and too little for the others.
#[test]
fn one_value_less_converges_under_central_schedulers_only() {
    for n in 3..=6 {
        let converges = |scheduler| k_state(n, n as u32 - 1, scheduler).convergence();
        assert!(converges(Scheduler::Central));
        assert!(converges(Scheduler::LocallyCentral));
        assert!(!converges(Scheduler::Distributed));
        assert!(!converges(Scheduler::Synchronous));
        let broken = k_state(n, n as u32 - 1, Scheduler::Distributed);
        let run = broken.counterexample("convergence").unwrap();
        assert!(run.repeats_from.is_some(), "shown as a lasso");
    }
    assert!(
        !k_state(5, 3, Scheduler::Central).convergence(),
        "K = N-2 is too little"
    );
}

fn clocks(n: usize, clock: PhaseClock, scheduler: Scheduler) -> Report {
    let PhaseClock { modulus, tail } = clock;
    let clock = format!("values={modulus} tail={tail}");
    report(&format!(
        "phase-clock processes={n} {clock} scheduler={scheduler}"
    ))
}

/// Legitimate states by formula: K times the closed walks of n steps -1, 0 or 1
/// (central trinomial coefficients 7, 19, 51).
#[test]
fn phase_clock_needs_its_modulus_and_its_tail() {
    for (n, walks) in [(3, 7), (4, 19), (5, 51)] {
        let good = PhaseClock::for_ring(n as i32);
        for scheduler in Scheduler::ALL {
            let report = clocks(n, good, scheduler);
            assert!(report.all_hold(), "{n} {scheduler}");
            assert_eq!(
                report.legitimate,
                BigUint::from(walks * good.modulus as u64)
            );
        }
        let small = PhaseClock {
            modulus: n as i32,
            ..good
        };
        let report = clocks(n, small, Scheduler::Distributed);
        assert!(
            !report.property("no-deadlock").unwrap().holds,
            "the clocks can be wound"
        );
        if n > 3 {
            let short = PhaseClock {
                tail: good.tail - 1,
                ..good
            };
            assert!(!clocks(n, short, Scheduler::Distributed).convergence());
        }
    }
}
