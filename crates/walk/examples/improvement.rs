//! What the search gains over the tour of a spanning tree: the table in
//! docs/research/walks.md.
//!
//! ```sh
//! cargo run --release -p headway-walk --example improvement            # all
//! cargo run --release -p headway-walk --example improvement 100 1000   # some sizes
//! ```

use headway_walk::network::generators::Generator;
use headway_walk::walk::kept::{self, Offsets};
use headway_walk::walk::search::{self, Request};
use headway_walk::walk::tour;

const SEED: u64 = 2009;

fn main() {
    let chosen: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|size| size.parse().ok())
        .collect();
    println!(
        "| network | nodes | tokens | tree: steps | tree: kept | search: steps | search: kept | at most |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    // With four tokens the largest networks would take far longer than all the rest.
    let (few, two): (&[usize], &[usize]) = (&[2, 4], &[2]);
    for (size, side, tokens) in [(100, 10, few), (1000, 32, few), (10_000, 100, two)] {
        if !chosen.is_empty() && !chosen.contains(&size) {
            continue;
        }
        for (name, generator) in [
            ("grid", format!("grid:{side}x{side}")),
            ("torus", format!("torus:{side}x{side}")),
            ("random geometric", format!("geometric:{size}")),
        ] {
            for &tokens in tokens {
                row(name, &generator, tokens);
            }
        }
    }
}

fn row(name: &str, generator: &str, tokens: usize) {
    let generator: Generator = generator.parse().expect("a generator");
    let network = generator.network(SEED).expect("a connected network");
    let tree = tour::tree(&network);
    let of_tree = kept::nearest(&network, &tree, &Offsets::furthest(tree.len(), tokens))
        .expect("two tokens")
        .distance;
    let request = Request {
        seed: SEED,
        ..Request::new(tokens)
    };
    let found = search::walk(&network, &request, &mut |doing| {
        eprintln!("{name}: {doing}");
    })
    .expect("a tour at least");
    println!(
        "| {name} | {} | {tokens} | {} | {of_tree} | {} | {} | {} |",
        network.len(),
        tree.len(),
        found.walk.len(),
        found.distance().expect("two tokens"),
        found.bound.expect("two tokens").distance
    );
}
