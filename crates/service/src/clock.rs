//! The clock that permits go by.

use std::time::{Duration, SystemTime};

/// Time since the machine was started. The time that it was suspended counts: a permit may be over
/// when the machine wakes up. No clock that somebody sets has a part in it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn since_boot() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::CLOCK_BOOTTIME);
    time.map(Duration::from).unwrap_or_default()
}

/// Time since this was first asked; whether suspended time counts is up to the system.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn since_boot() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGAN.elapsed()
}

/// Since 1970, when a time began of which so much has passed.
pub(crate) fn epoch(passed: Duration) -> Duration {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default().saturating_sub(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/proc/uptime` is the same clock, in hundredths of a second.
    #[cfg(target_os = "linux")]
    #[test]
    fn it_is_the_kernels_time_since_the_start() {
        let uptime = || {
            let text = std::fs::read_to_string("/proc/uptime").expect("the kernel says it");
            let seconds = text.split(' ').next().and_then(|text| text.parse().ok());
            Duration::from_secs_f64(seconds.expect("a number"))
        };
        let hundredth = Duration::from_millis(10);
        let before = uptime();
        let own = since_boot();
        let after = uptime();
        assert!(before <= own + hundredth && own <= after + hundredth);
    }
}
