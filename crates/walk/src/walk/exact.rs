//! The best walk there is, with proof, on small networks.
//!
//! For a length W, m tokens are g = ⌊W/m⌋ apart with r = W - m·g positions of play.
//! The positions are filled in the order 0, g, 2g, …, 1, g+1, …: then a new node
//! meets those that it must stay away from at once, and whether the rest can still
//! be filled depends only on the first and last few columns and on the visits so
//! far, so that no such state is tried twice.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use crate::network::distance::Apart;
use crate::network::{Network, Node};
use crate::stop::{self, NEVER};
use crate::walk::Walk;
use crate::walk::bound;
use crate::walk::kept::Offsets;

/// Networks of more nodes are not tried.
pub const MAX_NODES: usize = 64;

/// The best closed walk of at most a given length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Best {
    /// The walk: of those that keep the most the shortest, of those the fairest.
    pub walk: Walk,
    /// The distance that the tokens keep on it.
    pub distance: u32,
    /// Up to this length no closed walk keeps more; `None` when more was not asked.
    pub proved_up_to: Option<usize>,
    /// No closed walk of any length at all keeps more.
    pub any_length: bool,
}

/// What an exact search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExactSearch {
    /// The best walk.
    Best(Best),
    /// No closed walk of that length visits all nodes.
    TooShort {
        /// The longest allowed.
        longest: usize,
    },
    /// The network is too large, or the steps ran out.
    GaveUp,
}

/// Finds the best closed walk of up to `longest` positions for m tokens, taking at
/// most `steps` steps. A distance of `enough` need not be exceeded: then the
/// shortest walk that keeps it is the best. It gives up soon after `stop` becomes true.
///
/// ```
/// use headway_walk::{NEVER, walk::exact::{self, ExactSearch}, network::generators::Generator};
/// let network = Generator::Figure7.network(0).unwrap();
/// let search = exact::best(&network, 3, None, 16, 1_000_000, &NEVER);
/// let ExactSearch::Best(best) = search else { panic!() };
/// assert_eq!((best.distance, best.walk.len()), (2, 12));
/// ```
pub fn best(
    network: &Network,
    tokens: usize,
    enough: Option<u32>,
    longest: usize,
    steps: usize,
    stop: &AtomicBool,
) -> ExactSearch {
    if network.len() > MAX_NODES || longest > 250 {
        return ExactSearch::GaveUp;
    }
    let bound = bound::upper(network, tokens, stop).map_or(0, |bound| bound.distance);
    let apart = Apart::new(network, &NEVER);
    let walks = ways(network, longest);
    let mut left = Left { steps, stop };
    let most = bound.min(enough.unwrap_or(bound));
    for distance in (0..=most).rev() {
        for length in network.len()..=longest {
            let mut filling = Filling::new(network, &apart, &walks, length, tokens, distance);
            if stop::is_set(stop) {
                return ExactSearch::GaveUp;
            }
            match filling.run(None, &mut left) {
                None => return ExactSearch::GaveUp,
                Some(false) => continue,
                Some(true) => {}
            }
            let walk = |positions| Walk::new(network, positions).expect("filled along links");
            let mut best = walk(filling.positions);
            // Fewer and fewer squares of visits, until there is no fairer walk.
            loop {
                let unfairness = best.unfairness(network);
                let mut fairer = Filling::new(network, &apart, &walks, length, tokens, distance);
                match fairer.run(Some(unfairness - 1), &mut left) {
                    None => return ExactSearch::GaveUp,
                    Some(true) => best = walk(fairer.positions),
                    Some(false) => break,
                }
            }
            return ExactSearch::Best(Best {
                walk: best,
                distance,
                proved_up_to: (distance < most || most == bound).then_some(longest),
                any_length: distance == bound,
            });
        }
    }
    ExactSearch::TooShort { longest }
}

/// `ways[k][v]`: the nodes that v can reach in exactly k steps, as bits.
fn ways(network: &Network, longest: usize) -> Vec<Vec<u64>> {
    let mut ways: Vec<Vec<u64>> = vec![network.nodes().map(|node| 1 << node).collect()];
    for steps in 1..=longest {
        let next = network
            .nodes()
            .map(|node| {
                network
                    .neighbours(node)
                    .iter()
                    .fold(0, |reached, &next| reached | ways[steps - 1][next as usize])
            })
            .collect();
        ways.push(next);
    }
    ways
}

/// How many steps may still be made, and whether to make any.
struct Left<'a> {
    steps: usize,
    stop: &'a AtomicBool,
}

impl Left<'_> {
    fn take(&mut self) -> Option<()> {
        self.steps = self.steps.checked_sub(1)?;
        (!stop::is_set(self.stop)).then_some(())
    }
}

/// A walk of a given length being filled in.
struct Filling<'a> {
    network: &'a Network,
    apart: &'a Apart,
    ways: &'a [Vec<u64>],
    distance: u32,
    /// Positions in the order in which they are filled.
    order: Vec<usize>,
    /// For each place in the order: the filled positions that it must stay away
    /// from; the filled one before it; the next filled one and how far it is.
    rivals: Vec<Vec<usize>>,
    before: Vec<Option<usize>>,
    ahead: Vec<Option<(usize, usize)>>,
    /// Rows of the array of columns, and how many columns of play there are.
    tokens: usize,
    play: usize,
    positions: Vec<Node>,
    visits: Vec<u8>,
    left_out: usize,
    squares: u64,
    failed: HashSet<Vec<u8>>,
}

impl<'a> Filling<'a> {
    fn new(
        network: &'a Network,
        apart: &'a Apart,
        ways: &'a [Vec<u64>],
        length: usize,
        tokens: usize,
        distance: u32,
    ) -> Filling<'a> {
        let row = length / tokens.max(1);
        let offsets = Offsets::furthest(length, tokens);
        let mut order: Vec<usize> = (0..row)
            .flat_map(|column| (0..tokens).map(move |token| token * row + column))
            .collect();
        order.extend(tokens * row..length);
        let mut filled = vec![false; length];
        let (mut rivals, mut before, mut ahead) = (Vec::new(), Vec::new(), Vec::new());
        for (index, &position) in order.iter().enumerate() {
            rivals.push(
                order[..index]
                    .iter()
                    .copied()
                    .filter(|&other| offsets.contains(other + length - position))
                    .collect(),
            );
            let previous = (position + length - 1) % length;
            before.push(filled[previous].then_some(previous));
            ahead.push(
                (1..length)
                    .map(|steps| ((position + steps) % length, steps))
                    .find(|&(other, _)| filled[other]),
            );
            filled[position] = true;
        }
        Filling {
            network,
            apart,
            ways,
            distance,
            order,
            rivals,
            before,
            ahead,
            tokens: tokens.max(1),
            play: length - tokens.max(1) * row,
            positions: vec![Node::MAX; length],
            visits: vec![0; network.len()],
            left_out: network.len(),
            squares: 0,
            failed: HashSet::new(),
        }
    }

    /// Whether the walk can be filled, with the sum of squared visits at most
    /// `squares`; `None` when the steps ran out.
    fn run(&mut self, squares: Option<u64>, left: &mut Left<'_>) -> Option<bool> {
        // Tokens on the same position are 0 apart.
        if self.distance > 0 && self.order.len() < self.tokens {
            return Some(false);
        }
        self.fill(0, squares, left)
    }

    fn fill(&mut self, index: usize, squares: Option<u64>, left: &mut Left<'_>) -> Option<bool> {
        if self.left_out > self.order.len() - index {
            return Some(false);
        }
        if index == self.order.len() {
            return Some(true);
        }
        let key = self.key(index, squares.is_some());
        if key.as_ref().is_some_and(|key| self.failed.contains(key)) {
            return Some(false);
        }
        // A closed walk that visits every node can be turned to begin at node 0.
        let candidates = match index {
            0 => 0..1,
            _ => 0..self.network.len() as Node,
        };
        for node in candidates {
            left.take()?;
            if !self.fits(index, node) {
                continue;
            }
            let visits = u64::from(self.visits[node as usize]);
            let grown = self.squares + 2 * visits + 1;
            if squares.is_some_and(|most| grown + self.least_growth(index, visits == 0) > most) {
                continue;
            }
            let before = self.squares;
            self.squares = grown;
            self.positions[self.order[index]] = node;
            self.visits[node as usize] += 1;
            self.left_out -= usize::from(visits == 0);
            if self.fill(index + 1, squares, left)? {
                return Some(true);
            }
            self.left_out += usize::from(visits == 0);
            self.visits[node as usize] -= 1;
            self.squares = before;
        }
        if let Some(key) = key {
            self.failed.insert(key);
        }
        Some(false)
    }

    /// By how much the squares grow at least when the rest is filled: first visits
    /// add 1 each, all others at least 3.
    fn least_growth(&self, index: usize, first_visit: bool) -> u64 {
        let rest = self.order.len() - index - 1;
        let fresh = self.left_out - usize::from(first_visit);
        (fresh + 3 * rest.saturating_sub(fresh)) as u64
    }

    fn fits(&self, index: usize, node: Node) -> bool {
        let stepped = self.before[index]
            .is_none_or(|before| self.network.linked(self.positions[before], node));
        let can_go_on = self.ahead[index].is_none_or(|(ahead, steps)| {
            self.ways[steps][node as usize] >> self.positions[ahead] & 1 == 1
        });
        stepped
            && can_go_on
            && self.rivals[index]
                .iter()
                .all(|&rival| self.apart.hops(self.positions[rival], node) >= self.distance)
    }

    /// All that the rest depends on, at the start of a column: the first and last
    /// columns, and the visits (how many, when they are to be fair).
    fn key(&self, index: usize, fair: bool) -> Option<Vec<u8>> {
        let column = index / self.tokens;
        let row = self.order.len() / self.tokens;
        let width = self.play + 1;
        if !index.is_multiple_of(self.tokens) || column <= 2 * width || column >= row {
            return None;
        }
        let mut key = vec![column as u8];
        for token in 0..self.tokens {
            for column in (0..width).chain(column - width..column) {
                key.push(self.positions[token * row + column] as u8);
            }
        }
        key.extend(
            self.visits
                .iter()
                .map(|&visits| if fair { visits } else { visits.min(1) }),
        );
        Some(key)
    }
}
