//! One stretch: how many of its counters are done by each time.

use std::collections::HashMap;
use std::rc::Rc;

use super::cut::Blocker;
use super::{Count, Sizes};

/// Until when.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Until the state is legitimate.
    Legitimate,
    /// Until no token rests any more.
    Moving,
}

/// What a record of each height from 1 to d sees behind it: how many tokens it delays,
/// and the highest that it delays, if that is close enough below it to matter. `None`
/// where K would not block it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Seen(Vec<Option<(usize, Option<i64>)>>);

impl Seen {
    /// For a stretch that `used` processes and `tokens` tokens lie behind.
    pub(super) fn new(sizes: Sizes, blockers: &[Blocker], used: usize, tokens: usize) -> Seen {
        let shift = used as i64 - (tokens * sizes.d) as i64;
        let levels = blockers
            .iter()
            .rev()
            .map(|&(number, w)| (tokens - usize::from(number), i64::from(w) + shift));
        let levels: Vec<(usize, i64)> = levels.collect();
        let heights = (1..=sizes.d as i64).map(|height| {
            let first = levels.iter().position(|&(_, level)| level >= height)?;
            let below = first.checked_sub(1).map(|last| levels[last].1);
            // Lower than that, the counters it left behind have run down in time.
            let below = below.filter(|&level| level + sizes.d as i64 - 2 > height);
            Some((levels[first].0 - 1, below))
        });
        Seen(heights.collect())
    }
}

/// By length and height (both from 1) and time, the ways to set the counters.
type Table<C> = Rc<Vec<Vec<C>>>;

/// Tables met so far.
pub(super) struct Stretches<C> {
    sizes: Sizes,
    until: Until,
    known: HashMap<Seen, Table<C>>,
}

impl<C: Count> Stretches<C> {
    pub(super) fn new(sizes: Sizes, until: Until) -> Stretches<C> {
        Stretches {
            sizes,
            until,
            known: HashMap::new(),
        }
    }

    pub(super) fn of(&mut self, seen: &Seen) -> Table<C> {
        if let Some(table) = self.known.get(seen) {
            return Rc::clone(table);
        }
        let table = Rc::new(self.compute(seen));
        self.known.insert(seen.clone(), Rc::clone(&table));
        table
    }

    /// When all is done that a record at a place of the stretch delays; as a number of
    /// times that come too early.
    fn early(&self, seen: &Seen, place: usize, height: usize, before: Option<usize>) -> usize {
        let Sizes {
            d, first, times, ..
        } = self.sizes;
        let Some((delayed, below)) = seen.0[height - 1] else {
            return times;
        };
        let left = below.max(before.map(|height| height as i64));
        let rest = match left.filter(|_| self.until == Until::Legitimate) {
            Some(left) => (left + d as i64 - 2).max(height as i64) as usize,
            None => height,
        };
        (place + delayed * d + rest)
            .saturating_sub(first)
            .min(times)
    }

    fn compute(&self, seen: &Seen) -> Vec<Vec<C>> {
        let Sizes {
            d, width, times, ..
        } = self.sizes;
        let none = || vec![C::default(); times];
        let mut table = Vec::new();
        // By height of the last record.
        let mut ways: Vec<Vec<C>> = Vec::new();
        for height in 1..=d {
            let mut row = none();
            for cell in &mut row[self.early(seen, 0, height, None)..] {
                *cell = C::from(1);
            }
            ways.push(row);
        }
        table.extend(ways.iter().cloned());
        for place in 1..width {
            let mut next = Vec::new();
            for height in 1..=d {
                // No record: c + 1 - place is not above the last one.
                let keep = C::from(d.min(height + place) as u64);
                let mut row: Vec<C> = ways[height - 1]
                    .iter()
                    .map(|ways| ways.clone() * keep.clone())
                    .collect();
                if height + place <= d {
                    for before in 1..height {
                        let early = self.early(seen, place, height, Some(before));
                        for (cell, ways) in row.iter_mut().zip(&ways[before - 1]).skip(early) {
                            *cell += ways;
                        }
                    }
                }
                next.push(row);
            }
            table.extend(next.iter().cloned());
            ways = next;
        }
        table
    }
}
