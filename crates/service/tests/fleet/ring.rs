//! Rings: they form, keep permits apart, and go on after kill -9.

use std::time::Duration;

use nix::sys::signal::Signal;

use crate::harness::{Fleet, closest, visits};

#[test]
fn six_nodes_work_in_turn_two_at_a_time_three_hops_apart() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut fleet = Fleet::new(1, &names, 2, 2).with_observer(0.03);
    fleet.start_all();
    fleet.settle();
    // From the moment that all are settled on, nobody is passed over.
    let before = fleet.observed().len();
    fleet.until("sixty visits", || fleet.observed().len() > before + 120);
    let seen = &fleet.observed()[before..];
    // Three apart in logical time at the slower pace; truly never closer than two.
    let least = closest(seen, &fleet.names).expect("two worked at a time");
    assert!(least >= 2, "{least} hops");
    for token in 0..2 {
        let (least, most) = visits(seen, &fleet.names, token);
        assert!(most - least <= 1, "token {token}: {least} to {most} visits");
    }
    let status = fleet.status(3);
    assert_eq!(status["members"], 6);
    assert_eq!(
        (status["tokens"].as_u64(), status["separation"].as_u64()),
        (Some(2), Some(2))
    );
    assert_eq!(status["name"], "d");
    assert_eq!(status["index"], 3);
}

/// The counter-test: commands that are not asked for permits do come too close.
#[test]
fn the_observer_notices_when_permits_are_too_close() {
    use crate::harness::Seen;
    let seen = |begins, node: &str| Seen {
        begins,
        node: node.into(),
        token: 0,
        fence: 1,
    };
    let ring: Vec<String> = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
    let apart = [seen(true, "a"), seen(false, "a"), seen(true, "b")];
    assert_eq!(closest(&apart, &ring), None);
    let around = [
        seen(true, "a"),
        seen(true, "c"),
        seen(false, "c"),
        seen(true, "e"),
        seen(false, "a"),
        seen(false, "e"),
    ];
    assert_eq!(closest(&around, &ring), Some(1));
}

#[test]
fn a_dead_neighbour_is_named_the_rest_waits_and_its_return_is_no_fault() {
    let names = ["a", "b", "c", "d"];
    let mut fleet = Fleet::new(2, &names, 1, 1).with_observer(0.02);
    fleet.start_all();
    fleet.settle();
    fleet.until("some visits", || fleet.observed().len() > 20);
    fleet.kill(2);
    fleet.until("b misses c", || fleet.status(1)["silent"][0] == "c");
    fleet.until("d misses c", || fleet.status(3)["silent"][0] == "c");
    assert!(
        fleet.status(1)["alarms"][0]
            .as_str()
            .unwrap_or_default()
            .contains("neighbour c is silent")
    );
    assert_eq!(
        fleet.status(0)["silent"],
        serde_json::json!([]),
        "a has other neighbours"
    );
    // Nothing moves while it is gone, because its permit may still be in use.
    std::thread::sleep(Duration::from_millis(600));
    let before = fleet.observed().len();
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(fleet.observed().len(), before);
    fleet.start(2);
    fleet.until("it goes on", || fleet.observed().len() > before + 40);
    assert!(fleet.log(2).contains("goes on from the kept state"));
    assert_eq!(fleet.status(1)["silent"], serde_json::json!([]));
    assert_eq!(
        closest(&fleet.observed(), &fleet.names),
        None,
        "one token, one at a time"
    );
    let (least, most) = visits(&fleet.observed(), &fleet.names, 0);
    // The command that was killed with its node is run again.
    assert!(most - least <= 2, "{least} to {most}");
}

#[test]
fn killed_without_state_it_joins_again_and_the_ring_settles() {
    let names = ["a", "b", "c", "d", "e"];
    let mut fleet = Fleet::new(3, &names, 1, 1).with_observer(0.0);
    fleet.start_all();
    fleet.settle();
    for at in [0, 3] {
        fleet.kill(at);
        std::fs::remove_dir_all(fleet.path(&format!("state-{}", names[at]))).unwrap();
        fleet.start(at);
        fleet.until("back", || {
            fleet.status(at)["phase"] != serde_json::Value::Null
        });
        fleet.settle();
        let before = fleet.observed().len();
        fleet.until("work goes on", || fleet.observed().len() > before + 20);
    }
}

#[test]
fn a_paused_node_only_delays() {
    let names = ["a", "b", "c"];
    let mut fleet = Fleet::new(4, &names, 1, 1).with_observer(0.01);
    fleet.start_all();
    fleet.settle();
    fleet.signal(1, Signal::SIGSTOP);
    fleet.until("b is missed", || fleet.status(0)["silent"][0] == "b");
    fleet.signal(1, Signal::SIGCONT);
    let before = fleet.observed().len();
    fleet.until("work goes on", || fleet.observed().len() > before + 20);
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
}
