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

/// Rings of a sheet.
pub(super) const LANES: usize = 32;

/// One number for every lane.
pub(super) type Row = [i16; LANES];

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
    /// n rows: 1 where a process delays, else 0.
    pub(super) delays: Vec<Row>,
    /// 2n rows: tokens resting at process 0, queued there, resting at process 1, …
    pub(super) tokens: Vec<Row>,
    /// n rows: counters.
    pub(super) counters: Vec<Row>,
}

impl Sheet {
    /// Room for sheets of a shape.
    pub(super) fn new(shape: Shape) -> Sheet {
        let n = shape.processes;
        Sheet {
            shape,
            delays: vec![[0; LANES]; n],
            tokens: vec![[0; LANES]; 2 * n],
            counters: vec![[0; LANES]; n],
        }
    }

    /// Draws the sheet of a seed.
    pub(super) fn draw(&mut self, seed: u64) {
        let mut random = Random::new(seed, PURPOSE);
        let Shape {
            processes: n,
            tokens,
            separation,
            delays,
        } = self.shape;
        // The last process is a delay; the others are among those before it.
        let (chosen, mark) = match (delays - 1, n - delays) {
            (delays, relays) if delays <= relays => (delays, 1),
            (_, relays) => (relays, 0),
        };
        self.delays.fill([1 - mark; LANES]);
        self.delays[n - 1] = [1; LANES];
        for top in n - 1 - chosen..n - 1 {
            let drawn = row_below(&mut random, top as u16 + 1);
            for lane in 0..LANES {
                let place = drawn[lane] as usize;
                let taken = self.delays[place][lane] == mark;
                self.delays[if taken { top } else { place }][lane] = mark;
            }
        }
        self.tokens.fill([0; LANES]);
        for _ in 0..tokens {
            let drawn = row_below(&mut random, 2 * n as u16);
            for lane in 0..LANES {
                self.tokens[drawn[lane] as usize][lane] += 1;
            }
        }
        for counters in &mut self.counters {
            *counters = row_below(&mut random, separation.hops() as u16);
        }
    }

    /// The ring and the state of a lane.
    pub(super) fn ring(&self, lane: usize) -> Result<(Ring, Configuration), RingError> {
        let delays = self.delays.iter().map(|row| row[lane] == 1);
        let programs = delays.map(|delays| match delays {
            true => Program::Delay,
            false => Program::Relay,
        });
        let programs: Vec<Program> = programs.collect();
        let processes = programs.iter().enumerate().map(|(index, program)| Process {
            resting: self.tokens[2 * index][lane] as u32,
            queued: self.tokens[2 * index + 1][lane] as u32,
            counter: match program {
                Program::Delay => i32::from(self.counters[index][lane]),
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

/// A number below `bound` for every lane.
#[inline(always)]
fn row_below(random: &mut Random, bound: u16) -> Row {
    let refused = (65536 % u32::from(bound)) as u16;
    let mut bytes = [0u8; 2 * LANES];
    let mut row = [0i16; LANES];
    let mut missing = [true; LANES];
    loop {
        random.fill(&mut bytes);
        let mut any = false;
        for lane in 0..LANES {
            let word = u16::from_le_bytes([bytes[2 * lane], bytes[2 * lane + 1]]);
            let product = u32::from(word) * u32::from(bound);
            let good = product as u16 >= refused;
            if missing[lane] {
                row[lane] = (product >> 16) as i16;
            }
            missing[lane] &= !good;
            any |= missing[lane];
        }
        if !any {
            return row;
        }
    }
}
