//! Random choices, all from one 64-bit seed through ChaCha8: the same on every
//! machine.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// A stream of choices.
#[derive(Debug)]
pub(crate) struct Choices(ChaCha8Rng);

impl Choices {
    /// One of many independent streams of a seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Choices {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Choices(generator)
    }

    /// 0 to `bound` - 1, each as likely up to 2^-32.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// 0 to 1, without 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Shuffles in place.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
