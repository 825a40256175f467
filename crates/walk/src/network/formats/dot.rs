//! DOT, the language of Graphviz: graphs and digraphs, edge chains, subgraphs as
//! ends of edges, quoted, HTML-like and Unicode ids, comments. A node's `pos` is
//! its coordinates; `dir=both` and `dir=back` on an arrow are honoured.

use std::fmt::Write;

use super::{Format, WriteError};
use crate::network::{Builder, Network, Node};
use crate::read::ReadError;

mod lexer;

use lexer::{Token, lex};

pub(super) fn read(text: &str) -> Result<Builder, ReadError> {
    let mut parser = Parser {
        tokens: lex(text)?,
        next: 0,
        directed: false,
        depth: 0,
        builder: Builder::default(),
    };
    parser.graph()?;
    Ok(parser.builder)
}

struct Parser {
    /// With their lines.
    tokens: Vec<(Token, usize)>,
    next: usize,
    directed: bool,
    /// Braces that are open: each takes some of the stack.
    depth: usize,
    builder: Builder,
}

const MAX_DEPTH: usize = 100;

/// What `dir` says of an arrow.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Forward,
    Back,
    Both,
}

impl Parser {
    fn graph(&mut self) -> Result<(), ReadError> {
        self.keyword("strict");
        self.directed = self.keyword("digraph");
        if !self.directed && !self.keyword("graph") {
            return Err(self.wrong("expected graph or digraph"));
        }
        if matches!(self.peek(), Some(Token::Id(..))) {
            self.next += 1;
        }
        self.mark('{', "expected {")?;
        self.statements(Direction::Forward)?;
        if self.peek().is_some() {
            return Err(self.wrong("expected nothing after the graph: one graph per file"));
        }
        Ok(())
    }

    /// Statements up to and with the closing brace; the nodes that they name.
    fn statements(&mut self, mut default: Direction) -> Result<Vec<Node>, ReadError> {
        let mut named = Vec::new();
        loop {
            match self.peek() {
                None => return Err(self.wrong("expected } before the end of the file")),
                Some(Token::Mark('}')) => {
                    self.next += 1;
                    return Ok(named);
                }
                Some(Token::Mark(';' | ',')) => self.next += 1,
                _ => self.statement(&mut default, &mut named)?,
            }
        }
    }

    fn statement(
        &mut self,
        default: &mut Direction,
        named: &mut Vec<Node>,
    ) -> Result<(), ReadError> {
        if let Some(Token::Id(word, false)) = self.peek() {
            let word = word.to_ascii_lowercase();
            if ["graph", "node", "edge"].contains(&word.as_str()) {
                self.next += 1;
                let attributes = self.attributes()?;
                if word == "edge" {
                    *default = direction(&attributes).unwrap_or(*default);
                }
                return Ok(());
            }
        }
        if let (Some(Token::Id(..)), Some((Token::Mark('='), _))) =
            (self.peek(), self.tokens.get(self.next + 1))
        {
            self.next += 2;
            self.id()?;
            return Ok(());
        }
        let mut ends = vec![self.end(*default)?];
        while let Some(&Token::Edge(arrow)) = self.peek() {
            if arrow != self.directed {
                return Err(self.wrong(if arrow {
                    "-> in an undirected graph: expected --, or digraph at the top"
                } else {
                    "-- in a digraph: expected ->, or graph at the top"
                }));
            }
            self.next += 1;
            ends.push(self.end(*default)?);
        }
        let attributes = self.attributes()?;
        if let [nodes] = &ends[..] {
            if let [node] = nodes[..] {
                if let Some((x, y)) = position(&attributes) {
                    self.builder.place(node, x, y);
                }
                if let Some((_, label)) = attributes.iter().rev().find(|(name, _)| name == "label")
                {
                    // \\N stands for the name.
                    let name = self.builder.name(node).to_owned();
                    self.builder.label(node, &label.replace("\\N", &name));
                }
            }
        } else {
            self.join(&ends, direction(&attributes).unwrap_or(*default));
        }
        named.extend(ends.into_iter().flatten());
        Ok(())
    }

    fn join(&mut self, ends: &[Vec<Node>], direction: Direction) {
        for pair in ends.windows(2) {
            for &from in &pair[0] {
                for &to in &pair[1] {
                    match direction {
                        _ if !self.directed => self.builder.link(from, to),
                        Direction::Forward => self.builder.arc(from, to),
                        Direction::Back => self.builder.arc(to, from),
                        Direction::Both => self.builder.link(from, to),
                    }
                }
            }
        }
    }

    /// A node, perhaps with a port, or a subgraph: the nodes that it stands for.
    fn end(&mut self, default: Direction) -> Result<Vec<Node>, ReadError> {
        let subgraph = self.keyword("subgraph");
        if subgraph && matches!(self.peek(), Some(Token::Id(..))) {
            self.next += 1;
        }
        if self.peek() == Some(&Token::Mark('{')) {
            if self.depth == MAX_DEPTH {
                return Err(self.wrong("subgraphs nested more than 100 deep"));
            }
            self.next += 1;
            self.depth += 1;
            let mut nodes = self.statements(default)?;
            self.depth -= 1;
            nodes.sort_unstable();
            nodes.dedup();
            return Ok(nodes);
        }
        if subgraph {
            return Err(self.wrong("expected { after subgraph"));
        }
        let name = self.id()?;
        for _port_and_compass in 0..2 {
            if self.peek() == Some(&Token::Mark(':')) {
                self.next += 1;
                self.id()?;
            }
        }
        Ok(vec![self.builder.node(&name)])
    }

    fn attributes(&mut self) -> Result<Vec<(String, String)>, ReadError> {
        let mut attributes = Vec::new();
        while self.peek() == Some(&Token::Mark('[')) {
            self.next += 1;
            while self.peek() != Some(&Token::Mark(']')) {
                if let Some(Token::Mark(';' | ',')) = self.peek() {
                    self.next += 1;
                    continue;
                }
                let name = self.id()?;
                self.mark('=', "expected = after the name of an attribute")?;
                attributes.push((name, self.id()?));
            }
            self.next += 1;
        }
        Ok(attributes)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    /// Takes the keyword if it comes next.
    fn keyword(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Id(word, false)) if word.eq_ignore_ascii_case(wanted));
        self.next += usize::from(found);
        found
    }

    fn mark(&mut self, mark: char, message: &str) -> Result<(), ReadError> {
        if self.peek() == Some(&Token::Mark(mark)) {
            self.next += 1;
            Ok(())
        } else {
            Err(self.wrong(message))
        }
    }

    fn id(&mut self) -> Result<String, ReadError> {
        match self.peek() {
            Some(Token::Id(id, _)) => {
                let id = id.clone();
                self.next += 1;
                Ok(id)
            }
            _ => Err(self.wrong("expected a name")),
        }
    }

    fn wrong(&self, message: &str) -> ReadError {
        let last = self.tokens.last().map_or(1, |&(_, line)| line);
        let line = self.tokens.get(self.next).map_or(last, |&(_, line)| line);
        let found = match self.peek() {
            None => "the file ends here".to_owned(),
            Some(Token::Id(id, _)) => format!("found {id:?}"),
            Some(Token::Mark(mark)) => format!("found {mark}"),
            Some(Token::Edge(true)) => "found ->".to_owned(),
            Some(Token::Edge(false)) => "found --".to_owned(),
        };
        ReadError::at(line, format!("{message} ({found})"))
    }
}

fn direction(attributes: &[(String, String)]) -> Option<Direction> {
    let (_, value) = attributes.iter().rev().find(|(name, _)| name == "dir")?;
    match value.as_str() {
        "both" => Some(Direction::Both),
        "back" => Some(Direction::Back),
        _ => Some(Direction::Forward),
    }
}

/// `pos="x,y"` or `pos="x,y!"`; Graphviz counts y upwards.
fn position(attributes: &[(String, String)]) -> Option<(f64, f64)> {
    let (_, value) = attributes.iter().rev().find(|(name, _)| name == "pos")?;
    let mut numbers = value.trim_end_matches('!').split(',');
    let x: f64 = numbers.next()?.trim().parse().ok()?;
    let y: f64 = numbers.next()?.trim().parse().ok()?;
    Some((x, -y))
}

pub(super) fn write(network: &Network) -> Result<String, WriteError> {
    for name in network.names() {
        if name.ends_with('\\') || name.contains("\\\"") || name.contains("\\\n") {
            return Err(WriteError::Name {
                name: name.clone(),
                format: Format::Dot,
                reason: "a backslash before a quote, a line end or the end is an escape in DOT",
            });
        }
    }
    let directed = !network.is_symmetric();
    let (kind, arrow) = if directed {
        ("digraph", "->")
    } else {
        ("graph", "--")
    };
    let mut text = format!("{kind} {{\n");
    for node in network.nodes() {
        let _ = write!(text, "  {}", in_quotes(network.name(node)));
        if let Some(label) = network
            .own_label(node)
            .filter(|label| !label.contains('\\'))
        {
            let _ = write!(text, " [label={}]", in_quotes(label));
        }
        if let Some(coordinates) = network.coordinates() {
            let (x, y) = coordinates[node as usize];
            let _ = write!(text, " [pos=\"{x},{}!\"]", -y);
        }
        text.push_str(";\n");
    }
    for (from, to) in super::written_links(network) {
        let (from, to) = (in_quotes(network.name(from)), in_quotes(network.name(to)));
        let _ = writeln!(text, "  {from} {arrow} {to};");
    }
    text.push_str("}\n");
    Ok(text)
}

fn in_quotes(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\\\""))
}
