//! The smallest distance over any span of rounds.

use std::ops::RangeInclusive;

use headway_core::Round;

use super::{Movement, Trajectory};

impl Movement<'_> {
    /// The smallest distance between successive tokens over the states that these
    /// rounds lead to; `None` without tokens or rounds.
    ///
    /// Distances shrink only while the token ahead rests, so it is enough to look
    /// at the ends of the span and at the rounds in which rests have ended: the
    /// cost is by waits, not by rounds.
    pub fn min_distance(&self, rounds: RangeInclusive<Round>) -> Option<u64> {
        let (first, last) = (*rounds.start(), *rounds.end());
        if first > last || self.shape().tokens == 0 {
            return None;
        }
        let last = self.enough(first, last);
        let m = self.shape().tokens;
        let mut ahead = self.way_of(0, last);
        let front = ahead.clone();
        let mut smallest = i128::MAX;
        for token in 1..m {
            if smallest == 0 {
                return Some(0);
            }
            let behind = self.way_of(token, last);
            smallest = smallest.min(closest(&ahead, &behind, first, last));
            ahead = behind;
        }
        // Behind the last token comes token 0 again, a turn back.
        let n = i128::from(self.shape().processes);
        smallest = smallest.min(closest(&ahead, &front, first, last) + n);
        Some(smallest as u64)
    }

    /// A round from which on nothing new happens within the span.
    fn enough(&self, first: Round, last: Round) -> Round {
        let periodic = if self.shape().settles() {
            first.max(self.settled_at())
        } else {
            let period = self.shape().pace;
            first.max(self.jammed_at()).saturating_add(period)
        };
        last.min(periodic)
    }
}

/// The smallest distance of a token to one behind it on the unrolled ring.
fn closest(ahead: &Trajectory, behind: &Trajectory, first: Round, last: Round) -> i128 {
    let distance = |round| ahead.position(round) - behind.position(round);
    let ends = ahead.waits().iter().map(|wait| wait.to.saturating_add(1));
    let within = ends.filter(|round| (first..=last).contains(round));
    let smallest = within.map(distance).min();
    let at_ends = distance(first).min(distance(last));
    smallest.map_or(at_ends, |smallest| smallest.min(at_ends))
}
