//! The listings of figures 3 and 6 against the core's round.
//!
//! The core's programs write only their own variables; the listings also clear
//! the predecessor's queue, and are executed line by line in unison. The two
//! agree on every variable after every round, from every state, also one in
//! which more than one token is queued, for all programs mixed.

use headway_core::program::{delay, relay};
use headway_core::{Configuration, Gaps, Laps, Measuring, Process, Program, Ring, Separation};
use headway_testkit::tier::properties;
use headway_testsuite::listing::{Listing, Padding};
use headway_testsuite::space::{Case, cases, each_state};
use proptest::prelude::*;

const ROUNDS: usize = 60;

fn agree(ring: &Ring, initial: &Configuration, rounds: usize) -> Result<(), usize> {
    let mut listing = Listing::new(ring, initial, Padding::Aligned);
    let mut state = initial.clone();
    for round in 1..=rounds {
        listing.round(|_, _| {});
        ring.round(&mut state);
        if listing.state() != state {
            return Err(round);
        }
    }
    Ok(())
}

fn any_program() -> impl Strategy<Value = Program> {
    prop::sample::select(Program::ALL.to_vec())
}

prop_compose! {
    fn any_process(program: Program)(
        queued in 0..4_u32,
        resting in 0..4_u32,
        counter in 0..6_i32,
        timing: bool,
        elapsed in 0..=20_u32,
        ignore in 0..4_i32,
        base in 0..5_i32,
        laps in (0..3_u32, 1..=20_u32, 1..=20_u32, 0..300_u64),
        gaps in (0..=20_u32, 0..=20_u32, 0..=20_u32),
        mark: u32,
    ) -> (Program, Process, Measuring) {
        let counter = if program.delays() { counter } else { 0 };
        let mut measuring = Measuring { timing, elapsed, ignore, base, ..Measuring::new(4, 20) };
        let (horizon, best, last, seen) = laps;
        let (previous, arrived, shortest) = gaps;
        let horizon = std::num::NonZeroU32::new(horizon);
        match program {
            Program::ShortestLap => measuring.gaps = Gaps { previous, arrived, shortest },
            Program::ShortestLapEpochs => measuring.laps = Laps { horizon, best, last, seen },
            // So that a corrupted mark is met by tokens that do not read 2^32 away.
            Program::HopCount => measuring.mark = mark % 40,
            _ => {}
        }
        (program, Process { queued, resting, counter }, measuring)
    }
}

fn any_ring() -> impl Strategy<Value = (Ring, Configuration)> {
    let process = any_program().prop_flat_map(any_process);
    (1..7_u32, prop::collection::vec(process, 1..12)).prop_map(|(d, all)| {
        let programs = all.iter().map(|&(program, _, _)| program).collect();
        let ring = Ring::new(Separation::new(d).unwrap(), programs).unwrap();
        let measurers = all.iter().enumerate();
        let measurers = measurers.filter(|(_, (program, _, _))| program.measures());
        let mut state = Configuration {
            processes: all.iter().map(|&(_, process, _)| process).collect(),
            measuring: measurers
                .map(|(i, &(_, _, variables))| (i, variables))
                .collect(),
            counts: Vec::new(),
        };
        if ring.reads_counts() {
            state.counts = (0..state.tokens() as u32)
                .map(|k| 40_u32.wrapping_sub(9 * k))
                .collect();
        }
        (ring, state)
    })
}

proptest! {
    #![proptest_config(properties(1000))]

    #[test]
    fn listings_and_core_agree_for_all_programs_mixed((ring, initial) in any_ring()) {
        prop_assert_eq!(agree(&ring, &initial, ROUNDS), Ok(()));
    }
}

#[test]
fn listings_and_core_agree_from_every_state_of_small_rings() {
    for processes in 1..=4 {
        for case in cases(processes) {
            each_state(&case, u32::MAX, &mut |state| {
                assert_eq!(agree(&case.ring, state, 8), Ok(()), "{case:?} {state:?}");
            });
        }
    }
}

/// Counter-test: a core that counts from another C is told apart at once.
#[test]
fn a_wrong_counter_is_noticed() {
    let case = Case::new(4, 2, 2, &[0]);
    let other = case.with_separation(1);
    let initial = Configuration::piled(&case.ring, 2, 0);
    let mut listing = Listing::new(&case.ring, &initial, Padding::Aligned);
    listing.round(|_, _| {});
    assert_ne!(listing.state(), other.ring.after_round(&initial));
}

/// Section 4: two programs "begin the body of the loop together", the shorter
/// padded. Padded at the end, a relay queues a token (its line 3) after its
/// measuring successor has looked (line 2) and before it takes the queue (lines 7
/// and 8): no arrival is ever seen, so nothing is ever measured.
#[test]
fn padding_at_the_end_makes_figure_6_blind() {
    let n = 6;
    let mut programs = vec![Program::Relay; n];
    programs[0] = Program::Measure;
    let ring = Ring::new(Separation::new(n as u32).unwrap(), programs).unwrap();
    let measured = |padding, base| {
        let mut initial = Configuration::empty(&ring, 1, 24);
        initial.processes[0].resting = 1;
        initial.measuring.get_mut(&0).unwrap().base = base;
        let mut listing = Listing::new(&ring, &initial, padding);
        (0..50 * n).for_each(|_| listing.round(|_, _| {}));
        listing.state().measuring[&0].base + 1
    };
    for base in 0..10 {
        assert_eq!(measured(Padding::Aligned, base), n as i32);
        assert_eq!(measured(Padding::AtTheEnd, base), base + 1, "as it was");
    }
}

/// Section 5.2 (Petri net) has the minor rings "modeled by the c variables in
/// relay nodes". It is the delays that have them: a relay does not depend on c.
#[test]
fn minor_rings_are_the_counters_of_delays_not_of_relays() {
    let with = |counter| Process {
        queued: 0,
        resting: 1,
        counter,
    };
    assert_eq!(relay::round(with(0), 1), relay::round(with(1), 1));
    assert_ne!(
        delay::round(with(0), 1, 1).queued,
        delay::round(with(1), 1, 1).queued
    );
    for counter in [0, 1] {
        let case = Case::new(2, 1, 2, &[1]);
        let mut state = Configuration::piled(&case.ring, 1, 0);
        state.processes[0].counter = counter;
        let mut listing = Listing::new(&case.ring, &state, Padding::Aligned);
        listing.round(|_, _| {});
        assert_eq!(
            listing.state().processes[0].queued,
            1,
            "c = {counter} at a relay"
        );
    }
}

/// Section 5.1: k relays in a row delay every arriving token by k rounds. So they
/// do while at most one token arrives in a round and none rests there.
#[test]
fn a_row_of_relays_delays_by_its_length() {
    let arrivals = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0];
    let leave = |row: &mut [Process]| -> Vec<u32> {
        let mut leave = |&arriving: &u32| {
            let mut coming = arriving;
            for process in row.iter_mut() {
                let leaving = process.queued;
                *process = relay::round(*process, coming);
                coming = leaving;
            }
            coming
        };
        arrivals.iter().map(&mut leave).collect()
    };
    let k = 4;
    let left = leave(&mut vec![Process::default(); k]);
    assert_eq!(left[k..], arrivals[..arrivals.len() - k]);
    // Counter-test: with one token resting, a busy stretch stays one late.
    let mut row = vec![Process::default(); k];
    row[0].resting = 1;
    assert_ne!(leave(&mut row)[k..], arrivals[..arrivals.len() - k]);
}
