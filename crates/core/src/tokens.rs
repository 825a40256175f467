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
    /// The process, which is `lifted` modulo n, kept to spare the division.
    process: u32,
    /// It rests, rather than being queued to move on.
    pub resting: bool,
}

impl Place {
    /// Where the token is when the next round's releases are decided: at the
    /// successor if it is queued, else where it rests.
    const fn held(self) -> u64 {
        self.lifted + !self.resting as u64
    }

    /// The process.
    pub const fn process(self) -> ProcessIndex {
        self.process as ProcessIndex
    }
}

/// The tokens at one process when a round's release is decided there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pile {
    /// Where.
    pub process: ProcessIndex,
    /// How many, those that rested there and those that arrive; at least 1.
    pub held: u32,
    /// How many of them arrive in this round.
    pub arriving: u32,
    /// Which token is the first of them; the others follow in order.
    pub first: usize,
    /// Where the first of them is on the unrolled ring; those from the other end of
    /// the list are n further on.
    pub lifted: u64,
}

impl Tokens {
    /// Numbers the tokens of a state, from process n-1 backwards; at one process
    /// the queued ones are ahead of the resting ones.
    pub fn new(configuration: &Configuration) -> Tokens {
        let mut places = Vec::new();
        for (index, process) in configuration.processes.iter().enumerate().rev() {
            for (count, resting) in [(process.queued, false), (process.resting, true)] {
                let place = Place {
                    lifted: index as u64,
                    process: index as u32,
                    resting,
                };
                places.extend((0..count).map(|_| place));
            }
        }
        Tokens {
            processes: configuration.processes.len() as u64,
            places,
        }
    }

    /// One round for the tokens: what is queued arrives, then `release` says for
    /// every pile whether its first token is released. Takes O(m) time.
    pub fn advance(&mut self, mut release: impl FnMut(Pile) -> bool) {
        let n = self.processes;
        let Some(last) = self.places.last() else {
            return;
        };
        // Lifted, the token ahead of token 0 is the last one, a turn further on.
        let mut ahead = last.held() + n;
        let is_head = |place: &Place| {
            let head = place.held() != ahead;
            ahead = place.held();
            head
        };
        // Tokens before the first head belong to the pile at the list's end. There
        // is a head, because the distances round the ring add up to n.
        let wrapped = self.places.iter().position(is_head).unwrap_or(0);
        let mut at = wrapped;
        while at < self.places.len() {
            let head = self.places[at];
            let (held, mut end) = (head.held(), at + 1);
            let mut arriving = u32::from(!head.resting);
            while end < self.places.len() && self.places[end].held() == held {
                arriving += u32::from(!self.places[end].resting);
                end += 1;
            }
            let mut tokens = (end - at) as u32;
            if end == self.places.len() {
                tokens += wrapped as u32;
                let rest = self.places[..wrapped].iter();
                arriving += rest.filter(|place| !place.resting).count() as u32;
            }
            let process = if !head.resting && u64::from(head.process) + 1 == n {
                0
            } else {
                head.process + u32::from(!head.resting)
            };
            let released = release(Pile {
                process: process as ProcessIndex,
                held: tokens,
                arriving,
                first: at,
                lifted: held,
            });
            let resting = Place {
                lifted: held,
                process,
                resting: true,
            };
            self.places[at..end].fill(resting);
            self.places[at].resting = !released;
            if end == self.places.len() {
                let lifted = held + n;
                self.places[..wrapped].fill(Place { lifted, ..resting });
            }
            at = end;
        }
    }

    /// Follows the tokens through the round that led to `after`.
    ///
    /// # Panics
    ///
    /// When `after` is of a smaller ring.
    pub fn follow(&mut self, after: &Configuration) {
        self.advance(|pile| after.processes[pile.process].queued > 0);
    }

    /// n.
    pub fn ring_len(&self) -> u64 {
        self.processes
    }

    /// Where each token is.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The tokens from process n-1 backwards, as [`Tokens::new`] would number them: the
    /// number of the first, which the others follow in order.
    pub fn first_backwards(&self) -> usize {
        let turns = |place: &Place| place.lifted / self.processes;
        let last = self.places.last().map_or(0, turns);
        self.places.partition_point(|place| turns(place) > last)
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
