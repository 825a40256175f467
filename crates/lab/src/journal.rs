//! Finished cells on disk.
//!
//! A results folder holds `sweep.toml`, the sweep itself, and `cells.jsonl`: a
//! header line that says which sweep, version, seed and part this is, then a line
//! for every finished cell. A line is written when its cell is finished, so that
//! whatever stops the program, finished cells are kept, and the same file serves
//! to resume a sweep and to join its parts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::VERSION;
use crate::spec::{SpecError, Sweep};
use crate::sweep::{CellResult, SampleRows};
use crate::table;
use crate::tally::Summary;

/// The file with the finished cells.
pub const CELLS: &str = "cells.jsonl";
/// The file with the sweep.
pub const SWEEP: &str = "sweep.toml";
/// The file with a row per sample.
pub const SAMPLES: &str = "samples.csv";

/// The first line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version that made it.
    pub headway: String,
    /// The sweep's name.
    pub sweep: String,
    /// [`Sweep::fingerprint`], in hexadecimal.
    pub fingerprint: String,
    /// The seed.
    pub seed: u64,
    /// Samples per cell.
    pub samples: u64,
    /// Cells of the whole sweep.
    pub cells: usize,
    /// What is measured.
    pub measures: Vec<String>,
    /// Whether there is a row for every sample as well.
    pub sample_rows: bool,
    /// Which part of how many this is.
    pub shard: Shard,
}

/// Part `part` of `parts`, from 1: the cells whose number leaves `part - 1` when
/// divided by `parts`, so that parts take about equally long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// From 1.
    pub part: u32,
    /// At least `part`.
    pub parts: u32,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Shard = Shard { part: 1, parts: 1 };

    /// Whether a cell belongs to this part.
    pub fn has(self, cell: u32) -> bool {
        cell % self.parts == self.part - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(part, parts)| {
            Some((part.parse::<u32>().ok()?, parts.parse::<u32>().ok()?))
        });
        match numbers {
            Some((part, parts)) if part >= 1 && part <= parts => Ok(Shard { part, parts }),
            _ => Err("expected I/K with I from 1 to K, such as 1/4".to_owned()),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    cell: u32,
    summaries: Vec<Summary>,
    /// Where this cell's rows end in the file of samples.
    samples_end: u64,
}

/// What is wrong with a results folder. Nothing in it was changed.
#[derive(Debug, Error)]
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

impl Header {
    /// The header of a sweep's part.
    pub fn new(sweep: &Sweep, shard: Shard) -> Header {
        Header {
            headway: VERSION.to_owned(),
            sweep: sweep.name.clone(),
            fingerprint: format!("{:016x}", sweep.fingerprint()),
            seed: sweep.seed,
            samples: sweep.samples,
            cells: sweep.cells.len(),
            measures: sweep.measure_names().map(str::to_owned).collect(),
            sample_rows: sweep.sample_rows,
            shard,
        }
    }

    /// Why results under `other` do not belong with these; `None` if they do.
    pub fn differs_from(&self, other: &Header) -> Option<String> {
        let rows = |header: &Header| match header.sample_rows {
            true => "samples".to_owned(),
            false => "cells".to_owned(),
        };
        let mine_and_theirs = [
            ("sweep", &self.sweep, &other.sweep),
            ("version", &self.headway, &other.headway),
            ("seed", &self.seed.to_string(), &other.seed.to_string()),
            (
                "number of samples",
                &self.samples.to_string(),
                &other.samples.to_string(),
            ),
            (
                "measures",
                &self.measures.join(", "),
                &other.measures.join(", "),
            ),
            ("kind of rows", &rows(self), &rows(other)),
            (
                "grid (by its fingerprint)",
                &self.fingerprint,
                &other.fingerprint,
            ),
        ]
        .map(|(what, mine, theirs)| (what, mine.clone(), theirs.clone()));
        let differing = mine_and_theirs.into_iter().find(|(_, a, b)| a != b)?;
        let (what, mine, theirs) = differing;
        Some(format!("its {what} is {theirs}, not {mine}"))
    }
}

/// A journal that is being written.
pub struct Journal {
    cells: File,
    samples: Option<BufWriter<File>>,
    samples_end: u64,
    path: PathBuf,
}

/// A journal as read.
#[derive(Debug)]
pub struct Part {
    /// Its folder.
    pub folder: PathBuf,
    /// Its first line.
    pub header: Header,
    /// Finished cells by number.
    pub cells: BTreeMap<u32, CellResult>,
    /// Where each cell's rows are in the file of samples.
    sample_ranges: BTreeMap<u32, (u64, u64)>,
    /// How much of the file is whole lines.
    whole_bytes: u64,
    samples_end: u64,
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

    /// Goes on with a journal; what is after its last whole line is dropped.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn resume(part: &Part, sweep: &Sweep) -> Result<Journal, JournalError> {
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

impl Part {
    /// Reads the journal of a folder; `None` when there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be read or understood. A last line that is not whole, as
    /// after a power cut, is not an error.
    pub fn read(folder: &Path) -> Result<Option<Part>, JournalError> {
        let path = folder.join(CELLS);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(file("read", &path)(error)),
        };
        let whole = text.rfind('\n').map_or(0, |newline| newline + 1);
        let wrong = |line: usize, message: String| JournalError::Line {
            path: path.clone(),
            line,
            message,
        };
        let mut lines = text[..whole].lines();
        let first = lines.next().unwrap_or_default();
        let header: Header = serde_json::from_str(first)
            .map_err(|error| wrong(1, format!("not the header of a sweep's results: {error}")))?;
        let Shard { part, parts } = header.shard;
        if !(1..=parts).contains(&part) {
            return Err(wrong(1, format!("part {part} of {parts} does not exist")));
        }
        let mut part = Part {
            folder: folder.to_owned(),
            header,
            cells: BTreeMap::new(),
            sample_ranges: BTreeMap::new(),
            whole_bytes: whole as u64,
            samples_end: 0,
        };
        let samples = folder.join(SAMPLES);
        if let Ok(text) = File::open(&samples) {
            use io::BufRead;
            let mut first = String::new();
            let read = io::BufReader::new(text).read_line(&mut first);
            part.samples_end = read.map_err(file("read", &samples))? as u64;
        }
        for (index, text) in lines.enumerate() {
            let line: Line = serde_json::from_str(text)
                .map_err(|error| wrong(index + 2, format!("not a finished cell: {error}")))?;
            let known = (line.cell as usize) < part.header.cells;
            if !known || line.summaries.len() != part.header.measures.len() {
                return Err(wrong(index + 2, "not a cell of this sweep".to_owned()));
            }
            let range = (part.samples_end, line.samples_end);
            part.sample_ranges.insert(line.cell, range);
            part.samples_end = line.samples_end.max(part.samples_end);
            part.cells.insert(
                line.cell,
                CellResult {
                    index: line.cell,
                    summaries: line.summaries,
                },
            );
        }
        Ok(Some(part))
    }

    /// The sweep that the folder's results are of.
    ///
    /// # Errors
    ///
    /// When `sweep.toml` is missing, wrong, or not what the journal is about.
    pub fn sweep(&self) -> Result<Sweep, JournalError> {
        let path = self.folder.join(SWEEP);
        let text = fs::read_to_string(&path).map_err(file("read", &path))?;
        let mut sweep = Sweep::parse(&text).map_err(|error| JournalError::Sweep {
            path: path.clone(),
            error,
        })?;
        sweep.seed = self.header.seed;
        sweep.samples = self.header.samples;
        sweep.sample_rows = self.header.sample_rows;
        match Header::new(&sweep, self.header.shard).differs_from(&self.header) {
            None => Ok(sweep),
            Some(how) => Err(JournalError::Other {
                folder: self.folder.clone(),
                message: format!("{SWEEP} and {CELLS} do not belong together: {how}"),
            }),
        }
    }

    /// Whether every cell of this part is there.
    pub fn complete(&self) -> bool {
        let Shard { part, parts } = self.header.shard;
        let before = part as usize - 1;
        let expected = self.header.cells.saturating_sub(before);
        let there = self
            .cells
            .keys()
            .filter(|&&cell| self.header.shard.has(cell));
        there.count() == expected.div_ceil(parts as usize)
    }
}

/// Joins parts of one sweep into a folder of its own.
///
/// # Errors
///
/// When the parts are of different sweeps, overlap, or leave cells out.
pub fn merge(parts: &[Part], folder: &Path) -> Result<(Sweep, Vec<CellResult>), JournalError> {
    let other = |folder: &Path, message: String| JournalError::Other {
        folder: folder.to_owned(),
        message,
    };
    let Some(first) = parts.first() else {
        return Err(other(folder, "there are no parts to merge".to_owned()));
    };
    let mut cells: BTreeMap<u32, &Part> = BTreeMap::new();
    for part in parts {
        if let Some(how) = first.header.differs_from(&part.header) {
            let message = format!("does not belong with {}: {how}", first.folder.display());
            return Err(other(&part.folder, message));
        }
        for &cell in part.cells.keys() {
            if let Some(twice) = cells.insert(cell, part) {
                let message = format!("cell {cell} is in {} too", twice.folder.display());
                return Err(other(&part.folder, message));
            }
        }
    }
    let missing: BTreeSet<u32> = (0..first.header.cells as u32)
        .filter(|cell| !cells.contains_key(cell))
        .collect();
    if let Some(cell) = missing.first() {
        let message = format!(
            "{} of {} cells are missing, the first is cell {cell}; add the part that has it, or \
             finish it with --resume",
            missing.len(),
            first.header.cells
        );
        return Err(other(folder, message));
    }
    let sweep = first.sweep()?;
    let mut journal = Journal::create(folder, &sweep, Shard::WHOLE)?;
    let mut joined = Vec::new();
    for (&cell, part) in &cells {
        let result = part.cells[&cell].clone();
        journal.append_with_rows_of(&result, part)?;
        joined.push(result);
    }
    Ok((sweep, joined))
}

impl Journal {
    /// Keeps a finished cell whose rows per sample are in another folder.
    fn append_with_rows_of(
        &mut self,
        result: &CellResult,
        part: &Part,
    ) -> Result<(), JournalError> {
        if let Some(samples) = &mut self.samples {
            use io::Read;
            let path = part.folder.join(SAMPLES);
            let (from, to) = part.sample_ranges[&result.index];
            let mut copy = || -> io::Result<()> {
                let mut rows = File::open(&path)?;
                rows.seek(SeekFrom::Start(from))?;
                let copied = io::copy(&mut rows.take(to - from), samples)?;
                if copied == to - from {
                    Ok(())
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                }
            };
            copy().map_err(file("read", &path))?;
        }
        self.append(result)
    }
}
