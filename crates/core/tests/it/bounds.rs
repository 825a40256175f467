//! The closed forms of the worst case against every initial state of small rings.

use crate::splits::each_split;
use headway_core::bound::{
    gaps, true_separation, widest_gap, worst_last_rest, worst_legitimate_at,
};
use headway_core::{Configuration, Process, Ring, Separation};

/// Calls `visit` with every state of `m` tokens on the ring.
fn each_state(ring: &Ring, m: u32, visit: &mut dyn FnMut(&Configuration)) {
    let n = ring.len();
    let top = ring.separation().top();
    let mut numbers = vec![0; 2 * n];
    each_split(&mut numbers, 0, m, &mut |numbers| {
        let tokens = |index: usize| (numbers[2 * index], numbers[2 * index + 1]);
        let processes = (0..n).map(|index| Process {
            queued: tokens(index).0,
            resting: tokens(index).1,
            counter: 0,
        });
        let mut state = Configuration::from(processes.collect::<Vec<_>>());
        let delays: Vec<usize> = ring.delays().collect();
        each_counter(&mut state, &delays, top, visit);
    });
}

fn each_counter(
    state: &mut Configuration,
    delays: &[usize],
    top: i32,
    visit: &mut dyn FnMut(&Configuration),
) {
    let Some((first, rest)) = delays.split_first() else {
        return visit(state);
    };
    for counter in 0..=top {
        state.processes[*first].counter = counter;
        each_counter(state, rest, top, visit);
    }
}

/// The last round after which a token rests, and the first that is legitimate, both
/// the largest over all initial states.
fn searched(ring: &Ring, m: u32) -> (Option<u64>, Option<u64>) {
    let (mut last_rest, mut legitimate_at) = (None, None);
    let rounds = 3 * ring.len() as u64 * u64::from(ring.separation().hops());
    each_state(ring, m, &mut |start| {
        let mut state = start.clone();
        let mut legitimate = None;
        for round in 0..=rounds {
            if state.resting() > 0 {
                last_rest = last_rest.max(Some(round));
            }
            if legitimate.is_none() && ring.legitimate(&state, u64::from(m)).is_ok() {
                legitimate = Some(round);
            }
            if legitimate.is_some() && state.resting() == 0 {
                break;
            }
            ring.round(&mut state);
        }
        assert!(legitimate.is_some(), "a feasible ring converges: {start:?}");
        legitimate_at = legitimate_at.max(legitimate);
    });
    (last_rest, legitimate_at)
}

#[test]
fn the_worst_case_is_met_and_never_exceeded() {
    let rings: [(usize, u32, u32, &[usize]); 14] = [
        (4, 2, 2, &[0]),
        (4, 2, 2, &[0, 1]),
        (5, 2, 2, &[1, 3]),
        (6, 2, 3, &[0]),
        (6, 2, 3, &[0, 1]),
        (6, 2, 3, &[2, 3, 5]),
        (6, 3, 2, &[0, 3]),
        (4, 1, 4, &[1]),
        (5, 1, 4, &[0, 1]),
        (4, 3, 1, &[0, 2]),
        (3, 3, 1, &[0]),
        (8, 2, 4, &[0, 1, 5]),
        // A gap wider than d and a lone token; gaps that are all narrower than d.
        (6, 1, 2, &[0]),
        (6, 2, 3, &[0, 2, 4]),
    ];
    for (n, m, d, delays) in rings {
        let separation = Separation::new(d).unwrap();
        assert!(separation.fits(n as u64, u64::from(m)));
        let ring = Ring::with_delays(separation, n, delays.iter().copied()).unwrap();
        let places = || delays.iter().map(|&index| index as u64);
        let widest = widest_gap(places(), n as u64).unwrap();
        let expected = (
            worst_last_rest(u64::from(m), d, widest),
            worst_legitimate_at(u64::from(m), d, gaps(places(), n as u64)),
        );
        assert_eq!(
            searched(&ring, m),
            expected,
            "n {n}, m {m}, d {d}, {delays:?}"
        );
    }
}

/// With more delays than one every d processes no token rests a round less, and those near
/// each other take longer until their counters agree with the tokens.
#[test]
fn more_delays_may_be_legitimate_later() {
    let four = |delays: &[usize]| {
        let separation = Separation::new(4).unwrap();
        searched(
            &Ring::with_delays(separation, 4, delays.iter().copied()).unwrap(),
            1,
        )
    };
    assert_eq!(four(&[0]), (Some(3), Some(4)));
    assert_eq!(four(&[0, 1, 2, 3]), (Some(3), Some(5)));
    let formula = |(n, m, d): (u64, u64, u32), every: usize| {
        let places = || (0..n).step_by(every);
        let rest = worst_last_rest(m, d, widest_gap(places(), n).unwrap());
        (rest, worst_legitimate_at(m, d, gaps(places(), n)))
    };
    assert_eq!(formula((24, 4, 5), 1), (Some(19), Some(22)));
    assert_eq!(formula((24, 4, 5), 5), (Some(19), Some(20)));
    assert_eq!(formula((100, 4, 25), 1), (Some(99), Some(122)));
    assert_eq!(formula((100, 4, 25), 25), (Some(99), Some(100)));
}

/// The distance from the previous delay to each, by walking back to it.
#[test]
fn gaps_are_what_a_walk_counts() {
    for n in 1..9_u64 {
        for mask in 1_u32..1 << n {
            let delays: Vec<u64> = (0..n).filter(|at| mask >> at & 1 == 1).collect();
            let walked: Vec<u64> = delays
                .iter()
                .map(|&delay| {
                    let hops = (1..=n).find(|hops| mask >> ((delay + n - hops) % n) & 1 == 1);
                    hops.unwrap()
                })
                .collect();
            assert!(
                gaps(delays.iter().copied(), n).eq(walked.iter().copied()),
                "{delays:?}"
            );
            let widest = walked.iter().copied().max();
            assert_eq!(widest_gap(delays.iter().copied(), n), widest, "{delays:?}");
        }
    }
    assert_eq!(widest_gap([], 5), None);
}

#[test]
fn without_tokens_or_delays_there_is_no_worst_case() {
    assert_eq!(worst_last_rest(0, 3, 1), None);
    assert_eq!(worst_legitimate_at(0, 3, [1]), None);
    assert_eq!(worst_legitimate_at(2, 3, []), None);
}

/// Of every p + 1 hops begun, one is lost.
#[test]
fn one_hop_in_each_turn_of_the_pace_is_lost() {
    for pace in 1..12 {
        let mut kept = 0;
        for separation in 1..60_u64 {
            kept += u64::from((separation - 1) % (pace + 1) != 0);
            assert_eq!(
                true_separation(separation, pace),
                kept,
                "{separation} at {pace}"
            );
        }
    }
}

#[test]
fn numbers_beyond_reach_are_none() {
    assert_eq!(worst_last_rest(u64::MAX, 1 << 31, 1), None);
    assert_eq!(worst_legitimate_at(u64::MAX, 1 << 31, [1]), None);
}
