//! Who is connected to whom.

use super::{Direction, Net, PlaceIndex, TransitionIndex};

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
    pub(super) fn new(net: &Net) -> Adjacency {
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
