//! The protocol itself on a walk: once legitimate, tokens keep in the network what
//! the walk promises, whatever the start.

use crate::support::all_distances;
use headway_core::Configuration;
use headway_testkit::tier::properties;
use headway_walk::network::generators::Generator;
use headway_walk::walk::search::{self, Request};
use headway_walk::{Network, Walk};
use proptest::prelude::*;

/// The least distance between two tokens.
fn apart(hops: &[Vec<u32>], walk: &Walk, state: &Configuration) -> u32 {
    let nodes: Vec<usize> = state
        .processes
        .iter()
        .enumerate()
        .flat_map(|(position, process)| {
            std::iter::repeat_n(walk.at(position) as usize, process.tokens() as usize)
        })
        .collect();
    let mut least = u32::MAX;
    for (index, &one) in nodes.iter().enumerate() {
        for &other in &nodes[..index] {
            least = least.min(hops[one][other]);
        }
    }
    least
}

fn networks() -> Vec<Network> {
    ["figure7", "grid:4x4", "ring:9", "tree:9", "geometric:20"]
        .iter()
        .map(|text| text.parse::<Generator>().unwrap().network(1).unwrap())
        .collect()
}

proptest! {
    #![proptest_config(properties(12))]

    #[test]
    fn keeps_the_promise(
        network in 0usize..5,
        tokens in 2usize..4,
        places in proptest::collection::vec((any::<usize>(), any::<bool>()), 3),
        counters in proptest::collection::vec(any::<u32>(), 8),
    ) {
        let network = &networks()[network];
        let hops = all_distances(network);
        let found = search::walk(network, &Request::new(tokens), &mut |_| {}).unwrap();
        let ring = found.walk.ring(tokens).unwrap();
        let mut state = Configuration::empty(&ring, tokens as u32, 1);
        for &(place, resting) in &places[..tokens] {
            let process = &mut state.processes[place % ring.len()];
            if resting {
                process.resting += 1;
            } else {
                process.queued += 1;
            }
        }
        for (process, counter) in state.processes.iter_mut().zip(counters.iter().cycle()) {
            process.counter = (counter % ring.separation().hops()) as i32;
        }
        let mut rounds = 0;
        while ring.legitimate(&state, tokens as u64).is_err() {
            ring.round(&mut state);
            rounds += 1;
            prop_assert!(rounds < 4 * ring.len(), "does not stabilize");
        }
        for _ in 0..2 * ring.len() {
            prop_assert!(apart(&hops, &found.walk, &state) >= found.distance().unwrap());
            ring.round(&mut state);
        }
    }
}

/// The promise is about legitimate states only: a start can break it.
#[test]
fn a_pile_is_not_apart() {
    let network = &networks()[1];
    let found = search::walk(network, &Request::new(2), &mut |_| {}).unwrap();
    let ring = found.walk.ring(2).unwrap();
    let piled = Configuration::piled(&ring, 2, 0);
    assert_eq!(apart(&all_distances(network), &found.walk, &piled), 0);
    assert!(found.distance().unwrap() > 0);
}
