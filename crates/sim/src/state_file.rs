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

use std::fmt::Write as _;

use headway_core::{Configuration, Measuring, Process, Program, Ring, Variable};
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
    );
    let mut counts = state.counts.len();
    for (index, process) in state.processes.iter().enumerate() {
        let program = ring.programs()[index];
        text.push_str("    ");
        write_process(&mut text, program, process, state.measuring.get(&index));
        let here = counts.saturating_sub(process.tokens() as usize);
        if here < counts {
            let _ = write!(text, ", \"counts\": {:?}", &state.counts[here..counts]);
        }
        counts = here;
        text.push('}');
        let last = index + 1 == state.processes.len();
        text.push_str(if last { "\n" } else { ",\n" });
    }
    text.push_str("  ] }\n");
    text
}

fn write_process(
    text: &mut String,
    program: Program,
    process: &Process,
    variables: Option<&Measuring>,
) {
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "{{\"program\": \"{program}\", \"queued\": {}, \"resting\": {}",
        process.queued, process.resting
    );
    if program.delays() {
        let _ = write!(text, ", \"counter\": {}", process.counter);
    }
    if let Some(v) = variables {
        for variable in program.variables() {
            let _ = match (variable, variable.get(v)) {
                (Variable::Timing, _) => write!(text, ", \"timing\": {}", v.timing),
                (_, Some(value)) => write!(text, ", \"{}\": {value}", variable.name()),
                (_, None) => Ok(()),
            };
        }
    }
}

/// Line and column, in characters and from 1, of a byte offset into a text.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}
