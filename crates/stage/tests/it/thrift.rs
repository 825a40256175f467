//! How many datagrams and how much time a round takes in good order: no more than a
//! datagram to each neighbour, in a ring of two a datagram for both nodes together, and
//! no more than the time of one.

use std::time::Duration;

use headway_node::{Config, Plan, RingId, Role};
use headway_stage::world::{Conditions, Settings, Work, World};

const ONE_WAY: Duration = Duration::from_micros(200);

fn ring(nodes: u32) -> World {
    let plan = Plan::new(nodes, 1, 1).expect("it fits");
    let configs = (0..nodes).map(|index| Config {
        role: Role::usual(index, nodes),
        ..Config::new(RingId([1; 16]), index, plan)
    });
    let settings = Settings {
        conditions: regular(),
        work: Work {
            min: Duration::ZERO,
            max: Duration::ZERO,
        },
        ..Settings::default()
    };
    World::new(configs, settings).expect("configured")
}

fn regular() -> Conditions {
    Conditions {
        delay_min: ONE_WAY,
        delay_max: ONE_WAY,
        ..Conditions::default()
    }
}

/// Datagrams to a neighbour in a round, and one-way times in a round, over a second.
fn cost(world: &mut World) -> (f64, f64) {
    let count = |world: &World| -> (u64, u64) {
        let datagrams = world.machines().iter().map(|node| node.datagrams()).sum();
        (datagrams, world.machines()[0].rounds())
    };
    let before = count(world);
    world.run_for(Duration::from_secs(1));
    let after = count(world);
    let rounds = (after.1 - before.1) as f64;
    // Turns of the phase clock were among them, however long they are.
    let nodes = world.machines().len();
    assert!(rounds > 10.0 * f64::from(world.machines()[0].domain().clock.modulus));
    let links = nodes * if nodes == 2 { 1 } else { 2 };
    (
        (after.0 - before.0) as f64 / rounds / links as f64,
        1.0 / (rounds * ONE_WAY.as_secs_f64()),
    )
}

#[test]
fn a_round_takes_a_datagram_to_each_neighbour_and_the_time_of_one() {
    for nodes in 2..10 {
        let mut world = ring(nodes);
        world.run_for(Duration::from_secs(1));
        assert!(world.settled());
        let (datagrams, time) = cost(&mut world);
        assert!(
            datagrams < most(nodes),
            "{nodes} nodes: {datagrams} datagrams"
        );
        assert!(time < 1.05, "{nodes} nodes: {time} one-way times");
    }
}

#[test]
fn a_bad_network_leaves_nothing_behind() {
    for nodes in 2..10 {
        let mut world = ring(nodes);
        world.set_conditions(Conditions {
            duplicate: 0.3,
            loss: 0.1,
            delay_max: 3 * ONE_WAY,
            ..regular()
        });
        world.run_for(Duration::from_secs(1));
        world.set_conditions(regular());
        world.run_for(Duration::from_millis(100));
        assert!(world.settled());
        let (datagrams, _) = cost(&mut world);
        assert!(
            datagrams < most(nodes),
            "{nodes} nodes: {datagrams} datagrams"
        );
    }
}

fn most(nodes: u32) -> f64 {
    if nodes == 2 { 0.55 } else { 1.05 }
}
