//! Rings that measure: they find ⌊n/m⌋, and a legitimate state stays legitimate,
//! whatever is being timed and however many tokens the process believes in.

use std::num::NonZeroU32;

use headway_core::program::shortest_lap_epochs::{self, Laps};
use headway_core::program::{measure, measure_as_printed};
use headway_core::{Configuration, Measuring, Process, Program, Ring, Separation};
use headway_testkit::tier::properties;
use proptest::prelude::*;

fn ring(n: usize, d: u32, program: Program) -> Ring {
    let mut programs = vec![Program::Relay; n];
    programs[0] = program;
    Ring::new(Separation::new(d).unwrap(), programs).unwrap()
}

/// m tokens anywhere and variables that are anything in their domain.
fn any_state(
    n: usize,
    m: u32,
    seen: &[(usize, bool)],
    variables: (bool, u32, i32, i32),
) -> Configuration {
    let limit = 2 * n as u32;
    let mut processes = vec![Process::default(); n];
    for &(at, resting) in seen.iter().take(m as usize) {
        let process = &mut processes[at % n];
        *(if resting {
            &mut process.resting
        } else {
            &mut process.queued
        }) += 1;
    }
    let (timing, elapsed, ignore, base) = variables;
    let mut measuring = Measuring::new(m, limit);
    measuring.timing = timing;
    measuring.elapsed = elapsed % (limit + 1);
    measuring.ignore = ignore % m as i32;
    measuring.base = base % (measuring.largest_base() + 1);
    Configuration {
        processes,
        measuring: [(0, measuring)].into(),
        counts: Vec::new(),
    }
}

proptest! {
    #![proptest_config(properties(2000))]

    #[test]
    fn the_largest_separation_is_found_and_kept(
        n in 1..10_usize,
        tokens in 1..5_u32,
        seen in prop::collection::vec((0..10_usize, any::<bool>()), 5),
        variables in (any::<bool>(), any::<u32>(), 0..9_i32, 0..9_i32),
    ) {
        let m = tokens.min(n as u32);
        let d = n as u32 / m;
        let ring = ring(n, d, Program::Measure);
        let mut state = any_state(n, m, &seen, variables);
        prop_assert_eq!(ring.admits(&state), Ok(()));
        let mut rounds = 0;
        while ring.legitimate(&state, u64::from(m)).is_err() {
            ring.round(&mut state);
            rounds += 1;
            prop_assert!(rounds < 40 * n, "not legitimate in {} rounds: {:?}", rounds, state);
        }
        for _ in 0..4 * n {
            prop_assert_eq!(state.measuring[&0].base, d as i32 - 1);
            ring.round(&mut state);
            prop_assert_eq!(ring.legitimate(&state, u64::from(m)), Ok(()));
        }
    }

    /// As printed it finds less, and with a wrong number of tokens another
    /// separation; what is legitimate for that one is so for ever.
    #[test]
    fn legitimacy_is_closed_whatever_is_found(
        n in 2..10_usize,
        printed: bool,
        d in 1..5_u32,
        believed in 1..6_u32,
        places in prop::collection::vec(0..10_usize, 1..4),
        timing: bool,
        elapsed in 0..24_u32,
        ignore in -1..6_i32,
        counter in 0..5_i32,
    ) {
        let program = if printed { Program::MeasureAsPrinted } else { Program::Measure };
        let ring = ring(n, d, program);
        let mut state = Configuration::empty(&ring, believed, 24);
        for place in &places {
            state.processes[place % n].queued = 1;
        }
        state.processes[0].counter = counter.min(d as i32 - 1);
        let variables = state.measuring.get_mut(&0).unwrap();
        (variables.timing, variables.elapsed) = (timing, elapsed);
        (variables.ignore, variables.base) = (ignore, d as i32 - 1);
        let m = state.tokens();
        let mut legitimate = false;
        for _ in 0..6 * n {
            let now = ring.legitimate(&state, m).is_ok();
            prop_assert!(now || !legitimate, "not closed: {:?}", state);
            legitimate = now;
            ring.round(&mut state);
        }
    }
}

/// Counter-test: states are found legitimate, as printed and with a wrong number too.
#[test]
fn there_are_such_legitimate_states() {
    // As printed, one token is measured rightly; two never are.
    let as_printed = ring(6, 6, Program::MeasureAsPrinted);
    let mut state = Configuration::piled(&as_printed, 1, 3);
    for _ in 0..30 {
        as_printed.round(&mut state);
    }
    assert_eq!(as_printed.legitimate(&state, 1), Ok(()));
    // Who believes in 4 tokens where 2 are lets the second go by twice.
    let wrong = ring(8, 4, Program::Measure);
    let mut state = Configuration::piled(&wrong, 2, 0);
    state.measuring.get_mut(&0).unwrap().tokens = 4;
    for _ in 0..200 {
        wrong.round(&mut state);
    }
    let base = state.measuring[&0].base;
    let found = ring(8, base as u32 + 1, Program::Measure);
    assert_eq!(found.legitimate(&state, 2), Ok(()), "base {base}");
}

/// Both of its numbers saturate: nothing wraps on a ring of any size.
#[test]
fn the_largest_numbers() {
    let limit = i32::MAX as u32;
    let mut measuring = Measuring::new(1, limit);
    assert_eq!(measuring.largest_base(), i32::MAX - 1);
    (measuring.timing, measuring.elapsed) = (true, limit);
    assert_eq!(measuring.base_in(u64::MAX), i32::MAX - 1);
    measuring.elapsed = limit - 3;
    assert_eq!(measuring.base_in(2), i32::MAX - 2);
    assert_eq!(measuring.base_in(9), i32::MAX - 1);
    measuring.limit = u32::MAX;
    assert_eq!(
        measuring.base_in(u64::MAX),
        i32::MAX - 1,
        "beyond what it can hold"
    );
    measuring.tokens = u32::MAX;
    assert_eq!(measuring.base_in(0), 0, "never negative");
    assert_eq!(Measuring::new(5, 2).largest_base(), 0, "never negative");
}

/// How many tokens to ignore, when more are believed in than a number can hold, or
/// more rest than are believed in.
#[test]
fn ignoring_saturates() {
    let pile = |resting| Process {
        queued: 0,
        resting,
        counter: 0,
    };
    for step in [measure::round, measure_as_printed::round] {
        let (_, after) = step(pile(1), Measuring::new(u32::MAX, 8), 0);
        assert_eq!(after.ignore, i32::MAX);
        let (_, after) = step(pile(1), Measuring::new(9, 8), 0);
        assert_eq!(after.ignore, 8);
    }
    let (_, after) = measure::round(pile(u32::MAX), Measuring::new(1, 8), 0);
    assert_eq!(after.ignore, 0);
    let (_, after) = measure_as_printed::round(pile(u32::MAX), Measuring::new(1, 8), 0);
    assert_eq!(after.ignore, i32::MIN);
    let (_, after) = measure_as_printed::round(pile(4), Measuring::new(1, 8), 0);
    assert_eq!(after.ignore, -3);
}

/// The shortest lap of this epoch and of the one before counts; the one before that does not.
#[test]
fn the_laps_of_two_epochs_are_remembered() {
    for (best, last) in [(6, 9), (9, 6)] {
        let laps = Laps {
            best,
            last,
            ..Laps::new(64)
        };
        assert_eq!(laps.shortest(), 6);
    }
    let after = |lap: u32, measuring: Measuring| {
        let elapsed = lap - 1;
        let timing = Measuring {
            timing: true,
            elapsed,
            ignore: 0,
            ..measuring
        };
        shortest_lap_epochs::round(Process::default(), timing, 1).1
    };
    let found = |measured: Measuring| (measured.laps.best, measured.laps.last, measured.laps.seen);
    let mut first = after(6, Measuring::new(2, 64));
    assert_eq!(found(first), (6, 64, 1));
    assert_eq!(found(after(9, first)), (6, 64, 2));
    assert_eq!(found(after(5, first)), (5, 64, 2));
    // Two arrivals are an epoch of one turn of two tokens.
    first.laps.horizon = NonZeroU32::new(1);
    assert_eq!(found(after(9, first)), (64, 6, 0));
}
