//! Ctrl-C ends every command with 130. A command that has something to show looks at
//! [`stopped`] or asks [`is_stopped`] from time to time; any other ends at once.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

static STOPPED: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
static LOOKING: AtomicUsize = AtomicUsize::new(0);

/// Work that is told to stop mostly ends within a tenth of a second. This is for what does
/// not, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(5);

/// Once, at the beginning of the program.
pub(crate) fn listen() {
    // Without a handler the signal ends the program, which is fine too.
    let _ = ctrlc::set_handler(|| {
        let again = STOPPED.swap(true, Ordering::Relaxed);
        let began = Instant::now();
        let looking = || LOOKING.load(Ordering::Relaxed) > 0;
        let somebody = looking() || ASKED.load(Ordering::Relaxed);
        while !again && looking() && began.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(10));
        }
        if again || !somebody || looking() {
            crate::partial::remove();
            crate::report::screen::close();
            crate::failure::remark("stopped: there is nothing to show yet");
            std::process::exit(130);
        }
    });
}

/// Set by Ctrl-C and by a request to terminate. Who has it looks at it and ends soon after;
/// a second Ctrl-C still ends the program at once.
pub(crate) struct Stopped(());

impl Deref for Stopped {
    type Target = AtomicBool;

    fn deref(&self) -> &AtomicBool {
        &STOPPED
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        LOOKING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Looks whether to stop, until it is dropped.
pub(crate) fn stopped() -> Stopped {
    LOOKING.fetch_add(1, Ordering::Relaxed);
    Stopped(())
}

/// Whether to stop now. The caller will ask again, to the end of the program.
pub(crate) fn is_stopped() -> bool {
    ASKED.store(true, Ordering::Relaxed);
    STOPPED.load(Ordering::Relaxed)
}

/// As Ctrl-C, where the terminal hands it over as a key.
pub(crate) fn stop() {
    STOPPED.store(true, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who looked and has gone is not waited for: Ctrl-C ends what comes after at once.
    #[test]
    fn nobody_looks_any_more_when_the_work_is_done() {
        let before = LOOKING.load(Ordering::Relaxed);
        let stop = stopped();
        assert!(!stop.load(Ordering::Relaxed));
        assert_eq!(LOOKING.load(Ordering::Relaxed), before + 1);
        drop(stop);
        assert_eq!(LOOKING.load(Ordering::Relaxed), before);
    }
}
