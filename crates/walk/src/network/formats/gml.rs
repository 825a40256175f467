//! GML: a `graph` of `node` and `edge` lists. A node's `id` is its name and its
//! `label` is shown; `x` and `y` of its `graphics`, or longitude and latitude as the
//! Internet Topology Zoo has them, are its coordinates.

use crate::network::Builder;
use crate::read::ReadError;

pub(super) fn read(text: &str) -> Result<Builder, ReadError> {
    let mut parser = Parser {
        rest: text,
        line: 1,
    };
    let document = parser.list(0)?;
    let mut graphs = document.iter().filter(|entry| entry.key == "graph");
    let (Some(graph), None) = (graphs.next(), graphs.next()) else {
        return Err(ReadError::at(1, "expected one graph [ ... ]"));
    };
    let entries = graph.list()?;
    let directed = match find(entries, "directed") {
        None => false,
        Some(entry) => match entry.word()? {
            "0" => false,
            "1" => true,
            other => {
                let message = format!("directed is {other:?}, expected 0 or 1");
                return Err(ReadError::at(entry.line, message));
            }
        },
    };
    let mut builder = Builder::default();
    for entry in entries.iter().filter(|entry| entry.key == "node") {
        let node = builder.new_node(required(entry, "id")?, entry.line)?;
        let inside = entry.list()?;
        if let Some(label) = find(inside, "label") {
            builder.label(node, label.word()?);
        }
        let number =
            |list: &[Entry], key| -> Option<f64> { find(list, key)?.word().ok()?.parse().ok() };
        let graphics = find(inside, "graphics").and_then(|graphics| graphics.list().ok());
        let drawn = graphics.and_then(|list| Some((number(list, "x")?, number(list, "y")?)));
        let on_earth = || Some((number(inside, "longitude")?, -number(inside, "latitude")?));
        if let Some((x, y)) = drawn.or_else(on_earth) {
            builder.place(node, x, y);
        }
    }
    for entry in entries.iter().filter(|entry| entry.key == "edge") {
        let end = |key| builder.known(key, required(entry, key)?, entry.line);
        let (source, target) = (end("source")?, end("target")?);
        builder.join(source, target, directed);
    }
    Ok(builder)
}

/// A key and what follows it.
struct Entry {
    key: String,
    value: Value,
    line: usize,
}

enum Value {
    /// A number, or a text without its quotes.
    Word(String),
    List(Vec<Entry>),
}

impl Entry {
    fn word(&self) -> Result<&str, ReadError> {
        match &self.value {
            Value::Word(word) => Ok(word),
            Value::List(_) => Err(self.wrong("a number or a text in quotes")),
        }
    }

    fn list(&self) -> Result<&[Entry], ReadError> {
        match &self.value {
            Value::List(entries) => Ok(entries),
            Value::Word(_) => Err(self.wrong("[ ... ]")),
        }
    }

    fn wrong(&self, expected: &str) -> ReadError {
        ReadError::at(self.line, format!("expected {expected} after {}", self.key))
    }
}

fn find<'a>(list: &'a [Entry], key: &str) -> Option<&'a Entry> {
    list.iter().find(|entry| entry.key == key)
}

fn required<'a>(entry: &'a Entry, key: &str) -> Result<&'a str, ReadError> {
    match find(entry.list()?, key) {
        Some(found) => found.word(),
        None => {
            let message = format!("this {} has no {key}", entry.key);
            Err(ReadError::at(entry.line, message))
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
    line: usize,
}

/// Lists in each other: each takes some of the stack.
const MAX_DEPTH: usize = 100;

impl<'a> Parser<'a> {
    /// Keys and values up to the end of the list, or of the text. Keys are in lower
    /// case: tools write `Longitude` and `id`, and nobody means two things by them.
    fn list(&mut self, depth: usize) -> Result<Vec<Entry>, ReadError> {
        let mut entries = Vec::new();
        loop {
            self.blanks();
            let line = self.line;
            match self.rest.chars().next() {
                None if depth > 0 => return Err(ReadError::at(line, "a [ has no ]")),
                Some(']') if depth == 0 => return Err(ReadError::at(line, "a ] without [")),
                None | Some(']') => {
                    self.take(1.min(self.rest.len()));
                    return Ok(entries);
                }
                Some(first) if first.is_ascii_alphabetic() || first == '_' => {}
                Some(_) => {
                    let found = self.rest.split_whitespace().next().unwrap_or("");
                    let message = format!("expected a key or ], found {found:?}");
                    return Err(ReadError::at(line, message));
                }
            }
            let key = self
                .until(|c| !c.is_ascii_alphanumeric() && c != '_')
                .to_lowercase();
            self.blanks();
            let value = match self.rest.chars().next() {
                None | Some(']') => {
                    return Err(ReadError::at(line, format!("expected a value after {key}")));
                }
                Some('[') if depth == MAX_DEPTH => {
                    return Err(ReadError::at(line, "lists nested more than 100 deep"));
                }
                Some('[') => {
                    self.take(1);
                    Value::List(self.list(depth + 1)?)
                }
                Some('"') => {
                    self.take(1);
                    let text = self.until(|c| c == '"');
                    if self.rest.is_empty() {
                        return Err(ReadError::at(line, "a text in double quotes has no end"));
                    }
                    self.take(1);
                    Value::Word(unescaped(text))
                }
                Some(_) => Value::Word(
                    self.until(|c| c.is_whitespace() || "[]".contains(c))
                        .to_owned(),
                ),
            };
            entries.push(Entry { key, value, line });
        }
    }

    /// White space, and comments from # to the end of a line.
    fn blanks(&mut self) {
        loop {
            self.until(|c| !c.is_whitespace());
            if !self.rest.starts_with('#') {
                return;
            }
            self.until(|c| c == '\n');
        }
    }

    fn until(&mut self, end: impl Fn(char) -> bool) -> &'a str {
        let length = self.rest.find(end).unwrap_or(self.rest.len());
        self.take(length)
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }
}

/// GML is ASCII; other characters are written as in HTML: `&quot;`, `&#252;`.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(';').unwrap_or(0);
        let character = match &rest[1.min(end)..end] {
            "quot" => Some('"'),
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "apos" => Some('\''),
            entity => entity
                .strip_prefix('#')
                .and_then(|number| match number.strip_prefix(['x', 'X']) {
                    Some(digits) => u32::from_str_radix(digits, 16).ok(),
                    None => number.parse().ok(),
                })
                .and_then(char::from_u32),
        };
        plain.push(character.unwrap_or('&'));
        rest = &rest[if character.is_some() { end + 1 } else { 1 }..];
    }
    plain + rest
}
