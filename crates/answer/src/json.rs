//! Rings and runs as JSON.

use headway_core::{Configuration, Ring};
use headway_sim::beliefs::Beliefs;
use headway_sim::run::Frame;
use headway_sim::state_file;
use headway_sim::{Fault, Outcome};
use serde_json::{Map, Value, json};

use crate::Instance;

/// The fields that describe the ring, shared by every command that runs one.
pub fn ring(instance: &Instance) -> Map<String, Value> {
    fields(json!({
        "seed": instance.seed,
        "processes": instance.processes(),
        "tokens": instance.tokens(),
        "separation": instance.separation(),
        "program": instance.ring.program_name(),
        "delays": instance.ring.delays().collect::<Vec<_>>(),
        "feasible": instance.feasible(),
    }))
}

/// The fields of a JSON object.
pub fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The outcome of a run with these faults, or of a forecast.
pub fn outcome(instance: &Instance, faults: &[Fault], outcome: &Outcome) -> Map<String, Value> {
    let worst = instance.worst_case();
    let mut all = ring(instance);
    all.append(&mut fields(json!({
        "worst_last_rest": worst.map(|worst| worst.last_rest),
        "worst_legitimate_at": worst.map(|worst| worst.legitimate_at),
    })));
    all.append(&mut seen(faults, outcome));
    all
}

/// What a run has shown, whatever it ran.
pub fn seen(faults: &[Fault], outcome: &Outcome) -> Map<String, Value> {
    let verdicts = outcome.desiderata.iter();
    let verdicts = verdicts.map(|verdict| (verdict.of.name().to_owned(), json!(verdict.holds)));
    let mut struck: Vec<_> = faults.iter().collect();
    struck.sort_by_key(|fault| fault.after_round);
    let recoveries = outcome.recoveries.iter().skip(1).zip(struck);
    let recoveries = recoveries.map(|(recovery, fault)| {
        json!({
            "fault": fault.to_string(),
            "fault_at": recovery.fault_at,
            "legitimate_at": recovery.legitimate_at,
            "recovery_rounds": recovery.rounds(),
        })
    });
    fields(json!({
        "rounds": outcome.rounds,
        "legitimate_at": outcome.legitimate_at,
        "last_rest": outcome.last_rest,
        "min_distance_before": outcome.min_distance_before,
        "min_distance_after": outcome.min_distance_after,
        "visits": outcome.visits.map(|(min, max)| json!({ "min": min, "max": max })),
        "desiderata": verdicts.collect::<Map<_, _>>(),
        "legitimate": outcome.legitimate,
        "recoveries": recoveries.collect::<Vec<_>>(),
    }))
}

/// What processes believe in that find the separation themselves: it is the largest
/// of these.
pub fn beliefs(beliefs: &Beliefs) -> Map<String, Value> {
    fields(json!({
        "separation": beliefs.range().map(|(_, largest)| largest),
        "believed": beliefs.believed(),
        "all_believe_at": beliefs.all_since(),
    }))
}

/// A state in the form of the state file.
pub fn state(ring: &Ring, state: &Configuration) -> Value {
    serde_json::from_str(&state_file::render(ring, state)).unwrap_or(Value::Null)
}

/// The first line of a trace.
pub fn trace_header(instance: &Instance) -> Value {
    let mut all = fields(json!({ "headway": env!("CARGO_PKG_VERSION") }));
    all.append(&mut ring(instance));
    Value::Object(all)
}

/// One state of a trace.
pub fn trace_line(frame: &Frame<'_>) -> Value {
    let state = frame.configuration();
    let tokens: Vec<Value> = frame
        .tokens
        .places()
        .iter()
        .map(|place| json!({ "process": place.process(), "resting": place.resting }))
        .collect();
    let counters: Vec<i32> = state.processes.iter().map(|p| p.counter).collect();
    let mut line = json!({
        "round": frame.round,
        "legitimate": frame.legitimate,
        "closest": frame.tokens.min_distance(),
        "token_places": tokens,
        "counters": counters,
    });
    if let Some(illegitimate) = frame.illegitimate() {
        line["clause"] = json!(illegitimate.clause().name());
        line["because"] = json!(illegitimate.to_string());
    }
    if let Some(fault) = frame.fault {
        line["fault"] = json!(fault.to_string());
    }
    line
}
