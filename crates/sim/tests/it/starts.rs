//! Initial states are what they are called.

use std::ops::ControlFlow;

use headway_core::{Program, Ring, Separation};
use headway_sim::seed::{Purpose, Random};
use headway_sim::{Run, StateFile, run, start, state_file};
use headway_testkit::tier::properties;
use proptest::prelude::*;

/// A feasible ring of delays and relays with at least one delay, and m.
fn feasible() -> impl Strategy<Value = (Ring, u32, u64)> {
    (1..7u32, 1..6u32, 0..12usize, 1..100u64, any::<u64>()).prop_map(
        |(d, tokens, more, share, seed)| {
            let n = (d * tokens) as usize + more;
            let mut random = Random::new(seed, Purpose::Delays);
            let count = (n as u64 * share / 100).max(1) as usize;
            let delays = random.distinct(count, n);
            let ring = Ring::with_delays(Separation::new(d).unwrap(), n, delays).unwrap();
            (ring, tokens, seed)
        },
    )
}

fn settle(ring: &Ring, start: headway_core::Configuration) -> headway_sim::Outcome {
    run(
        &Run::new(ring.clone(), start),
        |_| ControlFlow::Continue(()),
    )
    .unwrap()
}

proptest! {
    #![proptest_config(properties(3000))]

    #[test]
    fn spaced_is_legitimate((ring, tokens, _) in feasible()) {
        let start = start::spaced(&ring, tokens);
        prop_assert_eq!(ring.legitimate(&start, u64::from(tokens)), Ok(()));
        prop_assert_eq!(settle(&ring, start).legitimate_at, Some(0));
    }

    #[test]
    fn spaced_is_legitimate_for_a_measurer(tokens in 1..6u32, n in 6..40usize, at in 0..6usize) {
        let d = n as u32 / tokens;
        let mut programs = vec![Program::Relay; n];
        programs[at] = Program::Measure;
        let ring = Ring::new(Separation::new(d).unwrap(), programs).unwrap();
        let start = start::spaced(&ring, tokens);
        prop_assert_eq!(ring.legitimate(&start, u64::from(tokens)), Ok(()));
    }

    #[test]
    fn worst_attains_the_bound_and_random_never_exceeds_it((ring, tokens, seed) in feasible()) {
        let gap = ring.widest_gap().unwrap();
        let bound = ring.worst_case(u64::from(tokens)).unwrap();
        let worst = start::worst(&ring, tokens).unwrap();
        prop_assert_eq!(ring.admits(&worst), Ok(()));
        let found = settle(&ring, worst);
        prop_assert_eq!(found.legitimate_at, Some(bound.legitimate_at));
        let latest_rest = found.last_rest == Some(bound.last_rest);
        prop_assert!(latest_rest || gap > u64::from(ring.separation().hops()));
        let random = settle(&ring, start::random(&ring, tokens, seed));
        prop_assert!(random.legitimate_at <= Some(bound.legitimate_at));
        prop_assert!(random.last_rest <= Some(bound.last_rest), "{:?}", random.last_rest);
        prop_assert!(random.desiderata.iter().all(|verdict| verdict.holds == Some(true)));
    }

    #[test]
    fn state_files_round_trip((ring, tokens, seed) in feasible()) {
        let configuration = start::random(&ring, tokens, seed);
        let text = state_file::render(&ring, &configuration);
        prop_assert_eq!(StateFile::parse(&text), Ok(StateFile { ring, configuration }));
    }
}

#[test]
fn measuring_state_files_round_trip() {
    for program in [Program::Measure, Program::MeasureAsPrinted] {
        let programs = vec![program, Program::Relay, Program::Delay, Program::Relay];
        let ring = Ring::new(Separation::new(2).unwrap(), programs).unwrap();
        let configuration = start::random(&ring, 2, 5);
        let text = state_file::render(&ring, &configuration);
        let parsed = StateFile::parse(&text).unwrap();
        assert_eq!(parsed.configuration, configuration);
        assert_eq!(parsed.ring, ring);
    }
}

#[test]
fn state_file_errors_name_line_and_field() {
    let cases = [
        ("", 1, "", "ends too early"),
        ("[1]", 1, "", "expected an object"),
        ("{\"separation\": 3,}", 1, "", "not JSON"),
        ("{\n \"processes\": []}", 1, "separation", "missing"),
        ("{\"separation\": 3}", 1, "processes", "missing"),
        (
            "{\"separation\": 0,\n\"processes\": []}",
            1,
            "separation",
            "from 1",
        ),
        (
            "{\"separation\": 3,\n\"processes\": []}",
            2,
            "processes",
            "at least one",
        ),
        (
            "{\"separation\": 3,\n\"processes\": 7}",
            2,
            "processes",
            "a list",
        ),
        (
            "{\"separation\": 3, \"sepration\": 4,\n\"processes\": []}",
            1,
            "sepration",
            "unknown field",
        ),
        (
            "{\"separation\": 3,\n\"processes\": [{\"program\": \"relay\"},\n{\"program\": \"delay\", \"counter\": 3}]}",
            3,
            "processes[1].counter",
            "from 0 to 2",
        ),
        (
            "{\"separation\": 3,\n\"processes\": [{\"program\": \"relay\", \"counter\": 1}]}",
            2,
            "processes[0].counter",
            "unknown field",
        ),
        (
            "{\"separation\": 3,\n\"processes\": [{\"program\": \"relay\", \"queued\": -1}]}",
            2,
            "processes[0].queued",
            "-1 given",
        ),
        (
            "{\"separation\": 3,\n\"processes\": [{\"program\": \"relay\", \"queued\": 1.5}]}",
            2,
            "processes[0].queued",
            "whole number",
        ),
        (
            "{\"separation\": 3,\n\"processes\": [{\"program\": \"relais\"}]}",
            2,
            "processes[0].program",
            "\"relais\" given",
        ),
        (
            "{\"separation\": 3,\n\"processes\": [{\"program\": \"relay\", \"resting\": 1, \"resting\": 2}]}",
            2,
            "processes[0].resting",
            "twice",
        ),
        (
            "{\"separation\": 3,\n\"processes\": [{\"program\": \"measure\"}]}",
            2,
            "processes[0].tokens",
            "missing",
        ),
        (
            "{\"separation\": 3,\n\"processes\": [{\"program\": \"measure\", \"tokens\": 1, \"ignore\": 1}]}",
            2,
            "processes[0].ignore",
            "from 0 to 0",
        ),
        (
            "{\"separation\": 3,\n\"processes\": [{\"program\": \"relay\", \"queued\": 4294967295},\n{\"program\": \"relay\", \"queued\": 1}]}",
            2,
            "processes",
            "can be represented",
        ),
    ];
    for (text, line, field, problem) in cases {
        let error = StateFile::parse(text).unwrap_err();
        assert_eq!(
            (error.line, error.field.as_str()),
            (line, field),
            "{text}: {error}"
        );
        assert!(error.problem.contains(problem), "{text}: {error}");
    }
}

/// A jam never ends, and that is known before it has been seen: no run of it, however short,
/// may yet recover; and the forecast says the same.
#[test]
fn a_jam_is_judged_at_once() {
    let ring = Ring::with_delays(Separation::new(4).unwrap(), 10, 0..10).unwrap();
    for (tokens, holds) in [(3, Some(false)), (2, None)] {
        let start = headway_core::Configuration::piled(&ring, tokens, 0);
        let mut short = Run::new(ring.clone(), start.clone());
        short.rounds = Some(1);
        let ran = run(&short, |_| ControlFlow::Continue(())).unwrap();
        let forecast = headway_sim::forecast::Forecast::of(&ring, &start).unwrap();
        let told = forecast.movement().outcome(Some(1));
        for outcome in [ran, told] {
            assert_eq!(outcome.desiderata[4].holds, holds, "{tokens} tokens");
        }
    }
}
