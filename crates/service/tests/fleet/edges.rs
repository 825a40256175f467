//! The edges: what a review of version 0.1 found, a test for each way in which it was made to
//! break a promise.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{Fleet, TOKEN, alive, http, http_as, lines};
use crate::observer::closest;

fn fences(fleet: &Fleet) -> Vec<u64> {
    let seen = fleet.observed();
    let begun = seen.iter().filter(|seen| seen.begins);
    begun.map(|seen| seen.fence).collect()
}

fn alarmed(fleet: &Fleet, at: usize, what: &str) -> bool {
    fleet.status(at)["alarms"].to_string().contains(what)
}

fn remove(fleet: &Fleet, by: usize, name: &str) {
    let path = format!("/v1/members/{name}");
    fleet.ask(by, "DELETE", &path, None).expect("removed");
}

fn add(fleet: &Fleet, by: usize, at: usize) -> Value {
    let added = fleet.ask(by, "POST", "/v1/members", Some(&fleet.member(at)));
    added.expect("added")
}

/// Paused while it holds nothing, removed meanwhile: its socket is full of datagrams that
/// bring it the token.
#[test]
fn a_paused_node_that_was_removed_begins_nothing_when_it_goes_on() {
    let names = ["a", "b", "c", "d"];
    let mut fleet = Fleet::new(60, &names, 1, 1).with_observer(0.01);
    fleet.start_all();
    fleet.settle();
    fleet.until("some visits", || fleet.observed().len() > 20);
    fleet.signal(1, Signal::SIGSTOP);
    remove(&fleet, 2, "b");
    let before = fleet.observed().len();
    fleet.until("the others work", || fleet.observed().len() > before + 20);
    let before = fleet.observed().len();
    fleet.signal(1, Signal::SIGCONT);
    fleet.until("b knows", || fleet.status(1)["phase"] == "outside");
    fleet.until("the others go on", || fleet.observed().len() > before + 20);
    let after = &fleet.observed()[before..];
    assert!(after.iter().all(|seen| seen.node != "b"));
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
}

#[test]
fn a_changed_key_never_brings_back_an_old_roster() {
    let mut fleet = Fleet::new(61, &["a", "b", "c", "d"], 1, 1).with_shared_key();
    fleet.start_all();
    fleet.settle();
    remove(&fleet, 0, "b");
    let rest = [0, 2, 3];
    let as_before = |fleet: &Fleet| {
        let fine = |at: &usize| {
            let status = fleet.status(*at);
            (&status["roster"], &status["members"], &status["settled"])
                == (&json!(2), &json!(3), &json!(true))
        };
        rest.iter().all(fine)
    };
    fleet.until("three", || as_before(&fleet));
    let key = fleet.path("ring.key");
    for restarts in [false, true] {
        fs::remove_file(&key).expect("an old key");
        headway_service::secret::create(&key).expect("a new key");
        for at in rest {
            if restarts {
                fleet.kill(at);
                fleet.start(at);
            } else {
                fleet.signal(at, Signal::SIGHUP);
            }
        }
        fleet.until("the same three", || as_before(&fleet));
    }
}

/// Also when nothing is left of any state.
#[test]
fn fences_never_fall() {
    let names = ["a", "b", "c"];
    let mut fleet = Fleet::new(62, &names, 1, 1).with_observer(0.01);
    fleet.start_all();
    fleet.until("some visits", || fences(&fleet).len() > 20);
    for at in 0..3 {
        fleet.kill(at);
    }
    for name in names {
        fs::remove_dir_all(fleet.path(&format!("state-{name}"))).expect("lost");
    }
    // A command that has just begun may not have said so yet.
    std::thread::sleep(Duration::from_millis(500));
    let before = fences(&fleet);
    for at in 0..3 {
        fleet.start(at);
    }
    let enough = before.len() + 20;
    fleet.until("visits again", || fences(&fleet).len() > enough);
    let after = &fences(&fleet)[before.len()..];
    let (before, after) = (before.iter().max(), after.iter().min());
    assert!(before < after, "{before:?}, then {after:?}");
}

/// `dwell_most` and `grace` of the harness, `QUICK`.
const LONGEST_PERMIT: Duration = Duration::from_millis(3_800);

#[test]
fn half_written_notes_are_an_alarm_and_a_command_that_still_runs_is_ended() {
    // No other test has a node of this name: whatever ran under it is ended.
    let mut fleet = Fleet::new(63, &["half", "b", "c"], 1, 1).with_observer(0.01);
    fs::write(fleet.path("slow-half"), "1000").expect("written");
    fleet.start_all();
    let of_a = |fleet: &Fleet| {
        let seen = fleet.observed();
        let mut begun = seen
            .iter()
            .filter(|seen| seen.begins && seen.node == "half");
        begun.next_back().map(|seen| (seen.process, seen.fence))
    };
    fleet.until("a works", || of_a(&fleet).is_some());
    let (process, fence) = of_a(&fleet).expect("it works");
    fleet.kill(0);
    assert!(alive(process), "it outlives its node");
    fs::write(fleet.path("slow-half"), "0.01").expect("written");
    let notes = fleet.path("state-half/notes");
    let whole = fs::read(&notes).expect("notes");
    fs::write(&notes, &whole[..whole.len() / 2]).expect("cut");
    let (logged, restarted) = (fleet.log(0).len(), Instant::now());
    fleet.start(0);
    fleet.until("an alarm", || {
        alarmed(&fleet, 0, "the kept notes cannot be read")
    });
    assert!(!alive(process), "ended before the node took part");
    fleet.until("a takes part", || {
        fleet.log(0)[logged..].contains("takes its place on the ring")
    });
    let away = restarted.elapsed();
    assert!(away >= LONGEST_PERMIT, "a permit of before may be in use");
    fleet.settle();
    fleet.until("a works again", || {
        of_a(&fleet) > Some((0, fence)) && of_a(&fleet).is_some_and(|(_, later)| later > fence)
    });
    assert!(!alarmed(&fleet, 0, "notes"), "over");
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
    let mut seen = fences(&fleet);
    seen.dedup();
    assert_eq!(seen, fences(&fleet), "no fence twice");
}

#[test]
fn a_state_that_was_put_back_is_noticed() {
    let mut fleet = Fleet::new(64, &["a", "b", "c"], 1, 1).with_observer(0.01);
    fleet.start_all();
    fleet.settle();
    fleet.until("some visits", || fleet.observed().len() > 10);
    let state = fleet.path("state-b/state");
    let old = fs::read(&state).expect("a state");
    let before = fleet.observed().len();
    fleet.until("many more", || fleet.observed().len() > before + 40);
    fleet.kill(1);
    fs::write(&state, old).expect("put back");
    let (logged, restarted) = (fleet.log(1).len(), Instant::now());
    fleet.start(1);
    let says = |what: &str| fleet.log(1)[logged..].contains(what);
    fleet.until("noticed", || {
        says("older than what the neighbours were told")
    });
    fleet.until("b takes part", || says("takes its place on the ring"));
    let away = restarted.elapsed();
    assert!(away >= LONGEST_PERMIT, "a permit of before may be in use");
    fleet.settle();
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
}

/// Three neighbours that are gone could ask each other, and nobody who knows better.
#[test]
fn three_neighbours_are_removed_only_on_somebodys_word() {
    let mut fleet = Fleet::new(97, &["a", "b", "c", "d", "e", "f", "g"], 1, 1);
    fleet.start_all();
    fleet.settle();
    for at in [1, 2, 3] {
        fleet.kill(at);
    }
    remove(&fleet, 0, "b");
    remove(&fleet, 0, "d");
    let refused = fleet.ask(0, "DELETE", "/v1/members/c", None).unwrap_err();
    assert!(
        refused.contains("c and both its neighbours would be gone"),
        "{refused}"
    );
    remove(&fleet, 0, "c?gone=true");
    fleet.until("four are left", || {
        [0, 4, 5, 6]
            .iter()
            .all(|&at| fleet.status(at)["settled"] == true && fleet.status(at)["members"] == 4)
    });
}

#[test]
fn adding_a_member_ends_no_command() {
    let mut fleet = Fleet::new(65, &["a", "b", "c", "d"], 1, 1).with_observer(0.01);
    fs::write(fleet.path("slow-b"), "1.5").expect("written");
    for at in 0..3 {
        fleet.write_config(at, 3);
        fleet.start(at);
    }
    fleet.write_config(3, 3);
    fleet.start(3);
    fleet.settle_of(&[0, 1, 2]);
    let ended = |fleet: &Fleet| {
        let seen = fleet.observed();
        seen.iter()
            .filter(|seen| seen.node == "b" && !seen.begins)
            .count()
    };
    fleet.until("b works", || {
        fleet
            .observed()
            .last()
            .is_some_and(|seen| seen.node == "b" && seen.begins)
    });
    let before = ended(&fleet);
    assert_eq!(add(&fleet, 0, 3)["version"], 2);
    fleet.until("d is there", || fleet.status(3)["settled"] == true);
    // On the new ring b may have worked before d was settled.
    assert!(ended(&fleet) > before, "it came to its end");
    assert!(!fleet.log(1).contains("SIGTERM"), "{}", fleet.log(1));
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
}

/// A command may reboot its machine.
#[test]
fn a_clean_stop_keeps_the_permit_until_the_node_is_back() {
    let fleet = Fleet::new(66, &["a", "b", "c"], 1, 1);
    let ran = fleet.path("ran");
    let script = format!(
        "echo $HEADWAY_NODE $HEADWAY_FENCE >> {}; [ $HEADWAY_NODE != a ] || sleep 1000",
        ran.display()
    );
    let mut fleet = fleet.with_asked(&script);
    fleet.start_all();
    fleet.settle();
    fleet.ask(0, "POST", "/v1/hook", None).unwrap();
    fleet.until("a works", || lines(&ran).len() == 1);
    for at in [1, 2] {
        fleet.ask(at, "POST", "/v1/hook", None).unwrap();
    }
    assert_eq!(fleet.stop(0), 0);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(lines(&ran).len(), 1, "nobody else works meanwhile");
    fleet.start(0);
    fleet.until("the others work", || lines(&ran).len() == 3);
    let ran = lines(&ran);
    assert!(
        ran[1..].iter().all(|line| !line.starts_with('a')),
        "not run again: {ran:?}"
    );
    assert!(fleet.log(0).contains("goes on from the kept state"));
}

#[test]
fn times_that_are_not_the_same_everywhere_are_an_alarm() {
    let mut fleet = Fleet::new(67, &["a", "b", "c"], 1, 1);
    for at in 0..3 {
        if at == 1 {
            fleet.timing = fleet
                .timing
                .replace("dwell_most = \"3s\"", "dwell_most = \"30s\"");
        }
        fleet.write_config(at, 3);
        fleet.start(at);
    }
    fleet.until("a says so", || {
        alarmed(
            &fleet,
            0,
            "b was configured with other members, tokens or times",
        )
    });
    assert_eq!(fleet.status(0)["settled"], false, "and nobody works");
}

#[test]
fn strangers_change_nothing_over_http() {
    let mut fleet = Fleet::new(68, &["a", "b", "c"], 1, 1);
    fleet.more += "hosts = [\"known.example\"]\n[fleetlock]\nenabled = true\nwait = \"0ms\"\nids = [\"x*\", \"y\"]\n";
    fleet.start_all();
    fleet.settle();
    let address = fleet.http(0);
    // What is wrong is said as JSON, whatever part of the request it is in.
    let (status, text) = http(&address, "GET", "/v1/permits/zz", &[], "");
    let said: Value = serde_json::from_str(&text).expect("JSON");
    let says = said["error"].as_str().unwrap_or_default();
    assert!(
        status == 400 && says.contains("the id of a permit"),
        "{text}"
    );
    let host = ("host", &*address);
    let bearer = format!("Bearer {TOKEN}");
    let basic = {
        use base64::Engine as _;
        let pair = format!("anybody:{TOKEN}");
        format!(
            "Basic {}",
            base64::engine::general_purpose::STANDARD.encode(pair)
        )
    };
    let json = ("content-type", "application/json");
    let ask = |headers: &[(&str, &str)], body: &str| {
        let headers = [headers, &[json]].concat();
        let (status, text) = http_as(&address, "POST", "/v1/permits", &headers, body);
        if status != 200 {
            return status;
        }
        // Its turn came at once. It is given back, as if it had not.
        let permit: Value = serde_json::from_str(&text).expect("JSON");
        let id = permit["permit"].as_str().expect("an id");
        let path = format!("/v1/permits/{id}/release");
        assert_eq!(http(&address, "POST", &path, &[], "").0, 200);
        204
    };
    for (headers, expected) in [
        (&[host][..], 401),
        (&[host, ("authorization", "Bearer guessed")], 401),
        (&[host, ("authorization", "Basic Z3Vlc3NlZA==")], 401),
        (
            &[("host", "rebound.example"), ("authorization", &bearer)],
            421,
        ),
        (&[("authorization", &bearer)], 421),
        (
            &[
                host,
                ("authorization", &bearer),
                ("origin", "http://evil.example"),
            ],
            403,
        ),
        (
            &[
                host,
                ("authorization", &bearer),
                ("sec-fetch-site", "cross-site"),
            ],
            403,
        ),
        (&[host, ("authorization", &bearer)], 204),
        (&[host, ("authorization", &basic)], 204),
        (
            &[("host", "known.example"), ("authorization", &bearer)],
            204,
        ),
    ] {
        assert_eq!(ask(headers, "{\"wait_ms\": 1}"), expected, "{headers:?}");
    }
    // Questions need no token, and a page of another site may not even ask.
    let look = |headers: &[(&str, &str)]| http_as(&address, "GET", "/v1/status", headers, "").0;
    assert_eq!(look(&[host]), 200);
    assert_eq!(look(&[("host", "rebound.example")]), 421);
    assert_eq!(look(&[host, ("origin", "http://evil.example")]), 403);
    // A permit cannot be guessed from another.
    let (status, text) = http(
        &address,
        "POST",
        "/v1/permits",
        &[json],
        "{\"wait_ms\": 5000}",
    );
    assert_eq!(status, 200, "{text}");
    let permit: Value = serde_json::from_str(&text).expect("JSON");
    let id = permit["permit"].as_str().expect("an id");
    assert_eq!(id.len(), 32, "128 bits: {id}");
    let number = u128::from_str_radix(id, 16).expect("hexadecimal");
    for near in [number.wrapping_add(1), number.wrapping_sub(1)] {
        let path = format!("/v1/permits/{near:032x}/release");
        assert_eq!(http(&address, "POST", &path, &[], "").0, 404);
    }
    let path = format!("/v1/permits/{id}/release");
    assert_eq!(http(&address, "POST", &path, &[], "").0, 200);
    // FleetLock: who may speak for which id, and names that are written with escapes.
    let lock = |id: &str, token: &str| {
        let body = json!({ "client_params": { "id": id, "group": "default" } }).to_string();
        let headers = [
            host,
            json,
            ("fleet-lock-protocol", "true"),
            ("authorization", token),
        ];
        let (status, text) = http_as(&address, "POST", "/v1/pre-reboot", &headers, &body);
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        (
            status,
            answer["kind"].as_str().unwrap_or_default().to_owned(),
        )
    };
    assert_eq!(lock("x1", "Bearer wrong"), (401, "refused".into()));
    assert_eq!(lock("z1", &basic), (403, "unknown_id".into()));
    assert_eq!(lock("y1", &basic), (403, "unknown_id".into()));
    let evil = "x\u{1b}[2J\nforged line";
    fleet.until("its turn", || lock(evil, &basic).0 == 200);
    let log = fleet.log(0);
    assert!(log.contains(r"x\u{1b}[2J\nforged line"), "{log}");
    assert!(
        !log.contains('\u{1b}') && !log.contains("\nforged"),
        "{log}"
    );
}

/// The ring takes no notice of thousands who ask and never come back.
#[test]
fn a_flood_of_fleetlock_ids_is_refused() {
    let mut fleet = Fleet::new(69, &["a", "b", "c"], 1, 1).with_observer(0.01);
    fleet.more += "[fleetlock]\nenabled = true\nwait = \"0ms\"\nids = [\"mine\"]\n";
    fleet.start_all();
    fleet.settle();
    let before = fleet.observed().len();
    for id in 0..300 {
        let body = format!(r#"{{"client_params":{{"id":"strange-{id}","group":"default"}}}}"#);
        let lock = ("fleet-lock-protocol", "true");
        let (status, _) = http(&fleet.http(0), "POST", "/v1/pre-reboot", &[lock], &body);
        assert_eq!(status, 403);
    }
    assert_eq!(fleet.status(0)["waiting"], 0);
    fleet.until("the ring works", || fleet.observed().len() > before + 40);
}

#[test]
fn slow_requests_do_not_use_up_the_node() {
    let mut fleet = Fleet::new(95, &["a", "b", "c"], 1, 1).with_observer(0.01);
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
fn output_without_end_is_not_kept() {
    let fleet = Fleet::new(96, &["a", "b", "c"], 1, 1);
    let done = fleet.path("done");
    let script = format!(
        "head -c 200000000 /dev/zero | tr '\\0' x; echo; echo after; touch {}",
        done.display()
    );
    let mut fleet = fleet.with_asked(&script);
    fleet.start_all();
    fleet.settle();
    fleet.ask(0, "POST", "/v1/hook", None).unwrap();
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
