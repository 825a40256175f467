//! `measure`: a delay that does not know the ring's size (paper, section 6),
//! with the two errors of the printed listing put right.
//!
//! It times one token's way round the ring, divides by the number of tokens m,
//! which it knows, and uses the result as its separation. It has to be the only
//! process that delays.
//!
//! Differences from figure 6 as printed ([`super::measure_as_printed`]):
//!
//! * lines 3-4: an arriving token is compared with `ignore` *before* `ignore` is
//!   decremented, so that the token which ends the timing is the timed one, as
//!   the paper's prose has it, and not the token ahead of it;
//! * line 6: the new base is at least 0, where the printed line can yield -1,
//!   after which nothing is ever released again;
//! * line 1: `elapsed` saturates at a limit, so that a corrupted counter costs a
//!   bounded number of rounds;
//! * line 18: `ignore` is at least 0, which it is anyway while m is right.

use super::{Gaps, Laps};
use crate::Process;

/// The further variables of a measuring process, and its two parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Measuring {
    /// M, a parameter: how many tokens circulate. At least 1.
    pub tokens: u32,
    /// A parameter: where `elapsed` saturates. It has to be at least n, and is
    /// the largest ring on which the process can find its way.
    pub limit: u32,
    /// A token is being timed.
    pub timing: bool,
    /// t: rounds since the timed token was released; at most `limit`.
    pub elapsed: u32,
    /// Arrivals to let pass before the timed token is due. Negative only under
    /// `measure-as-printed`.
    pub ignore: i32,
    /// The paper's ClockBase: the separation found, less 1. Negative only under
    /// `measure-as-printed`.
    pub base: i32,
    /// Used by `shortest-lap` only.
    pub gaps: Gaps,
    /// Used by `shortest-lap-epochs` only.
    pub laps: Laps,
    /// Used by `hop-count` only: the count on the timed token when it was released.
    pub mark: u32,
}

impl Measuring {
    /// A process that knows m and has measured nothing yet.
    pub const fn new(tokens: u32, limit: u32) -> Measuring {
        Measuring {
            tokens,
            limit,
            timing: false,
            elapsed: 0,
            ignore: 0,
            base: 0,
            gaps: Gaps::new(limit),
            laps: Laps::new(limit),
            mark: 0,
        }
    }

    /// Where `elapsed` saturates by default: twice the ring's size,
    /// at most `i32::MAX`.
    pub const fn default_limit(processes: usize) -> u32 {
        let limit = processes.saturating_mul(2);
        if limit > i32::MAX as usize {
            i32::MAX as u32
        } else {
            limit as u32
        }
    }

    /// The largest value that `base` can be given: ⌊limit/m⌋ - 1, at least 0.
    pub const fn largest_base(&self) -> i32 {
        self.base_of(self.limit)
    }

    /// Line 6 as printed: ⌊t/M⌋ - 1, which is -1 when t < M.
    pub(crate) const fn base_after(&self, elapsed: u32) -> i32 {
        let per_token = match elapsed.checked_div(self.tokens) {
            Some(quotient) => quotient,
            None => elapsed,
        };
        let capped = if per_token > i32::MAX as u32 {
            i32::MAX
        } else {
            per_token as i32
        };
        capped - 1
    }

    pub(super) const fn tick(&mut self) {
        if self.elapsed < self.limit {
            self.elapsed += 1;
        }
    }

    /// Lines 2 to 5: whether the timed token is among those that arrive.
    pub(super) const fn lap_ends(&mut self, arriving: u32) -> bool {
        if arriving == 0 || !self.timing {
            return false;
        }
        if self.ignore < 1 {
            self.timing = false;
            return true;
        }
        self.ignore -= 1;
        false
    }

    /// Lines 15 to 18: times the token that has just been released, unless another
    /// one is being timed. Whether it does.
    pub(super) const fn start_lap(&mut self, after: Process) -> bool {
        let starts = after.queued > 0 && !self.timing;
        if starts {
            self.timing = true;
            self.elapsed = 0;
            self.ignore = others(self.tokens, after.resting);
        }
        starts
    }

    /// Uses a base from now on, in the wait under way as well.
    pub(super) const fn adopt(&mut self, base: i32, before: &mut Process) {
        self.base = base;
        if before.counter > self.base {
            before.counter = self.base;
        }
    }

    /// The base that a lap of so many rounds stands for, at least 0.
    pub(crate) const fn base_of(&self, lap: u32) -> i32 {
        let base = self.base_after(lap);
        if base < 0 { 0 } else { base }
    }

    /// What `base` will be if the measurement ends `rounds` from now.
    pub const fn base_in(&self, rounds: u64) -> i32 {
        self.base_of(self.elapsed_in(rounds))
    }

    /// What `elapsed` will be `rounds` from now, unless it starts again.
    pub(crate) const fn elapsed_in(&self, rounds: u64) -> u32 {
        let room = (self.limit.saturating_sub(self.elapsed)) as u64;
        let more = if rounds < room { rounds } else { room };
        self.elapsed.saturating_add(more as u32)
    }
}

/// One round.
///
/// ```
/// use headway_core::{program::measure, Measuring, Process};
/// // A ring of 6 with 2 tokens: the timed token comes back after 6 rounds.
/// let timing = Measuring { timing: true, elapsed: 5, ..Measuring::new(2, 64) };
/// let (after, measured) = measure::round(Process::default(), timing, 1);
/// assert_eq!(measured.base, 2, "separation 3");
/// assert_eq!(after.counter, 2);
/// ```
pub const fn round(
    before: Process,
    mut measuring: Measuring,
    arriving: u32,
) -> (Process, Measuring) {
    measuring.tick();
    if measuring.lap_ends(arriving) {
        measuring.base = measuring.base_in(0);
    }
    let after = super::delay::round(before, arriving, measuring.base);
    measuring.start_lap(after);
    (after, measuring)
}

/// Line 18: the tokens ahead of the one just released, M - r - 1, at least 0.
const fn others(tokens: u32, resting: u32) -> i32 {
    let ahead = tokens.saturating_sub(resting).saturating_sub(1);
    if ahead > i32::MAX as u32 {
        i32::MAX
    } else {
        ahead as i32
    }
}
