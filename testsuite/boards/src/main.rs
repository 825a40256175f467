//! x
use headway_boards::*;
use std::time::Duration;
fn main() {
    let image = image::build("sensor", &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let plan = headway_node::Plan::new(8, 2, 2).unwrap();
    let s = yard::Settings {
        plan,
        ring: headway_node::RingId([7; 16]),
        fence_floor: 0,
        boards: (0..8).collect(),
        times: [300, 2000, 0, 60_000, 100],
        sample: 5,
        patience: 60_000,
        keys: None,
        faults: wire::Faults {
            loss: 0.0,
            repeat: 0.0,
            corrupt: 0.0,
            delay: Duration::ZERO,
        },
        seed: 1,
    };
    let mut y = yard::Yard::start(&image, folder.path(), s).unwrap();
    println!("{:?}", y.settle(Duration::from_secs(20)));
    y.run_for(Duration::from_secs(5));
    println!("{:?}", y.ask());
    println!(
        "{:#?} {:?} {:?} {:?}",
        y.statuses(),
        y.observer().visits(),
        y.observer().violation_count(),
        y.observer().least_distance()
    );
}
