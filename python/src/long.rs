//! Work that may take long: without the interpreter's lock, with progress, and stopped by
//! Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use headway_answer::Failure;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::failure::OrRaise;

/// How often Python hears of progress, and is asked whether Ctrl-C was pressed.
const TICK: Duration = Duration::from_millis(50);
/// How long work that was stopped may take to notice it. Then it is left alone.
const GRACE: Duration = Duration::from_secs(5);

/// How far work is, told by the thread that does it.
#[derive(Default)]
pub(crate) struct Progress {
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    pub(crate) fn at(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    pub(crate) fn of(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> (u64, u64) {
        let [done, total] = [&self.done, &self.total].map(|number| number.load(Ordering::Relaxed));
        (done, total)
    }
}

/// Does `work`, which looks whether it was told to stop, and raises why it has no answer.
pub(crate) fn answer<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    progress: impl Fn() -> (u64, u64),
    work: impl FnOnce(&AtomicBool) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let stop = || stop.store(true, Ordering::Relaxed);
    self::work(py, callback, progress, stop, move || work(&stopped))?.or_raise(py)
}

/// Where nothing is said meanwhile.
pub(crate) fn unsaid() -> (u64, u64) {
    (0, 0)
}

type Slot<T> = (Mutex<Option<std::thread::Result<T>>>, Condvar);

/// Does `work` in a thread of its own. Meanwhile `callback(done, total)` is called, total 0
/// where it is not known; a signal or an exception of the callback calls `stop` and ends this.
pub(crate) fn work<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    progress: impl Fn() -> (u64, u64),
    stop: impl Fn(),
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let slot: Arc<Slot<T>> = Arc::new((Mutex::new(None), Condvar::new()));
    let theirs = Arc::clone(&slot);
    std::thread::Builder::new()
        .stack_size(16 << 20)
        .spawn(move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            *theirs.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            theirs.1.notify_all();
        })
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    let wait = |time: Duration| {
        let until = Instant::now() + time;
        let mut done = slot.0.lock().unwrap_or_else(PoisonError::into_inner);
        while done.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = slot.1.wait_timeout(done, left);
            done = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        done.take()
    };
    let mut told = None;
    loop {
        let done = py.detach(|| wait(TICK));
        let now = progress();
        let mut alive = py.check_signals();
        if let (Ok(()), Some(callback), true) = (&alive, callback, told != Some(now)) {
            told = Some(now);
            alive = callback.call1(py, now).map(drop);
        }
        if let Err(error) = alive {
            stop();
            if done.is_none() {
                py.detach(|| wait(GRACE));
            }
            return Err(error);
        }
        if let Some(done) = done {
            return done.map_err(|panic| {
                let text = panic.downcast_ref::<String>().cloned();
                let text =
                    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                let text = text.unwrap_or_default();
                PyRuntimeError::new_err(format!(
                    "this is a mistake in Headway, please report it: {text}"
                ))
            });
        }
    }
}
