//! The state in any round.

use headway_core::{Configuration, Process, Round};

use super::Timeline;

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
        let mut moment = if round == 0 || self.groups.is_empty() {
            self.initial(round)
        } else {
            let (earlier, periods) = self.reduced(round);
            let mut moment = self.later(earlier);
            if !self.shape().settles() {
                // A period on, a token is where the one ahead of it was.
                let moved_up = (periods % self.shape().tokens) as usize;
                moment.places.rotate_right(moved_up);
            }
            moment
        };
        moment.round = round;
        moment
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

    /// The initial state, with counters run down for some rounds: for a ring without
    /// tokens that is all that happens.
    fn initial(&self, rounds: Round) -> Moment {
        let mut places = Vec::new();
        for entry in self.groups.iter().rev() {
            let at = i128::from(entry.group.at);
            let resting = (0..entry.group.resting).map(|_| (at, true));
            let arriving = (0..entry.group.arriving).map(|_| (at - 1, false));
            places.extend(resting.chain(arriving));
        }
        Moment {
            round: 0,
            places: self.numbered(&places),
            counters: self.untouched(i128::from(rounds), |_| true),
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

    fn later(&self, round: Round) -> Moment {
        let t = i128::from(round);
        let passed = self.passed(t);
        Moment {
            round,
            places: self.numbered(&self.positions(t, &passed)),
            counters: self.counters(t, &passed),
        }
    }
}
