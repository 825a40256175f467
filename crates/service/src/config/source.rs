//! Where a value comes from: a variable, else the file; and where exactly, for
//! whoever has to correct it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::former::{FORMER, former};
use super::key::{Key, Presence, variable};
use super::keys::{SECTIONS, Settings, keys};
use super::value::{Setting, from_text};

/// What a run was told, before it is understood.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// Its text.
    pub text: String,
    /// Environment variables, by name.
    pub variables: BTreeMap<String, String>,
}

/// Where something is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the file, counted from 1.
    File {
        /// Line.
        line: usize,
        /// Column.
        column: usize,
    },
    /// Nowhere.
    Missing,
    /// In this environment variable.
    Variable(String),
}

/// Something wrong in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Which key, if it is one key's.
    pub key: String,
    /// Where it was given.
    pub place: Place,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Variable(name) => write!(formatter, "{name}: ")?,
            Place::File { .. } | Place::Missing => {}
        }
        if !self.key.is_empty() {
            write!(formatter, "{}: ", self.key)?;
        }
        formatter.write_str(&self.message)
    }
}

impl Settings {
    /// Understands what was given.
    ///
    /// # Errors
    ///
    /// All mistakes, those in the file first, in its order.
    pub fn read(sources: &Sources) -> Result<Settings, Vec<Mistake>> {
        let mut reader = Reader {
            sources,
            table: DeTable::new(),
            mistakes: Vec::new(),
        };
        match DeTable::parse(&sources.text) {
            Ok(table) => reader.table = table.into_inner(),
            // Of a file that cannot be read, nothing else is worth saying.
            Err(error) => {
                let place = reader.place(error.span().map_or(0, |span| span.start));
                reader.note("", place, format!("this is not TOML: {}", error.message()));
                return Err(reader.mistakes);
            }
        }
        reader.look_for_unknown();
        let settings = Settings::take(&mut reader);
        if let Some(settings) = &settings
            && reader.mistakes.is_empty()
        {
            settings.check(&mut reader);
        }
        match settings {
            Some(settings) if reader.mistakes.is_empty() => Ok(settings),
            _ => {
                reader.mistakes.sort_by(|a, b| a.place.cmp(&b.place));
                Err(reader.mistakes)
            }
        }
    }
}

/// Takes values one by one and notes what is wrong with each.
pub(super) struct Reader<'s> {
    sources: &'s Sources,
    table: DeTable<'s>,
    mistakes: Vec<Mistake>,
}

/// A value as it was given.
enum Given<'s> {
    Toml(Spanned<DeValue<'s>>),
    Text(&'s str),
}

impl<'s> Reader<'s> {
    /// The value of a key, or nothing and a mistake.
    pub(super) fn take<T: Setting>(&mut self, path: &'static str) -> Option<T> {
        let key = keys().find(|key| key.path == path)?;
        let Some((place, given)) = self.given(key) else {
            return match key.presence {
                Presence::Required => self.missing(path),
                Presence::Optional => T::absent(),
                Presence::Default | Presence::Shown => {
                    T::read(ValueDeserializer::parse(key.example).ok()?).ok()
                }
            };
        };
        match given {
            Given::Text("") if key.presence == Presence::Required => self.missing(path),
            Given::Text(text) => from_text(text).or_else(|| {
                self.note(
                    path,
                    place,
                    format!("expected {}, not `{text}`", T::EXPECTED),
                );
                None
            }),
            Given::Toml(value) => {
                let span = value.span();
                if key.presence == Presence::Required && value.get_ref().as_str() == Some("") {
                    return self.missing(path);
                }
                T::read(ValueDeserializer::from(value))
                    .inspect_err(|error| match error.span() {
                        // Something inside the value has a place and a message of its own.
                        Some(inside) if inside != span => {
                            let place = self.place(inside.start);
                            self.note(path, place, error.message().to_owned());
                        }
                        _ => {
                            let found = self.sources.text.get(span).unwrap_or_default();
                            let found = found.lines().next().unwrap_or_default();
                            let message = format!("expected {}, not {found}", T::EXPECTED);
                            self.note(path, place, message);
                        }
                    })
                    .ok()
            }
        }
    }

    fn missing<T>(&mut self, path: &str) -> Option<T> {
        self.wrong(path, "is missing");
        None
    }

    /// Notes that something is wrong with the value of a key, unless all is well.
    pub(super) fn expect(&mut self, path: &str, fine: bool, message: impl Into<String>) {
        if !fine {
            self.wrong(path, message);
        }
    }

    /// Notes that something is wrong with the value of a key.
    pub(super) fn wrong(&mut self, path: &str, message: impl Into<String>) {
        let key = keys().find(|key| key.path == path);
        let place = key.and_then(|key| self.given(key)).map(|(place, _)| place);
        self.note(path, place.unwrap_or(Place::Missing), message.into());
    }

    fn note(&mut self, key: &str, place: Place, message: String) {
        let key = key.to_owned();
        self.mistakes.push(Mistake {
            key,
            place,
            message,
        });
    }

    fn given(&self, key: &Key) -> Option<(Place, Given<'s>)> {
        let variable = key.variable();
        if let Some(text) = self.sources.variables.get(&variable) {
            return Some((Place::Variable(variable), Given::Text(text)));
        }
        let (section, name) = key.names();
        let value = self.table.get(section)?.get_ref().get(name)?;
        Some((self.place(value.span().start), Given::Toml(value.clone())))
    }

    /// A misspelt section, key or variable would otherwise be ignored in silence.
    fn look_for_unknown(&mut self) {
        let table = std::mem::take(&mut self.table);
        for (section, values) in &table {
            let name = section.get_ref().as_ref();
            let place = self.place(section.span().start);
            let known = SECTIONS.iter().any(|section| section.name == name);
            let Some(values) = values.get_ref().as_table().filter(|_| known) else {
                let near = closest(name, SECTIONS.iter().map(|section| section.name.to_owned()));
                let message = match former(name) {
                    _ if known => format!("expected a section: [{name}]"),
                    Some(today) => today,
                    None => format!("there is no section `{name}`{near}"),
                };
                self.note(name, place, message);
                continue;
            };
            for key in values.keys() {
                let path = format!("{name}.{}", key.get_ref());
                if !keys().any(|key| key.path == path) {
                    let known = keys().filter(|key| key.names().0 == name);
                    let near = closest(&path, known.map(|key| key.path.to_owned()));
                    let message = former(&path);
                    let message = message.unwrap_or_else(|| format!("there is no such key{near}"));
                    let place = self.place(key.span().start);
                    self.note(&path, place, message);
                }
            }
        }
        self.table = table;
        for name in self.sources.variables.keys() {
            // What a command is given is no mistake if a node is started from one.
            let ours = SECTIONS.iter().any(|section| {
                name.starts_with(&format!("HEADWAY_{}_", section.name.to_uppercase()))
            });
            let before = FORMER.iter().find(|(former, _)| {
                let rest = name.strip_prefix(&variable(former));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            });
            let place = Place::Variable(name.clone());
            if let Some((path, today)) = before.and_then(|(path, _)| Some((path, former(path)?))) {
                self.note(path, place, today);
            } else if ours && !keys().any(|key| key.variable() == *name) {
                let near = closest(name, keys().map(Key::variable));
                self.note("", place, format!("there is no such variable{near}"));
            }
        }
    }

    fn place(&self, at: usize) -> Place {
        place(&self.sources.text, at)
    }
}

/// Where something is in a text.
pub(crate) fn place(text: &str, at: usize) -> Place {
    let before = &text[..at.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Place::File {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

/// `; did you mean …?` if something is near.
fn closest(name: &str, known: impl Iterator<Item = String>) -> String {
    known
        .map(|candidate| (strsim::levenshtein(name, &candidate), candidate))
        .min()
        .filter(|(far, _)| *far <= 3)
        .map_or_else(String::new, |(_, near)| format!("; did you mean `{near}`?"))
}
