//! A fleet from its first day to its last, and what watches it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Fleet, LONG, alive, http, lines};
use crate::observer::{Running, begun, closest, command, fences_grow, observed, visits};

#[test]
fn six_nodes_work_in_turn_two_at_a_time_two_hops_apart() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut fleet = Fleet::new(&names, 2, 2).with_observer(0.03);
    fleet.start_all();
    fleet.settle();
    // From the moment that all are settled on, nobody is passed over.
    let before = fleet.observed().len();
    fleet.until("forty visits", || fleet.observed().len() > before + 80);
    let seen = &fleet.observed()[before..];
    let least = closest(seen, &fleet.names).expect("two worked at a time");
    assert!(least >= 2, "{least} hops");
    for token in 0..2 {
        let (least, most) = visits(seen, &fleet.names, token);
        assert!(most - least <= 1, "token {token}: {least} to {most} visits");
    }
    let status = fleet.status(3);
    let numbers = ["members", "tokens", "separation", "index"].map(|key| status[key].clone());
    assert_eq!(numbers, [6, 2, 2, 3]);
    assert_eq!(status["name"], "d");
    // Everybody has worked, and nobody's command has failed.
    assert!(fleet.metric(0, "headway_permits_total") > 1.0);
    assert!(fleet.metric(0, "headway_command_runs_total") >= 1.0);
    assert_eq!(fleet.metric(0, "headway_command_failures_total"), 0.0);
    assert!(fleet.metric(0, "headway_settling_seconds_count") >= 1.0);
    assert!(fleet.metric(0, "headway_hold_seconds_count") >= 1.0);
}

/// The counter-test: commands that nobody gave permits to do come too close.
#[test]
fn the_observer_notices_commands_that_are_too_close_also_if_they_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ring: Vec<String> = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
    let wait = |what: &str, done: &dyn Fn() -> bool| {
        let began = Instant::now();
        while !done() {
            assert!(began.elapsed() < LONG, "in vain: {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let begun_of = |count| {
        wait("it begins", &|| begun(&observed(folder)) >= count);
        observed(folder)
    };
    // One after the other, the first killed: its end is never said, and still known.
    let mut killed = Running::new(&mut command(folder, "a", 1, 1000.0));
    begun_of(1);
    killed.kill();
    let ended = command(folder, "b", 2, 0.0).status().unwrap();
    assert!(ended.success());
    assert_eq!(closest(&begun_of(2), &ring), None);
    assert_eq!(
        observed(folder).iter().filter(|seen| !seen.begins).count(),
        1
    );
    // Together: two hops apart, then one, round the end of the ring.
    let mut long = Running::new(&mut command(folder, "a", 3, 1000.0));
    begun_of(3);
    command(folder, "c", 4, 0.0).status().unwrap();
    assert_eq!(closest(&begun_of(4), &ring), Some(2));
    command(folder, "e", 5, 0.0).status().unwrap();
    assert_eq!(closest(&begun_of(5), &ring), Some(1));
    // And another one of the same node.
    command(folder, "a", 6, 0.0).status().unwrap();
    assert_eq!(closest(&begun_of(6), &ring), Some(0));
    // Killing the first does not make it unseen.
    long.kill();
    assert_eq!(closest(&observed(folder), &ring), Some(0));
    // What a killed command leaves behind counts as long as it lives.
    let before = observed(folder).len();
    std::fs::write(folder.join("hang-a"), "").unwrap();
    let mut hangs = Running::new(&mut command(folder, "a", 7, 0.0));
    begun_of(7);
    wait("a child", &|| !children(hangs.0.id()).is_empty());
    hangs.kill();
    command(folder, "b", 8, 0.0).status().unwrap();
    assert_eq!(closest(&begun_of(8)[before..], &ring), Some(1));
}

/// The processes that a process has started.
fn children(process: u32) -> String {
    std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default()
}

/// Members are added, removed and killed, terms and keys change, most voters are lost: one command
/// at a time, and fencing numbers that grow, throughout.
#[test]
fn a_fleet_lives_through_everything_that_an_operator_does() {
    let names = ["a", "b", "c", "d", "e"];
    let mut fleet = Fleet::new(&names, 1, 1).with_observer(0.01);
    // A change waits for the end of permits that nobody answers for.
    fleet.timing = fleet.timing.replace("\"300s\"", "\"1500ms\"");
    for at in 0..4 {
        fleet.write_config(at, 4);
        fleet.start(at);
    }
    fleet.settle();
    // As an operator does it: who hears that it is not known whether it will be made looks, and
    // asks again. (What is made already is refused then.)
    let change = |fleet: &Fleet, by, method: &str, path: &str, body: Option<&Value>, to: u64| {
        fleet.until(&format!("version {to}"), || {
            let there = fleet.ask(by, method, path, body);
            println!("{method} {path}: {there:?}");
            match there {
                Ok(there) => there["version"] == to,
                Err(_) => fleet.status(by)["roster"] == to,
            }
        });
    };
    let ring = |fleet: &Fleet, nodes: &[usize], version: u64| {
        fleet.until(&format!("membership {version}"), || {
            nodes.iter().all(|&at| {
                let status = fleet.status(at);
                status["settled"] == true
                    && (&status["membership"], &status["members"])
                        == (&json!(version), &json!(nodes.len()))
            })
        });
    };
    // Another member comes.
    let member = fleet.member(4);
    let silent = fleet.ask(1, "POST", "/v1/members", Some(&member));
    let silent = silent.unwrap_err();
    assert!(silent.contains("e does not answer"), "{silent}");
    fleet.write_config(4, 4);
    fleet.start(4);
    fleet.until("e listens", || fleet.status(4)["phase"] == "outside");
    change(&fleet, 1, "POST", "/v1/members", Some(&member), 2);
    ring(&fleet, &[0, 1, 2, 3, 4], 2);
    fleet.until("e works", || {
        fleet.observed().iter().any(|seen| seen.node == "e")
    });
    // Terms change.
    let wire = fleet.ask(0, "PATCH", "/v1/ring-settings", Some(&json!({ "wire": 2 })));
    let wire = wire.unwrap_err();
    assert!(wire.contains("unknown field `wire`"), "{wire}");
    let terms = json!({ "tick_ms": 3 });
    change(&fleet, 2, "PATCH", "/v1/ring-settings", Some(&terms), 3);
    ring(&fleet, &[0, 1, 2, 3, 4], 3);
    assert_eq!(fleet.status(4)["ring_settings"]["tick_ms"], 3);
    // A node takes another key, and is killed as soon as it has.
    let old = fleet.identities(1).public();
    change(&fleet, 1, "POST", "/v1/rotate-key", None, 4);
    fleet.kill(1);
    fleet.start(1);
    ring(&fleet, &[0, 1, 2, 3, 4], 4);
    fleet.until("b forgets its old key", || {
        let now = fleet.identities(1);
        now.list().len() == 1 && now.public() != old
    });
    // A member goes.
    change(&fleet, 0, "DELETE", "/v1/members/d", None, 5);
    fleet.until("d is out", || fleet.status(3)["phase"] == "outside");
    ring(&fleet, &[0, 1, 2, 4], 5);
    let unknown = fleet.ask(0, "DELETE", "/v1/members/zz", None).unwrap_err();
    assert!(unknown.contains("no member `zz`"), "{unknown}");
    let before = fleet.observed().len();
    fleet.until("the four work", || {
        let seen = fleet.observed().split_off(before);
        let works = |name: &str| seen.iter().any(|seen| seen.node == name);
        ["a", "b", "c", "e"].into_iter().all(works)
    });
    assert!(
        fleet.observed()[before..]
            .iter()
            .all(|seen| seen.node != "d")
    );
    // Most voters are lost, and the others go on when somebody says so on each.
    fleet.kill(2);
    fleet.kill(4);
    let gone = json!({ "gone": ["c", "e"] });
    for by in [0, 1] {
        change(&fleet, by, "POST", "/v1/recover", Some(&gone), 1005);
    }
    ring(&fleet, &[0, 1], 1005);
    let before = fleet.observed().len();
    fleet.until("two work", || fleet.observed().len() > before + 8);
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
    fences_grow(&fleet.observed());
}

/// A node is killed within its command. Everybody says who worked and who is silent, the rest
/// waits, and when it is back, what it had started is ended, and nothing is a fault.
#[test]
fn a_dead_neighbour_is_named_the_rest_waits_and_its_return_is_no_fault() {
    let names = ["a", "b", "c", "d", "e"];
    let fleet = Fleet::new(&names, 1, 2);
    let ran = fleet.path("ran");
    let script = format!("echo $$ $HEADWAY_NODE >> {}; sleep 1000", ran.display());
    let mut fleet = fleet.with_asked(&script);
    fleet.start_all();
    fleet.settle();
    let get = |fleet: &Fleet, at, path| http(&fleet.http(at), "GET", path, &[], "");
    // One that is late is silent for as long.
    fleet.until("it is ready", || get(&fleet, 0, "/readyz").0 == 200);
    assert_eq!(fleet.metric(0, "headway_settled "), 1.0);
    fleet.until("c hears d", || beside(&fleet, 2, "d")["is_silent"] == false);
    assert_eq!(beside(&fleet, 2, "d")["address"], fleet.address(3));
    let status = fleet.status(4);
    // One token goes round two nodes.
    assert_eq!(
        (&status["max_tokens"], &status["spare_members"]),
        (&2.into(), &3.into())
    );
    assert_eq!(status["working"], json!([]));
    fleet.ask(3, "POST", "/v1/command", None).unwrap();
    fleet.until("all know who works", || {
        (0..5).all(|at| {
            let working = fleet.status(at)["working"].clone();
            working[0]["name"] == "d" && working[0]["used_by"] == "its command"
        })
    });
    let process = |line: usize| -> i32 {
        let line = lines(&ran)[line].clone();
        line.split(' ').next().unwrap().parse().unwrap()
    };
    let first = process(0);
    fleet.kill(3);
    let rest = [0, 1, 2, 4];
    fleet.until("all know who is silent", || {
        rest.iter().all(|&at| {
            let status = fleet.status(at);
            status["unheard"][0]["name"] == "d"
                && status["unheard"][0]["silent_by"] == json!(["c", "e"])
        })
    });
    assert!(alive(first), "it outlives its node");
    fleet.until("a hears who is beside it", || {
        fleet.status(0)["silent"] == json!([])
    });
    assert_eq!(beside(&fleet, 2, "d")["is_silent"], true);
    let alarms = fleet.status(2)["alarms"].to_string();
    assert!(alarms.contains("neighbour d is silent"), "{alarms}");
    fleet.until("c misses d only", || {
        fleet.metric(2, "headway_silent_neighbours") == 1.0
    });
    fleet.until("a is not ready because of d", || {
        let (status, why) = get(&fleet, 0, "/readyz");
        status == 503 && why.contains("silent: [\\\"d\\\"]")
    });
    assert_eq!(get(&fleet, 0, "/healthz").0, 200, "but healthy");
    // Its permit may be in use. (It is.)
    fleet.ask(0, "POST", "/v1/command", None).unwrap();
    fleet.start(3);
    fleet.until("all know that it is back", || {
        (0..5).all(|at| get(&fleet, at, "/readyz").0 == 200)
    });
    assert!(!alive(first), "ended before another runs");
    let log = fleet.log(3);
    assert!(log.contains("goes on from the kept state"), "{log}");
    let said = "a command of before the restart still runs";
    assert!(log.contains(said), "{log}");
    fleet.until("another one runs", || lines(&ran).len() > 1);
    assert!(lines(&ran)[1].ends_with('d'), "once more, and before a's");
}

/// What a node says of a neighbour.
fn beside(fleet: &Fleet, at: usize, name: &str) -> Value {
    let status = fleet.status(at);
    let neighbours = status["neighbours"].as_array().cloned().unwrap_or_default();
    assert_eq!(neighbours.len(), 2, "{status}");
    let found = neighbours.into_iter().find(|other| other["name"] == name);
    found.expect("a neighbour")
}

/// A command may reboot its machine. Commands run only where they are asked for.
#[test]
fn a_clean_stop_keeps_the_permit_until_the_node_is_back() {
    let fleet = Fleet::new(&["a", "b", "c"], 1, 1);
    let ran = fleet.path("ran");
    let script = format!(
        "echo $HEADWAY_NODE >> {}; [ $HEADWAY_NODE != a ] || sleep 1000",
        ran.display()
    );
    let mut fleet = fleet.with_asked(&script);
    fleet.start_all();
    fleet.settle();
    fleet.ask(0, "POST", "/v1/command", None).unwrap();
    fleet.until("a works", || lines(&ran) == ["a"]);
    fleet.ask(1, "POST", "/v1/command", None).unwrap();
    assert_eq!(fleet.stop(0), 0);
    fleet.until("b misses a", || fleet.status(1)["silent"][0] == "a");
    assert_eq!(lines(&ran), ["a"], "nobody else works meanwhile");
    fleet.start(0);
    fleet.until("b works, and a's is not run again", || {
        lines(&ran) == ["a", "b"]
    });
    assert!(fleet.log(0).contains("goes on from the kept state"));
}
