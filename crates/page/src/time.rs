//! What time it is: since the program began, by the clock of the machine. A page has no
//! clock that a program compiled for it can ask, so there each request brings the time.

use std::time::Duration;

/// Since the program began.
pub(crate) type Moment = Duration;

#[cfg(not(target_family = "wasm"))]
pub(crate) fn now() -> Moment {
    use std::sync::LazyLock;
    use std::time::Instant;

    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGAN.elapsed()
}

#[cfg(target_family = "wasm")]
mod brought {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::{Duration, Moment};

    static NOW_MS: AtomicU64 = AtomicU64::new(0);

    pub(crate) fn now() -> Moment {
        Duration::from_millis(NOW_MS.load(Ordering::Relaxed))
    }

    /// Says what time it is until it is said again, in milliseconds.
    pub fn set_now_ms(now: u64) {
        NOW_MS.store(now, Ordering::Relaxed);
    }
}

#[cfg(target_family = "wasm")]
pub(crate) use brought::now;
#[cfg(target_family = "wasm")]
pub use brought::set_now_ms;
