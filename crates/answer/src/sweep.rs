//! Grids of rings, measured.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use headway_lab::{Sweep, Value};

use crate::instance::{BYTES_PER_PROCESS, BYTES_PER_TOKEN, check_memory};
use crate::sentence::{set, setting};
use crate::{Failure, say};

/// A sweep of rings, described by values for its axes: they are written down as a sweep
/// file, so that there is one way to read a sweep, and its results can hold the file.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Of the results.
    pub name: String,
    /// The values of each axis; one without values is left out.
    pub axes: Vec<(String, Vec<String>)>,
    /// None: when the rings settle.
    pub measure: Vec<String>,
    /// Percentiles to keep.
    pub percentiles: Vec<String>,
    /// What to draw the first measure against.
    pub x: Option<String>,
    /// A line for every combination of values of these axes.
    pub series: Vec<String>,
}

impl Grid {
    /// The sweep file, and the sweep.
    ///
    /// # Errors
    ///
    /// The flag that is wrong.
    pub fn sweep(&self) -> Result<(String, Sweep), Failure> {
        let text = self.toml();
        let sweep = Sweep::parse(&text).map_err(|error| {
            let key = error.key.trim_start_matches("grid.").replace("figure.", "");
            Failure::of(say![setting(&key), format!(": {}", error.message)])
        })?;
        Ok((text, sweep))
    }

    fn toml(&self) -> String {
        let list = |values: &[String]| {
            let quoted: Vec<String> = values.iter().map(|value| quote(value)).collect();
            format!("[{}]", quoted.join(", "))
        };
        let measures = if self.measure.is_empty() {
            vec!["legitimate_at".to_owned(), "last_rest".to_owned()]
        } else {
            self.measure.clone()
        };
        let mut text = format!(
            "name = {}\nmeasure = {}\n",
            quote(&self.name),
            list(&measures)
        );
        if !self.percentiles.is_empty() {
            let _ = writeln!(text, "percentiles = {}", list(&self.percentiles));
        }
        text.push_str("\n[[grid]]\n");
        for (name, values) in &self.axes {
            if !values.is_empty() {
                let _ = writeln!(text, "{name} = {}", list(values));
            }
        }
        if let Some(x) = &self.x {
            let first = measures.iter().find(|measure| *measure != x);
            let y = first.unwrap_or(&measures[0]);
            let _ = writeln!(
                text,
                "\n[[figure]]\nname = \"figure\"\nx = {}\ny = {}\nseries = {}",
                quote(x),
                quote(y),
                list(&self.series)
            );
        }
        text
    }
}

/// A TOML basic string.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A million seconds' work, if samples are quick; more is a mistake.
const MAX_SAMPLES: u64 = 1_000_000_000_000;

/// Refuses what would never end or does not fit in memory, before anything is written.
///
/// # Errors
///
/// What to change.
pub fn admit(sweep: &Sweep, threads: Option<NonZeroUsize>) -> Result<(), Failure> {
    let cells = sweep.cells.len() as u64;
    let samples = cells.checked_mul(sweep.samples);
    if samples.is_none_or(|samples| samples > MAX_SAMPLES) {
        return Err(Failure::new(format!(
            "{cells} cells of {} samples would take more than 11 days at a million samples a second",
            sweep.samples
        ))
        .advice(say![
            "give at most ",
            set("samples", MAX_SAMPLES / cells.max(1)),
        ]));
    }
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = threads.map_or_else(cores, NonZeroUsize::get) as u64;
    for (axis, bytes) in [
        ("processes", BYTES_PER_PROCESS),
        ("tokens", BYTES_PER_TOKEN),
    ] {
        let values = sweep.cells.iter().filter_map(|cell| match cell.get(axis) {
            Some(Value::Number(number)) => u64::try_from(*number).ok(),
            _ => None,
        });
        // Every thread has a ring of its own.
        check_memory(axis, values.max().unwrap_or(0), bytes * threads)?;
    }
    Ok(())
}
