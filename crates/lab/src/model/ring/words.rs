//! Random rows, exactly uniform, from as few random bytes as is sensible.

use headway_sim::seed::{Purpose, Random};

use super::row::{LANES, Lane, Mask, Row};

/// The stream of a sheet; no start of [`headway_sim::start`] draws from it.
const PURPOSE: Purpose = Purpose::Other(0x5EE7);

/// How many words there are.
const WORDS: u32 = 1 << 16;

/// Bytes that are drawn at a time.
const BUFFER: usize = 512;

/// A stream of random words of 16 bits, [`LANES`] at a time.
#[derive(Clone, Debug)]
pub(super) struct Words {
    random: Random,
    buffer: [u8; BUFFER],
    used: usize,
}

impl Words {
    /// The stream of a seed.
    pub(super) fn new(seed: u64) -> Words {
        Words {
            random: Random::new(seed, PURPOSE),
            buffer: [0; BUFFER],
            used: BUFFER,
        }
    }

    /// A number below `bound` for every lane.
    #[inline(always)]
    pub(super) fn row_below<T: Lane>(&mut self, bound: u16) -> Row<T> {
        let mut row = [Row::of(0)];
        self.together(bound, &mut row);
        row[0]
    }

    /// Rows of numbers below `bound`, several from a word if there is room for them.
    #[inline(always)]
    pub(super) fn rows_below<T: Lane>(&mut self, bound: u16, rows: &mut [Row<T>]) {
        for rows in rows.chunks_mut(digits(bound)) {
            self.together(bound, rows);
        }
    }

    /// Rows from one word a lane: the word, as a fraction of 2^16, times `bound` is
    /// a number and a fraction again. The numbers are the digits of ⌊word·b/2^16⌋,
    /// where b = bound^rows; a word is refused if word·b mod 2^16 < 2^16 mod b
    /// (Lemire 2019), which leaves equally many words for every ⌊…⌋.
    #[inline(always)]
    fn together<T: Lane>(&mut self, bound: u16, rows: &mut [Row<T>]) {
        let least = (WORDS % u32::from(bound).pow(rows.len() as u32)) as u16;
        let mut fractions = self.next();
        for row in &mut *rows {
            *row = digit(&mut fractions, bound);
        }
        let mut refused = Mask::from_words(&fractions, |fraction| fraction < least);
        while refused.any() {
            let mut fractions = self.next();
            for row in &mut *rows {
                *row = refused.choose(digit(&mut fractions, bound), *row);
            }
            refused = refused & Mask::from_words(&fractions, |fraction| fraction < least);
        }
    }

    /// The next word for every lane.
    #[inline(always)]
    fn next(&mut self) -> [u16; LANES] {
        if self.used == BUFFER {
            self.random.fill(&mut self.buffer);
            self.used = 0;
        }
        let bytes = &self.buffer[self.used..self.used + 2 * LANES];
        let mut words = [0; LANES];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(2)) {
            *word = u16::from_le_bytes([bytes[0], bytes[1]]);
        }
        self.used += 2 * LANES;
        words
    }
}

/// Whole parts of fractions times `bound`; the fractions that are left take their
/// place.
#[inline(always)]
fn digit<T: Lane>(fractions: &mut [u16; LANES], bound: u16) -> Row<T> {
    let whole = |word: u16| ((u32::from(word) * u32::from(bound)) >> 16) as i16;
    let row = Row::from_words(fractions, whole);
    for fraction in fractions {
        *fraction = fraction.wrapping_mul(bound);
    }
    row
}

/// How many numbers below `bound` are made of one word: as many as there is room
/// for without refusing one word in a hundred.
fn digits(bound: u16) -> usize {
    let room = |digits: &u32| {
        let power = u32::from(bound).checked_pow(*digits);
        power.is_some_and(|power| power <= WORDS && WORDS % power < WORDS / 100)
    };
    (2..=16).filter(room).max().unwrap_or(1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every word once: whatever is not refused has to be met equally often.
    #[test]
    fn every_combination_of_digits_is_made_of_equally_many_words() {
        for bound in [1u16, 2, 3, 5, 7, 10, 12, 25, 100, 255] {
            let digits = digits(bound);
            let power = u32::from(bound).pow(digits as u32);
            assert!(power <= WORDS, "{bound}");
            let mut met = vec![0u32; power as usize];
            for words in (0..=u16::MAX).collect::<Vec<_>>().chunks(LANES) {
                let mut fractions: [u16; LANES] = words.try_into().unwrap();
                let mut numbers = [0usize; LANES];
                for _ in 0..digits {
                    let row: Row<i16> = digit(&mut fractions, bound);
                    for (number, digit) in numbers.iter_mut().zip(row.0) {
                        *number = *number * usize::from(bound) + digit as usize;
                    }
                }
                for (number, fraction) in numbers.into_iter().zip(fractions) {
                    met[number] += u32::from(u32::from(fraction) >= WORDS % power);
                }
            }
            assert!(met.iter().all(|&times| times == WORDS / power), "{bound}");
        }
    }

    #[test]
    fn words_are_shared_by_numbers_that_need_little() {
        let shared = [2, 3, 5, 10, 12, 25, 100].map(digits);
        assert_eq!(shared, [16, 5, 4, 3, 2, 2, 1]);
    }
}
