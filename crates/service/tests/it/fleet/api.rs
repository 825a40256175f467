//! Programs and FleetLock clients.

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
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1);
    fleet.start_all();
    fleet.settle();
    let acquire = |at: usize, wait: u64, lease: u64| {
        let body = json!({ "wait_ms": wait, "lease_ms": lease });
        post(&fleet, at, "/v1/permits", &body)
    };
    let (status, permit) = acquire(0, 60_000, 200_000);
    assert_eq!(status, 200, "{permit}");
    let path = |permit: &Value| format!("/v1/permits/{}", permit["permit"].as_str().unwrap());
    let first = path(&permit);
    assert!(permit["fencing"].as_u64() > Some(1 << 40));
    assert!(permit["lease_ms"].as_u64() <= Some(200_000));
    // Nobody else has one meanwhile.
    assert_eq!(acquire(1, 10, 1_000).0, 204);
    assert_eq!(fleet.status(0)["holding"][0]["fencing"], permit["fencing"]);
    let lease = json!({ "lease_ms": 1_000_000 });
    let (status, extended) = post(&fleet, 0, &format!("{first}/extend"), &lease);
    assert_eq!(status, 200);
    assert!(
        extended["lease_ms"].as_u64() <= Some(300_000),
        "no longer than max_hold: {extended}"
    );
    let release = format!("{first}/release");
    let long = "x".repeat(20_000);
    for (path, body, code, expected) in [
        (
            &*release,
            "{\"pay",
            400,
            "body: EOF while parsing a string at line 1 column 5",
        ),
        (
            &release,
            "{\"load\": 1}",
            422,
            "body: unknown field `load`, expected `wait_ms` or `lease_ms` at line 1 column 7",
        ),
        ("/v1/permits", "{\"wait\": 3}", 422, "unknown field `wait`"),
        ("/v1/permits", "{", 400, "EOF"),
        ("/v1/permits", &long, 413, ""),
        ("/v1/members", "{}", 404, "nothing here"),
        ("/v1/nothing", "{}", 404, "nothing here"),
    ] {
        let (status, text) = http(&fleet.http(0), "POST", path, &[JSON], body);
        let wrong: Value = serde_json::from_str(&text).unwrap_or_default();
        let said = wrong["error"].as_str().unwrap_or_default();
        assert!(status == code && said.contains(expected), "{path}: {text}");
    }
    assert_eq!(post(&fleet, 0, &release, &json!({})).0, 200);
    assert_eq!(post(&fleet, 0, &release, &json!({})).0, 404);
    let (status, next) = acquire(1, 60_000, 100);
    assert_eq!(status, 200);
    assert!(next["fencing"].as_u64() > permit["fencing"].as_u64());
    // It goes away without a word; its lease ends, and the ring goes on.
    assert_eq!(acquire(2, 60_000, 1_000).0, 200);
    // An empty body is no mistake, whatever type it says it has.
    let extend = format!("{}/extend", path(&next));
    let (status, _) = http(&fleet.http(1), "POST", &extend, &[JSON], "");
    assert_eq!(status, 404, "lapsed");
    // What is not enabled says so.
    let (status, answer) = fleetlock(&fleet, 0, "/v1/pre-reboot", "x1");
    let said = answer["value"].as_str().unwrap_or_default();
    assert_eq!((status, &answer["kind"]), (404, &json!("not_enabled")));
    assert!(said.contains("fleetlock.enabled"), "{said}");
}

const LOCK: (&str, &str) = ("fleet-lock-protocol", "true");

fn fleetlock(fleet: &Fleet, at: usize, path: &str, id: &str) -> (u16, Value) {
    let body = json!({ "client_params": { "id": id, "group": "default" } }).to_string();
    let (status, text) = http(&fleet.http(at), "POST", path, &[JSON, LOCK], &body);
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}

/// As Zincati does it: steady state at the start, then one request that waits for the reboot,
/// and steady state when the machine is back. Nobody has to ask twice.
#[test]
fn fleetlock_clients_in_the_rhythm_of_zincati() {
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1);
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
        std::thread::sleep(Duration::from_millis(20));
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
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1);
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
    assert_eq!(fleetlock(&fleet, 1, "/v1/pre-reboot", "y1").0, 409);
    // It comes back, and the next has its turn.
    assert_eq!(fleetlock(&fleet, 0, "/v1/steady-state", "x1").0, 200);
    fleet.until("the next", || {
        fleetlock(&fleet, 1, "/v1/pre-reboot", "y1").0 == 200
    });
}
