//! A protocol instance for other tools.
//!
//! Every variable becomes `name_process`, every range is written out. Where nobody is
//! enabled the state stays, forever: so a dead end outside the legitimate states breaks
//! convergence there as it does here. Promela and TLA+ know no probabilities; there,
//! chance becomes a free choice, and the text says so.

use super::ast::Binary;
use super::node::{Many, Node};
use super::{Action, Outcome, Protocol, ProtocolError};
use crate::Scheduler;
use strum::{Display, EnumString};

mod prism;
mod promela;
mod tla;

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString)]
#[strum(serialize_all = "lowercase")]
#[strum(parse_err_ty = UnknownLanguage, parse_err_fn = unknown)]
pub enum Language {
    /// For SPIN.
    Promela,
    /// For PRISM and Storm.
    Prism,
    /// For TLC.
    Tla,
}

/// The text names no language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected promela, prism or tla")]
pub struct UnknownLanguage;

fn unknown(_: &str) -> UnknownLanguage {
    UnknownLanguage
}

/// Why a protocol cannot be exported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotExported {
    /// The other tools' texts have one process in a step, or all.
    #[error("only the central and the synchronous scheduler can be exported, not the {0} one")]
    Scheduler(Scheduler),
    /// Not checked either.
    #[error(transparent)]
    WritesOthers(#[from] ProtocolError),
}

/// The instance under a scheduler as a text in the language.
///
/// # Errors
///
/// Unless the scheduler is central or synchronous, and the protocol runs under it.
pub fn export(
    protocol: &Protocol,
    scheduler: Scheduler,
    language: Language,
) -> Result<String, NotExported> {
    let together = match scheduler {
        Scheduler::Central => false,
        Scheduler::Synchronous => true,
        _ => return Err(NotExported::Scheduler(scheduler)),
    };
    protocol.runs_under(scheduler)?;
    let subject = Subject { protocol, together };
    Ok(match language {
        Language::Prism => prism::write(&subject),
        Language::Promela => promela::write(&subject),
        Language::Tla => tla::write(&subject),
    })
}

/// What is exported.
struct Subject<'a> {
    protocol: &'a Protocol,
    /// Whether all processes move at once.
    together: bool,
}

/// How a language writes expressions.
struct Dialect {
    and: &'static str,
    or: &'static str,
    not: &'static str,
    equal: &'static str,
    unequal: &'static str,
    truths: [&'static str; 2],
    choose: fn(&str, &str, &str) -> String,
    div: fn(&str, i32) -> String,
    modulo: fn(&str, i32) -> String,
}

impl Subject<'_> {
    /// "Title: ring(5), n = 5; central scheduler", and what becomes of chance.
    fn heading(&self, knows_chance: bool) -> String {
        let title = self.protocol.title().unwrap_or("A protocol");
        let who = if self.together {
            "synchronous"
        } else {
            "central"
        };
        let chance = if self.protocol.is_random() && !knows_chance {
            "; what is random in the protocol is a free choice here"
        } else {
            ""
        };
        format!(
            "{title}: {}; {who} scheduler{chance}",
            self.protocol.instance()
        )
    }

    fn names(&self) -> Vec<String> {
        let variables = self.protocol.variables.iter();
        variables.map(super::Variable::flat_name).collect()
    }

    /// The variables of a process, by place.
    fn own(&self, process: usize) -> impl Iterator<Item = usize> + '_ {
        let variables = self.protocol.variables.iter().enumerate();
        variables
            .filter(move |(_, variable)| variable.process == process)
            .map(|(place, _)| place)
    }

    fn actions(&self) -> impl Iterator<Item = (usize, &Action)> {
        let processes = self.protocol.processes.iter().enumerate();
        processes.flat_map(|(process, actions)| actions.iter().map(move |action| (process, action)))
    }

    /// What all actions can come to.
    fn outcomes(&self) -> impl Iterator<Item = (usize, &Action, &Outcome)> {
        self.actions().flat_map(|(process, action)| {
            action
                .outcomes
                .iter()
                .map(move |outcome| (process, action, outcome))
        })
    }

    /// "somebody of these is enabled".
    fn enabled(&self, dialect: &Dialect, process: Option<usize>) -> String {
        let actions = self
            .actions()
            .filter(|(own, _)| process.is_none_or(|wanted| wanted == *own));
        let guards: Vec<String> = actions
            .map(|(_, action)| dialect.text(&action.guard, &self.names()))
            .collect();
        match guards.is_empty() {
            true => dialect.truths[0].to_owned(),
            false => format!("({})", guards.join(dialect.or)),
        }
    }
}

impl Dialect {
    fn text(&self, node: &Node, names: &[String]) -> String {
        let text = |node: &Node| self.text(node, names);
        match node {
            Node::Number(number) if *number < 0 => format!("({number})"),
            Node::Number(number) => number.to_string(),
            Node::Bool(truth) => self.truths[usize::from(*truth)].to_owned(),
            Node::Variable(variable) => names[*variable].clone(),
            Node::Not(inner) => format!("{}({})", self.not, text(inner)),
            Node::Binary(operator, a, b) => {
                let (x, y) = (text(a), text(b));
                let sign = match operator {
                    Binary::Or => self.or,
                    Binary::And => self.and,
                    Binary::Equal => self.equal,
                    Binary::Unequal => self.unequal,
                    Binary::Less => " < ",
                    Binary::AtMost => " <= ",
                    Binary::Add => " + ",
                    Binary::Subtract => " - ",
                    Binary::Times => " * ",
                    Binary::Div => return (self.div)(&x, constant(b)),
                    Binary::Mod => return (self.modulo)(&x, constant(b)),
                };
                format!("({x}{sign}{y})")
            }
            Node::If(parts) => (self.choose)(&text(&parts[0]), &text(&parts[1]), &text(&parts[2])),
            Node::Many(many, nodes) => {
                let all: Vec<String> = nodes.iter().map(text).collect();
                match many {
                    Many::All => format!("({})", all.join(self.and)),
                    Many::Any => format!("({})", all.join(self.or)),
                    Many::Sum => format!("({})", all.join(" + ")),
                    Many::Min => self.extreme(&all, " <= "),
                    Many::Max => self.extreme(&all, " >= "),
                }
            }
            Node::Table(_) => unreachable!("an instance has no tables before it is compiled"),
        }
    }

    /// The first that is at least as good as all after it.
    fn extreme(&self, all: &[String], sign: &str) -> String {
        let (first, rest) = all.split_first().expect("never of nothing");
        if rest.is_empty() {
            return first.clone();
        }
        let best: Vec<String> = rest
            .iter()
            .map(|other| format!("{first}{sign}{other}"))
            .collect();
        (self.choose)(
            &format!("({})", best.join(self.and)),
            first,
            &self.extreme(rest, sign),
        )
    }
}

/// The divisor: always a constant above 0.
fn constant(node: &Node) -> i32 {
    match node {
        Node::Number(number) => *number,
        _ => unreachable!("checked when the instance was built"),
    }
}
