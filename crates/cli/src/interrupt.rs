//! Ctrl-C ends every command with 130, within a second. A command that has something to show
//! looks at [`stopped`] or asks [`is_stopped`] from time to time; any other ends at once.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

static STOPPED: AtomicBool = AtomicBool::new(false);
/// Somebody asks from time to time.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Somebody has to end other programs first, and asks when it can.
static ARMED: AtomicBool = AtomicBool::new(false);
/// Somebody who asked has been told to stop.
static HEARD: AtomicBool = AtomicBool::new(false);
static LOOKING: AtomicUsize = AtomicUsize::new(0);

/// How long work that is told to stop may take to notice. Mostly it is a tenth of a second.
const PATIENCE: Duration = Duration::from_millis(700);

/// Once, at the beginning of the program.
pub(crate) fn listen() {
    // Without a handler the signal ends the program, which is fine too.
    let _ = ctrlc::set_handler(|| {
        if ends(|| STOPPED.swap(true, Ordering::Relaxed)) {
            crate::partial::remove();
            crate::report::screen::close();
            crate::failure::remark("stopped: nothing to show yet");
            std::process::exit(130);
        }
    });
}

/// Whether the program ends now, because nobody asks or who asked does not hear it. `stop` tells
/// the work, and says whether that was told before.
fn ends(stop: impl FnOnce() -> bool) -> bool {
    let is = |what: &AtomicBool| what.load(Ordering::Relaxed);
    let waits = || LOOKING.load(Ordering::Relaxed) > 0 || is(&ASKED) && !is(&HEARD);
    let works = || !is(&ARMED) && waits();
    // Before it is told, since it may hear at once.
    let somebody = waits() || is(&ARMED);
    let again = stop();
    let began = Instant::now();
    while !again && works() && began.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(10));
    }
    again || !somebody || works()
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

/// From now on nothing ends before the caller has asked [`is_stopped`] and ends by itself, but
/// by a second Ctrl-C.
pub(crate) fn arm() {
    ARMED.store(true, Ordering::Relaxed);
}

/// Whether to stop now. The caller will ask again, until it is told so.
pub(crate) fn is_stopped() -> bool {
    ASKED.store(true, Ordering::Relaxed);
    let is_stopped = has_come();
    HEARD.fetch_or(is_stopped, Ordering::Relaxed);
    is_stopped
}

/// Whether Ctrl-C has come. The caller does not ask again.
pub(crate) fn has_come() -> bool {
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

    /// Work that hears at once shows what it knows; a second time the program ends.
    #[test]
    fn who_hears_at_once_is_not_ended() {
        ASKED.store(true, Ordering::Relaxed);
        let hears = |again: bool| {
            move || {
                HEARD.store(true, Ordering::Relaxed);
                again
            }
        };
        let ended = [ends(hears(false)), ends(hears(true))];
        ASKED.store(false, Ordering::Relaxed);
        HEARD.store(false, Ordering::Relaxed);
        assert_eq!(ended, [false, true]);
    }
}
