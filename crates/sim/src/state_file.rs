//! The state file: a ring and its state as JSON.
//!
//! ```json
//! { "separation": 3,
//!   "processes": [ {"program": "delay", "queued": 0, "resting": 2, "counter": 1},
//!                  {"program": "relay", "queued": 1, "resting": 0} ] }
//! ```
//!
//! `program` is one of [`Program::ALL`]. `queued`, `resting` and `counter` may be left
//! out and are then 0. A measuring process needs `tokens` (how many circulate) and may
//! have `timing`, `elapsed`, `ignore`, `base` (default: nothing measured yet) and
//! `limit`, where `elapsed` saturates (default: twice the ring's size). Beside these,
//! `shortest-lap` has `previous`, `arrived` and `shortest`, `shortest-lap-epochs` has
//! `best`, `last`, `seen` and `horizon`, and `hop-count` has `mark`. Where some process
//! runs `hop-count`, any process may have `counts`, what its tokens carry in the order
//! in which they leave (default: 0 each). Anything else is an error that names line,
//! column and field.

use std::borrow::Cow;
use std::io::{self, Write};

use headway_core::{Configuration, Measuring, Process, Program, Ring, Variable};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::ser::Formatter;
use thiserror::Error;

mod reader;

/// A ring and one of its states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFile {
    /// Programs and separation.
    pub ring: Ring,
    /// The state; [`Ring::admits`] holds.
    pub configuration: Configuration,
}

/// What is wrong with a state file, and where.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}, column {column}: {}{problem}", if .field.is_empty() { String::new() } else { format!("{}: ", .field) })]
pub struct StateFileError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The field, as in `processes[3].counter`; empty for the file as a whole.
    pub field: String,
    /// What was found and what was expected.
    pub problem: String,
}

impl StateFile {
    /// Reads a state file.
    ///
    /// ```
    /// use headway_sim::StateFile;
    /// let text = r#"{ "separation": 2, "processes": [
    ///     {"program": "delay", "resting": 2, "counter": 1},
    ///     {"program": "relay", "queued": 1},
    ///     {"program": "relay"}, {"program": "delay", "counter": 3} ] }"#;
    /// let error = StateFile::parse(text).unwrap_err();
    /// assert_eq!((error.line, error.field.as_str()), (4, "processes[3].counter"));
    /// ```
    ///
    /// # Errors
    ///
    /// The first thing wrong, with its place.
    pub fn parse(text: &str) -> Result<StateFile, StateFileError> {
        // Without the byte-order mark that some editors put before a text.
        reader::parse(text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// Writes the state file, one line per process.
    pub fn render(&self) -> String {
        render(&self.ring, &self.configuration)
    }
}

/// The state file of a ring and a state, one line per process.
pub fn render(ring: &Ring, state: &Configuration) -> String {
    let mut text = format!(
        "{{ \"separation\": {},\n  \"processes\": [\n",
        ring.separation()
    )
    .into_bytes();
    let mut before = "    ";
    for process in processes(ring, state) {
        text.extend(before.bytes());
        before = ",\n    ";
        let mut line = serde_json::Serializer::with_formatter(&mut text, Spaced);
        process.serialize(&mut line).expect("text takes everything");
    }
    text.extend(b"\n  ] }\n");
    String::from_utf8(text).expect("JSON is text")
}

/// A ring and a state in the form of the state file, as JSON in any layout.
#[derive(Clone, Debug)]
pub struct AsStateFile<'a> {
    /// The ring.
    pub ring: &'a Ring,
    /// Its state.
    pub state: Cow<'a, Configuration>,
}

impl Serialize for AsStateFile<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Processes<'a>(&'a AsStateFile<'a>);
        impl Serialize for Processes<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(processes(self.0.ring, &self.0.state))
            }
        }
        let mut file = serializer.serialize_map(Some(2))?;
        file.serialize_entry("separation", &self.ring.separation().hops())?;
        file.serialize_entry("processes", &Processes(self))?;
        file.end()
    }
}

/// A process as the state file has it.
struct Line<'a> {
    program: Program,
    process: &'a Process,
    variables: Option<&'a Measuring>,
    counts: &'a [u32],
}

fn processes<'a>(ring: &'a Ring, state: &'a Configuration) -> impl Iterator<Item = Line<'a>> {
    let mut counts = state.counts.as_slice();
    let lines = ring.programs().iter().zip(&state.processes).enumerate();
    lines.map(move |(index, (&program, process))| {
        // The last of them are those of the first process.
        let others = counts.len().saturating_sub(process.tokens() as usize);
        let own;
        (counts, own) = counts.split_at(others);
        Line {
            program,
            process,
            variables: state.measuring.get(&index),
            counts: own,
        }
    })
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("program", self.program.name())?;
        fields.serialize_entry("queued", &self.process.queued)?;
        fields.serialize_entry("resting", &self.process.resting)?;
        if self.program.delays() {
            fields.serialize_entry("counter", &self.process.counter)?;
        }
        if let Some(of) = self.variables {
            for variable in self.program.variables() {
                match (variable, variable.get(of)) {
                    (Variable::Timing, _) => fields.serialize_entry("timing", &of.timing)?,
                    (_, Some(value)) => fields.serialize_entry(variable.name(), &value)?,
                    (_, None) => {}
                }
            }
        }
        if !self.counts.is_empty() {
            fields.serialize_entry("counts", self.counts)?;
        }
        fields.end()
    }
}

/// JSON on one line, with spaces between its parts.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

/// Line and column, in characters and from 1, of a byte offset into a text.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}
