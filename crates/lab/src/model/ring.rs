//! The ring itself: stabilization, waits, distances, visits, flow.

use headway_sim::settings::{RingProgram, Start};
use strum::VariantNames;

use super::{Engine, Model, NewSampler, axes, measures};
use crate::cell::Cell;

mod sampler;

use sampler::RingSampler;

measures! {
    enum Measured {
        LegitimateAt count "legitimate_at" "the first round at whose end the state is legitimate"
        LastRest count "last_rest" "the last round after which a token rests"
        Recovery count "recovery" "rounds from the last fault to legitimacy"
        Waits count "waits" "rounds at rest, of all tokens together"
        ClosestBefore count "closest_before" "the smallest distance before legitimacy, in hops"
        ClosestAfter count "closest_after"
            "the smallest distance in the turn after legitimacy, in hops"
        VisitsFewest count "visits_fewest" "fewest visits of a process in the turn after legitimacy"
        VisitsMost count "visits_most" "most visits of a process in the turn after legitimacy"
        Worst count "worst_last_rest" "the proved worst case of last_rest for this ring"
        OfWorst share "of_worst" "last_rest as a share of the worst case"
        AtWorst share "at_worst" "1 when last_rest is the worst case, else 0"
        Flow share "flow" "moves per process and round in the long run"
        Density share "density" "tokens per process"
        WidestGap count "widest_gap" "largest distance from a delay to the next"
        Turns share "turns" "legitimate_at as a share of a turn of n rounds"
        Speed share "speed" "moves per token and round in the long run"
        Settled share "settled" "1 when it became legitimate before it was given up, else 0"
        PerSquare share "per_square" "legitimate_at as a share of n² rounds"
        AllBelieve count "all_believe_at" "the round since which every measuring process believes in n/m"
        Least count "least_believed" "the smallest separation believed in after round `look`"
        Most count "most_believed" "the largest separation believed in after round `look`"
    }
}

/// Rings of delays and relays, or with a measuring process.
pub(super) const MODEL: Model = Model {
    name: "ring",
    axes: axes! {
        "processes", "n", "24", Number(1, 1 << 24), "processes on the ring";
        "tokens", "m", "2", Number(1, 1 << 24), "tokens";
        "separation", "d", "n/m", Number(1, 1 << 31), "hops to keep between successive tokens";
        "delays", "k", "all", Mixed,
            "which processes delay: all, a number (at random), even:K, every:K, at:0,5,9";
        "start", "start", "random", Word(Start::VARIANTS), "the initial state";
        "program", "program", "fixed", Word(RingProgram::LOCK_STEP),
            "what the delaying processes run";
        "limit", "limit", "2*n", Number(1, 1 << 31), "where measuring clocks saturate, in rounds";
        "horizon", "horizon", "proved", Mixed,
            "turns in an epoch of shortest-lap-epochs: a number, or as many as are proved to be enough";
        "look", "look", "0", Number(0, 1 << 40), "the round after which beliefs are looked at";
        "fault", "fault", "none", Mixed,
            "none, or faults joined by ' + ' such as scramble:25%@0";
    },
    measures: Measured::TABLE,
    sampler,
};

fn sampler(cell: &Cell, wanted: &[usize], engine: Engine) -> NewSampler {
    let sampler = RingSampler::new(cell, Measured::at(wanted), engine)?;
    Ok(Box::new(sampler))
}
