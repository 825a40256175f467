//! Parts of one sweep, joined.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use super::{Journal, JournalError, ResultsFolder, SAMPLES, Shard, file};
use crate::spec::Sweep;
use crate::sweep::CellResult;

/// Joins parts of one sweep into a folder of its own.
///
/// # Errors
///
/// When the parts are of different sweeps, overlap, or leave cells out.
pub fn merge(
    parts: &[ResultsFolder],
    folder: &Path,
) -> Result<(Sweep, Vec<CellResult>), JournalError> {
    let other = |folder: &Path, message: String| JournalError::Other {
        folder: folder.to_owned(),
        message,
    };
    let Some(first) = parts.first() else {
        return Err(other(folder, "there are no parts to merge".to_owned()));
    };
    let mut cells: BTreeMap<u32, &ResultsFolder> = BTreeMap::new();
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
        part: &ResultsFolder,
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
