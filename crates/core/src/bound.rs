//! The worst case over all initial states, in closed form.
//!
//! The paper sketches a bound of O(n³). It is linear and known exactly; the proof is in
//! `docs/research/worst-case.md` of the repository.

use crate::units::Round;

/// The worst case of a ring, which [`crate::Ring::worst_case`] works out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorstCase {
    /// The last round after which a token can still rest ([`worst_last_rest`]).
    pub last_rest: Round,
    /// The first round after which every state is legitimate
    /// ([`worst_legitimate_at`]).
    pub legitimate_at: Round,
}

/// The last round after which any token can still rest, over all initial states
/// of a feasible ring (m·d ≤ n): `(m-1)·d + max(L, d) - 1`.
///
/// `widest_gap` is L, the largest clockwise distance from one delay to the next
/// (n when there is one, 1 when all delay). Three corners beyond the formula:
/// with d = 1 every process acts alike, so L counts as 1; a lone token waits for
/// nothing but one counter, whatever L is; without tokens nothing rests (`None`).
/// `None` also beyond 2^64-1, which no ring in memory reaches.
///
/// ```
/// use headway_core::bound::worst_last_rest;
/// assert_eq!(worst_last_rest(4, 5, 1), Some(19), "uniform: m·d - 1, whatever n is");
/// assert_eq!(worst_last_rest(4, 5, 24), Some(38), "one delay among 24");
/// ```
pub const fn worst_last_rest(tokens: u64, separation: u32, widest_gap: u64) -> Option<Round> {
    let d = separation as u64;
    if tokens == 0 {
        return None;
    }
    let gap = if d == 1 || tokens == 1 || widest_gap < d {
        d
    } else {
        widest_gap
    };
    match (tokens - 1).checked_mul(d) {
        Some(before) => before.checked_add(gap - 1),
        None => None,
    }
}

/// What tokens that are g apart in logical time are apart in real time, at least,
/// when a phase clock drives the ring and a round is executed in every p-th tick:
/// `g - ⌊(g + p) / (p + 1)⌋`. Both are at least 1.
///
/// ```
/// use headway_core::bound::true_separation;
/// assert_eq!(true_separation(6, 1), 3, "half of it at full speed");
/// assert_eq!(true_separation(6, 6), 5, "all but one at the slowest pace of use");
/// ```
pub const fn true_separation(separation: u64, pace: u64) -> u64 {
    separation - (separation + pace) / (pace + 1)
}

/// L: the largest clockwise distance from one delay to the next, given the
/// delays in ascending order; `None` when there is none.
///
/// ```
/// use headway_core::bound::widest_gap;
/// assert_eq!(widest_gap([0, 5, 9], 12), Some(5));
/// assert_eq!(widest_gap([7], 12), Some(12));
/// ```
pub fn widest_gap(
    delays: impl IntoIterator<Item = u64, IntoIter: Clone>,
    processes: u64,
) -> Option<u64> {
    gaps(delays, processes).max()
}

/// The most rounds until a state is legitimate, over all initial states of a
/// feasible ring: `(m-1)·d - 1 + max over delays of (max(g, d) + max(1, d-1-g))`,
/// where g is the distance from the previous delay to that one.
///
/// The first part is the last rest that can end at the delay; the second is how
/// long after it the counter of the previous delay, which saw the token go by
/// before it rested, keeps counting for a token that is no longer where it should
/// be. `gaps` are the g of all delays; `None` without tokens or delays. The
/// corners are those of [`worst_last_rest`]: with d = 1 or a lone token, max(g, d)
/// counts as d.
///
/// Theorem 3 of `docs/research/worst-case.md`; found by exhaustive checking of all 30,690
/// placements of delays with n ≤ 13, m ≤ 5 and d ≤ 8 that fit.
///
/// ```
/// use headway_core::bound::{gaps, worst_legitimate_at};
/// assert_eq!(worst_legitimate_at(3, 4, gaps(0..12, 12)), Some(13));
/// assert_eq!(worst_legitimate_at(2, 2, gaps([0], 4)), Some(6));
/// ```
pub fn worst_legitimate_at(
    tokens: u64,
    separation: u32,
    gaps: impl IntoIterator<Item = u64>,
) -> Option<Round> {
    let d = u64::from(separation);
    let before = tokens.checked_sub(1)?.checked_mul(d)?;
    let mut slowest = None;
    for gap in gaps {
        let rest = if d == 1 || tokens == 1 { d } else { gap.max(d) };
        // d - 1 - g, but at least 1.
        let after = rest.checked_add((d - 1).saturating_sub(gap).max(1))?;
        slowest = slowest.max(Some(after));
    }
    before.checked_add(slowest? - 1)
}

/// The distance from the previous delay to each, given the delays in ascending
/// order: n for a lone one.
///
/// ```
/// use headway_core::bound::gaps;
/// assert!(gaps([0, 5, 9], 12).eq([3, 5, 4]));
/// ```
pub fn gaps(
    delays: impl IntoIterator<Item = u64, IntoIter: Clone>,
    processes: u64,
) -> impl Iterator<Item = u64> {
    let delays = delays.into_iter();
    let last = delays.clone().last();
    let mut previous = None;
    delays.map(move |delay| match previous.replace(delay) {
        Some(before) => delay - before,
        None => delay + processes - last.unwrap_or(delay),
    })
}
