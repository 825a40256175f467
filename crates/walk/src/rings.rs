//! Several rings instead of one walk: cycles that cover the network and meet at
//! shared nodes, with tokens timed so that those of different rings stay apart.
//!
//! A token that rests p rounds at every node of a ring of L nodes comes round every
//! T = p·L rounds. Two tokens with periods T and T' and phases f and f' see, over
//! time, exactly the pairs of moments that differ by f - f' modulo gcd(T, T'). So
//! what two rings can keep is one number for each remainder, and timing all tokens
//! is a finite search: it ends with the best phases, or with the proof that for
//! these rings there are none.

use std::fmt::Write;

use thiserror::Error;

use crate::distance::Apart;
use crate::network::{Network, Node, listed};
use crate::random::Choices;

/// All distances are kept in memory, so only networks up to this size.
pub const MOST_NODES: usize = 1000;

/// Cycles that together visit every node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rings {
    rings: Vec<Vec<Node>>,
}

/// Why cycles do not cover a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RingsError {
    /// A step without a link.
    #[error("ring {ring}: there is no link from {from:?} to {to:?}")]
    NoLink {
        /// Which ring, from 1.
        ring: usize,
        /// A node.
        from: String,
        /// The next.
        to: String,
    },
    /// Nodes on no ring.
    #[error("no ring visits {}", listed(nodes.iter()))]
    LeftOut {
        /// Which.
        nodes: Vec<String>,
    },
    /// All distances of so large a network do not fit.
    #[error("rings are timed on networks of up to {MOST_NODES} nodes, this one has {nodes}")]
    TooLarge {
        /// Its nodes.
        nodes: usize,
    },
    /// Every ring needs a token.
    #[error("{rings} rings need at least as many tokens, not {tokens}")]
    TooFewTokens {
        /// Rings there are.
        rings: usize,
        /// Tokens there are.
        tokens: usize,
    },
}

/// Tokens on rings, timed as well as can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The distance that any two tokens keep for ever.
    pub distance: u32,
    /// For each ring, how many rounds a token rests at every node; 1 is full speed.
    pub paces: Vec<u32>,
    /// For each token its ring and its phase: in round t it is at the node
    /// ⌊(t + phase) / pace⌋ of its ring.
    pub tokens: Vec<(usize, u32)>,
    /// Every other choice of phases was excluded: for these rings and paces no
    /// more can be had.
    pub proved: bool,
    /// Two rings that alone do not allow more, if it is due to two.
    pub clash: Option<Clash>,
}

/// Two rings whose tokens cannot be further apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// Which, from 0; the same twice when its own tokens are too many.
    pub rings: (usize, usize),
    /// The most that tokens of the two can keep, whatever their phases.
    pub distance: u32,
    /// gcd of their periods: how many different relative phases there are.
    pub phases: u32,
}

impl Rings {
    /// Checks that the cycles follow links and cover the network.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn new(network: &Network, rings: Vec<Vec<Node>>) -> Result<Rings, RingsError> {
        if network.len() > MOST_NODES {
            return Err(RingsError::TooLarge {
                nodes: network.len(),
            });
        }
        let mut visited = vec![false; network.len()];
        for (index, ring) in rings.iter().enumerate() {
            for (place, &node) in ring.iter().enumerate() {
                let next = ring[(place + 1) % ring.len()];
                if !network.linked(node, next) {
                    return Err(RingsError::NoLink {
                        ring: index + 1,
                        from: network.name(node).to_owned(),
                        to: network.name(next).to_owned(),
                    });
                }
                visited[node as usize] = true;
            }
        }
        let nodes: Vec<String> = network
            .nodes()
            .filter(|&node| !visited[node as usize])
            .map(|node| network.name(node).to_owned())
            .collect();
        if nodes.is_empty() {
            Ok(Rings { rings })
        } else {
            Err(RingsError::LeftOut { nodes })
        }
    }

    /// The cycles.
    pub fn rings(&self) -> &[Vec<Node>] {
        &self.rings
    }

    /// Nodes that are on more than one ring, ascending.
    pub fn shared(&self) -> Vec<Node> {
        let mut nodes: Vec<Node> = Vec::new();
        for ring in &self.rings {
            let mut ring = ring.clone();
            ring.sort_unstable();
            ring.dedup();
            nodes.extend(ring);
        }
        nodes.sort_unstable();
        let mut shared: Vec<Node> = nodes
            .windows(2)
            .filter(|pair| pair[0] == pair[1])
            .map(|pair| pair[0])
            .collect();
        shared.dedup();
        shared
    }

    /// The best timing for m tokens, at least one on every ring and the others
    /// where the ring is longest for its tokens; with `slowest` above 1 also for
    /// rings on which tokens rest up to that many rounds at every node.
    ///
    /// # Errors
    ///
    /// When there are fewer tokens than rings.
    ///
    /// ```
    /// use headway_walk::{generators::Generator, rings::Rings};
    /// let network = Generator::Figure7.network(0).unwrap();
    /// let ring = |names: [&str; 6]| names.map(|name| network.node(name).unwrap()).to_vec();
    /// let rings = Rings::new(&network, vec![
    ///     ring(["a3", "a2", "a1", "b1", "b2", "b3"]),
    ///     ring(["b1", "b2", "b3", "c3", "c2", "c1"]),
    /// ]).unwrap();
    /// let timing = rings.timed(&network, 2, 1).unwrap();
    /// assert_eq!((timing.distance, timing.proved), (3, true));
    /// ```
    pub fn timed(
        &self,
        network: &Network,
        tokens: usize,
        slowest: u32,
    ) -> Result<Timing, RingsError> {
        if tokens < self.rings.len() {
            return Err(RingsError::TooFewTokens {
                rings: self.rings.len(),
                tokens,
            });
        }
        let apart = Apart::new(network);
        Ok(self.timed_by(&apart, tokens, slowest))
    }

    fn timed_by(&self, apart: &Apart, tokens: usize, slowest: u32) -> Timing {
        let mut counts = vec![1; self.rings.len()];
        for _ in self.rings.len()..tokens {
            let longest = (0..counts.len())
                .max_by_key(|&ring| (self.rings[ring].len() / counts[ring], usize::MAX - ring))
                .expect("at least one ring");
            counts[longest] += 1;
        }
        let owners: Vec<usize> = (0..counts.len())
            .flat_map(|ring| std::iter::repeat_n(ring, counts[ring]))
            .collect();
        let mut best: Option<Timing> = None;
        let mut paces = vec![1; self.rings.len()];
        loop {
            // Halving or thirding all speeds alike changes nothing.
            if paces.iter().copied().fold(0, gcd) == 1 {
                let timing = Tables::new(&self.rings, &paces, apart).time(&owners);
                if best
                    .as_ref()
                    .is_none_or(|best| timing.distance > best.distance)
                {
                    best = Some(timing);
                }
            }
            let Some(slower) = paces.iter().position(|&pace| pace < slowest) else {
                break;
            };
            paces[..slower].fill(1);
            paces[slower] += 1;
        }
        best.expect("full speed was tried")
    }
}

/// What tokens on two rings keep, by the difference of their phases.
struct Tables<'a> {
    rings: &'a [Vec<Node>],
    paces: &'a [u32],
    /// `kept[r][s][c]`: phases that differ by c modulo gcd(T, T').
    kept: Vec<Vec<Vec<u32>>>,
}

impl<'a> Tables<'a> {
    fn new(rings: &'a [Vec<Node>], paces: &'a [u32], apart: &Apart) -> Tables<'a> {
        let period = |ring: usize| rings[ring].len() as u32 * paces[ring];
        let kept = (0..rings.len())
            .map(|one| {
                (0..rings.len())
                    .map(|other| {
                        let classes = gcd(period(one), period(other));
                        let mut kept = vec![u32::MAX; classes as usize];
                        for moment in 0..period(one) {
                            let here = rings[one][(moment / paces[one]) as usize];
                            for other_moment in 0..period(other) {
                                let there = rings[other][(other_moment / paces[other]) as usize];
                                let class =
                                    (moment % classes + classes - other_moment % classes) % classes;
                                let kept = &mut kept[class as usize];
                                *kept = (*kept).min(apart.hops(here, there));
                            }
                        }
                        kept
                    })
                    .collect()
            })
            .collect();
        Tables { rings, paces, kept }
    }

    fn time(&self, owners: &[usize]) -> Timing {
        let mut distances: Vec<u32> = self.kept.iter().flatten().flatten().copied().collect();
        distances.sort_unstable();
        distances.dedup();
        let clash = self.clash(owners);
        // What two rings alone do not allow needs no search.
        let most = clash.as_ref().map_or(u32::MAX, |clash| clash.distance);
        distances.retain(|&distance| distance <= most);
        let mut proved = true;
        for &distance in distances.iter().rev() {
            let mut phases = Vec::new();
            let mut left = 2_000_000;
            match self.assign(owners, distance, &mut phases, &mut left) {
                Some(true) => {
                    return Timing {
                        distance,
                        paces: self.paces.to_vec(),
                        tokens: owners.iter().copied().zip(phases).collect(),
                        proved,
                        clash: clash.filter(|clash| clash.distance == distance),
                    };
                }
                Some(false) => {}
                None => proved = false,
            }
        }
        // One token alone, or 0 apart anyhow.
        Timing {
            distance: 0,
            paces: self.paces.to_vec(),
            tokens: owners.iter().map(|&ring| (ring, 0)).collect(),
            proved,
            clash,
        }
    }

    /// The two rings that allow the least.
    fn clash(&self, owners: &[usize]) -> Option<Clash> {
        let mut worst: Option<Clash> = None;
        for (index, &one) in owners.iter().enumerate() {
            for &other in &owners[..index] {
                let kept = &self.kept[one][other];
                let distance = kept.iter().copied().max().unwrap_or(0);
                if worst.as_ref().is_none_or(|worst| distance < worst.distance) {
                    worst = Some(Clash {
                        rings: (other, one),
                        distance,
                        phases: kept.len() as u32,
                    });
                }
            }
        }
        worst
    }

    /// Phases for all tokens at which they keep the distance; `None` when the
    /// steps ran out.
    fn assign(
        &self,
        owners: &[usize],
        distance: u32,
        phases: &mut Vec<u32>,
        left: &mut u32,
    ) -> Option<bool> {
        let token = phases.len();
        if token == owners.len() {
            return Some(true);
        }
        let ring = owners[token];
        let period = self.rings[ring].len() as u32 * self.paces[ring];
        // Starting all later changes nothing, so the first token starts at once.
        let candidates = if token == 0 { 0..1 } else { 0..period };
        for phase in candidates {
            *left = left.checked_sub(1)?;
            let fits = phases.iter().zip(owners).all(|(&other_phase, &other)| {
                let kept = &self.kept[ring][other];
                let classes = kept.len() as u32;
                let class = (phase % classes + classes - other_phase % classes) % classes;
                kept[class as usize] >= distance
            });
            if fits {
                phases.push(phase);
                if self.assign(owners, distance, phases, left)? {
                    return Some(true);
                }
                phases.pop();
            }
        }
        Some(false)
    }
}

impl Timing {
    /// The node of a token in a round.
    pub fn node(&self, rings: &Rings, token: usize, round: u64) -> Node {
        let (ring, phase) = self.tokens[token];
        let nodes = &rings.rings[ring];
        let place = (round + u64::from(phase)) / u64::from(self.paces[ring]);
        nodes[(place % nodes.len() as u64) as usize]
    }

    /// What came out, in words.
    pub fn in_words(&self, network: &Network, rings: &Rings) -> String {
        let mut text = format!("tokens keep distance {} for ever", self.distance);
        if let Some(clash) = &self.clash {
            let (one, other) = clash.rings;
            let _ = write!(
                text,
                "; more cannot be had: tokens on rings {} and {} (periods {} and {}, so {} relative \
                 phases) keep at most {} whatever their phases",
                one + 1,
                other + 1,
                rings.rings[one].len() as u32 * self.paces[one],
                rings.rings[other].len() as u32 * self.paces[other],
                clash.phases,
                clash.distance
            );
        } else if self.proved && self.tokens.len() > 1 {
            text.push_str("; every other combination of phases keeps no more on these rings");
        }
        let shared = rings.shared();
        if shared.is_empty() {
            text.push_str("; the rings share no node");
        } else {
            let _ = write!(
                text,
                "; the rings meet at {}",
                listed(shared.iter().map(|&node| network.name(node)))
            );
        }
        text
    }
}

/// Looks for rings that cover the network, at most one per token, and their best
/// timing: the most distance, then the fewest rounds at rest, then the fewest
/// nodes on rings. `None` when no cover was found or the network is too large.
pub fn best(
    network: &Network,
    tokens: usize,
    slowest: u32,
    seed: u64,
    effort: u32,
) -> Option<(Rings, Timing)> {
    if network.len() > MOST_NODES || tokens == 0 {
        return None;
    }
    let apart = Apart::new(network);
    let mut best: Option<((u32, u32, usize), Rings, Timing)> = None;
    for stream in 0..200 * u64::from(effort.max(1)) {
        let mut choices = Choices::new(seed, 1 << 33 | stream);
        let Some(rings) = cover(network, &apart, tokens, &mut choices) else {
            continue;
        };
        // Different paces multiply the work; they are tried for a few rings only.
        let slowest = if rings.len() <= 3 && network.len() <= 100 {
            slowest
        } else {
            1
        };
        let rings = Rings { rings };
        let timing = rings.timed_by(&apart, tokens, slowest);
        let nodes = rings.rings.iter().map(Vec::len).sum();
        let rank = (u32::MAX - timing.distance, timing.paces.iter().sum(), nodes);
        if best.as_ref().is_none_or(|(known, ..)| rank < *known) {
            best = Some((rank, rings, timing));
        }
    }
    best.map(|(_, rings, timing)| (rings, timing))
}

/// Cycles through all nodes, at most `most`, of lengths near one that is drawn.
fn cover(
    network: &Network,
    apart: &Apart,
    most: usize,
    choices: &mut Choices,
) -> Option<Vec<Vec<Node>>> {
    let shortest = network.len().div_ceil(most).max(2);
    let length = shortest + choices.below(shortest + 3);
    let mut covered = vec![false; network.len()];
    let mut rings = Vec::new();
    let mut order: Vec<Node> = network.nodes().collect();
    choices.shuffle(&mut order);
    while let Some(&node) = order.iter().find(|&&node| !covered[node as usize]) {
        if rings.len() == most {
            return None;
        }
        let ring = cycle(network, apart, node, length, &covered, choices)?;
        for &node in &ring {
            covered[node as usize] = true;
        }
        rings.push(ring);
    }
    Some(rings)
}

/// A cycle through a node: of `length` nodes if the search finds one, else of the
/// longest shorter length, else there and back along a link.
fn cycle(
    network: &Network,
    apart: &Apart,
    node: Node,
    length: usize,
    covered: &[bool],
    choices: &mut Choices,
) -> Option<Vec<Node>> {
    (2..=length).rev().find_map(|length| {
        let mut path = vec![node];
        let mut left = 2_000;
        let found = extend(
            network, apart, &mut path, length, covered, choices, &mut left,
        );
        found.then_some(path)
    })
}

fn extend(
    network: &Network,
    apart: &Apart,
    path: &mut Vec<Node>,
    length: usize,
    covered: &[bool],
    choices: &mut Choices,
    left: &mut u32,
) -> bool {
    let (first, last) = (path[0], path[path.len() - 1]);
    if path.len() == length {
        return network.linked(last, first);
    }
    let mut next: Vec<(bool, usize, Node)> = network
        .neighbours(last)
        .iter()
        .filter(|node| !path.contains(node))
        .map(|&node| (covered[node as usize], choices.below(1 << 16), node))
        .collect();
    next.sort_unstable();
    for (_, _, node) in next {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        if apart.hops(node, first) as usize <= length - path.len() {
            path.push(node);
            if extend(network, apart, path, length, covered, choices, left) {
                return true;
            }
            path.pop();
        }
    }
    false
}

fn gcd(one: u32, other: u32) -> u32 {
    if other == 0 {
        one
    } else {
        gcd(other, one % other)
    }
}
