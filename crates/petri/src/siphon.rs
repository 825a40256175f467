//! Siphons and traps: sets of places that, once empty, stay empty, and sets that,
//! once marked, stay marked.
//!
//! Whatever puts a token into a *siphon* also takes one from it; whatever takes a
//! token from a *trap* also puts one into it. A net with an empty siphon is not
//! live; and a free-choice net is live exactly if every siphon contains a marked
//! trap (M. Hack after F. Commoner, 1972), which is a second way to an answer that
//! markings give, and works for nets with too many of them.
//!
//! A trap is a siphon of the net with all arcs turned round, so that one search finds both.

use fixedbitset::FixedBitSet;
use thiserror::Error;

use crate::net::{Adjacency, Marking, Net, PlaceIndex};

/// Why not all minimal sets were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not all were found in {MAX_STEPS} steps of the search for them")]
pub struct TooManySets;

/// Looks at a place of a set or at a set that was found before: some tenths of a second,
/// however large the net.
const MAX_STEPS: usize = 30_000_000;

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
    Search::new(net.adjacency()).all()
}

/// All minimal traps, each ascending.
///
/// # Errors
///
/// When there are too many.
pub fn traps(net: &Net) -> Result<Vec<Vec<PlaceIndex>>, TooManySets> {
    Search::new(net.adjacency().reversed()).all()
}

/// The largest trap within a set of places; it may be empty.
fn trap_within(net: &Net, places: &[PlaceIndex]) -> FixedBitSet {
    let mut inside = FixedBitSet::with_capacity(net.places());
    inside.extend(places.iter().copied());
    let mut search = Search::new(net.adjacency().reversed());
    search.shrink(&mut inside, (0..net.transitions()).collect());
    inside
}

/// Whether a free-choice net is live, given all its minimal siphons; `None` for a net that
/// is not free-choice.
pub fn free_choice_live<'a>(
    net: &Net,
    marking: &Marking,
    siphons: impl IntoIterator<Item = &'a [PlaceIndex]>,
) -> Option<bool> {
    is_free_choice(net).then(|| {
        let adjacency = net.adjacency();
        siphons.into_iter().all(|siphon| {
            let trap = trap_within(net, siphon);
            // A place without any arc is a siphon, too, and empties nothing.
            let mut places = siphon.iter();
            places.all(|&place| adjacency.consumers(place).is_empty())
                || trap.ones().any(|place| marking.0[place] > 0)
        })
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

/// For siphons.
struct Search {
    adjacency: Adjacency,
    steps: usize,
    found: Vec<FixedBitSet>,
}

/// What a search is at.
#[derive(Clone)]
struct Partial {
    /// Places that are in the set.
    inside: FixedBitSet,
    /// Places that are, or may be: themselves a siphon, the largest that is left.
    possible: FixedBitSet,
}

impl Search {
    fn new(adjacency: Adjacency) -> Search {
        Search {
            adjacency,
            steps: 0,
            found: Vec::new(),
        }
    }

    fn all(&mut self) -> Result<Vec<Vec<PlaceIndex>>, TooManySets> {
        let places = self.adjacency.places();
        let mut possible = FixedBitSet::with_capacity(places);
        possible.insert_range(..);
        self.shrink(&mut possible, (0..self.adjacency.transitions()).collect());
        // By their first place; depth first, without recursion.
        let mut open: Vec<Partial> = Vec::new();
        for first in 0..places {
            if !possible[first] {
                continue;
            }
            let mut inside = FixedBitSet::with_capacity(places);
            inside.insert(first);
            open.push(Partial {
                inside,
                possible: possible.clone(),
            });
            while let Some(partial) = open.pop() {
                self.extend(partial, &mut open);
                if self.steps > MAX_STEPS {
                    return Err(TooManySets);
                }
            }
            self.remove(&mut possible, first);
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
        self.steps += 1 + self.found.len();
        if (self.found.iter()).any(|set| set.is_subset(&partial.inside)) {
            return;
        }
        let (mut looked_at, mut unmet): (usize, Option<&[(u32, u64)]>) = (0, None);
        for place in partial.inside.ones() {
            // A transition that puts tokens into a siphon needs an input in it.
            for &(transition, _) in self.adjacency.producers(place) {
                let needs = self.adjacency.inputs(transition as usize);
                looked_at += needs.len();
                let met = (needs.iter()).any(|&(place, _)| partial.inside[place as usize]);
                if !met && unmet.is_none_or(|fewest| needs.len() < fewest.len()) {
                    unmet = Some(needs);
                }
            }
        }
        let unmet = unmet.map(|needs| needs.iter().map(|&(place, _)| place as usize));
        let unmet: Option<Vec<usize>> = unmet.map(Iterator::collect);
        self.steps += looked_at;
        let Some(needs) = unmet else {
            self.found.push(partial.inside);
            return;
        };
        let mut rest = partial;
        for place in needs {
            if !rest.possible[place] {
                continue;
            }
            let mut next = rest.clone();
            next.inside.insert(place);
            open.push(next);
            self.remove(&mut rest.possible, place);
            // What is left must still have room for such a set.
            if !rest.inside.is_subset(&rest.possible) {
                return;
            }
        }
    }

    /// Drops a place, and what cannot be in such a set without it.
    fn remove(&mut self, set: &mut FixedBitSet, place: PlaceIndex) {
        set.remove(place);
        let open = self.adjacency.consumers(place).iter();
        self.shrink(set, open.map(|&(at, _)| at as usize).collect());
    }

    /// Drops places until the rest is a siphon: the largest one within. `open` are
    /// the transitions that may lack what they need.
    fn shrink(&mut self, set: &mut FixedBitSet, mut open: Vec<usize>) {
        let mut looked_at = 0;
        while let Some(transition) = open.pop() {
            let needs = self.adjacency.inputs(transition);
            looked_at += needs.len() + 1;
            if needs.iter().any(|&(place, _)| set[place as usize]) {
                continue;
            }
            for &(place, _) in self.adjacency.outputs(transition) {
                looked_at += 1;
                if set.contains(place as usize) {
                    set.remove(place as usize);
                    let others = self.adjacency.consumers(place as usize);
                    open.extend(others.iter().map(|&(transition, _)| transition as usize));
                }
            }
        }
        self.steps += looked_at;
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_STEPS, Search};
    use crate::Net;
    use crate::net::Direction::{PlaceToTransition, TransitionToPlace};

    /// An event graph with many circuits has more siphons than anybody can list. The search
    /// ends when its work is done, whatever a step of it costs.
    #[test]
    fn the_work_is_limited_not_the_sets() {
        for (transitions, places) in [(20, 76), (40, 400), (200, 4000)] {
            let mut net = Net::new("dense");
            for _ in 0..transitions {
                net.add_transition("t");
            }
            let mut state = 1_u64;
            let mut any = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) as usize % transitions
            };
            for _ in 0..places {
                let place = net.add_place("p", 1);
                net.add_arc(place, any(), TransitionToPlace, 1);
                net.add_arc(place, any(), PlaceToTransition, 1);
            }
            for adjacency in [net.adjacency(), net.adjacency().reversed()] {
                let mut search = Search::new(adjacency);
                let found = search.all();
                assert!(found.is_err());
                let one_step = 4 * places * transitions + search.found.len();
                assert!(search.steps <= MAX_STEPS + one_step, "{}", search.steps);
            }
        }
    }
}
