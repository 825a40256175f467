//! `relay` (paper, figure 3, right).

use crate::Process;

/// One round: a token leaves if there is one. This is [`super::delay`] with a
/// counter that never leaves 0.
///
/// ```
/// use headway_core::{program::relay, Process};
/// let pile = Process { queued: 0, resting: 3, counter: 0 };
/// assert_eq!(relay::round(pile, 0), Process { queued: 1, resting: 2, counter: 0 });
/// ```
#[inline]
pub const fn round(before: Process, arriving: u32) -> Process {
    super::delay::round(
        Process {
            counter: 0,
            ..before
        },
        arriving,
        0,
    )
}
