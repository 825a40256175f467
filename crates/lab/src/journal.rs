//! Finished cells on disk.
//!
//! A results folder holds `sweep.toml`, the sweep itself, and `cells.jsonl`: a
//! header line that says which sweep, version, seed and part this is, then a line
//! for every finished cell. A line is written when its cell is finished, so that
//! whatever stops the program, finished cells are kept, and the same file serves
//! to resume a sweep and to join its parts.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::spec::{SpecError, Sweep};
use crate::sweep::{CellResult, SampleRows};
use crate::table;
use crate::tally::Summary;

mod header;
mod merge;
mod results;

pub use header::{Header, Shard};
pub use merge::merge;
pub use results::ResultsFolder;

/// The file with the finished cells.
pub const CELLS: &str = "cells.jsonl";
/// The file with the sweep.
pub const SWEEP: &str = "sweep.toml";
/// The file with a row per sample.
pub const SAMPLES: &str = "samples.csv";

#[derive(Serialize, Deserialize)]
struct Line {
    cell: u32,
    summaries: Vec<Summary>,
    /// Where this cell's rows end in the file of samples.
    samples_end: u64,
}

/// What is wrong with a results folder. Nothing in it was changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A file cannot be read or written.
    #[error("cannot {doing} {}: {error}", path.display())]
    File {
        /// read or write.
        doing: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A line of the journal makes no sense.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// Why.
        message: String,
    },
    /// The sweep file of the folder cannot be used.
    #[error("{}: {error}", path.display())]
    Sweep {
        /// The sweep file.
        path: PathBuf,
        /// Why.
        error: SpecError,
    },
    /// The folder holds something else.
    #[error("{}: {message}", folder.display())]
    Other {
        /// The folder.
        folder: PathBuf,
        /// What it holds, and what was expected.
        message: String,
    },
}

fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    move |error| JournalError::File {
        doing,
        path: path.to_owned(),
        error,
    }
}

/// A journal that is being written.
pub struct Journal {
    cells: File,
    samples: Option<BufWriter<File>>,
    samples_end: u64,
    path: PathBuf,
}

impl Journal {
    /// Starts a new journal, over any that is there.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn create(folder: &Path, sweep: &Sweep, shard: Shard) -> Result<Journal, JournalError> {
        fs::create_dir_all(folder).map_err(file("write", folder))?;
        let toml = folder.join(SWEEP);
        let text = sweep.text.as_deref().unwrap_or_default();
        fs::write(&toml, text).map_err(file("write", &toml))?;
        let path = folder.join(CELLS);
        let mut cells = File::create(&path).map_err(file("write", &path))?;
        let header = serde_json::to_string(&Header::new(sweep, shard)).unwrap_or_default();
        writeln!(cells, "{header}").map_err(file("write", &path))?;
        let mut journal = Journal {
            cells,
            samples: None,
            samples_end: 0,
            path,
        };
        if sweep.sample_rows {
            let path = folder.join(SAMPLES);
            let mut samples = BufWriter::new(File::create(&path).map_err(file("write", &path))?);
            let columns = table::sample_columns(sweep);
            table::write_header(&mut samples, &columns)
                .and_then(|()| samples.flush())
                .and_then(|()| samples.stream_position())
                .map(|end| journal.samples_end = end)
                .map_err(file("write", &path))?;
            journal.samples = Some(samples);
        }
        Ok(journal)
    }

    /// Continues a journal, and drops anything after its last whole line.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn resume(part: &ResultsFolder, sweep: &Sweep) -> Result<Journal, JournalError> {
        let path = part.folder.join(CELLS);
        let open = |path: &Path, end: u64| -> io::Result<File> {
            let mut file = OpenOptions::new().write(true).open(path)?;
            file.set_len(end)?;
            file.seek(SeekFrom::Start(end))?;
            Ok(file)
        };
        let cells = open(&path, part.whole_bytes).map_err(file("write", &path))?;
        let samples_path = part.folder.join(SAMPLES);
        let samples = match sweep.sample_rows {
            true => Some(BufWriter::new(
                open(&samples_path, part.samples_end).map_err(file("write", &samples_path))?,
            )),
            false => None,
        };
        Ok(Journal {
            cells,
            samples,
            samples_end: part.samples_end,
            path,
        })
    }

    /// Keeps rows of a cell that is not finished yet. They count only when it is
    /// appended.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn append_rows(&mut self, sweep: &Sweep, rows: &SampleRows) -> Result<(), JournalError> {
        let Some(samples) = &mut self.samples else {
            return Ok(());
        };
        table::sample_rows(sweep, rows)
            .try_for_each(|row| table::write_row(samples, &row))
            .map_err(file("write", &self.path.with_file_name(SAMPLES)))
    }

    /// Keeps a finished cell.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn append(&mut self, result: &CellResult) -> Result<(), JournalError> {
        if let Some(samples) = &mut self.samples {
            self.samples_end = samples
                .flush()
                .and_then(|()| samples.stream_position())
                .map_err(file("write", &self.path.with_file_name(SAMPLES)))?;
        }
        let line = Line {
            cell: result.index,
            summaries: result.summaries.clone(),
            samples_end: self.samples_end,
        };
        let line = serde_json::to_string(&line).unwrap_or_default();
        writeln!(self.cells, "{line}").map_err(file("write", &self.path))
    }
}
