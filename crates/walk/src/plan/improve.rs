//! Improves an order by swaps.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::network::Node;
use crate::plan::conflicts::Conflicts;
use crate::random::Choices;

/// The most hops between two members in conflict.
pub(super) fn hops(conflicts: &Conflicts, order: &[Node]) -> u32 {
    let ring = Ring::new(conflicts, order.to_vec());
    ring.long(0).map(|(_, _, hops)| hops).max().unwrap_or(0)
}

/// Places that are looked at for a member.
const LOOKS: usize = 6;
/// One move in so many may make things worse.
const BOLD: usize = 40;

/// Swaps members until all conflicts are within `least` hops or the moves are used up; the
/// best order seen.
pub(super) fn order(
    conflicts: &Conflicts,
    order: Vec<Node>,
    least: u32,
    moves: usize,
    choices: &mut Choices,
    stop: &AtomicBool,
) -> Vec<Node> {
    let mut ring = Ring::new(conflicts, order);
    let mut best = ring.order.clone();
    let mut moves = moves;
    loop {
        // The conflicts that are longer than the goal, which is one hop less than now.
        let now = ring.long(0).map(|(_, _, hops)| hops).max().unwrap_or(0);
        best.clone_from(&ring.order);
        if now <= least {
            return best;
        }
        ring.goal = now - 1;
        let mut long: Vec<(Node, Node)> = Vec::new();
        loop {
            if long.is_empty() {
                long = ring
                    .long(ring.goal)
                    .map(|(one, other, _)| (one, other))
                    .collect();
                if long.is_empty() {
                    break;
                }
            }
            let Some(left) = moves.checked_sub(1) else {
                return best;
            };
            moves = left;
            if moves.is_multiple_of(256) && stop.load(Ordering::Relaxed) {
                return best;
            }
            let index = choices.below(long.len());
            let (one, other) = long[index];
            if ring.hops(one, other) <= ring.goal {
                long.swap_remove(index);
            } else if choices.below(2) == 0 {
                ring.bring(one, other, choices);
            } else {
                ring.bring(other, one, choices);
            }
        }
    }
}

struct Ring<'a> {
    conflicts: &'a Conflicts,
    order: Vec<Node>,
    /// Invariant: `order[places[member]]` is the member.
    places: Vec<u32>,
    goal: u32,
}

impl<'a> Ring<'a> {
    fn new(conflicts: &'a Conflicts, order: Vec<Node>) -> Ring<'a> {
        let mut places = vec![0; order.len()];
        for (place, &member) in (0..).zip(&order) {
            places[member as usize] = place;
        }
        Ring {
            conflicts,
            order,
            places,
            goal: 0,
        }
    }

    fn hops(&self, one: Node, other: Node) -> u32 {
        self.between(self.places[one as usize], self.places[other as usize])
    }

    fn between(&self, one: u32, other: u32) -> u32 {
        let hops = one.abs_diff(other);
        hops.min(self.order.len() as u32 - hops)
    }

    /// Conflicts over more than so many hops.
    fn long(&self, hops: u32) -> impl Iterator<Item = (Node, Node, u32)> + '_ {
        (0..self.order.len() as Node)
            .flat_map(|one| {
                let others = self.conflicts.neighbours(one).iter();
                others
                    .filter(move |&&other| one < other)
                    .map(move |&other| (one, other))
            })
            .map(|(one, other)| (one, other, self.hops(one, other)))
            .filter(move |&(_, _, between)| between > hops)
    }

    /// What a member at a place costs: its conflicts beyond the goal, squared, so that one
    /// that is far too long counts more than some that are a little. Who is to swap with it
    /// stays as far from it.
    fn cost(&self, member: Node, place: u32, without: Node) -> u64 {
        let excess = |&&other: &&Node| {
            let hops = self.between(place, self.places[other as usize]);
            u64::from(hops.saturating_sub(self.goal)).pow(2)
        };
        let others = self.conflicts.neighbours(member).iter();
        others
            .filter(|&&other| other != without)
            .map(|other| excess(&other))
            .sum()
    }

    /// Swaps a member with one that is within the goal of another.
    fn bring(&mut self, member: Node, to: Node, choices: &mut Choices) {
        let size = self.order.len();
        let (from, centre) = (self.places[member as usize], self.places[to as usize]);
        let mut best: Option<(i64, u32)> = None;
        for _ in 0..LOOKS {
            let offset = 1 + choices.below(self.goal.max(1) as usize);
            let offset = if choices.below(2) == 0 {
                offset
            } else {
                size - offset
            };
            let place = ((centre as usize + offset) % size) as u32;
            let other = self.order[place as usize];
            if other == member || other == to {
                continue;
            }
            let before = self.cost(member, from, other) + self.cost(other, place, member);
            let after = self.cost(member, place, other) + self.cost(other, from, member);
            let change = after as i64 - before as i64;
            if best.is_none_or(|(least, _)| change < least) {
                best = Some((change, place));
            }
        }
        let bold = choices.below(BOLD) == 0;
        if let Some((change, place)) = best
            && (change <= 0 || bold)
        {
            let other = self.order[place as usize];
            self.order.swap(from as usize, place as usize);
            self.places[member as usize] = place;
            self.places[other as usize] = from;
        }
    }
}
