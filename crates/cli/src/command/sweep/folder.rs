//! The folder that results go to: begun, gone on with, or joined from parts.

use std::path::{Path, PathBuf};

use headway_lab::Sweep;
use headway_lab::journal::{self, Header, Journal, JournalError, ResultsFolder, Shard};
use headway_lab::sweep::CellResult;

use super::Running;
use super::publish::publish;
use crate::failure::{Answer, Failure, file_help, plain};

/// Opens the folder's journal: a new one, or one to go on with.
pub(super) fn open(
    sweep: &Sweep,
    folder: &Path,
    shard: Shard,
    running: &Running,
) -> Result<(Journal, Vec<CellResult>), Failure> {
    let create = || Journal::create(folder, sweep, shard).map_err(journal_failure);
    if running.overwrite {
        return Ok((create()?, Vec::new()));
    }
    let Some(part) = ResultsFolder::read(folder).map_err(journal_failure)? else {
        return Ok((create()?, Vec::new()));
    };
    let wanted = Header::new(sweep, shard);
    let differs = wanted.differs_from(&part.header).or_else(|| {
        let (mine, theirs) = (shard, part.header.shard);
        (mine != theirs).then(|| {
            format!(
                "it is part {}/{}, not {}/{}",
                theirs.part, theirs.parts, mine.part, mine.parts
            )
        })
    });
    if let Some(how) = differs {
        return Err(Failure::new(format!(
            "{} holds the results of something else: {how}",
            folder.display()
        ))
        .help("choose another --output, or replace them with --overwrite"));
    }
    // Of a complete one nothing is computed again: the same sweep would give the same.
    if running.resume || part.complete() {
        let journal = Journal::resume(&part, sweep).map_err(journal_failure)?;
        return Ok((journal, part.cells.into_values().collect()));
    }
    Err(Failure::new(format!(
        "{} holds {} finished cells of this sweep",
        folder.display(),
        part.cells.len()
    ))
    .help("go on with --resume, or start again with --overwrite"))
}

/// Joins the parts of a sweep in a folder of their own.
pub(super) fn merge(folders: &[PathBuf], out: &Path) -> Result<Answer, Failure> {
    let mut parts = Vec::new();
    for folder in folders {
        let part = ResultsFolder::read(folder)
            .map_err(journal_failure)?
            .ok_or_else(|| {
                Failure::new(format!("{} holds no results of a sweep", folder.display()))
                    .help("give the folders that `headway sweep --shard` wrote")
            })?;
        parts.push(part);
    }
    if ResultsFolder::read(out).map_err(journal_failure)?.is_some() {
        return Err(
            Failure::new(format!("{} holds results already", out.display()))
                .help("choose another --output"),
        );
    }
    let (sweep, results) = journal::merge(&parts, out).map_err(journal_failure)?;
    let command = format!("headway sweep merge of {} parts", parts.len());
    publish(&sweep, &results, out, &command)
}

fn journal_failure(error: JournalError) -> Failure {
    match error {
        JournalError::File { doing, path, error } => {
            let message = format!("cannot {doing} {}: {}", path.display(), plain(&error));
            Failure::new(message).help(file_help(&error))
        }
        error => Failure::new(error),
    }
}
