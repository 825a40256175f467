//! What expressions of a protocol file mean: names, ranges and definitions resolved.

use std::rc::Rc;

use super::super::ast::{self, Binary, Expr, Fold, Folded, Kind, Range};
use super::super::node::{Many, Node};
use super::super::token::Place;
use super::{Builder, Result};

/// Definitions that use each other deeper than this are refused.
const MAX_DEPTH: usize = 50;
/// The most members of a range: more than any expression can have.
const MAX_MEMBERS: usize = 1 << 20;

/// An expression and whether it is a truth value.
pub(super) struct Typed {
    pub(super) node: Node,
    pub(super) truth: bool,
}

/// What names mean at some place.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub(super) process: Option<usize>,
    pub(super) bound: Vec<(String, Rc<Typed>)>,
    /// Within a guard, `enabled` would ask about itself.
    pub(super) in_guard: bool,
}

impl Scope {
    /// Within what is about a process.
    pub(super) fn of(process: usize) -> Scope {
        Scope {
            process: Some(process),
            ..Scope::default()
        }
    }
}

impl Builder<'_> {
    /// A number that is known before anything runs.
    pub(super) fn constant(&self, expr: &Expr, scope: &Scope) -> Result<i32> {
        match self.typed(expr, scope)?.node {
            Node::Number(number) => Ok(number),
            _ => self.wrong(
                expr.place,
                "this must be a number that does not depend on the state",
            ),
        }
    }

    pub(super) fn truth(&self, expr: &Expr, scope: &Scope) -> Result<Node> {
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

    pub(super) fn typed(&self, expr: &Expr, scope: &Scope) -> Result<Typed> {
        self.within(expr.place, || self.meaning(expr, scope))
    }

    fn meaning(&self, expr: &Expr, scope: &Scope) -> Result<Typed> {
        let place = expr.place;
        let found = match &expr.kind {
            Kind::Number(value) => self.literal(place, *value)?,
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
                    node: Node::choice(condition, yes.node, no.node),
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
                Ok(truth(Node::binary(operator, a, b)))
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
            let (node, truth) = (self.copy(place, &value.node)?, value.truth);
            return Ok(Typed { node, truth });
        }
        if let Some((_, value)) = self.constants.iter().find(|(known, _)| known == name) {
            return self.literal(place, *value);
        }
        if self.definition(name).is_some() {
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
                Some(_) if self.variables.is_empty() => self.not_in_a_domain(place, name),
                Some(index) => Ok(self.read(index)),
                None => self.unknown(place, name),
            },
        }
    }

    fn literal(&self, place: Place, value: i64) -> Result<Typed> {
        match i32::try_from(value) {
            Ok(value) => Ok(number(value)),
            Err(_) => self.wrong(place, format!("{value} is above 2^31")),
        }
    }

    fn definition(&self, name: &str) -> Option<&ast::Definition> {
        let mut definitions = self.file.definitions.iter();
        definitions.find(|found| found.name.text == name)
    }

    fn unknown<T>(&self, place: Place, name: &str) -> Result<T> {
        self.wrong(place, format!("unknown name `{name}`"))
    }

    /// Variables are not known before all their domains are.
    fn not_in_a_domain<T>(&self, place: Place, name: &str) -> Result<T> {
        let says = format!("`{name}` is a variable; graphs and domains have only constants");
        self.wrong(place, says)
    }

    /// The value of a variable.
    fn read(&self, index: usize) -> Typed {
        if self.variables[index].truth {
            return binary(Binary::Equal, Node::Variable(index), Node::Number(1));
        }
        numeric(Node::Variable(index))
    }

    /// The process whose number an expression is.
    pub(super) fn numbered(&self, expr: &Expr, scope: &Scope) -> Result<usize> {
        self.process(expr.place, self.constant(expr, scope)?)
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
        if self.variable(name, 0).is_none() {
            return self.wrong(place, format!("there is no variable `{name}`"));
        }
        if self.variables.is_empty() {
            return self.not_in_a_domain(place, name);
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
                let pointer = self.copy(place, &whose)?;
                let here = binary(Binary::Equal, pointer, Node::Number(number)).node;
                chosen = Node::choice(here, Node::Variable(of(process)), chosen);
            }
        }
        self.count(place, 0, chosen.extent().1)?;
        if self.variables[of(0)].truth {
            return Ok(binary(Binary::Equal, chosen, Node::Number(1)));
        }
        Ok(numeric(chosen))
    }

    fn call(&self, place: Place, name: &str, arguments: &[Expr], scope: &Scope) -> Result<Typed> {
        if let "min" | "max" = name {
            let many = if name == "min" { Many::Min } else { Many::Max };
            let all = arguments
                .iter()
                .map(|argument| self.number(argument, scope));
            return Ok(numeric(Node::many(many, all.collect::<Result<_>>()?)));
        }
        if let ("abs", [argument]) = (name, arguments) {
            let value = self.number(argument, scope)?;
            let copy = self.copy(place, &value)?;
            let minus = binary(Binary::Subtract, Node::Number(0), copy).node;
            return Ok(numeric(Node::many(Many::Max, vec![value, minus])));
        }
        if let ("distance", [a, b]) = (name, arguments) {
            let (a, b) = (self.numbered(a, scope)?, self.numbered(b, scope)?);
            let hops = self.the_graph(place)?.distance(a, b);
            return Ok(number(hops as i32));
        }
        if let ("enabled", [argument]) = (name, arguments) {
            if scope.in_guard {
                return self.wrong(place, "`enabled` within a guard would ask about itself");
            }
            let actions = self.actions_of(self.numbered(argument, scope)?)?;
            let guards = actions
                .iter()
                .map(|(action, scope)| self.guard(action, scope));
            let node = Node::many(Many::Any, guards.collect::<Result<_>>()?);
            return Ok(truth(node));
        }
        let Some(definition) = self.definition(name) else {
            return self.wrong(place, format!("there is no definition `{name}`"));
        };
        if definition.arguments.len() != arguments.len() {
            let wanted = definition.arguments.len();
            return self.wrong(
                place,
                format!("`{name}` takes {wanted} arguments, not {}", arguments.len()),
            );
        }
        let values = arguments
            .iter()
            .map(|argument| Ok(Rc::new(self.typed(argument, scope)?)));
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

    pub(super) fn members(&self, place: Place, range: &Range, scope: &Scope) -> Result<Vec<i32>> {
        Ok(match range {
            Range::Processes => (0..self.the_graph(place)?.len() as i32).collect(),
            Range::Neighbours(whose) => {
                let process = match (whose, scope.process) {
                    (Some(whose), _) => self.numbered(whose, scope)?,
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
                if i64::from(b) - i64::from(a) >= MAX_MEMBERS as i64 {
                    return self.wrong(place, format!("{a}..{b} is too long a range"));
                }
                (a..=b).collect()
            }
        })
    }

    fn fold(&self, place: Place, folded: &Folded, scope: &Scope) -> Result<Typed> {
        let members = self.members(place, &folded.range, scope)?;
        let fold = folded.fold;
        let mut nodes = Vec::new();
        for member in members {
            let mut inner = scope.clone();
            inner
                .bound
                .push((folded.name.clone(), Rc::new(number(member))));
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
            nodes.push(match fold {
                Fold::All => Node::binary(Binary::Or, Node::Not(Box::new(filter)).folded(), body),
                Fold::Any => Node::binary(Binary::And, filter, body),
                Fold::Count => as_number(truth(Node::binary(Binary::And, filter, body))),
                Fold::Sum => Node::choice(filter, body, Node::Number(0)),
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
            node: Node::many(many, nodes),
            truth: matches!(fold, Fold::All | Fold::Any),
        })
    }
}

pub(super) fn number(value: i32) -> Typed {
    numeric(Node::Number(value))
}

fn numeric(node: Node) -> Typed {
    Typed { node, truth: false }
}

fn truth(node: Node) -> Typed {
    Typed { node, truth: true }
}

fn binary(operator: Binary, a: Node, b: Node) -> Typed {
    Typed {
        node: Node::binary(operator, a, b),
        truth: matches!(
            operator,
            Binary::Equal | Binary::Unequal | Binary::Less | Binary::AtMost
        ),
    }
}

/// A truth value as 0 or 1.
pub(super) fn as_number(typed: Typed) -> Node {
    if !typed.truth {
        return typed.node;
    }
    Node::choice(typed.node, Node::Number(1), Node::Number(0))
}
