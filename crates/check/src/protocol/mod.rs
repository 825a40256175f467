//! Protocols as files: guarded commands on any graph.
//!
//! ```text
//! protocol "Dijkstra's K-state ring"
//! parameter n = 5
//! parameter k = n
//! graph ring(n)
//! variable x: 0..k-1
//! process 0:
//!   bump: x = x[left] -> x := (x + 1) mod k
//! process others:
//!   copy: x != x[left] -> x := x[left]
//! legitimate: (count p in processes: enabled(p)) = 1
//! ```
//!
//! A file is parsed (`parse`), instantiated (`build`: parameters, graph and ranges become
//! constants) and compiled to tables (`model`), which the engines explore like any other
//! model. docs/research/protocols.md describes the language.

mod ast;
mod build;
pub(crate) mod built_in;
mod check;
mod export;
mod graph;
mod model;
mod node;
mod parse;
mod space;
#[cfg(feature = "symbolic")]
pub mod symbolic;
mod token;

pub use check::{Engine, check, check_with};
pub use export::{Language, NotExported, export};
pub use graph::Graph;
pub use model::Compiled;
pub use space::{Format, MAX_WRITTEN, UnknownFormat, write_space};

use num_bigint::BigUint;

use crate::Scheduler;
use node::Node;

/// An instance of a protocol file.
#[derive(Clone, Debug)]
pub struct Protocol {
    text: String,
    title: Option<String>,
    parameters: Vec<(String, i64)>,
    scheduler: Scheduler,
    graph: Graph,
    /// By process.
    variables: Vec<Variable>,
    given: Option<Node>,
    legitimate: Node,
    rules: Vec<Rule>,
    /// The actions of each process.
    processes: Vec<Vec<Action>>,
}

/// A variable of a process.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    process: usize,
    /// Ascending.
    domain: Vec<i32>,
    /// Whether its values 0 and 1 are false and true.
    truth: bool,
    /// Whether its value -1 is `none`.
    pointer: bool,
}

impl Variable {
    /// How many bits tell its values apart.
    #[cfg(feature = "symbolic")]
    fn bits(&self) -> u32 {
        usize::BITS - self.domain.len().saturating_sub(1).leading_zeros()
    }

    /// For other languages: `x_3`.
    fn flat_name(&self) -> String {
        format!("{}_{}", self.name, self.process)
    }
}

#[derive(Clone, Debug)]
struct Action {
    name: String,
    guard: Node,
    outcomes: Vec<Outcome>,
}

#[derive(Clone, Debug)]
struct Outcome {
    /// Numerator and denominator of its probability.
    chance: (u32, u32),
    assignments: Vec<(usize, Node)>,
    /// Where the assignments stand in the text.
    places: Vec<token::Place>,
}

/// A further property.
#[derive(Clone, Debug)]
struct Rule {
    name: String,
    /// Of every state, or of every legitimate one.
    everywhere: bool,
    holds: Node,
}

impl Protocol {
    /// The instance that a text describes, with some parameters set to other values.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, and where.
    pub fn parse(text: &str, settings: &[(String, i64)]) -> Result<Protocol, ProtocolError> {
        // A mark that some editors put before the text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        build::build(text, &parse::parse(text)?, settings)
    }

    /// Its title, if the file gives one.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The scheduler that the file names, or the default one.
    pub fn scheduler(&self) -> Scheduler {
        self.scheduler
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Whether some outcome is left to chance.
    pub fn is_random(&self) -> bool {
        let mut actions = self.processes.iter().flatten();
        actions.any(|action| action.outcomes.len() > 1)
    }

    /// Refuses a scheduler under which several processes may move at once where some process
    /// writes a variable of another.
    fn runs_under(&self, scheduler: Scheduler) -> Result<(), ProtocolError> {
        let Some(place) = self.writes_others() else {
            return Ok(());
        };
        if scheduler == Scheduler::Central {
            return Ok(());
        }
        Err(self.wrong_at(
            place,
            format!(
                "a process assigns to a variable of another here, so only one may move at a \
                 time: the scheduler must be central, not {scheduler}"
            ),
        ))
    }

    /// Where some process writes a variable of another.
    fn writes_others(&self) -> Option<token::Place> {
        let processes = self.processes.iter().enumerate();
        let mut written = processes.flat_map(|(process, actions)| {
            let outcomes = actions.iter().flat_map(|action| &action.outcomes);
            let assigned =
                outcomes.flat_map(|outcome| outcome.assignments.iter().zip(&outcome.places));
            assigned.map(move |((variable, _), place)| (process, *variable, *place))
        });
        let other =
            written.find(|&(process, variable, _)| self.variables[variable].process != process);
        other.map(|(.., place)| place)
    }

    /// The first assignment that a state allows and that leaves its variable's domain.
    fn leaves_domain(&self, values: &[i32]) -> Option<ProtocolError> {
        let processes = self.processes.iter().enumerate();
        let actions =
            processes.flat_map(|(process, actions)| actions.iter().map(move |one| (process, one)));
        for (process, action) in actions.filter(|(_, action)| action.guard.holds(values)) {
            for outcome in &action.outcomes {
                for ((variable, node), place) in outcome.assignments.iter().zip(&outcome.places) {
                    let (variable, value) = (&self.variables[*variable], node.value(values));
                    if variable.domain.binary_search(&value).is_err() {
                        let says = format!(
                            "`{}` of process {process} assigns {value} to `{}`, whose domain does \
                             not have it, in the state {}",
                            action.name,
                            variable.name,
                            self.show(values)
                        );
                        return Some(self.wrong_at(*place, says));
                    }
                }
            }
        }
        None
    }

    fn wrong_at(&self, place: token::Place, says: impl Into<String>) -> ProtocolError {
        ProtocolError::at(&self.text, place, says)
    }

    /// The text that it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many states the variables make, whether given or not.
    pub fn states(&self) -> BigUint {
        self.variables
            .iter()
            .map(|variable| variable.domain.len())
            .product()
    }

    /// "ring(5), n = 5, k = 5".
    pub fn instance(&self) -> String {
        let mut text = self.graph.says.clone();
        for (name, value) in &self.parameters {
            text.push_str(&format!(", {name} = {value}"));
        }
        text
    }

    /// The variables that a process's actions depend on, its own included; ascending.
    fn support(&self, process: usize) -> Vec<usize> {
        let mut support = Vec::new();
        for action in &self.processes[process] {
            action.guard.support(&mut support);
            for (variable, value) in action
                .outcomes
                .iter()
                .flat_map(|outcome| &outcome.assignments)
            {
                support.push(*variable);
                value.support(&mut support);
            }
        }
        support.sort_unstable();
        support.dedup();
        support
    }

    /// The least and the greatest value of every variable.
    fn bounds(&self) -> Vec<(i32, i32)> {
        let ends = |domain: &Vec<i32>| (domain[0], domain[domain.len() - 1]);
        self.variables
            .iter()
            .map(|variable| ends(&variable.domain))
            .collect()
    }

    /// The values by variable: "x 0 1 2".
    fn show(&self, values: &[i32]) -> String {
        let each = self.variables.len() / self.graph.len();
        let rows = (0..each).map(|row| {
            let mut text = self.variables[row].name.clone();
            for index in (row..self.variables.len()).step_by(each) {
                let variable = &self.variables[index];
                let cell = match values[index] {
                    value if variable.truth => if value == 1 { "T" } else { "F" }.to_owned(),
                    -1 if variable.pointer => "none".to_owned(),
                    value => value.to_string(),
                };
                text.push(' ');
                text.push_str(&cell);
            }
            text
        });
        rows.collect::<Vec<_>>().join("  ")
    }
}

/// What is wrong with a protocol file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {says}")]
pub struct ProtocolError {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub says: String,
}

impl ProtocolError {
    fn at(text: &str, place: usize, says: impl Into<String>) -> ProtocolError {
        let before = &text[..place.min(text.len())];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        ProtocolError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            says: says.into(),
        }
    }
}
