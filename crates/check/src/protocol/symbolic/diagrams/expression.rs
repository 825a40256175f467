//! Expressions as sets of states: those in which they hold, or have a value.

use std::collections::BTreeMap;

use oxidd::BooleanFunction;
use oxidd::bcdd::BCDDFunction as Set;

use super::super::super::ast::Binary;
use super::super::super::node::{Many, Node};
use super::{Diagrams, Outcome};

impl Diagrams<'_> {
    /// The states in which an expression holds.
    pub(in super::super) fn truth(&self, node: &Node) -> Outcome<Set> {
        Ok(match node {
            Node::Bool(truth) => self.constant(*truth),
            Node::Not(inner) => self.truth(inner)?.not()?,
            Node::Binary(Binary::And, a, b) => self.truth(a)?.and(&self.truth(b)?)?,
            Node::Binary(Binary::Or, a, b) => self.truth(a)?.or(&self.truth(b)?)?,
            Node::Binary(operator, a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                let mut all = self.constant(false);
                for (x, when_x) in &a {
                    for (y, when_y) in &b {
                        let holds = match operator {
                            Binary::Equal => x == y,
                            Binary::Unequal => x != y,
                            Binary::Less => x < y,
                            _ => x <= y,
                        };
                        if holds {
                            all = all.or(&when_x.and(when_y)?)?;
                        }
                    }
                }
                all
            }
            Node::If(parts) => {
                let [condition, yes, no] = &**parts;
                self.truth(condition)?
                    .ite(&self.truth(yes)?, &self.truth(no)?)?
            }
            Node::Many(many, nodes) => {
                let all_of = *many == Many::All;
                let mut joined = self.constant(all_of);
                for node in nodes {
                    let next = self.truth(node)?;
                    joined = if all_of {
                        joined.and(&next)?
                    } else {
                        joined.or(&next)?
                    };
                }
                joined
            }
            Node::Number(_) | Node::Variable(_) | Node::Table(_) => unreachable!("numbers"),
        })
    }

    /// The values of an expression, and the states in which it has each.
    pub(super) fn number(&self, node: &Node) -> Outcome<BTreeMap<i32, Set>> {
        let mut values = BTreeMap::new();
        match node {
            Node::Number(number) => {
                values.insert(*number, self.constant(true));
            }
            Node::Variable(variable) => {
                for (place, &value) in self.protocol.variables[*variable].domain.iter().enumerate()
                {
                    values.insert(value, self.is(*variable, place, false)?);
                }
            }
            Node::Binary(operator, a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                self.combine(
                    &a,
                    &b,
                    |x, y| {
                        let (x, y) = (Box::new(Node::Number(x)), Box::new(Node::Number(y)));
                        Node::Binary(*operator, x, y).value(&[])
                    },
                    &mut values,
                )?;
            }
            Node::If(parts) => {
                let condition = self.truth(&parts[0])?;
                for (part, when) in [
                    (&parts[1], condition.clone()),
                    (&parts[2], condition.not()?),
                ] {
                    for (value, set) in self.number(part)? {
                        self.add(&mut values, value, set.and(&when)?)?;
                    }
                }
            }
            Node::Many(many, nodes) => {
                for (index, node) in nodes.iter().enumerate() {
                    let next = self.number(node)?;
                    if index == 0 {
                        values = next;
                        continue;
                    }
                    let before = std::mem::take(&mut values);
                    let join = |x: i32, y: i32| match many {
                        Many::Min => x.min(y),
                        Many::Max => x.max(y),
                        _ => x.saturating_add(y),
                    };
                    self.combine(&before, &next, join, &mut values)?;
                }
            }
            Node::Bool(_) | Node::Not(_) | Node::Table(_) => unreachable!("truth values"),
        }
        Ok(values)
    }

    fn combine(
        &self,
        a: &BTreeMap<i32, Set>,
        b: &BTreeMap<i32, Set>,
        join: impl Fn(i32, i32) -> i32,
        values: &mut BTreeMap<i32, Set>,
    ) -> Outcome<()> {
        for (x, when_x) in a {
            for (y, when_y) in b {
                self.add(values, join(*x, *y), when_x.and(when_y)?)?;
            }
        }
        Ok(())
    }

    #[allow(clippy::needless_pass_by_value, reason = "as its callers have it")]
    fn add(&self, values: &mut BTreeMap<i32, Set>, value: i32, when: Set) -> Outcome<()> {
        if when.satisfiable() {
            let known = values
                .get(&value)
                .cloned()
                .unwrap_or_else(|| self.constant(false));
            values.insert(value, known.or(&when)?);
        }
        Ok(())
    }
}
