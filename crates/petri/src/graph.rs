//! Event graphs: nets in which every place has one transition before it and one
//! after it. A place is then an arc between two transitions.

use thiserror::Error;

use crate::net::{Adjacency, Arc, Direction, Marking, Net, PlaceIndex, Rows};

mod components;

pub(crate) use components::Components;

/// A place, seen as an arc from the transition before it to the one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedArc {
    /// The transition that feeds the place.
    pub from: u32,
    /// The transition that the place feeds.
    pub to: u32,
    /// Its holding time.
    pub time: u64,
    /// Its tokens.
    pub tokens: u64,
}

/// A marked event graph. Arc k is place k of the net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventGraph {
    nodes: usize,
    arcs: Vec<TimedArc>,
}

/// Why a net is not an event graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotAnEventGraph {
    /// A place with no or several transitions on one side.
    #[error("place {place} has {found} {side} transitions, in an event graph it has exactly one")]
    Degree {
        /// Its id.
        place: String,
        /// `input` or `output`.
        side: &'static str,
        /// How many.
        found: u64,
    },
    /// An arc that moves several tokens.
    #[error("an arc at place {place} moves {weight} tokens, in an event graph it moves one")]
    Weight {
        /// The id of the place.
        place: String,
        /// The weight.
        weight: u64,
    },
    /// The sums of times or tokens leave no room for exact arithmetic.
    #[error("the {what} of all places add up to more than 2^62, too many for exact arithmetic")]
    TooLarge {
        /// `holding times` or `tokens`.
        what: &'static str,
    },
}

impl EventGraph {
    /// The event graph of a marked net.
    ///
    /// # Errors
    ///
    /// [`NotAnEventGraph`] names the first place that does not fit.
    ///
    /// # Panics
    ///
    /// When the marking is not one of this net.
    pub fn of(net: &Net, marking: &Marking) -> Result<EventGraph, NotAnEventGraph> {
        assert_eq!(net.places(), marking.0.len(), "one number per place");
        const NONE: u32 = u32::MAX;
        let mut from = vec![NONE; net.places()];
        let mut to = vec![NONE; net.places()];
        let degree = |place: PlaceIndex| {
            let count = |direction| {
                let at = |arc: &&Arc| arc.place as usize == place && arc.direction == direction;
                net.arcs().iter().filter(at).count() as u64
            };
            let inputs = count(Direction::TransitionToPlace);
            let (side, found) = if inputs == 1 {
                ("output", count(Direction::PlaceToTransition))
            } else {
                ("input", inputs)
            };
            NotAnEventGraph::Degree {
                place: net.place_id(place).to_owned(),
                side,
                found,
            }
        };
        for arc in net.arcs() {
            let place = arc.place as usize;
            let end = match arc.direction {
                Direction::TransitionToPlace => &mut from[place],
                Direction::PlaceToTransition => &mut to[place],
            };
            if *end != NONE {
                return Err(degree(place));
            }
            if arc.weight != 1 {
                return Err(NotAnEventGraph::Weight {
                    place: net.place_id(place).to_owned(),
                    weight: arc.weight,
                });
            }
            *end = arc.transition;
        }
        let mut arcs = Vec::with_capacity(net.places());
        for place in 0..net.places() {
            if from[place] == NONE || to[place] == NONE {
                return Err(degree(place));
            }
            arcs.push(TimedArc {
                from: from[place],
                to: to[place],
                time: net.holding(place),
                tokens: marking.0[place],
            });
        }
        EventGraph::new(net.transitions(), arcs)
    }

    /// An event graph from its arcs.
    ///
    /// # Errors
    ///
    /// [`NotAnEventGraph::TooLarge`] when all times or all tokens add up to
    /// more than 2^62; below that no sum or product in this crate overflows.
    ///
    /// # Panics
    ///
    /// When an arc names a node that is not there.
    pub fn new(nodes: usize, arcs: Vec<TimedArc>) -> Result<EventGraph, NotAnEventGraph> {
        let (mut time, mut tokens) = (0_u128, 0_u128);
        for arc in &arcs {
            assert!((arc.from as usize) < nodes && (arc.to as usize) < nodes);
            time += u128::from(arc.time);
            tokens += u128::from(arc.tokens);
        }
        for (what, sum) in [("holding times", time), ("tokens", tokens)] {
            if sum > 1 << 62 {
                return Err(NotAnEventGraph::TooLarge { what });
            }
        }
        Ok(EventGraph { nodes, arcs })
    }

    /// How many transitions there are.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// All places as arcs.
    pub fn arcs(&self) -> &[TimedArc] {
        &self.arcs
    }

    /// One place as an arc.
    pub fn arc(&self, place: PlaceIndex) -> TimedArc {
        self.arcs[place]
    }

    /// All tokens together.
    pub fn total_tokens(&self) -> u64 {
        self.arcs.iter().map(|arc| arc.tokens).sum()
    }

    /// The arcs that leave each node.
    pub(crate) fn leaving(&self) -> ArcsByNode {
        arcs_by_node(self.nodes, self.arcs.iter().map(|arc| arc.from))
    }

    /// The arcs that enter each node.
    pub(crate) fn entering(&self) -> ArcsByNode {
        arcs_by_node(self.nodes, self.arcs.iter().map(|arc| arc.to))
    }

    /// Who is connected to whom, in the form that [`crate::play`] takes.
    pub fn adjacency(&self) -> Adjacency {
        let arc = |place, transition, direction| Arc {
            place,
            transition,
            direction,
            weight: 1,
        };
        let arcs = (0..).zip(&self.arcs).flat_map(move |(place, ends)| {
            [
                arc(place, ends.to, Direction::PlaceToTransition),
                arc(place, ends.from, Direction::TransitionToPlace),
            ]
        });
        Adjacency::new(self.arcs.len(), self.nodes, &arcs)
    }

    /// The strongly connected components.
    pub(crate) fn components(&self) -> Components {
        Components::of(self.nodes, self.arcs.iter().map(|arc| (arc.from, arc.to)))
    }
}

/// Arc numbers grouped by node, ascending within a node.
pub(crate) type ArcsByNode = Rows<u32>;

/// Groups arcs 0, 1, … by the nodes given for them.
pub(crate) fn arcs_by_node(nodes: usize, of: impl Iterator<Item = u32> + Clone) -> ArcsByNode {
    Rows::new(nodes, of.zip(0..))
}
