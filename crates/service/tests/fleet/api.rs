//! Programs, FleetLock clients, health and metrics.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Fleet, http};

const JSON: (&str, &str) = ("content-type", "application/json");

fn post(fleet: &Fleet, at: usize, path: &str, body: &Value) -> (u16, Value) {
    let (status, text) = http(&fleet.http(at), "POST", path, &[JSON], &body.to_string());
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}

#[test]
fn programs_wait_extend_and_release() {
    let mut fleet = Fleet::new(20, &["a", "b", "c"], 1, 1);
    fleet.start_all();
    fleet.settle();
    let (status, permit) = post(
        &fleet,
        0,
        "/v1/permits",
        &json!({ "wait_ms": 5000, "lease_ms": 1500 }),
    );
    assert_eq!(status, 200, "{permit}");
    let path = format!("/v1/permits/{}", permit["permit"].as_str().unwrap());
    assert!(permit["fencing"].as_u64() > Some(1 << 40));
    assert!(permit["lease_ms"].as_u64() <= Some(1500));
    // Nobody else has one meanwhile.
    let (status, _) = post(&fleet, 1, "/v1/permits", &json!({ "wait_ms": 300 }));
    assert_eq!(status, 204);
    assert_eq!(fleet.status(0)["holding"][0]["fencing"], permit["fencing"]);
    let (status, extended) = post(
        &fleet,
        0,
        &format!("{path}/extend"),
        &json!({ "lease_ms": 100_000 }),
    );
    assert_eq!(status, 200);
    assert!(
        extended["lease_ms"].as_u64() <= Some(3000),
        "no longer than dwell_most: {extended}"
    );
    for (body, code, expected) in [
        (
            "{\"pay",
            400,
            "body: EOF while parsing a string at line 1 column 5",
        ),
        (
            "{\"load\": 1}",
            422,
            "body: unknown field `load`, expected `wait_ms` or `lease_ms` at line 1 column 7",
        ),
    ] {
        let address = fleet.http(0);
        let (status, text) = http(&address, "POST", &format!("{path}/release"), &[JSON], body);
        let wrong: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((status, &wrong["error"]), (code, &json!(expected)));
    }
    let (status, _) = post(&fleet, 0, &format!("{path}/release"), &json!({}));
    assert_eq!(status, 200);
    let (status, _) = post(&fleet, 0, &format!("{path}/release"), &json!({}));
    assert_eq!(status, 404);
    let (status, next) = post(
        &fleet,
        1,
        "/v1/permits",
        &json!({ "wait_ms": 5000, "lease_ms": 300 }),
    );
    assert_eq!(status, 200);
    assert!(next["fencing"].as_u64() > permit["fencing"].as_u64());
    // It goes away without a word; its lease ends, and the ring goes on.
    let (status, third) = post(&fleet, 2, "/v1/permits", &json!({ "wait_ms": 5000 }));
    assert_eq!(status, 200);
    let path = format!("/v1/permits/{}", next["permit"].as_str().unwrap());
    // An empty body is no mistake, whatever type it says it has.
    let (address, extend) = (fleet.http(1), format!("{path}/extend"));
    let (status, _) = http(&address, "POST", &extend, &[JSON], "");
    assert_eq!(status, 404, "lapsed");
    let path = format!("/v1/permits/{}", third["permit"].as_str().unwrap());
    // Not extended beyond dwell_most either: then it is asked back.
    fleet.until("asked back", || {
        let _ = post(
            &fleet,
            2,
            &format!("{path}/extend"),
            &json!({ "lease_ms": 2000 }),
        );
        let (status, text) = http(&fleet.http(2), "GET", &path, &[], "");
        status == 404 || text.contains("\"asked_back\":true")
    });
    for (path, body, expected) in [
        ("/v1/permits", "{\"wait\": 3}", 422),
        ("/v1/permits", "{", 400),
        ("/v1/members", "{}", 404),
        ("/v1/nothing", "{}", 404),
    ] {
        let (status, text) = http(&fleet.http(0), "POST", path, &[JSON], body);
        assert_eq!(status, expected, "{path} {body}: {text}");
    }
    let long = "x".repeat(20_000);
    let (status, _) = http(&fleet.http(0), "POST", "/v1/permits", &[JSON], &long);
    assert_eq!(status, 413);
}

#[test]
fn a_program_keeps_its_permit_while_the_node_restarts() {
    let mut fleet = Fleet::new(21, &["a", "b", "c"], 1, 1);
    fleet.start_all();
    fleet.settle();
    let (_, permit) = post(
        &fleet,
        0,
        "/v1/permits",
        &json!({ "wait_ms": 5000, "lease_ms": 3000 }),
    );
    let path = format!("/v1/permits/{}", permit["permit"].as_str().unwrap());
    fleet.kill(0);
    fleet.start(0);
    fleet.until("it is still there", || {
        fleet.status(0) != Value::Null && http(&fleet.http(0), "GET", &path, &[], "").0 == 200
    });
    let (status, _) = post(&fleet, 1, "/v1/permits", &json!({ "wait_ms": 200 }));
    assert_eq!(status, 204);
    assert_eq!(
        post(&fleet, 0, &format!("{path}/release"), &json!({})).0,
        200
    );
    let (status, _) = post(&fleet, 1, "/v1/permits", &json!({ "wait_ms": 5000 }));
    assert_eq!(status, 200);
}

const LOCK: (&str, &str) = ("fleet-lock-protocol", "true");

fn fleetlock(fleet: &Fleet, at: usize, path: &str, id: &str) -> (u16, Value) {
    fleetlock_of("default", fleet, at, path, id)
}

fn fleetlock_of(group: &str, fleet: &Fleet, at: usize, path: &str, id: &str) -> (u16, Value) {
    let body = json!({ "client_params": { "id": id, "group": group } }).to_string();
    let (status, text) = http(&fleet.http(at), "POST", path, &[JSON, LOCK], &body);
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}

/// As Zincati does it: steady state at the start, then one request that waits for the reboot,
/// and steady state when the machine is back. Nobody has to ask twice.
#[test]
fn fleetlock_clients_in_the_rhythm_of_zincati() {
    let mut fleet = Fleet::new(113, &["a", "b", "c"], 1, 1);
    fleet.more += "[fleetlock]\nenabled = true\n";
    fleet.start_all();
    fleet.settle();
    let began = std::time::Instant::now();
    let reboot = |at: usize| {
        let id = format!("machine-{at}");
        assert_eq!(fleetlock(&fleet, at, "/v1/steady-state", &id).0, 200);
        let (status, answer) = fleetlock(&fleet, at, "/v1/pre-reboot", &id);
        assert_eq!(status, 200, "{answer}");
        let from = began.elapsed();
        std::thread::sleep(Duration::from_millis(150));
        let until = began.elapsed();
        assert_eq!(fleetlock(&fleet, at, "/v1/steady-state", &id).0, 200);
        (from, until)
    };
    let mut slots: Vec<(Duration, Duration)> = std::thread::scope(|scope| {
        let reboot = &reboot;
        let clients: Vec<_> = (0..3).map(|at| scope.spawn(move || reboot(at))).collect();
        let ended = clients.into_iter().map(|client| client.join());
        ended.map(|slot| slot.expect("no panic")).collect()
    });
    slots.sort_unstable();
    assert!(slots.is_sorted_by(|one, next| one.1 <= next.0), "{slots:?}");
}

/// Two permits travel: machines of the default group use both, those of `few` one.
#[test]
fn a_group_has_its_own_number_of_slots() {
    let names: Vec<String> = (0..6).map(|at| format!("n{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut fleet = Fleet::new(118, &names, 2, 2);
    fleet.more += "[fleetlock]\nenabled = true\nwait = \"0ms\"\n\
                   groups = [\"default\", \"few\"]\nslots = { few = 1 }\n";
    let longer = fleet.timing.replace("\"3s\"", "\"60s\"");
    fleet.timing = longer;
    fleet.start_all();
    fleet.settle();
    let path = |begins| match begins {
        true => "/v1/pre-reboot",
        false => "/v1/steady-state",
    };
    let tell = |group, at: usize, begins| {
        let (status, _) = fleetlock_of(group, &fleet, at, path(begins), &format!("machine-{at}"));
        status == 200
    };
    // All six want one; which of them have it?
    let have = |group| -> Vec<usize> { (0..6).filter(|&at| tell(group, at, true)).collect() };
    // A token that came by before anybody asked there is no use until it goes on.
    fleet.until("two of many", || match have("default")[..] {
        [at] => !tell("default", at, false),
        [_, _] => true,
        _ => false,
    });
    for at in 0..6 {
        assert!(tell("default", at, false));
    }
    let mut left: Vec<usize> = (0..6).collect();
    while !left.is_empty() {
        let mut here = Vec::new();
        fleet.until("one of few", || {
            here = left
                .iter()
                .copied()
                .filter(|&at| tell("few", at, true))
                .collect();
            !here.is_empty()
        });
        // Time enough for the other token to come by.
        std::thread::sleep(Duration::from_millis(100));
        let now: Vec<usize> = left
            .iter()
            .copied()
            .filter(|&at| tell("few", at, true))
            .collect();
        assert_eq!((now.len(), &now), (1, &here), "a group with one slot");
        assert!(tell("few", here[0], false));
        left.retain(|at| *at != here[0]);
    }
}

/// Method, what is special, headers, body; status and kind of the answer.
type Case = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
    u16,
    &'static str,
);

#[test]
fn fleetlock_conformance() {
    let mut fleet = Fleet::new(22, &["a", "b", "c"], 1, 1);
    fleet.more +=
        "[fleetlock]\nenabled = true\nwait = \"0ms\"\ngroups = [\"default\", \"workers\"]\n";
    fleet.start_all();
    fleet.settle();
    let good = r#"{"client_params":{"id":"x1","group":"default"}}"#;
    let cases: &[Case] = &[
        ("POST", "no header", &[], good, 400, "invalid_header"),
        (
            "POST",
            "another value",
            &[("fleet-lock-protocol", "false")],
            good,
            400,
            "invalid_header",
        ),
        (
            "GET",
            "another method",
            &[LOCK],
            good,
            405,
            "invalid_method",
        ),
        (
            "PUT",
            "another method",
            &[LOCK],
            good,
            405,
            "invalid_method",
        ),
        ("POST", "no body", &[LOCK], "", 400, "invalid_body"),
        (
            "POST",
            "not JSON",
            &[LOCK],
            "client_params",
            400,
            "invalid_body",
        ),
        ("POST", "no parameters", &[LOCK], "{}", 400, "invalid_body"),
        (
            "POST",
            "no group",
            &[LOCK],
            r#"{"client_params":{"id":"x"}}"#,
            400,
            "invalid_body",
        ),
        (
            "POST",
            "a number",
            &[LOCK],
            r#"{"client_params":{"id":7,"group":"default"}}"#,
            400,
            "invalid_body",
        ),
        (
            "POST",
            "empty id",
            &[LOCK],
            r#"{"client_params":{"id":"","group":"default"}}"#,
            400,
            "invalid_id",
        ),
        (
            "POST",
            "empty group",
            &[LOCK],
            r#"{"client_params":{"id":"x","group":""}}"#,
            400,
            "invalid_group",
        ),
        (
            "POST",
            "strange group",
            &[LOCK],
            r#"{"client_params":{"id":"x","group":"a b"}}"#,
            400,
            "invalid_group",
        ),
        (
            "POST",
            "another group",
            &[LOCK],
            r#"{"client_params":{"id":"x","group":"other"}}"#,
            403,
            "unknown_group",
        ),
    ];
    for path in ["/v1/pre-reboot", "/v1/steady-state"] {
        for (method, what, headers, body, expected, kind) in cases {
            let (status, text) = http(&fleet.http(0), method, path, headers, body);
            assert_eq!(status, *expected, "{path} {what}: {text}");
            let answer: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(answer["kind"], *kind, "{path} {what}");
            assert!(
                !answer["value"].as_str().unwrap_or_default().is_empty(),
                "{path} {what}"
            );
        }
    }
    let long = format!(
        r#"{{"client_params":{{"id":"{}","group":"default"}}}}"#,
        "x".repeat(20_000)
    );
    let name = format!(
        r#"{{"client_params":{{"id":"{}","group":"default"}}}}"#,
        "x".repeat(300)
    );
    for (body, expected, kind) in [(&long, 413, "invalid_body"), (&name, 400, "invalid_id")] {
        let (status, text) = http(&fleet.http(0), "POST", "/v1/pre-reboot", &[LOCK], body);
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((status, answer["kind"].as_str()), (expected, Some(kind)));
    }
    // Fields that are not known are of later versions.
    let later = r#"{"client_params":{"id":"x1","group":"default","age":7},"more":[]}"#;
    let (status, _) = http(&fleet.http(0), "POST", "/v1/steady-state", &[LOCK], later);
    assert_eq!(status, 200);
    // Giving back what one does not have succeeds, also twice.
    for _ in 0..2 {
        assert_eq!(fleetlock(&fleet, 0, "/v1/steady-state", "x1").0, 200);
    }
    let got = || fleetlock(&fleet, 0, "/v1/pre-reboot", "x1").0 == 200;
    fleet.until("its turn", got);
    assert!(got() && got(), "asking again is the same");
    // Others wait, on this node and on the next, whatever they do.
    let (status, refused) = fleetlock(&fleet, 0, "/v1/pre-reboot", "X1");
    assert_eq!(
        (status, refused["kind"].as_str()),
        (409, Some("failed_lock")),
        "ids are case-sensitive"
    );
    assert_eq!(fleetlock(&fleet, 1, "/v1/pre-reboot", "y1").0, 409);
    assert_eq!(fleetlock(&fleet, 0, "/v1/steady-state", "X1").0, 200);
    let other = r#"{"client_params":{"id":"x1","group":"workers"}}"#;
    let (status, _) = http(&fleet.http(0), "POST", "/v1/steady-state", &[LOCK], other);
    assert_eq!(status, 200, "of another group, it is somebody else");
    assert!(got(), "only the owner's unlock releases");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(fleetlock(&fleet, 1, "/v1/pre-reboot", "y1").0, 409);
    // It comes back, and the next has its turn.
    assert_eq!(fleetlock(&fleet, 0, "/v1/steady-state", "x1").0, 200);
    fleet.until("the next", || {
        fleetlock(&fleet, 1, "/v1/pre-reboot", "y1").0 == 200
    });
}

#[test]
fn fleetlock_that_is_not_enabled_says_so() {
    let mut fleet = Fleet::new(25, &["a", "b", "c"], 1, 1);
    fleet.write_config(0, 3);
    fleet.start(0);
    fleet.until("it is up", || fleet.status(0).is_object());
    let (status, answer) = fleetlock(&fleet, 0, "/v1/pre-reboot", "x1");
    assert_eq!(
        (status, answer["kind"].as_str()),
        (404, Some("not_enabled"))
    );
    assert!(
        answer["value"]
            .as_str()
            .unwrap_or_default()
            .contains("fleetlock.enabled")
    );
}

#[test]
fn a_fleetlock_slot_outlives_a_reboot_and_so_does_the_queue() {
    let mut fleet = Fleet::new(23, &["a", "b", "c"], 1, 1);
    fleet.more += "[fleetlock]\nenabled = true\nwait = \"0ms\"\n";
    fleet.timing = fleet
        .timing
        .replace("dwell_most = \"3s\"", "dwell_most = \"20s\"");
    fleet.start_all();
    fleet.settle();
    fleet.until("its turn", || {
        fleetlock(&fleet, 0, "/v1/pre-reboot", "x1").0 == 200
    });
    assert_eq!(fleetlock(&fleet, 0, "/v1/pre-reboot", "second").0, 409);
    assert_eq!(fleetlock(&fleet, 1, "/v1/pre-reboot", "y1").0, 409);
    // A clean shutdown first, then a crash: the slot stays.
    assert_eq!(fleet.stop(0), 0);
    fleet.start(0);
    fleet.until("up", || fleet.status(0)["phase"] == "settled");
    fleet.kill(0);
    fleet.start(0);
    fleet.until("still held", || fleet.status(0)["holding"][0]["token"] == 0);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(fleetlock(&fleet, 1, "/v1/pre-reboot", "y1").0, 409);
    assert_eq!(fleetlock(&fleet, 0, "/v1/steady-state", "x1").0, 200);
    fleet.until("y1", || {
        fleetlock(&fleet, 1, "/v1/pre-reboot", "y1").0 == 200
    });
    assert_eq!(fleetlock(&fleet, 1, "/v1/steady-state", "y1").0, 200);
    // The second on a was not forgotten: it has its turn without asking again.
    fleet.until("second", || fleet.status(0)["holding"][0]["token"] == 0);
}

#[test]
fn health_readiness_and_metrics() {
    let mut fleet = Fleet::new(24, &["a", "b", "c"], 1, 1).with_observer(0.01);
    fleet.start_all();
    fleet.settle();
    fleet.until("work", || fleet.observed().len() > 10);
    assert_eq!(http(&fleet.http(0), "GET", "/healthz", &[], "").0, 200);
    assert_eq!(http(&fleet.http(0), "GET", "/readyz", &[], "").0, 200);
    assert!(fleet.metric(0, "headway_permits_total") > 1.0);
    assert!(fleet.metric(0, "headway_hook_runs_total") >= 1.0);
    assert_eq!(fleet.metric(0, "headway_hook_failures_total"), 0.0);
    assert_eq!(fleet.metric(0, "headway_settled "), 1.0);
    assert!(fleet.metric(0, "headway_settling_seconds_count") >= 1.0);
    assert!(fleet.metric(0, "headway_hold_seconds_count") >= 1.0);
    fleet.kill(1);
    fleet.until("not ready", || {
        http(&fleet.http(0), "GET", "/readyz", &[], "").0 == 503
    });
    assert_eq!(
        http(&fleet.http(0), "GET", "/healthz", &[], "").0,
        200,
        "but healthy"
    );
    // Another member may have been the first to say so.
    fleet.until("a hears it, too", || {
        fleet.metric(0, "headway_silent_neighbours") == 1.0
    });
}
