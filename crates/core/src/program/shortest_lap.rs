//! `shortest-lap`: a delay that knows neither the separation nor more of the ring's size
//! than a bound, and works at any number of processes: the paper's open question
//! (section 7).
//!
//! It times laps as [`super::measure`] does, but does not adopt each one: a lap
//! that others have stretched says too much. It lowers its separation whenever a lap
//! says so, and raises it with care: only if two laps in a row took the same time and
//! some tokens still arrived closer together than that time allows. In a jam laps are
//! long, but tokens arrive evenly. `docs/research/unknown-size.md` proves that it brings
//! tokens apart from every state, and in how many rounds; estimates may stay too low.

use crate::{Measuring, Process};

/// What `shortest-lap` remembers beside its separation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gaps {
    /// The lap before, up to the limit.
    pub previous: u32,
    /// `elapsed` when the last token arrived in this lap.
    pub arrived: u32,
    /// The shortest time between two arrivals in this lap, the first one counted from
    /// the release; the limit, if none yet.
    pub shortest: u32,
}

impl Gaps {
    /// Nothing seen yet.
    pub const fn new(limit: u32) -> Gaps {
        Gaps {
            previous: 0,
            arrived: 0,
            shortest: limit,
        }
    }

    const fn arrive(&mut self, elapsed: u32) {
        let gap = elapsed.saturating_sub(self.arrived);
        if gap < self.shortest {
            self.shortest = gap;
        }
        self.arrived = elapsed;
    }
}

/// One round.
///
/// ```
/// use headway_core::{program::{shortest_lap, Gaps}, Measuring, Process};
/// // A ring of 6 with 2 tokens: the timed token comes back after 6 rounds.
/// let new = Measuring { timing: true, elapsed: 5, base: 9, ..Measuring::new(2, 64) };
/// let (_, measured) = shortest_lap::round(Process::default(), new, 1);
/// assert_eq!(measured.base, 2, "lowered at once to a separation of 3");
/// // A lap of 8 changes nothing, unless the one before was as long and tokens are
/// // closer together than 4.
/// let again = |previous, shortest| {
///     let gaps = Gaps { previous, arrived: 4, shortest };
///     let timing = Measuring { timing: true, elapsed: 7, ignore: 0, gaps, ..measured };
///     shortest_lap::round(Process::default(), timing, 1).1.base
/// };
/// assert_eq!([again(6, 3), again(8, 4), again(8, 3)], [2, 2, 3]);
/// ```
pub const fn round(
    mut before: Process,
    mut measuring: Measuring,
    arriving: u32,
) -> (Process, Measuring) {
    measuring.tick();
    let lap = measuring.elapsed;
    if arriving > 0 {
        measuring.gaps.arrive(lap);
    }
    if measuring.lap_ends(arriving) {
        let base = measuring.base_of(lap);
        let gaps = measuring.gaps;
        let uneven = (gaps.shortest as i64) <= base as i64;
        let adopts = base < measuring.base || (lap == gaps.previous && uneven);
        measuring.adopt(if adopts { base } else { measuring.base }, &mut before);
        measuring.gaps.previous = lap;
    }
    let after = super::delay::round(before, arriving, measuring.base);
    if measuring.start_lap(after) {
        measuring.gaps.arrived = 0;
        measuring.gaps.shortest = measuring.limit;
    }
    (after, measuring)
}
