//! The distance kept, against a brute-force simulation of the walk.

use crate::support::{self, all_distances, simulate, simulate_all};
use headway_testkit::tier::properties;
use headway_walk::network::Builder;
use headway_walk::walk::kept::{self, Offsets};
use headway_walk::{Network, Node, Walk, walk::search, walk::tour};
use proptest::prelude::*;

/// A strongly connected network: a cycle both ways or one way, and chords.
fn any_network() -> impl Strategy<Value = Network> {
    (3usize..9, any::<bool>()).prop_flat_map(|(nodes, one_way)| {
        proptest::collection::vec((0..nodes, 0..nodes, any::<bool>()), 0..8).prop_map(
            move |chords| {
                let mut builder = Builder::default();
                for node in 0..nodes {
                    builder.node(&node.to_string());
                }
                for node in 0..nodes {
                    let next = ((node + 1) % nodes) as Node;
                    if one_way {
                        builder.arc(node as Node, next);
                    } else if node + 1 < nodes || nodes.is_multiple_of(2) {
                        builder.link(node as Node, next);
                    }
                }
                for (one, other, both) in chords {
                    if both || !one_way {
                        builder.link(one as Node, other as Node);
                    } else {
                        builder.arc(one as Node, other as Node);
                    }
                }
                builder.finish().unwrap()
            },
        )
    })
}

/// A closed walk over all nodes, with some wandering.
fn any_walk() -> impl Strategy<Value = (Network, Walk)> {
    (
        any_network(),
        proptest::collection::vec(any::<u16>(), 0..14),
    )
        .prop_map(|(network, turns)| {
            let mut positions = vec![0];
            for turn in turns {
                let neighbours = network.neighbours(positions[positions.len() - 1]);
                positions.push(neighbours[turn as usize % neighbours.len()]);
            }
            for target in network.nodes().chain([0]) {
                let from = positions[positions.len() - 1];
                positions.extend(headway_walk::network::distance::path(
                    &network, from, target,
                ));
            }
            positions.pop();
            let walk = Walk::new(&network, positions).unwrap();
            (network, walk)
        })
}

proptest! {

    #![proptest_config(properties(256))]

    #[test]
    fn tokens_at_fixed_places((network, walk) in any_walk(), places in proptest::collection::vec(any::<u16>(), 1..5)) {
        let hops = all_distances(&network);
        let tokens: Vec<usize> = places.iter().map(|&place| place as usize % walk.len()).collect();
        let offsets = Offsets::between(walk.len(), &tokens);
        let nearest = kept::nearest(&network, &walk, &offsets);
        prop_assert_eq!(nearest.map(|nearest| nearest.distance), simulate(&hops, walk.positions(), &tokens));
        if let Some(nearest) = nearest {
            // The witness is one.
            let (one, other) = nearest.positions;
            prop_assert!(offsets.contains((other as usize + walk.len() - one as usize) % walk.len()));
            let (a, b) = (walk.at(one as usize), walk.at(other as usize));
            prop_assert_eq!(hops[a as usize][b as usize], nearest.distance);
        }
    }

    #[test]
    fn tokens_at_a_separation((network, walk) in any_walk(), tokens in 2usize..5, less in 0usize..3) {
        let hops = all_distances(&network);
        let separation = (walk.len() / tokens).saturating_sub(less);
        prop_assume!(separation > 0);
        let offsets = Offsets::of_tokens(walk.len(), tokens, separation);
        let kept = kept::nearest(&network, &walk, &offsets).map(|nearest| nearest.distance);
        prop_assert_eq!(kept, simulate_all(&hops, walk.positions(), tokens, separation));
    }

    /// The table of separations is the formula of the distance kept, turned round.
    #[test]
    fn separations_needed((network, walk) in any_walk()) {
        let hops = all_distances(&network);
        let kept = |separation: usize| {
            (0..walk.len())
                .flat_map(|i| (separation..=walk.len() - separation).map(move |j| (i, j)))
                .map(|(i, j)| hops[walk.at(i) as usize][walk.at(i + j) as usize])
                .min()
                .unwrap()
        };
        let separations = kept::separations(&network, &walk);
        for (distance, &separation) in separations.iter().enumerate() {
            let least = (1..=walk.len() / 2).find(|&g| kept(g) >= distance as u32);
            prop_assert_eq!(least, Some(separation as usize));
        }
        let beyond = separations.len() as u32;
        prop_assert!((1..=walk.len() / 2).all(|g| kept(g) < beyond));
        for g in 1..=walk.len() / 2 {
            let offsets = Offsets::at_least(walk.len(), g);
            prop_assert_eq!(kept::nearest(&network, &walk, &offsets).unwrap().distance, kept(g));
        }
    }

    #[test]
    fn visits_and_the_time_between((network, walk) in any_walk(), tokens in 1usize..4) {
        prop_assume!(tokens <= walk.len());
        let places = walk.even_tokens(tokens);
        let between = walk.rounds_between_visits(&network, &places);
        for node in network.nodes() {
            let visited = |round: usize| places.iter().any(|&place| walk.at(place + round) == node);
            let rounds: Vec<usize> = (0..2 * walk.len()).filter(|&round| visited(round)).collect();
            let gaps: Vec<usize> = rounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let (least, most) = between[node as usize];
            if let (Some(&min), Some(&max)) = (gaps.iter().min(), gaps.iter().max()) {
                prop_assert_eq!((least as usize, most as usize), (min, max));
            }
        }
    }
}

proptest! {
    #![proptest_config(properties(40))]

    /// Whatever is found is a closed walk over all nodes that keeps what is said.
    #[test]
    fn found_walks_keep_their_promise(network in any_network(), tokens in 2usize..4, seed in any::<u64>()) {
        let hops = all_distances(&network);
        let tree = tour::tree(&network);
        let at_most = 2 * (network.len() - 1);
        prop_assert!(!network.is_symmetric() || tree.len() == at_most);
        let request = search::Request { seed, ..search::Request::new(tokens) };
        let found = search::walk(&network, &request, &mut |_| {}).unwrap();
        let again = Walk::new(&network, found.walk.positions().to_vec()).unwrap();
        let kept = if again.len() < tokens { Some(0) } else {
            simulate_all(&hops, again.positions(), tokens, again.len() / tokens)
        };
        prop_assert_eq!(found.distance(), kept);
        prop_assert!(found.distance() <= found.bound.map(|bound| bound.distance));
    }
}

/// Breaking a walk is noticed: one node moved, and the simulation disagrees.
#[test]
fn a_wrong_walk_is_refused() {
    let network = support::network(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]).unwrap();
    assert!(Walk::new(&network, vec![0, 1, 2, 3]).is_ok());
    assert!(Walk::new(&network, vec![0, 2, 1, 3]).is_err());
    assert!(Walk::new(&network, vec![0, 1]).is_err());
    assert!(Walk::new(&network, vec![]).is_err());
}
