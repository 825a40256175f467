//! The worst case over all initial states, in closed form.
//!
//! The paper bounds it by O(n³). It is linear and known exactly; the proof is in
//! `docs/worst-case.md` of the repository.

use crate::units::Round;

/// The last round after which any token can still rest, over all initial states
/// of a feasible ring (m·d ≤ n): `(m-1)·d + max(L, d) - 1`.
///
/// `widest_gap` is L, the largest clockwise distance from one delay to the next
/// (n when there is one, 1 when all delay). Three corners beyond the formula:
/// with d = 1 every process acts alike, so L counts as 1; a lone token waits for
/// nothing but one counter, whatever L is; without tokens nothing rests (`None`).
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
    Some((tokens - 1).saturating_mul(d).saturating_add(gap - 1))
}

/// L: the largest clockwise distance from one delay to the next, given the
/// delays in ascending order; `None` when there is none.
///
/// ```
/// use headway_core::bound::widest_gap;
/// assert_eq!(widest_gap([0, 5, 9], 12), Some(5));
/// assert_eq!(widest_gap([7], 12), Some(12));
/// ```
pub fn widest_gap(delays: impl IntoIterator<Item = u64>, processes: u64) -> Option<u64> {
    let mut delays = delays.into_iter();
    let first = delays.next()?;
    let (mut last, mut widest) = (first, 0);
    for delay in delays {
        widest = widest.max(delay - last);
        last = delay;
    }
    Some(widest.max(first + processes - last))
}
