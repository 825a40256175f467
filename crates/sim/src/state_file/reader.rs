//! Reading with places: every value is kept as a slice of the text until it is
//! understood, so that an error can point at it.

use std::fmt;

use headway_core::{Measuring, Misfit, Process, Program, Separation};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Entry, StateFile, StateFileError};

pub(super) fn parse(text: &str) -> Result<StateFile, StateFileError> {
    let reader = Reader { text };
    let top = reader.object(text, "")?;
    reader.known(&top, "", &["separation", "processes"])?;
    let separation = reader.required(&top, text, "", "separation")?;
    let hops: u32 = reader.integer(
        separation,
        "separation",
        1,
        i64::from(Separation::MAX.hops()),
    )?;
    let separation = Separation::new(hops)
        .ok_or_else(|| reader.wrong(separation, "separation", "expected 1 or more"))?;
    let list = reader.required(&top, text, "", "processes")?;
    let items: Vec<&RawValue> = serde_json::from_str(list)
        .map_err(|_| reader.wrong(list, "processes", "expected a list of processes"))?;
    if items.is_empty() {
        return Err(reader.wrong(list, "processes", "a ring needs at least one process"));
    }
    let entries = items
        .iter()
        .enumerate()
        .map(|(index, item)| reader.entry(item.get(), index, separation))
        .collect::<Result<Vec<Entry>, _>>()?;
    let state = StateFile::assemble(separation, &entries)
        .ok_or_else(|| reader.wrong(list, "processes", "a ring has at most 2^32 processes"))?;
    match state.ring.admits(&state.configuration) {
        Ok(()) => Ok(state),
        Err(misfit) => Err(reader.misfit(misfit, list, &items)),
    }
}

struct Reader<'a> {
    text: &'a str,
}

/// The fields of an object in their order, values as slices of the text.
struct Fields<'a>(Vec<(String, &'a str)>);

impl<'a> Fields<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        let field = self.0.iter().find(|(field, _)| field == name);
        field.map(|(_, value)| *value)
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    fields.push((name, value.get()));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

impl<'a> Reader<'a> {
    /// An error at the place of `value`, a slice of the text.
    fn wrong(&self, value: &str, field: &str, problem: impl Into<String>) -> StateFileError {
        let offset = (value.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let (line, column) = place(self.text, offset);
        StateFileError {
            line,
            column,
            field: field.to_owned(),
            problem: problem.into(),
        }
    }

    fn object(&self, value: &'a str, field: &str) -> Result<Fields<'a>, StateFileError> {
        let fields: Fields<'a> = serde_json::from_str(value).map_err(|error| {
            let inside = self.wrong(value, field, "");
            let line = inside.line + error.line().max(1) - 1;
            // Before the first character of a line, serde_json says 0.
            let within = error.column().max(1);
            let column = if error.line() <= 1 {
                inside.column + within - 1
            } else {
                within
            };
            let problem = match error.classify() {
                serde_json::error::Category::Eof => "the file ends too early".to_owned(),
                serde_json::error::Category::Data => "expected an object { … }".to_owned(),
                _ => format!("not JSON: {}", reason(&error)),
            };
            StateFileError {
                line,
                column,
                problem,
                ..inside
            }
        })?;
        for (index, (name, value)) in fields.0.iter().enumerate() {
            if fields.0[..index].iter().any(|(earlier, _)| earlier == name) {
                return Err(self.wrong(value, &join(field, name), "given twice"));
            }
        }
        Ok(fields)
    }

    fn known(&self, fields: &Fields<'a>, of: &str, known: &[&str]) -> Result<(), StateFileError> {
        match fields
            .0
            .iter()
            .find(|(name, _)| !known.contains(&name.as_str()))
        {
            None => Ok(()),
            Some((name, value)) => Err(self.wrong(
                value,
                &join(of, name),
                format!("unknown field; expected {}", known.join(", ")),
            )),
        }
    }

    fn required(
        &self,
        fields: &Fields<'a>,
        object: &str,
        of: &str,
        name: &str,
    ) -> Result<&'a str, StateFileError> {
        fields
            .get(name)
            .ok_or_else(|| self.wrong(object.trim_start(), &join(of, name), "missing"))
    }

    fn integer<T: TryFrom<i64>>(
        &self,
        value: &str,
        field: &str,
        least: i64,
        most: i64,
    ) -> Result<T, StateFileError> {
        let expected = || format!("{value} given, expected a whole number from {least} to {most}");
        let number: i64 =
            serde_json::from_str(value).map_err(|_| self.wrong(value, field, expected()))?;
        if !(least..=most).contains(&number) {
            return Err(self.wrong(value, field, expected()));
        }
        T::try_from(number).map_err(|_| self.wrong(value, field, expected()))
    }

    fn entry(
        &self,
        item: &'a str,
        index: usize,
        separation: Separation,
    ) -> Result<Entry, StateFileError> {
        let of = format!("processes[{index}]");
        let fields = self.object(item, &of)?;
        let name = self.required(&fields, item, &of, "program")?;
        let program: Program = serde_json::from_str::<String>(name)
            .ok()
            .and_then(|name| name.parse().ok())
            .ok_or_else(|| {
                let problem = format!(
                    "{name} given, expected \"delay\", \"relay\", \"measure\" or \"measure-as-printed\""
                );
                self.wrong(name, &join(&of, "program"), problem)
            })?;
        let mut known = vec!["program", "queued", "resting"];
        if program.delays() {
            known.push("counter");
        }
        if program.measures() {
            known.extend(["tokens", "timing", "elapsed", "ignore", "base", "limit"]);
        }
        self.known(&fields, &of, &known)?;
        let optional = |name: &str, least: i64, most: i64| match fields.get(name) {
            None => Ok(0),
            Some(value) => self.integer::<i64>(value, &join(&of, name), least, most),
        };
        let tokens_most = i64::from(u32::MAX);
        let least = -i64::from(program == Program::MeasureAsPrinted);
        let counter_most = match program {
            Program::Delay => i64::from(separation.top()),
            _ => i64::from(i32::MAX),
        };
        let process = Process {
            queued: optional("queued", 0, tokens_most)? as u32,
            resting: optional("resting", 0, tokens_most)? as u32,
            counter: optional("counter", least, counter_most)? as i32,
        };
        let variables = if program.measures() {
            let tokens = self.required(&fields, item, &of, "tokens")?;
            let tokens = self.integer(tokens, &join(&of, "tokens"), 1, tokens_most)?;
            let most = i64::from(i32::MAX);
            let any = if least < 0 { i64::from(i32::MIN) } else { 0 };
            Some(Measuring {
                tokens,
                // 0 stands for "not given" until the ring's size is known.
                limit: match fields.get("limit") {
                    None => 0,
                    Some(value) => self.integer(value, &join(&of, "limit"), 1, most)?,
                },
                timing: match fields.get("timing") {
                    None => false,
                    Some(value) => serde_json::from_str(value).map_err(|_| {
                        let problem = format!("{value} given, expected true or false");
                        self.wrong(value, &join(&of, "timing"), problem)
                    })?,
                },
                elapsed: optional("elapsed", 0, most)? as u32,
                ignore: optional("ignore", any, most)? as i32,
                base: optional("base", least, most)? as i32,
            })
        } else {
            None
        };
        Ok(Entry {
            program,
            process,
            variables,
        })
    }

    /// The place of what [`headway_core::Ring::admits`] refuses.
    fn misfit(&self, misfit: Misfit, list: &str, items: &[&RawValue]) -> StateFileError {
        let at = |index: usize, field: &str, problem: String| {
            let of = format!("processes[{index}]");
            let value = items.get(index).map_or(list, |item| item.get());
            let fields = self.object(value, &of).ok();
            let value = fields.and_then(|fields| fields.get(field)).unwrap_or(value);
            self.wrong(value, &join(&of, field), problem)
        };
        match misfit {
            Misfit::Counter {
                process,
                counter,
                largest,
            } => at(
                process,
                "counter",
                format!("{counter} given, expected a whole number from 0 to {largest}"),
            ),
            Misfit::Variable { process, field } => {
                let expected = match field {
                    "elapsed" => "expected at most limit",
                    "ignore" => "expected 0 to tokens-1",
                    "base" => "expected 0 to limit/tokens-1",
                    _ => "out of its domain",
                };
                at(process, field, expected.to_owned())
            }
            other => self.wrong(list, "processes", other.to_string()),
        }
    }
}

fn join(of: &str, name: &str) -> String {
    if of.is_empty() {
        name.to_owned()
    } else {
        format!("{of}.{name}")
    }
}

/// serde_json's words, without its own line numbers.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Line and column, from 1, of a byte offset.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}
