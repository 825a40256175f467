//! Bad requests get an error that says what is wrong, and change nothing.

use headway_dashboard::{Limits, Options};
use serde_json::{Value, json};

use super::support::{TestServer, fast};

/// Status, code and field of what a body for a new run gets.
fn refused(server: &TestServer, body: &Value) -> (u16, String, Option<String>) {
    let answer = server.post("/api/runs", body);
    (answer.status, answer.code(), answer.field())
}

#[test]
fn settings_that_make_no_run() {
    let server = TestServer::new();
    let cases = [
        (
            json!({ "processes": 4_000_000_000_u64 }),
            "too_large",
            "processes",
        ),
        (json!({ "processes": 100_001 }), "too_large", "processes"),
        (json!({ "tokens": 1_000_000 }), "too_large", "tokens"),
        (
            json!({ "program": "measure", "processes": 5_000 }),
            "too_large",
            "processes",
        ),
        (json!({ "processes": 0 }), "invalid", "processes"),
        (json!({ "processes": -3 }), "invalid", "processes"),
        (json!({ "processes": 2.5 }), "invalid", "processes"),
        (json!({ "processes": "many" }), "invalid", "processes"),
        (json!({ "tokens": 0 }), "invalid", "tokens"),
        (json!({ "separation": 0 }), "invalid", "separation"),
        (
            json!({ "separation": 3_000_000_000_u64 }),
            "invalid",
            "separation",
        ),
        (
            json!({ "program": "measure", "separation": 3 }),
            "invalid",
            "separation",
        ),
        (json!({ "program": "melt" }), "invalid", "program"),
        (json!({ "delays": "none" }), "invalid", "delays"),
        (json!({ "delays": "25" }), "invalid", "delays"),
        (json!({ "delays": "at:24" }), "invalid", "delays"),
        (json!({ "start": "middle" }), "invalid", "start"),
        (
            json!({ "start": "worst", "separation": 20 }),
            "infeasible_start",
            "start",
        ),
        (json!({ "limit": 10 }), "invalid", "limit"),
        (json!({ "speed": 1 }), "invalid", "speed"),
        (
            json!({ "round": 9_007_199_254_740_992_u64 }),
            "invalid",
            "round",
        ),
        (
            json!({ "faults": ["pile@3", "melt@4"] }),
            "invalid",
            "faults[1]",
        ),
        (
            json!({ "faults": ["pile@3", "pile@2"] }),
            "invalid",
            "faults[1]",
        ),
        (json!({ "faults": ["move:1:99@2"] }), "invalid", "faults[0]"),
        (
            json!({ "faults": ["counter:1:5@2"] }),
            "invalid",
            "faults[0]",
        ),
        (json!({ "faults": "pile@3" }), "invalid", "faults"),
        (json!({ "state": {}, "tokens": 3 }), "invalid", "tokens"),
        (
            json!({ "state": { "separation": 2, "processes": [] } }),
            "state_file",
            "state",
        ),
        (
            json!({ "state": { "separation": 2, "processes": [{ "program": "delay" }] } }),
            "state_file",
            "state",
        ),
    ];
    for (body, code, field) in cases {
        let expected = (422, code.to_owned(), Some(field.to_owned()));
        assert_eq!(refused(&server, &body), expected, "{body}");
    }
}

#[test]
fn a_state_file_as_text_is_wrong_at_a_line() {
    let server = TestServer::new();
    let text =
        "{ \"separation\": 2, \"processes\": [\n  {\"program\": \"delay\", \"counter\": 7} ] }";
    let answer = server.post("/api/runs", &json!({ "state": text }));
    assert_eq!(answer.code(), "state_file");
    assert!(
        answer.text().contains("line 2, column"),
        "{}",
        answer.text()
    );
    assert!(
        answer.text().contains("processes[0].counter"),
        "{}",
        answer.text()
    );
}

#[test]
fn a_measuring_run_cannot_begin_too_far_out() {
    let server = TestServer::new();
    let body = json!({ "program": "measure", "round": 1_000_000_000_000_u64 });
    let expected = (422, "too_far".to_owned(), Some("round".to_owned()));
    assert_eq!(refused(&server, &body), expected);
}

#[test]
fn bodies_that_are_no_json() {
    let server = TestServer::new();
    let json = [("Content-Type", "application/json")];
    for body in ["", "{", "{\"processes\": 3} x", "nonsense"] {
        let answer = server.ask("POST", "/api/runs", &json, body.as_bytes());
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "invalid_json"),
            "{body}"
        );
    }
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let answer = server.ask("POST", "/api/runs", &form, b"{}");
    assert_eq!(
        answer.status, 415,
        "a form of another site cannot make a run"
    );
    let answer = server.ask("POST", "/api/runs", &json, b"[]");
    assert_eq!(answer.status, 422);
}

#[test]
fn a_body_that_is_too_long() {
    let server = TestServer::with(Options {
        limits: Limits {
            body_bytes: 10_000,
            ..fast()
        },
        ..Options::default()
    });
    let body = json!({ "delays": "9".repeat(10_000) });
    let answer = server.post("/api/runs", &body);
    assert_eq!((answer.status, answer.code().as_str()), (413, "too_large"));
    assert_eq!(server.get("/api/about").status, 200);
}

#[test]
fn paths_and_methods_that_are_not_there() {
    let server = TestServer::new();
    for path in [
        "/api/nothing",
        "/api/runs/abc",
        "/api/runs/abc/frame",
        "/api/runs/abc/events",
        "/api/runs/abc/window",
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
        let expected = if path.contains("abc") {
            "unknown_run"
        } else {
            "unknown_path"
        };
        assert_eq!(answer.code(), expected, "{path}");
    }
    assert_eq!(server.ask("PUT", "/api/runs", &[], b"").code(), "method");
    assert_eq!(server.ask("POST", "/", &[], b"").code(), "method");
    assert_eq!(
        server.ask("DELETE", "/index.html", &[], b"").code(),
        "method"
    );
}

/// Everything that can be asked of a run, asked wrongly; it stays exactly as it was.
#[test]
fn a_run_stays_as_it_was() {
    let server = TestServer::new();
    let run = server.run(&json!({ "faults": ["pile:3@5"], "round": 9 }));
    let base = format!("/api/runs/{}", run["id"].as_str().unwrap());
    let posts = [
        ("seek", json!({ "round": -1 })),
        ("seek", json!({ "round": 9_007_199_254_740_992_u64 })),
        ("seek", json!({})),
        ("step", json!({ "rounds": "x" })),
        ("step", json!({ "rounds": i64::MAX })),
        ("play", json!({ "speed": 0 })),
        ("play", json!({ "speed": -4, "playing": true })),
        ("play", json!({ "speed": 1e13 })),
        ("play", json!({ "plying": true })),
        ("faults", json!({ "fault": "melt" })),
        ("faults", json!({ "fault": "move:3:24" })),
        ("faults", json!({ "fault": "move:23:2", "round": 5 })),
        ("faults", json!({ "fault": "counter:3:5" })),
        ("faults", json!({ "fault": "program:24:delay" })),
        ("faults", json!({ "fault": "program:3:measure" })),
        (
            "faults",
            json!({ "fault": "pile", "round": 9_007_199_254_740_992_u64 }),
        ),
        ("faults", json!({ "fault": "pile:99999999999999999999" })),
    ];
    for (what, body) in posts {
        let answer = server.post(&format!("{base}/{what}"), &body);
        assert_eq!(answer.status, 422, "{what} {body}: {}", answer.text());
        answer.code();
    }
    for query in [
        "frame?round=x",
        "frame?round=-1",
        "frame?rnd=1",
        "window?from=-1",
        "window?from=9007199254740992",
        "window?rounds=x",
        "state?round=9007199254740992",
        "diagram.svg?rounds=0",
        "film.svg?rounds=2000",
        "diagram.svg?rounds=90000000",
    ] {
        let answer = server.get(&format!("{base}/{query}"));
        assert_eq!(answer.status, 422, "{query}: {}", answer.text());
        assert!(answer.field().is_some(), "{query}: {}", answer.text());
    }
    assert_eq!(server.get(&base).json(), run);
}

#[test]
fn other_questions_asked_wrongly() {
    let server = TestServer::new();
    for path in [
        "/api/explore/flow?processes=0",
        "/api/explore/flow?processes=100000",
        "/api/explore/flow?separation=0",
        "/api/explore/flow?delays=x",
        "/api/explore/flow?delays=at:7000",
        "/api/explore/stabilization?samples=0",
        "/api/explore/stabilization?samples=100000000",
        "/api/explore/stabilization?tokens=50",
        "/api/explore/stabilization?tokens=0",
        "/api/chain?processes=1",
        "/api/token-rings?tokens=0",
        "/api/token-rings?tokens=30",
        "/api/token-rings?processes=40&rounds=999999999",
        "/api/chain?separation=0",
        "/api/chain?arrivals=now",
        "/api/chain?rounds=999999999",
        "/api/chain?arrivals=burst:4000000000",
        "/api/asynchrony?pace=0",
        "/api/asynchrony?separation=25",
        "/api/asynchrony?steps=9999999",
        "/api/asynchrony?schedule=none",
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 422, "{path}: {}", answer.text());
        assert!(answer.field().is_some(), "{path}: {}", answer.text());
    }
    for body in [
        json!({}),
        json!({ "generator": "moebius:3" }),
        json!({ "generator": "grid:1000x1000" }),
        json!({ "generator": "grid:3x3", "tokens": 0 }),
        json!({ "generator": "grid:3x3", "tokens": 1000 }),
        json!({ "generator": "grid:20x20", "method": "best" }),
        json!({ "generator": "grid:3x3", "file": { "name": "a.dot", "text": "" } }),
        json!({ "file": { "name": "a.doc", "text": "" } }),
        json!({ "file": { "name": "a.dot", "text": "graph { a -- " } }),
        json!({ "file": { "name": "a.edges", "text": "a b\nc d\n" } }),
    ] {
        let answer = server.post("/api/walks", &body);
        assert_eq!(answer.status, 422, "{body}: {}", answer.text());
    }
}
