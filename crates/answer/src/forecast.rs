//! The whole future from the initial state.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use headway_core::Round;
use headway_sim::forecast::{Forecast, Movement, Queue, Wait};
use headway_sim::{Outcome, Settings};
use serde_json::{Map, Value, json};

use crate::{Failure, Instance, json};

/// The forecast of a ring.
///
/// # Errors
///
/// When it has none.
pub fn of(instance: &Instance) -> Result<Forecast<'_>, Failure> {
    Forecast::of(&instance.ring, &instance.start).map_err(|error| {
        Failure::new(error).help(match instance.ring.measures() {
            true => "use `headway run` for rings that measure",
            false => "give fewer tokens, or less separation",
        })
    })
}

/// When a ring settles: the first round after which it is legitimate, and the last after
/// which a token rests.
pub type Settled = (Option<Round>, Option<Round>);

/// When rings of these settings settle, one for each seed; `None` when it was stopped.
///
/// # Errors
///
/// Why a ring cannot be, or has no forecast.
pub fn many(
    settings: &Settings,
    seeds: Range<u64>,
    threads: NonZeroUsize,
    stop: &AtomicBool,
) -> Result<Option<Vec<Settled>>, Failure> {
    // What is wrong with one of them is wrong with all.
    let first = Settings {
        seed: Some(seeds.start),
        ..settings.clone()
    };
    of(&Instance::of_settings(&first)?)?;
    let one = |seed: u64| {
        let settings = Settings {
            seed: Some(seed),
            ..settings.clone()
        };
        let (ring, state) = settings.build().map_err(Failure::new)?;
        let forecast = Forecast::of(&ring, &state).map_err(Failure::new)?;
        Ok((forecast.legitimate_at(), forecast.last_rest()))
    };
    let each = (seeds.end - seeds.start).div_ceil(threads.get() as u64);
    let some = &|index: usize| {
        let begin = seeds.start + (index as u64 * each).min(seeds.end - seeds.start);
        let some = begin..seeds.end.min(begin.saturating_add(each));
        some.map_while(|seed| (!stop.load(Ordering::Relaxed)).then(|| one(seed)))
            .collect::<Result<Vec<Settled>, Failure>>()
    };
    let parts: Vec<_> = std::thread::scope(|scope| {
        let threads = (0..threads.get()).map(|index| scope.spawn(move || some(index)));
        let threads: Vec<_> = threads.collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let all = parts.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    Ok((all.len() as u64 == seeds.end - seeds.start).then_some(all))
}

/// Rounds between two releases of a process in the long run, as a fraction.
pub fn cycle_time(forecast: &Forecast<'_>) -> Option<String> {
    forecast
        .cycle_time()
        .map(|(rounds, releases)| format!("{rounds}/{releases}"))
}

/// What `headway forecast` prints, with every wait and some states if asked for.
pub fn json(
    instance: &Instance,
    forecast: &Forecast<'_>,
    line: &Movement<'_>,
    outcome: &Outcome,
    waits: bool,
    at: &[Round],
) -> Value {
    let mut fields: Map<String, Value> = json::outcome(instance, &[], outcome);
    fields.insert("cycle_time".to_owned(), json!(cycle_time(forecast)));
    if let Some(jam) = line.jam() {
        let queue =
            |queue: &Queue| json!({ "process": queue.process, "wait_rounds": queue.rounds });
        let queues: Vec<Value> = jam.queues.iter().map(queue).collect();
        let jam = json!({ "repeats_from": jam.from, "period": jam.period, "queues": queues });
        fields.insert("jam".to_owned(), jam);
    }
    if waits {
        let wait = |wait: Wait| json!({ "token": wait.token, "process": wait.process, "from": wait.from, "to": wait.to });
        let waits: Vec<Value> = line.waits(outcome.rounds).map(wait).collect();
        fields.insert("waits".to_owned(), Value::Array(waits));
    }
    if !at.is_empty() {
        let timeline = forecast.timeline();
        let state = |&round: &u64| {
            let configuration = timeline.configuration_at(round);
            let mut state = json::state(&instance.ring, &configuration);
            state["round"] = json!(round);
            state
        };
        fields.insert("states".to_owned(), at.iter().map(state).collect());
    }
    Value::Object(fields)
}
