//! Many random rings at once.
//!
//! A sheet is [`LANES`] random rings of one cell, one a lane, drawn together: a
//! *row* is one number for every lane. The rows of a sheet come from one stream of
//! [words](super::words), in this order:
//!
//! 1. the places of the delays. A ring has no beginning, so the last process is
//!    one, and the others are any of those before it, by Robert Floyd's algorithm
//!    (of the delays or of the relays, whichever are fewer): a row for each. The
//!    distribution of whatever does not depend on where counting starts is that of
//!    delays anywhere;
//! 2. the tokens: a row for each, a number below 2n: twice the process, plus 1 when
//!    the token is queued rather than resting;
//! 3. the counters: a row for each process, a number below d; what a relay gets is
//!    not used.

use headway_core::{Configuration, Process, Program, Ring, RingError, Separation};

use super::row::{LANES, Lane, Mask, Row};
use super::words::Words;

/// What the rings of a cell have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// n, at most [`Shape::MOST`].
    pub(super) processes: usize,
    /// m, at most [`Shape::MOST`].
    pub(super) tokens: usize,
    /// d, at most [`Shape::MOST`].
    pub(super) separation: Separation,
    /// From 1 to n.
    pub(super) delays: usize,
}

impl Shape {
    /// Larger rings are not drawn in sheets.
    pub(super) const MOST: usize = 1000;

    /// No number that is worked with is larger: times are at most n + m·d + d.
    pub(super) fn largest(&self) -> usize {
        let d = self.separation.hops() as usize;
        (2 * self.processes).max(self.processes + self.tokens * d + d)
    }
}

/// Random rings and states.
#[derive(Clone, Debug)]
pub(super) struct Sheet<T> {
    shape: Shape,
    /// n rows: which processes delay.
    pub(super) delays: Vec<Mask<T>>,
    /// 2n rows: tokens resting at process 0, queued there, resting at process 1, …
    pub(super) tokens: Vec<Row<T>>,
    /// n rows: counters.
    pub(super) counters: Vec<Row<T>>,
    /// Bit x of a lane: whether process x was chosen by Floyd's algorithm.
    chosen: Vec<[u64; LANES]>,
}

impl<T: Lane> Sheet<T> {
    /// Room for sheets of a shape.
    pub(super) fn new(shape: Shape) -> Sheet<T> {
        let n = shape.processes;
        Sheet {
            shape,
            delays: vec![Mask::of(false); n],
            tokens: vec![Row::of(0); 2 * n],
            counters: vec![Row::of(0); n],
            chosen: vec![[0; LANES]; n.div_ceil(64)],
        }
    }

    /// Draws the sheet of a seed.
    #[inline(always)]
    pub(super) fn draw(&mut self, seed: u64) {
        let mut words = Words::new(seed);
        self.draw_delays(&mut words);
        self.tokens.fill(Row::of(0));
        for _ in 0..self.shape.tokens {
            let drawn = words.row_below::<i16>(2 * self.shape.processes as u16);
            for lane in 0..LANES {
                let tokens = &mut self.tokens[drawn.0[lane] as usize].0[lane];
                *tokens = tokens.plus(T::of(1));
            }
        }
        let separation = self.shape.separation.hops() as u16;
        words.rows_below(separation, &mut self.counters);
    }

    #[inline(always)]
    fn draw_delays(&mut self, words: &mut Words) {
        let n = self.shape.processes;
        let (delays, relays) = (self.shape.delays - 1, n - self.shape.delays);
        self.chosen.fill([0; LANES]);
        for top in n - 1 - delays.min(relays)..n - 1 {
            let drawn = words.row_below(top as u16 + 1);
            self.choose(&drawn, top);
        }
        let delays_are_chosen = delays <= relays;
        for (part, delays) in self.delays.chunks_mut(16).enumerate() {
            let chosen = &self.chosen[part / 4];
            let mut bits = [0; LANES];
            for lane in 0..LANES {
                bits[lane] = (chosen[lane] >> (16 * (part % 4))) as u16;
            }
            for (index, delays) in delays.iter_mut().enumerate() {
                let bit = 1 << index;
                *delays = match delays_are_chosen {
                    true => Mask::from_words(&bits, |bits| bits & bit != 0),
                    false => Mask::from_words(&bits, |bits| bits & bit == 0),
                };
            }
        }
        self.delays[n - 1] = Mask::of(true);
    }

    /// A step of Floyd's algorithm: chooses the places drawn, or `top` where they
    /// are chosen already.
    #[inline(always)]
    fn choose(&mut self, drawn: &Row<i16>, top: usize) {
        let bit = |word: usize, place: u64| match place / 64 == word as u64 {
            true => 1u64 << (place % 64),
            false => 0,
        };
        let mut taken = [0; LANES];
        for (word, chosen) in self.chosen.iter().enumerate() {
            for lane in 0..LANES {
                taken[lane] |= chosen[lane] & bit(word, drawn.0[lane] as u64);
            }
        }
        for (word, chosen) in self.chosen.iter_mut().enumerate() {
            let top = bit(word, top as u64);
            for lane in 0..LANES {
                let drawn = bit(word, drawn.0[lane] as u64);
                chosen[lane] |= if taken[lane] != 0 { top } else { drawn };
            }
        }
    }

    /// The ring and the state of a lane.
    pub(super) fn ring(&self, lane: usize) -> Result<(Ring, Configuration), RingError> {
        let number = |row: &Row<T>| row.0[lane].number();
        let delays = |mask: &Mask<T>| match mask.0[lane] == T::of(0) {
            true => Program::Relay,
            false => Program::Delay,
        };
        let programs: Vec<Program> = self.delays.iter().map(delays).collect();
        let processes = programs.iter().enumerate().map(|(index, program)| Process {
            resting: number(&self.tokens[2 * index]) as u32,
            queued: number(&self.tokens[2 * index + 1]) as u32,
            counter: match program {
                Program::Delay => number(&self.counters[index]).into(),
                _ => 0,
            },
        });
        let state = Configuration::from(processes.collect::<Vec<_>>());
        Ok((Ring::new(self.shape.separation, programs)?, state))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn shape(processes: usize, tokens: usize, separation: u32, delays: usize) -> Shape {
        Shape {
            processes,
            tokens,
            separation: Separation::new(separation).unwrap(),
            delays,
        }
    }

    /// How often each thing was met among `rings` rings.
    fn counted<K: Ord>(
        shape: Shape,
        rings: usize,
        of: impl Fn(&Ring, &Configuration) -> K,
    ) -> BTreeMap<K, usize> {
        let mut sheet = Sheet::<i8>::new(shape);
        let mut counts = BTreeMap::new();
        for seed in 0..(rings / LANES) as u64 {
            sheet.draw(seed);
            for lane in 0..LANES {
                let (ring, state) = sheet.ring(lane).unwrap();
                *counts.entry(of(&ring, &state)).or_default() += 1;
            }
        }
        counts
    }

    /// Within five standard deviations of equally often.
    fn assert_uniform<K: Ord + std::fmt::Debug>(counts: &BTreeMap<K, usize>, kinds: usize) {
        assert_eq!(counts.len(), kinds, "{counts:?}");
        let total: usize = counts.values().sum();
        let expected = total as f64 / kinds as f64;
        for (kind, &count) in counts {
            let off = (count as f64 - expected).abs();
            assert!(
                off < 5.0 * expected.sqrt(),
                "{kind:?}: {count}, not {expected}"
            );
        }
    }

    #[test]
    fn every_choice_of_delays_is_equally_likely() {
        // The last is one; 2 of the 6 others, or all but 2 of them: 15 choices.
        for delays in [3, 5] {
            let choices = counted(shape(7, 1, 2, delays), 32_000, |ring, _| {
                ring.delays().collect::<Vec<_>>()
            });
            assert_uniform(&choices, 15);
            assert!(
                choices
                    .keys()
                    .all(|chosen| chosen.len() == delays && chosen.contains(&6))
            );
        }
        let across_words = counted(shape(130, 1, 2, 2), 64_000, |ring, _| ring.delays().next());
        assert_uniform(&across_words, 129);
    }

    #[test]
    fn every_place_and_every_counter_is_equally_likely() {
        let places = counted(shape(5, 2, 3, 5), 64_000, |_, state| {
            let tokens = |p: &Process| (p.resting, p.queued);
            state.processes.iter().map(tokens).collect::<Vec<_>>()
        });
        // 10 places for each of two tokens that are alike: pairs are twice as common.
        let (both, apart): (BTreeMap<_, _>, BTreeMap<_, _>) = places
            .into_iter()
            .partition(|(tokens, _)| tokens.iter().any(|&(r, q)| r == 2 || q == 2));
        assert_uniform(&both, 10);
        assert_uniform(&apart, 45);
        let counters = counted(shape(3, 1, 3, 3), 54_000, |_, state| {
            state
                .processes
                .iter()
                .map(|p| p.counter)
                .collect::<Vec<_>>()
        });
        assert_uniform(&counters, 27);
    }
}
