//! `delay` (paper, figure 3, left).

use crate::Process;

/// One round: a token leaves if there is one and the counter has run down, and
/// then the counter starts again from `top` (the paper's C = d - 1).
///
/// ```
/// use headway_core::{program::delay, Process};
/// let waiting = Process { queued: 1, resting: 0, counter: 2 };
/// // The queued token has left, one arrives and has to rest.
/// let after = delay::round(waiting, 1, 2);
/// assert_eq!(after, Process { queued: 0, resting: 1, counter: 1 });
/// ```
#[inline]
pub const fn round(before: Process, arriving: u32, top: i32) -> Process {
    let held = before.resting.saturating_add(arriving);
    let release = held > 0 && before.counter == 0;
    Process {
        queued: release as u32,
        resting: held - release as u32,
        counter: if release {
            top
        } else {
            before.counter - (before.counter > 0) as i32
        },
    }
}
