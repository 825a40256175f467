//! The forecast against lock-step, field by field and state by state.

use std::ops::ControlFlow;

use headway_core::desiderata::Monitor;
use headway_core::tokens::Tokens;
use headway_core::{Configuration, Process, Program, Ring, Round, Separation};
use headway_sim::forecast::{Forecast, SparseRing, TokensAt};
use headway_sim::seed::{Purpose, Random};
use headway_sim::{Run, start};

/// Everything that lock-step sees in so many rounds.
struct LockStep {
    states: Vec<Configuration>,
    tokens: Vec<Tokens>,
    monitor: Monitor,
}

impl LockStep {
    fn run(ring: &Ring, start: &Configuration, rounds: Round) -> LockStep {
        let m = start.tokens();
        let mut state = start.clone();
        let mut tokens = Tokens::new(&state);
        let mut seen = LockStep {
            monitor: Monitor::new(ring.separation(), &tokens),
            states: Vec::new(),
            tokens: Vec::new(),
        };
        for round in 0..=rounds {
            if round > 0 {
                ring.round(&mut state);
                tokens.follow(&state);
            }
            let legitimate = ring.legitimate(&state, m).is_ok();
            seen.monitor.observe(round, &tokens, legitimate);
            seen.states.push(state.clone());
            seen.tokens.push(tokens.clone());
        }
        seen
    }
}

/// Rounds after which a ring that settles has to be legitimate, and one that jams
/// has repeated itself.
fn horizon(ring: &Ring, m: u64) -> Round {
    let (n, d) = (ring.len() as u64, u64::from(ring.separation().hops()));
    2 * n + 3 * m * d + 3
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: T, theirs: T) -> Result<(), String> {
    same_at(|| what.to_owned(), &ours, &theirs)
}

fn same_at<T: PartialEq + std::fmt::Debug>(
    what: impl Fn() -> String,
    ours: &T,
    theirs: &T,
) -> Result<(), String> {
    if ours == theirs {
        Ok(())
    } else {
        Err(format!(
            "{}: forecast {ours:?}, lock-step {theirs:?}",
            what()
        ))
    }
}

/// Compares everything; the error says what differs.
fn compare(ring: &Ring, start: &Configuration) -> Result<(), String> {
    let forecast = Forecast::of(ring, start).map_err(|error| error.to_string())?;
    let m = start.tokens();
    let rounds = horizon(ring, m);
    let seen = LockStep::run(ring, start, rounds);
    let same = same::<Option<u64>>;
    if forecast.settles() {
        same("last_rest", forecast.last_rest(), seen.monitor.last_rest())?;
        if let Some(at) = forecast.legitimate_at() {
            let visits = forecast.visits(rounds - at);
            let theirs = seen.monitor.visits();
            same_at(|| "visits".to_owned(), &visits, &theirs)?;
            same(
                "distance after",
                forecast.settled_distance(),
                seen.monitor.min_distance_after(),
            )?;
        }
    }
    same(
        "legitimate_at",
        forecast.legitimate_at(),
        seen.monitor.legitimate_at(),
    )?;
    let line = forecast.timeline();
    for (round, state) in seen.states.iter().enumerate() {
        let ours = line.configuration_at(round as Round);
        same_at(|| format!("state {round}"), &ours, &state)?;
        let moment = line.moment(round as Round);
        let places = seen.tokens[round].places().iter();
        let places: Vec<(u64, bool)> = places.map(|p| (p.process() as u64, p.resting)).collect();
        let ours: Vec<(u64, bool)> = moment
            .places
            .iter()
            .map(|p| (p.process, p.resting))
            .collect();
        same_at(|| format!("tokens {round}"), &ours, &places)?;
    }
    for token in 0..m {
        let way = line.trajectory(token, rounds);
        for (round, tokens) in seen.tokens.iter().enumerate() {
            let place = tokens.places()[token as usize];
            let theirs = (place.process() as u64, place.resting);
            let ours = way.place(round as Round);
            same_at(|| format!("token {token} at {round}"), &ours, &theirs)?;
        }
    }
    let rests: u64 = line
        .waits(rounds)
        .map(|w| w.to.min(rounds) - w.from + 1)
        .sum();
    let theirs = seen.states.iter().map(Configuration::resting).sum();
    same("rounds waited", Some(rests), Some(theirs))?;
    for (first, last) in [
        (0, rounds),
        (0, 0),
        (rounds / 3, rounds / 2),
        (1, rounds / 4),
    ] {
        let span = &seen.tokens[first as usize..=last as usize];
        let theirs = span.iter().filter_map(Tokens::min_distance).min();
        same_at(
            || format!("distance {first}..={last}"),
            &line.min_distance(first..=last),
            &theirs,
        )?;
    }
    if let Some(jam) = forecast.jam() {
        // Every delay releases every d rounds, and the queues take up m·d - n.
        let period = jam.period;
        let late = line.configuration_at(jam.from);
        let later = line.configuration_at(jam.from + period);
        same_at(|| "jam repeats".to_owned(), &later, &late)?;
        let waited: u64 = jam.queues.iter().map(|queue| queue.rounds).sum();
        same(
            "rounds queued a turn",
            Some(waited),
            Some(m * period - ring.len() as u64),
        )?;
    }
    sparse_agrees(ring, start, &forecast)
}

/// The same ring given by lists.
fn sparse_agrees(ring: &Ring, start: &Configuration, dense: &Forecast<'_>) -> Result<(), String> {
    let processes = || start.processes.iter().enumerate();
    let sparse = SparseRing {
        processes: ring.len() as u64,
        separation: ring.separation().hops(),
        tokens: processes()
            .filter(|(_, p)| p.tokens() > 0)
            .map(|(index, p)| TokensAt {
                process: index as u64,
                queued: p.queued,
                resting: p.resting,
            })
            .collect(),
        delays: ring
            .delays()
            .map(|index| (index as u64, start.processes[index].counter as u32))
            .collect(),
    };
    let forecast = Forecast::of_sparse(&sparse).map_err(|error| error.to_string())?;
    let facts = |f: &Forecast<'_>| {
        (
            f.last_rest(),
            f.legitimate_at(),
            f.worst_last_rest(),
            f.timeline().moment(7).places,
        )
    };
    if facts(&forecast) == facts(dense) {
        Ok(())
    } else {
        Err(format!(
            "sparse: {:?}, dense {:?}",
            facts(&forecast),
            facts(dense)
        ))
    }
}

/// A ring and state of any shape, small enough to compare every state.
fn any_ring(random: &mut Random, largest: u64) -> (Ring, Configuration) {
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

#[test]
fn every_state_of_random_rings() {
    for seed in 0..30_000 {
        let mut random = Random::new(seed, Purpose::Other(0));
        let (ring, state) = any_ring(&mut random, 24);
        if let Err(difference) = compare(&ring, &state) {
            panic!("seed {seed}: {difference}\n{ring:?}\n{state:?}");
        }
    }
}

#[test]
fn without_a_delay_nothing_is_pulled_apart() {
    for seed in 0..5_000 {
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

/// The outcome of a run is the same, run or forecast, to any round.
#[test]
fn outcomes_are_those_of_a_run() {
    for seed in 0..20_000 {
        let mut random = Random::new(seed, Purpose::Other(4));
        let (ring, start) = any_ring(&mut random, 24);
        let forecast = Forecast::of(&ring, &start).unwrap();
        let mut run = Run::new(ring.clone(), start.clone());
        for rounds in [None, Some(random.below(30))] {
            run.rounds = rounds;
            let ran = headway_sim::run(&run, |_| ControlFlow::Continue(())).unwrap();
            assert_eq!(
                forecast.outcome(rounds),
                ran,
                "seed {seed}, rounds {rounds:?}"
            );
        }
    }
}

#[test]
fn no_tokens() {
    let ring = Ring::new(Separation::new(2).unwrap(), vec![Program::Delay; 3]).unwrap();
    let state = Configuration {
        processes: vec![
            Process {
                queued: 0,
                resting: 0,
                counter: 1
            };
            3
        ],
        measuring: Vec::new(),
    };
    let forecast = Forecast::of(&ring, &state).unwrap();
    assert_eq!(
        (forecast.last_rest(), forecast.legitimate_at()),
        (None, Some(0))
    );
    assert_eq!(forecast.timeline().moment(5).places, []);
    assert_eq!(forecast.cycle_time(), None);
}

/// What lock-step says of a ring that settles: the last rest and legitimacy. `ring`
/// has to be feasible, so that the horizon is the proved worst case.
fn settling(ring: &Ring, start: &Configuration, upto: Round) -> (Option<Round>, Option<Round>) {
    let m = start.tokens();
    let mut state = start.clone();
    let (mut last_rest, mut legitimate_at) = (None, None);
    for round in 0..=upto {
        if round > 0 {
            ring.round(&mut state);
        }
        if state.resting() > 0 {
            last_rest = Some(round);
        } else if legitimate_at.is_none() && ring.legitimate(&state, m).is_ok() {
            legitimate_at = Some(round);
        }
    }
    (last_rest, legitimate_at)
}

fn settling_horizon(ring: &Ring, m: u64) -> Round {
    let d = u64::from(ring.separation().hops());
    ring.len() as u64 + (m + 1) * d
}

/// How the two differ, if they do.
fn settling_differs(ring: &Ring, start: &Configuration) -> Option<String> {
    let forecast = Forecast::of(ring, start).unwrap();
    let ours = (forecast.last_rest(), forecast.legitimate_at());
    let theirs = settling(ring, start, settling_horizon(ring, start.tokens()));
    (ours != theirs)
        .then(|| format!("forecast {ours:?}, lock-step {theirs:?}\n{ring:?}\n{start:?}"))
}

#[test]
fn a_million_random_rings() {
    let mut feasible = 0;
    let mut seed = 0;
    while feasible < 1_000_000 {
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

/// Every state of every ring with n ≤ 6 that is feasible, and of the infeasible ones
/// with n ≤ 3 and m ≤ 3, every delay placement up to rotation.
#[test]
fn every_initial_state_of_all_small_rings() {
    let mut states: u64 = 0;
    for n in 1..=6usize {
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
    assert_eq!(states, EXPECTED_STATES, "the enumeration has changed");
}

/// The sum over n, placements, m and d of d^delays · C(m + 2n - 1, m), worked out
/// separately.
const EXPECTED_STATES: u64 = 1_583_008;

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
        let field = if cell % 2 == 0 {
            &mut process.queued
        } else {
            &mut process.resting
        };
        *field = here;
        distribute(state, cell + 1, left - here, visit);
        let process = &mut state.processes[cell / 2];
        let field = if cell % 2 == 0 {
            &mut process.queued
        } else {
            &mut process.resting
        };
        *field = 0;
    }
}

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

/// How much later than `last_rest` + 1 the full predicate can be met, exactly
/// (docs/worst-case.md, theorem 2), over every state of small rings.
#[test]
fn lateness_of_the_full_predicate() {
    for n in 2..=7usize {
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
