//! A whole real ring in one program: it settles, gets over what is done to it, and
//! the observer outside would notice if it did not.

use std::time::{Duration, Instant};

use headway_node::{Key, Plan, Timing, recovery_rounds};
use headway_stage::faulty::{Faults, SharedFaults};
use headway_stage::live_ring::{Carrier, LiveError, LiveRing, LiveSettings, Memory, Range};

fn settings(carrier: Carrier) -> LiveSettings {
    LiveSettings {
        plan: Plan::new(12, 3, 2).expect("it fits"),
        carrier,
        hold: Range {
            min: Duration::from_micros(100),
            max: Duration::from_millis(2),
        },
        timing: Timing {
            refresh: Duration::from_millis(5),
            ..Timing::default()
        },
        payload: 8,
        key: Key::new(b"the key of a ring").expect("long enough"),
        seed: 2009,
        faults: SharedFaults::default(),
        threads: 2,
    }
}

/// A busy machine may need long; a ring that is stuck needs forever.
fn settle(ring: &mut LiveRing) {
    let begun = Instant::now();
    while !(ring.observer().is_settled() && ring.sample().iter().all(|node| node.settled)) {
        ring.sample();
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it never settles"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn work(ring: &LiveRing, permits: u64) {
    let (begun, before) = (Instant::now(), ring.observer().grants());
    while ring.observer().grants() < before + permits {
        assert!(begun.elapsed() < Duration::from_secs(60), "nobody works");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn gets_over_everything(carrier: Carrier) {
    let mut ring = LiveRing::start(settings(carrier)).expect("it starts");
    settle(&mut ring);
    work(&ring, 100);
    let all: Vec<u32> = (0..12).collect();
    for (nodes, name) in [(&all[..], "all"), (&all[3..4], "one"), (&all[2..9], "some")] {
        ring.scramble(nodes, name).expect("scrambled");
        settle(&mut ring);
        work(&ring, 50);
    }
    ring.faults().change(|faults| {
        *faults = Faults {
            loss: 0.2,
            duplicate: 0.1,
            reorder: 0.1,
            corrupt: 0.1,
            delay: Duration::from_millis(1),
            ..Faults::default()
        };
    });
    work(&ring, 50);
    // No fault at all: everything stays promised.
    for node in [0, 5] {
        ring.crash(node).expect("crashed");
        assert!(matches!(ring.crash(node), Err(LiveError::Dead(_))));
        ring.restart(node, Memory::Saved).expect("restarted");
        assert!(matches!(
            ring.restart(node, Memory::Saved),
            Err(LiveError::Alive(_))
        ));
        work(&ring, 30);
    }
    assert_eq!(ring.observer().recoveries().len(), 3);
    ring.crash(7).expect("crashed");
    ring.restart(7, Memory::Lost { fault: "empty" })
        .expect("restarted");
    settle(&mut ring);
    work(&ring, 50);
    assert!(matches!(ring.crash(99), Err(LiveError::NoNode(99))));
    ring.stop();
    let observer = ring.observer();
    assert_eq!(observer.violations(), []);
    assert_eq!(observer.recoveries().len(), 4);
    assert!(
        observer
            .recoveries()
            .iter()
            .all(|recovery| recovery.settled.is_some())
    );
    let bound = recovery_rounds(&ring.settings().plan);
    for &(at, rounds) in ring.recovery_rounds() {
        assert!(rounds <= bound, "{rounds} rounds at {at:?}, stated {bound}");
    }
    assert!(observer.least_distance() >= Some(2));
}

#[test]
fn a_ring_in_memory_gets_over_everything() {
    gets_over_everything(Carrier::Memory);
}

#[test]
fn a_ring_on_sockets_gets_over_everything() {
    gets_over_everything(Carrier::Udp);
}

#[test]
fn a_cut_stops_the_tokens_and_breaks_no_promise() {
    let mut ring = LiveRing::start(settings(Carrier::Memory)).expect("it starts");
    settle(&mut ring);
    ring.faults().change(|faults| faults.cut(4, 5));
    let rounds = |ring: &mut LiveRing| ring.sample().iter().map(|node| node.rounds).max();
    let cut = rounds(&mut ring).expect("it has nodes");
    let begun = Instant::now();
    while !ring.sample().iter().any(|node| node.deaf) {
        assert!(begun.elapsed() < Duration::from_secs(60), "nobody notices");
        std::thread::sleep(Duration::from_millis(2));
    }
    // Everybody may be as far ahead of the cut as they are away from it.
    let stopped = rounds(&mut ring).expect("it has nodes");
    assert!(stopped <= cut + 12, "{cut} rounds, then {stopped}");
    ring.faults().change(|faults| faults.cut.clear());
    work(&ring, 50);
    ring.stop();
    assert_eq!(ring.observer().violations(), []);
}

#[test]
fn what_does_not_fit_a_datagram_is_refused() {
    let refused = LiveRing::start(LiveSettings {
        plan: Plan::new(500, 64, 2).expect("it fits the ring"),
        payload: 200,
        ..settings(Carrier::Memory)
    });
    let text = refused.expect_err("too large").to_string();
    assert!(text.contains("bytes of payload"), "{text}");
}
