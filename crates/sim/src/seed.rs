//! Where every random choice comes from.
//!
//! A 64-bit seed is the key of a ChaCha8 generator: its eight bytes, little
//! endian, then 24 zero bytes. Each purpose draws from a stream of its own, so
//! that adding a draw to one does not change the others. Numbers below a bound
//! are drawn by rejection from whole 64-bit words. All of this is fixed: a seed
//! gives the same run on every machine and with any number of threads.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// The seed unless another is given: the year of the paper.
pub const DEFAULT_SEED: u64 = 2009;

/// What a stream of random numbers is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Which processes delay.
    Delays,
    /// The initial state.
    Start,
    /// The k-th fault of a run.
    Fault(u32),
    /// Arrivals from outside to an open chain.
    Arrivals,
    /// Anything else, by a number of the caller's.
    Other(u32),
}

impl Purpose {
    fn stream(self) -> u64 {
        match self {
            Purpose::Delays => 0,
            Purpose::Start => 1,
            Purpose::Arrivals => 2,
            Purpose::Fault(index) => 1 << 32 | u64::from(index),
            Purpose::Other(index) => 2 << 32 | u64::from(index),
        }
    }
}

/// A stream of random numbers.
#[derive(Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of `seed` for a purpose.
    ///
    /// ```
    /// use headway_sim::seed::{Purpose, Random};
    /// let mut random = Random::new(2009, Purpose::Start);
    /// let drawn: Vec<u64> = (0..5).map(|_| random.below(100)).collect();
    /// assert_eq!(drawn, [62, 36, 99, 84, 17]);
    /// ```
    pub fn new(seed: u64, purpose: Purpose) -> Random {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(purpose.stream());
        Random(generator)
    }

    /// A number from 0 to `bound` - 1, all equally likely.
    ///
    /// # Panics
    ///
    /// When `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "nothing is below 0");
        loop {
            let word = self.0.next_u64();
            // Words beyond the largest multiple of the bound are refused; it is
            // less than a bound away from the end, so most words are seen to be
            // good without a further division.
            if word <= u64::MAX - bound || word <= u64::MAX - (u64::MAX % bound + 1) % bound {
                return word % bound;
            }
        }
    }

    /// As [`Random::below`], for an index.
    ///
    /// # Panics
    ///
    /// When `len` is 0.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Fills `bytes` with random ones, for callers that need many small numbers.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    /// Heads or tails.
    pub fn coin(&mut self) -> bool {
        self.0.next_u64() >> 63 == 1
    }

    /// True once in `out_of` / `chances` draws: with probability
    /// `chances`/`out_of`.
    ///
    /// # Panics
    ///
    /// When `out_of` is 0.
    pub fn chance(&mut self, chances: u64, out_of: u64) -> bool {
        self.below(out_of) < chances
    }

    /// `count` different indices below `len`, ascending (all when `count` is
    /// larger), every such set equally likely. Robert Floyd's algorithm: `count`
    /// draws.
    pub fn distinct(&mut self, count: usize, len: usize) -> Vec<usize> {
        // A set of marks where that is smaller than the tree would be.
        if len <= 64 * count.max(1) {
            let mut marked = vec![false; len];
            for top in len.saturating_sub(count)..len {
                let drawn = self.index(top + 1);
                let place = if marked[drawn] { top } else { drawn };
                marked[place] = true;
            }
            let marks = marked.iter().enumerate();
            return marks
                .filter(|(_, marked)| **marked)
                .map(|(index, _)| index)
                .collect();
        }
        let mut chosen = std::collections::BTreeSet::new();
        for top in len.saturating_sub(count)..len {
            let drawn = self.index(top + 1);
            if !chosen.insert(drawn) {
                chosen.insert(top);
            }
        }
        chosen.into_iter().collect()
    }
}
