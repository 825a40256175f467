//! Expressions of an instance: every name resolved, every range written out.

use super::ast::Binary;

/// An expression over the variables of an instance. Truth values are 0 and 1, but an
/// expression is either a truth value or a number, never both.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Number(i32),
    Bool(bool),
    /// The number that a variable holds.
    Variable(usize),
    Not(Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
    If(Box<[Node; 3]>),
    Many(Many, Vec<Node>),
    /// The values for all values of a few variables.
    Table(Box<Table>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Many {
    All,
    Any,
    Sum,
    Min,
    Max,
}

/// Values of an expression: variables with their least value and their weight.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    places: Vec<(usize, i32, i32)>,
    values: Vec<i32>,
}

/// Expressions with no more values than this become tables.
const MAX_TABLE: u64 = 1 << 12;

impl Node {
    pub(super) fn binary(operator: Binary, a: Node, b: Node) -> Node {
        Node::Binary(operator, Box::new(a), Box::new(b)).folded()
    }

    pub(super) fn choice(condition: Node, yes: Node, no: Node) -> Node {
        Node::If(Box::new([condition, yes, no])).folded()
    }

    pub(super) fn many(many: Many, nodes: Vec<Node>) -> Node {
        Node::Many(many, nodes).folded()
    }

    pub(crate) fn value(&self, values: &[i32]) -> i32 {
        match self {
            Node::Number(number) => *number,
            Node::Bool(truth) => i32::from(*truth),
            Node::Variable(variable) => values[*variable],
            Node::Not(inner) => 1 - inner.value(values),
            Node::Binary(operator, a, b) => apply(*operator, a.value(values), || b.value(values)),
            Node::If(parts) => {
                let [condition, yes, no] = &**parts;
                if condition.value(values) != 0 {
                    yes
                } else {
                    no
                }
                .value(values)
            }
            Node::Many(many, nodes) => {
                let mut all = nodes.iter().map(|node| node.value(values));
                match many {
                    Many::All => i32::from(all.all(|value| value != 0)),
                    Many::Any => i32::from(all.any(|value| value != 0)),
                    Many::Sum => all.fold(0, i32::saturating_add),
                    Many::Min => all.min().unwrap_or(0),
                    Many::Max => all.max().unwrap_or(0),
                }
            }
            Node::Table(table) => {
                let index = table
                    .places
                    .iter()
                    .fold(0, |index, &(variable, least, weight)| {
                        index + (values[variable] - least) * weight
                    });
                table.values[index as usize]
            }
        }
    }

    pub(crate) fn holds(&self, values: &[i32]) -> bool {
        self.value(values) != 0
    }

    /// The same without operations on constants.
    pub(super) fn folded(self) -> Node {
        match self {
            Node::Not(inner) => match *inner {
                Node::Bool(truth) => Node::Bool(!truth),
                other => Node::Not(Box::new(other)),
            },
            Node::Binary(operator, a, b) => match (operator, &*a, &*b) {
                (_, Node::Number(x), Node::Number(y)) if fits(operator, *x, *y) => {
                    let value = apply(operator, *x, || *y);
                    match operator {
                        Binary::Equal | Binary::Unequal | Binary::Less | Binary::AtMost => {
                            Node::Bool(value != 0)
                        }
                        _ => Node::Number(value),
                    }
                }
                (Binary::And, Node::Bool(true), _) | (Binary::Or, Node::Bool(false), _) => *b,
                (Binary::And, _, Node::Bool(true)) | (Binary::Or, _, Node::Bool(false)) => *a,
                (Binary::And, Node::Bool(false), _) | (Binary::And, _, Node::Bool(false)) => {
                    Node::Bool(false)
                }
                (Binary::Or, Node::Bool(true), _) | (Binary::Or, _, Node::Bool(true)) => {
                    Node::Bool(true)
                }
                _ => Node::Binary(operator, a, b),
            },
            Node::If(parts) => {
                let [condition, yes, no] = *parts;
                match condition {
                    Node::Bool(true) => yes,
                    Node::Bool(false) => no,
                    _ => Node::If(Box::new([condition, yes, no])),
                }
            }
            Node::Many(many, mut nodes) => {
                match many {
                    Many::All => nodes.retain(|node| *node != Node::Bool(true)),
                    Many::Any => nodes.retain(|node| *node != Node::Bool(false)),
                    Many::Sum => nodes.retain(|node| *node != Node::Number(0)),
                    Many::Min | Many::Max => {}
                }
                match (many, nodes.len()) {
                    (Many::All, 0) => Node::Bool(true),
                    (Many::Any, 0) => Node::Bool(false),
                    (Many::Sum, 0) => Node::Number(0),
                    (_, 1) => nodes.swap_remove(0),
                    _ if nodes
                        .iter()
                        .all(|node| matches!(node, Node::Number(_) | Node::Bool(_)))
                        && (many != Many::Sum || sum_fits(&nodes)) =>
                    {
                        let value = Node::Many(many, nodes).value(&[]);
                        match many {
                            Many::All | Many::Any => Node::Bool(value != 0),
                            _ => Node::Number(value),
                        }
                    }
                    _ => Node::Many(many, nodes),
                }
            }
            other => other,
        }
    }

    /// How many nodes there are, and how many below each other.
    pub(super) fn extent(&self) -> (usize, usize) {
        let all = |nodes: &[&Node]| {
            let each = nodes.iter().map(|node| node.extent());
            each.fold((1, 1), |(size, depth), (more, deep)| {
                (size + more, depth.max(deep + 1))
            })
        };
        match self {
            Node::Number(_) | Node::Bool(_) | Node::Variable(_) | Node::Table(_) => (1, 1),
            Node::Not(inner) => all(&[inner]),
            Node::Binary(_, a, b) => all(&[a, b]),
            Node::If(parts) => all(&parts.each_ref()),
            Node::Many(_, nodes) => all(&nodes.iter().collect::<Vec<_>>()),
        }
    }

    /// The least and the greatest value that it can have, or nothing if some part of it may be
    /// a number that is not computed. `of` has those of a variable.
    pub(super) fn bounds(&self, of: &dyn Fn(usize) -> (i64, i64)) -> Option<(i64, i64)> {
        const TRUTH: (i64, i64) = (0, 1);
        let both = |(a, b): (i64, i64), (c, d): (i64, i64)| (a.min(c), b.max(d));
        let found = match self {
            Node::Number(number) => (i64::from(*number), i64::from(*number)),
            Node::Variable(variable) => of(*variable),
            Node::Bool(_) => TRUTH,
            Node::Not(inner) => inner.bounds(of).map(|_| TRUTH)?,
            Node::Binary(operator, a, b) => {
                let ((a, b), (c, d)) = (a.bounds(of)?, b.bounds(of)?);
                match operator {
                    Binary::Add => (a + c, b + d),
                    Binary::Subtract => (a - d, b - c),
                    Binary::Times => {
                        let mut all = [a * c, a * d, b * c, b * d];
                        all.sort_unstable();
                        (all[0], all[3])
                    }
                    Binary::Div => (a.div_euclid(c), b.div_euclid(c)),
                    Binary::Mod => (0, c - 1),
                    _ => TRUTH,
                }
            }
            Node::If(parts) => {
                parts[0].bounds(of)?;
                both(parts[1].bounds(of)?, parts[2].bounds(of)?)
            }
            Node::Many(many, nodes) => {
                let all: Option<Vec<_>> = nodes.iter().map(|node| node.bounds(of)).collect();
                let all = all?;
                match many {
                    Many::All | Many::Any => TRUTH,
                    Many::Sum => all.iter().fold((0, 0), |(a, b), (c, d)| (a + c, b + d)),
                    Many::Min | Many::Max => all.into_iter().reduce(both).unwrap_or((0, 0)),
                }
            }
            Node::Table(table) => {
                let values = table.values.iter().map(|&value| i64::from(value));
                let values = values.map(|value| (value, value));
                values.reduce(both).unwrap_or((0, 0))
            }
        };
        let computed = |value: i64| i32::try_from(value).is_ok();
        (computed(found.0) && computed(found.1)).then_some(found)
    }

    /// Adds the variables that the value depends on.
    pub(crate) fn support(&self, variables: &mut Vec<usize>) {
        match self {
            Node::Number(_) | Node::Bool(_) => {}
            Node::Variable(variable) => variables.push(*variable),
            Node::Not(inner) => inner.support(variables),
            Node::Binary(_, a, b) => {
                a.support(variables);
                b.support(variables);
            }
            Node::If(parts) => parts.iter().for_each(|part| part.support(variables)),
            Node::Many(_, nodes) => nodes.iter().for_each(|node| node.support(variables)),
            Node::Table(table) => variables.extend(table.places.iter().map(|place| place.0)),
        }
    }

    /// The same with tables for its parts, as large as may be. `bounds` has the least
    /// and the greatest value of every variable.
    pub(crate) fn tabulated(&self, bounds: &[(i32, i32)]) -> Node {
        if matches!(self, Node::Number(_) | Node::Bool(_) | Node::Variable(_)) {
            return self.clone();
        }
        let mut variables = Vec::new();
        self.support(&mut variables);
        variables.sort_unstable();
        variables.dedup();
        let widths = variables.iter().map(|&variable| {
            let (least, greatest) = bounds[variable];
            (greatest - least + 1) as u64
        });
        let size = widths.clone().fold(1_u64, u64::saturating_mul);
        if size > MAX_TABLE {
            let each = |node: &Node| node.tabulated(bounds);
            return match self {
                Node::Not(inner) => Node::Not(Box::new(each(inner))),
                Node::Binary(operator, a, b) => {
                    Node::Binary(*operator, Box::new(each(a)), Box::new(each(b)))
                }
                Node::If(parts) => Node::If(Box::new([
                    each(&parts[0]),
                    each(&parts[1]),
                    each(&parts[2]),
                ])),
                Node::Many(many, nodes) => Node::Many(*many, nodes.iter().map(each).collect()),
                other => other.clone(),
            };
        }
        let (mut places, mut weight) = (Vec::new(), 1);
        for (&variable, width) in variables.iter().zip(widths) {
            places.push((variable, bounds[variable].0, weight));
            weight *= width as i32;
        }
        let mut values = vec![0; bounds.len()];
        let entries = (0..size as i32).map(|index| {
            for &(variable, least, weight) in &places {
                let width = bounds[variable].1 - least + 1;
                values[variable] = least + index / weight % width;
            }
            self.value(&values)
        });
        let entries = entries.collect();
        Node::Table(Box::new(Table {
            places,
            values: entries,
        }))
    }
}

/// Whether the value is a number that is computed.
fn fits(operator: Binary, a: i32, b: i32) -> bool {
    match operator {
        Binary::Add => a.checked_add(b).is_some(),
        Binary::Subtract => a.checked_sub(b).is_some(),
        Binary::Times => a.checked_mul(b).is_some(),
        _ => true,
    }
}

fn sum_fits(nodes: &[Node]) -> bool {
    let numbers = nodes.iter().map(|node| i64::from(node.value(&[])));
    i32::try_from(numbers.sum::<i64>()).is_ok()
}

/// The divisor of `div` and `mod` is never 0: it is a constant. [`Node::bounds`] has seen to it
/// that no number is too large.
fn apply(operator: Binary, a: i32, b: impl FnOnce() -> i32) -> i32 {
    match operator {
        Binary::Or => i32::from(a != 0 || b() != 0),
        Binary::And => i32::from(a != 0 && b() != 0),
        Binary::Equal => i32::from(a == b()),
        Binary::Unequal => i32::from(a != b()),
        Binary::Less => i32::from(a < b()),
        Binary::AtMost => i32::from(a <= b()),
        Binary::Add => a.saturating_add(b()),
        Binary::Subtract => a.saturating_sub(b()),
        Binary::Times => a.saturating_mul(b()),
        Binary::Div => a.div_euclid(b()),
        Binary::Mod => a.rem_euclid(b()),
    }
}
