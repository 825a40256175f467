//! Tokens with an identity.
//!
//! The programs only count tokens. To follow one, tokens are taken to leave a
//! process first-in-first-out (the paper's own convention, claim 3), so that none
//! overtakes another and their cyclic order never changes.

use alloc::vec::Vec;

use crate::{Configuration, ProcessIndex};

/// The tokens of a ring in their cyclic order, from the front: token k+1 is the
/// next one behind token k, and token 0 comes behind the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    processes: u64,
    places: Vec<Place>,
}

/// Where a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The position on the unrolled ring: the process, plus n for every time that
    /// the token has passed from process n-1 to process 0.
    pub lifted: u64,
    /// It rests, rather than being queued to move on.
    pub resting: bool,
}

impl Place {
    /// Where the token is at the start of the next round's release: at the
    /// successor if it is queued, else where it rests.
    pub const fn held(self) -> u64 {
        self.lifted + !self.resting as u64
    }
}

impl Tokens {
    /// Numbers the tokens of a state, from process n-1 backwards; at one process
    /// the queued ones are ahead of the resting ones.
    pub fn new(configuration: &Configuration) -> Tokens {
        let mut places = Vec::new();
        for (index, process) in configuration.processes.iter().enumerate().rev() {
            for (count, resting) in [(process.queued, false), (process.resting, true)] {
                let lifted = index as u64;
                places.extend((0..count).map(|_| Place { lifted, resting }));
            }
        }
        Tokens {
            processes: configuration.processes.len() as u64,
            places,
        }
    }

    /// Tokens of a ring of `processes`, at given places: from the front, each at
    /// most one turn ahead of the last.
    pub fn from_places(processes: u64, places: Vec<Place>) -> Tokens {
        Tokens { processes, places }
    }

    /// Follows the tokens through the round that led to `after`. Returns whether
    /// every token moved.
    ///
    /// # Panics
    ///
    /// When `after` is of another ring or has lost tokens.
    pub fn follow(&mut self, after: &Configuration) -> bool {
        assert_eq!(after.processes.len() as u64, self.processes);
        let mut all_moved = true;
        // Lifted, the token ahead of token 0 is the last one, a turn further on.
        let mut ahead = self.places.last().map(|last| last.held() + self.processes);
        for place in &mut self.places {
            let held = place.held();
            let head_of_pile = ahead != Some(held);
            ahead = Some(held);
            let process = (held % self.processes) as ProcessIndex;
            let released = head_of_pile && after.processes[process].queued > 0;
            all_moved &= held != place.lifted;
            *place = Place {
                lifted: held,
                resting: !released,
            };
        }
        all_moved
    }

    /// n.
    pub fn ring_len(&self) -> u64 {
        self.processes
    }

    /// Where each token is.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The process at which a place is.
    pub fn process(&self, place: Place) -> ProcessIndex {
        (place.lifted % self.processes) as ProcessIndex
    }

    /// Hops from each token to the next one ahead: token 0 first. With one token,
    /// once round the ring.
    pub fn distances(&self) -> impl Iterator<Item = u64> + '_ {
        let ahead_of_first = self.places.last().map(|last| last.lifted + self.processes);
        let ahead = ahead_of_first
            .into_iter()
            .chain(self.places.iter().map(|place| place.lifted));
        ahead
            .zip(&self.places)
            .map(|(ahead, place)| ahead - place.lifted)
    }

    /// The smallest of [`Tokens::distances`]; `None` without tokens.
    pub fn min_distance(&self) -> Option<u64> {
        self.distances().min()
    }

    /// Whether any token rests.
    pub fn any_resting(&self) -> bool {
        self.places.iter().any(|place| place.resting)
    }
}
