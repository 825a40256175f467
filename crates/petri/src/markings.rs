//! All markings that a net can reach, in any order of firing, and what they say:
//! whether it is bounded, safe, live, and where it gets stuck.
//!
//! The markings are made breadth-first, up to a limit. A marking that has at least as
//! many tokens everywhere as one on the way to it, and more somewhere, can be exceeded
//! again and again: the net is unbounded (R. Karp and R. Miller, *Parallel program
//! schemata*, 1969), and every unbounded net has such a marking. If the markings come to
//! an end the net is bounded, and liveness is a matter of the components that are never
//! left. Comparing each marking with all on the way to it would take quadratic time where
//! the way is long, so that the nearest are compared, a few further ones, and all only for
//! the last markings when there are too many: what is missed is a proof, never an answer.

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
    /// It was told to stop.
    #[error("stopped after {made} markings")]
    Stopped {
        /// How many were made by then.
        made: usize,
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
    explore_while(net, marking, limit, &mut |_| true)
}

/// The same, as long as `go_on` says so, which is asked after every marking with the
/// number of those made.
///
/// # Errors
///
/// As [`explore`], and [`NoMarkings::Stopped`].
pub fn explore_while(
    net: &Net,
    marking: &Marking,
    limit: usize,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Markings, NoMarkings> {
    let adjacency = net.adjacency();
    let first = Seen {
        sum: marking.0.iter().map(|&tokens| u128::from(tokens)).sum(),
        marking: marking.0.clone().into(),
        from: None,
        depth: 0,
        further: 0,
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
                        all.check_last()?;
                        return Err(NoMarkings::TooMany { limit });
                    }
                    if !go_on(all.seen.len()) {
                        let made = all.seen.len();
                        return Err(NoMarkings::Stopped { made });
                    }
                    let index = all.seen.len() as u32;
                    number.insert(after.clone(), index);
                    all.seen.push(Seen {
                        sum: after.iter().map(|&tokens| u128::from(tokens)).sum(),
                        marking: after,
                        from: Some((next as u32, transition as u32)),
                        depth: all.seen[next].depth + 1,
                        further: all.further(next),
                    });
                    all.check_growth(index, COMPARED)?;
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

/// How many markings on the way to one are compared with it before the steps get longer.
const COMPARED: usize = 100;

/// For how many of the last markings all are compared.
const CHECKED_LAST: usize = 50;

struct Seen {
    marking: Box<[u64]>,
    /// All its tokens: a marking that exceeds another has more.
    sum: u128,
    /// The marking before it and the transition that led here.
    from: Option<(u32, u32)>,
    /// How many firings led here.
    depth: u32,
    /// A marking on the way here, such that a few of these steps lead to the first.
    further: u32,
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

    /// Where a marking after `before` had better step back to: as far again as the steps
    /// there, if its two are of the same length (E. Myers, *An applicative random-access
    /// stack*, 1983), so that logarithmically many lead to the first.
    fn further(&self, before: usize) -> u32 {
        let [one, two, three] = {
            let one = &self.seen[before];
            let two = &self.seen[one.further as usize];
            [one, two, &self.seen[two.further as usize]]
        };
        if one.depth - two.depth == two.depth - three.depth {
            two.further
        } else {
            before as u32
        }
    }

    /// Markings on the way to one, last first: so many, and then by longer steps.
    fn on_the_way(&self, index: u32, nearest: usize) -> impl Iterator<Item = u32> + '_ {
        let before = |at: u32| Some(self.seen[at as usize].from?.0);
        let mut met = 0;
        std::iter::successors(before(index), move |&at| {
            met += 1;
            let further = self.seen[at as usize].further;
            before(at).map(|before| if met < nearest { before } else { further })
        })
    }

    /// Whether one of the last markings exceeds any on the way to it.
    fn check_last(&self) -> Result<(), NoMarkings> {
        let count = self.seen.len() as u32;
        let mut last = count.saturating_sub(CHECKED_LAST as u32)..count;
        last.try_for_each(|index| self.check_growth(index, usize::MAX))
    }

    /// Whether a marking exceeds one of the nearest on the way to it, or one of few
    /// further ones.
    fn check_growth(&self, index: u32, nearest: usize) -> Result<(), NoMarkings> {
        let new = &self.seen[index as usize];
        for earlier in self.on_the_way(index, nearest) {
            let old = &self.seen[earlier as usize];
            if old.sum < new.sum && old.marking.iter().zip(&new.marking).all(|(a, b)| a <= b) {
                let grows = |&place: &usize| old.marking[place] < new.marking[place];
                return Err(NoMarkings::Unbounded {
                    before: self.firings(0, earlier),
                    again: self.firings(earlier, index),
                    places: (0..new.marking.len()).filter(grows).collect(),
                });
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Direction::{PlaceToTransition, TransitionToPlace};

    /// On a way of many markings few are looked at: those just before, then ones ever
    /// further back to the very first, or all when asked.
    #[test]
    fn few_markings_on_a_long_way_are_compared() {
        let mut all = All { seen: Vec::new() };
        for index in 0..50_000_u32 {
            let before = index.checked_sub(1);
            all.seen.push(Seen {
                marking: Box::new([]),
                sum: 0,
                from: before.map(|before| (before, 0)),
                depth: index,
                further: before.map_or(0, |before| all.further(before as usize)),
            });
            let met: Vec<u32> = all.on_the_way(index, 10).collect();
            assert!(met.len() <= 10 + 2 * 17, "{index}: {}", met.len());
            let mut steps = met.windows(2).skip(9).map(|two| two[0] - two[1]);
            assert!(
                steps.all(|step| (step + 1).is_power_of_two()),
                "{index}: {met:?}"
            );
            assert!(met.is_sorted_by(|later, earlier| later > earlier));
            assert_eq!(met.last().copied(), before.map(|_| 0));
            if index < 300 {
                assert!(all.on_the_way(index, usize::MAX).eq((0..index).rev()));
            }
        }
    }

    /// A circuit of more firings than are compared grows by one token each time.
    #[test]
    fn long_circuits_that_grow_are_found_in_the_end() {
        const LENGTH: usize = 3 * COMPARED / 2;
        let mut net = Net::new("long");
        for index in 0..LENGTH {
            net.add_place(&format!("p{index}"), 1);
            net.add_transition(&format!("t{index}"));
        }
        for index in 0..LENGTH {
            net.add_arc(index, index, PlaceToTransition, 1);
            net.add_arc((index + 1) % LENGTH, index, TransitionToPlace, 1);
        }
        let grown = net.add_place("q", 1);
        net.add_arc(grown, LENGTH - 1, TransitionToPlace, 1);
        let mut marking = Marking(vec![0; LENGTH + 1]);
        marking.0[0] = 1;
        let Err(NoMarkings::Unbounded { again, places, .. }) = explore(&net, &marking, 1000) else {
            panic!("unbounded");
        };
        assert_eq!((again.len() % LENGTH, places), (0, vec![grown]));
    }

    #[test]
    fn it_stops_when_told() {
        let mut net = Net::new("split");
        let (p, q, t) = (
            net.add_place("p", 1),
            net.add_place("q", 1),
            net.add_transition("t"),
        );
        net.add_arc(p, t, PlaceToTransition, 1);
        net.add_arc(q, t, TransitionToPlace, 3);
        let mut asked = 0;
        let stopped = explore_while(&net, &Marking(vec![1 << 63, 0]), 100_000, &mut |made| {
            asked += 1;
            made < 70_000
        });
        assert_eq!(stopped, Err(NoMarkings::Stopped { made: 70_000 }));
        assert_eq!(asked, 70_000);
    }
}
