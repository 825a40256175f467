//! Walks made for separation: m tokens move through the network together.
//!
//! A *formation* is a place for each of m tokens, any two at least d apart. In one
//! step every token moves along a link, to another formation. If such steps lead
//! from a formation to the same one turned by one (every token where the next one
//! was), and the tokens between them have visited every node, then their paths
//! laid end to end are a closed walk of m·L positions on which m tokens, L apart,
//! keep distance d forever. And every walk with m·g = W is made so. The search for
//! a walk is thereby a search for a path among formations.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::atomic::AtomicBool;

use crate::network::distance::Near;
use crate::network::{Network, Node};
use crate::random::Choices;
use crate::stop;
use crate::walk::Walk;
use crate::walk::hamiltonian::two_colours;

mod conceivable;
mod plan;

pub use conceivable::conceivable;
use plan::Plan;

/// The formations of a number of tokens at a distance.
///
/// ```
/// use headway_walk::{NEVER, walk::formation::Formations, network::generators::Generator, walk::kept::{self, Offsets}};
/// let grid = Generator::Grid(10, 10).network(0).unwrap();
/// let walk = Formations::new(&grid, 2, 9, &NEVER).walk(1, 0, 1_000_000).unwrap();
/// let kept = kept::nearest(&grid, &walk, &Offsets::furthest(walk.len(), 2)).unwrap();
/// assert!(kept.distance >= 9);
/// ```
pub struct Formations<'a> {
    network: &'a Network,
    tokens: usize,
    near: Near,
    /// The two sides, when the network is bipartite.
    colours: Option<Vec<bool>>,
    stop: &'a AtomicBool,
}

/// Where each token is.
type Formation = Box<[Node]>;

/// With many tokens the steps from a formation are too many to try them all.
const MAX_STEPS: usize = 512;

impl<'a> Formations<'a> {
    /// For `tokens` tokens that are to keep `distance`; V² bits. Once `stop` is true, searches
    /// find nothing more.
    pub fn new(
        network: &'a Network,
        tokens: usize,
        distance: u32,
        stop: &'a AtomicBool,
    ) -> Formations<'a> {
        Formations {
            network,
            tokens,
            near: Near::new(network, distance, stop),
            colours: two_colours(network),
            stop,
        }
    }

    /// A closed walk on which the tokens keep the distance, if the search finds one
    /// while it makes at most `effort` formations.
    pub fn walk(&self, seed: u64, stream: u64, effort: usize) -> Option<Walk> {
        let mut choices = Choices::new(seed, 1 << 32 | stream);
        let start = self.start(&mut choices)?;
        let mut plan = Plan::new(self, start, effort);
        plan.cover(&mut choices)?;
        plan.close()?;
        plan.shorten(&mut choices);
        Walk::new(self.network, plan.walk()).ok()
    }

    /// Far-apart places for all tokens. In a bipartite network all tokens change
    /// sides at once, so a formation can only become itself turned by one if its
    /// tokens are on one side, or on both by turns.
    fn start(&self, choices: &mut Choices) -> Option<Formation> {
        let by_turns = self.colours.is_some() && self.tokens.is_multiple_of(2);
        let first = by_turns && choices.below(2) == 0;
        self.start_on(first, choices)
            .or_else(|| self.start_on(by_turns && !first, choices))
    }

    fn start_on(&self, by_turns: bool, choices: &mut Choices) -> Option<Formation> {
        let mut order: Vec<Node> = self.network.nodes().collect();
        for _ in 0..50 {
            choices.shuffle(&mut order);
            let mut formation: Vec<Node> = Vec::new();
            'token: for token in 0..self.tokens {
                for &node in &order {
                    let side_fits = match (&self.colours, formation.first()) {
                        (Some(colours), Some(&first)) => {
                            let other = by_turns && token % 2 == 1;
                            colours[node as usize] == (colours[first as usize] ^ other)
                        }
                        _ => true,
                    };
                    if side_fits && self.fits(&formation, node) {
                        formation.push(node);
                        continue 'token;
                    }
                }
                break;
            }
            if formation.len() == self.tokens {
                return Some(formation.into());
            }
        }
        None
    }

    fn fits(&self, others: &[Node], node: Node) -> bool {
        others.iter().all(|&other| !self.near.contains(node, other))
    }

    /// Calls `found` with the formations one step on, and takes as much from
    /// `effort`; `None` when none is left. When there are too many, each token has
    /// only the choice of a few neighbours, those that `prefer` ranks lowest.
    fn steps(
        &self,
        formation: &[Node],
        prefer: &impl Fn(usize, Node) -> u32,
        effort: &mut usize,
        found: &mut impl FnMut(&[Node]),
    ) -> Option<()> {
        if stop::is_set(self.stop) {
            return None;
        }
        let all = formation.iter().try_fold(1usize, |steps, &node| {
            steps.checked_mul(self.network.neighbours(node).len())
        });
        let mut next = Vec::with_capacity(self.tokens);
        let mut left = MAX_STEPS;
        if all.is_some_and(|all| all <= MAX_STEPS) {
            let choices: Vec<&[Node]> = formation
                .iter()
                .map(|&node| self.network.neighbours(node))
                .collect();
            self.step_rest(&choices, &mut next, &mut left, found);
        } else {
            let few = (2..)
                .take_while(|few: &usize| few.pow(self.tokens.min(9) as u32) <= MAX_STEPS)
                .last()
                .unwrap_or(2);
            let choices: Vec<Vec<Node>> = formation
                .iter()
                .enumerate()
                .map(|(token, &node)| {
                    let mut ranked: Vec<(u32, u32, Node)> = self
                        .network
                        .neighbours(node)
                        .iter()
                        .map(|&next| {
                            // Ties in an order that differs from place to place.
                            let tie =
                                next.wrapping_mul(0x9e37_79b9) ^ node.wrapping_mul(0x85eb_ca6b);
                            (prefer(token, next), tie, next)
                        })
                        .collect();
                    ranked.sort_unstable();
                    ranked.truncate(few);
                    ranked.into_iter().map(|(_, _, next)| next).collect()
                })
                .collect();
            let choices: Vec<&[Node]> = choices.iter().map(Vec::as_slice).collect();
            self.step_rest(&choices, &mut next, &mut left, found);
        }
        *effort = effort.checked_sub(1 + MAX_STEPS - left)?;
        Some(())
    }

    fn step_rest(
        &self,
        choices: &[&[Node]],
        next: &mut Vec<Node>,
        left: &mut usize,
        found: &mut impl FnMut(&[Node]),
    ) {
        let Some(nodes) = choices.get(next.len()) else {
            *left -= 1;
            found(next);
            return;
        };
        for &node in *nodes {
            if *left > 0 && self.fits(next, node) {
                next.push(node);
                self.step_rest(choices, next, left, found);
                next.pop();
            }
        }
    }

    /// A path of formations from `start` to one where `hops_left` is 0, best
    /// guesses first; without `start`. `hops_left` never exceeds the steps needed,
    /// `prefer` says where single tokens had better go.
    fn path(
        &self,
        start: &[Node],
        hops_left: impl Fn(&[Node]) -> u32,
        prefer: impl Fn(usize, Node) -> u32,
        greed: u32,
        effort: &mut usize,
    ) -> Option<Vec<Formation>> {
        let mut from: HashMap<Formation, (u32, Formation)> = HashMap::new();
        // The least guess comes first, then the longest way.
        let mut heap: BinaryHeap<(Reverse<u32>, u32, Formation)> = BinaryHeap::new();
        heap.push((Reverse(0), 0, start.into()));
        from.insert(start.into(), (0, start.into()));
        while let Some((_, taken, formation)) = heap.pop() {
            if taken > 0 && hops_left(&formation) == 0 {
                let mut path = Vec::new();
                let mut at = formation;
                while &*at != start || path.is_empty() {
                    let before = from[&at].1.clone();
                    path.push(at);
                    at = before;
                }
                path.reverse();
                return Some(path);
            }
            if from
                .get(&formation)
                .is_some_and(|&(known, _)| known < taken)
            {
                continue;
            }
            self.steps(&formation, &prefer, effort, &mut |next| {
                let guess = hops_left(next);
                let better = match from.get(next) {
                    Some(&(known, _)) => taken + 1 < known,
                    None => true,
                };
                if better {
                    from.insert(next.into(), (taken + 1, formation.clone()));
                    heap.push((Reverse(taken + 1 + greed * guess), taken + 1, next.into()));
                }
            })?;
        }
        None
    }
}
