//! The closed form as it stands in docs/research/forecast.md, and with wrong coefficients.

use headway_core::{Configuration, Ring, Round};
use headway_sim::seed::{Purpose, Random};

use crate::forecast::lock_step::{settling, settling_horizon};
use crate::forecast::random::any_ring;

/// The closed form itself, read off the page: every release time as a maximum over
/// sources, in O(n·m) for one token, with its coefficients as arguments.
fn last_rest_by_hand(ring: &Ring, start: &Configuration, slope: i64, floor: i64) -> Option<Round> {
    let n = ring.len() as i64;
    let m = start.tokens() as i64;
    // a(k), from the front; tokens queued at process n-1 start at position n.
    let mut starts = Vec::new();
    let mut resting = Vec::new();
    for (index, process) in start.processes.iter().enumerate().rev() {
        for _ in 0..process.queued {
            starts.push(index as i64 + 1);
            resting.push(false);
        }
        for _ in 0..process.resting {
            starts.push(index as i64);
            resting.push(true);
        }
    }
    let a = |k: i64| starts[k.rem_euclid(m) as usize] - n * k.div_euclid(m);
    let delay_at = |x: i64| ring.programs()[x.rem_euclid(n) as usize].delays();
    // Tokens that wait at all do so within two turns of their start.
    let mut last = None;
    for k in 0..m {
        let mut y_before = 1 - a(k);
        if resting[k as usize] {
            last = last.max(Some(0));
        }
        for x in a(k)..a(k) + 2 * n {
            let y = (a(k)..=x)
                .map(|source| {
                    let first = (k - 3 * m..=k).find(|&token| a(token) <= source).unwrap();
                    let counter = start.processes[source.rem_euclid(n) as usize].counter;
                    let slope = if (source..=x).any(delay_at) { slope } else { 1 };
                    let floor = if counter > 0 {
                        i64::from(counter) + floor
                    } else {
                        1
                    };
                    floor - source + (k - first) * slope
                })
                .max()
                .unwrap();
            if y > y_before {
                last = last.max(Some((y + x - 1) as Round));
                y_before = y;
            }
        }
    }
    last
}

/// The closed form with its right coefficients is lock-step; with a wrong slope or a
/// wrong floor it is not, and lock-step notices.
#[test]
fn wrong_coefficients_are_caught() {
    let (mut slope_caught, mut floor_caught) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed, Purpose::Other(3));
        let (ring, state) = any_ring(&mut random, 14);
        let d = i64::from(ring.separation().hops());
        if d == 1 || !ring.separation().fits(ring.len() as u64, state.tokens()) {
            continue;
        }
        let theirs = settling(&ring, &state, settling_horizon(&ring, state.tokens())).0;
        assert_eq!(
            last_rest_by_hand(&ring, &state, d, 1),
            theirs,
            "seed {seed}"
        );
        slope_caught += u32::from(last_rest_by_hand(&ring, &state, d + 1, 1) != theirs);
        floor_caught += u32::from(last_rest_by_hand(&ring, &state, d, 2) != theirs);
    }
    assert!(slope_caught > 50, "{slope_caught}");
    assert!(floor_caught > 20, "{floor_caught}");
}
