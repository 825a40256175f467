//! Random rings of all shapes.

use std::ops::ControlFlow;

use headway_core::{Configuration, Process, Program, Ring, Separation};
use headway_sim::forecast::Forecast;
use headway_sim::seed::{Purpose, Random};
use headway_sim::{Run, start};
use headway_testkit::tier::pick;

use crate::forecast::lock_step::{compare, compare_every, settling_differs, settling_horizon};

/// A ring and state of any shape, small enough to compare every state.
pub(crate) fn any_ring(random: &mut Random, largest: u64) -> (Ring, Configuration) {
    let m = 1 + random.below(7) as u32;
    let d = 1 + random.below(6) as u32;
    let n = match random.below(4) {
        // Just feasible, roomy, anything, jammed.
        0 => u64::from(m * d),
        1 => u64::from(m * d) + random.below(12),
        2 => 1 + random.below(largest),
        _ => 1 + random.below(u64::from(m * d)),
    } as usize;
    let delays = match random.below(4) {
        0 => vec![random.index(n)],
        1 => (0..n).collect(),
        _ => {
            let count = 1 + random.index(n);
            random.distinct(count, n)
        }
    };
    let ring = Ring::with_delays(Separation::new(d).unwrap(), n, delays).unwrap();
    let mut state = match random.below(5) {
        0 => start::piled(&ring, m, random.index(n)),
        1 => start::spaced(&ring, m),
        _ => start::random(&ring, m, random.below(u64::MAX)),
    };
    match random.below(3) {
        // Wrong counters on any of them.
        0 => {
            for index in ring.delays() {
                state.processes[index].counter = random.below(u64::from(d)) as i32;
            }
        }
        // Everything within a few processes.
        1 => {
            let near = 1 + random.index(n.min(4));
            for process in &mut state.processes {
                (process.queued, process.resting) = (0, 0);
            }
            for _ in 0..m {
                let process = &mut state.processes[random.index(near)];
                if random.coin() {
                    process.queued += 1;
                } else {
                    process.resting += 1;
                }
            }
        }
        _ => {}
    }
    (ring, state)
}

/// Every field, every wait, and states at random rounds.
#[test]
fn everything_about_random_rings() {
    let rings = pick(20_000, 1_000_000, 10_000_000);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for seed in (thread..rings).step_by(threads as usize) {
                    let mut random = Random::new(seed, Purpose::Other(5));
                    let (ring, state) = any_ring(&mut random, 24);
                    let (stride, offset) = (19 + random.index(20), random.index(19));
                    if let Err(difference) = compare_every(&ring, &state, stride, offset) {
                        panic!("seed {seed}: {difference}\n{ring:?}\n{state:?}");
                    }
                }
            });
        }
    });
}

#[test]
fn every_state_of_random_rings() {
    for seed in 0..pick(1_000, 30_000, 300_000) {
        let mut random = Random::new(seed, Purpose::Other(0));
        let (ring, state) = any_ring(&mut random, 24);
        if let Err(difference) = compare(&ring, &state) {
            panic!("seed {seed}: {difference}\n{ring:?}\n{state:?}");
        }
    }
}

#[test]
fn without_a_delay_nothing_is_pulled_apart() {
    for seed in 0..pick(500, 5_000, 50_000) {
        let mut random = Random::new(seed, Purpose::Other(1));
        let n = 1 + random.index(12);
        let separation = Separation::new(1 + random.below(4) as u32).unwrap();
        let ring = Ring::new(separation, vec![Program::Relay; n]).unwrap();
        let state = start::random(&ring, 1 + random.below(6) as u32, seed);
        if let Err(difference) = compare(&ring, &state) {
            panic!("seed {seed}: {difference}\n{ring:?}\n{state:?}");
        }
    }
}

/// The outcome of a run is the same, run or forecast, to any round. The first of them
/// apart: a difference is told in a moment.
#[test]
fn some_outcomes_are_those_of_a_run() {
    outcomes(0..300);
}

#[test]
fn outcomes_are_those_of_a_run() {
    outcomes(300..pick(2_000, 20_000, 200_000));
}

fn outcomes(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut random = Random::new(seed, Purpose::Other(4));
        let (ring, start) = any_ring(&mut random, 24);
        let forecast = Forecast::of(&ring, &start).unwrap();
        let mut run = Run::new(ring.clone(), start.clone());
        for rounds in [None, Some(random.below(30))] {
            run.rounds = rounds;
            let ran = headway_sim::run(&run, |_| ControlFlow::Continue(())).unwrap();
            assert_eq!(
                forecast.movement().outcome(rounds),
                ran,
                "seed {seed}, rounds {rounds:?}"
            );
        }
    }
}

#[test]
fn no_tokens() {
    let ring = Ring::new(Separation::new(2).unwrap(), vec![Program::Delay; 3]).unwrap();
    let state = Configuration::from(vec![
        Process {
            queued: 0,
            resting: 0,
            counter: 1
        };
        3
    ]);
    let forecast = Forecast::of(&ring, &state).unwrap();
    assert_eq!(
        (forecast.last_rest(), forecast.legitimate_at()),
        (None, Some(0))
    );
    assert_eq!(forecast.timeline().moment(5).places, []);
    assert_eq!(forecast.cycle_time(), None);
}

#[test]
fn random_rings_settle_when_they_should() {
    let rings = pick(20_000, 1_000_000, 10_000_000);
    let mut feasible = 0;
    let mut seed = 0;
    while feasible < rings {
        let mut random = Random::new(seed, Purpose::Other(2));
        let (ring, state) = any_ring(&mut random, 40);
        seed += 1;
        if ring.separation().fits(ring.len() as u64, state.tokens()) {
            feasible += 1;
            if let Some(difference) = settling_differs(&ring, &state) {
                panic!("seed {}: {difference}", seed - 1);
            }
        }
        // One in ten, feasible or not: the state after a random round.
        if seed % 10 == 0 {
            let round = random.below(3 * settling_horizon(&ring, state.tokens()));
            let mut stepped = state.clone();
            (0..round).for_each(|_| ring.round(&mut stepped));
            let forecast = Forecast::of(&ring, &state).unwrap();
            let sought = forecast.timeline().configuration_at(round);
            assert_eq!(
                sought,
                stepped,
                "seed {}, round {round}\n{ring:?}\n{state:?}",
                seed - 1
            );
        }
    }
}
