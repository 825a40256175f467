//! What is written is read as it was, by two readers.

use headway_petri::net::{Marking, Net, Position};
use headway_petri::{pnml, ring};
use headway_testkit::tier::properties;
use proptest::prelude::*;

use crate::common::{direction, ring_and_state};
use crate::pnml::read_one;
use crate::pnml::tree::{plain, plain_by_tree};

/// Any net, with awkward names.
fn any_net() -> impl Strategy<Value = (Net, Marking)> {
    let place = (
        0_u64..4,
        any::<u64>(),
        prop::option::of((-999_i32..999, -999_i32..999)),
    );
    let name = "[ a-z<>&\"'é]{0,4}";
    let arc = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        any::<bool>(),
        1_u64..4,
    );
    (
        prop::collection::vec((place, name), 1..6),
        prop::collection::vec(name, 1..6),
        prop::collection::vec(arc, 0..12),
    )
        .prop_map(|(places, transitions, arcs)| {
            let mut net = Net::new("any");
            let mut tokens = Vec::new();
            for (index, ((holding, count, at), name)) in places.into_iter().enumerate() {
                let place = net.add_place(&format!("p{index}"), holding);
                net.name_last_place(name.trim());
                let position = at.map(|(x, y)| Position {
                    x: f64::from(x) / 10.0,
                    y: f64::from(y) / 10.0,
                });
                net.set_place_position(place, position);
                tokens.push(if count % 3 == 0 { 0 } else { count });
            }
            for (index, name) in transitions.into_iter().enumerate() {
                net.add_transition(&format!("t{index}"));
                net.name_last_transition(name.trim());
            }
            for (place, transition, into, weight) in arcs {
                let place = place.index(net.places());
                let transition = transition.index(net.transitions());
                net.add_arc(place, transition, direction(into), weight);
            }
            (net, Marking(tokens))
        })
}

proptest! {
    #![proptest_config(properties(2000))]

    #[test]
    fn a_ring_survives_the_file((ring, state) in ring_and_state(8)) {
        let (net, marking) = ring::to_net(&ring, &state).unwrap();
        let text = pnml::to_string(&net, &marking);
        let read = read_one(&text);
        prop_assert_eq!(&read.net, &net);
        prop_assert_eq!(&read.marking, &marking);
        prop_assert!(read.remarks.is_empty(), "{:?}", read.remarks);
        prop_assert_eq!(ring::from_net(&read.net, &read.marking).unwrap(), (ring, state));
        prop_assert_eq!(plain_by_tree(&text), plain(&net, &marking));
    }

    #[test]
    fn any_net_survives_the_file((net, marking) in any_net()) {
        let text = pnml::to_string(&net, &marking);
        let read = read_one(&text);
        prop_assert_eq!(&read.net, &net, "{}", text);
        prop_assert_eq!(&read.marking, &marking);
        prop_assert_eq!(plain_by_tree(&text), plain(&net, &marking));
    }

    /// Whatever the bytes are: an answer, no panic.
    #[test]
    fn broken_files_are_refused_or_read(
        (ring, state) in ring_and_state(3),
        cut in any::<prop::sample::Index>(),
        put in any::<prop::sample::Index>(),
        with in prop::sample::select(vec!["<", ">", "/", "\"", "&", "id", "<place/>", "</page>", "\0", "é", "<!--", "]]>"]),
    ) {
        let (net, marking) = ring::to_net(&ring, &state).unwrap();
        let text = pnml::to_string(&net, &marking);
        let mut bytes = text.clone().into_bytes();
        let at = put.index(bytes.len());
        bytes.splice(at..at, with.bytes());
        // What is not well-formed XML, by a second reader, is not read.
        if pnml::read(&bytes).is_ok() {
            let text = std::str::from_utf8(&bytes).unwrap();
            let tree = roxmltree::Document::parse(text);
            prop_assert!(tree.is_ok(), "{}: {}", tree.unwrap_err(), text);
        }
        let cut = &text.as_bytes()[..cut.index(text.len() - 10)];
        prop_assert!(pnml::read(cut).is_err());
    }
}
