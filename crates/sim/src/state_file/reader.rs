//! Reading with places: every value stays a slice of the text until it is
//! understood, so that an error can point at it.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use headway_core::{
    Configuration, Gaps, Laps, MAX_COUNTED_TOKENS, Measuring, Misfit, Process, Program, Ring,
    Separation, Variable,
};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::{StateFile, StateFileError, line_and_column};

/// Most tokens, and the largest value of any other variable.
const MAX_TOKENS: i64 = u32::MAX as i64;
const MAX_VALUE: i64 = i32::MAX as i64;

pub(super) fn parse(text: &str) -> Result<StateFile, StateFileError> {
    let file = Value {
        text,
        value: text,
        field: String::new(),
    };
    let top = file.object()?;
    top.only(&["separation", "processes"])?;
    let separation = top.required("separation")?;
    let hops = separation.integer(1..=i64::from(Separation::MAX.hops()))? as u32;
    let separation = Separation::new(hops).ok_or_else(|| separation.wrong("expected 1 or more"))?;
    let list = top.required("processes")?;
    let items = list.items()?;
    if items.is_empty() {
        return Err(list.wrong("a ring needs at least one process"));
    }
    let mut programs = Vec::with_capacity(items.len());
    let mut configuration = Configuration::from(Vec::<Process>::with_capacity(items.len()));
    let default_limit = Measuring::default_limit(items.len());
    let mut carried = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let fields = item.object()?;
        let program = program(&fields)?;
        programs.push(program);
        configuration
            .processes
            .push(process(&fields, program, separation)?);
        if program.measures() {
            let variables = measuring(&fields, program, default_limit)?;
            configuration.measuring.insert(index, variables);
        }
        carried.push(fields.get("counts"));
    }
    let ring = Ring::new(separation, programs).map_err(|error| list.wrong(error.to_string()))?;
    configuration.counts = counts(&ring, &list, &configuration.processes, &carried)?;
    match ring.admits(&configuration) {
        Ok(()) => Ok(StateFile {
            ring,
            configuration,
        }),
        Err(misfit) => Err(place(misfit, &list, &items)),
    }
}

/// What tokens carry, from the last process backwards.
fn counts(
    ring: &Ring,
    list: &Value<'_>,
    processes: &[Process],
    carried: &[Option<Value<'_>>],
) -> Result<Vec<u32>, StateFileError> {
    let mut all = Vec::new();
    let tokens: u64 = processes.iter().map(|process| process.tokens()).sum();
    if ring.reads_counts() && tokens > MAX_COUNTED_TOKENS {
        let expected = format!("with hop-count at most {MAX_COUNTED_TOKENS}");
        return Err(list.wrong(format!("{tokens} tokens, {expected}")));
    }
    for (process, counts) in processes.iter().zip(carried).rev() {
        let tokens = process.tokens() as usize;
        match counts {
            None if ring.reads_counts() => all.extend(std::iter::repeat_n(0, tokens)),
            None => {}
            Some(counts) if !ring.reads_counts() => {
                return Err(counts.wrong("no process runs hop-count, so tokens carry nothing"));
            }
            Some(counts) => {
                let items = counts.items()?;
                if items.len() != tokens {
                    let found = items.len();
                    let expected = format!("expected as many as tokens here, {tokens}");
                    return Err(counts.wrong(format!("{found} given, {expected}")));
                }
                for item in items {
                    all.push(item.integer(0..=u32::MAX.into())? as u32);
                }
            }
        }
    }
    Ok(all)
}

/// What a process runs, with no fields that its program does not have.
fn program(fields: &Fields<'_>) -> Result<Program, StateFileError> {
    let name = fields.required("program")?;
    let program: Option<Program> = serde_json::from_str::<String>(name.value)
        .ok()
        .and_then(|name| name.parse().ok());
    let program = program.ok_or_else(|| {
        let names = Program::ALL.map(|program| format!("\"{program}\""));
        let (last, others) = names.split_last().expect("there are programs");
        let expected = format!("{} or {last}", others.join(", "));
        name.wrong(format!("{} given, expected {expected}", name.value))
    })?;
    let mut known = vec!["program", "queued", "resting"];
    if program.delays() {
        known.push("counter");
    }
    if program.measures() {
        known.extend(["tokens", "timing", "elapsed", "ignore", "base", "limit"]);
    }
    known.extend(match program {
        Program::ShortestLap => &["previous", "arrived", "shortest"][..],
        Program::ShortestLapEpochs => &["best", "last", "seen", "horizon"],
        Program::HopCount => &["mark"],
        _ => &[],
    });
    known.push("counts");
    fields.only(&known)?;
    Ok(program)
}

/// The printed program reaches -1 by itself.
fn smallest(program: Program) -> i64 {
    -i64::from(program == Program::MeasureAsPrinted)
}

fn process(
    fields: &Fields<'_>,
    program: Program,
    separation: Separation,
) -> Result<Process, StateFileError> {
    let largest = match program {
        Program::Delay => i64::from(separation.top()),
        _ => MAX_VALUE,
    };
    Ok(Process {
        queued: fields.integer("queued", 0..=MAX_TOKENS)? as u32,
        resting: fields.integer("resting", 0..=MAX_TOKENS)? as u32,
        counter: fields.integer("counter", smallest(program)..=largest)? as i32,
    })
}

fn measuring(
    fields: &Fields<'_>,
    program: Program,
    default_limit: u32,
) -> Result<Measuring, StateFileError> {
    let smallest = smallest(program);
    let ignore = if smallest < 0 { i32::MIN.into() } else { 0 };
    let elapsed = fields.integer("elapsed", 0..=MAX_VALUE)? as u32;
    let limit = match fields.get("limit") {
        None => default_limit.max(elapsed),
        Some(limit) => limit.integer(1..=MAX_VALUE)? as u32,
    };
    let lap = |name, least| match fields.get(name) {
        None => Ok(limit),
        Some(lap) => lap.integer(least..=MAX_VALUE).map(|lap| lap as u32),
    };
    Ok(Measuring {
        tokens: fields.required("tokens")?.integer(1..=MAX_TOKENS)? as u32,
        limit,
        timing: match fields.get("timing") {
            None => false,
            Some(timing) => serde_json::from_str(timing.value).map_err(|_| {
                timing.wrong(format!("{} given, expected true or false", timing.value))
            })?,
        },
        elapsed,
        ignore: fields.integer("ignore", ignore..=MAX_VALUE)? as i32,
        base: fields.integer("base", smallest..=MAX_VALUE)? as i32,
        gaps: Gaps {
            previous: fields.integer("previous", 0..=MAX_VALUE)? as u32,
            arrived: fields.integer("arrived", 0..=MAX_VALUE)? as u32,
            shortest: lap("shortest", 0)?,
        },
        mark: fields.integer("mark", 0..=u32::MAX.into())? as u32,
        laps: Laps {
            horizon: match fields.get("horizon") {
                None => None,
                Some(horizon) => NonZeroU32::new(horizon.integer(1..=MAX_VALUE)? as u32),
            },
            best: lap("best", 1)?,
            last: lap("last", 1)?,
            seen: fields.integer("seen", 0..=i64::MAX)? as u64,
        },
    })
}

/// The place of what [`Ring::admits`] refuses.
fn place(misfit: Misfit, list: &Value<'_>, items: &[Value<'_>]) -> StateFileError {
    let at = |process: usize, name: &str, problem: String| {
        let item = &items[process];
        let value = item.object().ok().and_then(|fields| fields.get(name));
        let missing = || Value {
            field: format!("{}.{name}", item.field),
            ..item.clone()
        };
        value.unwrap_or_else(missing).wrong(problem)
    };
    match misfit {
        Misfit::Counter {
            process,
            counter,
            largest,
        } => {
            let expected = format!("expected a whole number from 0 to {largest}");
            at(process, "counter", format!("{counter} given, {expected}"))
        }
        Misfit::Variable { process, variable } => {
            let expected = match variable {
                Variable::Elapsed | Variable::Previous | Variable::Arrived | Variable::Shortest => {
                    "expected at most limit"
                }
                Variable::Ignore => "expected 0 to tokens-1",
                Variable::Base => "expected 0 to limit/tokens-1",
                Variable::Best | Variable::Last => "expected 1 to limit",
                Variable::Tokens | Variable::Limit => "out of its domain",
            };
            at(process, variable.name(), expected.to_owned())
        }
        other => list.wrong(other.to_string()),
    }
}

/// A value: a slice of the text, and its name.
#[derive(Clone)]
struct Value<'a> {
    text: &'a str,
    value: &'a str,
    /// As in `processes[3].counter`; empty for the whole file.
    field: String,
}

/// The fields of an object in their order.
struct Fields<'a> {
    object: Value<'a>,
    values: Vec<(String, &'a str)>,
}

impl<'a> Value<'a> {
    fn wrong(&self, problem: impl Into<String>) -> StateFileError {
        let offset = self.value.as_ptr() as usize - self.text.as_ptr() as usize;
        let (line, column) = line_and_column(self.text, offset);
        StateFileError {
            line,
            column,
            field: self.field.clone(),
            problem: problem.into(),
        }
    }

    fn integer(&self, allowed: RangeInclusive<i64>) -> Result<i64, StateFileError> {
        let number = serde_json::from_str(self.value).ok();
        number
            .filter(|number| allowed.contains(number))
            .ok_or_else(|| {
                let (first, last) = (allowed.start(), allowed.end());
                let expected = format!("expected a whole number from {first} to {last}");
                self.wrong(format!("{} given, {expected}", self.value))
            })
    }

    fn items(&self) -> Result<Vec<Value<'a>>, StateFileError> {
        let items: Vec<&RawValue> = serde_json::from_str(self.value)
            .map_err(|_| self.wrong(format!("expected a list of {}", self.field)))?;
        let item = |(index, item): (usize, &&'a RawValue)| Value {
            text: self.text,
            value: item.get(),
            field: format!("{}[{index}]", self.field),
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    fn object(&self) -> Result<Fields<'a>, StateFileError> {
        let values = serde_json::from_str(self.value).map_err(|error| self.not_an_object(&error));
        let RawFields(values) = values?;
        let fields = Fields {
            object: self.clone(),
            values,
        };
        for (index, (name, value)) in fields.values.iter().enumerate() {
            if fields.values[..index]
                .iter()
                .any(|(other, _)| other == name)
            {
                return Err(fields.named(name, value).wrong("given twice"));
            }
        }
        Ok(fields)
    }

    fn not_an_object(&self, error: &serde_json::Error) -> StateFileError {
        let start = self.wrong(match error.classify() {
            Category::Eof => "the file ends too early".to_owned(),
            Category::Data => "expected an object { … }".to_owned(),
            // Without serde_json's own line numbers.
            _ => {
                let reason = error.to_string();
                let end = reason.rfind(" at line ").unwrap_or(reason.len());
                format!("not JSON: {}", &reason[..end])
            }
        });
        // Before the first character of a line, serde_json says 0.
        let (line, column) = (error.line().max(1), error.column().max(1));
        StateFileError {
            line: start.line + line - 1,
            column: if line == 1 { start.column - 1 } else { 0 } + column,
            ..start
        }
    }
}

impl<'a> Fields<'a> {
    fn named(&self, name: &str, value: &'a str) -> Value<'a> {
        let of = &self.object.field;
        Value {
            text: self.object.text,
            value,
            field: match of.is_empty() {
                true => name.to_owned(),
                false => format!("{of}.{name}"),
            },
        }
    }

    fn get(&self, name: &str) -> Option<Value<'a>> {
        let (name, value) = self.values.iter().find(|(field, _)| field == name)?;
        Some(self.named(name, value))
    }

    fn required(&self, name: &str) -> Result<Value<'a>, StateFileError> {
        let missing = || self.named(name, self.object.value.trim_start());
        self.get(name).ok_or_else(|| missing().wrong("missing"))
    }

    /// An integer, 0 if it is left out.
    fn integer(&self, name: &str, allowed: RangeInclusive<i64>) -> Result<i64, StateFileError> {
        self.get(name).map_or(Ok(0), |value| value.integer(allowed))
    }

    fn only(&self, known: &[&str]) -> Result<(), StateFileError> {
        let mut fields = self.values.iter();
        match fields.find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, value)) => {
                let problem = format!("unknown field; expected {}", known.join(", "));
                Err(self.named(name, value).wrong(problem))
            }
        }
    }
}

/// Names and values as they stand, twice given ones included.
struct RawFields<'a>(Vec<(String, &'a str)>);

impl<'de> Deserialize<'de> for RawFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = RawFields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawFields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    fields.push((name, value.get()));
                }
                Ok(RawFields(fields))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
