//! Orders to begin with.

use crate::network::Node;
use crate::network::distance::{Graph, Reach, hops_from};
use crate::plan::conflicts::Conflicts;

/// As the members were named; breadth-first (Cuthill and McKee); the same folded, so that
/// both ends of the ring grow; and by the angle at which a member would be drawn.
pub(super) fn orders(conflicts: &Conflicts) -> Vec<Vec<Node>> {
    let parts = parts(conflicts);
    let each = |order: fn(&Part) -> Vec<Node>| -> Vec<Node> {
        let named = |part: &Part| -> Vec<Node> {
            let order = order(part).into_iter();
            order.map(|member| part.members[member as usize]).collect()
        };
        parts.iter().flat_map(named).collect()
    };
    vec![
        (0..conflicts.len() as Node).collect(),
        each(Part::folded),
        each(Part::angular),
        each(|part| part.breadth_first(part.end())),
    ]
}

/// Members that are connected by conflicts, numbered from 0.
struct Part {
    members: Vec<Node>,
    neighbours: Vec<Vec<Node>>,
}

/// The connected parts, the largest first.
fn parts(conflicts: &Conflicts) -> Vec<Part> {
    const NEW: Node = Node::MAX;
    let mut numbers = vec![NEW; conflicts.len()];
    let mut parts = Vec::new();
    let mut reach = Reach::new(conflicts.len());
    for first in 0..conflicts.len() as Node {
        if numbers[first as usize] != NEW {
            continue;
        }
        let mut members = Vec::new();
        reach.search(conflicts, first, u32::MAX, |member, _| {
            numbers[member as usize] = members.len() as Node;
            members.push(member);
            false
        });
        let number = |other: &Node| numbers[*other as usize];
        let neighbours = (members.iter())
            .map(|&member| conflicts.neighbours(member).iter().map(number).collect())
            .collect();
        parts.push(Part {
            members,
            neighbours,
        });
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.members.len()));
    parts
}

impl Graph for Part {
    fn nodes(&self) -> usize {
        self.members.len()
    }

    fn neighbours(&self, member: Node) -> &[Node] {
        &self.neighbours[member as usize]
    }
}

/// How often positions are averaged.
const ROUNDS: usize = 60;

impl Part {
    /// All members, those with few conflicts first among equals.
    fn breadth_first(&self, from: Node) -> Vec<Node> {
        let mut seen = vec![false; self.members.len()];
        seen[from as usize] = true;
        let mut order = vec![from];
        let mut next = 0;
        while let Some(&member) = order.get(next) {
            next += 1;
            let begin = order.len();
            for &other in &self.neighbours[member as usize] {
                if !std::mem::replace(&mut seen[other as usize], true) {
                    order.push(other);
                }
            }
            order[begin..].sort_by_key(|&other| self.neighbours[other as usize].len());
        }
        order
    }

    /// A member far from others: the last of a search from the last of a search.
    fn end(&self) -> Node {
        let last = |from| self.breadth_first(from).pop().unwrap_or(from);
        last(last(0))
    }

    /// From the member with the most conflicts to both sides.
    fn folded(&self) -> Vec<Node> {
        let degree = |member: &Node| self.neighbours[*member as usize].len();
        let centre = (0..self.members.len() as Node).rev().max_by_key(degree);
        let order = self.breadth_first(centre.unwrap_or(0));
        let left = order.iter().skip(1).step_by(2).rev();
        left.chain(order.iter().step_by(2)).copied().collect()
    }

    /// Draws the part with two pairs of opposite members as its axes, lets every member move
    /// to the middle of its neighbours some times, and goes round.
    fn angular(&self) -> Vec<Node> {
        let members = 0..self.members.len() as Node;
        let from = |member| distances(self, member);
        let opposite = |from: &[u16]| {
            let far = members.clone().max_by_key(|&member| from[member as usize]);
            distances(self, far.unwrap_or(0))
        };
        let west = from(self.end());
        let east = opposite(&west);
        // As far from both as can be: a quarter of the way round, if it is round.
        let between = |member: &Node| {
            let (one, other) = (west[*member as usize], east[*member as usize]);
            i32::from(one.abs_diff(other)) * 4 - i32::from(one) - i32::from(other)
        };
        let north = from(members.clone().min_by_key(between).unwrap_or(0));
        let south = opposite(&north);
        let axis = |one: &[u16], other: &[u16], at| f64::from(one[at]) - f64::from(other[at]);
        let mut points: Vec<(f64, f64)> = (0..self.members.len())
            .map(|at| (axis(&east, &west, at), axis(&south, &north, at)))
            .collect();
        let mut next = points.clone();
        for _ in 0..ROUNDS {
            for ((neighbours, next), point) in self.neighbours.iter().zip(&mut next).zip(&points) {
                let weight = neighbours.len().max(1) as f64;
                let mut sum = (point.0 * weight, point.1 * weight);
                for &other in neighbours {
                    let (x, y) = points[other as usize];
                    sum = (sum.0 + x, sum.1 + y);
                }
                *next = (sum.0 / (2.0 * weight), sum.1 / (2.0 * weight));
            }
            std::mem::swap(&mut points, &mut next);
        }
        let mut order: Vec<Node> = members.collect();
        let angle = |member: &Node| angle(points[*member as usize]);
        order.sort_by(|one, other| angle(one).total_cmp(&angle(other)));
        order
    }
}

/// Grows with the angle, from 0 to 4, and is computed alike on all machines.
fn angle((x, y): (f64, f64)) -> f64 {
    let along = x / (x.abs() + y.abs()).max(f64::MIN_POSITIVE);
    if y >= 0.0 { 1.0 - along } else { 3.0 + along }
}

/// Conflicts from a member to each other one; [`u16::MAX`] where there is no way or it is
/// that long.
pub(super) fn distances(conflicts: &impl Graph, from: Node) -> Vec<u16> {
    let hops = hops_from(conflicts, from).into_iter();
    hops.map(|hops| u16::try_from(hops).unwrap_or(u16::MAX))
        .collect()
}
