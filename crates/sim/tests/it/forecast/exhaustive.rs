//! Every state of small rings.

use headway_core::{Configuration, Ring, Separation};
use headway_sim::forecast::Forecast;
use headway_testkit::tier::pick;

use crate::forecast::lock_step::{compare, settling_differs};

/// Every state of every ring with n ≤ 6, or n ≤ 5, that is feasible, every delay placement
/// up to rotation.
#[test]
fn every_initial_state_of_all_small_rings() {
    let (largest, expected) = pick(EXPECTED_STATES[0], EXPECTED_STATES[1], EXPECTED_STATES[1]);
    let mut states: u64 = 0;
    for n in 1..=largest {
        for placement in placements(n) {
            for m in 1..=n as u32 {
                for d in 1..=n as u32 {
                    if m * d > n as u32 {
                        continue;
                    }
                    let delays = (0..n).filter(|index| placement >> index & 1 == 1);
                    let ring = Ring::with_delays(Separation::new(d).unwrap(), n, delays).unwrap();
                    each_state(&ring, m, &mut |state| {
                        states += 1;
                        if let Some(difference) = settling_differs(&ring, state) {
                            panic!("{difference}");
                        }
                    });
                }
            }
        }
    }
    assert_eq!(states, expected, "the enumeration has changed");
}

/// The largest n, and the sum over n, placements, m and d of d^delays · C(m + 2n - 1, m),
/// worked out separately.
const EXPECTED_STATES: [(usize, u64); 2] = [(5, 93_271), (6, 1_583_008)];

#[test]
fn infeasible_small_rings_state_by_state() {
    for n in 1..=3usize {
        for placement in placements(n) {
            for (m, d) in [(1, 4), (2, 2), (2, 3), (3, 2), (3, 3), (4, 1), (5, 2)] {
                if m * d <= n as u32 {
                    continue;
                }
                let delays = (0..n).filter(|index| placement >> index & 1 == 1);
                let ring = Ring::with_delays(Separation::new(d).unwrap(), n, delays).unwrap();
                each_state(&ring, m, &mut |state| {
                    if let Err(difference) = compare(&ring, state) {
                        panic!("{difference}\n{ring:?}\n{state:?}");
                    }
                });
            }
        }
    }
}

/// One bit pattern per set of delays, up to rotation, at least one delay.
fn placements(n: usize) -> Vec<u32> {
    let rotate = |bits: u32, by: usize| (bits >> by | bits << (n - by)) & ((1 << n) - 1);
    (1..1u32 << n)
        .filter(|&bits| (0..n).all(|by| rotate(bits, by) >= bits))
        .collect()
}

/// Every distribution of m tokens over queues and rests, with all counters.
fn each_state(ring: &Ring, m: u32, visit: &mut dyn FnMut(&Configuration)) {
    let mut state = Configuration::empty(ring, m, 1);
    let delays: Vec<usize> = ring.delays().collect();
    distribute(&mut state, 0, m, &mut |state| {
        let counters = u64::from(ring.separation().hops()).pow(delays.len() as u32);
        for mut code in 0..counters {
            for &delay in &delays {
                let d = u64::from(ring.separation().hops());
                state.processes[delay].counter = (code % d) as i32;
                code /= d;
            }
            visit(state);
        }
    });
}

fn distribute(
    state: &mut Configuration,
    cell: usize,
    left: u32,
    visit: &mut dyn FnMut(&mut Configuration),
) {
    if cell == 2 * state.processes.len() {
        if left == 0 {
            visit(state);
        }
        return;
    }
    for here in 0..=left {
        let process = &mut state.processes[cell / 2];
        let field = if cell.is_multiple_of(2) {
            &mut process.queued
        } else {
            &mut process.resting
        };
        *field = here;
        distribute(state, cell + 1, left - here, visit);
        let process = &mut state.processes[cell / 2];
        let field = if cell.is_multiple_of(2) {
            &mut process.queued
        } else {
            &mut process.resting
        };
        *field = 0;
    }
}

/// How much later than `last_rest` + 1 the full predicate can be met, exactly
/// (docs/research/worst-case.md, theorem 2), over every state of small rings.
#[test]
fn lateness_of_the_full_predicate() {
    for n in 2..=pick(6, 7, 7) {
        for (m, d) in (1..=n as u32).flat_map(|m| (2..=n as u32).map(move |d| (m, d))) {
            if m * d > n as u32 {
                continue;
            }
            // By what rests: nothing ever, only the initial state, later states too.
            let mut latest = [0; 3];
            for placement in placements(n) {
                if u64::from(d).pow(placement.count_ones()) > 3_000 {
                    continue;
                }
                let delays = (0..n).filter(|index| placement >> index & 1 == 1);
                let ring = Ring::with_delays(Separation::new(d).unwrap(), n, delays).unwrap();
                each_state(&ring, m, &mut |state| {
                    let forecast = Forecast::of(&ring, state).unwrap();
                    let at = forecast.legitimate_at().unwrap();
                    let (kind, late) = match forecast.last_rest() {
                        None => (0, at),
                        Some(0) => (1, at - 1),
                        Some(rest) => (2, at - rest - 1),
                    };
                    latest[kind] = latest[kind].max(late);
                });
            }
            // On a ring without a process to spare, counters are pinned by arrivals.
            let tight = u64::from(m * d == n as u32 && d > 2);
            let d = u64::from(d);
            let expected = [
                d - 1 - tight,
                (d - 2).saturating_sub(tight),
                d.saturating_sub(3),
            ];
            assert_eq!(latest, expected, "n {n}, m {m}, d {d}");
        }
    }
}
