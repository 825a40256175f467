//! Place/transition nets with integer holding times.
//!
//! Nets of millions of places are ordinary here (a ring of a million processes
//! has several), so that identifiers share one string and places are columns
//! rather than objects.

mod adjacency;
mod extras;
mod names;
mod rows;

pub use adjacency::Adjacency;
pub use extras::{Owner, RingNote, ToolSpecific};

use names::Names;
pub(crate) use rows::Rows;

/// The number of a place, from 0, in the order of the file.
pub type PlaceIndex = usize;

/// The number of a transition, from 0, in the order of the file.
pub type TransitionIndex = usize;

/// Tokens per place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marking(pub Vec<u64>);

impl Marking {
    /// All tokens.
    pub fn total(&self) -> u128 {
        self.0.iter().map(|&tokens| u128::from(tokens)).sum()
    }
}

/// From a place to a transition, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The place feeds the transition.
    PlaceToTransition,
    /// The transition feeds the place.
    TransitionToPlace,
}

/// An arc. Several arcs between the same two nodes add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arc {
    /// The place at one end.
    pub place: u32,
    /// The transition at the other.
    pub transition: u32,
    /// Which way.
    pub direction: Direction,
    /// Tokens moved by one firing; at least 1.
    pub weight: u64,
}

/// Where a node is drawn: x to the right, y down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

/// A place/transition net with holding times.
///
/// ```
/// use headway_petri::net::{Direction::*, Net};
/// let mut net = Net::new("pump");
/// let place = net.add_place("p", 1);
/// let transition = net.add_transition("t");
/// net.add_arc(place, transition, PlaceToTransition, 1);
/// net.add_arc(place, transition, TransitionToPlace, 1);
/// assert_eq!((net.places(), net.transitions(), net.arcs().len()), (1, 1, 2));
/// assert_eq!(net.place_id(place), "p");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Net {
    /// The XML id of the net.
    pub id: String,
    /// A name for people; empty when there is none.
    pub name: String,
    /// What is known of the ring that the net embodies, if it does.
    pub ring: Option<RingNote>,
    /// Other tools' extras, in the order of the file.
    pub kept: Vec<ToolSpecific>,
    place_ids: Names,
    place_names: Names,
    holding: Vec<u64>,
    place_positions: Vec<Option<Position>>,
    transition_ids: Names,
    transition_names: Names,
    transition_positions: Vec<Option<Position>>,
    arcs: Vec<Arc>,
    arc_ids: Names,
}

impl Net {
    /// An empty net.
    pub fn new(id: &str) -> Net {
        Net {
            id: id.to_owned(),
            ..Net::default()
        }
    }

    /// Adds a place in which a token spends `holding` rounds.
    ///
    /// # Panics
    ///
    /// With more than 2^32 places.
    pub fn add_place(&mut self, id: &str, holding: u64) -> PlaceIndex {
        let index = self.holding.len();
        assert!(u32::try_from(index).is_ok(), "at most 2^32 places");
        self.place_ids.push(id);
        self.place_names.push("");
        self.holding.push(holding);
        self.place_positions.push(None);
        index
    }

    /// Adds a transition.
    ///
    /// # Panics
    ///
    /// With more than 2^32 transitions.
    pub fn add_transition(&mut self, id: &str) -> TransitionIndex {
        let index = self.transition_positions.len();
        assert!(u32::try_from(index).is_ok(), "at most 2^32 transitions");
        self.transition_ids.push(id);
        self.transition_names.push("");
        self.transition_positions.push(None);
        index
    }

    /// Adds an arc, whose XML id will be made up when it is written.
    ///
    /// # Panics
    ///
    /// When the net has no such place or transition, or the weight is not from 1 to 2^32-1: the
    /// weights of parallel arcs then add up to less than 2^64.
    pub fn add_arc(
        &mut self,
        place: PlaceIndex,
        transition: TransitionIndex,
        direction: Direction,
        weight: u64,
    ) -> usize {
        assert!(place < self.places() && transition < self.transitions());
        assert!(weight > 0, "an arc moves at least one token");
        assert!(
            weight <= u32::MAX.into(),
            "an arc moves fewer than 2^32 tokens"
        );
        self.arcs.push(Arc {
            place: place as u32,
            transition: transition as u32,
            direction,
            weight,
        });
        self.arcs.len() - 1
    }

    /// Adds an arc with an XML id of its own.
    ///
    /// # Panics
    ///
    /// As [`Net::add_arc`].
    pub fn add_named_arc(
        &mut self,
        id: &str,
        place: PlaceIndex,
        transition: TransitionIndex,
        direction: Direction,
        weight: u64,
    ) -> usize {
        let index = self.add_arc(place, transition, direction, weight);
        while self.arc_ids.len() < index {
            self.arc_ids.push("");
        }
        self.arc_ids.push(id);
        index
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.holding.len()
    }

    /// How many transitions there are.
    pub fn transitions(&self) -> usize {
        self.transition_positions.len()
    }

    /// All arcs, in the order of the file.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// All arcs as pairs of nodes: places by their numbers, transitions after them.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        let places = self.places() as u32;
        self.arcs.iter().map(move |arc| match arc.direction {
            Direction::PlaceToTransition => (arc.place, places + arc.transition),
            Direction::TransitionToPlace => (places + arc.transition, arc.place),
        })
    }

    /// The XML id of a place.
    pub fn place_id(&self, place: PlaceIndex) -> &str {
        self.place_ids.get(place)
    }

    /// The XML id of a transition.
    pub fn transition_id(&self, transition: TransitionIndex) -> &str {
        self.transition_ids.get(transition)
    }

    /// The XML id of an arc, if it has one of its own.
    pub fn arc_id(&self, arc: usize) -> Option<&str> {
        (arc < self.arc_ids.len())
            .then(|| self.arc_ids.get(arc))
            .filter(|id| !id.is_empty())
    }

    /// The name of a place for people; empty when it has none.
    pub fn place_name(&self, place: PlaceIndex) -> &str {
        self.place_names.get(place)
    }

    /// The name of a transition for people; empty when it has none.
    pub fn transition_name(&self, transition: TransitionIndex) -> &str {
        self.transition_names.get(transition)
    }

    /// Names the latest place for people.
    pub fn name_last_place(&mut self, name: &str) {
        self.place_names.replace_last(name);
    }

    /// Names the latest transition for people.
    pub fn name_last_transition(&mut self, name: &str) {
        self.transition_names.replace_last(name);
    }

    /// How many rounds a token spends in a place before it is usable.
    pub fn holding(&self, place: PlaceIndex) -> u64 {
        self.holding[place]
    }

    /// Sets the holding time of a place.
    pub fn set_holding(&mut self, place: PlaceIndex, rounds: u64) {
        self.holding[place] = rounds;
    }

    /// Where a place is drawn.
    pub fn place_position(&self, place: PlaceIndex) -> Option<Position> {
        self.place_positions[place]
    }

    /// Where a transition is drawn.
    pub fn transition_position(&self, transition: TransitionIndex) -> Option<Position> {
        self.transition_positions[transition]
    }

    /// Draws a place somewhere.
    pub fn set_place_position(&mut self, place: PlaceIndex, position: Option<Position>) {
        self.place_positions[place] = position;
    }

    /// Draws a transition somewhere.
    pub fn set_transition_position(
        &mut self,
        transition: TransitionIndex,
        position: Option<Position>,
    ) {
        self.transition_positions[transition] = position;
    }

    /// The place with this XML id, by a linear search.
    pub fn find_place(&self, id: &str) -> Option<PlaceIndex> {
        (0..self.places()).find(|&place| self.place_id(place) == id)
    }

    /// The first place whose holding time is not 1.
    pub fn first_not_unit(&self) -> Option<PlaceIndex> {
        self.holding.iter().position(|&rounds| rounds != 1)
    }

    /// Who is connected to whom, for quick look-up.
    pub fn adjacency(&self) -> Adjacency {
        Adjacency::new(
            self.places(),
            self.transitions(),
            &self.arcs.iter().copied(),
        )
    }
}
