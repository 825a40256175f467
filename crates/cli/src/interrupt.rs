//! Ctrl-C.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by Ctrl-C and by a request to terminate; once only, for the whole program.
pub(crate) fn stopped() -> &'static AtomicBool {
    static STOPPED: OnceLock<AtomicBool> = OnceLock::new();
    STOPPED.get_or_init(|| {
        // Without a handler Ctrl-C ends the program at once, which is fine too.
        let _ = ctrlc::set_handler(|| {
            if let Some(stopped) = STOPPED.get()
                && stopped.swap(true, Ordering::Relaxed)
            {
                // Asked twice: now.
                std::process::exit(130);
            }
        });
        AtomicBool::new(false)
    })
}
