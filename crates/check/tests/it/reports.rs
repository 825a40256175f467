//! What a report says, from the numbers it is made of; who is selected by whom.

use std::collections::BTreeSet;

use crate::common::{Rules, Table};
use headway_check::model::delay_relay::{self, Instance};
use headway_check::{BigUint, Control, Deterministic, Guarded, Report, Scheduler};

fn checked(n: usize, m: usize, d: u32) -> Report {
    let ring = Instance::uniform(n, m, d).unwrap();
    delay_relay::check_every_state(&ring, &Control::default()).unwrap()
}

#[test]
fn figures_are_of_the_distribution() {
    let report = checked(6, 2, 3);
    assert!(report.all_hold() && report.closure() && report.convergence());
    let counts = report.figures.distribution.clone().unwrap();
    assert_eq!(counts.iter().sum::<BigUint>(), report.states);
    assert_eq!(counts[0], report.legitimate);
    let number = |count: &BigUint| u64::try_from(count).unwrap();
    let rounds: u64 = counts
        .iter()
        .zip(0..)
        .map(|(count, rounds)| number(count) * rounds)
        .sum();
    let mean = report.figures.mean.unwrap();
    assert!(
        (mean - rounds as f64 / number(&report.states) as f64).abs() < 1e-9,
        "{mean}"
    );
    assert_eq!(report.figures.never, None);
    assert_eq!(report.worst.unwrap().steps, counts.len() as u64 - 1);
    let witness = report.witness.clone().unwrap();
    assert_eq!(witness.states.len(), counts.len());
    let (ring, mut state) = witness.start.unwrap();
    for round in 1..counts.len() {
        assert!(ring.legitimate(&state, 2).is_err(), "round {round}");
        ring.round(&mut state);
    }
    assert_eq!(ring.legitimate(&state, 2), Ok(()));
}

#[test]
fn what_never_gets_there_is_counted_and_shown() {
    let report = checked(5, 2, 3);
    assert!(!report.all_hold() && !report.convergence());
    let reached: BigUint = report.figures.distribution.iter().flatten().sum();
    let never = report.figures.never.as_ref().unwrap();
    let none = BigUint::ZERO;
    assert!(*never > none);
    assert_eq!(&reached + never, report.states);
    assert_eq!((&report.worst, &report.witness), (&None, &None));
    let names: Vec<&str> = report
        .properties
        .iter()
        .map(|property| &*property.name)
        .collect();
    let once: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(names.len(), once.len(), "{names:?}");
    assert!(report.counterexample("convergence").is_some());
    assert!(report.property("closure").unwrap().holds);
    assert_eq!(report.property("nonsense"), None);
    // Nowhere legitimate: no mean of nothing.
    assert_eq!(report.figures.mean.is_some(), reached > none);
}

#[test]
fn schedulers_are_read_by_the_name_they_are_shown_by() {
    for scheduler in Scheduler::ALL {
        assert_eq!(scheduler.to_string().parse(), Ok(scheduler));
    }
    let error = "centrl".parse::<Scheduler>().unwrap_err().to_string();
    assert!(
        Scheduler::ALL
            .iter()
            .all(|known| error.contains(known.name())),
        "{error}"
    );
}

/// A ring of n processes that does nothing.
fn ring(processes: usize) -> Rules {
    let states = 1 << processes;
    Rules {
        processes,
        values: 2,
        moves: vec![vec![None; states]; processes],
        legitimate: vec![true; states],
    }
}

#[test]
fn neighbours_are_those_of_a_ring() {
    for n in 2..7 {
        for process in 0..n {
            let expected = 1 << ((process + 1) % n) | 1 << ((process + n - 1) % n);
            assert_eq!(ring(n).neighbours(process), expected);
        }
    }
}

/// Every set of enabled processes that may be selected, once, largest number first.
#[test]
fn selections_are_all_that_may_be() {
    let ring = ring(5);
    for enabled in 0..32_u64 {
        for scheduler in Scheduler::ALL {
            let neighbours = |process| ring.neighbours(process);
            let selected: Vec<u64> = scheduler.selections(enabled, neighbours).collect();
            let apart =
                |set: u64| (0..5).all(|at| set >> at & 1 == 0 || ring.neighbours(at) & set == 0);
            let may = |&set: &u64| {
                set & !enabled == 0
                    && match scheduler {
                        Scheduler::Synchronous => set == enabled,
                        Scheduler::Central => set.count_ones() == 1,
                        Scheduler::LocallyCentral => apart(set),
                        Scheduler::Distributed => true,
                    }
            };
            let mut expected: Vec<u64> = (1..32).filter(may).collect();
            if scheduler != Scheduler::Central {
                expected.reverse();
            }
            assert_eq!(selected, expected, "{scheduler} of {enabled:b}");
        }
    }
}

#[test]
fn a_model_starts_anywhere_unless_it_says_otherwise() {
    let table = Table {
        next: vec![0],
        legitimate: vec![true],
    };
    assert!(table.starts_anywhere() && table.initial(&0));
}
