//! Separation added to a plant: minor rings recover from anything, monitors do
//! not, and the bound holds.

use headway_petri::circuit::{self, Circuit};
use headway_petri::net::{Direction, Marking, Net};
use headway_petri::separate::{Method, NoBound, NotSeparable, Request, add, observe};
use headway_petri::{EventGraph, maxplus};
use headway_testkit::tier::properties;
use proptest::prelude::*;

use crate::common::{circle, net_of};

/// A circle of places with loops: every transition fires at most once a round.
fn circle_with_loops(places: usize) -> Net {
    let mut net = circle(places);
    for place in 0..places {
        let own = net.add_place(&format!("l{place}"), 1);
        net.add_arc(own, place, Direction::PlaceToTransition, 1);
        net.add_arc(own, place, Direction::TransitionToPlace, 1);
    }
    net
}

/// To separate all that goes round a circle.
fn request(places: usize, separation: u32, method: Method) -> Request {
    Request {
        circuit: around(places),
        separation,
        at: None,
        method,
    }
}

fn around(places: usize) -> Circuit {
    Circuit {
        places: (0..places).collect(),
        transitions: (0..places).collect(),
    }
}

/// All ways to put `tokens` on `places`.
fn markings(places: usize, tokens: u64) -> Vec<Vec<u64>> {
    if places == 1 {
        return vec![vec![tokens]];
    }
    let mut all = Vec::new();
    for first in 0..=tokens {
        for mut rest in markings(places - 1, tokens - first) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}

/// Every marking of circuit and minor rings, with and without loops: separated
/// within the bound, and the bound is met.
#[test]
fn minor_rings_separate_from_every_marking_within_the_bound() {
    let mut met = 0;
    let mut tried = 0;
    for places in 2..=6_usize {
        for hops in 1..=3_u32 {
            for tokens in 1..=3_u64 {
                if tokens * u64::from(hops) > places as u64 {
                    continue;
                }
                for (loops, at) in [
                    (false, vec![0]),
                    (true, vec![0]),
                    (false, vec![0, places / 2]),
                    (true, (0..places).collect()),
                ] {
                    let minors = {
                        let mut at = at.clone();
                        at.dedup();
                        at.len()
                    };
                    if u64::from(hops).pow(minors as u32) > 81 {
                        continue;
                    }
                    let net = match loops {
                        true => circle_with_loops(places),
                        false => circle(places),
                    };
                    let request = Request {
                        at: Some(at),
                        ..request(places, hops, Method::MinorRing)
                    };
                    let mut worst = 0;
                    let mut bound = 0;
                    for mut start in markings(places, tokens) {
                        if loops {
                            start.resize(2 * places, 1);
                        }
                        let done = add(&net, &Marking(start), &request).unwrap();
                        bound = done.bound.clone().unwrap();
                        let first = net.places();
                        for code in 0..u64::from(hops).pow(minors as u32) {
                            let mut marking = done.marking.clone();
                            let mut rest = code;
                            for minor in 0..minors {
                                let ring = first + minor * hops as usize;
                                marking.0[ring..ring + hops as usize].fill(0);
                                marking.0[ring + (rest % u64::from(hops)) as usize] = 1;
                                rest /= u64::from(hops);
                            }
                            let seen = observe(&done.net, &marking, &request.circuit, hops, 10_000)
                                .unwrap();
                            let from = seen.separated_from.expect("separated in the end");
                            assert!(from <= bound, "{from} > {bound}: {places} {hops} {tokens}");
                            worst = worst.max(from);
                            tried += 1;
                        }
                    }
                    met += u32::from(worst == bound);
                }
            }
        }
    }
    assert!(tried > 5_000, "{tried}");
    assert!(met > 10, "the bound is met in {met} shapes");
}

/// The demonstration of the guide: three tokens on one place of twelve, D = 4.
#[test]
fn from_a_bad_start_monitors_stay_illegal_and_minor_rings_recover() {
    let net = circle(12);
    let mut start = Marking(vec![0; 12]);
    start.0[0] = 3;
    let request = |method| request(12, 4, method);
    let before = observe(&net, &start, &around(12), 4, 10_000).unwrap();
    assert_eq!((before.separation, before.separated_from), (Some(0), None));

    let minor = add(&net, &start, &request(Method::MinorRing)).unwrap();
    assert_eq!(
        (minor.places_added.len(), minor.at.as_slice()),
        (12, [0, 4, 8].as_slice())
    );
    let seen = observe(&minor.net, &minor.marking, &around(12), 4, 10_000).unwrap();
    assert_eq!(seen.separation, Some(4));
    assert!(seen.separated_from.unwrap() <= minor.bound.unwrap());

    let monitor = add(&net, &start, &request(Method::Monitor)).unwrap();
    assert_eq!(monitor.illegal.len(), 4, "the four rows that contain p0");
    assert_eq!(monitor.bound, Err(NoBound::Monitor));
    let seen = observe(&monitor.net, &monitor.marking, &around(12), 4, 10_000).unwrap();
    assert_eq!(seen.separated_from, None, "illegal forever: {seen:?}");
}

/// A fault moves one token; the control is untouched, as the paper has it.
#[test]
fn after_a_fault_monitors_block_and_minor_rings_recover() {
    let net = circle(12);
    let mut legal = Marking(vec![0; 12]);
    (legal.0[0], legal.0[6]) = (1, 1);
    let request = |method| request(12, 4, method);
    for (method, recovers) in [(Method::MinorRing, true), (Method::Monitor, false)] {
        let done = add(&net, &legal, &request(method)).unwrap();
        let fine = observe(&done.net, &done.marking, &around(12), 4, 10_000).unwrap();
        assert_eq!(
            fine.separated_from,
            Some(0),
            "{method:?} keeps a legal start legal"
        );
        let mut faulty = done.marking.clone();
        (faulty.0[6], faulty.0[1]) = (0, 1);
        let seen = observe(&done.net, &faulty, &around(12), 4, 10_000).unwrap();
        assert_eq!(
            seen.separated_from.is_some() && seen.circuit_firings > 0,
            recovers,
            "{seen:?}"
        );
        if !recovers {
            assert!(seen.dead_from.is_some(), "nothing fires any more: {seen:?}");
        }
    }
}

/// A monitor gives its token back a round later, so that it costs a place.
#[test]
fn monitors_slow_a_tight_circuit_down_and_minor_rings_do_not() {
    let net = circle(12);
    let mut legal = Marking(vec![0; 12]);
    (legal.0[0], legal.0[4], legal.0[8]) = (1, 1, 1);
    for (method, expected) in [(Method::MinorRing, "4/1"), (Method::Monitor, "5/1")] {
        let done = add(&net, &legal, &request(12, 4, method)).unwrap();
        let graph = EventGraph::of(&done.net, &done.marking).unwrap();
        let cycle_time = maxplus::spectrum(&graph).map(|spectrum| spectrum.cycle_time);
        match method {
            Method::MinorRing => assert_eq!(cycle_time.unwrap().to_string(), expected),
            // Three tokens leave no room for the extra place: nothing moves.
            Method::Monitor => assert!(cycle_time.is_err(), "{cycle_time:?}"),
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let net = circle(6);
    let start = Marking(vec![3, 0, 0, 0, 0, 0]);
    let request = request(6, 3, Method::MinorRing);
    let error = add(&net, &start, &request).unwrap_err();
    assert_eq!(
        error,
        NotSeparable::NoRoom {
            tokens: 3,
            separation: 3,
            places: 6
        }
    );
    let start = Marking(vec![1, 0, 0, 0, 0, 0]);
    let far = Request {
        at: Some(vec![6]),
        ..request.clone()
    };
    assert!(matches!(
        add(&net, &start, &far),
        Err(NotSeparable::NotThere { position: 6, .. })
    ));
    let none = Request {
        separation: 0,
        ..request
    };
    assert_eq!(add(&net, &start, &none).unwrap_err(), NotSeparable::Nothing);
}

/// A circuit that shares a transition with a machine of its own.
#[test]
fn an_entangled_circuit_is_separated_too_but_has_no_closed_form() {
    let mut net = circle(8);
    let busy = net.add_place("busy", 2);
    net.add_arc(busy, 3, Direction::PlaceToTransition, 1);
    net.add_arc(busy, 3, Direction::TransitionToPlace, 1);
    let start = Marking(vec![2, 0, 0, 0, 0, 0, 0, 0, 1]);
    let request = request(8, 3, Method::MinorRing);
    let done = add(&net, &start, &request).unwrap();
    assert_eq!(
        done.bound,
        Err(NoBound::Entangled {
            transition: "t3".to_owned()
        })
    );
    let seen = observe(&done.net, &done.marking, &around(8), 3, 10_000).unwrap();
    assert!(seen.separation >= Some(3), "{seen:?}");
}

/// A choice at one place: tokens can leave the circuit, and the report says so.
#[test]
fn a_shared_place_is_told() {
    let mut net = circle(6);
    let exit = net.add_transition("short_cut");
    net.add_arc(2, exit, Direction::PlaceToTransition, 1);
    net.add_arc(4, exit, Direction::TransitionToPlace, 1);
    let request = request(6, 2, Method::MinorRing);
    let done = add(&net, &Marking(vec![1, 0, 0, 0, 0, 0]), &request).unwrap();
    let place = "p2".to_owned();
    assert_eq!(done.bound, Err(NoBound::Shared { place }));
}

#[test]
fn circuits_are_named_or_listed() {
    let net = circle_with_loops(4);
    let (all, complete) = circuit::list(&net, 100);
    assert!(complete);
    assert_eq!(all.len(), 5);
    assert_eq!(all[0], around(4));
    assert_eq!(circuit::list(&net, 2).0.len(), 2);
    assert!(!circuit::list(&net, 2).1);
    assert_eq!(
        Circuit::named(&net, &["p0", "p1", "p2", "p3"]).unwrap(),
        around(4)
    );
    let told = |names: &[&str]| Circuit::named(&net, names).unwrap_err().to_string();
    assert_eq!(
        told(&["p0", "p2"]),
        "no transition leads from place \"p0\" to place \"p2\""
    );
    assert_eq!(
        told(&["P0"]),
        "there is no place \"P0\" in the net; did you mean \"p0\"?"
    );
    assert_eq!(told(&["p0", "p0"]), "place \"p0\" is named twice");
}

/// From a to b there are two transitions, and the first is the only way back.
#[test]
fn a_step_leaves_a_transition_to_the_one_that_needs_it() {
    let mut net = Net::new("two ways");
    let (a, b) = (net.add_place("a", 1), net.add_place("b", 1));
    let (first, second) = (net.add_transition("t1"), net.add_transition("t2"));
    for (from, transition, to) in [(a, first, b), (a, second, b), (b, first, a)] {
        net.add_arc(from, transition, Direction::PlaceToTransition, 1);
        net.add_arc(to, transition, Direction::TransitionToPlace, 1);
    }
    let (listed, _) = circuit::list(&net, 10);
    let both = |circuit: &&Circuit| circuit.places == [a, b];
    let listed = listed.iter().find(both).unwrap();
    assert_eq!(&Circuit::named(&net, &["a", "b"]).unwrap(), listed);
    assert_eq!(listed.transitions, [second, first]);
    // With the second way blocked, the first is needed twice.
    let mut one_way = Net::new("one way");
    let (a, b) = (one_way.add_place("a", 1), one_way.add_place("b", 1));
    let only = one_way.add_transition("t");
    for place in [a, b] {
        one_way.add_arc(place, only, Direction::PlaceToTransition, 1);
        one_way.add_arc(place, only, Direction::TransitionToPlace, 1);
    }
    let told = Circuit::named(&one_way, &["a", "b"]).unwrap_err();
    assert!(told.to_string().contains("is needed elsewhere"), "{told}");
}

proptest! {
    #![proptest_config(properties(2000))]

    #[test]
    fn every_circuit_that_is_listed_can_be_named(
        arcs in prop::collection::vec((0_usize..5, 0_usize..6, any::<bool>()), 1..24),
    ) {
        let arcs = arcs.into_iter().map(|(place, transition, into)| (place, transition, into, 1));
        let net = net_of(6, 6, arcs);
        for circuit in circuit::list(&net, 200).0 {
            let names: Vec<&str> = circuit.places.iter().map(|&place| net.place_id(place)).collect();
            let named = Circuit::named(&net, &names).unwrap();
            prop_assert_eq!(&named.places, &circuit.places);
            let mut transitions = named.transitions.clone();
            transitions.sort_unstable();
            transitions.dedup();
            prop_assert_eq!(transitions.len(), named.places.len(), "each transition once");
        }
    }
}
