//! All of the critical part: the places on circuits whose ratio is λ.
//!
//! With a potential, a circuit has ratio λ exactly if each of its places is
//! *tight* (the inequality of the potential is an equation there). So the
//! critical places are those tight ones that lie on a circuit of tight ones.

use std::collections::VecDeque;

use num_bigint::BigUint;
use num_integer::{Integer, gcd};

use super::{Certificate, howard};
use crate::graph::{ArcsByNode, Components, EventGraph, arcs_by_node};

pub(super) struct Part {
    pub(super) nodes: Vec<usize>,
    pub(super) arcs: Vec<usize>,
    pub(super) cyclicity: BigUint,
}

pub(super) fn part(graph: &EventGraph, certificate: &Certificate) -> Part {
    let potential = &certificate.potential;
    let tight: Vec<u32> = (0..graph.arcs().len() as u32)
        .filter(|&place| {
            let arc = graph.arc(place as usize);
            let gain = certificate.cycle_time.weigh(arc.time, arc.tokens);
            potential[arc.from as usize] + gain == potential[arc.to as usize]
        })
        .collect();
    let leaving = arcs_by_node(
        graph.nodes(),
        tight.iter().map(|&place| graph.arc(place as usize).from),
    );
    let arcs = tight.iter().map(|&place| graph.arc(place as usize));
    let components = Components::of(graph.nodes(), arcs.map(|arc| (arc.from, arc.to)));
    let inside = |place: usize| components.joins(graph.arc(place).from, graph.arc(place).to);
    let mut critical = vec![false; graph.nodes()];
    let mut arcs = Vec::new();
    for &place in &tight {
        if inside(place as usize) {
            arcs.push(place as usize);
            critical[graph.arc(place as usize).from as usize] = true;
        }
    }
    let cyclicity = cyclicity(graph, &critical, &leaving, &tight, inside);
    Part {
        nodes: (0..graph.nodes()).filter(|&node| critical[node]).collect(),
        arcs,
        cyclicity,
    }
}

/// Tokens counted along any way from one node of a critical component to
/// another agree up to multiples of the divisor sought.
fn cyclicity(
    graph: &EventGraph,
    critical: &[bool],
    leaving: &ArcsByNode,
    tight: &[u32],
    inside: impl Fn(usize) -> bool,
) -> BigUint {
    let mut level: Vec<Option<i128>> = vec![None; graph.nodes()];
    let mut queue = VecDeque::new();
    let mut multiple = BigUint::from(1_u32);
    for root in 0..graph.nodes() {
        if !critical[root] || level[root].is_some() {
            continue;
        }
        let mut divisor = 0_u128;
        level[root] = Some(0);
        queue.push_back((root, 0_i128));
        while let Some((node, here)) = queue.pop_front() {
            for &tight_arc in leaving.of(node) {
                let place = tight[tight_arc as usize] as usize;
                if !inside(place) {
                    continue;
                }
                let arc = graph.arc(place);
                let there = here + i128::from(arc.tokens);
                match level[arc.to as usize] {
                    None => {
                        level[arc.to as usize] = Some(there);
                        queue.push_back((arc.to as usize, there));
                    }
                    Some(known) => divisor = gcd(divisor, known.abs_diff(there)),
                }
            }
        }
        multiple = multiple.lcm(&BigUint::from(divisor.max(1)));
    }
    multiple
}

/// The heaviest way from the critical nodes to each node, starting from their
/// potentials: an eigenvector, with nothing where no critical node leads.
pub(super) fn eigenvector(
    graph: &EventGraph,
    certificate: &Certificate,
    critical: &Part,
) -> Vec<Option<i128>> {
    const NOTHING: i128 = i128::MIN;
    let mut values = vec![NOTHING; graph.nodes()];
    for &node in &critical.nodes {
        values[node] = certificate.potential[node];
    }
    let from = critical.nodes.iter().copied().collect();
    let (leaving, cycle_time) = (graph.leaving(), certificate.cycle_time);
    howard::raise(graph, &leaving, cycle_time, &mut values, from);
    let known = |value| (value != NOTHING).then_some(value);
    values.into_iter().map(known).collect()
}
