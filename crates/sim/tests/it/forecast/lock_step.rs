//! What lock-step finds, and comparing everything with it.

use headway_core::desiderata::Monitor;
use headway_core::tokens::Tokens;
use headway_core::{Configuration, Ring, Round};
use headway_sim::forecast::{Forecast, SparseRing, TokensAt};

/// Everything that lock-step sees in so many rounds.
pub(crate) struct LockStep {
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
            seen.monitor.observe(round, &tokens, || legitimate);
            seen.states.push(state.clone());
            seen.tokens.push(tokens.clone());
        }
        seen
    }
}

/// Rounds after which a ring that settles has to be legitimate, and one that jams
/// has repeated itself.
pub(crate) fn horizon(ring: &Ring, m: u64) -> Round {
    let (n, d) = (ring.len() as u64, u64::from(ring.separation().hops()));
    2 * n + 3 * m * d + 3
}

pub(crate) fn same(what: &str, ours: Option<u64>, theirs: Option<u64>) -> Result<(), String> {
    same_at(|| what.to_owned(), &ours, &theirs)
}

pub(crate) fn same_at<T: PartialEq + std::fmt::Debug>(
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

/// Compares everything in every round; the error says what differs.
pub(crate) fn compare(ring: &Ring, start: &Configuration) -> Result<(), String> {
    compare_every(ring, start, 1, 0)
}

/// Compares everything, states and places in every `stride`-th round only.
pub(crate) fn compare_every(
    ring: &Ring,
    start: &Configuration,
    stride: usize,
    offset: usize,
) -> Result<(), String> {
    let forecast = Forecast::of(ring, start).map_err(|error| error.to_string())?;
    let m = start.tokens();
    let rounds = horizon(ring, m);
    let seen = LockStep::run(ring, start, rounds);
    if forecast.settles() {
        same(
            "last_rest",
            forecast.last_rest(),
            seen.monitor.outcome().last_rest,
        )?;
        if let Some(at) = forecast.legitimate_at() {
            let visits = forecast.visits(rounds - at);
            let theirs = seen.monitor.outcome().visits;
            same_at(|| "visits".to_owned(), &visits, &theirs)?;
            same(
                "distance after",
                forecast.settled_distance(),
                seen.monitor.outcome().min_distance_after,
            )?;
        }
    }
    same(
        "legitimate_at",
        forecast.legitimate_at(),
        seen.monitor.outcome().legitimate_at,
    )?;
    let line = forecast.timeline();
    for (round, state) in seen.states.iter().enumerate().skip(offset).step_by(stride) {
        let ours = line.configuration_at(round as Round);
        same_at(|| format!("state {round}"), &ours, state)?;
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
    let movement = forecast.movement();
    for token in 0..m {
        let way = movement.trajectory(token, rounds);
        for (round, tokens) in seen.tokens.iter().enumerate().skip(offset).step_by(stride) {
            let place = tokens.places()[token as usize];
            let theirs = (place.process() as u64, place.resting);
            let ours = way.place(round as Round);
            same_at(|| format!("token {token} at {round}"), &ours, &theirs)?;
        }
    }
    let rests: u64 = movement
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
            &movement.min_distance(first..=last),
            &theirs,
        )?;
    }
    if let Some(jam) = movement.jam() {
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
pub(crate) fn sparse_agrees(
    ring: &Ring,
    start: &Configuration,
    dense: &Forecast<'_>,
) -> Result<(), String> {
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

/// What lock-step says of a ring that settles: the last rest and legitimacy. `ring`
/// has to be feasible, so that the horizon is the proved worst case.
pub(crate) fn settling(
    ring: &Ring,
    start: &Configuration,
    upto: Round,
) -> (Option<Round>, Option<Round>) {
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

pub(crate) fn settling_horizon(ring: &Ring, m: u64) -> Round {
    let d = u64::from(ring.separation().hops());
    ring.len() as u64 + (m + 1) * d
}

/// How the two differ, if they do.
pub(crate) fn settling_differs(ring: &Ring, start: &Configuration) -> Option<String> {
    let forecast = Forecast::of(ring, start).unwrap();
    let ours = (forecast.last_rest(), forecast.legitimate_at());
    let theirs = settling(ring, start, settling_horizon(ring, start.tokens()));
    (ours != theirs)
        .then(|| format!("forecast {ours:?}, lock-step {theirs:?}\n{ring:?}\n{start:?}"))
}
