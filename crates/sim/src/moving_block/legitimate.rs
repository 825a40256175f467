//! Which states of a moving block, and of stations, keep their promise for ever.

use headway_core::moving_block::Ahead;
use headway_core::stations::Work;

use super::{MovingBlockRing, Place, Visit};

impl MovingBlockRing {
    /// Whether all tokens are as far apart as wanted and all that is told or believed is
    /// true: then it stays so, and work is apart (theorems 1 and 2 of both documents). O(n).
    pub fn legitimate(&self) -> bool {
        self.closest() >= i64::from(self.separation)
            && self.claims_ahead_are_true()
            && self.claims_of_work_are_good()
            && (self.places.iter())
                .all(|place| place.member.work.is_over() || self.is_visited(place))
    }

    /// Whether no token is nearer than is told or believed.
    fn claims_ahead_are_true(&self) -> bool {
        let n = self.places.len();
        let mut here = vec![false; n];
        for from in &self.from {
            here[from % n] = true;
        }
        // From each process to the next token, going back twice for the end of the ring.
        let (mut free, mut claims_true) = (u32::MAX, true);
        for index in (0..2 * n).rev() {
            let next = (index + 1) % n;
            free = if here[next] {
                0
            } else {
                free.saturating_add(self.places[next].at.last.into())
            };
            let place = &self.places[index % n];
            let told = place.slot.filter(|news| news.received == place.given);
            let believed = match place.ahead {
                Ahead::Free(stations) => Some(stations),
                Ahead::Unknown => None,
            };
            let mut claims = told.map(|news| news.ahead).into_iter().chain(believed);
            claims_true &= index >= n || claims.all(|ahead| ahead <= free);
        }
        claims_true
    }

    /// Whether all that is told or believed of ended work is good (lemma 2): up to there
    /// nobody has a smaller number, nor is busy since a visit of that number or a smaller one.
    fn claims_of_work_are_good(&self) -> bool {
        // The largest number of which a claim would be good, and which would not be.
        let (mut most, mut busy_since) = (u64::MAX, u64::MAX);
        self.places.iter().all(|place| {
            if place.at.first {
                (most, busy_since) = (u64::MAX, u64::MAX);
            }
            let claims = [place.told, place.heard];
            let good = claims.iter().all(|claim| {
                place.at.first || !claim.over || claim.number <= most && claim.number < busy_since
            });
            most = most.min(place.member.number);
            if !place.member.work.is_over() {
                let number = place.visit.map_or(0, |visit| visit.number);
                busy_since = busy_since.min(number);
            }
            good
        })
    }

    /// Whether a process that is busy is so under a token that is in its station still, and
    /// has its number or a larger one.
    fn is_visited(&self, place: &Place) -> bool {
        let Some(Visit { token, at, number }) = place.visit else {
            return false;
        };
        let from = self.from[token];
        let holder = &self.places[from % self.places.len()];
        let carried = match holder.under_way {
            Some((moving, _)) if moving == token && holder.at.last => return false,
            Some((moving, carried)) if moving == token => carried,
            _ => holder.member.number,
        };
        from >= at && self.station(from) == self.station(at) && number <= carried
    }

    /// Whether any two works are under one visit in one station, or in stations as far apart
    /// as wanted.
    pub fn works_apart(&self) -> bool {
        let stations = self.stations();
        let entry = |place: &Place| {
            let visit = place.visit?;
            Some((visit.token, self.station(visit.at)))
        };
        let works = self.places.iter().zip(&self.station_of);
        let works: Vec<_> = works
            .filter(|(place, _)| place.member.work == Work::Working)
            .map(|(place, &station)| (station, entry(place)))
            .collect();
        let apart = |one: usize, other: usize| {
            let apart = one.abs_diff(other);
            apart.min(stations - apart) >= self.separation as usize
        };
        works.iter().all(|(one, first)| {
            let mut others = works.iter();
            others.all(|(other, second)| match one == other {
                true => first == second,
                false => apart(*one, *other),
            })
        })
    }
}
