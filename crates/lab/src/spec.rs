//! A sweep: which grids, how many samples, what to measure, what to draw.

use std::collections::BTreeSet;
use std::fmt;

use thiserror::Error;

use crate::cell::{Cell, Value};
use crate::model::{CellError, Engine, Model};

mod reader;
mod values;

use values::values_of;

/// A sweep with more cells is refused as a mistake.
const MAX_CELLS: usize = 1_000_000;

/// A sweep, ready to be run.
pub struct Sweep {
    /// Its name: letters, digits and hyphens, because files are named after it.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// What it is about, in a paragraph.
    pub about: String,
    /// What is swept.
    pub model: &'static Model,
    /// The seed of every random choice.
    pub seed: u64,
    /// Samples per cell.
    pub samples: u64,
    /// What is measured: indices into the model's measures.
    pub measures: Vec<usize>,
    /// Percentiles to keep, 0 to 100.
    pub percentiles: Vec<f64>,
    /// Whether every sample gets a row of its own as well.
    pub sample_rows: bool,
    /// The cells, grid by grid, the first axis slowest.
    pub cells: Vec<Cell>,
    /// What is drawn.
    pub figures: Vec<Figure>,
    /// The sweep file, if it came from one.
    pub text: Option<String>,
}

/// The values of an axis as written: numbers, formulas, ranges, words.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// As written.
    pub(crate) text: String,
    /// Where in the sweep file.
    pub(crate) at: usize,
}

/// A grid as written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    /// Its name; figures refer to it.
    pub(crate) name: String,
    /// Axis by axis. An axis that is not here has its default.
    pub(crate) axes: Vec<(String, Vec<Entry>)>,
    /// Where in the sweep file.
    pub(crate) at: usize,
}

/// A figure to draw.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Files are named after it.
    pub name: String,
    /// Above the picture.
    pub title: String,
    /// Lines or a heat map.
    pub kind: FigureKind,
    /// Which grids; all when empty.
    pub grids: Vec<String>,
    /// An axis or a measure.
    pub x: String,
    /// Lines: measures, one line each. Heat map: one axis.
    pub y: Vec<String>,
    /// Lines: axes, one line for each combination of their values; `grid` stands
    /// for the grid's name.
    pub series: Vec<String>,
    /// Heat map: the measure that gives the colour.
    pub colour: String,
    /// Which numbers of a tally: one line each. A heat map shows the first.
    pub statistics: Vec<Statistic>,
    /// Below the picture.
    pub x_label: String,
    /// Beside the picture.
    pub y_label: String,
    /// Logarithmic axes.
    pub log: (bool, bool),
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureKind {
    /// Lines with 95% confidence bands.
    Lines,
    /// A colour for each pair of axis values.
    HeatMap,
}

/// Which number of a tally is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The mean, with its confidence band.
    Mean,
    /// The smallest sample.
    Min,
    /// The largest sample.
    Max,
    /// A percentile that the sweep keeps.
    Percentile(f64),
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statistic::Mean => f.write_str("mean"),
            Statistic::Min => f.write_str("smallest"),
            Statistic::Max => f.write_str("largest"),
            Statistic::Percentile(percentile) if *percentile == 50.0 => f.write_str("median"),
            Statistic::Percentile(percentile) => write!(f, "{percentile}% at most"),
        }
    }
}

/// A sweep that cannot be run. Nothing was done.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{key}: {message}")]
pub struct SpecError {
    /// The key at fault, such as `grid.separation` or `measure`.
    pub key: String,
    /// What is wrong and what was expected.
    pub message: String,
    /// Where in the sweep file, in bytes.
    pub at: usize,
}

impl SpecError {
    pub(crate) fn new(key: impl Into<String>, at: usize, message: impl Into<String>) -> SpecError {
        SpecError {
            key: key.into(),
            message: message.into(),
            at,
        }
    }

    /// Line and column of the place in `text`, from 1.
    pub fn line_and_column(&self, text: &str) -> (usize, usize) {
        headway_sim::line_and_column(text, self.at)
    }
}

impl Sweep {
    /// Reads a sweep file.
    ///
    /// ```
    /// use headway_lab::Sweep;
    /// let sweep = Sweep::parse(r#"
    ///     name = "small"
    ///     samples = 20
    ///     measure = ["legitimate_at"]
    ///     [[grid]]
    ///     processes = 12
    ///     tokens = [2, 3]
    ///     delays = "1..12"
    /// "#).unwrap();
    /// assert_eq!(sweep.cells.len(), 24);
    /// assert_eq!(sweep.cells[0].number("separation"), 6, "n/m unless it is given");
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong, under which key, and where.
    pub fn parse(text: &str) -> Result<Sweep, SpecError> {
        reader::read(text)
    }

    /// Adds the cells of a grid.
    pub(crate) fn add_grid(&mut self, grid: &Grid) -> Result<(), SpecError> {
        for (index, (name, entries)) in grid.axes.iter().enumerate() {
            let at = entries.first().map_or(grid.at, |entry| entry.at);
            if !self.model.axes.iter().any(|axis| axis.name == name) {
                return Err(SpecError::new(
                    format!("grid.{name}"),
                    at,
                    format!(
                        "the model '{}' has no such axis; expected {}",
                        self.model.name,
                        list(self.model.axes.iter().map(|axis| axis.name))
                    ),
                ));
            }
            if grid.axes[..index].iter().any(|(other, _)| other == name) {
                return Err(SpecError::new(format!("grid.{name}"), at, "is given twice"));
            }
            if entries.is_empty() {
                return Err(SpecError::new(
                    format!("grid.{name}"),
                    at,
                    "is an empty list; give at least one value",
                ));
            }
        }
        let mut seen = BTreeSet::new();
        self.expand(grid, &mut Vec::new(), &mut seen)
    }

    /// Fixes the axes from left to right, because formulas look left.
    fn expand(
        &mut self,
        grid: &Grid,
        fixed: &mut Vec<(&'static str, Value)>,
        seen: &mut BTreeSet<Vec<Value>>,
    ) -> Result<(), SpecError> {
        let Some(axis) = self.model.axes.get(fixed.len()) else {
            let values: Vec<Value> = fixed.iter().map(|(_, value)| value.clone()).collect();
            if !seen.insert(values) {
                return Ok(());
            }
            return self.add_cell(grid, fixed.clone());
        };
        let given = grid.axes.iter().find(|(name, _)| name == axis.name);
        let default = [Entry {
            text: axis.default.to_owned(),
            at: grid.at,
        }];
        let entries = given.map_or(&default[..], |(_, entries)| entries);
        for entry in entries {
            for value in values_of(axis, entry, fixed, self.model.axes)? {
                fixed.push((axis.name, value));
                self.expand(grid, fixed, seen)?;
                fixed.pop();
            }
        }
        Ok(())
    }

    fn add_cell(
        &mut self,
        grid: &Grid,
        values: Vec<(&'static str, Value)>,
    ) -> Result<(), SpecError> {
        if self.cells.len() >= MAX_CELLS {
            return Err(SpecError::new(
                "grid",
                grid.at,
                format!("the sweep has more than {MAX_CELLS} cells; give fewer values"),
            ));
        }
        let cell = Cell {
            index: self.cells.len() as u32,
            grid: grid.name.clone(),
            values,
        };
        (self.model.sampler)(&cell, &self.measures, Engine::Auto).map_err(
            |CellError { axis, message }| {
                let given = grid.axes.iter().find(|(name, _)| name == axis);
                let at = given.and_then(|(_, entries)| entries.first());
                SpecError::new(
                    format!("grid.{axis}"),
                    at.map_or(grid.at, |entry| entry.at),
                    message,
                )
            },
        )?;
        self.cells.push(cell);
        Ok(())
    }

    /// The names of the measures.
    pub fn measure_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.measures
            .iter()
            .map(|&index| self.model.measures[index].name)
    }

    /// Chooses the measures.
    pub(crate) fn set_measures(&mut self, names: &[Entry]) -> Result<(), SpecError> {
        let known = self.model.measures;
        self.measures.clear();
        for name in names {
            let index = known
                .iter()
                .position(|measure| measure.name == name.text)
                .ok_or_else(|| {
                    let all = list(known.iter().map(|measure| measure.name));
                    let message = format!("there is no '{}'; expected {all}", name.text);
                    SpecError::new("measure", name.at, message)
                })?;
            if !self.measures.contains(&index) {
                self.measures.push(index);
            }
        }
        if self.measures.is_empty() {
            return Err(SpecError::new("measure", 0, "is empty; measure something"));
        }
        Ok(())
    }

    /// The seed of a cell, from which all its samples are made.
    pub(crate) fn cell_seed(&self, cell: &Cell) -> u64 {
        use headway_sim::seed::{Purpose, Random};
        // Below 2^63, so that adding a sample's number does not wrap.
        Random::new(self.seed, Purpose::Other(cell.index)).below(1 << 63)
    }

    /// A number for everything that decides the results. Parts with different
    /// fingerprints do not belong together.
    pub fn fingerprint(&self) -> u64 {
        let mut text = format!(
            "{}|{}|{}|{}|{:?}|{:?}|{}",
            self.name,
            self.model.name,
            self.seed,
            self.samples,
            self.measures,
            self.percentiles,
            self.sample_rows
        );
        for cell in &self.cells {
            text.push_str(&format!("|{}", cell.grid));
            for (axis, value) in &cell.values {
                text.push_str(&format!(",{axis}={value}"));
            }
        }
        // FNV-1a: a check against mistakes, not against malice.
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}

/// `a, b or c`.
pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some((last, _)) => (*last).to_owned(),
        None => String::new(),
    }
}
