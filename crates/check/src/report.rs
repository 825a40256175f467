//! The answer in a form that does not depend on the model.

use headway_core::{Configuration, Ring};

use crate::Scheduler;
use crate::function::{FunctionAnswer, Lasso};
use crate::traits::Model;

/// What was checked and what holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The model's name on the command line.
    pub model: &'static str,
    /// The instance in words.
    pub instance: String,
    /// Who chooses the next step; `None` for lock-step models.
    pub scheduler: Option<Scheduler>,
    /// All states (those reached, for a model that is explored from its starts).
    pub states: u128,
    /// Legitimate states.
    pub legitimate: u128,
    /// Every step from a legitimate state leads to a legitimate one.
    pub closure: bool,
    /// Every run from an initial state reaches a legitimate state.
    pub convergence: bool,
    /// The model's named properties, closure and convergence first.
    pub properties: Vec<Property>,
    /// The exact worst case; `None` without convergence.
    pub worst: Option<Worst>,
    /// A run that is as slow as the worst case.
    pub witness: Option<Trace>,
    /// Further figures, each with its name.
    pub figures: Vec<(&'static str, Figure)>,
    /// Reductions used, in words; empty when every state was visited.
    pub reductions: Vec<String>,
}

impl Report {
    /// Whether every property holds.
    pub fn all_hold(&self) -> bool {
        self.properties.iter().all(|property| property.holds)
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

    /// The figure of that name.
    pub fn figure(&self, name: &str) -> Option<&Figure> {
        let named = self.figures.iter().find(|(found, _)| *found == name);
        named.map(|(_, figure)| figure)
    }
}

/// A named property and what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Short, without spaces.
    pub name: &'static str,
    /// What it asks, or what was found, as a sentence.
    pub says: String,
    /// Whether it holds.
    pub holds: bool,
    /// A run that shows that it does not.
    pub counterexample: Option<Trace>,
}

impl Property {
    /// A property that holds, or that fails without a run to show for it.
    pub fn new(name: &'static str, says: impl Into<String>, holds: bool) -> Property {
        Property {
            name,
            says: says.into(),
            holds,
            counterexample: None,
        }
    }

    /// A property that holds unless there is a counterexample.
    pub fn unless(
        name: &'static str,
        says: impl Into<String>,
        counterexample: Option<Trace>,
    ) -> Property {
        Property {
            name,
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

/// A further figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// A number.
    Number(u128),
    /// A mean or another number that need not be whole.
    Real(f64),
    /// Numbers, by index.
    List(Vec<u128>),
    /// Words.
    Text(String),
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
    /// A run of a model, by ranks.
    pub(crate) fn of_ranks<M: Model>(model: &M, lasso: &Lasso) -> Trace {
        let states: Vec<String> = lasso
            .stem
            .iter()
            .chain(&lasso.cycle)
            .map(|&rank| model.show(&model.state(rank)))
            .collect();
        let repeats_from = (!lasso.cycle.is_empty()).then_some(lasso.stem.len());
        Trace {
            states,
            repeats_from,
            start: None,
        }
    }

    /// The same run with a first state that can be replayed.
    #[must_use]
    pub fn starting(mut self, ring: Ring, configuration: Configuration) -> Trace {
        self.start = Some((ring, configuration));
        self
    }
}

/// The parts of a report that follow from a [`FunctionAnswer`].
pub(crate) fn of_function<M: crate::Deterministic>(
    model: &M,
    name: &'static str,
    instance: String,
    answer: &FunctionAnswer,
    start: impl Fn(u64) -> Option<(Ring, Configuration)>,
) -> Report {
    let traced = |lasso: &Lasso| {
        let mut trace = Trace::of_ranks(model, lasso);
        trace.start = lasso
            .stem
            .first()
            .or(lasso.cycle.first())
            .and_then(|&rank| start(rank));
        trace
    };
    let closure = answer.closure_violation.map(|rank| {
        let next = model.rank(&model.next(&model.state(rank)));
        traced(&Lasso {
            stem: vec![rank, next],
            cycle: Vec::new(),
        })
    });
    let mut properties = vec![Property::unless(
        "closure",
        "a round leads from every legitimate state to a legitimate state",
        closure,
    )];
    let convergence = answer.lassos.get("convergence").map(&traced);
    properties.push(Property {
        name: "convergence",
        says: "every run reaches a legitimate state".to_owned(),
        holds: answer.never == 0,
        counterexample: convergence,
    });
    for (&property, lasso) in answer
        .lassos
        .iter()
        .filter(|(name, _)| **name != "convergence")
    {
        properties.push(Property::unless(
            property,
            "violated by a cycle without a legitimate state; the shortest run into one",
            Some(traced(lasso)),
        ));
    }
    let mut figures = vec![(
        "distribution",
        Figure::List(answer.distances.iter().map(|&n| u128::from(n)).collect()),
    )];
    let mean = mean(answer.distances.iter().map(|&n| n as f64));
    figures.extend(mean.map(|mean| ("mean", Figure::Real(mean))));
    if answer.never > 0 {
        figures.push(("never", Figure::Number(u128::from(answer.never))));
    }
    Report {
        model: name,
        instance,
        scheduler: None,
        states: u128::from(answer.states),
        legitimate: u128::from(answer.legitimate),
        closure: answer.closure_violation.is_none(),
        convergence: answer.never == 0,
        properties,
        worst: answer.worst.map(|(_, rounds)| Worst {
            steps: rounds,
            moves: None,
            rounds: None,
        }),
        witness: answer
            .worst
            .map(|(rank, _)| traced(&crate::function::trace(model, rank))),
        figures,
        reductions: Vec::new(),
    }
}

/// The mean of a distribution over 0, 1, 2, …, if there is anything in it.
pub(crate) fn mean(counts: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let total: f64 = counts.clone().sum();
    let sum: f64 = counts
        .enumerate()
        .map(|(rounds, n)| rounds as f64 * n)
        .sum();
    (total > 0.0).then(|| sum / total)
}
