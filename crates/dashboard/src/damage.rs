//! Damaged input for tests, drawn from a seed.

#[path = "../../../testsuite/src/damage.rs"]
mod shared;

use headway_sim::seed::{Purpose, Random};

pub(crate) use shared::damaged;

/// Random numbers below a bound.
pub(crate) fn below(seed: u64) -> impl FnMut(usize) -> usize {
    let mut random = Random::new(seed, Purpose::Other(0));
    move |bound| random.index(bound)
}
