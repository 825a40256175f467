//! A journal as read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{CELLS, Header, JournalError, Line, SAMPLES, SWEEP, Shard, file};
use crate::spec::Sweep;
use crate::sweep::CellResult;

/// A journal as read.
#[derive(Debug)]
pub struct ResultsFolder {
    /// Its folder.
    pub folder: PathBuf,
    /// Its first line.
    pub header: Header,
    /// Finished cells by number.
    pub cells: BTreeMap<u32, CellResult>,
    /// Where each cell's rows are in the file of samples.
    pub(super) sample_ranges: BTreeMap<u32, (u64, u64)>,
    /// How much of the file is whole lines.
    pub(super) whole_bytes: u64,
    pub(super) samples_end: u64,
}

impl ResultsFolder {
    /// Reads the journal of a folder; `None` when there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be read or understood. A last line that is not whole, as
    /// after a power cut, is not an error.
    pub fn read(folder: &Path) -> Result<Option<ResultsFolder>, JournalError> {
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
        let mut part = ResultsFolder {
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
