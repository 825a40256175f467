//! Explore, networks and lessons.

use serde_json::{Value, json};

use super::support::TestServer;

#[test]
fn flow_is_a_tent() {
    let server = TestServer::new();
    let flow = server
        .get("/api/explore/flow?processes=60&separation=4")
        .json();
    assert_eq!(flow["threshold"], 15);
    let points = flow["points"].as_array().unwrap();
    assert_eq!(points.len(), 30);
    assert_eq!(points[14]["flow"], 0.25);
    assert_eq!(points[29]["flow"], 0.25);
    assert_eq!(points[5]["flow"], 0.1);
}

#[test]
fn settling_gets_faster_with_delays() {
    let server = TestServer::new();
    let path = "/api/explore/stabilization?processes=60&tokens=6&separation=5&samples=100&seed=7";
    let settling = server.get(path).json();
    assert_eq!(
        server.get(path).json(),
        settling,
        "a seed gives the same answer"
    );
    let points = settling["points"].as_array().unwrap();
    let (first, last) = (&points[0], &points[points.len() - 1]);
    assert_eq!((&first["delays"], &last["delays"]), (&json!(1), &json!(60)));
    assert!(first["mean"].as_f64() > last["mean"].as_f64());
    assert!(
        points
            .iter()
            .all(|point| point["most"].as_u64() <= point["worst"].as_u64())
    );
}

#[test]
fn results_are_opened_as_charts() {
    let server = TestServer::new();
    let csv = [("Content-Type", "text/csv; charset=utf-8")];
    let text = b"delays,rounds_mean\n1,30\n2,20.5\n";
    let chart = server.ask("POST", "/api/charts", &csv, text).json();
    assert_eq!(
        (&chart["x"], &chart["y"]),
        (&json!("delays"), &json!(["rounds_mean"]))
    );
    assert_eq!(chart["columns"][1]["values"], json!([30.0, 20.5]));
    let broken = server.ask("POST", "/api/charts", &csv, b"a,b\n1\n");
    assert_eq!((broken.status, broken.code().as_str()), (422, "chart_file"));
    let plain = server.ask("POST", "/api/charts", &[], text);
    assert_eq!(plain.status, 415);
    let parquet = [("Content-Type", "application/vnd.apache.parquet")];
    let answer = server.ask("POST", "/api/charts", &parquet, b"PAR1");
    let built_in = server.get("/api/about").json()["parquet"] == true;
    assert_eq!(answer.status, if built_in { 422 } else { 415 });
}

#[test]
fn a_walk_becomes_a_run() {
    let server = TestServer::new();
    let walk = server
        .post(
            "/api/walks",
            &json!({ "generator": "grid:3x4", "tokens": 2 }),
        )
        .json();
    let positions: Vec<u64> = serde_json::from_value(walk["walk"].clone()).unwrap();
    let length = walk["length"].as_u64().unwrap();
    assert_eq!(positions.len() as u64, length);
    for (node, shown) in walk["nodes"].as_array().unwrap().iter().enumerate() {
        let of: Vec<usize> = serde_json::from_value(shown["positions"].clone()).unwrap();
        assert!(!of.is_empty() && of.iter().all(|&at| positions[at] == node as u64));
        assert!((0.0..=1.0).contains(&shown["x"].as_f64().unwrap()));
    }
    let run = server.run(&walk["settings"]);
    assert_eq!(run["processes"], length);
    assert_eq!(run["feasible"], true);
}

#[test]
fn networks_come_in_files() {
    let server = TestServer::new();
    let walk = |file: Value| {
        let answer = server.post("/api/walks", &json!({ "file": file, "tokens": 2 }));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    };
    let dot = walk(json!({ "name": "a.dot", "text": "graph { a -- b -- c -- d -- a }" }));
    assert_eq!(
        (&dot["length"], &dot["distance_kept"]),
        (&json!(4), &json!(2))
    );
    let edges = walk(json!({ "name": "a.edges", "text": "a b\nb c\nc a\n" }));
    assert_eq!(edges["nodes"][1]["name"], "b");
    // A walk file is taken as it is, with its number of tokens.
    let network = headway_walk::network::generators::Generator::Figure7
        .network(0)
        .unwrap();
    let request = headway_walk::walk::search::Request::new(3);
    let found = headway_walk::walk::search::walk(&network, &request, &mut |_| {}).unwrap();
    let file = headway_walk::walk::file::content(
        &network,
        &request,
        &found,
        headway_walk::walk::file::Tables::None,
    );
    let text = serde_json::to_string(&file).unwrap();
    let given = json!({ "file": { "name": "walk.json", "text": text } });
    let given = server.post("/api/walks", &given).json();
    assert_eq!(
        (&given["tokens"], &given["method"]),
        (&json!(3), &json!("given"))
    );
    assert_eq!(given["length"].as_u64(), Some(found.walk.len() as u64));
    assert_eq!(
        given["distance_kept"].as_u64(),
        found.distance().map(u64::from)
    );
}

#[test]
fn the_chain_thins_a_burst_out() {
    let server = TestServer::new();
    let chain = server
        .get("/api/chain?processes=8&separation=3&rounds=20&arrivals=burst:3")
        .json();
    let frames = chain["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 21);
    assert_eq!(
        frames[1]["at"],
        json!([[0, 0, false], [1, 0, true], [2, 0, true]])
    );
    assert_eq!(
        frames[7]["at"],
        json!([[0, 6, false], [1, 3, false], [2, 0, false]])
    );
    assert_eq!(
        (&frames[7]["closest"], &frames[20]["left"]),
        (&json!(3), &json!(3))
    );
}

#[test]
fn token_rings_recover_their_tokens_and_not_the_distance() {
    let run = TestServer::new().get("/api/token-rings").json();
    let frames = run["frames"].as_array().unwrap();
    let tokens = |round: usize| frames[round]["at"].as_array().unwrap().len();
    assert_eq!((frames.len(), tokens(11), tokens(120)), (121, 4, 4));
    assert!(tokens(12) > 4);
    assert_eq!(frames[11]["closest"], json!(6));
    assert!(frames[120]["closest"].as_u64() < Some(6));
}

#[test]
fn without_lock_step_the_promise_is_kept() {
    let server = TestServer::new();
    for schedule in ["random", "bursts", "straggler"] {
        let path = format!(
            "/api/asynchrony?processes=24&separation=6&pace=2&steps=300&schedule={schedule}"
        );
        let run = server.get(&path).json();
        let (closest, promised) = (
            run["closest"].as_u64().unwrap(),
            run["promised"].as_u64().unwrap(),
        );
        assert_eq!(promised, 4);
        assert!((promised..6).contains(&closest), "{schedule}: {closest}");
        let frames = run["frames"].as_array().unwrap();
        assert_eq!(frames.len(), 301);
        for frame in frames {
            let ticks: Vec<u64> = serde_json::from_value(frame["ticks"].clone()).unwrap();
            for at in 0..24 {
                assert!(ticks[at].abs_diff(ticks[(at + 1) % 24]) <= 1);
            }
        }
    }
}
