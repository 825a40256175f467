//! The closed forms of `headway_core::bound` against search.
//!
//! `worst_last_rest` is compared with the worst of all initial states, any queues,
//! of every feasible ring up to 6 processes (7 with two tokens or more), every
//! placement of delays, d = 1 and m = 1 included: equal in each. On random rings up
//! to 60 it is never exceeded. In the same search no state is legitimate later than the
//! one that `--start worst` gives.

use headway_core::Configuration;
use headway_core::bound::{widest_gap, worst_last_rest};
use headway_sim::start;
use headway_testkit::tier::pick;
use headway_testsuite::space::{Case, Random, cases, each_state, placements};

fn bound(case: &Case) -> u64 {
    let delays = case.ring.delays().map(|index| index as u64);
    let gap = widest_gap(delays, case.ring.len() as u64).expect("a delay");
    let d = case.ring.separation().hops();
    worst_last_rest(u64::from(case.tokens), d, gap).expect("a token")
}

/// The last round after which a token rests, by running; `None` if none ever does.
fn last_rest(case: &Case, initial: &Configuration) -> Option<u64> {
    let mut state = initial.clone();
    let mut last = None;
    for round in 0..=case.horizon() {
        if state.resting() > 0 {
            last = Some(round);
        }
        case.ring.round(&mut state);
    }
    last
}

/// The first round after which the state is legitimate, by running.
fn legitimate_at(case: &Case, initial: &Configuration) -> Option<u64> {
    let mut state = initial.clone();
    (0..=case.horizon()).find(|_| {
        let legitimate = case.ring.legitimate(&state, u64::from(case.tokens)).is_ok();
        case.ring.round(&mut state);
        legitimate
    })
}

#[test]
fn worst_last_rest_is_the_worst_of_all_initial_states() {
    let mut two_near_delays = 0;
    for case in (1..=pick(5, 7, 7)).flat_map(cases) {
        if case.ring.len() == 7 && case.tokens == 1 {
            continue;
        }
        let (mut worst, mut slowest) = (None, None);
        each_state(&case, u32::MAX, &mut |state| {
            worst = worst.max(last_rest(&case, state));
            slowest = slowest.max(Some(legitimate_at(&case, state).expect("a round")));
        });
        assert_eq!(worst, Some(bound(&case)), "{case:?}");
        let start = start::worst(&case.ring, case.tokens).expect("it fits");
        assert_eq!(legitimate_at(&case, &start), slowest, "{case:?}");
        let counting = start.processes.iter().filter(|process| process.counter > 0);
        two_near_delays += u64::from(slowest > Some(bound(&case) + 1) && counting.count() > 0);
    }
    assert!(two_near_delays > 10, "{two_near_delays}");
}

#[test]
fn worst_last_rest_is_not_exceeded_on_random_rings() {
    let mut met = 0;
    for seed in 0..pick(2_000, 20_000, 200_000) {
        let mut random = Random::new(seed);
        let case = random.case(60);
        let state = random.state(&case, u32::MAX);
        let last = last_rest(&case, &state);
        assert!(last <= Some(bound(&case)), "seed {seed}");
        met += u64::from(last == Some(bound(&case)));
    }
    assert!(met > 100, "and it is met: {met}");
}

#[test]
fn without_tokens_nothing_rests() {
    assert_eq!(worst_last_rest(0, 3, 5), None);
}

/// Counter-test: the bound needs m·d ≤ n.
#[test]
fn with_too_many_tokens_rests_do_not_end() {
    let case = Case::new(5, 3, 2, &[0]);
    let piled = Configuration::piled(&case.ring, 3, 0);
    assert_eq!(last_rest(&case, &piled), Some(case.horizon()));
    assert!(case.horizon() > bound(&case));
}

#[test]
fn widest_gap_is_the_longest_way_to_the_next_delay() {
    for processes in 1..=10 {
        for delays in placements(processes) {
            let next = |from: usize| {
                (1..=processes).find(|hops| delays.contains(&((from + hops) % processes)))
            };
            let longest = delays.iter().filter_map(|&from| next(from)).max();
            let found = widest_gap(delays.iter().map(|&i| i as u64), processes as u64);
            assert_eq!(found, longest.map(|hops| hops as u64), "{delays:?}");
        }
    }
    assert_eq!(widest_gap([], 5), None);
}
