//! Numbers of runs and viewers, and rates.

use headway_dashboard::{Limits, Options};
use serde_json::json;

use super::support::{TestServer, fast};

fn server(limits: Limits) -> TestServer {
    TestServer::with(Options {
        limits,
        ..Options::default()
    })
}

#[test]
fn the_run_that_nobody_looks_at_makes_room() {
    let server = server(Limits { runs: 3, ..fast() });
    let id = |_| server.run(&json!({}))["id"].as_str().unwrap().to_owned();
    let runs: Vec<String> = (0..3).map(id).collect();
    let status = |run: &String| server.get(&format!("/api/runs/{run}")).status;
    // The first one is watched, the second looked at, so the third goes.
    let mut watching = server.events(&format!("/api/runs/{}/events", runs[0]));
    watching.frame();
    assert_eq!(status(&runs[1]), 200);
    let fourth = id(3);
    assert_eq!([0, 1, 2].map(|run| status(&runs[run])), [200, 200, 404]);
    let mut others: Vec<_> = [&runs[1], &fourth]
        .map(|run| server.events(&format!("/api/runs/{run}/events")))
        .into();
    for events in &mut others {
        events.frame();
    }
    let answer = server.post("/api/runs", &json!({}));
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "too_many_runs")
    );
    assert_eq!([&runs[0], &runs[1], &fourth].map(status), [200, 200, 200]);
}

#[test]
fn idle_runs_are_dropped() {
    let server = server(Limits {
        idle_run_s: 0,
        ..fast()
    });
    let first = server.run(&json!({}));
    server.run(&json!({}));
    let path = format!("/api/runs/{}", first["id"].as_str().unwrap());
    assert_eq!(server.get(&path).status, 404);
}

#[test]
fn seats_are_limited_and_come_free() {
    let server = server(Limits {
        viewers: 2,
        ..fast()
    });
    let run = server.run(&json!({}));
    let path = format!("/api/runs/{}/events", run["id"].as_str().unwrap());
    let mut one = server.events(&path);
    let mut two = server.events(&path);
    one.frame();
    two.frame();
    let refused = server.get(&path);
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (503, "too_many_viewers")
    );
    one.close();
    // The server notices when it next has something to send.
    let freed = (0..1_000).any(|_| {
        let step = format!("/api/runs/{}/step", run["id"].as_str().unwrap());
        server.post(&step, &json!({}));
        server.events(&path).status == 200
    });
    assert!(freed);
}

#[test]
fn who_asks_too_fast_has_to_wait() {
    let server = server(Limits {
        requests_per_second: 0.001,
        request_burst: 5.0,
        ..Limits::default()
    });
    for _ in 0..5 {
        assert_eq!(server.get("/api/about").status, 200);
    }
    let answer = server.get("/api/about");
    assert_eq!((answer.status, answer.code().as_str()), (429, "too_fast"));
    assert!(answer.headers["retry-after"].parse::<u32>().unwrap() >= 900);
}

/// A class behind one address: all open the page at once, and all that it asks for.
#[test]
fn a_hundred_followers_fit_behind_one_address() {
    let server = server(Limits {
        requests_per_second: 1e-9,
        ..Limits::default()
    });
    let run = server.run(&json!({}));
    let id = run["id"].as_str().unwrap();
    let mut streams = Vec::new();
    for follower in 0..100 {
        for file in ["/", "/js/main.js", "/style/base.css", "/icon.svg"] {
            assert_eq!(server.get(file).status, 200, "{follower} {file}");
        }
        for what in [
            "",
            "/window?from=0&rounds=240",
            "/lines?round=0&rounds=240",
            "/frame",
        ] {
            let path = format!("/api/runs/{id}{what}");
            assert_eq!(server.get(&path).status, 200, "{follower} {what}");
        }
        streams.push(server.events(&format!("/api/runs/{id}/events")));
        assert_eq!(streams[follower].status, 200, "{follower}");
    }
    // There is an end to it all the same.
    let refused = (0..200).any(|_| server.get("/api/about").status == 429);
    assert!(refused);
}

#[test]
fn a_run_takes_only_so_many_faults() {
    let server = server(Limits {
        faults: 3,
        ..fast()
    });
    let run = server.run(&json!({ "faults": ["pile@1", "pile@2", "pile@3"] }));
    let path = format!("/api/runs/{}/faults", run["id"].as_str().unwrap());
    let fourth = server.post(&path, &json!({ "fault": "pile@4" }));
    assert_eq!(fourth.code(), "too_large");
    assert_eq!(
        server.post(&path, &json!({ "fault": "pile:1@3" })).code(),
        "too_large"
    );
    assert_eq!(
        server.post(&path, &json!({ "fault": "pile:1@2" })).status,
        200
    );
}
