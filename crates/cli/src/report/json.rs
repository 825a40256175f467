//! Rings and runs as JSON.

use headway_core::{Configuration, Program, Ring};
use headway_sim::run::Frame;
use headway_sim::state_file;
use headway_sim::{Fault, Outcome};
use serde_json::{Map, Value, json};

use crate::flags::Instance;

/// The fields that describe the ring, shared by every command that runs one.
pub(crate) fn ring(instance: &Instance) -> Map<String, Value> {
    let delays: Vec<usize> = instance.ring.delays().collect();
    let mut fields = Map::new();
    fields.insert("seed".to_owned(), json!(instance.seed));
    fields.insert("processes".to_owned(), json!(instance.processes()));
    fields.insert("tokens".to_owned(), json!(instance.tokens()));
    fields.insert("separation".to_owned(), json!(instance.separation()));
    fields.insert("program".to_owned(), json!(program(instance)));
    fields.insert("delays".to_owned(), json!(delays));
    fields.insert("feasible".to_owned(), json!(instance.feasible()));
    fields
}

/// `delay`, `measure` or `measure-as-printed`; `mixed` when a state file mixes.
fn program(instance: &Instance) -> &'static str {
    let mut kinds = instance.ring.programs().iter().filter(|p| p.delays());
    let first = kinds.next().copied().unwrap_or(Program::Relay);
    if kinds.all(|&kind| kind == first) {
        first.name()
    } else {
        "mixed"
    }
}

/// The outcome of a run with these faults, or of a forecast.
pub(crate) fn outcome(
    instance: &Instance,
    faults: &[Fault],
    outcome: &Outcome,
) -> Map<String, Value> {
    let mut fields = ring(instance);
    let mut insert = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    insert("rounds", json!(outcome.rounds));
    insert("legitimate_at", json!(outcome.legitimate_at));
    insert("last_rest", json!(outcome.last_rest));
    let worst = instance.worst_case();
    insert("worst_case", json!(worst.map(|worst| worst.last_rest)));
    insert(
        "worst_legitimate_at",
        json!(worst.map(|worst| worst.legitimate_at)),
    );
    insert("min_distance_before", json!(outcome.min_distance_before));
    insert("min_distance_after", json!(outcome.min_distance_after));
    let visits = outcome
        .visits
        .map(|(min, max)| json!({ "min": min, "max": max }));
    insert("visits", json!(visits));
    let verdicts: Map<String, Value> = outcome
        .desiderata
        .iter()
        .map(|verdict| (verdict.of.name().to_owned(), json!(verdict.holds)))
        .collect();
    insert("desiderata", Value::Object(verdicts));
    insert("legitimate", json!(outcome.legitimate));
    let mut struck: Vec<_> = faults.iter().collect();
    struck.sort_by_key(|fault| fault.after_round);
    let recoveries: Vec<Value> = outcome
        .recoveries
        .iter()
        .skip(1)
        .zip(struck)
        .map(|(recovery, fault)| {
            json!({
                "fault": fault.to_string(),
                "at": recovery.fault_at,
                "legitimate_at": recovery.legitimate_at,
                "rounds": recovery.rounds(),
            })
        })
        .collect();
    insert("recoveries", json!(recoveries));
    fields
}

/// A state in the form of the state file.
pub(crate) fn state(ring: &Ring, state: &Configuration) -> Value {
    serde_json::from_str(&state_file::render(ring, state)).unwrap_or(Value::Null)
}

/// The first line of a trace.
pub(crate) fn trace_header(instance: &Instance) -> Value {
    let mut fields = Map::new();
    fields.insert("headway".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    fields.append(&mut ring(instance));
    Value::Object(fields)
}

/// One state of a trace.
pub(crate) fn trace_line(frame: &Frame<'_>) -> Value {
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
        "tokens": tokens,
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
