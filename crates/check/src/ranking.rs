//! States to integers and back, exactly: multisets and mixed-radix numbers.

use headway_core::Process;

use crate::CheckError;

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

/// The product of radices as a number of states.
///
/// # Errors
///
/// [`CheckError::TooLarge`] from 2^63 on.
pub(crate) fn count_states(states: u128) -> Result<u64, CheckError> {
    u64::try_from(states)
        .ok()
        .filter(|states| states >> 63 == 0)
        .ok_or_else(|| CheckError::TooLarge {
            what: format!("{states} states"),
            need: "numbers above 63 bits".into(),
            fits: "2^63 states".into(),
        })
}

/// Puts one token into each slot: slot 2i is the queue of process i, slot 2i + 1
/// its resting place.
pub(crate) fn place_tokens(processes: &mut [Process], slots: &[u8]) {
    for &slot in slots {
        let process = &mut processes[usize::from(slot / 2)];
        if slot % 2 == 0 {
            process.queued += 1;
        } else {
            process.resting += 1;
        }
    }
}

/// Writes the slots of all tokens, ascending; returns how many there are.
pub(crate) fn token_slots(processes: &[Process], slots: &mut [u8]) -> usize {
    let mut tokens = 0;
    for (index, process) in processes.iter().enumerate() {
        for (slot, count) in [
            (2 * index, process.queued),
            (2 * index + 1, process.resting),
        ] {
            let next = tokens + count as usize;
            slots[tokens..next].fill(slot as u8);
            tokens = next;
        }
    }
    tokens
}
