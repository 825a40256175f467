//! A protocol file to an instance: parameters, graph, and every process's actions with
//! all names resolved.

use std::rc::Rc;

use super::ast::{self, DomainPart, Expr, Who};
use super::graph::Graph;
use super::node::{Many, Node};
use super::token::Place;
use super::{Action, Outcome, Protocol, ProtocolError, Rule, Variable};

mod expression;
mod limits;

use expression::{Scope, as_number, number};

type Result<T> = std::result::Result<T, ProtocolError>;

/// The most variables of an instance.
pub(crate) const MAX_VARIABLES: usize = 256;
/// The most values of a variable.
const MAX_VALUES: i64 = 256;
/// The largest value of a variable.
const MAX_VALUE: u32 = 1 << 29;

pub(super) fn build(text: &str, file: &ast::File, settings: &[(String, i64)]) -> Result<Protocol> {
    let mut builder = Builder {
        text,
        file,
        graph: None,
        constants: Vec::new(),
        variables: Vec::new(),
        depth: std::cell::Cell::new(0),
        nodes: std::cell::Cell::new(0),
        level: std::cell::Cell::new(0),
    };
    builder.parameters(settings)?;
    builder.graph()?;
    builder.variables()?;
    builder.protocol()
}

struct Builder<'a> {
    text: &'a str,
    file: &'a ast::File,
    graph: Option<Graph>,
    constants: Vec<(String, i64)>,
    /// By process, then in the order of the file.
    variables: Vec<Variable>,
    depth: std::cell::Cell<usize>,
    nodes: std::cell::Cell<usize>,
    level: std::cell::Cell<usize>,
}

impl Builder<'_> {
    fn wrong<T>(&self, place: Place, says: impl Into<String>) -> Result<T> {
        Err(ProtocolError::at(self.text, place, says))
    }

    fn parameters(&mut self, settings: &[(String, i64)]) -> Result<()> {
        for (name, value) in &self.file.parameters {
            if self.constants.iter().any(|(known, _)| *known == name.text) {
                return self.wrong(name.place, format!("a second parameter `{}`", name.text));
            }
            let set = settings.iter().rev().find(|(set, _)| *set == name.text);
            let value = match set {
                Some((_, value)) => *value,
                None => self.constant(value, &Scope::default())?.into(),
            };
            self.constants.push((name.text.clone(), value));
        }
        let unknown =
            |(name, _): &&(String, i64)| self.constants.iter().all(|(known, _)| known != name);
        if let Some((name, _)) = settings.iter().find(unknown) {
            let known: Vec<&str> = self
                .constants
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            let says = format!("there is no parameter `{name}` to set; there are: {known}");
            return self.wrong(0, says);
        }
        Ok(())
    }

    fn graph(&mut self) -> Result<()> {
        let scope = Scope::default();
        let built = match &self.file.graph {
            None => {
                return self.wrong(
                    self.text.len(),
                    "there is no `graph`, such as `graph ring(5)`",
                );
            }
            Some(ast::Graph::Generated(name, sizes)) => {
                let sizes: Result<Vec<i64>> = sizes
                    .iter()
                    .map(|size| Ok(self.constant(size, &scope)?.into()))
                    .collect();
                Graph::generated(&name.text, &sizes?).map_err(|says| (name.place, says))
            }
            Some(ast::Graph::Edges(processes, edges)) => {
                let number = |expr: &Expr| -> Result<usize> {
                    Ok(usize::try_from(self.constant(expr, &scope)?).unwrap_or(usize::MAX))
                };
                let count = number(processes)?;
                let edges: Result<Vec<_>> = edges
                    .iter()
                    .map(|(a, b)| Ok((number(a)?, number(b)?)))
                    .collect();
                Graph::new(count, &edges?).map_err(|says| (processes.place, says))
            }
        };
        match built {
            Ok(graph) => self.graph = Some(graph),
            Err((place, says)) => return self.wrong(place, says),
        }
        Ok(())
    }

    fn the_graph(&self, place: Place) -> Result<&Graph> {
        match &self.graph {
            Some(graph) => Ok(graph),
            None => self.wrong(place, "parameters and sizes cannot refer to processes"),
        }
    }

    fn variables(&mut self) -> Result<()> {
        let file = self.file;
        if file.variables.is_empty() {
            return self.wrong(self.text.len(), "there is no `variable`");
        }
        let processes = self.the_graph(0)?.len();
        if processes * file.variables.len() > MAX_VARIABLES {
            let place = file.variables[0].name.place;
            return self.wrong(place, format!("more than {MAX_VARIABLES} variables in all"));
        }
        // They are known all at once, in the end: no domain may speak of a variable.
        let mut variables = Vec::with_capacity(processes * file.variables.len());
        for process in 0..processes {
            for (index, variable) in file.variables.iter().enumerate() {
                let name = &variable.name;
                if file.variables[..index]
                    .iter()
                    .any(|other| other.name.text == name.text)
                {
                    return self.wrong(name.place, format!("a second variable `{}`", name.text));
                }
                let (domain, truth) = self.domain(variable, process)?;
                let mut parts = variable.domain.iter();
                let built = Variable {
                    name: name.text.clone(),
                    process,
                    domain,
                    truth,
                    pointer: parts.any(|part| matches!(part, DomainPart::Neighbours)),
                };
                variables.push(built);
            }
        }
        self.variables = variables;
        Ok(())
    }

    fn domain(&self, variable: &ast::Variable, process: usize) -> Result<(Vec<i32>, bool)> {
        let scope = Scope::of(process);
        let place = variable.name.place;
        let mut values: Vec<i32> = Vec::new();
        let mut truth = false;
        for part in &variable.domain {
            match part {
                DomainPart::Bool if variable.domain.len() == 1 => {
                    truth = true;
                    values.extend([0, 1]);
                }
                DomainPart::Bool => return self.wrong(place, "`bool` is a domain by itself"),
                DomainPart::Neighbours => {
                    let all = self.the_graph(place)?.neighbours(process);
                    values.extend(all.iter().map(|&neighbour| neighbour as i32));
                }
                DomainPart::One(expr) => values.push(self.constant(expr, &scope)?),
                DomainPart::Between(first, last) => {
                    let (a, b) = (self.constant(first, &scope)?, self.constant(last, &scope)?);
                    if a > b || i64::from(b) - i64::from(a) >= MAX_VALUES {
                        let says = format!("{a}..{b} has not 1 to {MAX_VALUES} values");
                        return self.wrong(first.place, says);
                    }
                    values.extend(a..=b);
                }
            }
        }
        values.sort_unstable();
        values.dedup();
        if let Some(far) = values.iter().find(|value| value.unsigned_abs() > MAX_VALUE) {
            let says = format!("{far} is not between -{MAX_VALUE} and {MAX_VALUE}");
            return self.wrong(place, says);
        }
        if values.is_empty() || values.len() as i64 > MAX_VALUES {
            let says = format!("`{}` has not 1 to {MAX_VALUES} values", variable.name.text);
            return self.wrong(place, says);
        }
        Ok((values, truth))
    }

    fn protocol(&self) -> Result<Protocol> {
        let file = self.file;
        let graph = self.the_graph(0)?;
        let global = Scope::default();
        let Some(legitimate) = &file.legitimate else {
            return self.wrong(self.text.len(), "there is no `legitimate`");
        };
        let given = file.given.iter().map(|given| self.truth(given, &global));
        let given = Node::many(Many::All, given.collect::<Result<_>>()?);
        let processes = (0..graph.len()).map(|process| self.actions(process));
        let rules = file.properties.iter().map(|property| {
            Ok(Rule {
                name: property.name.text.clone(),
                everywhere: property.everywhere,
                holds: self.truth(&property.holds, &global)?,
            })
        });
        Ok(Protocol {
            text: self.text.to_owned(),
            title: file.title.clone(),
            parameters: self.constants.clone(),
            scheduler: file.scheduler.unwrap_or_default(),
            graph: graph.clone(),
            given: (given != Node::Bool(true)).then_some(given),
            legitimate: self.truth(legitimate, &global)?,
            rules: rules.collect::<Result<_>>()?,
            processes: processes.collect::<Result<_>>()?,
            variables: self.variables.clone(),
        })
    }

    /// The actions of a process, from every block that is about it.
    fn actions_of(&self, process: usize) -> Result<Vec<(&ast::Action, Scope)>> {
        let scope = Scope::of(process);
        let (mut actions, mut named) = (Vec::new(), false);
        for block in &self.file.blocks {
            let mut scope = scope.clone();
            let applies = match &block.who {
                Who::All => true,
                Who::Others => false,
                Who::Listed(listed) => {
                    let mut found = false;
                    for expr in listed {
                        found |= self.numbered(expr, &Scope::default())? == process;
                    }
                    named |= found;
                    found
                }
                Who::Where(name, condition) => {
                    scope
                        .bound
                        .push((name.clone(), Rc::new(number(process as i32))));
                    let Node::Bool(found) = self.truth(condition, &scope)? else {
                        return self.wrong(condition.place, "this must not depend on the state");
                    };
                    named |= found;
                    found
                }
            };
            if applies {
                self.each_action(block, &scope, &mut actions)?;
            }
        }
        for block in &self.file.blocks {
            if matches!(block.who, Who::Others) && !named {
                self.each_action(block, &scope, &mut actions)?;
            }
        }
        Ok(actions)
    }

    /// Adds the actions of a block, one for each member of their ranges.
    fn each_action<'b>(
        &self,
        block: &'b ast::Block,
        scope: &Scope,
        actions: &mut Vec<(&'b ast::Action, Scope)>,
    ) -> Result<()> {
        for action in &block.actions {
            let Some((name, range)) = &action.each else {
                actions.push((action, scope.clone()));
                continue;
            };
            for member in self.members(action.name.place, range, scope)? {
                let mut scope = scope.clone();
                scope.bound.push((name.clone(), Rc::new(number(member))));
                actions.push((action, scope));
            }
        }
        Ok(())
    }

    fn guard(&self, action: &ast::Action, scope: &Scope) -> Result<Node> {
        let scope = Scope {
            in_guard: true,
            ..scope.clone()
        };
        self.truth(&action.guard, &scope)
    }

    fn actions(&self, process: usize) -> Result<Vec<Action>> {
        let actions = self.actions_of(process)?;
        let built = actions.into_iter().map(|(action, scope)| {
            let outcomes = action.outcomes.iter().map(|outcome| {
                let chance = match &outcome.chance {
                    None if action.outcomes.len() > 1 => {
                        let says = "one of several outcomes needs a probability, such as `1/2:`";
                        return self.wrong(action.name.place, says);
                    }
                    None => (1, 1),
                    Some((a, b)) => {
                        let (p, q) = (self.constant(a, &scope)?, self.constant(b, &scope)?);
                        if p <= 0 || q < p {
                            return self
                                .wrong(a.place, format!("{p}/{q} is no probability above 0"));
                        }
                        (p as u32, q as u32)
                    }
                };
                let mut assignments: Vec<(usize, Node)> = Vec::new();
                for (name, whose, expr) in &outcome.assignments {
                    let process = match whose {
                        Some(whose) => self.numbered(whose, &scope)?,
                        None => process,
                    };
                    let Some(variable) = self.variable(&name.text, process) else {
                        return self
                            .wrong(name.place, format!("there is no variable `{}`", name.text));
                    };
                    if assignments.iter().any(|(other, _)| *other == variable) {
                        return self
                            .wrong(name.place, format!("`{}` is assigned twice", name.text));
                    }
                    let value = self.typed(expr, &scope)?;
                    if value.truth != self.variables[variable].truth {
                        let kind = if value.truth {
                            "a number"
                        } else {
                            "true or false"
                        };
                        return self.wrong(expr.place, format!("`{}` is {kind}", name.text));
                    }
                    assignments.push((variable, as_number(value)));
                }
                let places = outcome.assignments.iter().map(|(name, ..)| name.place);
                Ok(Outcome {
                    chance,
                    assignments,
                    places: places.collect(),
                })
            });
            let outcomes: Vec<Outcome> = outcomes.collect::<Result<_>>()?;
            if !sum_is_one(&outcomes) {
                let says = format!(
                    "the probabilities of `{}` do not add up to 1",
                    action.name.text
                );
                return self.wrong(action.name.place, says);
            }
            Ok(Action {
                name: action.name.text.clone(),
                guard: self.guard(action, &scope)?,
                outcomes,
            })
        });
        built.collect()
    }

    fn variable(&self, name: &str, process: usize) -> Option<usize> {
        let each = self.file.variables.len();
        let index = self
            .file
            .variables
            .iter()
            .position(|found| found.name.text == name)?;
        Some(process * each + index)
    }
}

fn sum_is_one(outcomes: &[Outcome]) -> bool {
    use num_bigint::BigUint;
    let product: BigUint = outcomes.iter().map(|outcome| outcome.chance.1).product();
    let sum: BigUint = outcomes
        .iter()
        .map(|outcome| &product / outcome.chance.1 * outcome.chance.0)
        .sum();
    sum == product
}
