//! `shortest-lap-epochs`: what [`super::shortest_lap`] does, with a calendar.
//!
//! It uses the shortest lap of this epoch and of the one before. In the end every
//! process believes in ⌊n/m⌋, where `shortest-lap` may be content with less.
//! `docs/research/unknown-size.md` proves that it converges from every state, and in how many
//! rounds.

use core::num::NonZeroU32;

use crate::{Measuring, Process};

/// What `shortest-lap-epochs` remembers of the laps that it has timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Laps {
    /// A parameter: how many turns of all tokens an epoch lasts; `None`: four for
    /// every round of the shortest lap, and four more, which is proved to be enough.
    pub horizon: Option<NonZeroU32>,
    /// The shortest lap of this epoch, 1 to the limit, which also says "none yet".
    pub best: u32,
    /// The shortest lap of the epoch before, likewise.
    pub last: u32,
    /// Tokens that have arrived in this epoch.
    pub seen: u64,
}

impl Laps {
    /// No laps yet.
    pub const fn new(limit: u32) -> Laps {
        Laps {
            horizon: None,
            best: limit,
            last: limit,
            seen: 0,
        }
    }

    /// The lap that the separation is taken from.
    pub const fn shortest(&self) -> u32 {
        if self.best < self.last {
            self.best
        } else {
            self.last
        }
    }

    /// Arrivals after which an epoch with this memory ends.
    pub const fn epoch(&self, tokens: u32) -> u128 {
        let turns = match self.horizon {
            Some(turns) => turns.get() as u128,
            None => 4 * self.shortest() as u128 + 4,
        };
        tokens as u128 * turns
    }

    /// A lap has ended: remembers it, and begins a new epoch if it is time to.
    const fn remember(&mut self, lap: u32, tokens: u32, limit: u32) {
        if lap < self.best {
            self.best = lap;
        }
        if self.seen as u128 >= self.epoch(tokens) {
            self.last = self.best;
            self.best = limit;
            self.seen = 0;
        }
    }
}

/// One round.
///
/// ```
/// use headway_core::{program::shortest_lap_epochs, Measuring, Process};
/// // A ring of 6 with 2 tokens: the timed token comes back after 6 rounds.
/// let timing = Measuring { timing: true, elapsed: 5, ..Measuring::new(2, 64) };
/// let (_, measured) = shortest_lap_epochs::round(Process::default(), timing, 1);
/// assert_eq!((measured.laps.best, measured.base), (6, 2), "separation 3");
/// // A longer lap later on changes nothing.
/// let timing = Measuring { timing: true, elapsed: 9, ignore: 0, ..measured };
/// let (_, measured) = shortest_lap_epochs::round(Process::default(), timing, 1);
/// assert_eq!((measured.laps.best, measured.base), (6, 2));
/// ```
pub const fn round(
    mut before: Process,
    mut measuring: Measuring,
    arriving: u32,
) -> (Process, Measuring) {
    measuring.tick();
    let laps = &mut measuring.laps;
    laps.seen = laps.seen.saturating_add(arriving as u64);
    if measuring.lap_ends(arriving) {
        let (lap, tokens, limit) = (measuring.elapsed, measuring.tokens, measuring.limit);
        measuring.laps.remember(lap, tokens, limit);
        measuring.adopt(measuring.base_of(measuring.laps.shortest()), &mut before);
    }
    let after = super::delay::round(before, arriving, measuring.base);
    measuring.start_lap(after);
    (after, measuring)
}
