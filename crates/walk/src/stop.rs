//! When a search has to end: every loop that can take long asks.

use std::sync::atomic::{AtomicBool, Ordering};

/// For searches that end by themselves.
pub static NEVER: AtomicBool = AtomicBool::new(false);

/// Whether to end now with the best so far.
pub(crate) fn is_set(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}
