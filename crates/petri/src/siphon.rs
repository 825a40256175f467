//! Siphons and traps: sets of places that, once empty, stay empty, and sets that,
//! once marked, stay marked.
//!
//! Whatever puts a token into a *siphon* also takes one from it; whatever takes a
//! token from a *trap* also puts one into it. A net with an empty siphon is not
//! live; and a free-choice net is live exactly if every siphon contains a marked
//! trap (M. Hack after F. Commoner, 1972), which is a second way to an answer that
//! markings give, and works for nets with too many of them.

use fixedbitset::FixedBitSet;
use thiserror::Error;

use crate::net::{Adjacency, Marking, Net, PlaceIndex};

/// Why not all minimal sets were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not all were found in {MAX_STEPS} steps of the search for them")]
pub struct TooManySets;

/// Sets of places that are looked at.
const MAX_STEPS: usize = 200_000;

/// All minimal siphons, each ascending.
///
/// # Errors
///
/// When there are too many.
///
/// ```
/// use headway_petri::net::{Direction::*, Net};
/// use headway_petri::siphon;
/// let mut net = Net::new("pump");
/// let (a, b, t) = (net.add_place("a", 1), net.add_place("b", 1), net.add_transition("t"));
/// net.add_arc(a, t, PlaceToTransition, 1);
/// net.add_arc(b, t, TransitionToPlace, 1);
/// assert_eq!(siphon::siphons(&net).unwrap(), [[a]]);
/// assert_eq!(siphon::traps(&net).unwrap(), [[b]]);
/// ```
pub fn siphons(net: &Net) -> Result<Vec<Vec<PlaceIndex>>, TooManySets> {
    Search::new(net, Kind::Siphon).run()
}

/// All minimal traps, each ascending.
///
/// # Errors
///
/// When there are too many.
pub fn traps(net: &Net) -> Result<Vec<Vec<PlaceIndex>>, TooManySets> {
    Search::new(net, Kind::Trap).run()
}

/// The largest trap within a set of places; it may be empty.
fn trap_within(net: &Net, places: &[PlaceIndex]) -> FixedBitSet {
    let mut inside = FixedBitSet::with_capacity(net.places());
    inside.extend(places.iter().copied());
    Search::new(net, Kind::Trap).shrink(&mut inside);
    inside
}

/// Whether a free-choice net is live; `None` for a net that is not free-choice.
///
/// # Errors
///
/// When it has too many siphons.
pub fn free_choice_live(net: &Net, marking: &Marking) -> Option<Result<bool, TooManySets>> {
    is_free_choice(net).then(|| {
        let adjacency = net.adjacency();
        let siphons = siphons(net)?;
        Ok(siphons.iter().all(|siphon| {
            let trap = trap_within(net, siphon);
            // A place without any arc is a siphon, too, and empties nothing.
            let mut places = siphon.iter();
            places.all(|&place| adjacency.consumers(place).is_empty())
                || trap.ones().any(|place| marking.0[place] > 0)
        }))
    })
}

/// Whether two places with a common consumer have all consumers in common, and every
/// arc moves one token. A transition without input always fires, which the theorem
/// does not expect.
pub fn is_free_choice(net: &Net) -> bool {
    let adjacency = net.adjacency();
    let mut arcs = (0..net.transitions()).flat_map(|transition| {
        adjacency
            .inputs(transition)
            .iter()
            .chain(adjacency.outputs(transition))
    });
    arcs.all(|&(_, weight)| weight == 1)
        && (0..net.transitions()).all(|transition| {
            let inputs = adjacency.inputs(transition);
            let alike = |pair: &[(u32, u64)]| {
                let [one, other] = [pair[0].0, pair[1].0];
                adjacency.consumers(one as usize) == adjacency.consumers(other as usize)
            };
            !inputs.is_empty() && inputs.windows(2).all(alike)
        })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Siphon,
    Trap,
}

struct Search {
    adjacency: Adjacency,
    kind: Kind,
    steps: usize,
    found: Vec<FixedBitSet>,
}

/// What a search is at: places that are in the set, and that are not.
#[derive(Clone)]
struct Partial {
    inside: FixedBitSet,
    outside: FixedBitSet,
}

impl Search {
    fn new(net: &Net, kind: Kind) -> Search {
        Search {
            adjacency: net.adjacency(),
            kind,
            steps: 0,
            found: Vec::new(),
        }
    }

    /// A transition that puts tokens into a siphon needs an input in it; one that
    /// takes tokens from a trap needs an output in it.
    fn needs(&self, transition: usize) -> &[(u32, u64)] {
        match self.kind {
            Kind::Siphon => self.adjacency.inputs(transition),
            Kind::Trap => self.adjacency.outputs(transition),
        }
    }

    /// The transitions of which a place in the set asks that.
    fn asking(&self, place: usize) -> &[(u32, u64)] {
        match self.kind {
            Kind::Siphon => self.adjacency.producers(place),
            Kind::Trap => self.adjacency.consumers(place),
        }
    }

    fn run(mut self) -> Result<Vec<Vec<PlaceIndex>>, TooManySets> {
        let places = self.adjacency.places();
        // By their first place; depth first, without recursion.
        let mut open: Vec<Partial> = Vec::new();
        for first in 0..places {
            let mut partial = Partial {
                inside: FixedBitSet::with_capacity(places),
                outside: FixedBitSet::with_capacity(places),
            };
            partial.inside.insert(first);
            partial.outside.insert_range(..first);
            open.push(partial);
            while let Some(partial) = open.pop() {
                self.steps += 1;
                if self.steps > MAX_STEPS {
                    return Err(TooManySets);
                }
                self.extend(partial, &mut open);
            }
        }
        let minimal = self.found.iter().filter(|set| {
            let smaller = |other: &FixedBitSet| other != *set && other.is_subset(set);
            !self.found.iter().any(smaller)
        });
        let mut sets: Vec<Vec<PlaceIndex>> = minimal.map(|set| set.ones().collect()).collect();
        sets.sort_unstable();
        sets.dedup();
        Ok(sets)
    }

    /// Keeps a finished set, or chooses in all ways what an unfinished one needs.
    fn extend(&mut self, partial: Partial, open: &mut Vec<Partial>) {
        if (self.found.iter()).any(|set| set.is_subset(&partial.inside)) {
            return;
        }
        // What is left must still have room for such a set.
        let mut possible = partial.outside.clone();
        possible.toggle_range(..);
        self.shrink(&mut possible);
        if !partial.inside.is_subset(&possible) {
            return;
        }
        let members = partial.inside.ones();
        let unmet = members
            .flat_map(|place| self.asking(place))
            .map(|&(transition, _)| self.needs(transition as usize))
            .filter(|needs| {
                !needs
                    .iter()
                    .any(|&(place, _)| partial.inside[place as usize])
            })
            .min_by_key(|needs| needs.len());
        let Some(needs) = unmet else {
            self.found.push(partial.inside);
            return;
        };
        let mut rest = partial;
        for &(place, _) in needs {
            let place = place as usize;
            if possible[place] {
                let mut next = rest.clone();
                next.inside.insert(place);
                open.push(next);
                rest.outside.insert(place);
            }
        }
    }

    /// Drops places until the rest is a siphon (a trap): the largest one within.
    fn shrink(&self, set: &mut FixedBitSet) {
        let mut open: Vec<usize> = (0..self.adjacency.transitions()).collect();
        let asked: fn(&Adjacency, usize) -> &[(u32, u64)] = match self.kind {
            Kind::Siphon => Adjacency::outputs,
            Kind::Trap => Adjacency::inputs,
        };
        let needed_by: fn(&Adjacency, usize) -> &[(u32, u64)] = match self.kind {
            Kind::Siphon => Adjacency::consumers,
            Kind::Trap => Adjacency::producers,
        };
        while let Some(transition) = open.pop() {
            if self
                .needs(transition)
                .iter()
                .any(|&(place, _)| set[place as usize])
            {
                continue;
            }
            for &(place, _) in asked(&self.adjacency, transition) {
                if set.contains(place as usize) {
                    set.remove(place as usize);
                    let others = needed_by(&self.adjacency, place as usize);
                    open.extend(others.iter().map(|&(transition, _)| transition as usize));
                }
            }
        }
    }
}
