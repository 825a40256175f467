//! Runs of the open chain ([`headway_core::chain`]): its arrivals, and its tokens
//! with an identity.

use std::str::FromStr;

use headway_core::chain::Chain;
use headway_core::{ProcessIndex, Round};
use thiserror::Error;

use crate::seed::{Purpose, Random};
use crate::start;

/// When tokens arrive from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// So many, all in round 1.
    Burst(u32),
    /// One in every so many rounds.
    Every(u64),
    /// One in a round with this chance in a hundred.
    Percent(u64),
}

/// The text says no arrivals.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("expected burst:K, every:K (K at least 1) or random:P% (0 to 100)")]
pub struct ArrivalsSyntax;

impl FromStr for Arrivals {
    type Err = ArrivalsSyntax;

    fn from_str(text: &str) -> Result<Arrivals, ArrivalsSyntax> {
        let (kind, number) = text.split_once(':').ok_or(ArrivalsSyntax)?;
        match kind {
            "burst" => number
                .parse()
                .map(Arrivals::Burst)
                .map_err(|_| ArrivalsSyntax),
            "every" => match number.parse() {
                Ok(rounds @ 1..) => Ok(Arrivals::Every(rounds)),
                _ => Err(ArrivalsSyntax),
            },
            "random" => match number.strip_suffix('%').and_then(|p| p.parse().ok()) {
                Some(percent @ 0..=100) => Ok(Arrivals::Percent(percent)),
                _ => Err(ArrivalsSyntax),
            },
            _ => Err(ArrivalsSyntax),
        }
    }
}

impl Arrivals {
    /// How many arrive in a round, from 1.
    fn in_round(self, round: Round, random: &mut Random) -> u32 {
        match self {
            Arrivals::Burst(tokens) if round == 1 => tokens,
            Arrivals::Burst(_) => 0,
            Arrivals::Every(rounds) => u32::from(round % rounds == 1 % rounds),
            Arrivals::Percent(percent) => u32::from(random.chance(percent, 100)),
        }
    }
}

/// A chain, round by round.
///
/// ```
/// use headway_core::{chain::Chain, Separation};
/// use headway_sim::open_chain::{Arrivals, OpenChain};
/// let chain = Chain::new(Separation::new(3).unwrap(), 8).unwrap();
/// let mut open = OpenChain::new(chain, Arrivals::Burst(4), 0, 2009);
/// for _ in 0..7 {
///     open.round();
/// }
/// assert_eq!((open.arrived(), open.left()), (4, 0));
/// let places: Vec<usize> = open.tokens().iter().map(|token| token.process).collect();
/// assert_eq!(places, [6, 3, 0, 0]);
/// ```
#[derive(Debug)]
pub struct OpenChain {
    chain: Chain,
    arrivals: Arrivals,
    random: Random,
    rounds: Round,
    arrived: u64,
    left: u64,
}

/// Where a token of a chain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainToken {
    /// Tokens are numbered as they have come: first in, first out.
    pub number: u64,
    /// Where.
    pub process: ProcessIndex,
    /// It rests, rather than being queued to move on.
    pub resting: bool,
}

impl OpenChain {
    /// A chain with so many tokens scattered over it, and its counter anything if
    /// there are any.
    pub fn new(mut chain: Chain, arrivals: Arrivals, scrambled: u32, seed: u64) -> OpenChain {
        let mut random = Random::new(seed, Purpose::Start);
        start::scatter(chain.processes_mut(), scrambled, &mut random);
        if scrambled > 0 {
            let separation = u64::from(chain.separation().hops());
            chain.processes_mut()[0].counter = random.below(separation) as i32;
        }
        OpenChain {
            arrived: chain.tokens(),
            chain,
            arrivals,
            random: Random::new(seed, Purpose::Arrivals),
            rounds: 0,
            left: 0,
        }
    }

    /// One round.
    pub fn round(&mut self) {
        self.rounds += 1;
        let arriving = self.arrivals.in_round(self.rounds, &mut self.random);
        self.arrived += u64::from(arriving);
        self.left += u64::from(self.chain.round(arriving));
    }

    /// The chain now.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Tokens that were there at the start or have come since.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Tokens that have left at the end.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The tokens on the chain, the one furthest on first.
    pub fn tokens(&self) -> Vec<ChainToken> {
        let mut tokens = Vec::new();
        for (process, state) in self.chain.processes().iter().enumerate().rev() {
            for (count, resting) in [(state.queued, false), (state.resting, true)] {
                for _ in 0..count {
                    tokens.push(ChainToken {
                        number: self.left + tokens.len() as u64,
                        process,
                        resting,
                    });
                }
            }
        }
        tokens
    }
}
