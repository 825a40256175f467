//! Whether all conflicts can be brought to so many hops: every way, or an order.
//!
//! Every member has a set of places where it may still be. A member that is placed takes its
//! place from all others and keeps whoever is r conflicts away within r times the hops. Whoever
//! has the fewest places left is placed next.

use std::sync::atomic::{AtomicBool, Ordering};

use super::start::distances;
use crate::network::Node;
use crate::plan::conflicts::Conflicts;

/// All distances of more take too much memory.
pub(super) const MAX_MEMBERS: usize = 2000;

/// Of one search with effort 1, in words of sets that are looked at.
const MAX_WORK: u64 = 150_000_000;

#[derive(Debug)]
pub(super) enum Answer {
    Found(Vec<Node>),
    Impossible,
    GaveUp,
}

#[derive(Clone)]
pub(super) struct Search<'a> {
    size: usize,
    /// Words of a set of places.
    words: usize,
    neighbours: &'a [Vec<Node>],
    /// `size` times `size`, in conflicts.
    distances: Vec<u16>,
    hops: usize,
    /// Where each member may be; `words` for each.
    sets: Vec<u64>,
    /// How many places each set has.
    sizes: Vec<u32>,
    /// Where each member is.
    placed: Vec<Option<u32>>,
    taken: Vec<bool>,
    /// What to undo: a word of a set, and what it was.
    trail: Vec<(usize, u64)>,
    work: u64,
}

impl<'a> Search<'a> {
    pub(super) fn new(conflicts: &'a Conflicts) -> Search<'a> {
        let size = conflicts.len();
        let members = 0..size as Node;
        let words = size.div_ceil(64);
        let mut all = vec![u64::MAX; words];
        if !size.is_multiple_of(64) {
            all[words - 1] = (1 << (size % 64)) - 1;
        }
        Search {
            size,
            words,
            neighbours: conflicts.adjacency(),
            distances: members
                .flat_map(|member| distances(conflicts, member))
                .collect(),
            hops: 0,
            sets: all.repeat(size),
            sizes: vec![size as u32; size],
            placed: vec![None; size],
            taken: vec![false; size],
            trail: Vec::new(),
            work: 0,
        }
    }

    /// Whether some order has all conflicts within `hops`, which is at least 1.
    pub(super) fn within(mut self, hops: u32, effort: u64, stop: &AtomicBool) -> Answer {
        self.hops = hops as usize;
        self.work = MAX_WORK * effort;
        match self.extend(0, stop) {
            Some(true) => Answer::Found(self.order()),
            Some(false) => Answer::Impossible,
            None => Answer::GaveUp,
        }
    }

    /// Places the rest; `None` when it takes too long.
    fn extend(&mut self, depth: usize, stop: &AtomicBool) -> Option<bool> {
        let Some(member) = self.next() else {
            return Some(true);
        };
        for place in self.candidates(member, depth) {
            let cost = (self.size * (self.words + 4)) as u64;
            self.work = self.work.checked_sub(cost)?;
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let before = self.trail.len();
            self.placed[member as usize] = Some(place);
            self.taken[place as usize] = true;
            if self.restrict(member, place) && self.has_room() && self.extend(depth + 1, stop)? {
                return Some(true);
            }
            self.placed[member as usize] = None;
            self.taken[place as usize] = false;
            self.undo(before);
        }
        Some(false)
    }

    /// The member with the fewest places, of those the one with the most conflicts. Whoever
    /// has none fits anywhere.
    fn next(&self) -> Option<Node> {
        (0..self.size as Node)
            .filter(|&member| {
                let at = member as usize;
                self.placed[at].is_none() && !self.neighbours[at].is_empty()
            })
            .min_by_key(|&member| {
                let at = member as usize;
                (self.sizes[at], std::cmp::Reverse(self.neighbours[at].len()))
            })
    }

    /// Where it may be. The ring can be turned, so the first is at 0; and seen from behind,
    /// so the second is on the first half.
    fn candidates(&self, member: Node, depth: usize) -> Vec<u32> {
        let set = &self.sets[member as usize * self.words..][..self.words];
        let last = match depth {
            0 => 0,
            1 => self.size / 2,
            _ => self.size - 1,
        };
        (0..=last)
            .filter(|place| set[place / 64] >> (place % 64) & 1 == 1)
            .map(|place| place as u32)
            .collect()
    }

    /// What a placed member means for all others: whether each has a place left.
    fn restrict(&mut self, member: Node, place: u32) -> bool {
        // The places within 1, 2, … times the hops, as far as that excludes any.
        let reaches = (self.size - 1) / (2 * self.hops);
        let mut arcs = vec![0; self.words * reaches];
        for (index, arc) in arcs.chunks_mut(self.words).enumerate() {
            let reach = (index + 1) * self.hops;
            for offset in 0..=2 * reach {
                let at = (place as usize + self.size - reach + offset) % self.size;
                arc[at / 64] |= 1 << (at % 64);
            }
        }
        let (word, bit) = (place as usize / 64, 1 << (place % 64));
        for other in 0..self.size {
            if self.placed[other].is_some() || self.neighbours[other].is_empty() {
                continue;
            }
            self.set(other * self.words + word, !bit);
            let distance = usize::from(self.distances[member as usize * self.size + other]);
            if distance <= reaches {
                let arc = &arcs[(distance - 1) * self.words..][..self.words];
                for (word, allowed) in arc.iter().enumerate() {
                    self.set(other * self.words + word, *allowed);
                }
            }
            if self.sizes[other] == 0 {
                return false;
            }
        }
        true
    }

    /// Whether around every placed member there are places for the rest of its neighbours;
    /// where there are just as many, nobody else may have them.
    fn has_room(&mut self) -> bool {
        for member in 0..self.size {
            let Some(place) = self.placed[member] else {
                continue;
            };
            let waiting = (self.neighbours[member].iter())
                .filter(|&&other| self.placed[other as usize].is_none())
                .count();
            if waiting == 0 || 2 * self.hops + 1 >= self.size {
                continue;
            }
            let near = (0..=2 * self.hops)
                .map(|offset| (place as usize + self.size - self.hops + offset) % self.size);
            let free: Vec<usize> = near.filter(|&place| !self.taken[place]).collect();
            if waiting > free.len() {
                return false;
            }
            if waiting < free.len() {
                continue;
            }
            for other in 0..self.size {
                let theirs = self.neighbours[other].is_empty()
                    || self.placed[other].is_some()
                    || self.distances[member * self.size + other] == 1;
                if theirs {
                    continue;
                }
                for &place in &free {
                    self.set(other * self.words + place / 64, !(1 << (place % 64)));
                }
                if self.sizes[other] == 0 {
                    return false;
                }
            }
        }
        true
    }

    /// Leaves of a word of a set only what is allowed.
    fn set(&mut self, word: usize, allowed: u64) {
        let old = self.sets[word];
        if old & !allowed != 0 {
            self.trail.push((word, old));
            self.sets[word] = old & allowed;
            self.sizes[word / self.words] -= (old & !allowed).count_ones();
        }
    }

    fn undo(&mut self, to: usize) {
        while self.trail.len() > to {
            let Some((word, old)) = self.trail.pop() else {
                return;
            };
            self.sizes[word / self.words] += (old & !self.sets[word]).count_ones();
            self.sets[word] = old;
        }
    }

    /// The order, with whoever has no conflicts where there is room.
    fn order(&self) -> Vec<Node> {
        let mut order = vec![Node::MAX; self.size];
        let mut free = Vec::new();
        for (member, place) in (0..).zip(&self.placed) {
            match place {
                Some(place) => order[*place as usize] = member,
                None => free.push(member),
            }
        }
        let mut free = free.into_iter();
        for place in &mut order {
            if *place == Node::MAX {
                *place = free.next().unwrap_or(0);
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rings are found, and one hop less is excluded, without an order to begin with.
    #[test]
    fn rings_are_found_and_less_is_excluded() {
        for (members, factor) in [(12, 3), (200, 3), (90, 5)] {
            let name = |place: usize| (place % members * 77 % members).to_string();
            let groups = (0..members).map(|first| ("", (first..first + factor).map(name)));
            let conflicts = Conflicts::new(groups).expect("conflicts");
            let within = |hops| Search::new(&conflicts).within(hops, 1, &false.into());
            let hops = factor as u32 - 1;
            assert!(
                matches!(within(hops), Answer::Found(_)),
                "{members}, {factor}"
            );
            assert!(
                matches!(within(hops - 1), Answer::Impossible),
                "{members}, {factor}"
            );
        }
    }
}
