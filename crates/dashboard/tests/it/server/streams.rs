//! Event streams: what comes, what a slow reader gets, how they end.

use headway_dashboard::{Limits, Options};
use serde_json::{Value, json};

use super::support::{TestServer, fast};

fn path(run: &Value, what: &str) -> String {
    format!("/api/runs/{}/{what}", run["id"].as_str().unwrap())
}

#[test]
fn every_viewer_sees_what_one_does() {
    let server = TestServer::new();
    let run = server.run(&json!({}));
    let mut viewers: Vec<_> = (0..3)
        .map(|_| server.events(&path(&run, "events")))
        .collect();
    for viewer in &mut viewers {
        assert_eq!(viewer.frame(), run["frame"]);
    }
    let sought = server
        .post(&path(&run, "seek"), &json!({ "round": 77 }))
        .json();
    let struck = server
        .post(&path(&run, "faults"), &json!({ "fault": "pile:6" }))
        .json();
    for viewer in &mut viewers {
        // The frame of round 77 may have been passed over for the later one.
        let mut frame = viewer.frame();
        if frame["version"] == 1 {
            assert_eq!(frame, sought);
            frame = viewer.frame();
        }
        assert_eq!(frame, struck["frame"]);
        assert_eq!(frame["at"], json!([6, 6, 6, 6]));
    }
}

#[test]
fn a_run_that_plays_sends_every_round_in_order() {
    let server = TestServer::new();
    let run = server.run(&json!({}));
    let mut viewer = server.events(&path(&run, "events"));
    viewer.frame();
    server.post(
        &path(&run, "play"),
        &json!({ "playing": true, "speed": 25 }),
    );
    let mut last = 0;
    while last < 20 {
        let frame = viewer.frame();
        assert_eq!(frame["playing"], true);
        let round = frame["round"].as_u64().unwrap();
        assert!(round >= last, "{last} then {round}");
        last = round;
        let same = server
            .get(&path(&run, &format!("frame?round={round}")))
            .json();
        assert_eq!(
            (&same["at"], &same["resting"]),
            (&frame["at"], &frame["resting"])
        );
    }
}

#[test]
fn a_run_that_plays_goes_on_while_nobody_watches() {
    let server = TestServer::new();
    let run = server.run(&json!({}));
    server.post(
        &path(&run, "play"),
        &json!({ "playing": true, "speed": 1e9 }),
    );
    let mut viewer = server.events(&path(&run, "events"));
    assert!(viewer.frame()["round"].as_u64() > Some(0));
}

/// A reader that reads nothing while thousands of frames go by has no effect on those
/// who do, and gets few of them and then the latest.
#[test]
fn a_slow_reader_gets_the_latest_frame_and_delays_nobody() {
    const SEEKS: u64 = 3_000;
    let server = TestServer::new();
    let run = server.run(&json!({ "processes": 1_500, "tokens": 300, "separation": 5 }));
    let mut slow = server.events(&path(&run, "events"));
    let mut quick = server.events(&path(&run, "events"));
    quick.frame();
    for round in 1..=SEEKS {
        let body = json!({ "round": round });
        assert_eq!(server.post(&path(&run, "seek"), &body).status, 200);
        if round % 500 == 0 {
            while quick.frame()["round"] != round {}
        }
    }
    let mut seen = 0;
    loop {
        seen += 1;
        if slow.frame()["round"] == SEEKS {
            break;
        }
    }
    eprintln!("SEEN {seen}");
    assert!(
        seen < SEEKS / 2,
        "{seen} of {SEEKS} frames were kept for a reader who did not read"
    );
}

#[test]
fn a_stream_ends_when_its_run_does() {
    let server = TestServer::new();
    let run = server.run(&json!({}));
    let mut viewer = server.events(&path(&run, "events"));
    viewer.frame();
    let gone = format!("/api/runs/{}", run["id"].as_str().unwrap());
    server.ask("DELETE", &gone, &[], b"");
    assert_eq!(viewer.next(), Some(("gone".to_owned(), json!({}))));
    assert_eq!(viewer.next(), None);
}

#[test]
fn a_class_is_told_that_its_presenter_has_left() {
    let server = TestServer::new();
    let run = server.run(&json!({}));
    let key = server.post(&path(&run, "class"), &json!({})).json();
    let key = key["key"].as_str().unwrap().to_owned();
    let mut follower = server.events(&path(&run, "events"));
    assert_eq!(follower.frame()["class"]["left"], false);
    // Whoever only says so is no presenter.
    server.events(&path(&run, "events?key=guess")).close();
    let mut presenter = server.events(&path(&run, &format!("events?key={key}")));
    presenter.frame();
    assert_eq!(follower.frame()["class"]["left"], false);
    presenter.close();
    // Though nothing else happens.
    while follower.frame()["class"]["left"] != true {}
    let mut back = server.events(&path(&run, &format!("events?key={key}")));
    back.frame();
    while follower.frame()["class"]["left"] != false {}
}

#[test]
fn a_server_that_stops_ends_its_streams() {
    let server = TestServer::with(Options {
        limits: Limits { ..fast() },
        ..Options::default()
    });
    let run = server.run(&json!({}));
    let mut viewer = server.events(&path(&run, "events"));
    viewer.frame();
    server.stop();
    assert_eq!(viewer.next(), Some(("gone".to_owned(), json!({}))));
    assert_eq!(viewer.next(), None);
}
