//! Figure 6 of the paper, line by line, kept as the specimen whose errors the
//! tests and the checker exhibit. Use [`super::measure`] to get work done.
//!
//! * It times one token too few: with n = 6 and m = 2 it settles at a
//!   separation of 2, not 3.
//! * It can set ClockBase to -1 and then never releases a token again: n = 4,
//!   m = 2, both tokens queued at the predecessor, `timing` true, `ignore` 0,
//!   `elapsed` 0. Two tokens that merely rest at the predecessor do it too.
//!
//! Only `elapsed` is bounded (it saturates at the limit), to keep the state
//! space finite.

use crate::{Measuring, Process};

/// One round, with the paper's line numbers.
pub const fn round(
    before: Process,
    mut measuring: Measuring,
    arriving: u32,
) -> (Process, Measuring) {
    measuring.tick(); // 1
    if arriving > 0 && measuring.timing {
        measuring.ignore = measuring.ignore.saturating_sub(1); // 3
        if measuring.ignore < 1 {
            measuring.timing = false; // 5
            measuring.base = measuring.base_after(measuring.elapsed); // 6
        }
    }
    let after = super::delay::round(before, arriving, measuring.base); // 7-14
    if after.queued > 0 && !measuring.timing {
        measuring.timing = true; // 16
        measuring.elapsed = 0; // 17
        measuring.ignore = ignore_after(measuring.tokens, after.resting); // 18
    }
    (after, measuring)
}

/// Line 18: M - r - 1, which is negative when more tokens rest than M says.
const fn ignore_after(tokens: u32, resting: u32) -> i32 {
    let ignore = tokens as i64 - resting as i64 - 1;
    if ignore > i32::MAX as i64 {
        i32::MAX
    } else if ignore < i32::MIN as i64 {
        i32::MIN
    } else {
        ignore as i32
    }
}
