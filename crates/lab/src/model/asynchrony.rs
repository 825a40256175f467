//! Delay/relay driven by a phase clock on an asynchronous ring.
//!
//! The ring itself is [`headway_sim::asynchronous`]; here it is sampled.

use headway_core::Separation;
use headway_sim::asynchronous::{AsynchronousRing, Schedule, Scheduler, promised};
use strum::VariantNames;

use super::{Axis, AxisKind, BySeed, Engine, Measure, Model, Problem, Sampler, share};
use crate::cell::Cell;

/// The ring under an asynchronous scheduler.
pub(crate) struct AsynchronyModel;

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
                kind: AxisKind::Word(Schedule::VARIANTS),
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
            schedule: cell.parsed("schedule")?,
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

impl BySeed for AsynchronySampler {
    fn sample(&self, seed: u64, out: &mut [Option<i64>]) -> Result<(), String> {
        let mut ring = AsynchronousRing::new(self.processes, self.separation, self.pace)
            .map_err(|error| error.to_string())?;
        let mut scheduler = Scheduler::new(self.schedule, seed);
        let n = self.processes as u64;
        let activations = 60 * n * (self.pace + 1);
        for _ in 0..activations {
            scheduler.activate(&mut ring);
        }
        let tokens = ring.tokens().len() as u64;
        for (place, &wanted) in out.iter_mut().zip(&self.wanted) {
            *place = match wanted {
                TRUE_DISTANCE => Some(ring.closest_ever() as i64),
                PROMISED => Some(promised(self.separation, self.pace) as i64),
                SPEED => share(ring.hops() * n, activations * tokens),
                LOGICAL_DISTANCE => Some(ring.logical_closest() as i64),
                _ => None,
            };
        }
        Ok(())
    }
}
