//! Cycle times two ways, certificates that can be refuted, and the spectrum.

use std::collections::BTreeSet;

use crate::common::{arc, bisect, live_graph, live_graph_in_parts};
use headway_core::{Configuration, Ring, Separation};
use headway_petri::graph::EventGraph;
use headway_petri::maxplus::{self, Fraction, NoSpectrum, Refuted, howard};
use headway_petri::{invariant, ring};
use headway_testkit::tier::properties;
use proptest::prelude::*;

fn tight(graph: &EventGraph, spectrum: &maxplus::Spectrum, place: usize) -> bool {
    let arc = graph.arc(place);
    let Fraction {
        numerator,
        denominator,
    } = spectrum.cycle_time;
    let gain = i128::from(denominator * arc.time) - i128::from(numerator * arc.tokens);
    spectrum.potential[arc.from as usize] + gain == spectrum.potential[arc.to as usize]
}

/// Every elementary circuit's ratio, by exhaustion: a third way, for tiny graphs.
fn ratios(graph: &EventGraph) -> Vec<(Fraction, Vec<usize>)> {
    fn walk(
        graph: &EventGraph,
        start: u32,
        way: &mut Vec<usize>,
        met: &mut Vec<u32>,
        found: &mut Vec<(Fraction, Vec<usize>)>,
    ) {
        let here = way.last().map_or(start, |&place| graph.arc(place).to);
        for (place, arc) in graph.arcs().iter().enumerate() {
            if arc.from != here || arc.to < start {
                continue;
            }
            way.push(place);
            if arc.to == start {
                let time = way.iter().map(|&place| graph.arc(place).time).sum();
                let tokens = way.iter().map(|&place| graph.arc(place).tokens).sum();
                found.push((Fraction::new(time, tokens), way.clone()));
            } else if !met.contains(&arc.to) {
                met.push(arc.to);
                walk(graph, start, way, met, found);
                met.pop();
            }
            way.pop();
        }
    }
    let mut found = Vec::new();
    for start in 0..graph.nodes() as u32 {
        walk(graph, start, &mut Vec::new(), &mut vec![start], &mut found);
    }
    found
}

proptest! {
    #![proptest_config(properties(600))]

    /// Circuits, each with a place that none before it has, and every place of a circuit is in one.
    #[test]
    fn generators_are_independent_and_leave_nothing_out(graph in live_graph_in_parts()) {
        let sorted = |mut places: Vec<usize>| {
            places.sort_unstable();
            places
        };
        let circuits: Vec<_> = ratios(&graph).into_iter().map(|(_, places)| sorted(places)).collect();
        let mut met = BTreeSet::new();
        for found in invariant::generators(&graph) {
            let tokens: u64 = found.places.iter().map(|&place| graph.arc(place).tokens).sum();
            prop_assert_eq!(found.tokens, tokens);
            let before = met.len();
            met.extend(&found.places);
            prop_assert!(met.len() > before, "{:?}", found.places);
            prop_assert!(circuits.contains(&sorted(found.places)));
        }
        let all: BTreeSet<usize> = circuits.into_iter().flatten().collect();
        prop_assert_eq!(met, all);
    }

    #[test]
    fn howard_equals_bisection(graph in live_graph(12, 0)) {
        let solution = howard::solve(&graph).unwrap();
        solution.certificate.check(&graph).unwrap();
        prop_assert_eq!(solution.certificate.cycle_time, bisect::cycle_time(&graph).unwrap());
    }

    #[test]
    fn howard_equals_bisection_in_parts(graph in live_graph_in_parts()) {
        let spectrum = maxplus::spectrum(&graph).unwrap();
        spectrum.certificate().check(&graph).unwrap();
        prop_assert_eq!(spectrum.cycle_time, bisect::cycle_time(&graph).unwrap());
        eigenvector_holds(&graph, &spectrum)?;
    }

    #[test]
    fn the_critical_part_is_all_circuits_of_the_best_ratio(graph in live_graph(5, 0)) {
        let spectrum = maxplus::spectrum(&graph).unwrap();
        let circuits = ratios(&graph);
        let best = circuits.iter().map(|(ratio, _)| *ratio).max().unwrap();
        prop_assert_eq!(spectrum.cycle_time, best);
        let mut arcs: Vec<usize> = circuits.iter().filter(|(ratio, _)| *ratio == best)
            .flat_map(|(_, circuit)| circuit.clone()).collect();
        arcs.sort_unstable();
        arcs.dedup();
        prop_assert_eq!(&spectrum.critical_arcs, &arcs);
        prop_assert!(arcs.iter().all(|&place| tight(&graph, &spectrum, place)));
        let mut nodes: Vec<usize> = arcs.iter().map(|&p| graph.arc(p).to as usize).collect();
        nodes.sort_unstable();
        nodes.dedup();
        prop_assert_eq!(&spectrum.critical_nodes, &nodes);
        eigenvector_holds(&graph, &spectrum)?;
    }

    /// Each part of a certificate matters: a changed one is refused.
    #[test]
    fn a_false_certificate_is_refuted(graph in live_graph(8, 1), node in any::<prop::sample::Index>()) {
        let good = maxplus::spectrum(&graph).unwrap().certificate();
        let mut low = good.clone();
        low.cycle_time = Fraction::new(good.cycle_time.numerator * 2, good.cycle_time.denominator * 3);
        prop_assert!(low.check(&graph).is_err(), "a lower cycle time");
        let mut high = good.clone();
        high.cycle_time = Fraction::new(good.cycle_time.numerator * 3, good.cycle_time.denominator * 2);
        let refused = matches!(high.check(&graph), Err(Refuted::Ratio { .. }));
        prop_assert!(refused, "a higher one");
        // Every critical node is pinned by its critical neighbours.
        let spectrum = maxplus::spectrum(&graph).unwrap();
        let pinned = spectrum.critical_nodes[node.index(spectrum.critical_nodes.len())];
        if spectrum.critical_circuit.len() > 1 {
            let mut bent = good.clone();
            bent.potential[pinned] += 1_000_000;
            let alone = graph.arcs().iter().enumerate()
                .filter(|&(place, _)| spectrum.critical_arcs.contains(&place))
                .all(|(_, arc)| (arc.from as usize == pinned) == (arc.to as usize == pinned));
            if !alone {
                let refused = matches!(bent.check(&graph), Err(Refuted::Potential { .. }));
                prop_assert!(refused);
            }
        }
        let mut open = good.clone();
        open.circuit.push(good.circuit[0]);
        prop_assert!(good.circuit.len() == 1 || open.check(&graph).is_err());
        let mut short = good;
        short.potential.pop();
        prop_assert_eq!(short.check(&graph), Err(Refuted::Shape));
    }
}

/// x(j) = max over entering places of x(i) + time - λ·tokens, nothing included.
fn eigenvector_holds(
    graph: &EventGraph,
    spectrum: &maxplus::Spectrum,
) -> Result<(), TestCaseError> {
    let Fraction {
        numerator,
        denominator,
    } = spectrum.cycle_time;
    let mut image: Vec<Option<i128>> = vec![None; graph.nodes()];
    for arc in graph.arcs() {
        let gain = i128::from(denominator * arc.time) - i128::from(numerator * arc.tokens);
        let offer = spectrum.eigenvector[arc.from as usize].map(|value| value + gain);
        image[arc.to as usize] = image[arc.to as usize].max(offer);
    }
    prop_assert_eq!(&image, &spectrum.eigenvector);
    prop_assert!(spectrum.eigenvector.iter().any(Option::is_some));
    Ok(())
}

/// λ = max(n/m, d) on rings, whatever the state.
#[test]
fn rings_have_the_cycle_time_of_the_theory() {
    for (processes, tokens, hops, expected) in [
        (1000, 100, 6, "10/1"), // a solver that stops after 100 iterations says 6
        (12, 4, 3, "3/1"),
        (12, 5, 3, "3/1"),
        (13, 4, 3, "13/4"),
        (7, 1, 2, "7/1"),
        (5, 5, 4, "4/1"),
    ] {
        for delays in [1, processes / 2, processes] {
            let ring = Ring::with_delays(
                Separation::new(hops).unwrap(),
                processes,
                (0..delays).map(|k| k * processes / delays),
            )
            .unwrap();
            for spread in [false, true] {
                let mut state = Configuration::piled(&ring, if spread { 0 } else { tokens }, 0);
                if spread {
                    for k in 0..tokens as usize {
                        state.processes[k * processes / tokens as usize].resting = 1;
                    }
                }
                let (net, marking) = ring::to_net(&ring, &state).unwrap();
                let graph = EventGraph::of(&net, &marking).unwrap();
                let spectrum = maxplus::spectrum(&graph).unwrap();
                assert_eq!(spectrum.cycle_time.to_string(), expected);
                spectrum.certificate().check(&graph).unwrap();
            }
        }
    }
}

/// Beyond 64 bits in between: the wide path gives the same as the narrow one.
#[test]
fn huge_times_and_tokens_are_exact() {
    let (big, count) = (1 << 60, (1 << 60) - 1);
    let graph = EventGraph::new(
        2,
        vec![arc(0, 1, big, 1), arc(1, 0, 1, count), arc(1, 1, 1, 1)],
    );
    let graph = graph.unwrap();
    let spectrum = maxplus::spectrum(&graph).unwrap();
    assert_eq!(spectrum.cycle_time, Fraction::new(big + 1, count + 1));
    spectrum.certificate().check(&graph).unwrap();
}

#[test]
fn dead_and_open_graphs_have_no_cycle_time() {
    let arc = |from, to, tokens| arc(from, to, 1, tokens);
    let dead = EventGraph::new(2, vec![arc(0, 1, 0), arc(1, 0, 0)]).unwrap();
    let answer = maxplus::spectrum(&dead);
    assert_eq!(
        answer,
        Err(NoSpectrum::Dead {
            circuit: vec![0, 1]
        })
    );
    let open = EventGraph::new(2, vec![arc(0, 1, 3)]).unwrap();
    assert_eq!(maxplus::spectrum(&open), Err(NoSpectrum::NoCircuit));
    assert_eq!(bisect::cycle_time(&open), Err(NoSpectrum::NoCircuit));
}
