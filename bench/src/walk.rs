//! Walks over networks.

use headway_walk::network::distance::Reach;
use headway_walk::network::generators::Generator;
use headway_walk::plan::conflicts::Conflicts;
use headway_walk::walk::formation::Formations;
use headway_walk::walk::kept::{self, Offsets};
use headway_walk::walk::search::{self, Request};
use headway_walk::{NEVER, Network, Walk, plan, walk::tour};

use crate::table::{Goal, Row, Table, best_of, peak_bytes, ratio, time};

pub(crate) fn measure(table: &mut Table) {
    let torus = Generator::Torus(100, 100).network(0).expect("a torus");
    let short = (0..8)
        .find_map(|stream| Formations::new(&torus, 2, 90, &NEVER).walk(1, stream, 20_000_000))
        .expect("formations 90 apart");
    let long = lingering(&torus, &short);
    distance_kept(table, &torus, &long);
    longer_walk(table, &torus, &short, &long);
    improvement(table);
    several_tokens(table);
    plan(table);
    stations(table);
}

/// An order from ring-like replicas under shuffled names, against reading the conflicts once.
fn plan(table: &mut Table) {
    const MEMBERS: usize = 1000;
    // 7919 is a prime: places and names have nothing to do with each other.
    let name = |place: usize| format!("m{}", place % MEMBERS * 7919 % MEMBERS);
    let group = |first: usize| (first..first + 3).map(name).collect::<Vec<_>>();
    let groups = (0..MEMBERS).map(|at| ("a range", group(at * 31 % MEMBERS)));
    let conflicts = Conflicts::new(groups).expect("conflicts");
    let request = plan::Request { seed: 1, effort: 1 };
    let look = || plan::best(&conflicts, request, &mut |_| {}, &false.into());
    let found = look();
    let spent = best_of(3, look);
    table.add(Row {
        work: "order of 1,000 members with ring-like replicas, factor 3".to_owned(),
        ours: format!("d = {} in {}", found.separation, time(spent)),
        baseline: format!(
            "no order has less than d = {}; 10 s",
            found.bound.separation
        ),
        ratio: f64::from(found.separation) / f64::from(found.bound.separation)
            * (spent.as_secs_f64() / 10.0).max(1.0),
        goal: Goal::AtMost(1.0),
    });
}

/// Stations and an order for brokers of which every partition has three replicas, in three of
/// the racks.
fn stations(table: &mut Table) {
    const BROKERS: usize = 1000;
    let replicas = |partition: usize, racks: usize| {
        (0..3).map(move |replica| {
            // Spread over the brokers of a rack without chance.
            let within = (partition * 7919 + replica * 104_729) * 31 % 100_003 % (BROKERS / racks);
            (within * racks + (partition + replica) % racks).to_string()
        })
    };
    for racks in [3, 5] {
        let groups = (0..10_000).map(|at| ("a partition", replicas(at, racks)));
        let conflicts = Conflicts::new(groups).expect("conflicts");
        let request = plan::Request { seed: 1, effort: 1 };
        let start = std::time::Instant::now();
        let order = plan::best(&conflicts, request, &mut |_| {}, &NEVER);
        let found = plan::stations::fewest(&conflicts, request, &mut |_| {}, &NEVER);
        let spent = start.elapsed();
        table.add(Row {
            work: format!("stations of 1,000 brokers in {racks} racks, 10,000 partitions"),
            ours: format!(
                "{}, at least {}; d = {}; in {}",
                found.stations.len(),
                found.at_least,
                order.separation,
                time(spent)
            ),
            baseline: format!("{racks} stations in 10 s"),
            ratio: (spent.as_secs_f64() / 10.0).max(found.stations.len() as f64 / racks as f64),
            goal: Goal::AtMost(1.0),
        });
    }
}

/// Four tokens on thousands of nodes, against what no walk can exceed.
fn several_tokens(table: &mut Table) {
    let generator: Generator = "geometric:3815".parse().expect("a generator");
    let network = generator.network(2009).expect("a connected network");
    let start = std::time::Instant::now();
    let found = search::walk(&network, &Request::new(4), &mut |_| {}).expect("a walk");
    let kept = found.distance().expect("four tokens");
    let bound = found.bound.expect("four tokens").distance;
    table.add(Row {
        work: "distance 4 tokens keep, random geometric network of 3,815 nodes".to_owned(),
        ours: format!("search {kept} in {}", time(start.elapsed())),
        baseline: format!("no walk keeps more than {bound}"),
        ratio: f64::from(kept) / f64::from(bound),
        goal: Goal::AtLeast(0.5),
    });
}

/// The walk, but every step taken there and back until it has taken about ten
/// times as long: many visits per node, all about the same time.
fn lingering(network: &Network, walk: &Walk) -> Walk {
    let positions = (0..walk.len())
        .flat_map(|step| {
            let times = if step % 2 == 0 { 9 } else { 11 };
            (0..times).map(move |index| (step, index))
        })
        .map(|(step, index)| walk.at(step + index % 2))
        .collect();
    Walk::new(network, positions).expect("still a closed walk")
}

fn nearest(network: &Network, walk: &Walk) -> u32 {
    kept::nearest(network, walk, &Offsets::furthest(walk.len(), 2))
        .expect("two tokens")
        .distance
}

/// Against a search from every node as far as the answer, which is what the needed
/// distances cost; and its memory against a matrix of all of them.
fn distance_kept(table: &mut Table, network: &Network, walk: &Walk) {
    let answer = nearest(network, walk);
    let ours = best_of(3, || nearest(network, walk));
    let mut reach = Reach::new(network.len());
    let searches = best_of(3, || {
        let mut reached = 0u64;
        for node in network.nodes() {
            reach.search(network, node, answer, |_, _| {
                reached += 1;
                false
            });
        }
        reached
    });
    let size = format!("W = {}, V = {}", walk.len(), network.len());
    table.add(Row {
        work: format!("distance kept ({answer}), {size}"),
        ours: time(ours),
        baseline: format!("all distances up to {answer} {}", time(searches)),
        ratio: ratio(ours, searches),
        goal: Goal::AtMost(3.0),
    });
    let (_, bytes) = peak_bytes(|| nearest(network, walk));
    let matrix = 2 * network.len() * network.len();
    table.add(Row {
        work: format!("memory of the distance kept, {size}"),
        ours: format!("{:.1} MB", bytes as f64 / 1e6),
        baseline: format!("a matrix of all distances {:.0} MB", matrix as f64 / 1e6),
        ratio: matrix as f64 / bytes as f64,
        goal: Goal::AtLeast(50.0),
    });
}

/// Ten times the walk over the same network: far from a hundred times the time.
fn longer_walk(table: &mut Table, network: &Network, short: &Walk, long: &Walk) {
    let few = best_of(3, || nearest(network, short));
    let many = best_of(3, || nearest(network, long));
    table.add(Row {
        work: format!("distance kept, W = {} against {}", long.len(), short.len()),
        ours: time(many),
        baseline: time(few),
        ratio: ratio(many, few),
        goal: Goal::AtMost(20.0),
    });
}

fn improvement(table: &mut Table) {
    let network = Generator::Torus(32, 32).network(0).expect("a torus");
    let tree = tour::tree(&network);
    let of_tree = nearest(&network, &tree);
    let found = search::walk(&network, &Request::new(2), &mut |_| {}).expect("a walk");
    let of_search = found.distance().expect("two tokens");
    table.add(Row {
        work: "distance 2 tokens keep, torus of 1,024 nodes".to_owned(),
        ours: format!("search {of_search} in {} steps", found.walk.len()),
        baseline: format!("spanning tree {of_tree} in {} steps", tree.len()),
        ratio: f64::from(of_search) / f64::from(of_tree.max(1)),
        goal: Goal::AtLeast(16.0),
    });
}
