//! Whether so many colours are enough: branch and bound, which may prove that they are not,
//! and a tabu search, which may find them where that takes too long.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Answer, NONE, free};
use crate::network::Node;
use crate::plan::conflicts::Conflicts;
use crate::random::Choices;

/// Of one search with effort 1: members and colours that are looked at.
const MAX_WORK: u64 = 100_000_000;
/// More members, each a call deep, are left to the tabu search.
const MAX_DEPTH: usize = 5000;
/// More members times colours take too much memory.
const MAX_CELLS: usize = 50_000_000;

/// A colouring as far as it is.
pub(super) struct Search<'a> {
    conflicts: &'a Conflicts,
    colours: usize,
    /// Of each member.
    colour: Vec<u32>,
    /// Who is left with fewer conflicts than there are colours when those before are out, and
    /// so can be coloured last, backwards.
    peeled: Vec<Node>,
    /// The others.
    core: Vec<Node>,
    /// How many members in conflict with it have each colour; `colours` for each member.
    near: Vec<u32>,
    /// How many colours no member in conflict with it has.
    left: Vec<usize>,
    work: u64,
}

impl<'a> Search<'a> {
    pub(super) fn new(conflicts: &'a Conflicts, colours: usize, effort: u32) -> Search<'a> {
        let members = 0..conflicts.len() as Node;
        let degree = |member| conflicts.neighbours(member).len();
        let mut degrees: Vec<usize> = members.clone().map(degree).collect();
        let few = |member: &Node| degree(*member) < colours;
        let mut peeled: Vec<Node> = members.clone().filter(few).collect();
        let mut next = 0;
        while let Some(&member) = peeled.get(next) {
            next += 1;
            for &other in conflicts.neighbours(member) {
                degrees[other as usize] -= 1;
                if degrees[other as usize] + 1 == colours {
                    peeled.push(other);
                }
            }
        }
        let many = |member: &Node| degrees[*member as usize] >= colours;
        Search {
            conflicts,
            colours,
            colour: vec![NONE; conflicts.len()],
            peeled,
            core: members.filter(many).collect(),
            near: Vec::new(),
            left: vec![colours; conflicts.len()],
            work: MAX_WORK * u64::from(effort),
        }
    }

    /// Whether the colours are enough.
    pub(super) fn exact(mut self, stop: &AtomicBool) -> Answer {
        if self.core.len() > MAX_DEPTH || !self.has_memory() {
            return Answer::GaveUp;
        }
        match self.extend(0, stop) {
            Ok(_) => Answer::Found(self.whole()),
            Err(answer) => answer,
        }
    }

    /// Colours the rest of the core, with one colour more than were `used` at most: the
    /// others are like that one. Whether it can be done, or an answer to the whole.
    fn extend(&mut self, used: usize, stop: &AtomicBool) -> Result<bool, Answer> {
        let waiting = (self.core.iter().copied()).filter(|one| self.colour[*one as usize] == NONE);
        let degree = |member| self.conflicts.neighbours(member).len();
        let least = |member: &Node| (self.left[*member as usize], Reverse(degree(*member)));
        let Some(member) = waiting.min_by_key(least) else {
            return Ok(true);
        };
        let cost = self.core.len() + degree(member);
        let left = self.work.checked_sub(cost as u64).ok_or(Answer::GaveUp)?;
        self.work = left;
        if stop.load(Ordering::Relaxed) {
            return Err(Answer::GaveUp);
        }
        // Nobody near it has a colour, nor has anybody else who waits: what was coloured so
        // far has no conflicts with the rest.
        let apart = self.left[member as usize] == self.colours;
        let used = if apart { 0 } else { used };
        for colour in 0..self.colours.min(used + 1) {
            if self.near[member as usize * self.colours + colour] == 0 {
                self.paint(member, colour as u32);
                if self.extend(used.max(colour + 1), stop)? {
                    return Ok(true);
                }
                self.clear(member);
            }
        }
        if apart {
            return Err(Answer::Impossible);
        }
        Ok(false)
    }

    /// Colours the core at random, and then changes the colour that helps most of a member
    /// in conflict with its own colour; not back to one that it had a short time ago.
    pub(super) fn tabu(mut self, choices: &mut Choices, stop: &AtomicBool) -> Option<Vec<u32>> {
        if !self.has_memory() {
            return None;
        }
        for index in 0..self.core.len() {
            self.paint(self.core[index], choices.below(self.colours) as u32);
        }
        let mut until = vec![0_u64; self.near.len()];
        for round in 1.. {
            // The change in conflicts, how many as good were seen, whose, to which colour.
            let mut best = (i64::MAX, 0, 0, 0);
            let mut clashes = 0;
            for &member in &self.core {
                let own = member as usize * self.colours;
                let near = &self.near[own..own + self.colours];
                let colour = self.colour[member as usize] as usize;
                if near[colour] == 0 {
                    continue;
                }
                clashes += 1;
                for other in (0..self.colours).filter(|&other| other != colour) {
                    let change = i64::from(near[other]) - i64::from(near[colour]);
                    if change > best.0 || until[own + other] > round {
                        continue;
                    }
                    let seen = if change == best.0 { best.1 + 1 } else { 1 };
                    // Each of those that are as good is as likely.
                    if choices.below(seen) == 0 {
                        best = (change, seen, member, other as u32);
                    } else {
                        best.1 = seen;
                    }
                }
            }
            if clashes == 0 {
                return Some(self.whole());
            }
            let cost = self.core.len() + clashes * self.colours;
            self.work = self.work.checked_sub(cost as u64)?;
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let (_, seen, member, colour) = best;
            if seen > 0 {
                let old = self.colour[member as usize] as usize;
                let wait = choices.below(10) + clashes * 6 / 10;
                until[member as usize * self.colours + old] = round + wait as u64;
                self.clear(member);
                self.paint(member, colour);
            }
        }
        None
    }

    /// Whether there is memory for it, which is then there.
    fn has_memory(&mut self) -> bool {
        let cells = self.conflicts.len() * self.colours;
        let enough = cells <= MAX_CELLS;
        self.near.resize(if enough { cells } else { 0 }, 0);
        enough
    }

    fn paint(&mut self, member: Node, colour: u32) {
        self.colour[member as usize] = colour;
        for &other in self.conflicts.neighbours(member) {
            let near = &mut self.near[other as usize * self.colours + colour as usize];
            self.left[other as usize] -= usize::from(*near == 0);
            *near += 1;
        }
    }

    fn clear(&mut self, member: Node) {
        let colour = std::mem::replace(&mut self.colour[member as usize], NONE);
        for &other in self.conflicts.neighbours(member) {
            let near = &mut self.near[other as usize * self.colours + colour as usize];
            *near -= 1;
            self.left[other as usize] += usize::from(*near == 0);
        }
    }

    /// With those who were left out.
    fn whole(mut self) -> Vec<u32> {
        for &member in self.peeled.iter().rev() {
            self.colour[member as usize] = free(self.conflicts, member, &self.colour) as u32;
        }
        self.colour
    }
}
