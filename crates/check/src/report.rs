//! The answer in a form that does not depend on the model.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;

use headway_core::{Configuration, Ring};
use num_bigint::BigUint;
use serde::{Serialize, Serializer};

use crate::Scheduler;
use crate::traits::Model;

/// What was checked and what holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The model's name on the command line, or the title of a protocol file.
    pub model: Cow<'static, str>,
    /// The instance in words.
    pub instance: String,
    /// Who chooses the next step; `None` for lock-step models.
    pub scheduler: Option<Scheduler>,
    /// All states (those reached, for a model that is explored from its starts).
    pub states: BigUint,
    /// Legitimate states.
    pub legitimate: BigUint,
    /// The model's named properties, closure and convergence first.
    pub properties: Vec<Property>,
    /// The exact worst case; `None` without convergence.
    pub worst: Option<Worst>,
    /// A run that is as slow as the worst case.
    pub witness: Option<Trace>,
    /// Further figures.
    pub figures: Figures,
    /// Reductions used, in words; empty when every state was visited.
    pub reductions: Vec<String>,
}

impl Report {
    /// Whether every property holds.
    pub fn all_hold(&self) -> bool {
        self.properties.iter().all(|property| property.holds)
    }

    /// Whether every step from a legitimate state leads to a legitimate one.
    pub fn closure(&self) -> bool {
        self.property("closure").is_some_and(|found| found.holds)
    }

    /// Whether every run from an initial state reaches a legitimate state.
    pub fn convergence(&self) -> bool {
        self.property("convergence")
            .is_some_and(|found| found.holds)
    }

    /// The property of that name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties
            .iter()
            .find(|property| property.name == name)
    }

    /// A run that breaks the property of that name, if one does.
    pub fn counterexample(&self, name: &str) -> Option<&Trace> {
        self.property(name)?.counterexample.as_ref()
    }
}

/// A named property and what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Short, without spaces.
    pub name: Cow<'static, str>,
    /// What it asks, or what was found, as a sentence.
    pub says: String,
    /// Whether it holds.
    pub holds: bool,
    /// A run that shows that it does not.
    pub counterexample: Option<Trace>,
}

impl Property {
    /// A property that holds, or that fails without a run to show for it.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        says: impl Into<String>,
        holds: bool,
    ) -> Property {
        Property {
            name: name.into(),
            says: says.into(),
            holds,
            counterexample: None,
        }
    }

    /// Closure of a model with steps.
    pub(crate) fn closed(counterexample: Option<Trace>) -> Property {
        let says = "every step from a legitimate state leads to a legitimate state";
        Property::unless("closure", says, counterexample)
    }

    /// Closure of a lock-step model.
    pub(crate) fn closed_in_rounds(counterexample: Option<Trace>) -> Property {
        let says = "a round leads from every legitimate state to a legitimate state";
        Property::unless("closure", says, counterexample)
    }

    /// A property that holds unless there is a counterexample.
    pub fn unless(
        name: impl Into<Cow<'static, str>>,
        says: impl Into<String>,
        counterexample: Option<Trace>,
    ) -> Property {
        Property {
            name: name.into(),
            says: says.into(),
            holds: counterexample.is_none(),
            counterexample,
        }
    }
}

/// The exact worst case over all initial states and all schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worst {
    /// Rounds of a lock-step model, steps otherwise.
    pub steps: u64,
    /// Assignments made by single processes, where a scheduler selects them.
    pub moves: Option<u64>,
    /// Rounds by the definition with neutralization, where a scheduler selects.
    pub rounds: Option<u64>,
}

impl Worst {
    /// Of a lock-step model.
    pub(crate) fn in_rounds(rounds: u64) -> Worst {
        Worst {
            steps: rounds,
            moves: None,
            rounds: None,
        }
    }
}

/// What is known of some models: each is a key of the JSON, left out where it is not known. A
/// number of states is text there, because most readers of JSON lose digits above 2^53.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Figures {
    /// How many states take 0, 1, 2, … rounds, as text.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "texts")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<Vec<String>>"))]
    pub distribution: Option<Vec<BigUint>>,
    /// The rounds or steps until legitimate, at worst or as chance expects them at worst, on
    /// average over all states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// States that never become legitimate, as text.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "text")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<String>"))]
    pub never: Option<BigUint>,
    /// States from which some run never becomes legitimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diverging: Option<u64>,
    /// Where chance decides: the worst expected number of steps, a fraction such as 4/3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_steps_exact: Option<String>,
    /// The worst expected number of steps is at least this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_steps_low: Option<f64>,
    /// The worst expected number of steps is at most this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_steps_high: Option<f64>,
    /// The worst case in steps if chance were against it too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certain_steps: Option<u64>,
    /// How the states of a protocol file were explored, and why so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// How many states take 0, 1, 2, … steps at worst.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "texts")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<Vec<String>>"))]
    pub layers: Option<Vec<BigUint>>,
    /// States from which some run never becomes legitimate.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "text")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<String>"))]
    pub diverging_states: Option<BigUint>,
    /// Nodes of the largest decision diagram.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagram_nodes: Option<u64>,
    /// Placements of tokens followed, up to rotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placements_followed: Option<u64>,
    /// Sets of states followed to their end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cases_followed: Option<u64>,
    /// Placements of delays, up to rotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placements: Option<u64>,
    /// The last round, counted from the start or the last fault, after which a token can rest,
    /// over all states of this ring; null: there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_last_rest: Option<u64>,
    /// Transitions between states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps_between_states: Option<u64>,
    /// Smallest distance between tokens in real time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_true_distance: Option<u64>,
    /// The proved bound of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub true_distance_bound: Option<u64>,
    /// Cases that were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cases: Option<u64>,
}

impl Figures {
    /// Of a distribution: how many states take 0, 1, 2, … rounds, their mean, and how many never
    /// become legitimate.
    pub(crate) fn of_distances(counts: Vec<BigUint>, never: BigUint) -> Figures {
        Figures {
            mean: mean(&counts),
            distribution: Some(counts),
            never: (never > BigUint::ZERO).then_some(never),
            ..Figures::default()
        }
    }
}

fn text<S: Serializer>(count: &Option<BigUint>, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(&count.as_ref().unwrap_or(&BigUint::ZERO))
}

fn texts<S: Serializer>(counts: &Option<Vec<BigUint>>, out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(counts.iter().flatten().map(ToString::to_string))
}

/// The mean of a distribution over 0, 1, 2, …, rounded once; `None` when it is empty.
fn mean(counts: &[BigUint]) -> Option<f64> {
    let total: BigUint = counts.iter().sum();
    if total == BigUint::ZERO {
        return None;
    }
    let sum: BigUint = counts.iter().zip(0_u64..).map(|(n, at)| n * at).sum();
    // 64 binary places are more than an f64 keeps of a number above 2^-11.
    let scaled = u128::try_from((sum << 64_u32) / total).ok()?;
    Some(scaled as f64 / 2_f64.powi(64))
}

/// A path from a state into a cycle, by rank.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lasso {
    /// The states before the cycle, the initial one first.
    pub stem: Vec<u64>,
    /// The states of the cycle, in order. Empty when the path ends.
    pub cycle: Vec<u64>,
}

impl Lasso {
    /// A path that ends.
    pub(crate) fn path(stem: Vec<u64>) -> Lasso {
        Lasso::new(stem, None)
    }

    /// A path whose last state is followed by the one at `repeats_from` again, or that ends.
    pub(crate) fn new(mut path: Vec<u64>, repeats_from: Option<usize>) -> Lasso {
        let cycle = path.split_off(repeats_from.unwrap_or(path.len()));
        Lasso { stem: path, cycle }
    }

    pub(crate) fn first(&self) -> Option<u64> {
        self.stem.first().or(self.cycle.first()).copied()
    }

    /// The run of a model that this is.
    pub(crate) fn trace<M: Model>(&self, model: &M) -> Trace {
        let (states, repeats_from) = model.unfold(&self.stem, &self.cycle);
        Trace {
            repeats_from,
            ..Trace::new(states.iter().map(|state| model.show(state)))
        }
    }
}

/// A run from a state until it ends or a state comes again, and where it repeats from.
pub(crate) fn follow<S: Clone + Eq + Hash>(
    first: S,
    next: impl Fn(&S) -> Option<S>,
) -> (Vec<S>, Option<usize>) {
    let (mut path, mut places) = (Vec::new(), HashMap::new());
    let mut at = Some(first);
    while let Some(state) = at {
        if let Some(&from) = places.get(&state) {
            return (path, Some(from));
        }
        places.insert(state.clone(), path.len());
        at = next(&state);
        path.push(state);
    }
    (path, None)
}

/// A run as a list of states.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The states, each on one line.
    pub states: Vec<String>,
    /// Where the run repeats from: after the last state, the state of this index
    /// follows again.
    pub repeats_from: Option<usize>,
    /// The first state as a ring and its configuration, where the model is of
    /// that kind: it can be replayed.
    pub start: Option<(Ring, Configuration)>,
}

impl Trace {
    /// A run that ends, of a model that cannot be replayed.
    pub(crate) fn new(states: impl IntoIterator<Item = String>) -> Trace {
        Trace {
            states: states.into_iter().collect(),
            repeats_from: None,
            start: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_of_exact_sums() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[0_u32.into(), 0_u32.into()]), None);
        assert_eq!(mean(&[1_u32.into(), 0_u32.into(), 1_u32.into()]), Some(1.0));
        // Far beyond what a float or 128 bits hold.
        let many = BigUint::from(10_u32).pow(400);
        assert_eq!(mean(&[many.clone(), many.clone() * 3_u32]), Some(0.75));
        assert_eq!(mean(&[many, 1_u32.into()]), Some(0.0));
    }
}
