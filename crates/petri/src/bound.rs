//! What published bounds say about the transient, to be seen beside the exact
//! number.
//!
//! A timed event graph with whole holding times is a linear system over rounds
//! in the dual (min-plus) algebra: the number of firings of transition j up to
//! round t is the minimum, over its input places, of the firings of the
//! transition before up to round t-1 plus the place's tokens (a place with
//! holding time h counts as h places). Its dimension N is the number of
//! transitions, and the following bounds hold for rows of critical transitions
//! of the powers of its matrix, whatever the entries are:
//!
//! * **Wielandt's**: (N-1)² + 1;
//! * **Dulmage and Mendelsohn's**: g(N-2) + N, with g the length of a shortest
//!   critical circuit (of the component where that is longest).
//!
//! Both were proved for weighted graphs by G. Merlet, T. Nowak, H. Schneider and
//! S. Sergeev, *Generalizations of bounds on the index of convergence to weighted
//! digraphs*, Discrete Applied Mathematics 178 (2014) 121-134; the unweighted
//! originals are H. Wielandt, *Unzerlegbare, nicht negative Matrizen*, Math. Z.
//! 52 (1950), and A. L. Dulmage and N. S. Mendelsohn, *Gaps in the exponent set
//! of primitive matrices*, Illinois J. Math. 8 (1964). Bounds for the transitions
//! that are not critical exist too (surveyed by T. Nowak and B. Charron-Bost, *An
//! overview of transience bounds in max-plus algebra*, 2014); they depend on the
//! weights, grow without limit as a second circuit comes close to critical, and
//! are not computed here.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::graph::{Components, EventGraph};
use crate::maxplus::Spectrum;

/// One published bound, evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// Whose.
    pub name: &'static str,
    /// As a formula in N and g.
    pub formula: &'static str,
    /// The source.
    pub source: &'static str,
    /// No critical transition behaves unperiodically after this round.
    pub rounds: u128,
}

const SOURCE: &str = "Merlet, Nowak, Schneider, Sergeev, Discrete Applied Mathematics 178 (2014)";

/// Work allowed for the shortest critical circuit: critical places times nodes.
const GIRTH_WORK: usize = 50_000_000;

/// The bounds for the critical transitions of a strongly connected event graph;
/// none when it is not, or when a place has no holding time. The second one is
/// left out where finding g would take too long.
pub fn published(graph: &EventGraph, spectrum: &Spectrum) -> Vec<Published> {
    let timeless = graph.arcs().iter().any(|arc| arc.time == 0);
    if timeless || graph.components().count() != 1 {
        return Vec::new();
    }
    let inner: u128 = graph
        .arcs()
        .iter()
        .map(|arc| u128::from(arc.time - 1))
        .sum();
    let dimension = graph.nodes() as u128 + inner;
    let mut bounds = vec![Published {
        name: "Wielandt",
        formula: "(N-1)^2 + 1",
        source: SOURCE,
        // All times add up to at most 2^62, so that squares fit.
        rounds: dimension.saturating_sub(1).pow(2) + 1,
    }];
    if let Some(girth) = critical_girth(graph, spectrum) {
        bounds.push(Published {
            name: "Dulmage and Mendelsohn",
            formula: "g(N-2) + N",
            source: SOURCE,
            rounds: u128::from(girth) * dimension.saturating_sub(2) + dimension,
        });
    }
    bounds
}

/// The length in rounds of the shortest circuit of each critical component; the
/// longest of these.
fn critical_girth(graph: &EventGraph, spectrum: &Spectrum) -> Option<u64> {
    let mut next: Vec<Vec<(u32, u64)>> = vec![Vec::new(); graph.nodes()];
    for &place in &spectrum.critical_arcs {
        let arc = graph.arc(place);
        next[arc.from as usize].push((arc.to, arc.time));
    }
    let ends = |&place: &usize| (graph.arc(place).from, graph.arc(place).to);
    let components = Components::of(graph.nodes(), spectrum.critical_arcs.iter().map(ends));
    let mut by_component: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &node in &spectrum.critical_nodes {
        let component = components.component(node);
        by_component.entry(component).or_default().push(node);
    }
    let mut longest = 0;
    for members in by_component.values() {
        let arcs: usize = members.iter().map(|&node| next[node].len()).sum();
        let girth = if arcs == members.len() {
            // One circuit and nothing else.
            members
                .iter()
                .flat_map(|&node| &next[node])
                .map(|&(_, time)| time)
                .sum()
        } else if arcs.saturating_mul(members.len()) <= GIRTH_WORK {
            let through = |&node: &usize| shortest_through(&next, node);
            members.iter().filter_map(through).min()?
        } else {
            return None;
        };
        longest = longest.max(girth);
    }
    Some(longest)
}

fn shortest_through(next: &[Vec<(u32, u64)>], root: usize) -> Option<u64> {
    let mut known: HashMap<usize, u64> = HashMap::new();
    let mut queue = VecDeque::from([(root, 0_u64)]);
    let mut shortest: Option<u64> = None;
    while let Some((node, length)) = queue.pop_front() {
        for &(to, time) in &next[node] {
            let (to, sum) = (to as usize, length + time);
            if to == root {
                shortest = Some(shortest.map_or(sum, |known| known.min(sum)));
            } else if shortest.is_none_or(|shortest| sum < shortest)
                && known.get(&to).is_none_or(|&known| sum < known)
            {
                known.insert(to, sum);
                queue.push_back((to, sum));
            }
        }
    }
    shortest
}
