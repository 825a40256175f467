//! The exact transient against brute force.

use std::collections::HashMap;

use crate::common::{arc, live_graph, live_graph_in_parts, ring_and_state};
use headway_petri::graph::{EventGraph, TimedArc};
use headway_petri::transient::{self, NoTransient};
use headway_petri::{bound, maxplus, ring};
use headway_testkit::tier::properties;
use proptest::prelude::*;

/// First recurrent state and period of a ring, by remembering every state. Only
/// what the future depends on counts: resting and arriving tokens together.
fn brute_force(ring: &headway_core::Ring, mut state: headway_core::Configuration) -> (u64, u64) {
    let mut seen = HashMap::new();
    for round in 0.. {
        let marking = ring::marking_of(ring, &state).unwrap();
        if let Some(first) = seen.insert(marking, round) {
            return (first, round - first);
        }
        ring.round(&mut state);
    }
    unreachable!()
}

/// The firing times of every transition, straight from the max-plus recursion.
fn daters(graph: &EventGraph, firings: usize) -> Vec<Vec<u64>> {
    let mut times: Vec<Vec<Option<u64>>> = vec![vec![None; firings]; graph.nodes()];
    for k in 0..firings {
        // Places without tokens order the transitions within a firing index.
        for _ in 0..=graph.nodes() {
            for node in 0..graph.nodes() {
                let entering = graph.arcs().iter().filter(|arc| arc.to as usize == node);
                let due: Option<Vec<u64>> = entering
                    .map(|arc| {
                        let Some(before) = k.checked_sub(arc.tokens as usize) else {
                            return Some(arc.time);
                        };
                        times[arc.from as usize][before].map(|time| time + arc.time)
                    })
                    .collect();
                times[node][k] = due.and_then(|due| due.into_iter().max());
            }
        }
    }
    let all = times
        .into_iter()
        .map(|row| row.into_iter().map(Option::unwrap).collect());
    all.collect()
}

proptest! {
    #![proptest_config(properties(300))]

    #[test]
    fn rings_agree_with_brute_force((ring, state) in ring_and_state(9)) {
        prop_assume!(state.tokens() > 0);
        let (net, marking) = ring::to_net(&ring, &state).unwrap();
        let graph = EventGraph::of(&net, &marking).unwrap();
        let found = transient::exact(&graph, u64::MAX).unwrap();
        let (rounds, period) = brute_force(&ring, state);
        prop_assert_eq!(found.rounds, rounds);
        prop_assert_eq!(found.period % period, 0);
        prop_assert_eq!(found.rounds, found.rounds_of(0..graph.nodes()));
    }

    /// With any holding times: the last round whose firings are not those of a
    /// period later, by the max-plus recursion.
    #[test]
    fn graphs_agree_with_their_daters(graph in live_graph(5, 1)) {
        let found = transient::exact(&graph, u64::MAX).unwrap();
        let spectrum = maxplus::spectrum(&graph).unwrap();
        let step = usize::try_from(&spectrum.cyclicity).unwrap();
        // Enough firings to see well past the transient.
        let firings = 4 * step + 60 + (found.rounds as usize + 40)
            * spectrum.cycle_time.denominator as usize / spectrum.cycle_time.numerator.max(1) as usize;
        prop_assume!(firings < 3_000);
        let times = daters(&graph, firings);
        let seen_until = times.iter().map(|row| row[firings - 1]).min().unwrap();
        prop_assert!(seen_until > found.rounds + found.period, "too few firings to tell");
        for (node, row) in times.iter().enumerate() {
            let firings_in = |round| row.iter().filter(|&&time| time == round).count();
            let last = (0..seen_until - found.period)
                .filter(|&round| firings_in(round) != firings_in(round + found.period))
                .max()
                .unwrap_or(0);
            prop_assert_eq!(found.last_irregular[node], last, "transition {}", node);
        }
    }

    #[test]
    fn published_bounds_hold((ring, state) in ring_and_state(7)) {
        prop_assume!(state.tokens() > 0);
        let (net, marking) = ring::to_net(&ring, &state).unwrap();
        let graph = EventGraph::of(&net, &marking).unwrap();
        let spectrum = maxplus::spectrum(&graph).unwrap();
        let found = transient::exact(&graph, u64::MAX).unwrap();
        let critical = found.rounds_of(spectrum.critical_nodes.iter().copied());
        let bounds = bound::published(&graph, &spectrum);
        prop_assert_eq!(bounds.len(), 2);
        for bound in bounds {
            prop_assert!(u128::from(critical) <= bound.rounds, "{} < {critical}", bound.name);
        }
    }

    #[test]
    fn published_bounds_hold_with_any_times(graph in live_graph(6, 1)) {
        let spectrum = maxplus::spectrum(&graph).unwrap();
        let found = transient::exact(&graph, u64::MAX).unwrap();
        let critical = found.rounds_of(spectrum.critical_nodes.iter().copied());
        for bound in bound::published(&graph, &spectrum) {
            prop_assert!(u128::from(critical) <= bound.rounds, "{} < {critical}", bound.name);
        }
    }

    /// Either a place fills up, or the parts settle together.
    #[test]
    fn parts_settle_or_fill_up(graph in live_graph_in_parts()) {
        match transient::exact(&graph, 1_000_000) {
            Ok(found) => {
                // The state recurs: the second transient is over at once.
                prop_assert!(found.period >= 1);
            }
            Err(NoTransient::FillsUp { place, fed, emptied }) => {
                let arc: TimedArc = graph.arc(place);
                prop_assert!(fed < emptied && arc.from != arc.to);
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}

#[test]
fn limits_are_told() {
    let slow = EventGraph::new(1, vec![arc(0, 0, 1000, 1)]).unwrap();
    let error = transient::exact(&slow, 10).unwrap_err();
    assert!(
        matches!(&error, NoTransient::LongPeriod { period, .. } if *period == 1000_u32.into()),
        "{error}"
    );
}
