//! A run while it goes on: progress, the trace file, and what ends it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use headway_answer::json::{self, TraceLine};
use headway_sim::Outcome;

use crate::failure::Failure;
use crate::interrupt::is_stopped;
use crate::report::progress::Progress;

/// A run that is shown state by state, with progress, until that fails or Ctrl-C comes.
pub(super) struct Following {
    progress: Progress,
    failed: Option<Failure>,
}

impl Following {
    pub(super) fn new(rounds: Option<u64>) -> Following {
        Following {
            progress: Progress::new(rounds, "rounds"),
            failed: None,
        }
    }

    /// The state after a round was shown, or could not be.
    pub(super) fn shown(&mut self, round: u64, shown: Result<(), Failure>) -> ControlFlow<()> {
        if round.is_multiple_of(64) {
            self.progress.at(round);
        }
        self.failed = shown.err();
        match self.failed.is_some() || is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    pub(super) fn end(self, outcome: Outcome) -> Result<Outcome, Failure> {
        self.failed.map_or(Ok(outcome), Err)
    }
}

/// The trace file.
pub(super) struct Trace {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Trace {
    pub(super) fn create(path: &Path) -> Result<Trace, Failure> {
        let file = File::create(path).map_err(|error| Failure::writing(path, &error))?;
        Ok(Trace {
            path: path.to_owned(),
            file: BufWriter::new(file),
        })
    }

    pub(super) fn line(&mut self, value: &TraceLine) -> Result<(), Failure> {
        writeln!(self.file, "{}", json::line(value))
            .map_err(|error| Failure::writing(&self.path, &error))
    }

    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.file
            .flush()
            .map_err(|error| Failure::writing(&self.path, &error))
    }
}
