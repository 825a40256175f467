//! Stations by messages: the rule, from clean starts with anything ever told and from every
//! start, and each of its parts left out.

use headway_check::Report;
use headway_testkit::tier::pick;

use crate::common::{asked, report};

fn check(line: &str) -> Report {
    report(&format!("stations {line}"))
}

fn broken(report: &Report) -> Vec<&str> {
    let broken = report.properties.iter().filter(|property| !property.holds);
    broken.map(|property| &*property.name).collect()
}

/// Works are apart, also with news that is late, repeated, overtaken or forgotten; tokens go
/// on, and no station has more works than its limit.
#[test]
fn works_stay_apart_from_clean_starts() {
    let rings = [
        "stations=2,1",
        "stations=3,1",
        "stations=2,2",
        "stations=2,1,1 tokens=2",
        "stations=1,1,1 tokens=2",
        "stations=2,1,1 separation=2",
        "stations=2,2,1 tokens=2",
        "stations=3,1 works=1",
        "stations=3,1 works=2",
        "stations=2,2,2 tokens=2",
        "stations=1,2,1,2,1 tokens=2 separation=2",
        "stations=3,3,1 tokens=2",
        "stations=3,2,1 tokens=2 works=1",
        "stations=2,2,2,1 tokens=3",
        "stations=2,2,2,2 tokens=3",
    ];
    for ring in &rings[..pick(9, 12, 15)] {
        let report = check(&format!("{ring} clean_start highest_number=0"));
        assert!(report.all_hold(), "{ring}: {:?}", broken(&report));
    }
}

/// Looked through once: [2, 1] has so many states.
#[test]
fn states_are_counted() {
    for (ring, states) in [
        ("stations=2,1", 178_u32),
        ("stations=3,1", 801),
        ("stations=1,1,1 tokens=2", 234),
        ("stations=2,1,1 tokens=2", 1471),
    ] {
        let report = check(&format!("{ring} clean_start highest_number=0"));
        assert_eq!(report.states, states.into(), "{ring}");
    }
}

/// With k = m·d the tokens are apart, and stand.
#[test]
fn one_station_more_than_the_tokens_fill_is_needed() {
    let report = check("stations=2,1 tokens=2 separation=1 clean_start highest_number=0");
    assert_eq!(broken(&report), ["visits"]);
}

/// From every state in which nobody knows of an acknowledgement that was not given.
#[test]
fn every_start_settles() {
    let rings = [
        "stations=2,1",
        "stations=3,1 highest_number=0",
        "stations=2,1,1 tokens=2 highest_number=0",
        "stations=2,1 highest_number=2",
    ];
    for ring in &rings[..pick(1, 3, 4)] {
        let report = check(ring);
        assert!(report.all_hold(), "{ring}: {:?}", broken(&report));
    }
}

#[test]
fn a_part_left_out_is_noticed() {
    for (ring, part, property) in [
        ("stations=2,1", "number", "works-apart"),
        ("stations=2,1", "own-end", "works-apart"),
        ("stations=2,1", "prefix", "works-apart"),
        ("stations=2,1", "closing", "works-apart"),
        ("stations=2,1,1 tokens=2", "boundary", "tokens-apart"),
        ("stations=2,1,1 tokens=2", "holder", "tokens-apart"),
        ("stations=2,1,1 tokens=2", "last-hand-over", "tokens-apart"),
        ("stations=2,1,1 tokens=2", "hand-over", "tokens-apart"),
        ("stations=2,2,1 tokens=2", "entry", "works-apart"),
        ("stations=2,1 works=1", "limit", "limited"),
        ("stations=3,2 works=1", "number", "limited"),
    ] {
        let report = check(&format!("{ring} clean_start leave_out={part}"));
        assert_eq!(broken(&report), [property], "{ring} {part}");
        let run = report.counterexample(property).expect("a run");
        assert!(run.states.len() > 2, "{ring} {part}");
    }
}

/// What only recovery needs: without it some start never settles, or stands.
#[test]
fn a_part_that_recovery_needs_is_noticed() {
    let parts = [
        ("stations=2,1", "adoption", "visits"),
        ("stations=2,1", "later", "visits"),
        (
            "stations=2,1,1 tokens=2 highest_number=0",
            "acknowledgement",
            "convergence",
        ),
    ];
    for (ring, part, property) in &parts[..pick(2, 3, 3)] {
        let report = check(&format!("{ring} leave_out={part}"));
        assert!(broken(&report).contains(property), "{ring} {part}");
    }
}

#[test]
fn what_is_no_ring_of_stations_is_refused() {
    for (line, why) in [
        (
            "stations=3",
            "two stations or more, of at most 9 processes together, not 1 of 3",
        ),
        ("stations=2,0,1", "station 2 has no members"),
        ("stations=5,5", "at most 9 processes together, not 2 of 10"),
        ("tokens=3", "1 to 2 tokens"),
        ("separation=4", "a separation of 1 to 3"),
        ("works=1", "asked of clean starts"),
        ("leave_out=rhyme", "expected number, later"),
    ] {
        let refused = asked(&format!("stations {line}"), &Default::default());
        let refused = refused.expect_err(line).to_string();
        assert!(refused.contains(why), "{line}: {refused}");
    }
}
