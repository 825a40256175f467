//! Place/transition nets with integer holding times.
//!
//! Nets of millions of places are ordinary here (a ring of a million processes
//! has several), so that identifiers share one string and places are columns
//! rather than objects.

mod names;

pub use names::Names;

/// The number of a place, from 0, in the order of the file.
pub type PlaceIndex = usize;

/// The number of a transition, from 0, in the order of the file.
pub type TransitionIndex = usize;

/// Tokens per place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marking(pub Vec<u64>);

impl Marking {
    /// All tokens; saturates at 2^64-1.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, &n| sum.saturating_add(n))
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

/// What a tool-specific element belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The net, or a page of it.
    Net,
    /// A place.
    Place(PlaceIndex),
    /// A transition.
    Transition(TransitionIndex),
    /// An arc, by its index in [`Net::arcs`].
    Arc(usize),
}

/// Another tool's `toolspecific` element, kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpecific {
    /// What it belongs to.
    pub owner: Owner,
    /// The `tool` attribute.
    pub tool: String,
    /// The `version` attribute.
    pub version: String,
    /// Further attributes, as written.
    pub attributes: String,
    /// Everything between the tags, as written.
    pub content: String,
    /// The namespaces that were in scope: prefix ("" for the default) and
    /// address, so that the content keeps its meaning elsewhere.
    pub namespaces: Vec<(String, String)>,
}

/// What a net of a ring says about the ring beyond its shape and marking.
///
/// A place of the major ring holds both the tokens that rest at its process and
/// those queued at the one before: nothing that happens later depends on which
/// is which, but a state file says it, so that a net that came from one keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingNote {
    /// d. It shows in the shape only where there is a delay.
    pub separation: u32,
    /// Which processes delay. It shows in the shape unless d = 1, when a minor
    /// ring looks like a relay's loop; empty unless d = 1.
    pub delays: Vec<usize>,
    /// Tokens of a major place that are queued at the process before it:
    /// (place, tokens), ascending, none with 0 tokens.
    pub queued: Vec<(PlaceIndex, u64)>,
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
    /// When the net has no such place or transition, or the weight is 0.
    pub fn add_arc(
        &mut self,
        place: PlaceIndex,
        transition: TransitionIndex,
        direction: Direction,
        weight: u64,
    ) -> usize {
        assert!(place < self.places() && transition < self.transitions());
        assert!(weight > 0, "an arc moves at least one token");
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

    /// The transition with this XML id, by a linear search.
    pub fn find_transition(&self, id: &str) -> Option<TransitionIndex> {
        (0..self.transitions()).find(|&transition| self.transition_id(transition) == id)
    }

    /// The first place whose holding time is not 1.
    pub fn first_not_unit(&self) -> Option<PlaceIndex> {
        self.holding.iter().position(|&rounds| rounds != 1)
    }

    /// Who is connected to whom, for quick look-up.
    pub fn adjacency(&self) -> Adjacency {
        Adjacency::new(self)
    }
}

/// Arcs by their ends: the inputs and outputs of each transition, the
/// producers and consumers of each place. Parallel arcs are added up.
#[derive(Clone, Debug)]
pub struct Adjacency {
    inputs: Rows,
    outputs: Rows,
    consumers: Rows,
    producers: Rows,
}

impl Adjacency {
    fn new(net: &Net) -> Adjacency {
        let wanted = |direction| {
            net.arcs
                .iter()
                .filter(move |arc| arc.direction == direction)
        };
        let by_transition = |direction| {
            let arcs = wanted(direction).map(|arc| (arc.transition, arc.place, arc.weight));
            Rows::new(net.transitions(), arcs)
        };
        let by_place = |direction| {
            let arcs = wanted(direction).map(|arc| (arc.place, arc.transition, arc.weight));
            Rows::new(net.places(), arcs)
        };
        Adjacency {
            inputs: by_transition(Direction::PlaceToTransition),
            outputs: by_transition(Direction::TransitionToPlace),
            consumers: by_place(Direction::PlaceToTransition),
            producers: by_place(Direction::TransitionToPlace),
        }
    }

    /// The adjacency of an event graph, given the transitions before and after
    /// each place.
    pub(crate) fn of_places(
        transitions: usize,
        places: impl ExactSizeIterator<Item = (u32, u32)> + Clone,
    ) -> Adjacency {
        let count = places.len();
        let numbered = places.enumerate();
        let to_transition = numbered.clone().map(|(place, (_, to))| (place as u32, to));
        let from_transition = numbered.map(|(place, (from, _))| (place as u32, from));
        let by_transition = |(place, transition)| (transition, place, 1);
        let by_place = |(place, transition)| (place, transition, 1);
        Adjacency {
            inputs: Rows::new(transitions, to_transition.clone().map(by_transition)),
            outputs: Rows::new(transitions, from_transition.clone().map(by_transition)),
            consumers: Rows::new(count, to_transition.map(by_place)),
            producers: Rows::new(count, from_transition.map(by_place)),
        }
    }

    /// The places that feed a transition, with arc weights.
    pub fn inputs(&self, transition: TransitionIndex) -> &[(u32, u64)] {
        self.inputs.row(transition)
    }

    /// The places that a transition feeds, with arc weights.
    pub fn outputs(&self, transition: TransitionIndex) -> &[(u32, u64)] {
        self.outputs.row(transition)
    }

    /// The transitions that a place feeds, with arc weights.
    pub fn consumers(&self, place: PlaceIndex) -> &[(u32, u64)] {
        self.consumers.row(place)
    }

    /// How many transitions there are.
    pub fn transitions(&self) -> usize {
        self.inputs.starts.len() - 1
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.consumers.starts.len() - 1
    }

    /// The transitions that feed a place, with arc weights.
    pub fn producers(&self, place: PlaceIndex) -> &[(u32, u64)] {
        self.producers.row(place)
    }
}

/// Compressed rows: (row, column, weight), columns ascending within a row.
#[derive(Clone, Debug)]
struct Rows {
    starts: Vec<usize>,
    cells: Vec<(u32, u64)>,
}

impl Rows {
    fn new(rows: usize, arcs: impl Iterator<Item = (u32, u32, u64)> + Clone) -> Rows {
        let mut starts = vec![0_usize; rows + 1];
        for (row, ..) in arcs.clone() {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut cells = vec![(0, 0); starts[rows]];
        for (row, column, weight) in arcs {
            cells[next[row as usize]] = (column, weight);
            next[row as usize] += 1;
        }
        let mut rows_built = Rows { starts, cells };
        rows_built.merge_parallel();
        rows_built
    }

    fn merge_parallel(&mut self) {
        let mut write = 0;
        let mut from = 0;
        for row in 1..self.starts.len() {
            let to = self.starts[row];
            self.cells[from..to].sort_unstable_by_key(|&(column, _)| column);
            let begin = write;
            for read in from..to {
                let (column, weight) = self.cells[read];
                if write > begin && self.cells[write - 1].0 == column {
                    self.cells[write - 1].1 = self.cells[write - 1].1.saturating_add(weight);
                } else {
                    self.cells[write] = (column, weight);
                    write += 1;
                }
            }
            from = to;
            self.starts[row] = write;
        }
        self.cells.truncate(write);
    }

    fn row(&self, row: usize) -> &[(u32, u64)] {
        &self.cells[self.starts[row]..self.starts[row + 1]]
    }
}
