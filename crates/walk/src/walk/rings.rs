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

use crate::network::distance::Apart;
use crate::network::{Network, Node, listed};
use crate::stop::NEVER;
use crate::walk::{first_gap, left_out};

mod cover;
mod tables;

pub use cover::best;
use tables::Tables;

/// All distances are kept in memory, so only networks up to this size.
pub const MAX_NODES: usize = 1000;

/// Cycles that together visit every node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rings {
    rings: Vec<Vec<Node>>,
}

/// Why cycles do not cover a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
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
    #[error("rings are timed on networks of up to {MAX_NODES} nodes, this one has {nodes}")]
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
    /// The distance that any two tokens keep forever.
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
        if network.len() > MAX_NODES {
            return Err(RingsError::TooLarge {
                nodes: network.len(),
            });
        }
        for (ring, cycle) in (1..).zip(&rings) {
            if let Some((_, from, to)) = first_gap(network, cycle) {
                return Err(RingsError::NoLink { ring, from, to });
            }
        }
        let nodes = left_out(network, rings.iter().flatten());
        match nodes.is_empty() {
            true => Ok(Rings { rings }),
            false => Err(RingsError::LeftOut { nodes }),
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
    /// use headway_walk::{network::generators::Generator, walk::rings::Rings};
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
        let apart = Apart::new(network, &NEVER);
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
            if paces.iter().copied().fold(0, num_integer::gcd) == 1 {
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
        let mut text = format!("tokens keep distance {} forever", self.distance);
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
                listed(shared.iter().map(|&node| network.label(node)))
            );
        }
        text
    }
}
