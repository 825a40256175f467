//! The ring itself: stabilization, waits, distances, visits, flow.

use headway_sim::settings::{DelayProgram, Start};
use strum::VariantNames;

use super::{Axis, AxisKind, Engine, Measure, Model, Problem, Sampler};
use crate::cell::Cell;

mod many;
mod one;
mod row;
mod settle;
mod sheet;
mod words;

use one::RingSampler;

/// Rings of delays and relays, or with a measuring process.
pub(crate) struct RingModel;

const LEGITIMATE_AT: usize = 0;
const LAST_REST: usize = 1;
const RECOVERY: usize = 2;
const WAITS: usize = 3;
const CLOSEST_BEFORE: usize = 4;
const CLOSEST_AFTER: usize = 5;
const VISITS_FEWEST: usize = 6;
const VISITS_MOST: usize = 7;
const WORST: usize = 8;
const OF_WORST: usize = 9;
const AT_WORST: usize = 10;
const FLOW: usize = 11;
const DENSITY: usize = 12;
const WIDEST_GAP: usize = 13;
const TURNS: usize = 14;
const SPEED: usize = 15;

impl Model for RingModel {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn axes(&self) -> &'static [Axis] {
        &[
            Axis {
                name: "processes",
                symbol: "n",
                default: "24",
                kind: AxisKind::Number(1, 1 << 24),
                about: "processes on the ring",
            },
            Axis {
                name: "tokens",
                symbol: "m",
                default: "2",
                kind: AxisKind::Number(1, 1 << 24),
                about: "tokens",
            },
            Axis {
                name: "separation",
                symbol: "d",
                default: "n/m",
                kind: AxisKind::Number(1, 1 << 31),
                about: "hops to keep between successive tokens",
            },
            Axis {
                name: "delays",
                symbol: "k",
                default: "all",
                kind: AxisKind::Mixed,
                about: "which processes delay: all, a number (at random), even:K, every:K, at:0,5,9",
            },
            Axis {
                name: "start",
                symbol: "start",
                default: "random",
                kind: AxisKind::Word(Start::VARIANTS),
                about: "the initial state",
            },
            Axis {
                name: "program",
                symbol: "program",
                default: "fixed",
                kind: AxisKind::Word(DelayProgram::VARIANTS),
                about: "what the delaying processes run",
            },
            Axis {
                name: "fault",
                symbol: "fault",
                default: "none",
                kind: AxisKind::Mixed,
                about: "none, or faults joined by ' + ' such as scramble:25%@0",
            },
        ]
    }

    fn measures(&self) -> &'static [Measure] {
        const MEASURES: [Measure; 16] = [
            Measure::count(
                "legitimate_at",
                "the first round at whose end the state is legitimate",
            ),
            Measure::count("last_rest", "the last round after which a token rests"),
            Measure::count("recovery", "rounds from the last fault to legitimacy"),
            Measure::count("waits", "rounds at rest, of all tokens together"),
            Measure::count(
                "closest_before",
                "the smallest distance before legitimacy, in hops",
            ),
            Measure::count(
                "closest_after",
                "the smallest distance in the turn after legitimacy, in hops",
            ),
            Measure::count(
                "visits_fewest",
                "fewest visits of a process in the turn after legitimacy",
            ),
            Measure::count(
                "visits_most",
                "most visits of a process in the turn after legitimacy",
            ),
            Measure::count(
                "worst_last_rest",
                "the proved worst case of last_rest for this ring",
            ),
            Measure::share("of_worst", "last_rest as a share of the worst case"),
            Measure::share("at_worst", "1 when last_rest is the worst case, else 0"),
            Measure::share("flow", "moves per process and round in the long run"),
            Measure::share("density", "tokens per process"),
            Measure::count("widest_gap", "largest distance from a delay to the next"),
            Measure::share("turns", "legitimate_at as a share of a turn of n rounds"),
            Measure::share("speed", "moves per token and round in the long run"),
        ];
        &MEASURES
    }

    fn sampler(
        &self,
        cell: &Cell,
        wanted: &[usize],
        engine: Engine,
    ) -> Result<Box<dyn Sampler>, Problem> {
        RingSampler::new(cell, wanted, engine).map(many::sampler)
    }
}
