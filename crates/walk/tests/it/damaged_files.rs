//! Network and walk files that are no longer what they were: refused, or read as
//! something that survives being written.

use std::collections::BTreeSet;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use headway_testkit::{damage, tier};
use headway_walk::network::formats::Format;
use headway_walk::network::generators::Generator;
use headway_walk::walk::search::{self, Request};
use headway_walk::{Network, Walk, walk::file};

/// How many files are damaged, of each kind.
fn files() -> u64 {
    tier::pick(2_000, 60_000, 600_000)
}

fn below(seed: u64) -> impl FnMut(usize) -> usize {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    move |bound| (random.next_u64() % bound as u64) as usize
}

/// What every format keeps: who is linked to whom.
fn links(network: &Network) -> BTreeSet<(&str, &str)> {
    let from = |node| {
        let to = network.neighbours(node).iter();
        to.map(move |&to| (network.name(node), network.name(to)))
    };
    network.nodes().flat_map(from).collect()
}

#[test]
fn a_damaged_network_is_refused_or_read() {
    let network = Generator::Figure7.network(0).unwrap();
    for format in Format::WRITTEN {
        let sample = format.write(&network).unwrap();
        let (mut read, mut refused) = (0, 0);
        for seed in 0..files() {
            let bytes = damage::damaged(sample.as_bytes(), &mut below(seed));
            let text = String::from_utf8_lossy(&bytes);
            let Ok(network) = format.read(&text) else {
                refused += 1;
                continue;
            };
            read += 1;
            // A name may be one that this format can read but not write.
            if let Ok(written) = format.write(&network) {
                let again = format.read(&written).unwrap_or_else(|error| {
                    panic!("{format}, seed {seed}: {error}\n{text}\n{written}")
                });
                assert_eq!(
                    links(&again),
                    links(&network),
                    "{format}, seed {seed}\n{text}"
                );
            }
        }
        assert!(
            read > files() / 100 && refused > files() / 100,
            "{format} {read} {refused}"
        );
    }
}

#[test]
fn a_damaged_walk_is_refused_or_read() {
    let network = Generator::Figure7.network(0).unwrap();
    let request = Request::new(2);
    let found = search::walk(&network, &request, &mut |_| {}).unwrap();
    let content = file::content(&network, &request, &found, file::Tables::All);
    let sample = serde_json::to_string_pretty(&content).unwrap();
    let (mut read, mut refused) = (0, 0);
    for seed in 0..files() {
        let bytes = damage::damaged(sample.as_bytes(), &mut below(seed));
        let text = String::from_utf8_lossy(&bytes);
        match file::read(&text) {
            Ok(file) => {
                read += 1;
                let walk = Walk::new(&file.network, file.walk.positions().to_vec());
                assert_eq!(walk, Ok(file.walk.clone()), "{text}");
                let sizes = 1..=file.walk.len();
                assert!(sizes.contains(&file.tokens) && sizes.contains(&file.separation));
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty(), "{text}");
            }
        }
    }
    assert!(
        read > files() / 100 && refused > files() / 100,
        "{read} {refused}"
    );
}
