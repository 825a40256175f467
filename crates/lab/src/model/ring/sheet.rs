//! Many random rings at once.
//!
//! A sheet is [`LANES`] random rings of one cell, one a lane, drawn together: a
//! *row* is one number for every lane. The rows of a sheet are drawn from one
//! stream of its own, in this order:
//!
//! 1. the places of the delays: a ring has no beginning, so the last process is
//!    one, and the others are any of those before it, by Robert Floyd's algorithm
//!    (of the delays or of the relays, whichever are fewer): one row for each;
//! 2. the tokens: one row for each, a number below 2n: twice the process, plus 1
//!    when the token is queued rather than resting;
//! 3. the counters: one row for each process, a number below d; what a relay
//!    gets is not used.
//!
//! A row of numbers below `bound` takes one word for every lane, of 8 or 16 bits
//! ([`Width`]), little endian. The number is the high half of word·bound. Words
//! whose low half is below 2^bits mod `bound` are refused, which makes all numbers
//! exactly equally likely; then a further word is taken for every lane, and used in
//! the lanes that are still without a number.

use headway_core::ring::RingError;
use headway_core::{Configuration, Process, Program, Ring, Separation};
use headway_sim::seed::{Purpose, Random};

use super::row::{LANES, Mask, Row};

/// The stream of a sheet; a sheet is no start of [`headway_sim::start`].
const PURPOSE: Purpose = Purpose::Other(0x5EE7);

/// What the rings of a cell have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// n, at most [`Shape::MOST_PROCESSES`].
    pub(super) processes: usize,
    /// m, at most n.
    pub(super) tokens: usize,
    /// d, at most n.
    pub(super) separation: Separation,
    /// From 1 to n.
    pub(super) delays: usize,
}

impl Shape {
    /// Keeps every number that is made of a sheet, times of up to 4n too, far
    /// within 16 bits.
    pub(super) const MOST_PROCESSES: usize = 1000;
}

/// Random rings and states.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    shape: Shape,
    /// n rows: which processes delay.
    pub(super) delays: Vec<Mask>,
    /// 2n rows: tokens resting at process 0, queued there, resting at process 1, …
    pub(super) tokens: Vec<Row>,
    /// n rows: counters.
    pub(super) counters: Vec<Row>,
    /// Bit x of a lane: whether process x was chosen.
    marks: Vec<[u64; LANES]>,
    bytes: Bytes,
}

impl Sheet {
    /// Room for sheets of a shape.
    pub(super) fn new(shape: Shape) -> Sheet {
        let n = shape.processes;
        Sheet {
            shape,
            delays: vec![Mask([0; LANES]); n],
            tokens: vec![Row::of(0); 2 * n],
            counters: vec![Row::of(0); n],
            marks: vec![[0; LANES]; n.div_ceil(64)],
            bytes: Bytes::new(),
        }
    }

    /// Draws the sheet of a seed.
    #[inline(always)]
    pub(super) fn draw(&mut self, seed: u64) {
        self.bytes.restart(seed);
        self.draw_delays();
        self.tokens.fill(Row::of(0));
        for _ in 0..self.shape.tokens {
            let drawn = self.bytes.row_below(2 * self.shape.processes as u16);
            for lane in 0..LANES {
                self.tokens[drawn.0[lane] as usize].0[lane] += 1;
            }
        }
        let separation = self.shape.separation.hops() as u16;
        self.bytes.rows_below(separation, &mut self.counters);
    }

    #[inline(always)]
    fn draw_delays(&mut self) {
        let (n, delays) = (self.shape.processes, self.shape.delays);
        // The last process is a delay; the others are among those before it.
        let relays = n - delays;
        let chosen = relays.min(delays - 1);
        self.marks.fill([0; LANES]);
        for top in n - 1 - chosen..n - 1 {
            let drawn = self.bytes.row_below(top as u16 + 1);
            self.mark(&drawn, top);
        }
        let delays_are_marked = chosen < relays;
        for (part, delays) in self.delays.chunks_mut(16).enumerate() {
            let marks = &self.marks[part / 4];
            let mut bits = [0; LANES];
            for lane in 0..LANES {
                bits[lane] = (marks[lane] >> (16 * (part % 4))) as i16;
            }
            for (bit, delays) in delays.iter_mut().enumerate() {
                let unmarked = Row(bits).without(!(1 << bit)).is(Row::of(0));
                *delays = if delays_are_marked { !unmarked } else { unmarked };
            }
        }
        self.delays[n - 1] = Mask([-1; LANES]);
    }

    /// Marks the places drawn, or `top` where they are marked already.
    #[inline(always)]
    fn mark(&mut self, drawn: &Row, top: usize) {
        let mut taken = [0u64; LANES];
        for (word, marks) in (0u64..).zip(&self.marks) {
            for lane in 0..LANES {
                let place = drawn.0[lane] as u64;
                let here = -i64::from(place / 64 == word) as u64;
                taken[lane] |= marks[lane] & (1 << (place % 64)) & here;
            }
        }
        for (word, marks) in (0u64..).zip(&mut self.marks) {
            let top = if top as u64 / 64 == word { 1 << (top % 64) } else { 0 };
            for lane in 0..LANES {
                let place = drawn.0[lane] as u64;
                let here = -i64::from(place / 64 == word) as u64;
                let bit = (1 << (place % 64)) & here;
                marks[lane] |= if taken[lane] != 0 { top } else { bit };
            }
        }
    }

    /// The ring and the state of a lane.
    pub(super) fn ring(&self, lane: usize) -> Result<(Ring, Configuration), RingError> {
        let delays = self.delays.iter().map(|row| row.0[lane] != 0);
        let programs = delays.map(|delays| match delays {
            true => Program::Delay,
            false => Program::Relay,
        });
        let programs: Vec<Program> = programs.collect();
        let processes = programs.iter().enumerate().map(|(index, program)| Process {
            resting: self.tokens[2 * index].0[lane] as u32,
            queued: self.tokens[2 * index + 1].0[lane] as u32,
            counter: match program {
                Program::Delay => i32::from(self.counters[index].0[lane]),
                _ => 0,
            },
        });
        let state = Configuration {
            processes: processes.collect(),
            measuring: Vec::new(),
        };
        Ok((Ring::new(self.shape.separation, programs)?, state))
    }
}

/// A stream of random bytes, drawn many at a time.
#[derive(Clone, Debug)]
struct Bytes {
    random: Random,
    buffer: [u8; Bytes::SIZE],
    used: usize,
}

impl Bytes {
    const SIZE: usize = 512;

    fn new() -> Bytes {
        Bytes {
            random: Random::new(0, PURPOSE),
            buffer: [0; Bytes::SIZE],
            used: Bytes::SIZE,
        }
    }

    fn restart(&mut self, seed: u64) {
        self.random = Random::new(seed, PURPOSE);
        self.used = Bytes::SIZE;
    }

    /// The next bytes of the stream.
    #[inline(always)]
    fn take<const N: usize>(&mut self) -> [u8; N] {
        if self.used + N > Bytes::SIZE {
            self.buffer.copy_within(self.used.., 0);
            let left = Bytes::SIZE - self.used;
            self.random.fill(&mut self.buffer[left..]);
            self.used = 0;
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.buffer[self.used..self.used + N]);
        self.used += N;
        bytes
    }

    /// Numbers below `bound` for every lane: as many rows as there is room for.
    #[inline(always)]
    fn rows_below(&mut self, bound: u16, rows: &mut [Row]) {
        for rows in rows.chunks_mut(digits(bound)) {
            let least = (WORDS % u32::from(bound).pow(rows.len() as u32)) as u16;
            let mut refused = Mask([-1; LANES]);
            while refused.any() {
                let mut fraction = self.words();
                for row in &mut *rows {
                    let (digit, rest) = fraction.times_wide(bound);
                    *row = refused.choose(digit, *row);
                    fraction = rest;
                }
                refused = refused & fraction.below_unsigned(least);
            }
        }
    }

    #[inline(always)]
    fn row_below(&mut self, bound: u16) -> Row {
        let mut row = [Row::of(0)];
        self.rows_below(bound, &mut row);
        row[0]
    }

    /// A word for every lane.
    #[inline(always)]
    fn words(&mut self) -> Row {
        let bytes: [u8; 2 * LANES] = self.take();
        let mut words = [0; LANES];
        for lane in 0..LANES {
            words[lane] = i16::from_le_bytes([bytes[2 * lane], bytes[2 * lane + 1]]);
        }
        Row(words)
    }
}

/// How many words there are.
const WORDS: u32 = 1 << 16;

/// How many numbers below `bound` are made of one word: as many as there is room
/// for, as long as not one in a hundred words is refused.
fn digits(bound: u16) -> usize {
    let bound = u32::from(bound.max(2));
    let mut digits = 1;
    for more in 2..=16 {
        match bound.checked_pow(more) {
            Some(power) if power <= WORDS => {
                if WORDS % power < WORDS / 100 {
                    digits = more as usize;
                }
            }
            _ => break,
        }
    }
    digits
}
