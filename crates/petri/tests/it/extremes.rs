//! At the ends of the numbers: exact, or an error that names the place.

use headway_petri::net::Direction::{PlaceToTransition, TransitionToPlace};
use headway_petri::play::{NotPlayable, Timed};
use headway_petri::{EventGraph, Marking, Net, maxplus};
use headway_testkit::tier::properties;
use num_bigint::BigUint;
use proptest::prelude::*;

use crate::common::arc;

/// One place, one transition that takes `taken` tokens and puts down `put`.
fn loop_of(taken: u64, put: u64) -> Net {
    let mut net = Net::new("loop");
    let (p, t) = (net.add_place("p", 1), net.add_transition("t"));
    net.add_arc(p, t, PlaceToTransition, taken);
    net.add_arc(p, t, TransitionToPlace, put);
    net
}

#[test]
fn doubling_ends_with_an_error_that_names_the_place() {
    let net = loop_of(1, 2);
    let (adjacency, marking) = (net.adjacency(), Marking(vec![1]));
    let mut play = Timed::new(&adjacency, &[1], &marking).unwrap();
    // The first step is round 1, in which the first token becomes usable.
    for round in 1..64 {
        assert_eq!(play.step().unwrap().unwrap().time, round);
        assert_eq!(play.marking().0, [1 << round]);
    }
    let refused = play.step().map(|_| ());
    assert_eq!(refused, Err(NotPlayable::Overflow { place: 0 }));
}

#[test]
fn a_round_beyond_the_last_is_an_error() {
    let net = loop_of(1, 1);
    let adjacency = net.adjacency();
    let mut timed = Timed::new(&adjacency, &[u64::MAX / 2], &Marking(vec![1])).unwrap();
    let fine = (0..9).take_while(|_| timed.step().is_ok()).count();
    assert!(fine < 3, "{fine}");
}

#[test]
fn totals_and_cyclicities_are_exact() {
    assert_eq!(Marking(vec![u64::MAX; 5]).total(), 5 * u128::from(u64::MAX));
    // Circuits with the first forty primes as tokens, all equally slow.
    let primes: Vec<u64> = (2..200)
        .filter(|n| (2..*n).all(|k| n % k != 0))
        .take(40)
        .collect();
    let arc = |(node, &tokens): (u32, &u64)| arc(node, node, tokens, tokens);
    let graph = EventGraph::new(40, (0..).zip(&primes).map(arc).collect()).unwrap();
    let product = primes
        .iter()
        .map(|&prime| BigUint::from(prime))
        .product::<BigUint>();
    assert!(product.bits() > 128);
    assert_eq!(maxplus::spectrum(&graph).unwrap().cyclicity, product);
}

proptest! {

    #![proptest_config(properties(256))]

    /// As with numbers of 128 bits, or an error exactly where those leave 64.
    #[test]
    fn a_round_is_exact_or_refused(
        tokens in prop_oneof![0..9_u64, u64::MAX - 9..=u64::MAX, any::<u64>()],
        taken in prop_oneof![1..4_u64, Just(u64::from(u32::MAX))],
        put in prop_oneof![1..4_u64, Just(u64::from(u32::MAX))],
    ) {
        let net = loop_of(taken, put);
        let adjacency = net.adjacency();
        let marking = Marking(vec![tokens]);
        let mut play = Timed::new(&adjacency, &[1], &marking).unwrap();
        let times = u128::from(tokens / taken);
        let then = u128::from(tokens % taken) + times * u128::from(put);
        let played = play.step().map(|_| ());
        match u64::try_from(then) {
            Ok(then) => {
                prop_assert_eq!(played, Ok(()));
                prop_assert_eq!(&play.marking().0, &[then]);
            }
            Err(_) => prop_assert_eq!(played, Err(NotPlayable::Overflow { place: 0 })),
        }
    }
}
