//! Random nets and rings for the tests of this crate.

pub(crate) mod bisect;

use headway_core::{Configuration, Process, Program, Ring, Separation};
use headway_petri::graph::{EventGraph, TimedArc};
use headway_petri::net::{Adjacency, Direction, Marking, Net};
use proptest::prelude::*;

/// A ring, delays and relays mixed, in any state.
pub(crate) fn ring_and_state(largest: usize) -> impl Strategy<Value = (Ring, Configuration)> {
    (1..=largest, 1_u32..6).prop_flat_map(|(processes, hops)| {
        let program = prop_oneof![Just(Program::Delay), Just(Program::Relay)];
        let local = (0_u32..3, 0_u32..3, 0..hops as i32, 0_u8..4);
        (
            prop::collection::vec(program, processes),
            prop::collection::vec(local, processes),
        )
            .prop_map(move |(programs, locals)| {
                let separation = Separation::new(hops).unwrap();
                let ring = Ring::new(separation, programs).unwrap();
                let mut state = Configuration::empty(&ring, 1, 1);
                for (process, (queued, resting, counter, empty)) in locals.into_iter().enumerate() {
                    let delays = ring.programs()[process].delays();
                    state.processes[process] = Process {
                        queued: if empty > 0 { 0 } else { queued },
                        resting: if empty > 1 { 0 } else { resting },
                        counter: if delays { counter } else { 0 },
                    };
                }
                (ring, state)
            })
    })
}

/// A net of so many places p0, p1, … and transitions t0, t1, …. An arc is of a place and a
/// transition, which it leads into or not, with a weight.
pub(crate) fn net_of(
    places: usize,
    transitions: usize,
    arcs: impl IntoIterator<Item = (usize, usize, bool, u64)>,
) -> Net {
    let mut net = Net::new("any");
    for place in 0..places {
        net.add_place(&format!("p{place}"), 1);
    }
    for transition in 0..transitions {
        net.add_transition(&format!("t{transition}"));
    }
    for (place, transition, into, weight) in arcs {
        net.add_arc(place, transition, direction(into), weight);
    }
    net
}

pub(crate) fn direction(into_transition: bool) -> Direction {
    match into_transition {
        true => Direction::PlaceToTransition,
        false => Direction::TransitionToPlace,
    }
}

/// A circle of places: p0, t0, p1 and so on.
pub(crate) fn circle(places: usize) -> Net {
    let on = |at| [(at, at, true, 1), ((at + 1) % places, at, false, 1)];
    net_of(places, places, (0..places).flat_map(on))
}

pub(crate) fn arc(from: u32, to: u32, time: u64, tokens: u64) -> TimedArc {
    TimedArc {
        from,
        to,
        time,
        tokens,
    }
}

/// A live, strongly connected event graph with some chords; times from
/// `least_time` on.
pub(crate) fn live_graph(largest: usize, least_time: u64) -> impl Strategy<Value = EventGraph> {
    (1..=largest).prop_flat_map(move |nodes| {
        let time = least_time..9;
        let spine = prop::collection::vec((time.clone(), 0_u64..3), nodes);
        let chord = (0..nodes as u32, 0..nodes as u32, time, 0_u64..4);
        (spine, prop::collection::vec(chord, 0..2 * nodes)).prop_map(move |(spine, chords)| {
            let mut arcs = Vec::new();
            for (node, (time, tokens)) in spine.into_iter().enumerate() {
                let to = ((node + 1) % nodes) as u32;
                // Arcs that do not lead forward carry a token: no empty circuit.
                let tokens = tokens + u64::from(to <= node as u32);
                arcs.push(arc(node as u32, to, time, tokens));
            }
            for (from, to, time, tokens) in chords {
                let tokens = tokens + u64::from(to <= from);
                arcs.push(arc(from, to, time, tokens));
            }
            EventGraph::new(nodes, arcs).unwrap()
        })
    })
}

/// A live event graph of several components in a row.
pub(crate) fn live_graph_in_parts() -> impl Strategy<Value = EventGraph> {
    let part = live_graph(4, 1);
    let link = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        1_u64..5,
        0_u64..3,
    );
    (
        prop::collection::vec(part, 1..4),
        prop::collection::vec(link, 0..4),
    )
        .prop_map(|(parts, links)| {
            let mut arcs = Vec::new();
            let mut first = 0;
            let mut starts = Vec::new();
            for part in &parts {
                starts.push(first);
                arcs.extend(part.arcs().iter().map(|arc| TimedArc {
                    from: arc.from + first,
                    to: arc.to + first,
                    ..*arc
                }));
                first += part.nodes() as u32;
            }
            for (from, to, time, tokens) in links {
                let (mut from, mut to) = (from.index(first as usize), to.index(first as usize));
                if from > to {
                    std::mem::swap(&mut from, &mut to);
                }
                // Within one part it might close an empty circuit: skip it.
                let part = |node: usize| starts.iter().rposition(|&s| s as usize <= node);
                if part(from) != part(to) {
                    arcs.push(arc(from as u32, to as u32, time, tokens));
                }
            }
            EventGraph::new(first as usize, arcs).unwrap()
        })
}

/// A maximal step, written down naively: every transition in turn takes all it can of the
/// tokens that were there, and what they put down comes after.
pub(crate) fn maximal_step(adjacency: &Adjacency, marking: &mut Marking) -> Vec<(u32, u64)> {
    let mut fired = Vec::new();
    for transition in 0..adjacency.transitions() {
        let inputs = adjacency.inputs(transition);
        let can = |&(place, weight): &(u32, u64)| marking.0[place as usize] / weight;
        let times = inputs.iter().map(can).min().unwrap_or(0);
        for &(place, weight) in inputs {
            marking.0[place as usize] -= weight * times;
        }
        if times > 0 {
            fired.push((transition as u32, times));
        }
    }
    for &(transition, times) in &fired {
        for &(place, weight) in adjacency.outputs(transition as usize) {
            marking.0[place as usize] += weight * times;
        }
    }
    fired
}
