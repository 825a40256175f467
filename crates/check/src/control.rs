//! Progress, interruption and limits, shared by all engines.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Watches an exploration from another thread, and stops it.
///
/// ```
/// use headway_check::Control;
/// let control = Control::default();
/// control.stop();
/// assert!(control.stopped());
/// ```
#[derive(Debug, Default)]
pub struct Control {
    stopped: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Control {
    /// Asks the exploration to stop soon. It then returns
    /// [`CheckError::Interrupted`] with what is known so far.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether [`Control::stop`] was called.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Units of work done and in all (0 while unknown), for a progress bar.
    pub fn progress(&self) -> (u64, u64) {
        (
            self.done.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
        )
    }

    /// Begins work of so many units more.
    pub(crate) fn begin(&self, units: u64) {
        self.total.fetch_add(units, Ordering::Relaxed);
    }

    pub(crate) fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }
}

/// What an exploration may use. Checked before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory for tables over states.
    pub memory_bytes: u64,
    /// Elementary pieces of work: states visited and steps followed, or cases where
    /// a reduction is used. At least a million a second and core.
    pub work: u64,
}

impl Default for Limits {
    /// 4 GiB, and 10^10 pieces of work: at most three hours on one core.
    fn default() -> Limits {
        Limits {
            memory_bytes: 4 << 30,
            work: 10_000_000_000,
        }
    }
}

impl Limits {
    /// Refuses an instance of `states` states that needs `bytes_per_state`.
    pub(crate) fn admit(&self, states: u128, bytes_per_state: u64) -> Result<(), CheckError> {
        let bytes = states.saturating_mul(u128::from(bytes_per_state));
        if bytes > u128::from(self.memory_bytes) {
            return Err(CheckError::TooLarge {
                what: format!("{states} states"),
                need: format!("{bytes} bytes at {bytes_per_state} bytes a state"),
                fits: format!("{} states", self.memory_bytes / bytes_per_state.max(1)),
            });
        }
        self.admit_work(states)
    }

    /// Refuses an instance that takes so much work.
    pub(crate) fn admit_work(&self, work: u128) -> Result<(), CheckError> {
        if work > u128::from(self.work) {
            return Err(CheckError::TooLarge {
                what: format!("{work} steps to follow"),
                need: format!("up to {} hours on one core", work / 1_000_000 / 3600 + 1),
                fits: format!("{} steps", self.work),
            });
        }
        Ok(())
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The instance makes no sense.
    #[error("{0}")]
    Instance(String),
    /// Refused before it started.
    #[error("too large: {what} need {need}; what fits is {fits}")]
    TooLarge {
        /// The size.
        what: String,
        /// What it would take.
        need: String,
        /// What would fit.
        fits: String,
    },
    /// Stopped through [`Control::stop`].
    #[error("stopped after {done} of {total}: {known}")]
    Interrupted {
        /// Units of work done.
        done: u64,
        /// Units of work in all.
        total: u64,
        /// What is known so far, as a sentence.
        known: String,
    },
}

impl CheckError {
    pub(crate) fn instance(message: impl Into<String>) -> CheckError {
        CheckError::Instance(message.into())
    }

    pub(crate) fn interrupted(control: &Control, known: impl Into<String>) -> CheckError {
        let (done, total) = control.progress();
        CheckError::Interrupted {
            done,
            total,
            known: known.into(),
        }
    }
}
