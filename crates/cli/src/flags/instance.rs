//! A ring in a state.

use headway_core::bound::WorstCase;
use headway_core::{Configuration, Ring};

/// A ring with its initial state, and how it was described.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) ring: Ring,
    pub(crate) start: Configuration,
    /// Counted once, because that takes a while on a large ring.
    tokens: u64,
    pub(crate) seed: u64,
    /// In words: "random start" or the file's name.
    pub(crate) start_name: String,
}

impl Instance {
    pub(crate) fn new(ring: Ring, start: Configuration, seed: u64, start_name: String) -> Instance {
        Instance {
            tokens: start.tokens(),
            ring,
            start,
            seed,
            start_name,
        }
    }

    pub(crate) fn processes(&self) -> u64 {
        self.ring.len() as u64
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// d, in hops.
    pub(crate) fn separation(&self) -> u32 {
        self.ring.separation().hops()
    }

    /// m·d ≤ n.
    pub(crate) fn feasible(&self) -> bool {
        self.ring.fits(self.tokens())
    }

    /// The proved worst case from any state, where there is one.
    pub(crate) fn worst_case(&self) -> Option<WorstCase> {
        self.ring.worst_case(self.tokens())
    }
}
