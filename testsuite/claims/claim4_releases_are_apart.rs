//! Claim 4 (conv2): a delay eventually releases at most one token in any C+1
//! consecutive rounds; a table in the proof shows c and q over such a stretch.
//!
//! True, and from the first round on, not only eventually: a release always finds
//! c = 0 and leaves c = C.
//!
//! Checked from round 1: all states with any queues of all rings up to 5
//! processes, 2000 random ones up to 60; the table, number by number.
//! Counter-tests: a delay that counts from C-1, and relays.

use headway_core::program::delay;
use headway_core::{Configuration, Process, ProcessIndex, Round};
use headway_testsuite::space::Case;

use super::{every_small, random_large};

/// The first two releases of one of `processes` with C or fewer rounds from one to
/// the next.
fn too_close(
    case: &Case,
    processes: &[ProcessIndex],
    initial: &Configuration,
    protocol: &Case,
) -> Option<(ProcessIndex, Round, Round)> {
    let mut latest: Vec<Option<Round>> = vec![None; case.ring.len()];
    let mut state = initial.clone();
    for round in 1..=case.horizon() {
        protocol.ring.round(&mut state);
        for &process in processes.iter().filter(|&&i| state.processes[i].queued > 0) {
            let near = |earlier: &Round| round - *earlier <= case.top();
            if let Some(earlier) = latest[process].replace(round).filter(near) {
                return Some((process, earlier, round));
            }
        }
    }
    None
}

#[test]
fn holds_from_the_first_round_for_every_state_of_small_rings() {
    every_small(5, u32::MAX, |case, state| {
        let delays: Vec<_> = case.ring.delays().collect();
        assert_eq!(
            too_close(case, &delays, state, case),
            None,
            "{case:?} {state:?}"
        );
    });
}

#[test]
fn holds_on_random_rings() {
    random_large(2000, u32::MAX, |case, state, seed| {
        let delays: Vec<_> = case.ring.delays().collect();
        assert_eq!(too_close(case, &delays, state, case), None, "seed {seed}");
    });
}

/// The table: at the end of rounds t to t+C+1, c is C, C-1, … 1, 0, C and q is
/// 1, 0, … 0, 1, when tokens keep resting there.
#[test]
fn the_table_is_right() {
    for top in 0..=6 {
        let mut process = Process {
            queued: 0,
            resting: 3,
            counter: 0,
        };
        let mut table = Vec::new();
        for _ in 0..=top + 1 {
            process = delay::round(process, 0, top);
            table.push((process.counter, process.queued));
        }
        let mut expected: Vec<_> = (0..=top).rev().map(|c| (c, u32::from(c == top))).collect();
        expected.push((top, 1));
        assert_eq!(table, expected);
    }
}

#[test]
fn counter_test_short_counters_and_relays_are_caught() {
    let case = Case::new(6, 2, 3, &[0]);
    let initial = Configuration::piled(&case.ring, 2, 0);
    let short = case.with_separation(2);
    assert_eq!(too_close(&case, &[0], &initial, &short), Some((0, 1, 3)));
    let at_relay = Configuration::piled(&case.ring, 2, 1);
    assert_eq!(too_close(&case, &[1], &at_relay, &case), Some((1, 1, 2)));
}
