//! Rings that meet: the distance kept against a round-by-round simulation over the
//! whole common period, and impossibility against every choice of phases.

use crate::support::{self, all_distances};
use headway_walk::network::generators::Generator;
use headway_walk::walk::rings::{self, Rings, RingsError, Timing};
use headway_walk::{Network, Node};

fn simulated(network: &Network, rings: &Rings, timing: &Timing) -> u32 {
    let hops = all_distances(network);
    let period: u64 = rings
        .rings()
        .iter()
        .zip(&timing.paces)
        .map(|(ring, &pace)| ring.len() as u64 * u64::from(pace))
        .product();
    let mut nearest = u32::MAX;
    for round in 0..period {
        let nodes: Vec<Node> = (0..timing.tokens.len())
            .map(|token| timing.node(rings, token, round))
            .collect();
        for (index, &one) in nodes.iter().enumerate() {
            for &other in &nodes[..index] {
                nearest = nearest.min(hops[one as usize][other as usize]);
            }
        }
    }
    nearest
}

/// The best over every choice of phases, by simulation.
fn best_of_all(network: &Network, rings: &Rings, timing: &Timing) -> u32 {
    let mut best = 0;
    let mut phases = vec![0u32; timing.tokens.len()];
    let period = |ring: usize| rings.rings()[ring].len() as u32 * timing.paces[ring];
    loop {
        let mut other = timing.clone();
        for (token, &phase) in other.tokens.iter_mut().zip(&phases) {
            token.1 = phase;
        }
        best = best.max(simulated(network, rings, &other));
        let Some(next) =
            (0..phases.len()).find(|&token| phases[token] + 1 < period(timing.tokens[token].0))
        else {
            return best;
        };
        phases[..next].fill(0);
        phases[next] += 1;
    }
}

#[test]
fn found_timings_keep_what_they_say_and_no_more_can_be_had() {
    for (generator, tokens) in [
        (Generator::Figure7, 2),
        (Generator::Grid(3, 3), 2),
        (Generator::Grid(3, 4), 2),
        (Generator::Star(4), 3),
        (Generator::Complete(5), 2),
        (Generator::Tree(6), 5),
    ] {
        let network = generator.network(0).unwrap();
        let (rings, timing) = rings::best(&network, tokens, 2, 3, 1).unwrap();
        let again = Rings::new(&network, rings.rings().to_vec()).unwrap();
        assert_eq!(again, rings);
        assert_eq!(
            simulated(&network, &rings, &timing),
            timing.distance,
            "{generator:?}"
        );
        assert!(timing.proved);
        if tokens == 2 {
            assert_eq!(best_of_all(&network, &rings, &timing), timing.distance);
        }
    }
}

/// Two rings of coprime lengths that share a node: tokens meet whatever is done,
/// unless one ring is slowed down.
#[test]
fn coprime_rings_that_meet_cannot_be_timed() {
    let links = [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 5), (5, 0)];
    let network = support::network(6, &links).unwrap();
    let rings = Rings::new(&network, vec![vec![0, 1, 2], vec![0, 3, 4, 5]]).unwrap();
    let timing = rings.timed(&network, 2, 1).unwrap();
    assert_eq!(timing.distance, 0);
    let clash = timing.clash.clone().unwrap();
    assert_eq!((clash.rings, clash.distance, clash.phases), ((0, 1), 0, 1));
    assert_eq!(best_of_all(&network, &rings, &timing), 0);
    assert!(timing.in_words(&network, &rings).contains("cannot be had"));
    // Resting 2 rounds per node on the short ring and 3 on the long one, they come
    // round every 6 and 12 rounds, and can be kept out of each other's way.
    let slower = rings.timed(&network, 2, 4).unwrap();
    assert!(slower.distance >= 1, "{slower:?}");
    assert_eq!(slower.paces, [2, 3]);
    assert_eq!(simulated(&network, &rings, &slower), slower.distance);
}

#[test]
fn wrong_rings_are_refused() {
    let network = Generator::Grid(2, 3).network(0).unwrap();
    assert!(matches!(
        Rings::new(&network, vec![vec![0, 2]]),
        Err(RingsError::NoLink { ring: 1, .. })
    ));
    assert!(matches!(
        Rings::new(&network, vec![vec![0, 1, 4, 3]]),
        Err(RingsError::LeftOut { .. })
    ));
    let rings = Rings::new(&network, vec![vec![0, 1, 4, 3], vec![1, 2, 5, 4]]).unwrap();
    assert!(matches!(
        rings.timed(&network, 1, 1),
        Err(RingsError::TooFewTokens { .. })
    ));
}
