//! The table in docs/research/walks.md is what `--example improvement` prints: its quickest
//! rows are made again here.

use headway_walk::network::generators::Generator;
use headway_walk::walk::kept::{self, Offsets};
use headway_walk::walk::search::{self, Request};
use headway_walk::walk::tour;

#[test]
fn rows_come_out_again() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/research/walks.md");
    let guide = std::fs::read_to_string(path).unwrap();
    for (name, generator) in [
        ("grid", Generator::Grid(10, 10)),
        ("torus", Generator::Torus(10, 10)),
    ] {
        let network = generator.network(2009).unwrap();
        let tree = tour::tree(&network);
        let of_tree = kept::nearest(&network, &tree, &Offsets::furthest(tree.len(), 2)).unwrap();
        let request = Request {
            seed: 2009,
            ..Request::new(2)
        };
        let found = search::walk(&network, &request, &mut |_| {}).unwrap();
        let row = format!(
            "| {name} | 100 | 2 | {} | {} | {} | {} | {} |",
            tree.len(),
            of_tree.distance,
            found.walk.len(),
            found.distance().unwrap(),
            found.bound.unwrap().distance
        );
        assert!(
            guide.contains(&row),
            "docs/research/walks.md has no row {row}"
        );
    }
}
