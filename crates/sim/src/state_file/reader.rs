//! Reading with places: every value stays a slice of the text until it is understood, so
//! that an error can point at it. That the text is JSON is known before it is taken apart.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

use headway_core::{
    Configuration, MAX_COUNTED_TOKENS, Measuring, Process, Program, Ring, Separation, Variable,
};
use serde::de::IgnoredAny;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::{StateFile, StateFileError, line_and_column};

/// Most tokens, and the largest value of any other variable.
const MAX_TOKENS: i64 = u32::MAX as i64;
const MAX_VALUE: i64 = i32::MAX as i64;

/// A file, taken apart in the pass that shows that it is JSON.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    #[serde(borrow)]
    separation: &'a RawValue,
    #[serde(borrow)]
    processes: Vec<&'a RawValue>,
}

pub(super) fn parse(text: &str) -> Result<StateFile, StateFileError> {
    let file = Value {
        text,
        value: text.trim_ascii(),
        field: Field::default(),
    };
    let Ok(taken_apart) = serde_json::from_str::<File<'_>>(text) else {
        return Err(no_file(file));
    };
    let separation = file.named("separation", taken_apart.separation.get());
    let hops = separation.integer(1..=i64::from(Separation::MAX.hops()))? as u32;
    let separation = Separation::new(hops).ok_or_else(|| separation.wrong("expected 1 or more"))?;
    let items = taken_apart.processes;
    let processes = items.len();
    // Looked for only to say where it is.
    let list = || {
        let list = file
            .object(Vec::new())
            .and_then(|top| top.required("processes"));
        list.unwrap_or(file)
    };
    let mut programs = Vec::with_capacity(processes);
    let mut configuration = Configuration::from(Vec::<Process>::with_capacity(processes));
    let default_limit = Measuring::default_limit(processes);
    // Those that say what their tokens carry.
    let mut carried = Vec::new();
    // One list for the fields of all, which is made once.
    let mut values = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let fields = file.item(index, item.get()).object(values)?;
        let program = program(&fields)?;
        let mut counters = 0..=i64::from(separation.top());
        if program.measures() {
            let variables = measuring(&fields, program, default_limit)?;
            counters = Variable::Base.domain(program, &variables);
            configuration.measuring.insert(index, variables);
        }
        configuration.processes.push(Process {
            queued: fields.integer("queued", 0..=MAX_TOKENS)? as u32,
            resting: fields.integer("resting", 0..=MAX_TOKENS)? as u32,
            counter: fields.integer("counter", counters)? as i32,
        });
        programs.push(program);
        carried.extend(fields.get("counts").map(|counts| (index, counts)));
        values = fields.values;
    }
    let ring = Ring::new(separation, programs).map_err(|error| list().wrong(error.to_string()))?;
    configuration.counts = counts(&ring, list, &configuration.processes, carried)?;
    match ring.admits(&configuration) {
        Ok(()) => Ok(StateFile {
            ring,
            configuration,
        }),
        Err(misfit) => Err(list().wrong(misfit.to_string())),
    }
}

/// Why a text is no [`File`].
fn no_file(file: Value<'_>) -> StateFileError {
    if let Err(error) = serde_json::from_str::<IgnoredAny>(file.text) {
        return not_json(&error);
    }
    let parts = file.object(Vec::new()).and_then(|top| {
        top.only(|name| ["separation", "processes"].contains(&name))?;
        top.required("separation")?;
        top.required("processes")?.items().map(drop)
    });
    parts.err().unwrap_or_else(|| file.wrong("expected a ring"))
}

/// What tokens carry, from the last process backwards.
fn counts<'a>(
    ring: &Ring,
    list: impl Fn() -> Value<'a>,
    processes: &[Process],
    mut carried: Vec<(usize, Value<'a>)>,
) -> Result<Vec<u32>, StateFileError> {
    let mut all = Vec::new();
    if !ring.reads_counts() {
        let why = "no process runs hop-count, so tokens carry nothing";
        return carried
            .first()
            .map_or(Ok(all), |(_, counts)| Err(counts.wrong(why)));
    }
    let tokens: u64 = processes.iter().map(|process| process.tokens()).sum();
    if tokens > MAX_COUNTED_TOKENS {
        let expected = format!("with hop-count at most {MAX_COUNTED_TOKENS}");
        return Err(list().wrong(format!("{tokens} tokens, {expected}")));
    }
    for (index, process) in processes.iter().enumerate().rev() {
        let tokens = process.tokens() as usize;
        let Some((_, counts)) = carried.pop_if(|(carrier, _)| *carrier == index) else {
            all.extend(std::iter::repeat_n(0, tokens));
            continue;
        };
        let found = counts.items()?.count();
        if found != tokens {
            let expected = format!("expected as many as tokens here, {tokens}");
            return Err(counts.wrong(format!("{found} given, {expected}")));
        }
        for item in counts.items()? {
            all.push(item.integer(0..=u32::MAX.into())? as u32);
        }
    }
    Ok(all)
}

/// What a process runs, with no fields that its program does not have.
fn program(fields: &Fields<'_>) -> Result<Program, StateFileError> {
    let given = fields.required("program")?;
    let program = given.name().and_then(|name| name.parse::<Program>().ok());
    let program = program.ok_or_else(|| {
        let names = Program::ALL.map(|program| format!("\"{program}\""));
        let (last, others) = names.split_last().expect("there are programs");
        let expected = format!("{} or {last}", others.join(", "));
        given.wrong(format!("{} given, expected {expected}", given.value))
    })?;
    fields.only(|name| match name {
        "program" | "queued" | "resting" | "counts" => true,
        "counter" => program.delays(),
        _ => {
            let mut variables = program.variables().iter();
            variables.any(|variable| variable.name() == name)
        }
    })?;
    Ok(program)
}

fn measuring(
    fields: &Fields<'_>,
    program: Program,
    default_limit: u32,
) -> Result<Measuring, StateFileError> {
    let tokens = fields.required("tokens")?.integer(1..=MAX_TOKENS)? as u32;
    let elapsed = fields.integer("elapsed", 0..=MAX_VALUE)? as u32;
    let limit = match fields.get("limit") {
        None => default_limit.max(elapsed),
        Some(limit) => limit.integer(1..=MAX_VALUE)? as u32,
    };
    let mut variables = Measuring::new(tokens, limit);
    for variable in program.variables() {
        if let Some(given) = fields.get(variable.name()) {
            let value = match variable {
                Variable::Timing => given.truth()?.into(),
                _ => given.integer(variable.domain(program, &variables))?,
            };
            variable.set(&mut variables, value);
        }
    }
    Ok(variables)
}

/// What a value is of.
#[derive(Clone, Copy, Default)]
struct Field {
    process: Option<usize>,
    /// Empty for the file and for a whole process.
    name: &'static str,
    item: Option<usize>,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(process) = self.process {
            let dot = if self.name.is_empty() { "" } else { "." };
            write!(f, "processes[{process}]{dot}")?;
        }
        f.write_str(self.name)?;
        self.item.map_or(Ok(()), |item| write!(f, "[{item}]"))
    }
}

/// A value: a slice of the text, and what it is of.
#[derive(Clone, Copy)]
struct Value<'a> {
    text: &'a str,
    value: &'a str,
    field: Field,
}

/// The fields of an object in their order, as they stand.
struct Fields<'a> {
    object: Value<'a>,
    values: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Value<'a> {
    fn wrong(&self, problem: impl Into<String>) -> StateFileError {
        let offset = self.value.as_ptr() as usize - self.text.as_ptr() as usize;
        let (line, column) = line_and_column(self.text, offset);
        StateFileError {
            line,
            column,
            field: self.field.to_string(),
            problem: problem.into(),
        }
    }

    fn integer(&self, allowed: RangeInclusive<i64>) -> Result<i64, StateFileError> {
        let number = self.value.parse().ok();
        number
            .filter(|number| allowed.contains(number))
            .ok_or_else(|| {
                let (first, last) = (allowed.start(), allowed.end());
                let expected = format!("expected a whole number from {first} to {last}");
                self.wrong(format!("{} given, {expected}", self.value))
            })
    }

    fn truth(&self) -> Result<bool, StateFileError> {
        let wrong = |_| self.wrong(format!("{} given, expected true or false", self.value));
        self.value.parse().map_err(wrong)
    }

    /// A text, borrowed unless it has escapes.
    fn name(&self) -> Option<Cow<'a, str>> {
        let inner = self.value.strip_prefix('"')?.strip_suffix('"')?;
        match inner.contains('\\') {
            true => serde_json::from_str(self.value).ok().map(Cow::Owned),
            false => Some(Cow::Borrowed(inner)),
        }
    }

    fn items(&self) -> Result<impl Iterator<Item = Value<'a>> + use<'a>, StateFileError> {
        let list = *self;
        if !list.value.starts_with('[') {
            return Err(list.wrong(format!("expected a list of {}", list.field)));
        }
        let items = parts(list.value).enumerate();
        Ok(items.map(move |(index, value)| list.item(index, value)))
    }

    /// A field of this object.
    fn named(&self, name: &'static str, value: &'a str) -> Value<'a> {
        let field = Field { name, ..self.field };
        Value {
            value,
            field,
            ..*self
        }
    }

    /// An item of this list: a process, or what a token of a process carries.
    fn item(&self, index: usize, value: &'a str) -> Value<'a> {
        let field = match self.field.process {
            None => Field {
                process: Some(index),
                ..Field::default()
            },
            Some(_) => Field {
                item: Some(index),
                ..self.field
            },
        };
        Value {
            value,
            field,
            ..*self
        }
    }

    /// Its fields, in a list that was used before.
    fn object(
        &self,
        mut values: Vec<(Cow<'a, str>, &'a str)>,
    ) -> Result<Fields<'a>, StateFileError> {
        if !self.value.starts_with('{') {
            return Err(self.wrong("expected an object { … }"));
        }
        values.clear();
        let mut fields = Fields {
            object: *self,
            values,
        };
        let mut parts = parts(self.value);
        while let (Some(value), Some(held)) = (parts.next(), parts.next()) {
            let name = Value { value, ..*self }
                .name()
                .unwrap_or(Cow::Borrowed(value));
            if fields.values.iter().any(|(other, _)| *other == name) {
                return Err(fields.wrong(&name, held, "given twice".to_owned()));
            }
            fields.values.push((name, held));
        }
        Ok(fields)
    }
}

/// What a list or an object holds, names of fields included, as it stands in a text that is
/// known to be JSON.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    // Without its brackets.
    let mut rest = &text[1..text.len() - 1];
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\n', '\r', '\t', ',', ':']);
        let (part, after) = rest.split_at(length(rest.as_bytes()));
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// How long the value is that a text begins with.
fn length(text: &[u8]) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let ends = |&byte: &u8| {
        if quoted {
            quoted = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            return false;
        }
        match byte {
            b'"' => quoted = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => return depth == 0,
            _ => {}
        }
        false
    };
    text.iter().position(ends).unwrap_or(text.len())
}

fn not_json(error: &serde_json::Error) -> StateFileError {
    StateFileError {
        // Before the first character of a line, serde_json says 0.
        line: error.line().max(1),
        column: error.column().max(1),
        field: String::new(),
        problem: match error.classify() {
            Category::Eof => "the file ends too early".to_owned(),
            // Without serde_json's own line numbers.
            _ => {
                let reason = error.to_string();
                let end = reason.rfind(" at line ").unwrap_or(reason.len());
                format!("not JSON: {}", &reason[..end])
            }
        },
    }
}

impl<'a> Fields<'a> {
    fn get(&self, name: &'static str) -> Option<Value<'a>> {
        let (_, value) = self.values.iter().find(|(field, _)| field == name)?;
        Some(self.object.named(name, value))
    }

    fn required(&self, name: &'static str) -> Result<Value<'a>, StateFileError> {
        let missing = || self.object.named(name, self.object.value);
        self.get(name).ok_or_else(|| missing().wrong("missing"))
    }

    /// An integer, 0 if it is left out.
    fn integer(
        &self,
        name: &'static str,
        allowed: RangeInclusive<i64>,
    ) -> Result<i64, StateFileError> {
        self.get(name).map_or(Ok(0), |value| value.integer(allowed))
    }

    /// Something is wrong with a field of any name.
    fn wrong(&self, name: &str, value: &'a str, problem: String) -> StateFileError {
        let error = self.object.named("", value).wrong(problem);
        let dot = if error.field.is_empty() { "" } else { "." };
        let field = format!("{}{dot}{name}", error.field);
        StateFileError { field, ..error }
    }

    /// Refuses the first field that is not known.
    fn only(&self, known: impl Fn(&str) -> bool) -> Result<(), StateFileError> {
        match self.values.iter().find(|(name, _)| !known(name)) {
            None => Ok(()),
            Some((name, value)) => {
                let variables = Variable::ALL.iter().map(|variable| variable.name());
                let usual = ["program", "queued", "resting", "counter"].into_iter();
                let names = usual
                    .chain(variables)
                    .chain(["counts", "separation", "processes"]);
                let known: Vec<&str> = names.filter(|name| known(name)).collect();
                let problem = format!("unknown field; expected {}", known.join(", "));
                Err(self.wrong(name, value, problem))
            }
        }
    }
}
