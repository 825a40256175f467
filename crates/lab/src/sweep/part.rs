//! Parts of a sweep that other machines do, and their exact sum.
//!
//! A sweep's samples are in one line, cell by cell. A part is a piece of that line, always
//! the same one for the same sweep and number of parts, whoever does it and however often.
//! Tallies are exact, so that joined parts are what one machine finds, bit for bit.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{CellResult, SweepError, Worker, empty_tallies};
use crate::model::Engine;
use crate::spec::Sweep;
use crate::tally::Tally;

/// Some successive samples of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Samples {
    /// The cell's number in the sweep.
    pub cell: u32,
    /// The number of the first of them.
    pub first: u64,
    /// How many.
    pub count: u64,
}

/// What was measured in them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Which samples.
    pub of: Samples,
    /// One for each measure.
    pub tallies: Vec<Tally>,
    /// One value for each measure, sample by sample, if the sweep wants rows.
    pub rows: Vec<Vec<Option<i64>>>,
}

/// Why parts do not make a whole.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinError {
    /// Samples that nobody has done.
    #[error("samples {first} to {} of cell {cell} are missing", end - 1)]
    Missing {
        /// Which cell.
        cell: u32,
        /// The first of them.
        first: u64,
        /// The one after the last.
        end: u64,
    },
    /// Samples that were counted twice, or are none of the sweep's.
    #[error("samples {} to {} of cell {} are there twice or are not of this sweep", .0.first, .0.first + .0.count.saturating_sub(1), .0.cell)]
    Superfluous(Samples),
}

/// Part `index` of `parts` (from 0), as pieces of cells.
pub fn part(sweep: &Sweep, index: u64, parts: u64) -> Vec<Samples> {
    let all = u128::from(sweep.samples) * sweep.cells.len() as u128;
    let at = |index: u64| all * u128::from(index) / u128::from(parts.max(1));
    let (mut from, to) = (at(index), at(index + 1).min(all));
    let mut pieces = Vec::new();
    while from < to {
        let samples = u128::from(sweep.samples);
        let first = from % samples;
        let count = (samples - first).min(to - from);
        pieces.push(Samples {
            cell: (from / samples) as u32,
            first: first as u64,
            count: count as u64,
        });
        from += count;
    }
    pieces
}

/// Does some samples in this thread; `None` when it was stopped.
///
/// # Errors
///
/// When a sample cannot be made.
pub fn measure(
    sweep: &Sweep,
    samples: Samples,
    engine: Engine,
    stop: &AtomicBool,
) -> Result<Option<Measured>, SweepError> {
    let mut worker = Worker {
        sweep,
        engine,
        sampler: None,
    };
    worker.measure(samples, stop)
}

/// The cells of a whole sweep from its parts, in any order.
///
/// # Errors
///
/// When a sample is missing, or there twice.
pub fn join(sweep: &Sweep, mut parts: Vec<Measured>) -> Result<Vec<CellResult>, JoinError> {
    parts.sort_by_key(|part| part.of);
    let mut parts = parts
        .into_iter()
        .filter(|part| part.of.count > 0)
        .peekable();
    let mut cells = Vec::new();
    for cell in 0..sweep.cells.len() as u32 {
        let mut done = 0;
        let mut tallies = empty_tallies(sweep);
        while done < sweep.samples {
            let next = parts.peek().map(|part| part.of);
            let end = match next {
                Some(of) if of.cell == cell && of.first == done => done.saturating_add(of.count),
                Some(of) if of.cell < cell || of.cell == cell && of.first < done => {
                    return Err(JoinError::Superfluous(of));
                }
                Some(of) if of.cell == cell => {
                    let (first, end) = (done, of.first);
                    return Err(JoinError::Missing { cell, first, end });
                }
                _ => {
                    let (first, end) = (done, sweep.samples);
                    return Err(JoinError::Missing { cell, first, end });
                }
            };
            if let Some(part) = parts.next() {
                for (tally, more) in tallies.iter_mut().zip(&part.tallies) {
                    tally.join(more);
                }
            }
            done = end;
        }
        let summary = |tally: &Tally| tally.summary(&sweep.percentiles);
        cells.push(CellResult {
            index: cell,
            summaries: tallies.iter().map(summary).collect(),
        });
    }
    match parts.next() {
        None => Ok(cells),
        Some(part) => Err(JoinError::Superfluous(part.of)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::run_all;

    fn sweep() -> Sweep {
        Sweep::parse(
            "name = \"t\"\nmeasure = [\"legitimate_at\", \"flow\"]\npercentiles = [\"50\", \"99\"]\nsamples = 37\n\n[[grid]]\n\
             processes = [20, 24]\ntokens = [\"1..3\"]\n",
        )
        .expect("a sweep")
    }

    fn done(sweep: &Sweep, parts: u64) -> Vec<Measured> {
        let never = AtomicBool::new(false);
        let pieces = (0..parts).flat_map(|index| part(sweep, index, parts));
        let measured = pieces.map(|of| measure(sweep, of, Engine::Auto, &never));
        measured
            .map(|part| part.expect("made").expect("whole"))
            .collect()
    }

    /// However it is cut, in whatever order it comes, and by way of JSON.
    #[test]
    fn joined_parts_are_what_one_machine_finds() {
        let sweep = sweep();
        let whole = run_all(&sweep, 2).expect("done");
        for parts in [1, 2, 5, 6, 100, 1000] {
            let mut found = done(&sweep, parts);
            found.reverse();
            let text = serde_json::to_string(&found).expect("JSON");
            let again = serde_json::from_str(&text).expect("the same");
            assert_eq!(join(&sweep, again), Ok(whole.clone()), "{parts} parts");
        }
    }

    #[test]
    fn counter_test_a_part_less_or_more_is_noticed() {
        let sweep = sweep();
        let whole = done(&sweep, 9);
        for at in 0..whole.len() {
            let mut less = whole.clone();
            let of = less.remove(at).of;
            let missing = join(&sweep, less).expect_err("a hole");
            assert!(
                matches!(missing, JoinError::Missing { cell, first, .. } if (cell, first) == (of.cell, of.first))
            );
            let mut more = whole.clone();
            more.push(whole[at].clone());
            assert_eq!(join(&sweep, more), Err(JoinError::Superfluous(of)));
        }
    }
}
