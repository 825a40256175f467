//! Progress, interruption and limits, shared by all engines.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use num_bigint::BigUint;

use crate::error::{CheckError, Result, TooLarge};

/// What an exploration may use; and watches it from another thread, and stops it.
///
/// ```
/// use headway_check::Control;
/// let control = Control::default();
/// control.stop();
/// assert!(control.stopped());
/// ```
#[derive(Debug, Default)]
pub struct Control {
    pub(crate) limits: Limits,
    stopped: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    /// In milliseconds.
    expected: AtomicU64,
    unit: OnceLock<&'static str>,
}

impl Control {
    /// Of an exploration that may use so much.
    pub fn new(limits: Limits) -> Control {
        Control {
            limits,
            ..Control::default()
        }
    }

    /// Asks the exploration to stop soon. It then returns
    /// [`CheckError::Interrupted`](crate::CheckError::Interrupted) with what is known so
    /// far.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether [`Control::stop`] was called.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Goes on unless it was stopped: then with what is known so far.
    pub(crate) fn go_on<K: Into<String>>(&self, known: impl FnOnce() -> K) -> Result<()> {
        match self.stopped() {
            true => Err(CheckError::interrupted(self, known())),
            false => Ok(()),
        }
    }

    /// Units of work done and in all (0 while unknown), for a progress bar.
    pub fn progress(&self) -> (u64, u64) {
        (
            self.done.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
        )
    }

    /// What is counted where the total is unknown: states, or layers of them.
    pub fn unit(&self) -> &'static str {
        self.unit.get().copied().unwrap_or("states")
    }

    #[cfg(feature = "symbolic")]
    pub(crate) fn count_layers(&self) {
        let _ = self.unit.set("layers of decision diagrams");
    }

    /// How long the work will take in all, going by a sample taken before it began; `None`
    /// where none was taken.
    pub fn expected(&self) -> Option<Duration> {
        let expected = self.expected.load(Ordering::Relaxed);
        (expected > 0).then_some(Duration::from_millis(expected))
    }

    pub(crate) fn expect(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.expected.store(millis, Ordering::Relaxed);
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
    pub(crate) fn admit(&self, states: u64, bytes_per_state: u64) -> Result<(), TooLarge> {
        let fits = self.memory_bytes / bytes_per_state.max(1);
        if states > fits {
            return Err(TooLarge::Memory {
                states: states.into(),
                bytes_per_state,
                fits,
            });
        }
        self.admit_work(states)
    }

    /// Refuses an instance that takes so many steps.
    pub(crate) fn admit_work(&self, steps: impl Into<BigUint>) -> Result<(), TooLarge> {
        let (steps, limit) = (steps.into(), self.work);
        if steps > BigUint::from(limit) {
            return Err(TooLarge::Work { steps, limit });
        }
        Ok(())
    }
}
