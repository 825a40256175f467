//! The ring without lock-step: delay/relay driven by a phase clock.
//!
//! A process may tick when neither neighbour is behind it, and executes a round
//! every p-th tick, reading the state that its predecessor published for the round
//! before. Logical rounds are therefore exactly the synchronous ones; in real time
//! a token can run ahead of its turn. The scheduler activates one process at a
//! time. A token in transit counts as still at its last holder.

use headway_core::bound::true_separation;
use headway_core::program::delay;
use headway_core::{Process, Program, Ring, RingError, Separation};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};

use crate::seed::{Purpose, Random};
use crate::start;

/// Who is activated.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Schedule {
    /// Anyone.
    #[default]
    Random,
    /// An arc at a time, which runs as far ahead as its ends let it.
    Bursts,
    /// Anyone, but process 0 rarely.
    Straggler,
}

/// The true distance that is kept whatever the schedule, when the protocol is set
/// to keep a separation and executes a round every p-th tick.
pub fn promised(separation: Separation, pace: u64) -> u64 {
    true_separation(separation.hops().into(), pace)
}

/// Gives out activations.
#[derive(Debug)]
pub struct Scheduler {
    schedule: Schedule,
    random: Random,
    activations: u64,
    /// First process and length of the arc that runs.
    arc: (usize, usize),
}

impl Scheduler {
    /// A schedule from a seed.
    pub fn new(schedule: Schedule, seed: u64) -> Scheduler {
        Scheduler {
            schedule,
            random: Random::new(seed, Purpose::Other(0)),
            activations: 0,
            arc: (0, 0),
        }
    }

    /// Activates one process.
    pub fn activate(&mut self, ring: &mut AsynchronousRing) {
        let (n, random) = (ring.ticks.len(), &mut self.random);
        let chosen = match self.schedule {
            Schedule::Random => random.index(n),
            Schedule::Straggler => loop {
                let chosen = random.index(n);
                if chosen != 0 || random.chance(1, 10) {
                    break chosen;
                }
            },
            Schedule::Bursts => {
                if self.activations.is_multiple_of(4 * n as u64 * ring.pace) {
                    self.arc = (random.index(n), 1 + random.index(n));
                }
                (self.arc.0 + random.index(self.arc.1)) % n
            }
        };
        self.activations += 1;
        ring.activate(chosen);
    }
}

/// A ring of delays on phase clocks, with as many tokens as fit, from a legitimate
/// state.
///
/// ```
/// use headway_core::Separation;
/// use headway_sim::asynchronous::{AsynchronousRing, Schedule, Scheduler, promised};
/// let g = Separation::new(6).unwrap();
/// let mut ring = AsynchronousRing::new(24, g, 1).unwrap();
/// let mut scheduler = Scheduler::new(Schedule::Random, 2009);
/// for _ in 0..10_000 {
///     scheduler.activate(&mut ring);
/// }
/// assert!(ring.closest_ever() >= promised(g, 1));
/// ```
#[derive(Clone, Debug)]
pub struct AsynchronousRing {
    top: i32,
    pace: u64,
    states: Vec<Process>,
    /// Queues after the latest round and the one before, by the round's parity.
    published: Vec<[u32; 2]>,
    ticks: Vec<u64>,
    /// Where tokens are, lifted, from the front.
    tokens: Vec<u64>,
    /// In which round each token's last hop was.
    hop_round: Vec<u64>,
    hops: u64,
    closest: u64,
}

impl AsynchronousRing {
    /// n processes, ⌊n/g⌋ tokens, a round every `pace` ticks.
    ///
    /// # Errors
    ///
    /// Without processes.
    pub fn new(
        processes: usize,
        separation: Separation,
        pace: u64,
    ) -> Result<AsynchronousRing, RingError> {
        let fit = processes as u32 / separation.hops();
        AsynchronousRing::with_tokens(processes, fit, separation, pace)
    }

    /// The same with another number of tokens, which have to fit.
    ///
    /// # Errors
    ///
    /// Without processes.
    pub fn with_tokens(
        processes: usize,
        tokens: u32,
        separation: Separation,
        pace: u64,
    ) -> Result<AsynchronousRing, RingError> {
        let ring = Ring::new(separation, vec![Program::Delay; processes])?;
        let start = start::spaced(&ring, tokens);
        let places = start.processes.iter().enumerate().rev();
        let tokens: Vec<u64> = places
            .filter(|(_, process)| process.queued > 0)
            .map(|(index, _)| index as u64)
            .collect();
        let mut ring = AsynchronousRing {
            top: separation.top(),
            pace: pace.max(1),
            published: start.processes.iter().map(|p| [p.queued; 2]).collect(),
            states: start.processes,
            ticks: vec![0; processes],
            hop_round: vec![0; tokens.len()],
            tokens,
            hops: 0,
            closest: processes as u64,
        };
        ring.closest = ring.closest();
        Ok(ring)
    }

    /// Ticks of every process so far.
    pub fn ticks(&self) -> &[u64] {
        &self.ticks
    }

    /// Where every token is, lifted: the process, plus n for every turn. From the
    /// front.
    pub fn tokens(&self) -> &[u64] {
        &self.tokens
    }

    /// Hops of all tokens so far.
    pub fn hops(&self) -> u64 {
        self.hops
    }

    /// The smallest true distance now; 0 without tokens.
    pub fn closest(&self) -> u64 {
        self.distances().min().unwrap_or(0)
    }

    /// The smallest true distance so far.
    pub fn closest_ever(&self) -> u64 {
        self.closest
    }

    /// The round in which a process takes the token that is there for it already, if any:
    /// this is when to work, since that round passes the token on.
    pub fn offered(&self, index: usize) -> Option<u64> {
        let n = self.ticks.len();
        let (before, rounds) = ((index + n - 1) % n, self.ticks[index] / self.pace);
        let told = self.ticks[before] >= rounds * self.pace;
        (told && self.published[before][(rounds % 2) as usize] > 0).then_some(rounds + 1)
    }

    /// Whether the next tick of a process executes a round.
    pub fn before_round(&self, index: usize) -> bool {
        (self.ticks[index] + 1).is_multiple_of(self.pace)
    }

    /// The scheduler gives a process a step.
    pub fn activate(&mut self, index: usize) {
        let n = self.ticks.len();
        let own = self.ticks[index];
        let before = (index + n - 1) % n;
        if self.ticks[before] < own || self.ticks[(index + 1) % n] < own {
            return;
        }
        self.ticks[index] += 1;
        if !self.ticks[index].is_multiple_of(self.pace) {
            return;
        }
        let round = self.ticks[index] / self.pace;
        let arriving = self.published[before][((round - 1) % 2) as usize];
        self.states[index] = delay::round(self.states[index], arriving, self.top);
        self.published[index][(round % 2) as usize] = self.states[index].queued;
        if arriving > 0 {
            self.hop(before as u64, round);
        }
    }

    /// The token that has waited longest at `from` is taken by its successor.
    fn hop(&mut self, from: u64, round: u64) {
        let n = self.ticks.len() as u64;
        let here = (0..self.tokens.len()).filter(|&token| self.tokens[token] % n == from);
        let Some(first) = here.min_by_key(|&token| self.hop_round[token]) else {
            return;
        };
        self.tokens[first] += 1;
        self.hop_round[first] = round;
        self.hops += 1;
        self.closest = self.closest.min(self.closest());
    }

    fn distances(&self) -> impl Iterator<Item = u64> + '_ {
        let n = self.ticks.len() as u64;
        let last = self.tokens.last().map(|last| last + n);
        let ahead = last.into_iter().chain(self.tokens.iter().copied());
        // Overtaking would show as a distance of 0.
        ahead
            .zip(&self.tokens)
            .map(|(ahead, token)| ahead.saturating_sub(*token))
    }

    /// The smallest distance once every token has been taken on to the same round.
    pub fn logical_closest(&self) -> u64 {
        let n = self.ticks.len() as u64;
        let latest = self.hop_round.iter().max().copied().unwrap_or(0);
        let level: Vec<u64> = self
            .tokens
            .iter()
            .zip(&self.hop_round)
            .map(|(token, round)| token + (latest - round))
            .collect();
        let last = level.last().map(|last| last + n);
        let ahead = last.into_iter().chain(level.iter().copied());
        let distances = ahead.zip(&level).map(|(ahead, token)| ahead - token);
        distances.min().unwrap_or(0)
    }
}
