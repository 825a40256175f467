//! Where a value comes from: a flag, else a variable, else the file; and where
//! exactly, for whoever has to correct it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{KEYS, Key, Kind};
use super::{Mistake, Place};
use crate::roster::Member;

/// What a run was told, before it is understood.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// Its text.
    pub text: String,
    /// Environment variables, by name.
    pub variables: BTreeMap<String, String>,
    /// Flags without their dashes.
    pub flags: BTreeMap<String, String>,
}

/// A value as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Flag(bool),
    List(Vec<String>),
    Map(Vec<(String, String)>),
    Members(Vec<Member>),
}

/// All values that were given, with their places.
pub(super) type Given = BTreeMap<&'static str, (Value, Place)>;

impl Sources {
    /// Everything that was given, and everything that could not be read.
    pub(super) fn read(&self) -> (Given, Vec<Mistake>) {
        let mut given = Given::new();
        let mut mistakes = Vec::new();
        self.read_file(&mut given, &mut mistakes);
        for key in KEYS {
            let variable = key.variable();
            if let Some(text) = self.variables.get(&variable) {
                overlay(
                    key,
                    text,
                    Place::Variable(variable),
                    &mut given,
                    &mut mistakes,
                );
            }
            if let Some(text) = self.flags.get(&key.flag()) {
                overlay(
                    key,
                    text,
                    Place::Flag(key.flag()),
                    &mut given,
                    &mut mistakes,
                );
            }
        }
        self.unknown_variables(&mut mistakes);
        (given, mistakes)
    }

    fn read_file(&self, given: &mut Given, mistakes: &mut Vec<Mistake>) {
        let table = match DeTable::parse(&self.text) {
            Ok(table) => table,
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                let message = format!("this is not TOML: {}", error.message());
                mistakes.push(Mistake::new("", self.place(at), message));
                return;
            }
        };
        for (section, value) in in_order(table.get_ref()) {
            let name = section.get_ref().as_ref();
            let place = self.place(section.span().start);
            if !KEYS.iter().any(|key| key.section() == name) {
                let sections = super::keys::SECTIONS.iter().map(|(name, _)| *name);
                let message = format!(
                    "there is no section `{name}`{}",
                    closest(name, sections.clone())
                );
                mistakes.push(Mistake::new(name, place, message));
                continue;
            }
            let DeValue::Table(keys) = value.get_ref() else {
                let message = format!("expected a section: [{name}]");
                mistakes.push(Mistake::new(name, place, message));
                continue;
            };
            for (key, value) in in_order(keys) {
                let path = format!("{name}.{}", key.get_ref());
                let at = self.place(key.span().start);
                let Some(known) = super::keys::named(&path) else {
                    let near = KEYS.iter().map(|key| key.path);
                    let near = near.filter(|path| path.starts_with(name));
                    let message = format!("there is no such key{}", closest(&path, near));
                    mistakes.push(Mistake::new(&path, at, message));
                    continue;
                };
                let place = self.place(value.span().start);
                match self.value(known, value) {
                    Ok(value) => {
                        given.insert(known.path, (value, place));
                    }
                    Err((message, place)) => {
                        mistakes.push(Mistake::new(known.path, place, message));
                    }
                }
            }
        }
    }

    fn place(&self, at: usize) -> Place {
        let before = &self.text[..at.min(self.text.len())];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place::File {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    fn value(&self, key: &Key, value: &Spanned<DeValue<'_>>) -> Result<Value, (String, Place)> {
        let wrong = |expected: &str| {
            let message = format!("expected {expected}");
            Err((message, self.place(value.span().start)))
        };
        match (key.kind, value.get_ref()) {
            (Kind::Text | Kind::Duration, DeValue::String(text)) => {
                Ok(Value::Text(text.to_string()))
            }
            (Kind::Integer, DeValue::Integer(number)) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => Ok(Value::Integer(number)),
                    Err(_) => wrong("a smaller number"),
                }
            }
            (Kind::Flag, DeValue::Boolean(flag)) => Ok(Value::Flag(*flag)),
            (Kind::List, DeValue::Array(items)) => {
                let mut list = Vec::new();
                for item in items {
                    match item.get_ref() {
                        DeValue::String(text) => list.push(text.to_string()),
                        _ => {
                            let place = self.place(item.span().start);
                            return Err(("expected a list of texts in quotes".into(), place));
                        }
                    }
                }
                Ok(Value::List(list))
            }
            (Kind::Map, DeValue::Table(table)) => {
                let mut map = Vec::new();
                for (name, item) in in_order(table) {
                    match item.get_ref() {
                        DeValue::String(text) => {
                            map.push((name.get_ref().to_string(), text.to_string()));
                        }
                        _ => {
                            let place = self.place(item.span().start);
                            return Err((
                                format!("`{}`: expected a text in quotes", name.get_ref()),
                                place,
                            ));
                        }
                    }
                }
                Ok(Value::Map(map))
            }
            (Kind::Members, DeValue::Array(items)) => {
                let members: Result<Vec<Member>, _> =
                    items.iter().map(|item| self.member(item)).collect();
                members.map(Value::Members)
            }
            (Kind::Text, _) => wrong("a text in quotes"),
            (Kind::Duration, _) => wrong("a length of time in quotes, such as \"20ms\" or \"5m\""),
            (Kind::Integer, _) => wrong("a whole number"),
            (Kind::Flag, _) => wrong("true or false"),
            (Kind::List, _) => wrong("a list of texts: [\"…\", \"…\"]"),
            (Kind::Map, _) => wrong("names with texts: { NAME = \"…\" }"),
            (Kind::Members, _) => {
                wrong("a list of members: [[ring.members]] with `name` and `address`")
            }
        }
    }

    fn member(&self, item: &Spanned<DeValue<'_>>) -> Result<Member, (String, Place)> {
        let here = self.place(item.span().start);
        let DeValue::Table(table) = item.get_ref() else {
            return Err(("expected a member with `name` and `address`".into(), here));
        };
        let mut member = Member::default();
        for (name, value) in in_order(table) {
            let DeValue::String(text) = value.get_ref() else {
                let place = self.place(value.span().start);
                return Err((
                    format!("`{}`: expected a text in quotes", name.get_ref()),
                    place,
                ));
            };
            match name.get_ref().as_ref() {
                "name" => member.name = text.to_string(),
                "address" => member.address = text.to_string(),
                "http" => member.http = Some(text.to_string()),
                other => {
                    let place = self.place(name.span().start);
                    let message = format!(
                        "a member has no `{other}`; expected `name`, `address` and perhaps `http`"
                    );
                    return Err((message, place));
                }
            }
        }
        for (name, text) in [("name", &member.name), ("address", &member.address)] {
            if text.is_empty() {
                return Err((format!("a member without `{name}`"), here));
            }
        }
        if let Err(error) = member.check() {
            return Err((error.to_string(), here));
        }
        Ok(member)
    }

    /// A misspelt variable would otherwise be ignored in silence.
    fn unknown_variables(&self, mistakes: &mut Vec<Mistake>) {
        let known: Vec<String> = KEYS.iter().map(Key::variable).collect();
        for name in self.variables.keys() {
            let ours = super::keys::SECTIONS.iter().any(|(section, _)| {
                name.starts_with(&format!("HEADWAY_{}_", section.to_uppercase()))
            });
            if ours && !known.contains(name) {
                let near = closest(name, known.iter().map(String::as_str));
                let message = format!("there is no such variable{near}");
                mistakes.push(Mistake::new("", Place::Variable(name.clone()), message));
            }
        }
    }
}

fn overlay(
    key: &'static Key,
    text: &str,
    place: Place,
    given: &mut Given,
    mistakes: &mut Vec<Mistake>,
) {
    match parse(key.kind, text) {
        Ok(value) => {
            given.insert(key.path, (value, place));
        }
        Err(message) => mistakes.push(Mistake::new(key.path, place, message)),
    }
}

/// The value of a variable or a flag.
fn parse(kind: Kind, text: &str) -> Result<Value, String> {
    match kind {
        Kind::Text | Kind::Duration => Ok(Value::Text(text.to_owned())),
        Kind::Integer => text
            .trim()
            .parse()
            .map(Value::Integer)
            .map_err(|_| format!("expected a whole number, not `{text}`")),
        Kind::Flag => match text.trim() {
            "true" | "1" | "yes" => Ok(Value::Flag(true)),
            "false" | "0" | "no" => Ok(Value::Flag(false)),
            _ => Err(format!("expected true or false, not `{text}`")),
        },
        Kind::List => list(text).map(Value::List),
        Kind::Map => pairs(text).map(Value::Map),
        Kind::Members => {
            let mut members = Vec::new();
            for (name, address) in pairs(text)? {
                let member = Member {
                    name,
                    address,
                    http: None,
                };
                member.check().map_err(|error| error.to_string())?;
                members.push(member);
            }
            Ok(Value::Members(members))
        }
    }
}

/// A list as in TOML, or separated by commas.
fn list(text: &str) -> Result<Vec<String>, String> {
    if !text.trim_start().starts_with('[') {
        return Ok(text.split(',').map(|item| item.trim().to_owned()).collect());
    }
    let wrong = || format!("expected a list of texts, [\"…\", \"…\"], not `{text}`");
    let line = format!("list = {text}");
    let table = DeTable::parse(&line).map_err(|_| wrong())?;
    let Some(DeValue::Array(items)) = table.get_ref().get("list").map(Spanned::get_ref) else {
        return Err(wrong());
    };
    items
        .iter()
        .map(|item| match item.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(wrong()),
        })
        .collect()
}

fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    text.split(',')
        .filter(|pair| !pair.trim().is_empty())
        .map(|pair| {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| format!("expected NAME=VALUE, not `{pair}`"))?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect()
}

/// Keys in the order of the file, so that the first mistake is the first in it.
fn in_order<'t, 'i>(
    table: &'t DeTable<'i>,
) -> Vec<(
    &'t Spanned<toml::de::DeString<'i>>,
    &'t Spanned<DeValue<'i>>,
)> {
    let mut keys: Vec<_> = table.iter().collect();
    keys.sort_by_key(|(key, _)| key.span().start);
    keys
}

/// `; did you mean …?` if something is near.
fn closest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    known
        .map(|candidate| (distance(name, candidate), candidate))
        .min()
        .filter(|(far, _)| *far <= 3)
        .map_or_else(String::new, |(_, near)| format!("; did you mean `{near}`?"))
}

/// How many letters have to change (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}
