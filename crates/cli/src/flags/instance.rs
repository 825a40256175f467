//! A ring in a state.

use headway_core::{Configuration, Ring, bound};

/// A ring with its initial state, and how it was described.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) ring: Ring,
    pub(crate) start: Configuration,
    pub(crate) seed: u64,
    /// In words: "random start" or the file's name.
    pub(crate) start_name: String,
}

impl Instance {
    pub(crate) fn processes(&self) -> u64 {
        self.ring.len() as u64
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.start.tokens()
    }

    /// d, in hops.
    pub(crate) fn separation(&self) -> u32 {
        self.ring.separation().hops()
    }

    /// m·d ≤ n.
    pub(crate) fn feasible(&self) -> bool {
        self.ring.separation().fits(self.processes(), self.tokens())
    }

    /// L: the largest distance from one delay to the next.
    pub(crate) fn widest_gap(&self) -> Option<u64> {
        let delays = self.ring.delays().map(|delay| delay as u64);
        bound::widest_gap(delays, self.processes())
    }

    /// The proved worst case of the last round after which a token rests; `None`
    /// where there is none: infeasible rings, and rings that measure.
    pub(crate) fn worst_last_rest(&self) -> Option<u64> {
        if !self.feasible() || !self.ring.measurers().is_empty() {
            return None;
        }
        let gap = self.widest_gap()?;
        bound::worst_last_rest(self.tokens(), self.separation(), gap)
    }

    /// The proved worst case of the round after which the state is legitimate;
    /// `None` where [`Instance::worst_last_rest`] is.
    pub(crate) fn worst_legitimate_at(&self) -> Option<u64> {
        self.worst_last_rest()?;
        let delays: Vec<u64> = self.ring.delays().map(|delay| delay as u64).collect();
        let gaps = bound::gaps(delays, self.processes());
        bound::worst_legitimate_at(self.tokens(), self.separation(), gaps)
    }
}
