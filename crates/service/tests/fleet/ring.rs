//! Rings: they form, keep permits apart, and go on after kill -9.

use std::os::unix::process::CommandExt as _;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::harness::{Fleet, http};
use crate::observer::{begun, closest, command, observed, visits};

#[test]
fn six_nodes_work_in_turn_two_at_a_time_two_hops_apart() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut fleet = Fleet::new(1, &names, 2, 2).with_observer(0.03);
    fleet.start_all();
    fleet.settle();
    // From the moment that all are settled on, nobody is passed over.
    let before = fleet.observed().len();
    fleet.until("sixty visits", || fleet.observed().len() > before + 120);
    let seen = &fleet.observed()[before..];
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

/// The counter-test: commands that nobody gave permits to do come too close.
#[test]
fn the_observer_notices_commands_that_are_too_close_also_if_they_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ring: Vec<String> = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
    let begun_of = |count| {
        let began = std::time::Instant::now();
        while begun(&observed(folder)) < count {
            assert!(
                began.elapsed() < Duration::from_secs(120),
                "it does not begin"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        observed(folder)
    };
    // One after the other, the first killed: its end is never said, and still known.
    let mut killed = command(folder, "a", 1, 1000.0).spawn().unwrap();
    begun_of(1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let ended = command(folder, "b", 2, 0.0).status().unwrap();
    assert!(ended.success());
    assert_eq!(closest(&begun_of(2), &ring), None);
    assert_eq!(
        observed(folder).iter().filter(|seen| !seen.begins).count(),
        1
    );
    // Together: two hops apart, then one, round the end of the ring.
    let mut long = command(folder, "a", 3, 1000.0).spawn().unwrap();
    begun_of(3);
    command(folder, "c", 4, 0.0).status().unwrap();
    assert_eq!(closest(&begun_of(4), &ring), Some(2));
    command(folder, "e", 5, 0.0).status().unwrap();
    assert_eq!(closest(&begun_of(5), &ring), Some(1));
    // And another one of the same node.
    command(folder, "a", 6, 0.0).status().unwrap();
    assert_eq!(closest(&begun_of(6), &ring), Some(0));
    // Killing the first does not make it unseen.
    long.kill().unwrap();
    long.wait().unwrap();
    assert_eq!(closest(&observed(folder), &ring), Some(0));
    // What a killed command leaves behind counts as long as it lives.
    let before = observed(folder).len();
    std::fs::write(folder.join("hang-a"), "").unwrap();
    let mut hangs = command(folder, "a", 7, 0.0)
        .process_group(0)
        .spawn()
        .unwrap();
    begun_of(7);
    let group = nix::unistd::Pid::from_raw(hangs.id() as i32);
    let child = || children(hangs.id());
    while child().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    hangs.kill().unwrap();
    hangs.wait().unwrap();
    command(folder, "b", 8, 0.0).status().unwrap();
    assert_eq!(closest(&begun_of(8)[before..], &ring), Some(1));
    nix::sys::signal::killpg(group, Signal::SIGKILL).unwrap();
}

/// The processes that a process has started.
fn children(process: u32) -> String {
    std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default()
}

#[test]
fn a_dead_neighbour_is_named_the_rest_waits_and_its_return_is_no_fault() {
    let names = ["a", "b", "c", "d"];
    let mut fleet = Fleet::new(2, &names, 1, 1).with_observer(0.02);
    fleet.start_all();
    fleet.settle();
    fleet.until("some visits", || fleet.observed().len() > 20);
    let heard = beside(&fleet, 1, "c");
    assert_eq!(heard["is_silent"], false);
    assert_eq!(heard["address"], fleet.address(2));
    assert!(heard["heard_ms"].as_u64() < Some(400), "{heard}");
    fleet.kill(2);
    fleet.until("b misses c", || fleet.status(1)["silent"][0] == "c");
    assert_eq!(beside(&fleet, 1, "c")["is_silent"], true);
    assert!(beside(&fleet, 1, "c")["heard_ms"].as_u64() >= Some(400));
    assert!(beside(&fleet, 1, "a")["heard_ms"].as_u64() < Some(400));
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

/// What a node says of a neighbour.
fn beside(fleet: &Fleet, at: usize, name: &str) -> serde_json::Value {
    let status = fleet.status(at);
    let neighbours = status["neighbours"].as_array().cloned().unwrap_or_default();
    assert_eq!(neighbours.len(), 2, "{status}");
    let found = neighbours.into_iter().find(|other| other["name"] == name);
    found.expect("a neighbour")
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

/// Any node says who uses a permit, what for and since when; and how much room there is.
#[test]
fn every_node_says_who_works() {
    let mut fleet = Fleet::new(119, &["a", "b", "c", "d", "e"], 1, 2).with_asked("sleep 30");
    fleet.start_all();
    fleet.settle();
    for at in 0..5 {
        // One token goes round two nodes.
        let status = fleet.status(at);
        assert_eq!(
            (&status["max_tokens"], &status["spare_members"]),
            (&2.into(), &3.into())
        );
        assert_eq!(status["working"], serde_json::json!([]));
    }
    fleet.ask(3, "POST", "/v1/hook", None).unwrap();
    fleet.until("all know", || {
        (0..5).all(|at| {
            let working = fleet.status(at)["working"].clone();
            working[0]["name"] == "d" && working[0]["used_by"] == "its command"
        })
    });
    fleet.kill(3);
    fleet.until("and forget it with its node", || {
        [0, 1, 2, 4]
            .iter()
            .all(|&at| fleet.status(at)["working"] == serde_json::json!([]))
    });
}

/// Only two members hear that a third is dead; all of them say so, and when it is back.
#[test]
fn every_node_says_who_is_silent() {
    let mut fleet = Fleet::new(114, &["a", "b", "c", "d", "e"], 1, 1);
    fleet.start_all();
    fleet.settle();
    let ready = |fleet: &Fleet, at| http(&fleet.http(at), "GET", "/readyz", &[], "");
    assert_eq!(ready(&fleet, 0).0, 200);
    fleet.kill(2);
    fleet.until("all know", || {
        [0, 1, 3, 4].iter().all(|&at| {
            let unheard = fleet.status(at)["unheard"].clone();
            unheard[0]["name"] == "c" && unheard[0]["silent_by"] == serde_json::json!(["b", "d"])
        })
    });
    assert_eq!(fleet.status(0)["silent"], serde_json::json!([]));
    let (status, why) = ready(&fleet, 0);
    assert!(
        status == 503 && why.contains("silent: [\\\"c\\\"]"),
        "{status} {why}"
    );
    fleet.start(2);
    fleet.until("all know that it is back", || {
        (0..5).all(|at| ready(&fleet, at).0 == 200)
    });
}
