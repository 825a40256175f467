//! Damaged input for tests, drawn from a seed.

use headway_sim::seed::{Purpose, Random};

pub(crate) use headway_testkit::damage::damaged;

/// Random numbers below a bound.
pub(crate) fn below(seed: u64) -> impl FnMut(usize) -> usize {
    let mut random = Random::new(seed, Purpose::Other(0));
    move |bound| random.index(bound)
}
