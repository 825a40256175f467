//! The forecast against lock-step, field by field and state by state.

use headway_core::desiderata::Monitor;
use headway_core::tokens::Tokens;
use headway_core::{Configuration, Process, Program, Ring, Round, Separation};
use headway_sim::forecast::{Forecast, SparseRing, TokensAt};
use headway_sim::seed::{Purpose, Random};
use headway_sim::start;

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

/// Compares everything; the error says what differs.
fn compare(ring: &Ring, start: &Configuration) -> Result<(), String> {
    let forecast = Forecast::of(ring, start).map_err(|error| error.to_string())?;
    let m = start.tokens();
    let rounds = horizon(ring, m);
    let seen = LockStep::run(ring, start, rounds);
    let check = |what: &str, ours: String, theirs: String| {
        if ours == theirs {
            Ok(())
        } else {
            Err(format!("{what}: forecast {ours}, lock-step {theirs}"))
        }
    };
    let same = |what: &str, ours: Option<u64>, theirs: Option<u64>| {
        check(what, format!("{ours:?}"), format!("{theirs:?}"))
    };
    if forecast.settles() {
        same("last_rest", forecast.last_rest(), seen.monitor.last_rest())?;
        if let Some(at) = forecast.legitimate_at() {
            let visits = forecast.visits(rounds - at);
            let theirs = seen.monitor.visits();
            check("visits", format!("{visits:?}"), format!("{theirs:?}"))?;
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
        check(
            &format!("state {round}"),
            format!("{ours:?}"),
            format!("{state:?}"),
        )?;
        let moment = line.moment(round as Round);
        let places = seen.tokens[round].places().iter();
        let places: Vec<(u64, bool)> = places.map(|p| (p.process() as u64, p.resting)).collect();
        let ours: Vec<(u64, bool)> = moment
            .places
            .iter()
            .map(|p| (p.process, p.resting))
            .collect();
        check(
            &format!("tokens {round}"),
            format!("{ours:?}"),
            format!("{places:?}"),
        )?;
    }
    for token in 0..m {
        let way = line.trajectory(token, rounds);
        for (round, tokens) in seen.tokens.iter().enumerate() {
            let place = tokens.places()[token as usize];
            let theirs = (place.process() as u64, place.resting);
            let ours = way.place(round as Round);
            check(
                &format!("token {token} at {round}"),
                format!("{ours:?}"),
                format!("{theirs:?}"),
            )?;
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
        same(
            &format!("distance {first}..={last}"),
            line.min_distance(first..=last),
            theirs,
        )?;
    }
    if let Some(jam) = forecast.jam() {
        // Every delay releases every d rounds, and the queues take up m·d - n.
        let period = jam.period;
        let late = line.configuration_at(jam.from);
        let later = line.configuration_at(jam.from + period);
        check("jam repeats", format!("{later:?}"), format!("{late:?}"))?;
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
