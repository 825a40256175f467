//! Circuits of any net: named by a user, or listed.

use std::collections::{HashMap, HashSet};

use petgraph::algo::maximum_matching;
use petgraph::graph::UnGraph;
use thiserror::Error;

use crate::graph::{ArcsByNode, Components, arcs_by_node};
use crate::net::{Marking, Net, PlaceIndex, TransitionIndex};

/// A circuit: place k feeds transition k, which feeds place k+1, and the last
/// transition feeds place 0. No node occurs twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    /// Its places, in order.
    pub places: Vec<PlaceIndex>,
    /// Its transitions, in order.
    pub transitions: Vec<TransitionIndex>,
}

/// Why a list of places is not a circuit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoCircuit {
    /// No names at all.
    #[error("a circuit needs at least one place")]
    Empty,
    /// A name is not that of a place.
    #[error("there is no place {name:?} in the net{hint}")]
    Unknown {
        /// The name.
        name: String,
        /// A similar name, or nothing.
        hint: String,
    },
    /// Two names are ambiguous.
    #[error("the name {name:?} belongs to several places; use their ids")]
    Ambiguous {
        /// The name.
        name: String,
    },
    /// A place is named twice.
    #[error("place {name:?} is named twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// No transition leads on.
    #[error("no transition leads from place {from:?} to place {to:?}")]
    Gap {
        /// From here,
        from: String,
        /// to here.
        to: String,
    },
    /// Every transition that leads on is needed for another step.
    #[error(
        "every transition from place {from:?} to place {to:?} is needed elsewhere on the circuit"
    )]
    Taken {
        /// From here,
        from: String,
        /// to here.
        to: String,
    },
}

impl Circuit {
    /// The circuit through the places with these ids or names, in this order.
    /// Where several transitions lead from one place to the next, the first in
    /// the file that is not yet taken, unless that leaves none for a later step.
    ///
    /// # Errors
    ///
    /// [`NoCircuit`] names the place or the gap.
    pub fn named(net: &Net, names: &[&str]) -> Result<Circuit, NoCircuit> {
        if names.is_empty() {
            return Err(NoCircuit::Empty);
        }
        let mut places = Vec::with_capacity(names.len());
        for &name in names {
            let place = find(net, name)?;
            if places.contains(&place) {
                return Err(NoCircuit::Twice {
                    name: name.to_owned(),
                });
            }
            places.push(place);
        }
        let adjacency = net.adjacency();
        let mut ways: Vec<Vec<TransitionIndex>> = Vec::with_capacity(places.len());
        for (step, &place) in places.iter().enumerate() {
            let next = places[(step + 1) % places.len()];
            let leads_on = |transition: &usize| {
                let outputs = adjacency.outputs(*transition);
                outputs.iter().any(|&(place, _)| place as usize == next)
            };
            let consumers = adjacency.consumers(place).iter();
            let found = consumers.map(|&(transition, _)| transition as usize);
            ways.push(found.filter(leads_on).collect());
        }
        let ends = |step: usize| {
            let next = places[(step + 1) % places.len()];
            [places[step], next].map(|place| net.place_id(place).to_owned())
        };
        if let Some(step) = ways.iter().position(Vec::is_empty) {
            let [from, to] = ends(step);
            return Err(NoCircuit::Gap { from, to });
        }
        let transitions = distinct(&ways).map_err(|step| {
            let [from, to] = ends(step);
            NoCircuit::Taken { from, to }
        })?;
        Ok(Circuit {
            places,
            transitions,
        })
    }

    /// All tokens on it.
    pub fn tokens(&self, marking: &Marking) -> u64 {
        self.places.iter().map(|&place| marking.0[place]).sum()
    }

    /// All holding times on it.
    pub fn rounds(&self, net: &Net) -> u64 {
        self.places.iter().map(|&place| net.holding(place)).sum()
    }

    /// The fewest places between two successive tokens, counted along the
    /// circuit: 0 for two on one place, all places for a single token, `None`
    /// without tokens.
    pub fn separation(&self, marking: &Marking) -> Option<u64> {
        self.separation_by(|place| marking.0[place])
    }

    /// As [`Circuit::separation`], with the tokens of a place asked for.
    pub(crate) fn separation_by(&self, tokens: impl Fn(PlaceIndex) -> u64) -> Option<u64> {
        let length = self.places.len() as u64;
        let (mut first, mut last, mut fewest) = (None, None, length);
        for (step, &place) in self.places.iter().enumerate() {
            let step = step as u64;
            match tokens(place) {
                0 => continue,
                1 => {}
                _ => return Some(0),
            }
            if let Some(last) = last {
                fewest = fewest.min(step - last);
            }
            first.get_or_insert(step);
            last = Some(step);
        }
        Some(fewest.min(first? + length - last?))
    }
}

/// A different transition for each step, or the first step that has none left:
/// greedily where that is enough, else by a maximum matching.
fn distinct(ways: &[Vec<TransitionIndex>]) -> Result<Vec<TransitionIndex>, usize> {
    let mut taken = HashSet::new();
    let greedy: Option<Vec<_>> = ways
        .iter()
        .map(|ways| ways.iter().copied().find(|&way| taken.insert(way)))
        .collect();
    if let Some(greedy) = greedy {
        return Ok(greedy);
    }
    let steps = ways.len();
    let nodes = steps + ways.iter().flatten().max().map_or(0, |&last| last + 1);
    let mut graph = UnGraph::<(), (), usize>::with_capacity(nodes, 0);
    for _ in 0..nodes {
        graph.add_node(());
    }
    for (step, ways) in ways.iter().enumerate() {
        graph.extend_with_edges(ways.iter().map(|way| (step, steps + way)));
    }
    let matching = maximum_matching(&graph);
    let mate = |step: usize| matching.mate(step.into()).ok_or(step);
    (0..steps)
        .map(|step| Ok(mate(step)?.index() - steps))
        .collect()
}

fn find(net: &Net, name: &str) -> Result<PlaceIndex, NoCircuit> {
    if let Some(place) = net.find_place(name) {
        return Ok(place);
    }
    let mut named = (0..net.places()).filter(|&place| net.place_name(place) == name);
    match (named.next(), named.next()) {
        (Some(place), None) => Ok(place),
        (Some(_), Some(_)) => Err(NoCircuit::Ambiguous {
            name: name.to_owned(),
        }),
        (None, _) => {
            let similar = (0..net.places())
                .map(|place| net.place_id(place))
                .find(|id| id.eq_ignore_ascii_case(name));
            Err(NoCircuit::Unknown {
                name: name.to_owned(),
                hint: similar.map_or_else(String::new, |id| format!("; did you mean {id:?}?")),
            })
        }
    }
}

/// The elementary circuits of a net, at most `limit` of them, and whether these
/// are all (Johnson, *Finding all the elementary circuits of a directed graph*,
/// 1975). A net can have exponentially many.
///
/// ```
/// use headway_core::{Configuration, Program, Ring, Separation};
/// use headway_petri::{circuit, ring};
/// let ring = Ring::new(Separation::new(3).unwrap(), vec![Program::Delay; 4]).unwrap();
/// let (net, _) = ring::to_net(&ring, &Configuration::piled(&ring, 1, 0)).unwrap();
/// let (circuits, all) = circuit::list(&net, 100);
/// assert!(all);
/// assert_eq!(circuits.len(), 5, "the major ring and four minor ones");
/// ```
pub fn list(net: &Net, limit: usize) -> (Vec<Circuit>, bool) {
    Johnson::new(net).run(limit)
}

/// Nodes are the places, then the transitions.
struct Johnson {
    places: usize,
    arcs: Vec<(u32, u32)>,
    leaving: ArcsByNode,
    blocked: Vec<bool>,
    /// Nodes to unblock when a node is unblocked.
    waiting: HashMap<u32, Vec<u32>>,
}

impl Johnson {
    fn new(net: &Net) -> Johnson {
        let places = net.places();
        let nodes = places + net.transitions();
        Johnson {
            places,
            leaving: arcs_by_node(nodes, net.ends().map(|(from, _)| from)),
            arcs: net.ends().collect(),
            blocked: vec![false; nodes],
            waiting: HashMap::new(),
        }
    }

    /// From each place in turn, circuits through it that use no earlier place.
    fn run(&mut self, limit: usize) -> (Vec<Circuit>, bool) {
        let mut found = Vec::new();
        let nodes = self.blocked.len();
        for start in 0..self.places {
            let allowed = |node: u32| node as usize >= start;
            // Components of what is left; only that of the start matters.
            let left = self
                .arcs
                .iter()
                .filter(|(from, to)| allowed(*from) && allowed(*to));
            let component = Components::of(nodes, left.copied());
            self.blocked.fill(false);
            self.waiting.clear();
            let inside = |node: u32| {
                allowed(node) && component.component(node as usize) == component.component(start)
            };
            if !self.from(start as u32, inside, limit, &mut found) {
                return (found, false);
            }
        }
        (found, true)
    }

    /// Depth-first with Johnson's blocking. Returns whether the limit allows more.
    fn from(
        &mut self,
        start: u32,
        inside: impl Fn(u32) -> bool,
        limit: usize,
        found: &mut Vec<Circuit>,
    ) -> bool {
        // Node, next leaving arc, whether a circuit was found below.
        let mut way: Vec<(u32, usize, bool)> = vec![(start, 0, false)];
        self.blocked[start as usize] = true;
        while let Some(&mut (node, ref mut next, ref mut closed)) = way.last_mut() {
            if let Some(&arc) = self.leaving.of(node as usize).get(*next) {
                *next += 1;
                let to = self.arcs[arc as usize].1;
                if to == start {
                    *closed = true;
                    if found.len() == limit {
                        return false;
                    }
                    found.push(self.circuit(&way));
                } else if inside(to) && !self.blocked[to as usize] {
                    self.blocked[to as usize] = true;
                    way.push((to, 0, false));
                }
                continue;
            }
            let closed = *closed;
            way.pop();
            if closed {
                self.unblock(node);
            } else {
                for index in 0..self.leaving.of(node as usize).len() {
                    let to = self.arcs[self.leaving.of(node as usize)[index] as usize].1;
                    if inside(to) {
                        let waiting = self.waiting.entry(to).or_default();
                        if !waiting.contains(&node) {
                            waiting.push(node);
                        }
                    }
                }
            }
            if let Some((.., parent_closed)) = way.last_mut() {
                *parent_closed |= closed;
            }
        }
        true
    }

    fn unblock(&mut self, node: u32) {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut self.blocked[node as usize], false) {
                open.extend(self.waiting.remove(&node).into_iter().flatten());
            }
        }
    }

    fn circuit(&self, way: &[(u32, usize, bool)]) -> Circuit {
        let nodes = way.iter().map(|&(node, ..)| node as usize);
        Circuit {
            places: nodes.clone().filter(|&node| node < self.places).collect(),
            transitions: nodes
                .filter(|&node| node >= self.places)
                .map(|node| node - self.places)
                .collect(),
        }
    }
}
