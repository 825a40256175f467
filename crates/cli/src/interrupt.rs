//! Ctrl-C ends every command with 130. A command that has something to show asks
//! [`stopped`] from time to time; any other ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

static STOPPED: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

/// Once, at the beginning of the program.
pub(crate) fn listen() {
    // Without a handler the signal ends the program, which is fine too.
    let _ = ctrlc::set_handler(|| {
        let again = STOPPED.swap(true, Ordering::Relaxed);
        if again || !ASKED.load(Ordering::Relaxed) {
            crate::partial::remove();
            crate::report::screen::close();
            std::process::exit(130);
        }
    });
}

/// Set by Ctrl-C and by a request to terminate. From now on the caller has to look at
/// it; a second Ctrl-C still ends the program at once.
pub(crate) fn stopped() -> &'static AtomicBool {
    ASKED.store(true, Ordering::Relaxed);
    &STOPPED
}

/// Whether to stop now.
pub(crate) fn is_stopped() -> bool {
    stopped().load(Ordering::Relaxed)
}
