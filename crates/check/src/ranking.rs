//! States to integers and back, exactly: multisets and mixed-radix numbers.

/// Ways to put some indistinct tokens into slots, numbered by the combinatorial
/// number system: the slots s₁ ≤ s₂ ≤ … ≤ sₘ have rank Σ C(sⱼ + j - 1, j).
#[derive(Clone, Debug)]
pub struct Multisets {
    slots: usize,
    tokens: usize,
    /// `choose[j][x]` is C(x, j), for j up to m and x up to slots + m.
    choose: Vec<Vec<u128>>,
}

impl Multisets {
    /// All ways to put `tokens` indistinct tokens into `slots` slots.
    ///
    /// ```
    /// use headway_check::ranking::Multisets;
    /// let placements = Multisets::new(18, 3);
    /// assert_eq!(placements.count(), 1140);
    /// let mut slots = [0; 3];
    /// placements.unrank(1139, &mut slots);
    /// assert_eq!((slots, placements.rank(&slots)), ([17; 3], 1139));
    /// ```
    pub fn new(slots: usize, tokens: usize) -> Multisets {
        let width = slots + tokens + 1;
        let mut choose = vec![vec![1_u128; width]];
        for j in 1..=tokens {
            let mut row = vec![0_u128; width];
            for x in 1..width {
                row[x] = row[x - 1].saturating_add(choose[j - 1][x - 1]);
            }
            choose.push(row);
        }
        Multisets {
            slots,
            tokens,
            choose,
        }
    }

    /// C(slots + m - 1, m); saturates.
    pub fn count(&self) -> u128 {
        if self.tokens == 0 {
            return 1;
        }
        if self.slots == 0 {
            return 0;
        }
        self.choose[self.tokens][self.slots + self.tokens - 1]
    }

    /// The slots of a rank, ascending. `slots` has one entry per token.
    pub fn unrank(&self, rank: u64, slots: &mut [u8]) {
        let mut rest = u128::from(rank);
        let mut x = self.slots + self.tokens;
        for j in (1..=self.tokens).rev() {
            // The largest x with C(x, j) <= rest; it only falls from j to j - 1.
            x -= 1;
            while self.choose[j][x] > rest {
                x -= 1;
            }
            rest -= self.choose[j][x];
            slots[j - 1] = (x - (j - 1)) as u8;
        }
    }

    /// The rank of ascending slots.
    pub fn rank(&self, slots: &[u8]) -> u64 {
        slots
            .iter()
            .enumerate()
            .map(|(index, &slot)| self.choose[index + 1][usize::from(slot) + index] as u64)
            .sum()
    }
}

/// Takes the lowest digit of a mixed-radix number.
pub(crate) fn digit(rest: &mut u64, radix: u64) -> u64 {
    let digit = *rest % radix;
    *rest /= radix;
    digit
}
