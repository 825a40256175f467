//! An instance compiled to tables.
//!
//! What a process can do depends on a few variables. For every combination of their
//! values, its moves are worked out once, as differences of rank; a state's moves are then
//! looked up. A rank is cut into *parts* of consecutive variables, and each part knows what
//! its values add to the index into every process's table: nothing is decoded.

use std::sync::OnceLock;

use super::build::MAX_VARIABLES;
use super::node::Node;
use super::{Action, Protocol, ProtocolError};
use crate::Domains;
use crate::error::Result;
use crate::traits::{Guarded, Model, Moves};

/// The most entries of a process's table; beyond, its actions are evaluated.
const MAX_ENTRIES: u64 = 1 << 18;
/// The most values of a part.
const MAX_PART: u64 = 1 << 12;

/// The values of all variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values([i32; MAX_VARIABLES]);

/// What a process may do in a state: one of these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    /// Which action of the process.
    pub(crate) action: u32,
    /// Its outcomes, as a range of [`Local::outcomes`].
    first: u32,
    last: u32,
}

/// What an action does to the rank, modulo 2^64, and with which probability. `None` where
/// it leaves a domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effect {
    pub(crate) difference: Option<u64>,
    pub(crate) chance: (u32, u32),
}

/// What one process can do.
#[derive(Clone, Debug, Default)]
struct Local {
    /// By the values of the variables it depends on: a range of `choices`. Empty if there
    /// would be too many.
    entries: Vec<(u32, u32)>,
    choices: Vec<Choice>,
    outcomes: Vec<Effect>,
}

/// Consecutive variables.
#[derive(Clone, Debug)]
struct Part {
    size: u64,
    variables: std::ops::Range<usize>,
    /// By value of the part: the values of its variables.
    values: Vec<i32>,
    /// By value of the part and process: what it adds to the process's index.
    indices: Vec<u32>,
}

/// A protocol instance, ready to be explored.
#[derive(Debug)]
pub struct Compiled<'a> {
    protocol: &'a Protocol,
    domains: Domains,
    weights: Vec<u64>,
    locals: Vec<Local>,
    parts: Vec<Part>,
    given: Option<Node>,
    legitimate: Node,
    neighbours: Vec<u64>,
    /// The first state found in which an action leaves a domain.
    left_domain: OnceLock<ProtocolError>,
}

impl<'a> Compiled<'a> {
    /// Compiles an instance.
    ///
    /// # Errors
    ///
    /// From 2^63 states on.
    pub fn new(protocol: &'a Protocol) -> Result<Compiled<'a>> {
        let sizes: Vec<u64> = protocol
            .variables
            .iter()
            .map(|v| v.domain.len() as u64)
            .collect();
        let domains = Domains::new(sizes.iter().copied())?;
        let weights = sizes.iter().scan(1, |weight, size| {
            let here = *weight;
            *weight *= size;
            Some(here)
        });
        let bounds = protocol.bounds();
        let graph = protocol.graph();
        let set = |process| {
            graph
                .neighbours(process)
                .iter()
                .fold(0, |set, &i| set | 1 << i)
        };
        let mut compiled = Compiled {
            weights: weights.collect(),
            domains,
            locals: Vec::new(),
            parts: Vec::new(),
            given: protocol
                .given
                .as_ref()
                .map(|given| given.tabulated(&bounds)),
            legitimate: protocol.legitimate.tabulated(&bounds),
            neighbours: (0..graph.len()).map(set).collect(),
            left_domain: OnceLock::new(),
            protocol,
        };
        let supports: Vec<Vec<usize>> = (0..graph.len())
            .map(|process| protocol.support(process))
            .collect();
        for (process, support) in supports.iter().enumerate() {
            let local = compiled.tabulate(process, support);
            compiled.locals.push(local);
        }
        compiled.parts = compiled.cut(&supports);
        Ok(compiled)
    }

    /// The instance.
    pub fn protocol(&self) -> &Protocol {
        self.protocol
    }

    fn tabulate(&self, process: usize, support: &[usize]) -> Local {
        let domain = |variable: usize| &self.protocol.variables[variable].domain;
        let sizes = support
            .iter()
            .map(|&variable| domain(variable).len() as u64);
        let entries = sizes.fold(1, u64::saturating_mul);
        let mut local = Local::default();
        if entries > MAX_ENTRIES {
            return local;
        }
        let mut values = [0; MAX_VARIABLES];
        for (variable, value) in values.iter_mut().enumerate().take(self.weights.len()) {
            *value = domain(variable)[0];
        }
        for index in 0..entries {
            let mut rest = index as usize;
            for &variable in support {
                let size = domain(variable).len();
                values[variable] = domain(variable)[rest % size];
                rest /= size;
            }
            let first = local.choices.len() as u32;
            self.choices(process, &values, &mut local);
            local.entries.push((first, local.choices.len() as u32));
        }
        local
    }

    /// Adds what a process may do.
    fn choices(&self, process: usize, values: &[i32], local: &mut Local) {
        let variables = &self.protocol.variables;
        for (index, action) in self.protocol.processes[process].iter().enumerate() {
            if !action.guard.holds(values) {
                continue;
            }
            let first = local.outcomes.len() as u32;
            for outcome in &action.outcomes {
                let mut difference = Some(0_u64);
                for (variable, node) in &outcome.assignments {
                    let domain = &variables[*variable].domain;
                    let place = |value: i32| domain.binary_search(&value).ok();
                    let (old, new) = (place(values[*variable]), place(node.value(values)));
                    difference = difference.zip(new).zip(old).map(|((sum, new), old)| {
                        let steps = (new as u64).wrapping_sub(old as u64);
                        sum.wrapping_add(self.weights[*variable].wrapping_mul(steps))
                    });
                }
                let chance = outcome.chance;
                local.outcomes.push(Effect { difference, chance });
            }
            let last = local.outcomes.len() as u32;
            local.choices.push(Choice {
                action: index as u32,
                first,
                last,
            });
        }
    }

    fn cut(&self, supports: &[Vec<usize>]) -> Vec<Part> {
        let variables = &self.protocol.variables;
        let mut parts: Vec<Part> = Vec::new();
        for (index, variable) in variables.iter().enumerate() {
            let size = variable.domain.len() as u64;
            match parts.last_mut() {
                Some(part) if part.size * size <= MAX_PART => {
                    part.size *= size;
                    part.variables.end = index + 1;
                }
                _ => parts.push(Part {
                    size,
                    variables: index..index + 1,
                    values: Vec::new(),
                    indices: Vec::new(),
                }),
            }
        }
        // By process and variable, what a step in its domain adds to the index.
        let strides = supports.iter().zip(&self.locals).map(|(support, local)| {
            let (mut strides, mut weight) = (vec![0; variables.len()], 1);
            for &variable in support.iter().filter(|_| !local.entries.is_empty()) {
                strides[variable] = weight;
                weight *= variables[variable].domain.len() as u32;
            }
            strides
        });
        let strides: Vec<Vec<u32>> = strides.collect();
        for part in &mut parts {
            for value in 0..part.size {
                let mut rest = value as usize;
                let mut indices = vec![0; strides.len()];
                for variable in part.variables.clone() {
                    let domain = &variables[variable].domain;
                    let digit = rest % domain.len();
                    rest /= domain.len();
                    part.values.push(domain[digit]);
                    for (index, strides) in indices.iter_mut().zip(&strides) {
                        *index += strides[variable] * digit as u32;
                    }
                }
                part.indices.extend(indices);
            }
        }
        parts
    }

    /// Calls `each` with every choice of every process, and its outcomes.
    pub(crate) fn each_choice(&self, rank: u64, mut each: impl FnMut(usize, Choice, &[Effect])) {
        let n = self.locals.len();
        let mut indices = [0_u32; 64];
        let mut rest = rank;
        for part in &self.parts {
            let value = (rest % part.size) as usize;
            rest /= part.size;
            for (index, more) in indices.iter_mut().zip(&part.indices[value * n..][..n]) {
                *index += more;
            }
        }
        for (process, local) in self.locals.iter().enumerate() {
            let mut evaluated = Local::default();
            let (local, (first, last)) = if local.entries.is_empty() {
                self.choices(process, &self.state(rank).0, &mut evaluated);
                let last = evaluated.choices.len() as u32;
                (&evaluated, (0, last))
            } else {
                (local, local.entries[indices[process] as usize])
            };
            for &choice in &local.choices[first as usize..last as usize] {
                let outcomes = &local.outcomes[choice.first as usize..choice.last as usize];
                if outcomes.iter().any(|outcome| outcome.difference.is_none()) {
                    self.left_domain.get_or_init(|| {
                        let left = self.protocol.leaves_domain(&self.state(rank).0);
                        left.expect("an assignment that leaves its domain")
                    });
                } else {
                    each(process, choice, outcomes);
                }
            }
        }
    }

    /// Whether the states met so far kept all variables within their domains, or one that
    /// did not.
    pub(super) fn kept_domains(&self) -> Result<()> {
        match self.left_domain.get() {
            None => Ok(()),
            Some(error) => Err(error.clone().into()),
        }
    }

    /// The action of a process by its place.
    pub(super) fn action(&self, process: usize, choice: u32) -> &Action {
        &self.protocol.processes[process][choice as usize]
    }
}

impl AsRef<[i32]> for Values {
    fn as_ref(&self) -> &[i32] {
        &self.0
    }
}

impl Model for Compiled<'_> {
    type State = Values;

    fn states(&self) -> u64 {
        self.domains.states()
    }

    fn state(&self, rank: u64) -> Values {
        let mut values = [0; MAX_VARIABLES];
        let mut rest = rank;
        for part in &self.parts {
            let width = part.variables.len();
            let from = (rest % part.size) as usize * width;
            values[part.variables.clone()].copy_from_slice(&part.values[from..from + width]);
            rest /= part.size;
        }
        Values(values)
    }

    fn rank(&self, state: &Values) -> u64 {
        let variables = self.protocol.variables.iter().zip(state.0);
        let places = variables.map(|(variable, value)| {
            variable
                .domain
                .binary_search(&value)
                .expect("a value of the domain") as u64
        });
        self.domains.rank(places)
    }

    fn legitimate(&self, state: &Values) -> bool {
        self.legitimate.holds(&state.0)
    }

    fn exists(&self, state: &Values) -> bool {
        self.given
            .as_ref()
            .is_none_or(|given| given.holds(&state.0))
    }

    fn show(&self, state: &Values) -> String {
        self.protocol.show(&state.0)
    }
}

impl Guarded for Compiled<'_> {
    fn processes(&self) -> usize {
        self.locals.len()
    }

    fn moves(&self, rank: u64, moves: &mut Moves) {
        moves.clear();
        self.each_choice(rank, |process, _, outcomes| {
            for outcome in outcomes {
                moves.add(process, outcome.difference.unwrap_or(0));
            }
        });
    }

    fn neighbours(&self, process: usize) -> u64 {
        self.neighbours[process]
    }

    fn step(&self, _: &Values, _: usize) -> Option<Values> {
        unreachable!("a process may have several moves; see `moves`")
    }
}
