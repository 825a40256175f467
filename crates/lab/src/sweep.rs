//! Running a sweep on all cores.
//!
//! The work is cut into units: successive samples of one cell. Threads take units in
//! order; one collector joins their exact tallies and hands out finished cells in
//! order. Neither the number of threads nor the size of a unit can change a result,
//! and memory does not grow with the number of samples: rows for every sample are
//! handed out as they come.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use headway_core::{Configuration, Ring};
use thiserror::Error;

use crate::model::{Engine, Sampler};
use crate::spec::Sweep;
use crate::tally::{Summary, Tally};

mod part;

pub use part::{JoinError, Measured, Samples, join, measure, part};

/// The most samples that a thread takes at a time.
const MAX_UNIT: u64 = 8192;
/// The same where each leaves a row, of which some dozen units may wait.
const MAX_UNIT_WITH_ROWS: u64 = 1024;
/// The fewest.
const MIN_UNIT: u64 = 64;

/// A finished cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellResult {
    /// Its number in the sweep.
    pub index: u32,
    /// One for each measure of the sweep.
    pub summaries: Vec<Summary>,
}

/// How to run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How many threads; `None`: one per core.
    pub threads: Option<NonZeroUsize>,
    /// How ring samples are made.
    pub engine: Engine,
    /// The cells to do, ascending; `None`: all.
    pub cells: Option<Vec<u32>>,
}

/// Why a sweep stopped. Finished cells have been handed out.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SweepError {
    /// A sample could not be made.
    #[error("cell {cell}, sample {sample}: {message}")]
    Sample {
        /// Which cell.
        cell: u32,
        /// Which sample of it.
        sample: u64,
        /// Why.
        message: String,
    },
    /// The receiver of finished cells wants no more of them.
    #[error("{0}")]
    Receiver(String),
}

/// What a running sweep reports.
#[derive(Debug)]
pub enum SweepEvent {
    /// This many more samples are done.
    Samples(u64),
    /// Samples of the next cell, if the sweep wants rows for them; they come in
    /// order, all of them before their cell.
    Rows(SampleRows),
    /// A cell is finished; cells come in order.
    Cell(CellResult),
}

/// What was measured in some successive samples of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleRows {
    /// The cell's number in the sweep.
    pub cell: u32,
    /// The number of the first of these samples.
    pub first: u64,
    /// One value for each measure, sample by sample.
    pub rows: Vec<Vec<Option<i64>>>,
}

/// Runs the whole sweep and returns its cells.
///
/// # Errors
///
/// As [`run`].
pub fn run_all(sweep: &Sweep, threads: usize) -> Result<Vec<CellResult>, SweepError> {
    let options = Options {
        threads: NonZeroUsize::new(threads),
        ..Options::default()
    };
    let mut cells = Vec::new();
    run(sweep, &options, &AtomicBool::new(false), |event| {
        if let SweepEvent::Cell(cell) = event {
            cells.push(cell);
        }
        Ok(())
    })?;
    Ok(cells)
}

/// Runs until all cells are done or `stop` is set; `tell` hears of every finished
/// cell. Returns whether all were done.
///
/// # Errors
///
/// When a sample cannot be made, or `tell` fails.
pub fn run(
    sweep: &Sweep,
    options: &Options,
    stop: &AtomicBool,
    mut tell: impl FnMut(SweepEvent) -> Result<(), String>,
) -> Result<bool, SweepError> {
    let cells: Vec<u32> = match &options.cells {
        Some(cells) => cells.clone(),
        None => (0..sweep.cells.len() as u32).collect(),
    };
    let threads = options
        .threads
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get);
    let unit_samples = unit_samples(sweep, cells.len(), threads);
    let units_per_cell = usize::try_from(sweep.samples.div_ceil(unit_samples));
    let units_per_cell = units_per_cell.unwrap_or(usize::MAX);
    let units = cells.len().saturating_mul(units_per_cell);
    let threads = threads.min(units.max(1));
    let next = AtomicUsize::new(0);
    // Units joined so far: nobody may be further ahead of it than a window, or one
    // slow unit would let finished ones pile up behind it.
    let joined = AtomicUsize::new(0);
    let window = 16 * threads;
    let halt = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(4 * threads);
        for _ in 0..threads {
            let sender = sender.clone();
            let (cells, next, joined, halt) = (&cells, &next, &joined, &halt);
            scope.spawn(move || {
                let mut worker = Worker {
                    sweep,
                    engine: options.engine,
                    sampler: None,
                };
                while !stop.load(Ordering::Relaxed) && !halt.load(Ordering::Relaxed) {
                    let unit = next.fetch_add(1, Ordering::Relaxed);
                    if unit >= units {
                        break;
                    }
                    while unit >= joined.load(Ordering::Relaxed) + window
                        && !halt.load(Ordering::Relaxed)
                        && !stop.load(Ordering::Relaxed)
                    {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    let first = (unit % units_per_cell) as u64 * unit_samples;
                    let samples = Samples {
                        cell: cells[unit / units_per_cell],
                        first,
                        count: unit_samples.min(sweep.samples - first),
                    };
                    let Some(done) = worker.measure(samples, stop).transpose() else {
                        break;
                    };
                    if sender.send((unit, done)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut collector = Collector {
            sweep,
            units_per_cell,
            waiting: BTreeMap::new(),
            next: 0,
            current: None,
        };
        let mut outcome = Ok(());
        // Until the last worker has left, even after a failure: none may block.
        for (unit, done) in receiver {
            if outcome.is_ok() {
                outcome = done.and_then(|done| collector.receive(unit, done, &mut tell));
                joined.store(collector.next, Ordering::Relaxed);
                halt.store(outcome.is_err(), Ordering::Relaxed);
            }
        }
        outcome.map(|()| collector.next == units)
    })
}

/// Large units cost less to hand over, but every thread needs many of them, so that
/// all threads have work to the end.
fn unit_samples(sweep: &Sweep, cells: usize, threads: usize) -> u64 {
    let fair = sweep.samples.saturating_mul(cells as u64) / (64 * threads as u64);
    let largest = if sweep.sample_rows {
        MAX_UNIT_WITH_ROWS
    } else {
        MAX_UNIT
    };
    fair.clamp(MIN_UNIT, largest)
}

/// The ring and the initial state of a sample; `None` if the sweep has no such
/// sample, or its model no such state.
pub fn state(sweep: &Sweep, cell: u32, sample: u64) -> Option<(Ring, Configuration)> {
    let cell = sweep.cells.get(cell as usize)?;
    if sample >= sweep.samples {
        return None;
    }
    let sampler = (sweep.model.sampler)(cell, &sweep.measures, Engine::Auto);
    let seed = sweep.cell_seed(cell).wrapping_add(sample);
    sampler.ok()?.state(seed)
}

struct Worker<'a> {
    sweep: &'a Sweep,
    engine: Engine,
    /// That of the cell worked on last.
    sampler: Option<(u32, Box<dyn Sampler>)>,
}

impl Worker<'_> {
    /// `None` when it has been stopped.
    fn measure(&mut self, of: Samples, stop: &AtomicBool) -> Result<Option<Measured>, SweepError> {
        let sweep = self.sweep;
        let cell = &sweep.cells[of.cell as usize];
        let failed = |sample, message| SweepError::Sample {
            cell: of.cell,
            sample,
            message,
        };
        let sampler = match &mut self.sampler {
            Some((index, sampler)) if *index == of.cell => sampler,
            other => {
                let sampler = (sweep.model.sampler)(cell, &sweep.measures, self.engine)
                    .map_err(|error| failed(of.first, error.message))?;
                &mut other.insert((of.cell, sampler)).1
            }
        };
        let seed = sweep.cell_seed(cell);
        let mut done = Measured {
            of,
            tallies: empty_tallies(sweep),
            rows: Vec::new(),
        };
        let mut measured = vec![None; sweep.measures.len()];
        for number in of.first..of.first + of.count {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            sampler
                .sample(seed.wrapping_add(number), &mut measured)
                .map_err(|error| failed(number, error.to_string()))?;
            for (tally, &value) in done.tallies.iter_mut().zip(&measured) {
                tally.add(value);
            }
            if sweep.sample_rows {
                done.rows.push(measured.clone());
            }
        }
        Ok(Some(done))
    }
}

fn empty_tallies(sweep: &Sweep) -> Vec<Tally> {
    vec![Tally::new(!sweep.percentiles.is_empty()); sweep.measures.len()]
}

/// Puts units back in order and joins them to cells.
struct Collector<'a> {
    sweep: &'a Sweep,
    units_per_cell: usize,
    waiting: BTreeMap<usize, Measured>,
    next: usize,
    current: Option<Vec<Tally>>,
}

impl Collector<'_> {
    fn receive(
        &mut self,
        unit: usize,
        done: Measured,
        tell: &mut impl FnMut(SweepEvent) -> Result<(), String>,
    ) -> Result<(), SweepError> {
        tell(SweepEvent::Samples(done.of.count)).map_err(SweepError::Receiver)?;
        self.waiting.insert(unit, done);
        while let Some(done) = self.waiting.remove(&self.next) {
            let Samples { cell, first, .. } = done.of;
            if !done.rows.is_empty() {
                let rows = done.rows;
                let rows = SampleRows { cell, first, rows };
                tell(SweepEvent::Rows(rows)).map_err(SweepError::Receiver)?;
            }
            let current = self
                .current
                .get_or_insert_with(|| empty_tallies(self.sweep));
            for (tally, more) in current.iter_mut().zip(&done.tallies) {
                tally.join(more);
            }
            self.next += 1;
            if self.next.is_multiple_of(self.units_per_cell)
                && let Some(finished) = self.current.take()
            {
                let summaries = finished.iter();
                let percentiles = &self.sweep.percentiles;
                tell(SweepEvent::Cell(CellResult {
                    index: cell,
                    summaries: summaries.map(|t| t.summary(percentiles)).collect(),
                }))
                .map_err(SweepError::Receiver)?;
            }
        }
        Ok(())
    }
}
