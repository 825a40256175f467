//! The report as JSON.

use headway_check::{BigUint, Figure, Property, Report, Trace};
use headway_sim::state_file;
use serde::Serialize;
use serde_json::Value;

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
    figures: Figures,
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
    start: Option<Value>,
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
            start: start.and_then(|(ring, state)| {
                serde_json::from_str(&state_file::render(ring, state)).ok()
            }),
            states_in_words: &run.states,
            repeats_from: run.repeats_from,
        }
    }
}

/// What is known of some models; the keys of the others are left out.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Figures {
    /// How many states take 0, 1, 2, … rounds, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Vec<String>>,
    /// The mean of that distribution, from exact sums.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    /// States that never become legitimate, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    never: Option<String>,
    /// States from which some run never becomes legitimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    diverging: Option<u64>,
    /// Where chance decides: the worst expected number of steps, a fraction such as 4/3.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_steps_exact: Option<String>,
    /// The worst expected number of steps is at least this.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_steps_low: Option<f64>,
    /// The worst expected number of steps is at most this.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_steps_high: Option<f64>,
    /// The worst case in steps if chance were against it too.
    #[serde(skip_serializing_if = "Option::is_none")]
    certain_steps: Option<u64>,
    /// How the states of a protocol file were explored, and why so.
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<String>,
    /// How many states take 0, 1, 2, … steps at worst.
    #[serde(skip_serializing_if = "Option::is_none")]
    layers: Option<Vec<String>>,
    /// States from which some run never becomes legitimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    diverging_states: Option<String>,
    /// Nodes of the largest decision diagram.
    #[serde(skip_serializing_if = "Option::is_none")]
    diagram_nodes: Option<u64>,
    /// Placements of tokens followed, up to rotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    placements_followed: Option<u64>,
    /// Sets of states followed to their end.
    #[serde(skip_serializing_if = "Option::is_none")]
    cases_followed: Option<u64>,
    /// Placements of delays, up to rotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    placements: Option<u64>,
    /// The last round, counted from the start or the last fault, after which a token can rest,
    /// over all states of this ring; null: there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    worst_last_rest: Option<u64>,
    /// Transitions between states.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps_between_states: Option<u64>,
    /// Smallest distance between tokens in real time.
    #[serde(skip_serializing_if = "Option::is_none")]
    least_true_distance: Option<u64>,
    /// The proved bound of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    true_distance_bound: Option<u64>,
    /// Cases that were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<u64>,
}

impl Figures {
    fn of(report: &Report) -> Figures {
        // A number of states is text, because most readers of JSON lose digits above 2^53.
        let texts = |counts: &[BigUint]| counts.iter().map(ToString::to_string).collect();
        let mut known = Figures::default();
        for (name, figure) in &report.figures {
            match (*name, figure) {
                ("distribution", Figure::Counts(it)) => known.distribution = Some(texts(it)),
                ("mean", Figure::Real(it)) => known.mean = Some(*it),
                ("never", Figure::Count(it)) => known.never = Some(it.to_string()),
                ("diverging", Figure::Number(it)) => known.diverging = Some(*it),
                ("expected_steps_exact", Figure::Text(it)) => {
                    known.expected_steps_exact = Some(it.clone());
                }
                ("expected_steps_low", Figure::Real(it)) => known.expected_steps_low = Some(*it),
                ("expected_steps_high", Figure::Real(it)) => known.expected_steps_high = Some(*it),
                ("certain_steps", Figure::Number(it)) => known.certain_steps = Some(*it),
                ("engine", Figure::Text(it)) => known.engine = Some(it.clone()),
                ("layers", Figure::Counts(it)) => known.layers = Some(texts(it)),
                ("diverging_states", Figure::Count(it)) => {
                    known.diverging_states = Some(it.to_string());
                }
                ("diagram_nodes", Figure::Number(it)) => known.diagram_nodes = Some(*it),
                ("placements_followed", Figure::Number(it)) => {
                    known.placements_followed = Some(*it);
                }
                ("cases_followed", Figure::Number(it)) => known.cases_followed = Some(*it),
                ("placements", Figure::Number(it)) => known.placements = Some(*it),
                ("worst_last_rest", Figure::Number(it)) => known.worst_last_rest = Some(*it),
                ("steps_between_states", Figure::Number(it)) => {
                    known.steps_between_states = Some(*it);
                }
                ("least_true_distance", Figure::Number(it)) => {
                    known.least_true_distance = Some(*it);
                }
                ("true_distance_bound", Figure::Number(it)) => {
                    known.true_distance_bound = Some(*it);
                }
                ("cases", Figure::Number(it)) => known.cases = Some(*it),
                _ => debug_assert!(false, "{name}: {figure:?} has no key"),
            }
        }
        known
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
            figures: Figures::of(report),
        }
    }
}
