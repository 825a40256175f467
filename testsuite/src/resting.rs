//! Resting bounds and the variant function F (paper, claims 6 to 8).

use headway_core::{Configuration, ProcessIndex};

use crate::space::Case;

/// F: the resting bounds of all delays, as they stand after the states observed.
///
/// The bound of a delay is one more than the fewest tokens that have rested there
/// since σ (claim 6), and zero as soon as it has been seen with no token resting
/// and its counter run down (claim 7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    delays: Vec<ProcessIndex>,
    bounds: Vec<u32>,
}

impl Variant {
    /// F at σ.
    pub fn new(case: &Case, sigma: &Configuration) -> Variant {
        let delays: Vec<_> = case.ring.delays().collect();
        let mut variant = Variant {
            bounds: vec![u32::MAX; delays.len()],
            delays,
        };
        variant.observe(sigma);
        variant
    }

    /// Takes the next state into account.
    pub fn observe(&mut self, state: &Configuration) {
        for (&index, bound) in self.delays.iter().zip(&mut self.bounds) {
            let process = state.processes[index];
            let here = if process.resting == 0 && process.counter == 0 {
                0
            } else {
                process.resting + 1
            };
            *bound = (*bound).min(here);
        }
    }

    /// The components, in ring order of the delays.
    pub fn bounds(&self) -> &[u32] {
        &self.bounds
    }

    /// Whether all components are zero.
    pub fn is_zero(&self) -> bool {
        self.bounds.iter().all(|&bound| bound == 0)
    }

    /// The first delay at which more tokens rest than its bound allows.
    pub fn exceeded(&self, state: &Configuration) -> Option<ProcessIndex> {
        let mut delays = self.delays.iter().zip(&self.bounds);
        delays
            .find(|&(&index, &bound)| state.processes[index].resting > bound)
            .map(|(&index, _)| index)
    }
}
