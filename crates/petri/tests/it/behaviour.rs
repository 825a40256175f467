//! Invariants, siphons, traps and markings of random small nets, each compared with
//! a second way: all vectors, all sets of places, markings one after the other.

use std::collections::BTreeSet;

use headway_petri::markings::{self, NoMarkings};
use headway_petri::net::{Direction, Marking, Net};
use headway_petri::{semiflow, siphon, structure};
use headway_testkit::tier::properties;
use proptest::prelude::*;

use crate::common::net_of;

/// Places, transitions and arcs without any order; at most `most` tokens by an arc.
fn any_net(most: u64) -> impl Strategy<Value = (Net, Marking)> {
    (1_usize..6, 1_usize..5).prop_flat_map(move |(places, transitions)| {
        let arc = (0..places, 0..transitions, any::<bool>(), 1..=most);
        (
            prop::collection::vec(0_u64..3, places),
            prop::collection::vec(arc, 0..3 * transitions + places),
        )
            .prop_map(move |(tokens, arcs)| (net_of(places, transitions, arcs), Marking(tokens)))
    })
}

/// Every vector of that many numbers from 0 to `most`.
fn vectors(length: usize, most: u64) -> impl Iterator<Item = Vec<u64>> {
    let base = most + 1;
    (0..base.pow(length as u32)).map(move |mut code| {
        (0..length)
            .map(|_| {
                let digit = code % base;
                code /= base;
                digit
            })
            .collect()
    })
}

fn support(vector: &[u64]) -> BTreeSet<usize> {
    (0..vector.len())
        .filter(|&index| vector[index] > 0)
        .collect()
}

/// By all vectors with small weights: those that are invariants and whose support
/// contains that of no other.
fn minimal_by_trying(length: usize, most: u64, holds: impl Fn(&[u64]) -> bool) -> Vec<Vec<u64>> {
    let all: Vec<Vec<u64>> = vectors(length, most)
        .filter(|vector| vector.iter().any(|&weight| weight > 0) && holds(vector))
        .collect();
    let factor = |vector: &[u64]| vector.iter().fold(0, |a, &b| num_integer::gcd(a, b));
    let minimal = |vector: &&Vec<u64>| {
        let own = support(vector);
        factor(vector) == 1
            && !all
                .iter()
                .any(|other| support(other).is_subset(&own) && support(other) != own)
    };
    all.iter().filter(minimal).cloned().collect()
}

fn dense(flow: &semiflow::Semiflow, length: usize) -> Vec<u64> {
    let mut vector = vec![0; length];
    for &(index, weight) in &flow.weights {
        vector[index] = weight;
    }
    vector
}

/// What firing each transition so often changes, place by place.
fn change(net: &Net, firings: &[u64]) -> Vec<i128> {
    let mut change = vec![0; net.places()];
    for arc in net.arcs() {
        let tokens = i128::from(arc.weight) * i128::from(firings[arc.transition as usize]);
        change[arc.place as usize] += match arc.direction {
            Direction::TransitionToPlace => tokens,
            Direction::PlaceToTransition => -tokens,
        };
    }
    change
}

fn step(net: &Net, marking: &[u64], transition: usize) -> Option<Vec<u64>> {
    let mut after = marking.to_vec();
    let arcs = || {
        net.arcs()
            .iter()
            .filter(|arc| arc.transition as usize == transition)
    };
    for arc in arcs().filter(|arc| arc.direction == Direction::PlaceToTransition) {
        let tokens = &mut after[arc.place as usize];
        *tokens = tokens.checked_sub(arc.weight)?;
    }
    for arc in arcs().filter(|arc| arc.direction == Direction::TransitionToPlace) {
        after[arc.place as usize] += arc.weight;
    }
    Some(after)
}

fn fire(net: &Net, marking: &[u64], firings: &[usize]) -> Vec<u64> {
    firings
        .iter()
        .fold(marking.to_vec(), |marking, &transition| {
            step(net, &marking, transition).expect("it can fire")
        })
}

/// All markings from one on, by looking again and again; `None` when too many.
fn reachable(net: &Net, from: &[u64], limit: usize) -> Option<BTreeSet<Vec<u64>>> {
    let mut all = BTreeSet::from([from.to_vec()]);
    let mut open = vec![from.to_vec()];
    while let Some(marking) = open.pop() {
        for transition in 0..net.transitions() {
            if let Some(after) = step(net, &marking, transition)
                && all.insert(after.clone())
            {
                open.push(after);
            }
        }
        if all.len() > limit {
            return None;
        }
    }
    Some(all)
}

/// Whether some marking that follows lets the transition fire, from each of them.
fn live_by_trying(net: &Net, all: &BTreeSet<Vec<u64>>) -> Vec<bool> {
    let can = |marking: &Vec<u64>, transition| {
        let after = reachable(net, marking, usize::MAX).unwrap();
        after
            .iter()
            .any(|marking| step(net, marking, transition).is_some())
    };
    (0..net.transitions())
        .map(|transition| all.iter().all(|marking| can(marking, transition)))
        .collect()
}

/// Whether no transition changes a weighted sum of tokens.
fn free_choice_live(net: &Net, marking: &Marking) -> Option<bool> {
    let siphons = siphon::siphons(net).unwrap();
    siphon::free_choice_live(net, marking, siphons.iter().map(Vec::as_slice))
}

fn is_invariant(net: &Net, weights: &[i128]) -> bool {
    let mut change = vec![0_i128; net.transitions()];
    for arc in net.arcs() {
        let weight = weights[arc.place as usize] * i128::from(arc.weight);
        change[arc.transition as usize] += match arc.direction {
            Direction::TransitionToPlace => weight,
            Direction::PlaceToTransition => -weight,
        };
    }
    change.iter().all(|&change| change == 0)
}

proptest! {
    #![proptest_config(properties(600))]

    #[test]
    fn minimal_invariants_are_those_of_all_vectors((net, marking) in any_net(2)) {
        let places = semiflow::of_places(&net).unwrap();
        for flow in &places {
            let mut weights = vec![0; net.places()];
            flow.weights.iter().for_each(|&(place, weight)| weights[place] = i128::from(weight));
            prop_assert!(is_invariant(&net, &weights));
            let value: u64 = dense(flow, net.places()).iter().zip(&marking.0).map(|(a, b)| a * b).sum();
            prop_assert_eq!(flow.value(&marking), Some(value));
        }
        // Larger weights than are tried can occur; all others must be the same.
        let found: Vec<Vec<u64>> = places.iter().map(|flow| dense(flow, net.places())).collect();
        let tried = minimal_by_trying(net.places(), 4, |weights| {
            let weights: Vec<i128> = weights.iter().map(|&weight| i128::from(weight)).collect();
            is_invariant(&net, &weights)
        });
        let small: BTreeSet<_> = found.iter().filter(|v| v.iter().all(|&w| w <= 4)).cloned().collect();
        prop_assert!(small.iter().all(|flow| tried.contains(flow)), "{small:?} {tried:?}");
        // A minimal one among small vectors may contain one with larger weights.
        for flow in tried {
            let contains = |other: &Vec<u64>| support(other).is_subset(&support(&flow));
            prop_assert!(found.iter().any(contains), "{flow:?} {found:?}");
            prop_assert!(found.contains(&flow) || !small.iter().any(|s| support(s) == support(&flow)));
        }

        let transitions = semiflow::of_transitions(&net).unwrap();
        let found: BTreeSet<Vec<u64>> = transitions.iter().map(|flow| dense(flow, net.transitions())).collect();
        for flow in &found {
            prop_assert!(change(&net, flow).iter().all(|&change| change == 0));
        }
        let tried = minimal_by_trying(net.transitions(), 5, |firings| {
            change(&net, firings).iter().all(|&change| change == 0)
        });
        for flow in tried {
            let contains = |other: &Vec<u64>| support(other).is_subset(&support(&flow));
            prop_assert!(found.iter().any(contains), "{flow:?} {found:?}");
        }
    }

    #[test]
    fn siphons_and_traps_are_those_of_all_sets((net, _) in any_net(1)) {
        let places = net.places();
        let arcs = |transition: u32, direction| {
            let fits = move |arc: &&headway_petri::net::Arc| {
                arc.transition == transition && arc.direction == direction
            };
            net.arcs().iter().filter(fits).map(|arc| arc.place as usize).collect::<BTreeSet<_>>()
        };
        let closed = |set: &BTreeSet<usize>, asks, needs| {
            (0..net.transitions() as u32).all(|transition| {
                arcs(transition, asks).is_disjoint(set) || !arcs(transition, needs).is_disjoint(set)
            })
        };
        use Direction::{PlaceToTransition, TransitionToPlace};
        for (found, asks, needs) in [
            (siphon::siphons(&net).unwrap(), TransitionToPlace, PlaceToTransition),
            (siphon::traps(&net).unwrap(), PlaceToTransition, TransitionToPlace),
        ] {
            let all: Vec<BTreeSet<usize>> = (1_u32..1 << places)
                .map(|bits| (0..places).filter(|place| bits >> place & 1 == 1).collect())
                .filter(|set| closed(set, asks, needs))
                .collect();
            let minimal: BTreeSet<Vec<usize>> = all
                .iter()
                .filter(|set| !all.iter().any(|other| other != *set && other.is_subset(set)))
                .map(|set| set.iter().copied().collect())
                .collect();
            prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), minimal);
        }
    }

    #[test]
    fn markings_and_what_they_say((net, marking) in any_net(2)) {
        const LIMIT: usize = 300;
        match markings::explore(&net, &marking, LIMIT) {
            Ok(all) => {
                let tried = reachable(&net, &marking.0, LIMIT).expect("no more than were found");
                prop_assert_eq!(all.count, tried.len());
                for (place, &most) in all.most.iter().enumerate() {
                    prop_assert_eq!(Some(most), tried.iter().map(|marking| marking[place]).max());
                }
                let live = live_by_trying(&net, &tried);
                let dying: Vec<usize> = all.dying.iter().map(|dies| dies.0).collect();
                let dead: Vec<usize> = (0..net.transitions()).filter(|&t| !live[t]).collect();
                prop_assert_eq!(&dying, &dead);
                for (transition, after) in &all.dying {
                    let then = reachable(&net, &fire(&net, &marking.0, after), LIMIT).unwrap();
                    prop_assert!(then.iter().all(|marking| step(&net, marking, *transition).is_none()));
                }
                let stuck = |marking: &Vec<u64>| (0..net.transitions()).all(|t| step(&net, marking, t).is_none());
                prop_assert_eq!(all.stuck_after.is_some(), tried.iter().any(stuck));
                if let Some(after) = &all.stuck_after {
                    prop_assert!(stuck(&fire(&net, &marking.0, after)));
                }
                // P-invariants bound what markings reach, and stay what they were.
                for flow in semiflow::of_places(&net).unwrap() {
                    for reached in &tried {
                        prop_assert_eq!(flow.value(&Marking(reached.clone())), flow.value(&marking));
                    }
                }
                // An empty siphon, and what free choice says by siphons and traps alone.
                for siphon in siphon::siphons(&net).unwrap() {
                    let empty = siphon.iter().all(|&place| marking.0[place] == 0);
                    let consumed = net.arcs().iter().any(|arc| {
                        arc.direction == Direction::PlaceToTransition && siphon.contains(&(arc.place as usize))
                    });
                    prop_assert!(!(empty && consumed && dying.is_empty()));
                }
                // Transitions that nothing starves do not die.
                for transition in structure::never_starved(&net) {
                    prop_assert!(!dying.contains(&transition));
                }
                if let Some(live) = free_choice_live(&net, &marking) {
                    prop_assert_eq!(live, dying.is_empty());
                }
            }
            Err(NoMarkings::Unbounded { before, again, places }) => {
                let old = fire(&net, &marking.0, &before);
                let new = fire(&net, &old, &again);
                prop_assert!(!places.is_empty());
                for place in 0..net.places() {
                    prop_assert!(new[place] >= old[place]);
                    prop_assert_eq!(new[place] > old[place], places.contains(&place));
                }
                prop_assert!(reachable(&net, &marking.0, 2000).is_none());
                let bounding: BTreeSet<usize> = semiflow::of_places(&net)
                    .unwrap()
                    .iter()
                    .flat_map(|flow| flow.weights.iter().map(|&(place, _)| place))
                    .collect();
                prop_assert!(places.iter().all(|place| !bounding.contains(place)));
            }
            Err(NoMarkings::TooMany { limit }) => {
                prop_assert_eq!(limit, LIMIT);
                prop_assert!(reachable(&net, &marking.0, LIMIT).is_none());
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}

/// Live free-choice nets are rare among random ones: state machines on a circle, with
/// choices, so that the comparison above is not only of nets that die.
#[test]
fn free_choice_nets_live_and_die() {
    for (tokens, chord, live) in [
        (1, true, true),
        (2, true, true),
        (0, true, false),
        (1, false, false),
    ] {
        let ways = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 0)];
        let ways = ways.into_iter().enumerate();
        let arcs = ways.flat_map(|(at, (from, to))| [(from, at, true, 1), (to, at, false, 1)]);
        // Without the way back from 2 whoever takes it is lost.
        let arcs = arcs.filter(|&arc| chord || arc != (3, 3, false, 1));
        let net = net_of(4, 5, arcs);
        let marking = Marking(vec![tokens, 0, 0, 0]);
        assert_eq!(free_choice_live(&net, &marking), Some(live));
        let all = markings::explore(&net, &marking, 100).unwrap();
        assert_eq!(all.dying.is_empty(), live);
    }
}

/// A place without arcs empties nothing: the loop beside it lives.
#[test]
fn a_place_without_arcs_does_no_harm() {
    let net = net_of(2, 1, [(1, 0, true, 1), (1, 0, false, 1)]);
    let live = |tokens| free_choice_live(&net, &Marking(vec![0, tokens]));
    assert_eq!([live(1), live(0)], [Some(true), Some(false)]);
}

/// Limits are said, and nothing runs away.
#[test]
fn too_much_is_refused() {
    // A chain of choices has 2^k invariants.
    let mut net = Net::new("choices");
    let mut at = net.add_place("start", 1);
    for layer in 0..40 {
        let next = net.add_place(&format!("n{layer}"), 1);
        for way in 0..2 {
            let middle = net.add_place(&format!("m{layer}_{way}"), 1);
            let (into, out) = (
                net.add_transition(&format!("a{layer}_{way}")),
                net.add_transition(&format!("b{layer}_{way}")),
            );
            net.add_arc(at, into, Direction::PlaceToTransition, 1);
            net.add_arc(middle, into, Direction::TransitionToPlace, 1);
            net.add_arc(middle, out, Direction::PlaceToTransition, 1);
            net.add_arc(next, out, Direction::TransitionToPlace, 1);
        }
        at = next;
    }
    let back = net.add_transition("back");
    net.add_arc(at, back, Direction::PlaceToTransition, 1);
    net.add_arc(0, back, Direction::TransitionToPlace, 1);
    assert_eq!(semiflow::of_places(&net).unwrap().len(), 1);
    assert_eq!(
        semiflow::of_transitions(&net),
        Err(semiflow::TooManySemiflows::Rows)
    );
    let mut marking = Marking(vec![0; net.places()]);
    marking.0[0] = 5;
    assert_eq!(
        markings::explore(&net, &marking, 1000),
        Err(NoMarkings::TooMany { limit: 1000 })
    );
    marking.0[0] = u64::MAX;
    net.add_arc(1, back, Direction::TransitionToPlace, 1);
    net.add_arc(0, back, Direction::TransitionToPlace, u32::MAX.into());
    net.add_arc(at, back, Direction::TransitionToPlace, 1);
    marking.0[at] = 1;
    assert_eq!(
        markings::explore(&net, &marking, 1000),
        Err(NoMarkings::TooLarge)
    );
}
