//! The cycle time by bisection on exact fractions (Lawler 1976): slower than
//! Howard's algorithm, and independent of it.
//!
//! A number is below the cycle time exactly if some circuit gains weight when
//! every place weighs time - number·tokens, which Bellman and Ford's rounds
//! detect. Two different ratios of circuits with at most T tokens are at least
//! 1/T² apart, so that an interval shorter than that holds one candidate.

use headway_petri::graph::EventGraph;
use headway_petri::maxplus::{Fraction, NoSpectrum};
use headway_petri::structure;

/// The cycle time of a live event graph, in O(nodes · arcs · log(time · tokens)).
pub(crate) fn cycle_time(graph: &EventGraph) -> Result<Fraction, NoSpectrum> {
    if let Some(circuit) = structure::unmarked_circuit(graph) {
        return Err(NoSpectrum::Dead { circuit });
    }
    let tokens = graph.total_tokens().max(1);
    let time = graph.arcs().iter().map(|arc| arc.time).sum::<u64>();
    let room = u128::from(tokens).checked_pow(2).and_then(|square| {
        let more = 2 * (u128::from(time) + 1) * (graph.nodes() as u128 + 1);
        square.checked_mul(more)?.checked_mul(tokens.into())
    });
    assert!(
        room.is_some_and(|room| room < 1 << 120),
        "too large to bisect"
    );
    let scale = 2 * i128::from(tokens) * i128::from(tokens);
    // λ is in [low, high) / scale; one below 0 says that there is no circuit.
    if !gains(graph, -1, 1) {
        return Err(NoSpectrum::NoCircuit);
    }
    let (mut low, mut high) = (-1, (i128::from(time) + 1) * scale);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if gains(graph, middle, scale) {
            low = middle;
        } else {
            high = middle;
        }
    }
    // λ is in (low, high] / scale, an interval of half the smallest distance.
    Ok(simplest_in(
        low.max(0) as u128,
        high as u128,
        scale as u128,
        tokens,
    ))
}

/// Whether a circuit has time·scale > number·tokens: whether λ > number/scale.
fn gains(graph: &EventGraph, number: i128, scale: i128) -> bool {
    let mut value = vec![0_i128; graph.nodes()];
    for _ in 0..=graph.nodes() {
        let mut changed = false;
        for arc in graph.arcs() {
            let gain = scale * i128::from(arc.time) - number * i128::from(arc.tokens);
            let offer = value[arc.from as usize] + gain;
            if offer > value[arc.to as usize] {
                value[arc.to as usize] = offer;
                changed = true;
            }
        }
        if !changed {
            return false;
        }
    }
    true
}

/// The only fraction in [low, high] / scale whose denominator is at most `limit`.
fn simplest_in(low: u128, high: u128, scale: u128, limit: u64) -> Fraction {
    for denominator in 1..=u128::from(limit) {
        let numerator = high * denominator / scale;
        if numerator * scale >= low * denominator {
            return Fraction::new(numerator as u64, denominator as u64);
        }
    }
    unreachable!("some circuit has a ratio in the interval")
}
