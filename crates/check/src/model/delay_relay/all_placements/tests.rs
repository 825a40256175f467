//! Reports put together, also such as no ring gives.

use num_bigint::BigUint;

use super::*;
use crate::report::{Property, Trace, Worst};

/// A ring that gets there in so many rounds, or from so many states never.
fn report(rounds: Result<u64, u64>, last_rest: u64) -> Report {
    let figures = Figures {
        worst_last_rest: Some(last_rest),
        never: rounds.err().map(BigUint::from),
        ..Figures::default()
    };
    let steps = rounds.ok();
    Report {
        states: 10_u32.into(),
        legitimate: 2_u32.into(),
        properties: vec![
            Property::new("convergence", format!("{rounds:?}"), rounds.is_ok()),
            Property::new("closure", "", true),
        ],
        worst: steps.map(Worst::in_rounds),
        witness: steps.map(|steps| Trace {
            states: vec![steps.to_string()],
            repeats_from: None,
            start: None,
        }),
        figures,
        ..Report::default()
    }
}

/// The worst case and its witness, which belong together.
fn worst(report: &Report) -> Option<u64> {
    let steps = report.worst.map(|worst| worst.steps);
    let shown = report.witness.as_ref().map(|run| run.states[0].clone());
    assert_eq!(shown, steps.map(|steps| steps.to_string()));
    steps
}

#[test]
fn the_slowest_counts_unless_one_never_gets_there() {
    for (one, other, together) in [
        (Ok(3), Ok(4), Some(4)),
        (Ok(4), Ok(3), Some(4)),
        (Ok(3), Ok(3), Some(3)),
        (Ok(3), Err(1), None),
        (Err(1), Ok(3), None),
        (Err(1), Err(1), None),
    ] {
        let total = combine(report(one, 0), report(other, 0));
        assert_eq!(worst(&total), together, "{one:?} {other:?}");
        assert_eq!(total.convergence(), one.is_ok() && other.is_ok());
        assert_eq!(total.states, BigUint::from(20_u32));
        assert_eq!(total.legitimate, BigUint::from(4_u32));
        let property = &total.properties[0];
        assert_eq!(property.holds, total.convergence());
        let first_that_fails = if one.is_ok() && other.is_err() {
            other
        } else {
            one
        };
        assert_eq!(property.says, format!("{first_that_fails:?}"));
        let never = one.err().unwrap_or(0) + other.err().unwrap_or(0);
        assert_eq!(total.figures.never, (never > 0).then(|| never.into()));
    }
}

#[test]
fn of_equally_slow_ones_the_first_is_shown() {
    let mut second = report(Ok(3), 0);
    second.witness.as_mut().unwrap().states = vec!["second".to_owned()];
    let total = combine(report(Ok(3), 0), second);
    assert_eq!(worst(&total), Some(3));
}

#[test]
fn a_last_rest_is_the_latest_of_all() {
    for (one, other) in [(3, 5), (5, 3), (4, 4)] {
        let total = combine(report(Ok(1), one), report(Ok(1), other));
        assert_eq!(total.figures.worst_last_rest, Some(one.max(other)));
    }
}

#[test]
fn what_is_open_once_is_open_and_what_one_has_all_have() {
    let open = || {
        let mut open = report(Ok(1), 0);
        open.properties[1].holds = false;
        open
    };
    assert!(!combine(open(), report(Ok(1), 0)).closure());
    assert!(!combine(report(Ok(1), 0), open()).closure());
    assert!(combine(report(Ok(1), 0), report(Ok(1), 0)).closure());
    let mut more = report(Ok(1), 0);
    more.properties.push(Property::new("another", "", true));
    let total = combine(report(Ok(1), 0), more);
    assert_eq!(total.properties.len(), 3);
    assert!(total.property("another").is_some());
}
