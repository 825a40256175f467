//! Making runs, looking at them, changing them.

use headway_sim::StateFile;
use serde_json::{Value, json};

use super::support::TestServer;

#[test]
fn a_run_tells_its_future() {
    let server = TestServer::new();
    let run = server.run(&json!({ "start": "worst", "delays": "1", "seed": 3 }));
    let segment = &run["segments"][0];
    // One delay among 24: n + (m-1)·d - 1.
    assert_eq!(segment["last_rest"], 38);
    assert_eq!(segment["worst_last_rest"], 38);
    assert_eq!(run["frame"]["round"], 0);
    assert_eq!(run["frame"]["resting"], json!([0, 1, 2, 3]));
    let again = server.get(&format!("/api/runs/{}", run["id"].as_str().unwrap()));
    assert_eq!(again.json(), run);
    let far = frame(&server, &run, 1_000_000_000_000);
    assert_eq!(
        (&far["legitimate"], &far["closest"]),
        (&json!(true), &json!(5))
    );
    assert_eq!(far["holds"], json!([true, true, true, true, true]));
}

#[test]
fn an_infeasible_ring_says_why_and_where_it_jams() {
    let server = TestServer::new();
    let run = server.run(&json!({ "processes": 20, "tokens": 5, "separation": 6 }));
    assert_eq!(run["feasible"], false);
    let why = run["why"].as_str().unwrap();
    assert!(
        why.starts_with("5 tokens 6 apart need 30 processes, and there are 20: at most 3 fit."),
        "{why}"
    );
    let jam = &run["segments"][0]["jam"];
    assert_eq!(jam["period"], 6);
    let waits = jam["queues"].as_array().unwrap();
    // A turn takes m·d = 30 rounds; 10 of them are spent in queues.
    let rounds: u64 = waits
        .iter()
        .map(|queue| queue["rounds"].as_u64().unwrap())
        .sum();
    assert_eq!(rounds, 10);
    let far = frame(&server, &run, 9_007_199_254_740_991);
    assert_eq!(far["legitimate"], false);
    assert_eq!(far["at"].as_array().unwrap().len(), 5);
}

#[test]
fn the_same_settings_make_the_same_run() {
    let server = TestServer::new();
    let run = server.run(&json!({ "processes": 40, "tokens": 5, "delays": "7", "seed": 11 }));
    let id = run["id"].as_str().unwrap();
    let strike = |body: Value| {
        let answer = server.post(&format!("/api/runs/{id}/faults"), &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    };
    strike(json!({ "fault": "scramble:25%", "round": 60 }));
    strike(json!({ "fault": "program:3:delay", "round": 70 }));
    let from = frame(&server, &run, 75)["at"][2].as_u64().unwrap();
    let last = strike(json!({ "fault": format!("move:{from}:9"), "token": 2, "round": 75 }));
    assert_eq!(last["settings"]["faults"][2], format!("move:{from}:9#2@75"));
    assert_eq!(last["frame"]["at"][2], 9);
    let copy = server.run(&last["settings"]);
    assert_eq!(copy["settings"], last["settings"]);
    assert_eq!(copy["segments"], last["segments"]);
    for round in [0, 59, 60, 70, 75, 76, 90, 1_000_000] {
        let shown = |run: &Value| {
            let frame = frame(&server, run, round);
            (
                frame["at"].clone(),
                frame["resting"].clone(),
                frame["counters"].clone(),
            )
        };
        assert_eq!(shown(&copy), shown(&last), "round {round}");
    }
}

#[test]
fn a_fault_in_the_past_drops_what_came_after() {
    let server = TestServer::new();
    let run = server.run(&json!({ "faults": ["pile@20", "scramble@40"] }));
    assert_eq!(run["segments"].as_array().unwrap().len(), 3);
    let id = run["id"].as_str().unwrap();
    let before = frame(&server, &run, 10);
    let struck = server.post(
        &format!("/api/runs/{id}/faults"),
        &json!({ "fault": "pile:3@25" }),
    );
    let struck = struck.json();
    assert_eq!(
        struck["settings"]["faults"],
        json!(["pile@20", "pile:3@25"])
    );
    assert_eq!(
        (&struck["version"], &struck["frame"]["round"]),
        (&json!(2), &json!(25))
    );
    assert_eq!(struck["frame"]["at"], json!([3, 3, 3, 3]));
    let after = frame(&server, &run, 10);
    assert_eq!(after["at"], before["at"], "the past stays");
}

#[test]
fn a_dragged_token_is_the_one_that_moves() {
    let server = TestServer::new();
    let run = server.run(&json!({ "start": "piled" }));
    let id = run["id"].as_str().unwrap();
    let path = format!("/api/runs/{id}/faults");
    let moved = server
        .post(&path, &json!({ "fault": "move:0:12", "token": 1 }))
        .json();
    assert_eq!(moved["frame"]["at"], json!([0, 12, 0, 0]));
    let error = server.post(&path, &json!({ "fault": "move:0:7", "token": 1 }));
    assert_eq!(
        (error.status, error.field().as_deref()),
        (422, Some("token"))
    );
    let unchanged = server.get(&format!("/api/runs/{id}")).json();
    assert_eq!(unchanged["frame"]["at"], json!([0, 12, 0, 0]));
}

#[test]
fn delays_and_relays_can_be_exchanged() {
    let server = TestServer::new();
    let run =
        server.run(&json!({ "processes": 6, "tokens": 2, "separation": 3, "start": "spaced" }));
    let id = run["id"].as_str().unwrap();
    let path = format!("/api/runs/{id}/faults");
    for process in 0..6 {
        let fault = json!({ "fault": format!("program:{process}:relay") });
        assert_eq!(server.post(&path, &fault).status, 200);
    }
    let all_relay = server.get(&format!("/api/runs/{id}")).json();
    assert_eq!(all_relay["program"], "relay");
    assert_eq!(all_relay["segments"][6]["delays"], json!([]));
    let fault = json!({ "fault": "program:4:delay" });
    let one = server.post(&path, &fault).json();
    assert_eq!(one["segments"][7]["delays"], json!([[4, 4]]));
}

#[test]
fn a_state_file_goes_in_and_out() {
    let server = TestServer::new();
    let run = server.run(&json!({ "processes": 12, "tokens": 3, "seed": 4 }));
    let id = run["id"].as_str().unwrap();
    let file = server.get(&format!("/api/runs/{id}/state?round=7"));
    assert_eq!(
        file.headers["content-disposition"],
        "attachment; filename=\"ring-round-7.json\""
    );
    let parsed = StateFile::parse(&file.text()).expect("a state file");
    assert_eq!(parsed.ring.len(), 12);
    let as_object = server.run(&json!({ "state": file.json() }));
    let as_text = server.run(&json!({ "state": file.text() }));
    let original = frame(&server, &run, 27);
    for copy in [as_object, as_text] {
        let shown = frame(&server, &copy, 20);
        assert_eq!(shown["counters"], original["counters"]);
        assert_eq!(shown["closest"], original["closest"]);
        assert_eq!(copy["settings"]["state"], file.json());
    }
}

#[test]
fn a_run_plays_steps_and_seeks() {
    let server = TestServer::new();
    let run = server.run(&json!({}));
    let id = run["id"].as_str().unwrap();
    let post =
        |what: &str, body: Value| server.post(&format!("/api/runs/{id}/{what}"), &body).json();
    assert_eq!(post("step", json!({}))["round"], 1);
    assert_eq!(post("step", json!({ "rounds": 10 }))["round"], 11);
    assert_eq!(post("step", json!({ "rounds": -100 }))["round"], 0);
    assert_eq!(
        post("seek", json!({ "round": 1_000_000_000_000_u64 }))["round"],
        1_000_000_000_000_u64
    );
    let playing = post("play", json!({ "playing": true, "speed": 1e12 }));
    assert_eq!(
        (&playing["playing"], &playing["speed"]),
        (&json!(true), &json!(1e12))
    );
    let stopped = post("step", json!({ "rounds": 0 }));
    assert_eq!(stopped["playing"], false);
    assert!(stopped["round"].as_u64() >= Some(1_000_000_000_000));
    let now = server.get(&format!("/api/runs/{id}/frame")).json();
    assert_eq!(now["round"], stopped["round"], "it stands");
}

#[test]
fn a_measuring_ring_is_run_and_can_be_sought() {
    let server = TestServer::new();
    let run = server.run(&json!({ "program": "measure", "processes": 30, "tokens": 4 }));
    let legitimate_at = run["segments"][0]["legitimate_at"]
        .as_u64()
        .expect("it settles");
    assert_eq!(run["separation"], 7);
    assert_eq!(frame(&server, &run, legitimate_at)["legitimate"], true);
    let before = frame(&server, &run, legitimate_at - 1);
    assert_eq!(before["legitimate"], false, "and not before");
    assert_eq!(frame(&server, &run, 100_000)["measuring"][0]["base"], 6);
    // The printed program's errors: it never finds 3 on 6 processes with 2 tokens.
    let printed = server.run(&json!({
        "program": "measure-as-printed", "processes": 6, "tokens": 2, "start": "piled"
    }));
    assert_eq!(printed["segments"][0]["legitimate_at"], Value::Null);
    assert_ne!(frame(&server, &printed, 1_000)["measuring"][0]["base"], 2);
    let id = printed["id"].as_str().unwrap();
    let far = server.get(&format!("/api/runs/{id}/frame?round=9000000000000"));
    assert_eq!((far.status, far.code().as_str()), (422, "too_far"));
}

#[test]
fn lines_of_many_rounds_are_those_of_each() {
    let server = TestServer::new();
    for settings in [
        json!({ "faults": ["program:3:relay@5", "pile@9"] }),
        json!({ "program": "measure", "processes": 12, "tokens": 3 }),
        json!({ "program": "moving-block", "separation": 4, "faults": ["pile@6"] }),
    ] {
        let run = server.run(&settings);
        let id = run["id"].as_str().unwrap();
        let lines = |query: &str| server.get(&format!("/api/runs/{id}/lines?{query}")).json();
        let mut round = 0;
        while round < 20 {
            let many = lines(&format!("round={round}&rounds=7"));
            let told = many["executed"].as_array().unwrap();
            assert!((1..=7).contains(&told.len()), "{settings} {round}");
            for executed in told {
                let one = lines(&format!("round={round}"));
                assert_eq!(one["executed"], json!([executed]), "{settings} {round}");
                assert_eq!(one["program_of"], many["program_of"], "{settings} {round}");
                round += 1;
            }
        }
    }
    let run = server.run(&json!({ "processes": 2_000, "tokens": 5 }));
    let path = format!(
        "/api/runs/{}/lines?rounds=1000000",
        run["id"].as_str().unwrap()
    );
    assert_eq!(
        server.get(&path).json()["executed"]
            .as_array()
            .unwrap()
            .len(),
        10
    );
}

#[test]
fn a_run_can_be_dropped() {
    let server = TestServer::new();
    let run = server.run(&json!({}));
    let path = format!("/api/runs/{}", run["id"].as_str().unwrap());
    assert_eq!(server.ask("DELETE", &path, &[], b"").status, 204);
    assert_eq!(server.get(&path).code(), "unknown_run");
    assert_eq!(server.ask("DELETE", &path, &[], b"").status, 404);
}

#[test]
fn the_diagram_is_a_picture() {
    let server = TestServer::new();
    let run = server.run(&json!({}));
    let id = run["id"].as_str().unwrap();
    let picture = server.get(&format!("/api/runs/{id}/diagram.svg?from=3&rounds=40"));
    assert_eq!(picture.headers["content-type"], "image/svg+xml");
    assert!(picture.text().starts_with("<svg"));
    assert!(
        picture
            .text()
            .contains("24 processes, 4 tokens, separation 5")
    );
    let film = server.get(&format!("/api/runs/{id}/film.svg?from=3&rounds=40"));
    assert_eq!(film.headers["content-type"], "image/svg+xml");
    let moves = "4 tokens on a ring of 24, separation 5, from round 3 on";
    assert!(film.text().contains(moves) && film.text().contains("@keyframes token3"));
}

fn frame(server: &TestServer, run: &Value, round: u64) -> Value {
    let id = run["id"].as_str().unwrap();
    let answer = server.get(&format!("/api/runs/{id}/frame?round={round}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}
