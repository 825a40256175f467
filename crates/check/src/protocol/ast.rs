//! A protocol file as it is written.

use super::token::Place;
use crate::Scheduler;

/// A name and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) place: Place,
    pub(super) text: String,
}

#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) place: Place,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Number(i64),
    Bool(bool),
    /// A variable of the process itself, a parameter, a bound name or a neighbour.
    Name(String),
    /// A variable of another process.
    Of(String, Box<Expr>),
    /// A definition, or min, max, abs, enabled.
    Call(String, Vec<Expr>),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    If(Box<[Expr; 3]>),
    Fold(Box<Folded>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Binary {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    AtMost,
    Add,
    Subtract,
    Times,
    Div,
    Mod,
}

/// What is done with the values for all members of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fold {
    All,
    Any,
    Count,
    Sum,
    Min,
    Max,
}

/// `all p in neighbours where …: …`
#[derive(Clone, Debug)]
pub(super) struct Folded {
    pub(super) fold: Fold,
    pub(super) name: String,
    pub(super) range: Range,
    pub(super) filter: Option<Expr>,
    pub(super) body: Expr,
}

#[derive(Clone, Debug)]
pub(super) enum Range {
    Processes,
    /// Of a process, or of the process itself.
    Neighbours(Option<Expr>),
    Between(Expr, Expr),
}

#[derive(Clone, Debug)]
pub(super) enum DomainPart {
    Between(Expr, Expr),
    One(Expr),
    Bool,
    Neighbours,
}

#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: Name,
    pub(super) domain: Vec<DomainPart>,
}

#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Numerator and denominator.
    pub(super) chance: Option<(Expr, Expr)>,
    /// A variable, whose it is unless the own, and its new value.
    pub(super) assignments: Vec<(Name, Option<Expr>, Expr)>,
}

#[derive(Clone, Debug)]
pub(super) struct Action {
    pub(super) name: Name,
    /// One action for each member of a range.
    pub(super) each: Option<(String, Range)>,
    pub(super) guard: Expr,
    pub(super) outcomes: Vec<Outcome>,
}

#[derive(Clone, Debug)]
pub(super) enum Who {
    All,
    Others,
    Listed(Vec<Expr>),
    Where(String, Expr),
}

#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) who: Who,
    pub(super) actions: Vec<Action>,
}

#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) name: Name,
    pub(super) arguments: Vec<String>,
    pub(super) body: Expr,
}

#[derive(Clone, Debug)]
pub(super) struct Property {
    pub(super) name: Name,
    /// Of every state, or of every legitimate one.
    pub(super) everywhere: bool,
    pub(super) holds: Expr,
}

#[derive(Clone, Debug)]
pub(super) enum Graph {
    Generated(Name, Vec<Expr>),
    Edges(Expr, Vec<(Expr, Expr)>),
}

#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) title: Option<String>,
    pub(super) parameters: Vec<(Name, Expr)>,
    pub(super) graph: Option<Graph>,
    pub(super) scheduler: Option<Scheduler>,
    pub(super) variables: Vec<Variable>,
    pub(super) given: Vec<Expr>,
    pub(super) definitions: Vec<Definition>,
    pub(super) blocks: Vec<Block>,
    pub(super) legitimate: Option<Expr>,
    pub(super) properties: Vec<Property>,
}
