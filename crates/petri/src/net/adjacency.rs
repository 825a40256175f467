//! Who is connected to whom.

use super::rows::Rows;
use super::{Arc, Direction, PlaceIndex, TransitionIndex};

/// Arcs by their ends: the inputs and outputs of each transition, the
/// producers and consumers of each place. Parallel arcs are added up.
#[derive(Clone, Debug)]
pub struct Adjacency {
    inputs: Rows<(u32, u64)>,
    outputs: Rows<(u32, u64)>,
    consumers: Rows<(u32, u64)>,
    producers: Rows<(u32, u64)>,
}

impl Adjacency {
    pub(crate) fn new(
        places: usize,
        transitions: usize,
        arcs: &(impl Iterator<Item = Arc> + Clone),
    ) -> Adjacency {
        let going = |way| arcs.clone().filter(move |arc| arc.direction == way);
        let by_transition = |way| {
            let cells = going(way).map(|arc| (arc.transition, (arc.place, arc.weight)));
            Rows::new(transitions, cells).merged()
        };
        let by_place = |way| {
            let cells = going(way).map(|arc| (arc.place, (arc.transition, arc.weight)));
            Rows::new(places, cells).merged()
        };
        Adjacency {
            inputs: by_transition(Direction::PlaceToTransition),
            outputs: by_transition(Direction::TransitionToPlace),
            consumers: by_place(Direction::PlaceToTransition),
            producers: by_place(Direction::TransitionToPlace),
        }
    }

    /// The same with all arcs turned round.
    #[must_use]
    pub(crate) fn reversed(self) -> Adjacency {
        Adjacency {
            inputs: self.outputs,
            outputs: self.inputs,
            consumers: self.producers,
            producers: self.consumers,
        }
    }

    /// The places that feed a transition, with arc weights.
    pub fn inputs(&self, transition: TransitionIndex) -> &[(u32, u64)] {
        self.inputs.of(transition)
    }

    /// The places that a transition feeds, with arc weights.
    pub fn outputs(&self, transition: TransitionIndex) -> &[(u32, u64)] {
        self.outputs.of(transition)
    }

    /// The transitions that a place feeds, with arc weights.
    pub fn consumers(&self, place: PlaceIndex) -> &[(u32, u64)] {
        self.consumers.of(place)
    }

    /// How many transitions there are.
    pub fn transitions(&self) -> usize {
        self.inputs.len()
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.consumers.len()
    }

    /// The transitions that feed a place, with arc weights.
    pub fn producers(&self, place: PlaceIndex) -> &[(u32, u64)] {
        self.producers.of(place)
    }
}
