//! The state in any round.

use headway_core::{Configuration, Process, Round};

use super::{Movement, Timeline};

mod counters;
mod positions;

/// A state, by its tokens and the counters that are not 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The round that leads to it.
    pub round: Round,
    /// Where the tokens are, numbered as in [`headway_core::tokens::Tokens`].
    pub places: Vec<MomentPlace>,
    /// Delays whose counters are not 0, with those, in no particular order.
    pub counters: Vec<(u64, u32)>,
}

/// Where a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MomentPlace {
    /// The process.
    pub process: u64,
    /// It rests, rather than being queued to move on.
    pub resting: bool,
}

impl Moment {
    /// The state as a configuration of the whole ring, of n processes.
    ///
    /// # Panics
    ///
    /// When the state is one of a larger ring.
    pub fn configuration(&self, processes: usize) -> Configuration {
        let mut processes = vec![Process::default(); processes];
        for place in &self.places {
            let process = &mut processes[place.process as usize];
            if place.resting {
                process.resting += 1;
            } else {
                process.queued += 1;
            }
        }
        for &(process, counter) in &self.counters {
            processes[process as usize].counter = counter as i32;
        }
        Configuration::from(processes)
    }
}

impl Timeline<'_> {
    /// The state that `round` leads to, exactly as lock-step finds it, in O(n + m)
    /// time however large `round` is (O(m + delays) for a [`super::SparseRing`]).
    pub fn moment(&self, round: Round) -> Moment {
        let (places, counters) = if round == 0 || self.groups.is_empty() {
            // Without tokens, counters run down and that is all that happens.
            let counters = self.untouched(i128::from(round), |_| true);
            (self.initial(), counters)
        } else {
            let later = self.later(round);
            (later.places, self.counters(later.round, &later.passed))
        };
        Moment {
            round,
            places,
            counters,
        }
    }

    /// The state as a configuration of the whole ring.
    ///
    /// # Panics
    ///
    /// When the ring has more than 2^32 processes.
    pub fn configuration_at(&self, round: Round) -> Configuration {
        let n = usize::try_from(self.shape().processes).expect("a ring that fits in memory");
        self.moment(round).configuration(n)
    }
}

/// Where tokens are after a round other than 0.
struct Later {
    /// An earlier round with the same configuration.
    round: i128,
    /// As [`Movement::passed`] gives them for that round.
    passed: Vec<(i128, i128)>,
    places: Vec<MomentPlace>,
}

impl Movement<'_> {
    /// Where the tokens are after a round, as in [`Moment`].
    pub(super) fn places(&self, round: Round) -> Vec<MomentPlace> {
        match round {
            0 => self.initial(),
            _ => self.later(round).places,
        }
    }

    fn initial(&self) -> Vec<MomentPlace> {
        let mut places = Vec::new();
        for entry in self.groups.iter().rev() {
            let at = i128::from(entry.group.at);
            let resting = (0..entry.group.resting).map(|_| (at, true));
            let arriving = (0..entry.group.arriving).map(|_| (at - 1, false));
            places.extend(resting.chain(arriving));
        }
        self.numbered(&places)
    }

    fn later(&self, round: Round) -> Later {
        let (earlier, periods) = self.reduced(round);
        let round = i128::from(earlier);
        let passed = self.passed(round);
        let mut places = self.numbered(&self.positions(round, &passed));
        if !self.shape().settles() {
            // A period on, a token is where the one ahead of it was.
            places.rotate_right((periods % self.shape().tokens) as usize);
        }
        Later {
            round,
            passed,
            places,
        }
    }

    /// Places in the order of the unrolled ring to places by number.
    fn numbered(&self, places: &[(i128, bool)]) -> Vec<MomentPlace> {
        let shape = self.shape();
        let place = |&(position, resting): &(i128, bool)| MomentPlace {
            process: shape.process(position),
            resting,
        };
        let (before, after) = places.split_at((shape.skipped as usize).min(places.len()));
        after.iter().chain(before).map(place).collect()
    }
}
