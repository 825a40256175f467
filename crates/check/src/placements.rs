//! Ways to place indistinct tokens, to integers and back.

use headway_core::Process;
use num_bigint::BigUint;

use crate::error::{Result, TooLarge};

/// Ways to put some indistinct tokens into slots, numbered by the combinatorial
/// number system: the slots s₁ ≤ s₂ ≤ … ≤ sₘ have rank Σ C(sⱼ + j - 1, j).
#[derive(Clone, Debug)]
pub(crate) struct Placements {
    slots: usize,
    tokens: usize,
    count: u64,
    /// `choose[j][x]` is C(x, j), for j up to m and x up to slots + m. Entries that a
    /// rank below `count` does not need saturate.
    choose: Vec<Vec<u64>>,
}

impl Placements {
    /// All ways to put `tokens` tokens into `slots` slots.
    pub(crate) fn new(slots: usize, tokens: usize) -> Result<Placements> {
        let all = count(slots, tokens);
        TooLarge::bound("placements of tokens", all.clone(), (1 << 63) - 1)?;
        let width = slots + tokens + 1;
        let mut choose = vec![vec![1_u64; width]];
        for j in 1..=tokens {
            let mut row = vec![0_u64; width];
            for x in 1..width {
                row[x] = row[x - 1].saturating_add(choose[j - 1][x - 1]);
            }
            choose.push(row);
        }
        Ok(Placements {
            slots,
            tokens,
            count: all.try_into().expect("below 2^63"),
            choose,
        })
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The slots of a rank, ascending. `slots` has one entry per token.
    pub(crate) fn unrank(&self, rank: u64, slots: &mut [u8]) {
        let mut rest = rank;
        let mut x = self.slots + self.tokens;
        for j in (1..=self.tokens).rev() {
            // The largest x with C(x, j) <= rest; it only falls from j to j - 1.
            while self.choose[j][x] > rest {
                x -= 1;
            }
            rest -= self.choose[j][x];
            slots[j - 1] = (x - (j - 1)) as u8;
        }
    }

    /// Puts the tokens of a rank on a ring: slot 2i is the queue of process i, slot
    /// 2i + 1 its resting place.
    pub(crate) fn place(&self, rank: u64, processes: &mut [Process]) {
        let mut slots = [0; 256];
        let slots = &mut slots[..self.tokens];
        self.unrank(rank, slots);
        for &slot in &*slots {
            let process = &mut processes[usize::from(slot / 2)];
            if slot % 2 == 0 {
                process.queued += 1;
            } else {
                process.resting += 1;
            }
        }
    }

    /// The rank of a ring's tokens: the inverse of [`Placements::place`].
    pub(crate) fn rank(&self, processes: &[Process]) -> u64 {
        let (mut rank, mut tokens) = (0, 0);
        for (index, process) in processes.iter().enumerate() {
            for (slot, count) in [
                (2 * index, process.queued),
                (2 * index + 1, process.resting),
            ] {
                for _ in 0..count {
                    rank += self.choose[tokens + 1][slot + tokens];
                    tokens += 1;
                }
            }
        }
        rank
    }
}

/// C(slots + m - 1, m): the ways to put m tokens into slots.
pub(crate) fn count(slots: usize, tokens: usize) -> BigUint {
    // After each factor the product is a binomial coefficient, so nothing is lost.
    (1..=tokens).fold(BigUint::from(1_u32), |product, j| {
        product * (slots + j - 1) / j
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_slots_are_inverse() {
        let placements = Placements::new(18, 3).unwrap();
        assert_eq!(placements.count(), 1140);
        let mut slots = [0; 3];
        placements.unrank(1139, &mut slots);
        assert_eq!(slots, [17; 3]);
        for rank in 0..1140 {
            let mut ring = [Process::default(); 9];
            placements.place(rank, &mut ring);
            assert_eq!(placements.rank(&ring), rank);
        }
    }

    #[test]
    fn counts_are_exact() {
        assert_eq!(count(128, 4), BigUint::from(11_716_640_u32));
        assert_eq!(count(5, 0), BigUint::from(1_u32));
        assert_eq!(count(0, 0), BigUint::from(1_u32));
        assert_eq!(count(0, 2), BigUint::from(0_u32));
        assert!(Placements::new(128, 255).is_err());
    }
}
