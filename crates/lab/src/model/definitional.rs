//! Tokens that cannot be lost: m independent K-state rings under the delay/relay
//! rule, against tokens that are simply there.

use headway_core::token_ring::{self, Gate};
use headway_core::{Program, Ring, Separation};
use headway_sim::forecast::Forecast;
use headway_sim::seed::{Purpose, Random};
use headway_sim::start;
use strum::{EnumString, VariantNames};

use super::{CellError, Engine, Model, NewSampler, Sampled, Sampler, axes, measures, share};
use crate::cell::Cell;

/// A run ends after this many turns; the slowest ever seen took fewer than 20.
const GIVE_UP_TURNS: u64 = 100;

measures! {
    enum Measured {
        Rounds count "rounds" "rounds until m tokens are at least d apart and all move"
        Turns share "turns" "the same in turns of n rounds"
        TokensAtStart count "tokens_at_start" "privileges in the initial state"
    }
}

/// Rounds to m tokens at least d apart, by what tokens are made of.
pub(super) const MODEL: Model = Model {
    name: "definitional",
    axes: axes! {
        "processes", "n", "24", Number(2, 1 << 16), "processes on the ring";
        "tokens", "m", "2", Number(1, 1 << 12), "tokens, and so token rings";
        "separation", "d", "n/m", Number(1, 1 << 16), "hops to keep between successive tokens";
        "approach", "approach", "definitional", Word(Approach::VARIANTS),
            "what tokens are made of";
    },
    measures: Measured::TABLE,
    sampler,
};

fn sampler(cell: &Cell, wanted: &[usize], _: Engine) -> NewSampler {
    let (n, m) = (
        cell.number("processes") as u64,
        cell.number("tokens") as u64,
    );
    let separation = Separation::new(cell.number("separation") as u32)
        .filter(|separation| separation.fits(n, m))
        .ok_or_else(|| CellError::new("separation", "the tokens do not fit: m·d > n"))?;
    Ok(Box::new(DefinitionalSampler {
        processes: n as usize,
        tokens: m as usize,
        separation,
        approach: cell.parsed("approach")?,
        wanted: Measured::at(wanted),
    }))
}

/// What tokens are made of.
#[derive(Clone, Copy, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
enum Approach {
    /// Privileges of token rings, which cannot be lost.
    Definitional,
    /// They are simply there.
    Abstract,
}

struct DefinitionalSampler {
    processes: usize,
    tokens: usize,
    separation: Separation,
    approach: Approach,
    wanted: Vec<Measured>,
}

impl Sampler for DefinitionalSampler {
    fn sample(&self, seed: u64, out: &mut [Option<i64>]) -> Sampled {
        let (rounds, at_start) = if self.approach == Approach::Definitional {
            let mut rings = TokenRings::random(self.processes, self.tokens, self.separation, seed);
            let at_start = rings.privileges();
            (
                rings.settle(GIVE_UP_TURNS * self.processes as u64),
                at_start,
            )
        } else {
            let programs = vec![Program::Delay; self.processes];
            let ring = Ring::new(self.separation, programs)?;
            let start = start::random(&ring, self.tokens as u32, seed);
            let forecast = Forecast::of(&ring, &start)?;
            let rounds = forecast.last_rest().map_or(0, |round| round + 1);
            (Some(rounds), self.tokens as u64)
        };
        for (place, &wanted) in out.iter_mut().zip(&self.wanted) {
            *place = match wanted {
                Measured::Rounds => rounds.map(|rounds| rounds as i64),
                Measured::Turns => rounds.and_then(|rounds| share(rounds, self.processes as u64)),
                Measured::TokensAtStart => Some(at_start as i64),
            };
        }
        Ok(())
    }
}

/// m K-state rings on the same processes, all of which delay.
#[derive(Clone)]
pub(crate) struct TokenRings {
    pub(crate) tokens: usize,
    separation: Separation,
    /// K.
    pub(crate) modulus: u32,
    /// Process by process, ring by ring.
    pub(crate) values: Vec<u32>,
    pub(crate) gates: Vec<Gate>,
}

impl TokenRings {
    /// Every variable anything.
    pub(crate) fn random(n: usize, tokens: usize, separation: Separation, seed: u64) -> TokenRings {
        let mut random = Random::new(seed, Purpose::Start);
        let modulus = n as u32 + 1;
        let values = (0..n * tokens).map(|_| random.below(u64::from(modulus)) as u32);
        let values = values.collect();
        let gates = (0..n)
            .map(|_| Gate {
                counter: random.below(u64::from(separation.hops())) as i32,
                turn: random.index(tokens) as u32,
            })
            .collect();
        TokenRings {
            tokens,
            separation,
            modulus,
            values,
            gates,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.gates.len()
    }

    fn of(&self, process: usize) -> &[u32] {
        &self.values[process * self.tokens..(process + 1) * self.tokens]
    }

    /// One step of a process that takes its predecessor's values for `heard`.
    pub(crate) fn step(&mut self, process: usize, heard: &[u32]) -> Option<usize> {
        let m = self.tokens;
        token_ring::round(
            &mut self.values[process * m..(process + 1) * m],
            heard,
            process == 0,
            self.modulus,
            &mut self.gates[process],
            self.separation.top(),
        )
    }

    fn round(&mut self) {
        let (n, m) = (self.len(), self.tokens);
        // From the last process back, the predecessor's values are still old; only
        // process 0 needs the last one's old values kept.
        let last: Vec<u32> = self.of(n - 1).to_vec();
        for process in (1..n).rev() {
            let heard: Vec<u32> = self.values[(process - 1) * m..process * m].to_vec();
            self.step(process, &heard);
        }
        self.step(0, &last);
    }

    /// Where ring `token` has its privileges.
    pub(crate) fn holders(&self, token: usize) -> impl Iterator<Item = usize> + '_ {
        let n = self.len();
        (0..n).filter(move |&process| {
            let own = self.of(process)[token];
            let before = self.of((process + n - 1) % n)[token];
            token_ring::holds(own, before, process == 0)
        })
    }

    fn privileges(&self) -> u64 {
        (0..self.tokens)
            .map(|token| self.holders(token).count() as u64)
            .sum()
    }

    /// Where the tokens are, if every ring has exactly one.
    pub(crate) fn places(&self) -> Option<Vec<usize>> {
        (0..self.tokens)
            .map(|token| {
                let mut holders = self.holders(token);
                let first = holders.next()?;
                holders.next().is_none().then_some(first)
            })
            .collect()
    }

    /// Rounds until, for a whole turn, there are m tokens at least d apart that
    /// all move in every round; `None` if that takes more than `limit`.
    fn settle(&mut self, limit: u64) -> Option<u64> {
        let n = self.len();
        let mut since: Option<u64> = None;
        let mut before: Option<Vec<usize>> = None;
        for round in 0..limit {
            let places = self.places();
            let good = places.as_deref().is_some_and(|places| {
                closest(places, n) >= self.separation.hops() as usize
                    && before
                        .as_deref()
                        .is_none_or(|before| moved(before, places, n))
            });
            match (good, since) {
                (true, Some(since)) if round - since >= n as u64 => return Some(since),
                (true, Some(_)) => {}
                (true, None) => since = Some(round),
                (false, _) => since = None,
            }
            // Only a state that is good itself asks the next to have moved on.
            before = places.filter(|_| good);
            self.round();
        }
        None
    }
}

/// The smallest distance between two tokens on a ring of n.
pub(crate) fn closest(places: &[usize], n: usize) -> usize {
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    let around = sorted.first().map(|first| first + n);
    let ahead = sorted.iter().copied().skip(1).chain(around);
    sorted
        .iter()
        .zip(ahead)
        .map(|(here, ahead)| ahead - here)
        .min()
        .unwrap_or(n)
}

/// Whether every token went on by one.
pub(crate) fn moved(before: &[usize], after: &[usize], n: usize) -> bool {
    before
        .iter()
        .zip(after)
        .all(|(before, after)| (before + 1) % n == *after)
}
