//! `hop-count`: a delay that does not know the ring's size, on a ring whose tokens
//! carry data (paper, section 7).
//!
//! Every token bears a count, modulo 2^32, and every process adds 1 to it when the
//! token arrives. So the process that has followed a token round the ring reads how
//! many processes there are, however long the token rested on its way: where timing
//! takes many laps to find the size ([`super::shortest_lap`]), one is enough.

use crate::{Measuring, Process};

/// What the tokens show that a process sees in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The count on the first token that arrives, this hop included.
    pub arrived: u32,
    /// The count on the token that leaves if one does.
    pub leaving: u32,
}

impl Measuring {
    /// The ring's size if the timed token comes back with this count; at most `limit`.
    pub(crate) const fn hops(&self, count: u32) -> u32 {
        let hops = count.wrapping_sub(self.mark);
        if hops < self.limit { hops } else { self.limit }
    }
}

/// One round.
///
/// ```
/// use headway_core::{program::hop_count::{round, Counts}, Measuring, Process};
/// // A ring of 6 with 2 tokens: the token is back after six hops, whenever that is.
/// let timing = Measuring { timing: true, mark: 40, ..Measuring::new(2, 64) };
/// let counts = Counts { arrived: 46, leaving: 46 };
/// let (_, measured) = round(Process::default(), timing, 1, counts);
/// assert_eq!((measured.base, measured.mark), (2, 46), "separation 3");
/// ```
pub const fn round(
    mut before: Process,
    mut measuring: Measuring,
    arriving: u32,
    counts: Counts,
) -> (Process, Measuring) {
    if measuring.lap_ends(arriving) {
        let hops = measuring.hops(counts.arrived);
        measuring.adopt(measuring.base_of(hops), &mut before);
    }
    let after = super::delay::round(before, arriving, measuring.base);
    if measuring.start_lap(after) {
        measuring.mark = counts.leaving;
    }
    (after, measuring)
}
