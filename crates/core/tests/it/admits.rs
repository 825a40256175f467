//! What `Ring::admits` turns away: one state per reason, and none that a run
//! leads to.

use crate::common::any_ring;
use headway_core::program::Counts;
use headway_core::{
    Configuration, Measuring, Misfit, Process, Program, Ring, RingError, Separation, Variable,
};
use headway_testkit::tier::properties;
use proptest::prelude::*;

fn ring(first: Program) -> Ring {
    let programs = vec![first, Program::Delay, Program::Relay, Program::Relay];
    Ring::new(Separation::new(2).unwrap(), programs).unwrap()
}

fn misfit(first: Program, change: impl FnOnce(&mut Configuration)) -> Option<Misfit> {
    let ring = ring(first);
    let mut state = Configuration::empty(&ring, 2, 8);
    change(&mut state);
    ring.admits(&state).err()
}

#[test]
fn every_reason() {
    use Program::{Measure, MeasureAsPrinted};
    assert_eq!(misfit(Measure, |_| {}), None);
    let (expected, found) = (4, 3);
    let why = misfit(Measure, |s| s.processes.truncate(3));
    assert_eq!(why, Some(Misfit::Processes { expected, found }));
    let (expected, found) = (1, 0);
    let why = misfit(Measure, |s| s.measuring.clear());
    assert_eq!(why, Some(Misfit::Measuring { expected, found }));
    // Delay: 0 to d-1. Relay: 0. Measuring: what the base can be.
    for (process, counter, largest) in [(1, 2, 1), (1, -1, 1), (2, 1, 0), (0, 4, 3)] {
        let why = misfit(Measure, |s| s.processes[process].counter = counter);
        let expected = Misfit::Counter {
            process,
            counter,
            largest,
        };
        assert_eq!(why, Some(expected));
    }
    let variable = |variable| {
        Some(Misfit::Variable {
            process: 0,
            variable,
        })
    };
    let set = |s: &mut Configuration, change: fn(&mut Measuring)| {
        change(s.measuring.get_mut(&0).unwrap());
    };
    assert_eq!(
        misfit(Measure, |s| set(s, |v| v.tokens = 0)),
        variable(Variable::Tokens)
    );
    assert_eq!(
        misfit(Measure, |s| set(s, |v| v.limit = 0)),
        variable(Variable::Limit)
    );
    assert_eq!(
        misfit(Measure, |s| set(s, |v| v.limit = 1 << 31)),
        variable(Variable::Limit)
    );
    assert_eq!(
        misfit(Measure, |s| set(s, |v| v.elapsed = 9)),
        variable(Variable::Elapsed)
    );
    assert_eq!(
        misfit(Measure, |s| set(s, |v| v.ignore = 2)),
        variable(Variable::Ignore)
    );
    assert_eq!(
        misfit(Measure, |s| set(s, |v| v.ignore = -1)),
        variable(Variable::Ignore)
    );
    assert_eq!(
        misfit(Measure, |s| set(s, |v| v.base = 4)),
        variable(Variable::Base)
    );
    assert_eq!(
        misfit(Measure, |s| set(s, |v| v.base = -1)),
        variable(Variable::Base)
    );
    // The printed program gets itself below zero.
    assert_eq!(
        misfit(MeasureAsPrinted, |s| set(s, |v| v.ignore = -1)),
        None
    );
    assert_eq!(misfit(MeasureAsPrinted, |s| set(s, |v| v.base = -1)), None);
    assert_eq!(
        misfit(MeasureAsPrinted, |s| s.processes[0].counter = -1),
        None
    );
    let found = u64::from(u32::MAX) + 1;
    let too_many = |s: &mut Configuration| {
        (s.processes[0].resting, s.processes[2].queued) = (u32::MAX, 1);
    };
    assert_eq!(
        misfit(Measure, too_many),
        Some(Misfit::TooManyTokens { found })
    );
}

#[test]
fn rings_that_do_not_exist() {
    let d = Separation::new(2).unwrap();
    assert_eq!(Ring::new(d, Vec::new()), Err(RingError::Empty));
    assert_eq!(Ring::with_delays(d, 3, [3]), Err(RingError::OutOfRange));
}

proptest! {
    #![proptest_config(properties(400))]

    #[test]
    fn rounds_stay_in_the_domain((ring, initial) in any_ring()) {
        let mut state = initial;
        for _ in 0..30 {
            prop_assert_eq!(ring.admits(&state), Ok(()));
            ring.round(&mut state);
        }
    }

    #[test]
    fn measuring_rounds_stay_in_the_domain(
        program in prop::sample::select(vec![Program::Measure, Program::MeasureAsPrinted]),
        queued in prop::collection::vec(0..2_u32, 6),
        resting in prop::collection::vec(0..2_u32, 6),
        timing: bool,
        elapsed in 0..=12_u32,
        counter in 0..3_i32,
    ) {
        let m: u32 = queued.iter().chain(&resting).sum();
        prop_assume!(m > 0);
        let mut programs = vec![Program::Relay; 6];
        programs[2] = program;
        let ring = Ring::new(Separation::new(2).unwrap(), programs).unwrap();
        let mut state = Configuration::empty(&ring, m, 12);
        for (process, (queued, resting)) in state.processes.iter_mut().zip(queued.iter().zip(&resting)) {
            (process.queued, process.resting) = (*queued, *resting);
        }
        let variables = state.measuring.get_mut(&2).unwrap();
        (variables.timing, variables.elapsed) = (timing, elapsed);
        state.processes[2].counter = counter.min(variables.largest_base());
        for _ in 0..100 {
            prop_assert_eq!(ring.admits(&state), Ok(()));
            ring.round(&mut state);
        }
    }

    /// The ring takes a short way where there are no tokens; the programs do not know it.
    #[test]
    fn a_round_without_tokens_is_the_program_s(
        program in prop::sample::select(
            Program::ALL.into_iter().filter(|program| program.measures()).collect::<Vec<_>>()
        ),
        timing: bool,
        elapsed in 0..=12_u32,
        ignore in -1..3_i32,
        base in -1..4_i32,
        counter in -1..4_i32,
    ) {
        let ring = Ring::new(Separation::new(2).unwrap(), vec![program]).unwrap();
        let mut state = Configuration::empty(&ring, 2, 12);
        let variables = state.measuring.get_mut(&0).unwrap();
        (variables.timing, variables.elapsed) = (timing, elapsed);
        (variables.ignore, variables.base) = (ignore, base);
        let (before, variables) = (Process { counter, ..Process::default() }, *variables);
        state.processes[0] = before;
        ring.round(&mut state);
        let expected = program.measuring_round(before, variables, 0, Counts::default());
        prop_assert_eq!((state.processes[0], state.measuring[&0]), expected);
    }
}
