//! A whole real ring in one program: it settles, gets over what is done to it, and
//! the observer outside would notice if it did not.

#![cfg(feature = "udp")]

use std::time::{Duration, Instant};

use headway_node::fleet::{Carrier, Fleet, FleetError, Options};
use headway_node::transport::faulty::{Faults, Weather};
use headway_node::{Key, Plan, Timing, recovery_rounds};

fn options(carrier: Carrier) -> Options {
    Options {
        plan: Plan::new(12, 3, 2).expect("it fits"),
        carrier,
        dwell: (Duration::from_micros(100), Duration::from_millis(2)),
        timing: Timing {
            refresh: Duration::from_millis(5),
            ..Timing::default()
        },
        payload: 8,
        key: Key::new(b"the key of a fleet").expect("long enough"),
        seed: 2009,
        weather: Weather::default(),
        threads: 2,
    }
}

/// A busy machine may need long; a ring that is stuck needs for ever.
fn settle(fleet: &mut Fleet) {
    let begun = Instant::now();
    while !(fleet.observer().is_settled() && fleet.sample().iter().all(|node| node.settled)) {
        fleet.sample();
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it never settles"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn work(fleet: &Fleet, permits: u64) {
    let (begun, before) = (Instant::now(), fleet.observer().grants());
    while fleet.observer().grants() < before + permits {
        assert!(begun.elapsed() < Duration::from_secs(60), "nobody works");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn gets_over_everything(carrier: Carrier) {
    let mut fleet = Fleet::start(options(carrier)).expect("it starts");
    settle(&mut fleet);
    work(&fleet, 100);
    let all: Vec<u32> = (0..12).collect();
    for (nodes, name) in [(&all[..], "all"), (&all[3..4], "one"), (&all[2..9], "some")] {
        fleet.scramble(nodes, name).expect("scrambled");
        settle(&mut fleet);
        work(&fleet, 50);
    }
    fleet.weather().change(|faults| {
        *faults = Faults {
            loss: 0.2,
            duplicate: 0.1,
            reorder: 0.1,
            corrupt: 0.1,
            delay: Duration::from_millis(1),
            ..Faults::default()
        };
    });
    work(&fleet, 50);
    // No fault at all: everything stays promised.
    for node in [0, 5] {
        fleet.crash(node).expect("crashed");
        assert!(matches!(fleet.crash(node), Err(FleetError::Dead(_))));
        fleet.restart(node, true, "restart").expect("restarted");
        assert!(matches!(
            fleet.restart(node, true, ""),
            Err(FleetError::Alive(_))
        ));
        work(&fleet, 30);
    }
    assert_eq!(fleet.observer().recoveries().len(), 3);
    fleet.crash(7).expect("crashed");
    fleet.restart(7, false, "empty").expect("restarted");
    settle(&mut fleet);
    work(&fleet, 50);
    assert!(matches!(fleet.crash(99), Err(FleetError::NoNode(99))));
    fleet.stop();
    let observer = fleet.observer();
    assert_eq!(observer.violations(), []);
    assert_eq!(observer.recoveries().len(), 4);
    assert!(
        observer
            .recoveries()
            .iter()
            .all(|recovery| recovery.settled.is_some())
    );
    let bound = recovery_rounds(&fleet.options().plan);
    for &(at, rounds) in fleet.recovery_rounds() {
        assert!(rounds <= bound, "{rounds} rounds at {at:?}, stated {bound}");
    }
    assert!(observer.least_distance() >= Some(2));
}

#[test]
fn a_fleet_in_memory_gets_over_everything() {
    gets_over_everything(Carrier::Memory);
}

#[test]
fn a_fleet_on_sockets_gets_over_everything() {
    gets_over_everything(Carrier::Udp);
}

#[test]
fn a_cut_stops_the_tokens_and_breaks_no_promise() {
    let mut fleet = Fleet::start(options(Carrier::Memory)).expect("it starts");
    settle(&mut fleet);
    fleet.weather().change(|faults| faults.cut(4, 5));
    let begun = Instant::now();
    while !fleet.sample().iter().any(|node| node.deaf) {
        assert!(begun.elapsed() < Duration::from_secs(60), "nobody notices");
        std::thread::sleep(Duration::from_millis(2));
    }
    let rounds = |fleet: &mut Fleet| fleet.sample().iter().map(|node| node.rounds).max();
    let stopped = rounds(&mut fleet);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(rounds(&mut fleet), stopped);
    fleet.weather().change(|faults| faults.cut.clear());
    work(&fleet, 50);
    fleet.stop();
    assert_eq!(fleet.observer().violations(), []);
}

#[test]
fn what_does_not_fit_a_datagram_is_refused() {
    let refused = Fleet::start(Options {
        plan: Plan::new(500, 64, 2).expect("it fits the ring"),
        payload: 200,
        ..options(Carrier::Memory)
    });
    let text = refused.expect_err("too large").to_string();
    assert!(text.contains("bytes of payload"), "{text}");
}
