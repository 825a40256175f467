//! Network files: what is written is read back, and no text whatever does harm.

use headway_testkit::tier::properties;
use headway_walk::Network;
use headway_walk::network::Builder;
use headway_walk::network::formats::Format;
use proptest::prelude::*;

/// Names with everything that formats give a meaning to.
fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9_]{1,6}",
        "[ \"\\\\<>&;,#{}\\[\\]=:+é日\\-]{1,6}",
        "graph|node|edge|subgraph|strict|->|--|-1.5|.",
        "\\PC{1,5}",
    ]
}

fn any_network() -> impl Strategy<Value = Network> {
    (
        proptest::collection::btree_set(any_name(), 2..8),
        any::<bool>(),
        any::<bool>(),
        proptest::collection::vec((any::<usize>(), any::<usize>()), 0..10),
    )
        .prop_map(|(names, directed, placed, chords)| {
            let mut builder = Builder::default();
            let nodes: Vec<u32> = names.iter().map(|name| builder.node(name)).collect();
            for (index, &node) in nodes.iter().enumerate() {
                let next = nodes[(index + 1) % nodes.len()];
                if directed {
                    builder.arc(node, next);
                } else {
                    builder.link(node, next);
                }
                if placed {
                    builder.place(node, index as f64 * 0.5, -1.25);
                }
            }
            for (one, other) in chords {
                let (one, other) = (nodes[one % nodes.len()], nodes[other % nodes.len()]);
                if one != other {
                    builder.arc(one, other);
                    if !directed {
                        builder.arc(other, one);
                    }
                }
            }
            builder.finish().unwrap()
        })
}

/// All that a file keeps: names, links by name, places.
type Content = (Vec<String>, Vec<(String, String)>, Vec<Option<(f64, f64)>>);

fn content(network: &Network) -> Content {
    let mut names = network.names().to_vec();
    names.sort();
    let named = |(from, to)| (network.name(from).to_owned(), network.name(to).to_owned());
    let mut links: Vec<(String, String)> = network.arcs().map(named).collect();
    links.sort();
    let places = names
        .iter()
        .map(|name| {
            let node = network.node(name).unwrap();
            network.coordinates().map(|places| places[node as usize])
        })
        .collect();
    (names, links, places)
}

proptest! {
    #![proptest_config(properties(400))]

    #[test]
    fn what_is_written_is_read(network in any_network()) {
        for format in Format::WRITTEN {
            let Ok(text) = format.write(&network) else {
                // GraphML and DOT have a few names that they cannot write; JSON has none.
                prop_assert!(format != Format::NodeLink);
                continue;
            };
            let again = format.read(&text).map_err(|error| {
                TestCaseError::fail(format!("{format}: {error}\n{text}"))
            })?;
            let (names, links, places) = content(&again);
            let wanted = content(&network);
            prop_assert_eq!((names, links), (wanted.0, wanted.1), "{}", text);
            if format != Format::Edges {
                prop_assert_eq!(places, wanted.2, "{}", text);
            }
        }
    }

    #[test]
    fn no_text_does_harm(text in "\\PC{0,60}") {
        for format in Format::ALL {
            let _ = format.read(&text);
        }
    }
}
