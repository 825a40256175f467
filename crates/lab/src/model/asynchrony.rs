//! Delay/relay driven by a phase clock on an asynchronous ring.
//!
//! The ring itself is [`headway_sim::asynchronous`]; here it is sampled.

use headway_core::Separation;
use headway_sim::asynchronous::{AsynchronousRing, Schedule, Scheduler, promised};
use strum::VariantNames;

use super::{CellError, Engine, Model, NewSampler, Sampled, Sampler, axes, measures, share};
use crate::cell::Cell;

measures! {
    enum Measured {
        TrueDistance count "true_distance" "the smallest distance at any time, in hops"
        Promised count "promised" "g - ⌊(g + p)/(p + 1)⌋, the distance promised"
        Speed share "speed" "hops of a token per activation of a process"
        LogicalDistance count "logical_distance" "the smallest distance in logical rounds"
    }
}

/// The ring under an asynchronous scheduler.
pub(super) const MODEL: Model = Model {
    name: "asynchrony",
    axes: axes! {
        "gap", "g", "4", Number(1, 1 << 16),
            "the separation set in the protocol; there are n/g tokens";
        "pace", "p", "1", Number(1, 1 << 16), "ticks of the phase clock for a round";
        "processes", "n", "10*g", Number(3, 1 << 16), "processes on the ring";
        "schedule", "schedule", "random", Word(Schedule::VARIANTS),
            "who is activated: anyone; an arc at a time; anyone, one process rarely";
    },
    measures: Measured::TABLE,
    sampler,
};

fn sampler(cell: &Cell, wanted: &[usize], _: Engine) -> NewSampler {
    let gap = cell.number("gap");
    if gap > cell.number("processes") {
        return Err(CellError::new(
            "gap",
            "no token fits: the gap is larger than the ring",
        ));
    }
    let separation =
        Separation::new(gap as u32).ok_or_else(|| CellError::new("gap", "expected 1 or more"))?;
    Ok(Box::new(AsynchronySampler {
        processes: cell.number("processes") as usize,
        separation,
        pace: cell.number("pace") as u64,
        schedule: cell.parsed("schedule")?,
        wanted: Measured::at(wanted),
    }))
}

struct AsynchronySampler {
    processes: usize,
    separation: Separation,
    pace: u64,
    schedule: Schedule,
    wanted: Vec<Measured>,
}

impl Sampler for AsynchronySampler {
    fn sample(&self, seed: u64, out: &mut [Option<i64>]) -> Sampled {
        let mut ring = AsynchronousRing::new(self.processes, self.separation, self.pace)?;
        let mut scheduler = Scheduler::new(self.schedule, seed);
        let n = self.processes as u64;
        let activations = 60 * n * (self.pace + 1);
        for _ in 0..activations {
            scheduler.activate(&mut ring);
        }
        let tokens = ring.tokens().len() as u64;
        for (place, &wanted) in out.iter_mut().zip(&self.wanted) {
            *place = match wanted {
                Measured::TrueDistance => Some(ring.closest_ever() as i64),
                Measured::Promised => Some(promised(self.separation, self.pace) as i64),
                Measured::Speed => share(ring.hops() * n, activations * tokens),
                Measured::LogicalDistance => Some(ring.logical_closest() as i64),
            };
        }
        Ok(())
    }
}
