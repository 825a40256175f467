//! A protocol file to an instance: parameters, graph, and every process's actions with
//! all names resolved.

use super::ast::{self, Binary, DomainPart, Expr, Fold, Folded, Kind, Range, Who};
use super::graph::Graph;
use super::node::{Many, Node};
use super::token::Place;
use super::{Action, Outcome, Protocol, ProtocolError, Rule, Variable};

type Result<T> = std::result::Result<T, ProtocolError>;

/// Definitions that use each other deeper than this are refused.
const MAX_DEPTH: usize = 50;
/// The most variables of an instance.
pub(crate) const MAX_VARIABLES: usize = 256;
/// The most values of a variable.
const MAX_VALUES: i64 = 256;
/// Expressions larger than this, with all ranges written out, are refused.
const MAX_NODES: usize = 1 << 20;

/// An expression and whether it is a truth value.
#[derive(Clone)]
struct Typed {
    node: Node,
    truth: bool,
}

pub(super) fn build(text: &str, file: &ast::File, settings: &[(String, i64)]) -> Result<Protocol> {
    let mut builder = Builder {
        text,
        file,
        graph: None,
        constants: Vec::new(),
        variables: Vec::new(),
        depth: std::cell::Cell::new(0),
        nodes: std::cell::Cell::new(0),
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
}

/// What names mean at some place.
#[derive(Clone, Default)]
struct Scope {
    process: Option<usize>,
    bound: Vec<(String, Typed)>,
    /// Within a guard, `enabled` would ask about itself.
    in_guard: bool,
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
                let built = Variable {
                    name: name.text.clone(),
                    process,
                    domain,
                    truth,
                };
                self.variables.push(built);
            }
        }
        Ok(())
    }

    fn domain(&self, variable: &ast::Variable, process: usize) -> Result<(Vec<i32>, bool)> {
        let scope = Scope {
            process: Some(process),
            ..Scope::default()
        };
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
        let given = Node::Many(Many::All, given.collect::<Result<_>>()?).folded();
        let processes = (0..graph.len()).map(|process| self.actions(process));
        let rules = file.properties.iter().map(|property| {
            Ok(Rule {
                name: property.name.text.clone(),
                everywhere: property.everywhere,
                holds: self.truth(&property.holds, &global)?,
            })
        });
        Ok(Protocol {
            title: file.title.clone(),
            parameters: self.constants.clone(),
            scheduler: file.scheduler,
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
        let scope = Scope {
            process: Some(process),
            ..Scope::default()
        };
        let (mut actions, mut named) = (Vec::new(), false);
        for block in &self.file.blocks {
            let mut scope = scope.clone();
            let applies = match &block.who {
                Who::All => true,
                Who::Others => false,
                Who::Listed(listed) => {
                    let mut found = false;
                    for expr in listed {
                        let number = self.constant(expr, &Scope::default())?;
                        let n = self.the_graph(expr.place)?.len();
                        if usize::try_from(number).is_ok_and(|number| number < n) {
                            found |= number as usize == process;
                        } else {
                            let says = format!("there is no process {number}, only 0 to {}", n - 1);
                            return self.wrong(expr.place, says);
                        }
                    }
                    named |= found;
                    found
                }
                Who::Where(name, condition) => {
                    scope.bound.push((name.clone(), number(process as i32)));
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
                scope.bound.push((name.clone(), number(member)));
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
                        Some(whose) => self.process(whose.place, self.constant(whose, &scope)?)?,
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
                        return self.wrong(
                            expr.place,
                            format!("`{}` is {}", name.text, kind(!value.truth)),
                        );
                    }
                    assignments.push((variable, as_number(value)));
                }
                Ok(Outcome {
                    chance,
                    assignments,
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

    /// A number that is known before anything runs.
    fn constant(&self, expr: &Expr, scope: &Scope) -> Result<i32> {
        match self.typed(expr, scope)?.node {
            Node::Number(number) => Ok(number),
            _ => self.wrong(
                expr.place,
                "this must be a number that does not depend on the state",
            ),
        }
    }

    fn truth(&self, expr: &Expr, scope: &Scope) -> Result<Node> {
        match self.typed(expr, scope)? {
            Typed { node, truth: true } => Ok(node),
            _ => self.wrong(expr.place, "expected true or false, found a number"),
        }
    }

    fn number(&self, expr: &Expr, scope: &Scope) -> Result<Node> {
        match self.typed(expr, scope)? {
            Typed { node, truth: false } => Ok(node),
            _ => self.wrong(expr.place, "expected a number, found true or false"),
        }
    }

    fn typed(&self, expr: &Expr, scope: &Scope) -> Result<Typed> {
        self.nodes.set(self.nodes.get() + 1);
        if self.nodes.get() > MAX_NODES {
            return self.wrong(expr.place, "too much, with all ranges written out");
        }
        let place = expr.place;
        let found = match &expr.kind {
            Kind::Number(value) => match i32::try_from(*value) {
                Ok(value) => number(value),
                Err(_) => return self.wrong(place, format!("{value} is above 2^31")),
            },
            Kind::Bool(value) => truth(Node::Bool(*value)),
            Kind::Name(name) => self.named(place, name, scope)?,
            Kind::Of(name, whose) => self.variable_of(place, name, whose, scope)?,
            Kind::Call(name, arguments) => self.call(place, name, arguments, scope)?,
            Kind::Not(inner) => truth(Node::Not(Box::new(self.truth(inner, scope)?)).folded()),
            Kind::Minus(inner) => {
                let inner = self.number(inner, scope)?;
                binary(Binary::Subtract, Node::Number(0), inner)
            }
            Kind::Binary(operator, a, b) => self.binary(*operator, a, b, scope)?,
            Kind::If(parts) => {
                let condition = self.truth(&parts[0], scope)?;
                let (yes, no) = (self.typed(&parts[1], scope)?, self.typed(&parts[2], scope)?);
                if yes.truth != no.truth {
                    return self.wrong(parts[2].place, "one side is a number, the other is not");
                }
                Typed {
                    node: Node::If(Box::new([condition, yes.node, no.node])).folded(),
                    truth: yes.truth,
                }
            }
            Kind::Fold(folded) => self.fold(place, folded, scope)?,
        };
        Ok(found)
    }

    fn binary(&self, operator: Binary, a: &Expr, b: &Expr, scope: &Scope) -> Result<Typed> {
        match operator {
            Binary::Or | Binary::And => {
                let (a, b) = (self.truth(a, scope)?, self.truth(b, scope)?);
                Ok(truth(
                    Node::Binary(operator, Box::new(a), Box::new(b)).folded(),
                ))
            }
            Binary::Equal | Binary::Unequal => {
                let (x, y) = (self.typed(a, scope)?, self.typed(b, scope)?);
                if x.truth != y.truth {
                    return self.wrong(b.place, "one side is a number, the other is not");
                }
                Ok(binary(operator, as_number(x), as_number(y)))
            }
            _ => {
                let (x, y) = (self.number(a, scope)?, self.number(b, scope)?);
                let divides = matches!(operator, Binary::Div | Binary::Mod);
                if divides && !matches!(y, Node::Number(divisor) if divisor > 0) {
                    return self.wrong(b.place, "the divisor must be a constant above 0");
                }
                Ok(binary(operator, x, y))
            }
        }
    }

    fn named(&self, place: Place, name: &str, scope: &Scope) -> Result<Typed> {
        if let Some((_, value)) = scope.bound.iter().rev().find(|(bound, _)| bound == name) {
            return Ok(value.clone());
        }
        if let Some((_, value)) = self.constants.iter().find(|(known, _)| known == name) {
            return match i32::try_from(*value) {
                Ok(value) => Ok(number(value)),
                Err(_) => self.wrong(place, format!("{value} is above 2^31")),
            };
        }
        if self
            .file
            .definitions
            .iter()
            .any(|found| found.name.text == name)
        {
            return self.call(place, name, &[], scope);
        }
        let named = self.graph.as_ref().and_then(|graph| {
            let found = graph.named(name, scope.process.unwrap_or(0))?;
            Some(found.ok_or(format!(
                "process {} has no `{name}`",
                scope.process.unwrap_or(0)
            )))
        });
        let variable = self.variable(name, 0).is_some();
        let Some(process) = scope.process else {
            if name == "self" || named.is_some() || variable {
                let says =
                    format!("`{name}` of which process? write `{name}[p]`, or say it for all p");
                return self.wrong(place, says);
            }
            return self.unknown(place, name);
        };
        match (name, named) {
            ("self", _) => Ok(number(process as i32)),
            (_, Some(Ok(other))) => Ok(number(other as i32)),
            (_, Some(Err(says))) => self.wrong(place, says),
            _ => match self.variable(name, process) {
                Some(index) if !self.variables.is_empty() => Ok(self.read(index)),
                _ => self.unknown(place, name),
            },
        }
    }

    fn unknown<T>(&self, place: Place, name: &str) -> Result<T> {
        self.wrong(place, format!("`{name}` is not known here"))
    }

    /// The value of a variable.
    fn read(&self, index: usize) -> Typed {
        if self.variables[index].truth {
            return binary(Binary::Equal, Node::Variable(index), Node::Number(1));
        }
        Typed {
            node: Node::Variable(index),
            truth: false,
        }
    }

    fn process(&self, place: Place, number: i32) -> Result<usize> {
        let n = self.the_graph(place)?.len();
        match usize::try_from(number) {
            Ok(process) if process < n => Ok(process),
            _ => self.wrong(
                place,
                format!("there is no process {number}, only 0 to {}", n - 1),
            ),
        }
    }

    fn variable_of(&self, place: Place, name: &str, whose: &Expr, scope: &Scope) -> Result<Typed> {
        if self.variable(name, 0).is_none() || self.variables.is_empty() {
            return self.wrong(place, format!("there is no variable `{name}`"));
        }
        let whose_place = whose.place;
        let whose = self.number(whose, scope)?;
        let of = |process: usize| self.variable(name, process).expect("found for process 0");
        let pointed = match &whose {
            Node::Number(process) => return Ok(self.read(of(self.process(whose_place, *process)?))),
            Node::Variable(pointer) => self.variables[*pointer].domain.clone(),
            _ => (0..self.the_graph(place)?.len() as i32).collect(),
        };
        // Through a pointer: a value for each process that it can point to. What points to
        // no process reads a value that no variable has.
        let all = self
            .variables
            .iter()
            .filter(|variable| variable.name == name);
        let nothing = all.map(|variable| variable.domain[0]).min().unwrap_or(0) - 1;
        let mut chosen = Node::Number(nothing);
        for number in pointed.into_iter().rev() {
            if let Ok(process) = self.process(whose_place, number) {
                let here = binary(Binary::Equal, whose.clone(), Node::Number(number)).node;
                chosen = Node::If(Box::new([here, Node::Variable(of(process)), chosen])).folded();
            }
        }
        if self.variables[of(0)].truth {
            return Ok(binary(Binary::Equal, chosen, Node::Number(1)));
        }
        Ok(Typed {
            node: chosen,
            truth: false,
        })
    }

    fn call(&self, place: Place, name: &str, arguments: &[Expr], scope: &Scope) -> Result<Typed> {
        let many = match name {
            "min" => Some(Many::Min),
            "max" => Some(Many::Max),
            _ => None,
        };
        if let Some(many) = many {
            let all = arguments
                .iter()
                .map(|argument| self.number(argument, scope));
            let node = Node::Many(many, all.collect::<Result<_>>()?).folded();
            return Ok(Typed { node, truth: false });
        }
        if let ("abs", [argument]) = (name, arguments) {
            let value = self.number(argument, scope)?;
            let minus = binary(Binary::Subtract, Node::Number(0), value.clone()).node;
            let node = Node::Many(Many::Max, vec![value, minus]).folded();
            return Ok(Typed { node, truth: false });
        }
        if let ("distance", [a, b]) = (name, arguments) {
            let end = |expr: &Expr| self.process(expr.place, self.constant(expr, scope)?);
            let hops = self.the_graph(place)?.distance(end(a)?, end(b)?);
            return Ok(number(hops as i32));
        }
        if let ("enabled", [argument]) = (name, arguments) {
            if scope.in_guard {
                return self.wrong(place, "`enabled` within a guard would ask about itself");
            }
            let process = self.constant(argument, scope)?;
            let process = self.process(argument.place, process)?;
            let actions = self.actions_of(process)?;
            let guards = actions
                .iter()
                .map(|(action, scope)| self.guard(action, scope));
            let node = Node::Many(Many::Any, guards.collect::<Result<_>>()?).folded();
            return Ok(truth(node));
        }
        let found = self
            .file
            .definitions
            .iter()
            .find(|found| found.name.text == name);
        let Some(definition) = found else {
            return self.wrong(place, format!("there is no definition `{name}`"));
        };
        if definition.arguments.len() != arguments.len() {
            let wanted = definition.arguments.len();
            return self.wrong(
                place,
                format!("`{name}` takes {wanted} arguments, not {}", arguments.len()),
            );
        }
        let values = arguments.iter().map(|argument| self.typed(argument, scope));
        let values = values.collect::<Result<Vec<_>>>()?;
        let inner = Scope {
            bound: definition.arguments.iter().cloned().zip(values).collect(),
            ..scope.clone()
        };
        if self.depth.get() > MAX_DEPTH {
            return self.wrong(place, format!("`{name}` is defined by itself"));
        }
        self.depth.set(self.depth.get() + 1);
        let value = self.typed(&definition.body, &inner);
        self.depth.set(self.depth.get() - 1);
        value
    }

    fn members(&self, place: Place, range: &Range, scope: &Scope) -> Result<Vec<i32>> {
        Ok(match range {
            Range::Processes => (0..self.the_graph(place)?.len() as i32).collect(),
            Range::Neighbours(whose) => {
                let process = match (whose, scope.process) {
                    (Some(whose), _) => {
                        let number = self.constant(whose, scope)?;
                        self.process(whose.place, number)?
                    }
                    (None, Some(process)) => process,
                    (None, None) => {
                        return self.wrong(
                            place,
                            "`neighbours` of which process? write `neighbours(p)`",
                        );
                    }
                };
                let all = self.the_graph(place)?.neighbours(process);
                all.iter().map(|&neighbour| neighbour as i32).collect()
            }
            Range::Between(first, last) => {
                let (a, b) = (self.constant(first, scope)?, self.constant(last, scope)?);
                (a..=b).take(MAX_NODES).collect()
            }
        })
    }

    fn fold(&self, place: Place, folded: &Folded, scope: &Scope) -> Result<Typed> {
        let members = self.members(place, &folded.range, scope)?;
        let fold = folded.fold;
        let mut nodes = Vec::new();
        for member in members {
            let mut inner = scope.clone();
            inner.bound.push((folded.name.clone(), number(member)));
            let filter = match &folded.filter {
                Some(filter) => self.truth(filter, &inner)?,
                None => Node::Bool(true),
            };
            if filter == Node::Bool(false) {
                continue;
            }
            let body = match fold {
                Fold::All | Fold::Any | Fold::Count => self.truth(&folded.body, &inner)?,
                Fold::Sum | Fold::Min | Fold::Max => self.number(&folded.body, &inner)?,
            };
            let join = |operator, a, b| Node::Binary(operator, Box::new(a), Box::new(b)).folded();
            nodes.push(match fold {
                Fold::All => join(Binary::Or, Node::Not(Box::new(filter)).folded(), body),
                Fold::Any => join(Binary::And, filter, body),
                Fold::Count => as_number(truth(join(Binary::And, filter, body))),
                Fold::Sum => Node::If(Box::new([filter, body, Node::Number(0)])).folded(),
                Fold::Min | Fold::Max if filter == Node::Bool(true) => body,
                Fold::Min | Fold::Max => {
                    return self.wrong(
                        place,
                        "what `where` leaves for `min` and `max` must not depend on the state",
                    );
                }
            });
        }
        let many = match fold {
            Fold::All => Many::All,
            Fold::Any => Many::Any,
            Fold::Count | Fold::Sum => Many::Sum,
            Fold::Min => Many::Min,
            Fold::Max => Many::Max,
        };
        if nodes.is_empty() && matches!(many, Many::Min | Many::Max) {
            return self.wrong(place, "`min` or `max` of nothing");
        }
        Ok(Typed {
            node: Node::Many(many, nodes).folded(),
            truth: matches!(fold, Fold::All | Fold::Any),
        })
    }
}

fn number(value: i32) -> Typed {
    Typed {
        node: Node::Number(value),
        truth: false,
    }
}

fn truth(node: Node) -> Typed {
    Typed { node, truth: true }
}

fn kind(truth: bool) -> &'static str {
    if truth { "true or false" } else { "a number" }
}

fn binary(operator: Binary, a: Node, b: Node) -> Typed {
    Typed {
        node: Node::Binary(operator, Box::new(a), Box::new(b)).folded(),
        truth: matches!(
            operator,
            Binary::Equal | Binary::Unequal | Binary::Less | Binary::AtMost
        ),
    }
}

/// A truth value as 0 or 1.
fn as_number(typed: Typed) -> Node {
    if !typed.truth {
        return typed.node;
    }
    Node::If(Box::new([typed.node, Node::Number(1), Node::Number(0)])).folded()
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
