//! Places in series as one.
//!
//! A transition with one place before it and one after it only passes tokens on:
//! the two places count as one, with their times and tokens together. Minor rings
//! become loops that way, and the graph of a ring shrinks by a factor of d, with
//! the same circuits, ratios and potentials at the transitions that are left.

use super::{Certificate, NoSpectrum};
use crate::graph::{EventGraph, TimedArc};

pub(super) struct Contracted {
    pub(super) graph: EventGraph,
    /// The node that each node was.
    kept: Vec<u32>,
    /// The places that each arc stands for are `places[starts[k]..starts[k+1]]`.
    starts: Vec<u32>,
    places: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Contracted {
    pub(super) fn of(graph: &EventGraph) -> Contracted {
        let passing = Passing::of(graph);
        let mut number = vec![NONE; graph.nodes()];
        let mut kept = Vec::new();
        for (node, (number, next)) in number.iter_mut().zip(&passing.next).enumerate() {
            if *next == NONE {
                *number = kept.len() as u32;
                kept.push(node as u32);
            }
        }
        let mut whole = Contracted {
            graph: EventGraph::new(0, Vec::new()).expect("nothing is not too large"),
            kept,
            starts: vec![0],
            places: Vec::with_capacity(graph.arcs().len()),
        };
        let mut arcs = Vec::new();
        let mut met = vec![false; graph.nodes()];
        for (place, arc) in graph.arcs().iter().enumerate() {
            if number[arc.from as usize] != NONE {
                arcs.push(whole.follow(graph, place, &passing, &mut number, &mut met));
            }
        }
        // What is left are circuits of passing nodes only: one node of each stays.
        for node in 0..graph.nodes() {
            if number[node] == NONE && !met[node] {
                number[node] = whole.kept.len() as u32;
                whole.kept.push(node as u32);
                let place = passing.next[node] as usize;
                arcs.push(whole.follow(graph, place, &passing, &mut number, &mut met));
            }
        }
        whole.graph = EventGraph::new(whole.kept.len(), arcs).expect("no larger than before");
        whole
    }

    /// From a place on to the next node that stays.
    fn follow(
        &mut self,
        graph: &EventGraph,
        first: usize,
        passing: &Passing,
        number: &mut [u32],
        met: &mut [bool],
    ) -> TimedArc {
        let mut arc = graph.arc(first);
        let from = number[arc.from as usize];
        let (mut time, mut tokens) = (arc.time, arc.tokens);
        self.places.push(first as u32);
        while number[arc.to as usize] == NONE {
            let node = arc.to as usize;
            met[node] = true;
            let place = passing.next[node];
            self.places.push(place);
            arc = graph.arc(place as usize);
            time += arc.time;
            tokens += arc.tokens;
        }
        self.starts.push(self.places.len() as u32);
        TimedArc {
            from,
            to: number[arc.to as usize],
            time,
            tokens,
        }
    }

    fn chain(&self, arc: usize) -> &[u32] {
        &self.places[self.starts[arc] as usize..self.starts[arc + 1] as usize]
    }

    fn expand(&self, circuit: &[usize]) -> Vec<usize> {
        let chains = circuit.iter().flat_map(|&arc| self.chain(arc));
        chains.map(|&place| place as usize).collect()
    }

    /// The node that a node was.
    pub(super) fn original(&self, node: usize) -> usize {
        self.kept[node] as usize
    }

    /// The same proof for the whole graph: a passing node's potential is just
    /// enough, as it has one entering place only.
    pub(super) fn expand_certificate(
        &self,
        graph: &EventGraph,
        certificate: &Certificate,
    ) -> Certificate {
        let cycle_time = certificate.cycle_time;
        let mut potential = vec![0; graph.nodes()];
        for (node, &value) in certificate.potential.iter().enumerate() {
            potential[self.original(node)] = value;
        }
        for arc in 0..self.graph.arcs().len() {
            let chain = self.chain(arc);
            for &place in &chain[..chain.len() - 1] {
                let arc = graph.arc(place as usize);
                let gain = cycle_time.weigh(arc.time, arc.tokens);
                potential[arc.to as usize] = potential[arc.from as usize] + gain;
            }
        }
        let mut circuit = self.expand(&certificate.circuit);
        // Begin where the file does, for people to recognise it.
        let first = (0..circuit.len()).min_by_key(|&index| circuit[index]);
        circuit.rotate_left(first.unwrap_or(0));
        Certificate {
            cycle_time,
            potential,
            circuit,
        }
    }

    pub(super) fn expand_refusal(&self, refusal: NoSpectrum) -> NoSpectrum {
        match refusal {
            NoSpectrum::Dead { circuit } => NoSpectrum::Dead {
                circuit: self.expand(&circuit),
            },
            other => other,
        }
    }
}

/// For each node with one place before it and one other after it, the latter.
struct Passing {
    next: Vec<u32>,
}

impl Passing {
    fn of(graph: &EventGraph) -> Passing {
        const SEVERAL: u32 = NONE - 1;
        let mut before = vec![NONE; graph.nodes()];
        let mut next = vec![NONE; graph.nodes()];
        for (place, arc) in graph.arcs().iter().enumerate() {
            for slot in [&mut before[arc.to as usize], &mut next[arc.from as usize]] {
                *slot = if *slot == NONE { place as u32 } else { SEVERAL };
            }
        }
        for node in 0..graph.nodes() {
            let single = |place: u32| place != NONE && place != SEVERAL;
            if !single(before[node]) || !single(next[node]) || before[node] == next[node] {
                next[node] = NONE;
            }
        }
        Passing { next }
    }
}
