//! Delay/relay driven by a phase clock on an asynchronous ring.
//!
//! A process may tick when neither neighbour is behind it, and executes a round
//! every p-th tick, reading the state that its predecessor published for the round
//! before. Logical rounds are therefore exactly the synchronous ones; in real time
//! a token can run ahead of its turn. The scheduler activates one process at a
//! time. A token in transit counts as still at its last holder.

use headway_core::program::delay;
use headway_core::{Process, Program, Ring, Separation};
use headway_sim::seed::{Purpose, Random};
use headway_sim::start;

use super::{Axis, AxisKind, BySeed, Engine, Measure, Model, Problem, Sampler, share};
use crate::cell::Cell;

/// The ring under an asynchronous scheduler.
pub struct AsynchronyModel;

const TRUE_DISTANCE: usize = 0;
const PROMISED: usize = 1;
const SPEED: usize = 2;
const LOGICAL_DISTANCE: usize = 3;

impl Model for AsynchronyModel {
    fn name(&self) -> &'static str {
        "asynchrony"
    }

    fn axes(&self) -> &'static [Axis] {
        &[
            Axis {
                name: "gap",
                symbol: "g",
                default: "4",
                kind: AxisKind::Number(1, 1 << 16),
                about: "the separation set in the protocol; there are n/g tokens",
            },
            Axis {
                name: "pace",
                symbol: "p",
                default: "1",
                kind: AxisKind::Number(1, 1 << 16),
                about: "ticks of the phase clock for a round",
            },
            Axis {
                name: "processes",
                symbol: "n",
                default: "10*g",
                kind: AxisKind::Number(3, 1 << 16),
                about: "processes on the ring",
            },
            Axis {
                name: "schedule",
                symbol: "schedule",
                default: "random",
                kind: AxisKind::Word(&["random", "bursts", "straggler"]),
                about: "who is activated: anyone; an arc at a time; anyone, one process rarely",
            },
        ]
    }

    fn measures(&self) -> &'static [Measure] {
        const MEASURES: [Measure; 4] = [
            Measure::count(
                "true_distance",
                "the smallest distance at any time, in hops",
            ),
            Measure::count("promised", "g - ⌊(g + p)/(p + 1)⌋, the distance promised"),
            Measure::share("speed", "hops of a token per activation of a process"),
            Measure::count(
                "logical_distance",
                "the smallest distance in logical rounds",
            ),
        ];
        &MEASURES
    }

    fn sampler(
        &self,
        cell: &Cell,
        wanted: &[usize],
        _: Engine,
    ) -> Result<Box<dyn Sampler>, Problem> {
        let gap = cell.number("gap");
        if gap > cell.number("processes") {
            return Err(Problem::new(
                "gap",
                "no token fits: the gap is larger than the ring",
            ));
        }
        let separation =
            Separation::new(gap as u32).ok_or_else(|| Problem::new("gap", "expected 1 or more"))?;
        Ok(Box::new(AsynchronySampler {
            processes: cell.number("processes") as usize,
            separation,
            pace: cell.number("pace") as u64,
            schedule: match cell.text("schedule").as_str() {
                "bursts" => Schedule::Bursts,
                "straggler" => Schedule::Straggler,
                _ => Schedule::Random,
            },
            wanted: wanted.to_vec(),
        }))
    }
}

struct AsynchronySampler {
    processes: usize,
    separation: Separation,
    pace: u64,
    schedule: Schedule,
    wanted: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Schedule {
    Random,
    Bursts,
    Straggler,
}

impl BySeed for AsynchronySampler {
    fn sample(&self, seed: u64, out: &mut [Option<i64>]) -> Result<(), String> {
        let mut ring = AsynchronousRing::new(self)?;
        let mut random = Random::new(seed, Purpose::Other(0));
        let n = self.processes;
        let activations = 60 * n as u64 * (self.pace + 1);
        let mut arc = (0, n);
        for activation in 0..activations {
            let chosen = match self.schedule {
                Schedule::Random => random.index(n),
                Schedule::Straggler => loop {
                    let chosen = random.index(n);
                    if chosen != 0 || random.chance(1, 10) {
                        break chosen;
                    }
                },
                Schedule::Bursts => {
                    // An arc runs as far ahead as its ends let it.
                    if activation % (4 * n as u64 * self.pace) == 0 {
                        arc = (random.index(n), 1 + random.index(n));
                    }
                    (arc.0 + random.index(arc.1)) % n
                }
            };
            ring.activate(chosen);
        }
        let g = u64::from(self.separation.hops());
        let promised = g - (g + self.pace) / (self.pace + 1);
        let tokens = ring.tokens.len() as u64;
        for (place, &wanted) in out.iter_mut().zip(&self.wanted) {
            *place = match wanted {
                TRUE_DISTANCE => Some(ring.closest as i64),
                PROMISED => Some(promised as i64),
                SPEED => share(ring.hops * n as u64, activations * tokens),
                LOGICAL_DISTANCE => Some(ring.logical_closest() as i64),
                _ => None,
            };
        }
        Ok(())
    }
}

struct AsynchronousRing {
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
    fn new(sampler: &AsynchronySampler) -> Result<AsynchronousRing, String> {
        let n = sampler.processes;
        let programs = vec![Program::Delay; n];
        let ring = Ring::new(sampler.separation, programs).map_err(|error| error.to_string())?;
        let start = start::spaced(&ring, (n as u32) / sampler.separation.hops());
        let places = start.processes.iter().enumerate().rev();
        let tokens: Vec<u64> = places
            .filter(|(_, process)| process.queued > 0)
            .map(|(index, _)| index as u64)
            .collect();
        let mut ring = AsynchronousRing {
            top: sampler.separation.top(),
            pace: sampler.pace,
            published: start.processes.iter().map(|p| [p.queued; 2]).collect(),
            states: start.processes,
            ticks: vec![0; n],
            hop_round: vec![0; tokens.len()],
            tokens,
            hops: 0,
            closest: n as u64,
        };
        ring.closest = ring.distances().min().unwrap_or(0);
        Ok(ring)
    }

    /// The scheduler gives a process a step.
    fn activate(&mut self, index: usize) {
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
        self.closest = self.closest.min(self.distances().min().unwrap_or(0));
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

    /// The distances once every token has been taken on to the same round.
    fn logical_closest(&self) -> u64 {
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
