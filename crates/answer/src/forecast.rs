//! The whole future from the initial state.

use headway_core::Round;
use headway_sim::Outcome;
use headway_sim::forecast::{Forecast, Movement, Queue, Wait};
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
