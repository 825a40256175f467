//! Fleets that prove what nothing else does, and take their time: `make test-all`.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use serde_json::json;

use super::attack::rejected;
use crate::harness::{Fleet, TOKEN, http};
use crate::observer::{closest, fences_grow};

fn add(fleet: &Fleet, by: usize, at: usize, force: bool) -> Result<serde_json::Value, String> {
    let mut body = fleet.member(at);
    body["force"] = force.into();
    fleet.ask(by, "POST", "/v1/members", Some(&body))
}

const SHORT: &str = "refresh = \"20ms\"\nheartbeat_timeout = \"300ms\"\ntick = \"2ms\"\nmax_hold = \"1s\"\nstop_timeout = \"500ms\"\n";

/// One of two members is gone: nobody works and nothing is decided until it is back; if it never
/// is, a new ring begins, as docs/operators/voters.md says, and fencing numbers grow all the same.
#[test]
#[ignore = "make test-all"]
fn with_one_of_two_members_gone_the_other_waits_or_begins_a_new_ring() {
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1).with_observer(0.02);
    fleet.timing = SHORT.into();
    for at in [0, 1] {
        fleet.write_config(at, 2);
        fleet.start(at);
    }
    let settled = |fleet: &Fleet, other: usize| {
        let settled = |at: usize| fleet.status(at)["settled"] == true;
        fleet.until("two are settled", || settled(0) && settled(other));
    };
    let work = |fleet: &Fleet| {
        let before = fleet.observed().len();
        fleet.until("both work", || fleet.observed().len() > before + 10);
    };
    settled(&fleet, 1);
    fleet.kill(1);
    fleet.until("a says so", || {
        fleet.status(0)["alarms"].to_string().contains("silent")
    });
    let refused = fleet.ask(0, "DELETE", "/v1/members/b", None).unwrap_err();
    assert!(refused.contains("a ring has 2"), "{refused}");
    let refused = add(&fleet, 0, 2, true).unwrap_err();
    assert!(refused.contains("too few voters"), "{refused}");
    let gone = json!({ "gone": ["b"] });
    let recovered = fleet.ask(0, "POST", "/v1/recover", Some(&gone));
    let refused = recovered.unwrap_err();
    assert!(refused.contains("one member would be left"), "{refused}");
    fleet.start(1);
    settled(&fleet, 1);
    work(&fleet);

    fleet.kill(1);
    fleet.kill(0);
    let before = fleet.observed().len();
    fs::remove_dir_all(fleet.path("state-a")).expect("its state is removed");
    for at in [0, 2] {
        fleet.write_config(at, 3);
        let path = fleet.path(&format!("{}.toml", fleet.names[at]));
        let text = fs::read_to_string(&path).expect("its file");
        let without = |text: &str| {
            let begin = text.find("[[ring.members]]\nname = \"b\"").expect("b");
            let end = text.find("[[ring.members]]\nname = \"c\"").expect("c");
            [&text[..begin], &text[end..]].concat()
        };
        let text = without(&text.replace("name = \"test\"", "name = \"again\""));
        fs::write(&path, text).expect("written");
        fleet.start(at);
    }
    settled(&fleet, 2);
    work(&fleet);
    let all = fleet.observed();
    assert_eq!(closest(&all, &fleet.names), None);
    // A node that was killed runs its command again under the same number; here nothing is left of
    // the old ring but the end of a command.
    let (old, new) = all.split_at(before);
    let begun = new.iter().filter(|seen| seen.begins);
    assert!(old.iter().map(|seen| seen.fence).max() < begun.map(|seen| seen.fence).min());
    fences_grow(new);
}

/// Why nobody may say that machines are gone which are not: two rings, which both work. Each hears
/// of the other's roster and says so. Then one of them is given up, as docs/operators/voters.md
/// says.
#[test]
#[ignore = "make test-all"]
fn recovered_on_both_sides_there_are_two_rings() {
    let mut fleet = Fleet::new(&["a", "b", "c", "d"], 1, 1).with_observer(0.02);
    fleet.timing = SHORT.into();
    fleet.start_all();
    fleet.settle();
    for (at, others) in [
        (0, ["c", "d"]),
        (1, ["c", "d"]),
        (2, ["a", "b"]),
        (3, ["a", "b"]),
    ] {
        let gone = json!({ "gone": others });
        let there = fleet.ask(at, "POST", "/v1/recover", Some(&gone)).unwrap();
        assert_eq!(there["version"], 1001);
    }
    let small = |at| fleet.status(at)["settled"] == true && fleet.status(at)["members"] == 2;
    fleet.until("two rings of two", || (0..4).all(small));
    let before = fleet.observed().len();
    fleet.until("all work", || {
        let seen = fleet.observed();
        let works = |name: &str| {
            seen[before..]
                .iter()
                .any(|seen| seen.begins && seen.node == name)
        };
        ["a", "b", "c", "d"].into_iter().all(works)
    });
    let alarmed = |fleet: &Fleet, at: usize| {
        let alarms = fleet.status(at)["alarms"].to_string();
        alarms.contains("there are two rings")
    };
    fleet.until("an alarm on either side", || {
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| alarmed(&fleet, at));
        (a || b) && (c || d)
    });
    for at in [2, 3] {
        fleet.kill(at);
    }
    for at in [2, 3] {
        let state = fleet.path(&format!("state-{}", fleet.names[at]));
        fs::remove_dir_all(state).expect("its state is removed");
        fleet.write_config(at, 2);
        fleet.start(at);
        fleet.until("added again", || add(&fleet, 0, at, false).is_ok());
    }
    fleet.until("one ring, and no alarm", || {
        let fine = |at: usize| {
            let status = fleet.status(at);
            status["settled"] == true && status["members"] == 4 && !alarmed(&fleet, at)
        };
        (0..4).all(fine)
    });
}

fn is_wire(fleet: &Fleet, at: usize, wire: u8) -> bool {
    let status = fleet.status(at);
    status["settled"] == true && status["ring_settings"]["wire"] == wire
}

fn alarms(fleet: &Fleet, at: usize) -> String {
    fleet.status(at)["alarms"].to_string()
}

/// With `HEADWAY_NEXT_PROGRAM`, by a program that was built with the next wire number
/// (`scripts/soak upgrade`).
#[test]
#[ignore = "make test-all"]
fn a_rolling_upgrade_changes_the_wire_format_when_everybody_speaks_the_next() {
    let names = ["a", "b", "c", "d", "e"];
    let mut fleet = Fleet::new(&names, 1, 1).with_observer(0.02);
    for at in 0..4 {
        fleet.write_config(at, 4);
        fleet.start(at);
    }
    fleet.settle();
    for at in 0..4 {
        let first = fleet.status(0);
        assert_eq!(
            (&first["ring_settings"]["wire"], &first["membership"]),
            (&json!(1), &json!(1))
        );
        fleet.stop(at);
        fleet.speak(at, 2);
        fleet.start(at);
        if at < 3 {
            fleet.settle();
            let before = fleet.observed().len();
            fleet.until("both programs work", || {
                fleet.observed().len() > before + 20
            });
            let behind = fleet.status(0)["behind"].to_string();
            assert!(behind.contains(names[3]), "{behind}");
        }
    }
    fleet.until("the next wire format", || {
        (0..4).all(|at| is_wire(&fleet, at, 2))
    });
    let before = fleet.observed().len();
    fleet.until("they work", || fleet.observed().len() > before + 40);
    assert_eq!(fleet.status(3)["membership"], 2, "one change");

    // The old program is back, and one of two releases later comes: both stay out and say why.
    fleet.stop(1);
    fleet.speak(1, 1);
    fleet.start(1);
    fleet.until("b says so", || {
        alarms(&fleet, 1).contains("the ring writes wire format 2, and this program speaks 1 only")
    });
    fleet.until("so do the others", || {
        alarms(&fleet, 0).contains("b does not speak wire format 2")
    });
    assert_ne!(fleet.status(1)["settled"], true);
    fleet.stop(1);
    fleet.speak(1, 4);
    fleet.start(1);
    fleet.until("b says so", || {
        alarms(&fleet, 1).contains("the ring writes wire format 2, and this program speaks 3 and 4")
    });
    assert!(fleet.metric(0, "headway_rejected_total{reason=\"control_wire\"}") >= 1.0);
    // A newcomer with the old program has no roster that would tell it.
    fleet.write_config(4, 4);
    fleet.speak(4, 1);
    fleet.start(4);
    fleet.until("e listens", || fleet.status(4)["phase"] == "outside");
    let refused = fleet.ask(0, "POST", "/v1/members", Some(&fleet.member(4)));
    let refused = refused.unwrap_err();
    assert!(refused.contains("e does not answer"), "{refused}");
    fleet.until("e says so", || {
        alarms(&fleet, 4).contains("somebody writes wire format 2, and this program speaks 1 only")
    });
    // The release after the next speaks both.
    fleet.stop(1);
    fleet.speak(1, 3);
    fleet.start(1);
    fleet.until("four", || (0..4).all(|at| is_wire(&fleet, at, 2)));
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
}

#[test]
#[ignore = "make test-all"]
fn replayed_datagrams_of_a_ring_change_nothing() {
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1).with_observer(0.01);
    for at in 0..3 {
        fleet.write_config(at, 3);
    }
    // In b's place, somebody who only listens: what a and c say to b is recorded.
    let recorder = UdpSocket::bind(fleet.address(1)).unwrap();
    recorder
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    fleet.start(0);
    fleet.start(2);
    let mut recorded = Vec::new();
    let mut buffer = [0; 2048];
    while recorded.len() < 40 {
        match recorder.recv(&mut buffer) {
            Ok(bytes) => recorded.push(buffer[..bytes].to_vec()),
            Err(_) if recorded.len() > 4 => break,
            Err(_) => {}
        }
    }
    drop(recorder);
    fleet.start(1);
    fleet.settle();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let stale = rejected(&fleet, 1, "stale");
    let before = fleet.observed().len();
    for _ in 0..50 {
        for datagram in &recorded {
            socket.send_to(datagram, fleet.address(1)).unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    fleet.until("counted", || rejected(&fleet, 1, "stale") > stale + 20);
    fleet.until("work goes on", || fleet.observed().len() > before + 20);
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
    assert_eq!(fleet.status(1)["settled"], true);
}

#[test]
#[ignore = "make test-all"]
fn slow_requests_do_not_use_up_the_node() {
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1).with_observer(0.01);
    fleet.start_all();
    fleet.settle();
    let slow = || -> Vec<TcpStream> {
        let streams = (0..300).map(|_| {
            let mut stream = TcpStream::connect(fleet.http(0)).expect("connected");
            let begun = b"POST /v1/permits HTTP/1.1\r\nhost: ";
            stream.write_all(begun).expect("sent");
            stream
        });
        streams.collect()
    };
    let streams = slow();
    let open = || {
        fs::read_dir(format!("/proc/{}/fd", fleet.pid(0)))
            .expect("files")
            .count()
    };
    assert!(open() < 150, "{} files are open", open());
    let before = fleet.observed().len();
    fleet.until("the ring works", || fleet.observed().len() > before + 20);
    assert_eq!(fleet.status(0)["settled"], true, "the socket answers");
    drop(streams);
    // Others are answered while they are there, not when their time is over.
    fleet.until("slow ones keep nobody out", || {
        let mut known = TcpStream::connect(fleet.http(0)).expect("connected");
        let host = fleet.http(0);
        let half = format!(
            "POST /v1/permits HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {TOKEN}\r\n\
             content-length: 2\r\n\r\n{{"
        );
        known.write_all(half.as_bytes()).expect("sent");
        let mut streams = slow();
        assert_eq!(http(&host, "GET", "/healthz", &[], "").0, 200);
        // It was there first, and has shown who it is; unless this took longer than a body may.
        let mut text = String::new();
        let sent = known.write_all(b"!");
        let heard = sent.and_then(|()| known.read_to_string(&mut text));
        if heard.is_err() || !text.starts_with("HTTP/1.1 400 ") {
            return false;
        }
        // One of the last 64, and, if they went in turn, not of the last ones that are let in.
        let one = &mut streams[250];
        one.set_nonblocking(true).expect("set");
        let read = one.read(&mut [0]);
        read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    });
}

#[test]
#[ignore = "make test-all"]
fn output_without_end_is_not_kept() {
    let fleet = Fleet::new(&["a", "b", "c"], 1, 1);
    let done = fleet.path("done");
    let script = format!(
        "head -c 200000000 /dev/zero | tr '\\0' x; echo; echo after; touch {}",
        done.display()
    );
    let mut fleet = fleet.with_asked(&script);
    fleet.start_all();
    fleet.settle();
    fleet.ask(0, "POST", "/v1/command", None).unwrap();
    fleet.until("it is done", || {
        done.exists() && fleet.log(0).contains("after")
    });
    let status = fs::read_to_string(format!("/proc/{}/status", fleet.pid(0))).expect("a status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: u64 = peak
        .and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok())
        .expect("a number");
    assert!(peak < 64 << 10, "{peak} KiB for 200 MB of output");
    let line = fleet.log(0).lines().map(str::len).max();
    assert!(line < Some(4000), "{line:?}");
}
