//! All markings that a net can reach, in any order of firing, and what they say:
//! whether it is bounded, safe, live, and where it gets stuck.
//!
//! The markings are made breadth-first, up to a limit. A marking that has at least as
//! many tokens everywhere as one on the way to it, and more somewhere, can be exceeded
//! again and again: the net is unbounded (R. Karp and R. Miller, *Parallel program
//! schemata*, 1969), and every unbounded net has such a marking. If there is none,
//! they are finitely many, and liveness is a matter of the components that are never
//! left.

use std::collections::HashMap;

use thiserror::Error;

use crate::graph::Components;
use crate::net::{Marking, Net, PlaceIndex, TransitionIndex};

/// What all markings of a bounded net say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Markings {
    /// How many there are.
    pub count: usize,
    /// The most tokens on each place.
    pub most: Vec<u64>,
    /// Transitions that end, if it is not live: each with firings after which it
    /// never fires again.
    pub dying: Vec<(TransitionIndex, Vec<TransitionIndex>)>,
    /// Shortest firings after which nothing fires, if there are such.
    pub stuck_after: Option<Vec<TransitionIndex>>,
}

/// Why the markings are not known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoMarkings {
    /// They are infinitely many.
    #[error("the net is unbounded")]
    Unbounded {
        /// Firings that lead to some marking,
        before: Vec<TransitionIndex>,
        /// and firings that can follow again and again,
        again: Vec<TransitionIndex>,
        /// each time with more tokens on these places.
        places: Vec<PlaceIndex>,
    },
    /// They are more than were allowed, bounded or not.
    #[error("more than {limit} markings")]
    TooMany {
        /// What was allowed.
        limit: usize,
    },
    /// A place has more tokens than can be counted.
    #[error("a place can have more than 2^64-1 tokens")]
    TooLarge,
}

/// Makes all markings, at most `limit`.
///
/// # Errors
///
/// [`NoMarkings`]: the net is unbounded, which is proved by firings, or too large.
///
/// ```
/// use headway_petri::markings::{self, NoMarkings};
/// use headway_petri::net::{Direction::*, Marking, Net};
/// let mut net = Net::new("pump");
/// let (a, b, t) = (net.add_place("a", 1), net.add_place("b", 1), net.add_transition("t"));
/// net.add_arc(a, t, PlaceToTransition, 1);
/// net.add_arc(b, t, TransitionToPlace, 1);
/// let all = markings::explore(&net, &Marking(vec![3, 0]), 100).unwrap();
/// assert_eq!((all.count, &all.most[..]), (4, &[3, 3][..]));
/// assert_eq!(all.stuck_after, Some(vec![t, t, t]));
/// net.add_arc(a, t, TransitionToPlace, 1);
/// let Err(NoMarkings::Unbounded { places, .. }) =
///     markings::explore(&net, &Marking(vec![1, 0]), 100) else { panic!() };
/// assert_eq!(places, [b]);
/// ```
pub fn explore(net: &Net, marking: &Marking, limit: usize) -> Result<Markings, NoMarkings> {
    let adjacency = net.adjacency();
    let first = Seen {
        sum: marking.0.iter().map(|&tokens| u128::from(tokens)).sum(),
        marking: marking.0.clone().into(),
        from: None,
    };
    let mut number: HashMap<Box<[u64]>, u32> = HashMap::from([(first.marking.clone(), 0)]);
    let mut all = All { seen: vec![first] };
    let mut steps: Vec<(u32, u32, u32)> = Vec::new();
    let mut next = 0;
    while next < all.seen.len() {
        for transition in 0..net.transitions() {
            let inputs = adjacency.inputs(transition);
            let here = &all.seen[next].marking;
            if !inputs
                .iter()
                .all(|&(place, weight)| here[place as usize] >= weight)
            {
                continue;
            }
            let mut after = here.clone();
            for &(place, weight) in inputs {
                after[place as usize] -= weight;
            }
            for &(place, weight) in adjacency.outputs(transition) {
                let tokens = &mut after[place as usize];
                *tokens = tokens.checked_add(weight).ok_or(NoMarkings::TooLarge)?;
            }
            let index = match number.get(&after) {
                Some(&index) => index,
                None => {
                    if all.seen.len() >= limit {
                        return Err(NoMarkings::TooMany { limit });
                    }
                    let index = all.seen.len() as u32;
                    number.insert(after.clone(), index);
                    all.seen.push(Seen {
                        sum: after.iter().map(|&tokens| u128::from(tokens)).sum(),
                        marking: after,
                        from: Some((next as u32, transition as u32)),
                    });
                    all.check_growth(index)?;
                    index
                }
            };
            steps.push((next as u32, index, transition as u32));
        }
        next += 1;
    }
    drop(number);
    Ok(all.verdict(net, &steps))
}

struct Seen {
    marking: Box<[u64]>,
    /// All its tokens: a marking that exceeds another has more.
    sum: u128,
    /// The marking before it and the transition that led here.
    from: Option<(u32, u32)>,
}

struct All {
    seen: Vec<Seen>,
}

impl All {
    /// The firings from one marking to a later one that came from it.
    fn firings(&self, from: u32, to: u32) -> Vec<TransitionIndex> {
        let mut firings = Vec::new();
        let mut at = to;
        while at != from {
            let Some((before, transition)) = self.seen[at as usize].from else {
                break;
            };
            firings.push(transition as usize);
            at = before;
        }
        firings.reverse();
        firings
    }

    /// Whether a marking exceeds one on the way to it.
    fn check_growth(&self, index: u32) -> Result<(), NoMarkings> {
        let new = &self.seen[index as usize];
        let mut at = new.from;
        while let Some((earlier, _)) = at {
            let old = &self.seen[earlier as usize];
            if old.sum < new.sum && old.marking.iter().zip(&new.marking).all(|(a, b)| a <= b) {
                let grows = |&place: &usize| old.marking[place] < new.marking[place];
                return Err(NoMarkings::Unbounded {
                    before: self.firings(0, earlier),
                    again: self.firings(earlier, index),
                    places: (0..new.marking.len()).filter(grows).collect(),
                });
            }
            at = old.from;
        }
        Ok(())
    }

    fn verdict(&self, net: &Net, steps: &[(u32, u32, u32)]) -> Markings {
        let count = self.seen.len();
        let most = (0..net.places())
            .map(|place| {
                self.seen
                    .iter()
                    .map(|seen| seen.marking[place])
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let components = Components::of(count, steps.iter().map(|&(from, to, _)| (from, to)));
        let mut left = vec![false; components.count()];
        for &(from, to, _) in steps {
            if !components.joins(from, to) {
                left[components.component(from as usize)] = true;
            }
        }
        // What fires in components that are never left, by component and transition.
        let last = |marking: u32| !left[components.component(marking as usize)];
        let mut fires: HashMap<usize, Vec<bool>> = HashMap::new();
        let mut moves = vec![false; count];
        for &(from, _, transition) in steps {
            moves[from as usize] = true;
            if last(from) {
                let component = components.component(from as usize);
                let row = fires
                    .entry(component)
                    .or_insert_with(|| vec![false; net.transitions()]);
                row[transition as usize] = true;
            }
        }
        let mut dying = vec![None; net.transitions()];
        let mut met = vec![false; components.count()];
        for marking in (0..count as u32).filter(|&marking| last(marking)) {
            let component = components.component(marking as usize);
            if std::mem::replace(&mut met[component], true) {
                continue;
            }
            for (transition, dying) in dying.iter_mut().enumerate() {
                if dying.is_none() && !fires.get(&component).is_some_and(|row| row[transition]) {
                    *dying = Some((transition, self.firings(0, marking)));
                }
            }
        }
        let stuck = moves.iter().position(|moves| !moves);
        Markings {
            count,
            most,
            dying: dying.into_iter().flatten().collect(),
            stuck_after: stuck.map(|marking| self.firings(0, marking as u32)),
        }
    }
}
