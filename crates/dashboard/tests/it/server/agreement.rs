//! What the server shows is what lock-step finds: every state, every way, every
//! verdict, also across faults, for random rings of all programs.

use std::ops::ControlFlow;

use headway_core::tokens::Tokens;
use headway_core::{Configuration, Ring};
use headway_dashboard::{Limits, Options};
use headway_sim::{Run, StateFile, run as simulate};
use headway_testkit::tier::{pick, properties};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::support::{TestServer, fast};

const ROUNDS: u64 = 60;

/// States 0 to [`ROUNDS`], each after the faults that strike in it.
fn lock_step(
    ring: &Ring,
    start: &Configuration,
    faults: &[String],
    seed: u64,
) -> Vec<Configuration> {
    let mut run = Run::new(ring.clone(), start.clone());
    run.faults = faults
        .iter()
        .map(|fault| fault.parse().expect("a fault"))
        .collect();
    run.seed = seed;
    run.rounds = Some(ROUNDS);
    let mut states: Vec<Configuration> = Vec::new();
    simulate(&run, |frame| {
        states.truncate(frame.round as usize);
        states.push(frame.configuration());
        ControlFlow::Continue(())
    })
    .expect("faults that can strike");
    states
}

fn settings() -> impl Strategy<Value = Value> {
    let program =
        prop_oneof![6 => Just("fixed"), 1 => Just("measure"), 1 => Just("measure-as-printed")];
    let start = prop_oneof![4 => Just("random"), 1 => Just("piled"), 1 => Just("spaced")];
    let fault = |processes: u64| {
        prop_oneof![
            Just("scramble".to_owned()),
            Just("scramble:30%".to_owned()),
            Just("pile".to_owned()),
            (0..processes).prop_map(|at| format!("pile:{at}")),
        ]
    };
    (2..30_u64, 1..9_u64, 1..7_u64, program, start, any::<u32>())
        .prop_flat_map(
            move |(processes, tokens, separation, program, start, seed)| {
                let faults = prop::collection::vec((fault(processes), 0..ROUNDS), 0..4);
                let delays = 1..=processes;
                (
                    Just((processes, tokens, separation, program, start, seed)),
                    delays,
                    faults,
                )
            },
        )
        .prop_map(
            |((processes, tokens, separation, program, start, seed), delays, mut faults)| {
                faults.sort_by_key(|(_, round)| *round);
                let faults: Vec<String> = faults
                    .into_iter()
                    .map(|(fault, round)| format!("{fault}@{round}"))
                    .collect();
                let mut settings = json!({
                    "processes": processes, "tokens": tokens.min(processes), "program": program,
                    "start": start, "seed": seed, "faults": faults,
                });
                if program == "fixed" {
                    settings["separation"] = json!(separation);
                    settings["delays"] = json!(delays.to_string());
                }
                settings
            },
        )
}

struct Shown {
    at: Vec<u64>,
    resting: Vec<u64>,
}

impl Shown {
    fn of(frame: &Value) -> Shown {
        let numbers = |field: &str| {
            let list = frame[field].as_array().expect("a list");
            list.iter()
                .map(|number| number.as_u64().expect("a number"))
                .collect()
        };
        Shown {
            at: numbers("at"),
            resting: numbers("resting"),
        }
    }
}

/// Frames, one by one, against the states.
fn check_frames(
    server: &TestServer,
    base: &str,
    ring: &Ring,
    states: &[Configuration],
    struck: &[u64],
) {
    let n = ring.len() as u64;
    let tokens = states[0].tokens();
    let mut before: Option<Shown> = None;
    for (round, state) in states.iter().enumerate() {
        let frame = server.get(&format!("{base}/frame?round={round}")).json();
        let shown = Shown::of(&frame);
        let verdict = ring.legitimate(state, tokens);
        assert_eq!(frame["legitimate"], verdict.is_ok(), "round {round}");
        assert_eq!(
            frame["because"].as_str().map(str::to_owned),
            verdict.err().map(|e| e.to_string())
        );
        assert_eq!(frame["closest"].as_u64(), Tokens::new(state).min_distance());
        let mut queued = vec![0_u32; ring.len()];
        let mut resting = vec![0_u32; ring.len()];
        for (token, &process) in shown.at.iter().enumerate() {
            let rests = shown.resting.contains(&(token as u64));
            (if rests { &mut resting } else { &mut queued })[process as usize] += 1;
        }
        let counters: Vec<Value> = (0..ring.len())
            .filter(|&at| state.processes[at].counter != 0)
            .map(|at| json!([at, state.processes[at].counter]))
            .collect();
        assert_eq!(frame["counters"], Value::Array(counters), "round {round}");
        for (at, process) in state.processes.iter().enumerate() {
            assert_eq!(
                (queued[at], resting[at]),
                (process.queued, process.resting),
                "round {round}"
            );
        }
        if let Some(before) = before.filter(|_| !struck.contains(&(round as u64))) {
            for (token, (&was, &is)) in before.at.iter().zip(&shown.at).enumerate() {
                let rested = before.resting.contains(&(token as u64));
                let hops = (is + n - was) % n;
                let fits = if rested { hops == 0 } else { hops == 1 % n };
                assert!(fits, "round {round}: token {token} went from {was} to {is}");
            }
        }
        before = Some(shown);
    }
}

/// The ways of a window against frames.
fn check_window(server: &TestServer, base: &str, n: u64, from: u64, struck: &[u64]) {
    let window = server
        .get(&format!(
            "{base}/window?from={from}&rounds={}",
            ROUNDS - from
        ))
        .json();
    assert_eq!(window["rounds"], ROUNDS - from);
    let legitimate = |round: u64| {
        let spans = window["legitimate"].as_array().unwrap().iter();
        spans
            .clone()
            .any(|span| (span[0].as_u64().unwrap()..=span[1].as_u64().unwrap()).contains(&round))
    };
    let verdicts = window["verdicts"].as_array().expect("verdicts");
    for round in from..=ROUNDS {
        let frame = server.get(&format!("{base}/frame?round={round}")).json();
        let shown = Shown::of(&frame);
        // A round that ends a segment is told by its fault's segment alone.
        if !struck.contains(&round) {
            assert_eq!(frame["legitimate"], legitimate(round), "round {round}");
        }
        let verdict = verdicts
            .iter()
            .rev()
            .find(|verdict| verdict["round"].as_u64() <= Some(round));
        let verdict = verdict.expect("a verdict");
        assert_eq!(verdict["because"], frame["because"], "round {round}");
        for (token, &process) in shown.at.iter().enumerate() {
            let ways = window["ways"].as_array().unwrap().iter().rev();
            let mut ways = ways.filter(|way| way["token"] == token);
            let way = ways
                .find(|way| way["points"][0][0].as_u64() <= Some(round))
                .expect("a way");
            assert_eq!(
                hop(way, round) % n,
                process,
                "round {round}, token {token}: {way}"
            );
            let rests = way["rests"].as_array().unwrap().iter().any(|rest| {
                let within =
                    (rest[0].as_u64().unwrap()..=rest[1].as_u64().unwrap()).contains(&round);
                assert!(!within || rest[2] == process);
                within
            });
            assert_eq!(
                rests,
                shown.resting.contains(&(token as u64)),
                "round {round}, token {token}: {way}"
            );
        }
    }
}

/// Where a way is after a round.
fn hop(way: &Value, round: u64) -> u64 {
    let points: Vec<(u64, u64)> = way["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| (point[0].as_u64().unwrap(), point[1].as_u64().unwrap()))
        .collect();
    let next = points.partition_point(|point| point.0 <= round);
    let (from, hop) = points[next - 1];
    let moving = points.get(next).is_some_and(|next| next.1 > hop);
    hop + if moving { round - from } else { 0 }
}

#[test]
fn the_server_agrees_with_lock_step() {
    let server = TestServer::new();
    let mut runner = TestRunner::new(properties(pick(12, 60, 60)));
    let checked = runner.run(&(settings(), 0..ROUNDS), |(settings, from)| {
        let run = server.run(&settings);
        let base = format!("/api/runs/{}", run["id"].as_str().unwrap());
        let unstruck = json!({ "state": server.run(&{
            let mut settings = settings.clone();
            settings["faults"] = json!([]);
            settings
        })["id"] });
        let start = server.get(&format!(
            "/api/runs/{}/state?round=0",
            unstruck["state"].as_str().unwrap()
        ));
        let StateFile {
            ring,
            configuration,
        } = StateFile::parse(&start.text()).expect("a state file");
        let faults: Vec<String> = serde_json::from_value(settings["faults"].clone()).unwrap();
        let seed = settings["seed"].as_u64().unwrap();
        let states = lock_step(&ring, &configuration, &faults, seed);
        let struck: Vec<u64> = faults
            .iter()
            .map(|fault| fault.rsplit_once('@').unwrap().1.parse().unwrap())
            .collect();
        check_frames(&server, &base, &ring, &states, &struck);
        check_window(&server, &base, ring.len() as u64, from, &struck);
        server.ask("DELETE", &base, &[], b"");
        Ok(())
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
}

/// A ring with a jam, from far out: a window there goes on where frames are.
#[test]
fn windows_far_out_agree_with_frames() {
    let server = TestServer::new();
    for (tokens, seed) in [(4, 1), (9, 2), (23, 3)] {
        let run = server.run(&json!({
            "processes": 23, "tokens": tokens, "separation": 4, "delays": "5", "seed": seed
        }));
        let base = format!("/api/runs/{}", run["id"].as_str().unwrap());
        let from = 1_000_000_000_000_u64;
        let window = server
            .get(&format!("{base}/window?from={from}&rounds=50"))
            .json();
        for round in [from, from + 1, from + 17, from + 50] {
            let shown = Shown::of(&server.get(&format!("{base}/frame?round={round}")).json());
            for way in window["ways"].as_array().unwrap() {
                let token = way["token"].as_u64().unwrap() as usize;
                assert_eq!(
                    hop(way, round) % 23,
                    shown.at[token],
                    "{tokens} tokens, round {round}"
                );
            }
        }
    }
}

/// A window that would be too long is cut, and goes on where it was cut.
#[test]
fn a_long_window_is_cut() {
    let jam = json!({ "processes": 20, "tokens": 15, "separation": 4 });
    let measuring = json!({ "processes": 20, "tokens": 5, "program": "measure", "start": "piled" });
    for (most, settings) in [(2_000, jam), (20, measuring)] {
        let server = TestServer::with(Options {
            limits: Limits {
                window_points: most,
                ..fast()
            },
            ..Options::default()
        });
        let run = server.run(&settings);
        let base = format!("/api/runs/{}", run["id"].as_str().unwrap());
        let window = server.get(&format!("{base}/window?from=5&rounds=100000"));
        let window = window.json();
        let rounds = window["rounds"].as_u64().unwrap();
        assert_eq!(window["asked"], 100_000);
        assert!(rounds > 0 && rounds < 100_000, "{rounds}");
        let ways = window["ways"].as_array().unwrap();
        let length = |list: &Value| list.as_array().unwrap().len();
        let points = ways
            .iter()
            .map(|way| length(&way["points"]) + length(&way["rests"]));
        assert!(points.sum::<usize>() <= most + 60);
        let next = format!("{base}/window?from={}&rounds=10", 5 + rounds);
        let next = server.get(&next).json();
        for way in next["ways"].as_array().unwrap() {
            let before = ways.iter().find(|before| before["token"] == way["token"]);
            let before = before.expect("the same tokens");
            assert_eq!(hop(before, 5 + rounds) % 20, hop(way, 5 + rounds) % 20);
        }
    }
}
