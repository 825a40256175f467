//! The shipped models: published results, pinned counts with a second way to each,
//! and for every model something broken that is caught.

mod asynchronous;
mod definitional;
mod guarded;
mod measuring;
mod membership;
mod monitored;
mod moving_block;
mod stations;
mod unknown_size;

use crate::common::report;
use headway_check::model::measure::Variant::{AsPrinted, Corrected};
use headway_check::model::{definitional as tokens, measure, monitor};
use headway_check::{BigUint, Deterministic};

#[test]
fn answers_do_not_depend_on_threads() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            [
                "delay-relay processes=7 tokens=2 separation=3 delays=at:0,1,4",
                "delay-relay processes=7 tokens=2 separation=3 delays=at:0,1,4 unreduced",
                "k-state processes=5 values=5 scheduler=distributed",
                "k-state processes=5 values=4 scheduler=distributed",
                "measure-as-printed processes=5 tokens=2",
            ]
            .map(report)
        })
    };
    let one = with(1);
    for threads in [2, 3, 8] {
        assert_eq!(one, with(threads), "{threads} threads");
    }
}

/// Numbers modulo twice the channel's capacity are enough, and one less is not
/// (with capacity 1 that would be no number at all).
#[test]
fn handover_needs_twice_as_many_numbers_as_a_channel_holds() {
    let check = |values: u32, capacity: usize| {
        report(&format!("handover values={values} capacity={capacity}"))
    };
    assert!(check(2, 1).all_hold(), "the alternating bit");
    assert!(check(4, 2).all_hold());
    for values in [2, 3] {
        let report = check(values, 2);
        assert!(report.closure() && report.property("conserved").unwrap().holds);
        assert!(!report.convergence(), "modulo {values}");
        let run = report.counterexample("convergence").cloned().unwrap();
        assert_eq!(run.repeats_from, Some(0));
    }
    // States by formula: numbers of both, sending or not, contents of two channels.
    assert_eq!(check(4, 2).states, BigUint::from(4_u32 * 2 * 4 * 21 * 21));
}

/// Every state's successor is a state of the same space with its own rank: no
/// model leaves its space.
#[test]
fn spaces_are_closed() {
    fn closed<M: Deterministic>(model: &M)
    where
        M::State: std::fmt::Debug,
    {
        for rank in 0..model.states() {
            let state = model.state(rank);
            assert_eq!(model.rank(&state), rank);
            let next = model.next(&state);
            let next_rank = model.rank(&next);
            assert!(next_rank < model.states(), "{state:?} to {next:?}");
            assert_eq!(model.state(next_rank), next, "from {state:?}");
        }
    }
    for variant in [Corrected, AsPrinted] {
        closed(&measure::ring(&measuring::settings(4, 2), variant).unwrap());
    }
    for (supply, monitors) in [(3, vec![0]), (2, vec![0, 1])] {
        let settings = monitor::Settings {
            processes: 3,
            tokens: 1.into(),
            separation: Some(2),
            supply: Some(supply),
            monitors,
        };
        closed(&monitor::MonitoredRing::new(&settings).unwrap());
    }
    let settings = tokens::Settings {
        processes: 3,
        tokens: 2.into(),
        separation: Some(2),
        delays: "at:0".parse().unwrap(),
        values: Some(3),
        unreduced: true,
    };
    closed(&tokens::Definitional::new(&settings).unwrap());
}
