//! The distance that tokens keep in the network while they circulate on a walk.
//!
//! On a walk of W positions every token advances one position each round, so two
//! tokens j positions apart stay j apart forever, and come as near in the network
//! as the nearest pair w(i), w(i+j). Which j can occur is an [`Offsets`]; the
//! distance kept is the minimum over all i and all those j.
//!
//! The search is by nodes, not by pairs of positions: around each node the network
//! is searched breadth-first, only as far as the best answer so far, for a node
//! that occurs at one of the offsets. That costs what the distances needed cost,
//! and V + W words.

use std::sync::atomic::AtomicBool;

use crate::network::distance::{Marks, Reach};
use crate::network::{Network, Node};
use crate::stop::{self, NEVER};
use crate::walk::{Occurrences, Walk};

/// How many positions apart two tokens on a walk can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    length: u32,
    /// Inclusive, ascending, not touching; j is in them when W-j is.
    ranges: Vec<(u32, u32)>,
}

impl Offsets {
    /// Any number of tokens, any two at least `separation` apart on the walk:
    /// g ≤ j ≤ W-g.
    pub fn at_least(length: usize, separation: usize) -> Offsets {
        let (length, separation) = (length as u32, separation as u32);
        Offsets::of(
            length,
            vec![(separation, length.saturating_sub(separation))],
        )
    }

    /// `tokens` tokens, successive ones at least `separation` apart: the k-th
    /// token ahead is at least k·g ahead and at most W-(m-k)·g. When m·g = W there
    /// is no play, and these are the multiples of g.
    pub fn of_tokens(length: usize, tokens: usize, separation: usize) -> Offsets {
        let ranges = (1..tokens as u64)
            .map(|ahead| {
                let least = ahead * separation as u64;
                let behind = (tokens as u64 - ahead) * separation as u64;
                (least as u32, (length as u64).saturating_sub(behind) as u32)
            })
            .collect();
        Offsets::of(length as u32, ranges)
    }

    /// As far apart as the protocol can keep m tokens on the walk: the separation
    /// is ⌊W/m⌋.
    pub fn furthest(length: usize, tokens: usize) -> Offsets {
        Offsets::of_tokens(length, tokens, length / tokens.max(1))
    }

    /// Tokens at exactly these positions, all moving.
    pub fn between(length: usize, positions: &[usize]) -> Offsets {
        let mut ranges = Vec::new();
        for (index, &one) in positions.iter().enumerate() {
            for &other in &positions[..index] {
                for (from, to) in [(one, other), (other, one)] {
                    let offset = ((to + length - from % length) % length) as u32;
                    ranges.push((offset, offset));
                }
            }
        }
        Offsets::of(length as u32, ranges)
    }

    fn of(length: u32, mut ranges: Vec<(u32, u32)>) -> Offsets {
        ranges.retain(|&(from, to)| from <= to);
        ranges.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::new();
        for (from, to) in ranges {
            match joined.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => joined.push((from, to)),
            }
        }
        Offsets {
            length,
            ranges: joined,
        }
    }

    /// Whether two tokens can be `offset` positions apart.
    pub fn contains(&self, offset: usize) -> bool {
        let offset = (offset % self.length as usize) as u32;
        let after = self.ranges.partition_point(|&(from, _)| from <= offset);
        after > 0 && offset <= self.ranges[after - 1].1
    }

    /// So few that going through all of them for every position costs little.
    fn are_few(&self) -> bool {
        const FEW: u64 = 256;
        let count: u64 = self
            .ranges
            .iter()
            .map(|&(from, to)| u64::from(to - from) + 1)
            .sum();
        count <= FEW
    }

    /// The offsets, as inclusive ranges.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// Whether one of `from` and one of `to` (positions, ascending) are apart by
    /// one of the offsets; such a pair.
    fn pair(&self, from: &[u32], to: &[u32]) -> Option<(u32, u32)> {
        // Offsets are symmetric, so the shorter list can lead.
        if from.len() > to.len() {
            return self.pair(to, from).map(|(one, other)| (other, one));
        }
        let by_ranges = self.ranges.len() < to.len();
        for &one in from {
            if by_ranges {
                for &(least, most) in &self.ranges {
                    let (least, most) = (one + least, one + most);
                    for turn in [0, self.length] {
                        let next = to.partition_point(|&other| other + turn < least);
                        if to.get(next).is_some_and(|&other| other + turn <= most) {
                            return Some((one, to[next]));
                        }
                    }
                }
            } else {
                for &other in to {
                    if self.contains((other + self.length - one) as usize) {
                        return Some((one, other));
                    }
                }
            }
        }
        None
    }
}

/// The nearest that two tokens come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Hops in the network; the smaller of the two directions.
    pub distance: u32,
    /// A position and another, at one of the offsets, whose nodes are that near.
    pub positions: (u32, u32),
}

/// The distance that tokens apart by `offsets` keep forever; `None` when there
/// are no two tokens.
///
/// ```
/// use headway_walk::{network::generators::Generator, walk::kept::{self, Offsets}, Walk};
/// let network = Generator::Figure7.network(0).unwrap();
/// let walk = ["b1", "b2", "b3", "a3", "a2", "a1", "b1", "b2", "b3", "c3", "c2", "c1"]
///     .map(|name| network.node(name).unwrap());
/// let walk = Walk::new(&network, walk.to_vec()).unwrap();
/// let kept = |tokens| kept::nearest(&network, &walk, &Offsets::furthest(12, tokens));
/// // The paper's figure 7: three tokens stay 2 apart, though two would meet.
/// assert_eq!(kept(3).unwrap().distance, 2);
/// assert_eq!(kept(2).unwrap().distance, 0);
/// ```
pub fn nearest(network: &Network, walk: &Walk, offsets: &Offsets) -> Option<Nearest> {
    nearest_until(network, walk, offsets, &NEVER).unwrap_or_default()
}

/// So many nodes are looked at before anybody asks whether to stop: some hundredths of a second.
const UNASKED: usize = 1_000_000;

/// The same; `None` when it was stopped, because the nearest that was found so far need not be
/// the nearest. On small networks it does not stop.
pub(crate) fn nearest_until(
    network: &Network,
    walk: &Walk,
    offsets: &Offsets,
    stop: &AtomicBool,
) -> Option<Option<Nearest>> {
    if offsets.ranges.is_empty() {
        return Some(None);
    }
    let occurrences = walk.occurrences(network);
    // A node that is met at an offset by itself is found without any search.
    for node in network.nodes() {
        let positions = occurrences.of(node);
        if let Some(positions) = offsets.pair(positions, positions) {
            return Some(Some(Nearest {
                distance: 0,
                positions,
            }));
        }
    }
    let mut looked_at = 0;
    let mut reach = Reach::new(network.len());
    let mut targets = offsets.are_few().then(|| Marks::new(network.len()));
    let mut best: Option<(u32, Node, Node)> = None;
    for node in network.nodes() {
        let limit = best.map_or(u32::MAX, |(distance, ..)| distance - 1);
        if limit == 0 {
            break;
        }
        if looked_at >= UNASKED && stop::is_set(stop) {
            return None;
        }
        let positions = occurrences.of(node);
        if let Some(targets) = &mut targets {
            mark(targets, walk, positions, offsets);
        }
        reach.search(network, node, limit, |other, distance| {
            looked_at += 1;
            let met = match &targets {
                Some(targets) => targets.contains(other),
                None => offsets.pair(positions, occurrences.of(other)).is_some(),
            };
            if met && distance > 0 {
                best = Some((distance, node, other));
            }
            met && distance > 0
        });
    }
    Some(best.and_then(|(distance, node, other)| {
        let positions = offsets.pair(occurrences.of(node), occurrences.of(other))?;
        Some(Nearest {
            distance,
            positions,
        })
    }))
}

/// The nodes that occur at one of few offsets from a node, which is at these positions.
fn mark(targets: &mut Marks, walk: &Walk, positions: &[u32], offsets: &Offsets) {
    targets.clear();
    for &(from, to) in &offsets.ranges {
        for offset in from..=to {
            for &position in positions {
                targets.insert(walk.at(position as usize + offset as usize));
            }
        }
    }
}

/// What separation on the walk a distance in the network takes, for every
/// distance that two tokens can keep at all.
///
/// Entry d (from 0) is the least g such that tokens at least g apart on the walk
/// keep distance d, whatever their number. The list ends with the largest d for
/// which 2·g ≤ W.
///
/// ```
/// use headway_walk::{network::generators::Generator, walk::kept, Walk};
/// let ring = Generator::Ring(8).network(0).unwrap();
/// let walk = Walk::new(&ring, (0..8).collect()).unwrap();
/// assert_eq!(kept::separations(&ring, &walk), [1, 1, 2, 3, 4]);
/// ```
pub fn separations(network: &Network, walk: &Walk) -> Vec<u32> {
    let occurrences = walk.occurrences(network);
    let length = walk.len() as u32;
    let furthest = nearest(network, walk, &Offsets::furthest(walk.len(), 2))
        .map_or(0, |nearest| nearest.distance);
    // widest[δ]: the largest offset, at most W/2, at which two nodes δ apart occur.
    let mut widest = vec![0; furthest as usize];
    let mut reach = Reach::new(network.len());
    if furthest > 0 {
        for node in network.nodes() {
            reach.search(network, node, furthest - 1, |other, distance| {
                let apart = widest_apart(&occurrences, node, other, length);
                let widest = &mut widest[distance as usize];
                *widest = apart.max(*widest);
                false
            });
        }
    }
    let mut separations = vec![1];
    for apart in widest {
        let last = separations[separations.len() - 1];
        separations.push(last.max(apart + 1));
    }
    // On an odd walk two tokens are W/2 rounded down and up apart at once.
    separations.retain(|&separation| 2 * separation <= length);
    separations
}

/// The largest of the shorter ways round between positions of two nodes.
fn widest_apart(occurrences: &Occurrences, node: Node, other: Node, length: u32) -> u32 {
    let (mut few, mut many) = (occurrences.of(node), occurrences.of(other));
    if few.len() > many.len() {
        (few, many) = (many, few);
    }
    few.iter()
        .map(|&position| {
            let opposite = (position + length / 2) % length;
            let after = many.partition_point(|&other| other < opposite);
            [after % many.len(), (after + many.len() - 1) % many.len()]
                .into_iter()
                .map(|index| {
                    let ahead = (many[index] + length - position) % length;
                    ahead.min(length - ahead)
                })
                .max()
                .unwrap_or(0)
        })
        .max()
        .unwrap_or(0)
}

/// For 2, 3, … up to `most` tokens as far apart as the walk allows: the separation
/// on the walk and the distance kept. Not monotonic: three tokens may keep more
/// than two, where a node recurs half-way round.
pub fn by_tokens(network: &Network, walk: &Walk, most: usize) -> Vec<(usize, usize, u32)> {
    (2..=most.min(walk.len()))
        .map(|tokens| {
            let offsets = Offsets::furthest(walk.len(), tokens);
            let kept = nearest(network, walk, &offsets).map_or(0, |nearest| nearest.distance);
            (tokens, walk.len() / tokens, kept)
        })
        .collect()
}
