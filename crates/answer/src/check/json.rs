//! The report as JSON.

use headway_check::{BigUint, Figure, Report, Trace};
use headway_sim::state_file;
use serde_json::{Value, json};

use super::witness_of;

/// The report as JSON.
pub fn value(report: &Report) -> Value {
    let properties: Vec<Value> = report
        .properties
        .iter()
        .map(|property| {
            json!({
                "name": property.name,
                "holds": property.holds,
                "says": property.says,
                "counterexample": property
                    .counterexample
                    .as_ref()
                    .map(|run| trace(&report.model, run)),
            })
        })
        .collect();
    let worst = report.worst;
    let mut value = json!({
        "model": report.model,
        "instance": report.instance,
        "scheduler": report.scheduler.map(|scheduler| scheduler.name()),
        "state_count": count(&report.states),
        "legitimate_count": count(&report.legitimate),
        "closure": report.closure(),
        "convergence": report.convergence(),
        "worst_steps": worst.map(|worst| worst.steps),
        "step": if report.scheduler.is_some() { "step" } else { "round" },
        "worst_moves": worst.and_then(|worst| worst.moves),
        "worst_rounds": worst.and_then(|worst| worst.rounds),
        "witness": witness_of(report).map(|run| trace(&report.model, run)),
        "properties": properties,
        "reductions": report.reductions,
    });
    for (name, figure) in &report.figures {
        value[*name] = match figure {
            Figure::Number(number) => json!(number),
            Figure::Count(states) => count(states),
            Figure::Counts(states) => states.iter().map(count).collect(),
            Figure::Real(real) => json!(real),
            Figure::Text(text) => json!(text),
        };
    }
    value
}

/// A number of states: always as text, because most readers of JSON lose digits above 2^53.
fn count(states: &BigUint) -> Value {
    json!(states.to_string())
}

/// A run: its states in words, and its start as a state file where it has one.
pub fn trace(model: &str, run: &Trace) -> Value {
    let start = run.start.as_ref().and_then(|(ring, state)| {
        serde_json::from_str::<Value>(&state_file::render(ring, state)).ok()
    });
    json!({
        "model": model,
        "start": start,
        "states_in_words": run.states,
        "repeats_from": run.repeats_from,
    })
}
