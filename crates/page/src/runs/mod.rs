//! The runs that are held.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::StatusCode;

mod change;
mod class;
mod clock;
mod frame;
mod lock_step;
mod moving_block;
mod run;
mod segment;
mod settings;
mod story;
mod tale;
mod view;
#[cfg(feature = "watch")]
mod watch;
mod window;

pub use class::ClassView;
pub use frame::{Frame, LegitimacyView, MeasuringView};
pub(crate) use moving_block::listing as moving_block_listing;
pub use settings::RunSettings;
pub(crate) use tale::Tale;
pub use view::{DesiderataView, JamView, QueueView, RunView, SegmentView};
pub use window::{BaseFrom, FaultAt, LegitimacyFrom, Way, Window};

pub(crate) use run::check_round;
pub use run::{Run, event};
#[cfg(feature = "watch")]
pub use watch::{Presenter, Watch};

use crate::error::ApiError;
use crate::limits::Limits;
use crate::time::now;

/// All runs, by their names.
pub struct Runs {
    limits: Limits,
    /// Makes names that cannot be guessed: its keys come from the operating system.
    names: RandomState,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    made: u64,
    runs: BTreeMap<String, Arc<Run>>,
}

impl Runs {
    pub(crate) fn new(limits: &Limits) -> Runs {
        Runs {
            limits: limits.clone(),
            names: RandomState::new(),
            held: Mutex::default(),
        }
    }

    /// Makes a run. If there are too many, the one that nobody has looked at for
    /// longest goes.
    pub(crate) fn create(&self, settings: &RunSettings) -> Result<Arc<Run>, ApiError> {
        let number = {
            let mut held = self.lock();
            held.made += 1;
            held.made
        };
        let id = format!("{:016x}", self.names.hash_one(number));
        let run = Arc::new(Run::new(id.clone(), settings, &self.limits)?);
        let mut held = self.lock();
        held.drop_idle(&self.limits);
        if held.runs.len() >= self.limits.runs {
            let unwatched = held.runs.values().filter(|run| run.viewers() == 0);
            let oldest = unwatched.min_by_key(|run| run.used());
            let Some(oldest) = oldest.map(|run| run.id.clone()) else {
                return Err(ApiError::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "too_many_runs",
                    format!("all {} runs are being watched; close one", self.limits.runs),
                )
                .retry_after_s(30));
            };
            held.remove(&oldest);
        }
        held.runs.insert(id, Arc::clone(&run));
        Ok(run)
    }

    /// The run of this name.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn get(&self, id: &str) -> Result<Arc<Run>, ApiError> {
        let run = self.lock().runs.get(id).cloned();
        run.ok_or_else(|| unknown(id))
    }

    pub(crate) fn remove(&self, id: &str) -> Result<(), ApiError> {
        let removed = self.lock().remove(id);
        removed.ok_or_else(|| unknown(id))
    }

    /// Drops runs that nobody has looked at for a while.
    pub fn drop_idle(&self) {
        self.lock().drop_idle(&self.limits);
    }

    /// Ends all runs.
    pub fn clear(&self) {
        for run in std::mem::take(&mut self.lock().runs).values() {
            run.close();
        }
    }

    /// What only who gets it knows.
    pub(crate) fn new_key(&self) -> String {
        let number = {
            let mut held = self.lock();
            held.made += 1;
            held.made
        };
        // Two halves, so that a name that is known does not help.
        let half = |part: u8| self.names.hash_one((part, number, "key"));
        format!("{:016x}{:016x}", half(0), half(1))
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn remove(&mut self, id: &str) -> Option<()> {
        self.runs.remove(id).map(|run| run.close())
    }

    fn drop_idle(&mut self, limits: &Limits) {
        let (now, idle) = (now(), Duration::from_secs(limits.idle_run_s));
        self.runs
            .retain(|_, run| run.viewers() > 0 || now.saturating_sub(run.used()) < idle);
    }
}

fn unknown(id: &str) -> ApiError {
    let shown: String = id.chars().take(32).collect();
    let message = format!("there is no run {shown} (any more); make it again");
    ApiError::not_found("unknown_run", message)
}
