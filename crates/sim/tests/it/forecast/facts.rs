//! What a forecast says beside states and rounds: cycle times, worst cases, waits by
//! token, and what it refuses.

use headway_core::bound::{widest_gap, worst_last_rest};
use headway_core::tokens::Tokens;
use headway_core::{Configuration, Program, Ring, Separation};
use headway_sim::forecast::{Forecast, ForecastError, SparseRing, TokensAt};
use headway_sim::seed::{Purpose, Random};

use crate::forecast::lock_step::{compare, horizon};
use crate::forecast::random::any_ring;

/// Rings of all shapes, with and without delays.
fn rings(count: u64) -> impl Iterator<Item = (Ring, Configuration)> {
    (0..count).map(|seed| {
        let mut random = Random::new(seed, Purpose::Other(9));
        let (ring, mut state) = any_ring(&mut random, 24);
        if !seed.is_multiple_of(5) {
            return (ring, state);
        }
        for process in &mut state.processes {
            process.counter = 0;
        }
        let relays = Ring::with_delays(ring.separation(), ring.len(), []).unwrap();
        (relays, state)
    })
}

/// The first rings of every shape, before the many: a difference is told in a moment.
#[test]
fn some_rings_state_by_state() {
    for (ring, start) in rings(600) {
        if let Err(difference) = compare(&ring, &start) {
            panic!("{difference}\n{ring:?}\n{start:?}");
        }
    }
}

/// A token that rests longer at the only delay than it takes for a turn.
#[test]
fn a_delay_that_is_long_for_its_ring() {
    for (n, d) in [(11, 20), (4, 30), (1, 9)] {
        let separation = Separation::new(d).unwrap();
        let ring = Ring::with_delays(separation, n, [n - 1]).unwrap();
        for counter in [0, d as i32 - 1] {
            let mut start = Configuration::piled(&ring, 1, 0);
            start.processes[n - 1].counter = counter;
            compare(&ring, &start).unwrap();
        }
    }
}

/// λ is counted: releases of a process over rounds in which they repeat.
#[test]
fn cycle_times_are_those_of_a_run() {
    for (ring, start) in rings(3_000) {
        let forecast = Forecast::of(&ring, &start).unwrap();
        let (n, m) = (ring.len() as u64, start.tokens());
        assert_eq!(forecast.tokens(), m);
        assert_eq!(forecast.feasible(), ring.separation().fits(n, m));
        let jam = forecast.timeline().jam();
        assert_eq!(jam.is_none(), forecast.settles());
        let (rounds, releases) = forecast.cycle_time().unwrap();
        let divides = |by: u64| rounds.is_multiple_of(by) && releases.is_multiple_of(by);
        assert!(
            !(2..=releases).any(divides),
            "{rounds}/{releases} in lowest terms"
        );
        let mut state = start.clone();
        // Jams set in late; then they repeat every d rounds, other rings every n.
        let settle = horizon(&ring, m) + jam.map_or(0, |jam| jam.from);
        for _ in 0..settle {
            ring.round(&mut state);
        }
        let watched = n * u64::from(ring.separation().hops());
        let mut released = vec![0; n as usize];
        for _ in 0..watched {
            ring.round(&mut state);
            for (count, process) in released.iter_mut().zip(&state.processes) {
                *count += u64::from(process.queued);
            }
        }
        for count in released {
            assert_eq!(count * rounds, watched * releases, "{ring:?} {start:?}");
        }
    }
}

#[test]
fn worst_cases_are_those_of_the_formula() {
    for (ring, start) in rings(3_000) {
        let forecast = Forecast::of(&ring, &start).unwrap();
        let (n, m) = (ring.len() as u64, start.tokens());
        let widest = widest_gap(ring.delays().map(|at| at as u64), n);
        let d = ring.separation();
        let expected = widest
            .filter(|_| d.fits(n, m))
            .and_then(|widest| worst_last_rest(m, d.hops(), widest));
        assert_eq!(forecast.worst_last_rest(), expected, "{ring:?}");
    }
}

/// A token rests after a round exactly if one of its waits says so, and there.
#[test]
fn waits_are_told_by_token() {
    for (ring, start) in rings(1_500) {
        let forecast = Forecast::of(&ring, &start).unwrap();
        let line = forecast.timeline();
        let rounds = horizon(&ring, start.tokens());
        let waits: Vec<_> = line.waits(rounds).collect();
        assert!(waits.is_sorted_by_key(|wait| (wait.token, wait.from)));
        // Released in the round after a wait, a token is elsewhere at the end of the next.
        let apart = waits.windows(2).all(|pair| {
            let [one, next] = [pair[0], pair[1]];
            one.token != next.token || one.to + 1 < next.from
        });
        assert!(apart, "{ring:?} {start:?}");
        let mut state = start.clone();
        let mut tokens = Tokens::new(&state);
        for round in 0..=rounds {
            for (token, place) in (0..).zip(tokens.places()) {
                let told = waits
                    .iter()
                    .filter(|wait| wait.token == token && (wait.from..=wait.to).contains(&round));
                let told: Vec<u64> = told.map(|wait| wait.process).collect();
                let seen = place.resting.then_some(place.process() as u64);
                assert_eq!(
                    told,
                    seen.into_iter().collect::<Vec<_>>(),
                    "{ring:?} {start:?}"
                );
            }
            ring.round(&mut state);
            tokens.follow(&state);
        }
    }
}

/// Long after it has set in: where tokens queue and for how long, and who is where.
#[test]
fn a_jam_is_what_it_says() {
    let mut jams = 0;
    for (ring, start) in rings(600) {
        let forecast = Forecast::of(&ring, &start).unwrap();
        let line = forecast.timeline();
        let Some(jam) = line.jam() else {
            continue;
        };
        jams += 1;
        assert!(jam.queues.is_sorted_by_key(|queue| queue.process));
        assert!(jam.queues.iter().all(|queue| queue.rounds > 0));
        let mut queued = vec![0; ring.len()];
        for queue in &jam.queues {
            queued[queue.process as usize] = queue.rounds;
        }
        let mut state = start.clone();
        let mut tokens = Tokens::new(&state);
        let mut rested = vec![0; ring.len()];
        for round in 0..jam.from + jam.period * (start.tokens() + 2) {
            if (jam.from..jam.from + jam.period).contains(&round) {
                for (sum, process) in rested.iter_mut().zip(&state.processes) {
                    *sum += u64::from(process.resting);
                }
            }
            if round >= jam.from && round.is_multiple_of(3) {
                let moment = line.moment(round);
                let told = moment
                    .places
                    .iter()
                    .map(|place| (place.process, place.resting));
                let seen = tokens.places().iter();
                let seen = seen.map(|place| (place.process() as u64, place.resting));
                assert!(told.eq(seen), "round {round}: {ring:?} {start:?}");
            }
            ring.round(&mut state);
            tokens.follow(&state);
        }
        // A token leaves every d rounds, so in d rounds all of its wait is seen.
        assert_eq!(rested, queued, "{ring:?} {start:?}");
    }
    assert!(jams > 100, "{jams}");
}

/// The round that is told is one from which on a ring certainly repeats itself, and no
/// more than that: the largest key, 4 turns and 5 times the rounds of a jammed turn.
#[test]
fn a_jam_has_set_in_by_the_round_told() {
    for (n, m, d) in [(5, 3, 2), (3, 2, 4), (3, 7, 1)] {
        let separation = Separation::new(d).unwrap();
        let ring = Ring::with_delays(separation, n, [n - 1]).unwrap();
        // All at process 0, which is position 0: the largest key is m·d + 1.
        let start = Configuration::piled(&ring, m, 0);
        let forecast = Forecast::of(&ring, &start).unwrap();
        let jam = forecast.timeline().jam().unwrap();
        let turn = u64::from(m * d);
        assert_eq!(jam.from, turn + 1 + 4 * n as u64 + 5 * turn);
        assert_eq!(jam.period, u64::from(d));
    }
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "that is what is asked about")]
fn no_rounds_have_no_distance() {
    let ring = Ring::with_delays(Separation::new(3).unwrap(), 9, [0]).unwrap();
    let start = Configuration::piled(&ring, 2, 0);
    let forecast = Forecast::of(&ring, &start).unwrap();
    assert_eq!(forecast.timeline().min_distance(5..=4), None);
    assert_eq!(forecast.timeline().min_distance(0..=0), Some(0));
}

#[test]
fn without_tokens() {
    let ring = Ring::with_delays(Separation::new(3).unwrap(), 4, [0, 2]).unwrap();
    let mut state = Configuration::empty(&ring, 0, 0);
    state.processes[2].counter = 2;
    let forecast = Forecast::of(&ring, &state).unwrap();
    assert_eq!(forecast.cycle_time(), None);
    assert_eq!((forecast.tokens(), forecast.legitimate_at()), (0, Some(0)));
    assert_eq!(
        (forecast.last_rest(), forecast.worst_last_rest()),
        (None, None)
    );
    let line = forecast.timeline();
    assert_eq!(line.min_distance(0..=9), None);
    assert_eq!(line.waits(9).count(), 0);
    assert_eq!(line.moment(1).counters, [(2, 1)]);
    assert_eq!(line.moment(2).counters, []);
}

#[test]
fn what_is_refused() {
    let d = Separation::new(2).unwrap();
    let ring = Ring::new(d, vec![Program::Relay, Program::Measure]).unwrap();
    let state = Configuration::empty(&ring, 1, 4);
    let refused = Forecast::of(&ring, &state).unwrap_err();
    assert_eq!(refused, ForecastError::Measures { process: 1 });
    let ring = Ring::with_delays(d, 4, [0]).unwrap();
    let mut state = Configuration::empty(&ring, 1, 4);
    state.processes.pop();
    assert_eq!(
        Forecast::of(&ring, &state).unwrap_err(),
        ForecastError::Misfit
    );
    let at = |process, resting| TokensAt {
        process,
        queued: 0,
        resting,
    };
    let good = SparseRing {
        processes: 10,
        separation: 3,
        tokens: vec![at(2, 1), at(9, 1)],
        delays: vec![(0, 2), (9, 0)],
    };
    assert!(Forecast::of_sparse(&good).is_ok());
    // Tokens times separation as large as can be: 2^61. (On a ring for fewer, for which
    // no distances are asked.)
    let mut full = SparseRing {
        processes: 1 << 20,
        separation: 1 << 31,
        tokens: vec![at(2, 1 << 30)],
        delays: vec![(0, 2)],
    };
    assert!(!Forecast::of_sparse(&full).unwrap().settles());
    full.tokens = vec![at(2, (1 << 30) - 1), at(3, 2)];
    assert_eq!(
        Forecast::of_sparse(&full).unwrap_err(),
        ForecastError::TooLarge
    );
    type Change = fn(&mut SparseRing);
    let changes: [(&str, Change); 11] = [
        ("1 to 2^61", |ring| ring.processes = 0),
        ("1 to 2^61", |ring| ring.processes = (1 << 61) + 1),
        ("1 to 2^31", |ring| ring.separation = 0),
        ("1 to 2^31", |ring| ring.separation = (1 << 31) + 1),
        ("tokens have", |ring| ring.tokens[1].process = 10),
        ("tokens have", |ring| ring.tokens[1].process = 2),
        ("tokens have", |ring| ring.tokens[1].process = 1),
        ("delays have", |ring| ring.delays[1].0 = 10),
        ("delays have", |ring| ring.delays[1].0 = 0),
        ("counter", |ring| ring.delays[0].1 = 3),
        ("more than 2^61", |ring| {
            ring.processes = 1 << 61;
            ring.separation = 1 << 31;
            ring.tokens[0].resting = 1 << 30;
        }),
    ];
    for (says, change) in changes {
        let mut wrong = good.clone();
        change(&mut wrong);
        let refused = Forecast::of_sparse(&wrong).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
    }
}
