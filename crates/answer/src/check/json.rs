//! The report as JSON.

use std::borrow::Cow;

use headway_check::{Figures, Property, Report, Trace};
use headway_sim::state_file::AsStateFile;
use serde::Serialize;

use super::witness_of;

/// What `headway check` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CheckJson<'a> {
    /// The model that was checked.
    model: &'a str,
    /// What was checked, in words.
    instance: &'a str,
    /// Who chooses the next step; null for lock-step models.
    scheduler: Option<&'static str>,
    /// How many states there are, as text because it may exceed what readers of JSON keep.
    state_count: String,
    /// How many of them are legitimate, as text.
    legitimate_count: String,
    /// Whether legitimate states only lead to legitimate ones.
    closure: bool,
    /// Whether every run becomes legitimate.
    convergence: bool,
    /// Steps until legitimate at worst; null: there is no bound. What a step is, `step` says.
    worst_steps: Option<u64>,
    /// round for lock-step models; step where a scheduler chooses.
    step: &'static str,
    /// The same in moves of processes, under a scheduler.
    worst_moves: Option<u64>,
    /// The same in rounds, under a scheduler.
    worst_rounds: Option<u64>,
    /// A run worth keeping: a counterexample if a property fails, else the slowest; null: there
    /// is none.
    witness: Option<TraceJson<'a>>,
    /// What was checked.
    properties: Vec<PropertyJson<'a>>,
    /// Reductions used; none when every state was visited.
    reductions: &'a [String],
    #[serde(flatten)]
    figures: &'a Figures,
}

/// A property and what is known about it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct PropertyJson<'a> {
    /// A name.
    name: &'a str,
    /// Whether it holds.
    holds: bool,
    /// What it says, and what was found.
    says: &'a str,
    /// A run that shows why not; null: it holds.
    counterexample: Option<TraceJson<'a>>,
}

/// A run: its states in words, and its start as a state file where it has one.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TraceJson<'a> {
    model: &'a str,
    /// Its first state, in the form of the state file; null: it cannot be replayed by `headway
    /// run`.
    #[cfg_attr(
        feature = "schemas",
        schemars(with = "Option<crate::json::StateSchema>")
    )]
    start: Option<AsStateFile<'a>>,
    /// Its states, in words.
    states_in_words: &'a [String],
    repeats_from: Option<usize>,
}

impl TraceJson<'_> {
    /// Of a run of this model.
    pub fn of<'a>(model: &'a str, run: &'a Trace) -> TraceJson<'a> {
        let start = run.start.as_ref();
        TraceJson {
            model,
            start: start.map(|(ring, state)| AsStateFile {
                ring,
                state: Cow::Borrowed(state),
            }),
            states_in_words: &run.states,
            repeats_from: run.repeats_from,
        }
    }
}

fn property_of<'a>(report: &'a Report, property: &'a Property) -> PropertyJson<'a> {
    let counterexample = property.counterexample.as_ref();
    PropertyJson {
        name: &property.name,
        holds: property.holds,
        says: &property.says,
        counterexample: counterexample.map(|run| TraceJson::of(&report.model, run)),
    }
}

impl CheckJson<'_> {
    /// Of a report.
    pub fn of(report: &Report) -> CheckJson<'_> {
        let worst = report.worst;
        CheckJson {
            model: &report.model,
            instance: &report.instance,
            scheduler: report.scheduler.map(|scheduler| scheduler.name()),
            state_count: report.states.to_string(),
            legitimate_count: report.legitimate.to_string(),
            closure: report.closure(),
            convergence: report.convergence(),
            worst_steps: worst.map(|worst| worst.steps),
            step: if report.scheduler.is_some() {
                "step"
            } else {
                "round"
            },
            worst_moves: worst.and_then(|worst| worst.moves),
            worst_rounds: worst.and_then(|worst| worst.rounds),
            witness: witness_of(report).map(|run| TraceJson::of(&report.model, run)),
            properties: report
                .properties
                .iter()
                .map(|property| property_of(report, property))
                .collect(),
            reductions: &report.reductions,
            figures: &report.figures,
        }
    }
}
