//! `headway run`, `forecast`, `worst` and `chain` as a user calls them.

use crate::common::{Place, has, headway, json};
use serde_json::{Value, json as value};

#[test]
fn alone_it_runs_the_default_ring() {
    let ran = headway("");
    assert_eq!(ran.code, 0);
    assert_eq!(ran.out, headway("run").out);
    let first = "24 processes, all delay; 4 tokens, 5 apart; random start, seed 2009";
    assert!(ran.out.starts_with(first), "{}", ran.out);
    let proved = "proved worst case from any state: 19";
    let legitimate = "Legitimate after round 20";
    has(&ran.out, &[legitimate, proved, "D1", "D5", "Try next:"]);
    assert!(!ran.out.contains('\u{1b}'), "no colour when piped");
    assert!(ran.out.lines().count() <= 48, "within one screen");
}

#[test]
fn json_of_a_run() {
    let ran = json("run --format json");
    assert_eq!(ran["seed"], 2009);
    assert_eq!(ran["processes"], 24);
    assert_eq!(ran["tokens"], 4);
    assert_eq!(ran["separation"], 5);
    assert_eq!(ran["delays"].as_array().unwrap().len(), 24);
    assert_eq!(ran["legitimate_at"], 20);
    assert_eq!(ran["last_rest"], 17);
    assert_eq!(ran["worst_last_rest"], 19);
    assert_eq!(ran["rounds"], 44);
    assert_eq!(ran["min_distance_after"], 5);
    assert_eq!(ran["visits"], value!({"min": 4, "max": 4}));
    assert_eq!(
        ran["desiderata"],
        value!({"D1": true, "D2": true, "D3": true, "D4": true, "D5": true})
    );
}

#[test]
fn a_spaced_start_is_legitimate_at_once() {
    let ran = json("run --start spaced --format json");
    assert_eq!(ran["legitimate_at"], 0);
    assert_eq!(ran["last_rest"], value!(null));
}

#[test]
fn the_engines_give_the_same_json() {
    for ring in [
        "--delays 3 --processes 60",
        "--program measure --processes 30 --tokens 3",
    ] {
        let run = |engine: &str| {
            let flags = format!("{ring} --format json --fault scramble@9");
            headway(&format!("run {flags} --engine {engine}")).out
        };
        assert_eq!(run("dense"), run("sparse"));
    }
}

#[test]
fn forecast_and_run_agree_in_every_common_field() {
    for ring in [
        "",
        "--delays 1 --start worst",
        "--tokens 7 --separation 4 --processes 29 --delays every:5 --seed 8",
        "--tokens 6 --separation 5",
        "--separation 1 --tokens 9",
        "--rounds 6",
    ] {
        let ran = json(&format!("run {ring} --format json"));
        let told = json(&format!("forecast {ring} --format json"));
        for (field, value) in ran.as_object().unwrap() {
            assert_eq!(&told[field], value, "{ring}: {field}");
        }
        assert!(told["cycle_time"].is_string());
    }
}

#[test]
fn forecast_tells_states_and_waits() {
    let told = json("forecast --format json --at 0 --at 44 --waits");
    assert_eq!(told["cycle_time"], "6/1");
    assert_eq!(told["states"][0]["round"], 0);
    let tokens = |state: &Value| -> u64 {
        let processes = state["processes"].as_array().unwrap().iter();
        processes
            .map(|p| p["queued"].as_u64().unwrap() + p["resting"].as_u64().unwrap())
            .sum()
    };
    assert_eq!(tokens(&told["states"][1]), 4);
    let last = told["waits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| w["to"].as_u64().unwrap())
        .max();
    assert_eq!(last, told["last_rest"].as_u64());
}

#[test]
fn the_worst_state_can_be_written_and_run() {
    let place = Place::new();
    let worst = place.json("worst --delays 1 --witness worst.json");
    assert_eq!(worst["worst_last_rest"], 38);
    assert_eq!(worst["attained"], true);
    let ran = place.json("run --start worst.json");
    assert_eq!(ran["last_rest"], worst["worst_last_rest"]);
    place.told("forecast worst.json --svg out.svg");
    let svg = place.read("out.svg");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
}

#[test]
fn a_jam_is_run_with_a_warning() {
    let ran = headway("run --processes 5 --tokens 2 --separation 3");
    assert_eq!(ran.code, 1, "not legitimate");
    let fits = "2 tokens 2 apart, or 1 token 3 apart";
    has(&ran.err, &["traffic jam", fits]);
    has(&ran.out, &["Not legitimate"]);
    let told = json("forecast --processes 5 --tokens 2 --separation 3 --format json");
    assert_eq!(told["jam"]["period"], 3);
}

#[test]
fn the_two_errors_of_the_printed_listing_show() {
    let measured = json("run --program measure --processes 6 --tokens 2 --format json --seed 3");
    assert_eq!(measured["legitimate"], true);
    assert_eq!(measured["separation"], 3);
    let printed = headway("run --program measure-as-printed --processes 6 --tokens 2 --seed 3");
    assert_eq!(printed.code, 1);
}

#[test]
fn faults_are_recovered_from() {
    let ran = json("run --fault scramble@50 --fault pile:7@100 --format json");
    let recoveries = ran["recoveries"].as_array().unwrap();
    assert_eq!(recoveries.len(), 2);
    for recovery in recoveries {
        let rounds = recovery["recovery_rounds"].as_u64();
        assert!(rounds.unwrap() <= 20 + 2, "{recovery}");
    }
    assert_eq!(ran["desiderata"]["D5"], true);
}

#[test]
fn traces_and_csv_hold_every_round() {
    let place = Place::new();
    let csv = place
        .run(1, "run --rounds 9 --trace t.jsonl --format csv")
        .out;
    assert_eq!(csv.lines().count(), 1 + 10 * 4);
    let trace = place.read("t.jsonl");
    let lines = trace.lines().map(serde_json::from_str);
    let lines: Vec<Value> = lines.collect::<Result<_, _>>().unwrap();
    assert_eq!(lines.len(), 1 + 10);
    assert_eq!(lines[0]["seed"], 2009);
    assert_eq!(lines[1]["clause"], "leg:0");
    assert_eq!(lines[10]["round"], 9);
}

#[test]
fn a_chain_separates() {
    let ran = json("chain --scrambled 9 --arrivals every:2 --rounds 80 --format json");
    assert_eq!(ran["separated"], true);
    assert_eq!(ran["min_distance_after"], 5);
}

#[test]
fn completions_and_manual() {
    for shell in ["bash", "zsh", "fish"] {
        let script = headway(&format!("completions {shell}")).out;
        has(&script, &["headway"]);
    }
    let manual = headway("man").out;
    assert!(manual.contains(".TH") && manual.contains("forecast"));
}

#[test]
fn wide_rings_fit_a_screen() {
    let ran = headway("run --processes 5000 --tokens 40 --separation 100 --delays every:100");
    assert_eq!(ran.code, 0);
    let widths = ran.out.lines().map(|line| line.chars().count());
    let widest = widths.max().unwrap();
    assert!(widest <= 130, "{widest} columns");
    assert!(ran.out.contains("processes a column"));
}

/// Nobody knows the ring's size: what is believed, and since when it is right.
#[test]
fn rings_of_unknown_size_say_what_they_believe() {
    for program in ["shortest-lap", "shortest-lap-epochs", "hop-count"] {
        let flags = format!("run --program {program} --processes 24 --tokens 4");
        let ran = json(&format!("{flags} --format json"));
        assert_eq!(ran["legitimate"], true, "{program}");
        assert_eq!(ran["min_distance_after"], 6, "{program}");
        let believed = ran["believed"].as_array().unwrap();
        assert_eq!(believed.len(), 24);
        let largest = believed.iter().map(|b| b.as_u64().unwrap()).max().unwrap();
        assert_eq!(ran["separation"], largest, "{program}");
        assert!(largest <= 6, "{program}");
        let text = headway(&flags).out;
        match ran["all_believe_at"].as_u64() {
            Some(round) => {
                let says = format!("All measuring processes estimate 6 since round {round}.");
                assert!(text.contains(&says), "{text}");
                assert!(round <= ran["legitimate_at"].as_u64().unwrap());
            }
            None => {
                assert_eq!(program, "shortest-lap");
                assert!(text.contains("Believed by process: "), "{text}");
            }
        }
    }
    // Relays believe nothing.
    let mix =
        json("run --program hop-count --processes 6 --tokens 2 --delays at:0,2 --format json");
    assert_eq!(mix["believed"], value!([3, null, 3, null, null, null]));
    // More tokens than processes never settle; it runs all the same.
    let jam = headway("run --program shortest-lap --processes 3 --tokens 5");
    assert_eq!(jam.code, 1);
    assert!(jam.err.contains("traffic jam"), "{}", jam.err);
}

#[test]
fn a_moving_block_runs_like_the_others() {
    let block = "run --program moving-block";
    let ran = headway(block);
    assert_eq!(ran.code, 0);
    let first = "24 processes, a moving block; 4 tokens, 5 apart";
    has(&ran.out, &[first, "closest 5  legitimate", "given up"]);
    assert!(!ran.out.contains('▾'), "nobody delays");
    assert!(ran.out.lines().count() <= 48, "within one screen");
    let told = json(&format!("{block} --fault pile:3@20 --format json"));
    assert_eq!(told["program"], "moving-block");
    assert_eq!(
        told["desiderata"],
        value!({"D1": true, "D2": true, "D3": false, "D4": true, "D5": true})
    );
    assert!(told["legitimate_at"].as_u64() <= told["worst_legitimate_at"].as_u64());
    assert!(told["recoveries"][0]["recovery_rounds"].as_u64() > Some(0));
    assert_eq!(told["min_distance_after"], 5);
    let csv = headway(&format!("{block} --rounds 3 --format csv"));
    assert_eq!(csv.out.lines().count(), 1 + 4 * 4);
    // One process of slack fewer: they stand, and it says so.
    let stuck = headway(&format!(
        "{block} --processes 20 --start spaced --separation 5"
    ));
    has(&stuck.err, &["more than 20 processes"]);
    assert_eq!(stuck.code, 1);
    has(&stuck.out, &["Not legitimate", "without slack they stand"]);
    for (flags, says) in [
        ("--delays 3", "--delays has no meaning"),
        ("--start worst", "is not known"),
        ("--start some.json", "state file"),
        ("--trace x.jsonl", "--trace has no meaning"),
        (
            "--processes 1000000",
            "--processes 1000000: expected 1 to 100000",
        ),
        ("--tokens 0", "--tokens 0: expected 1"),
        ("--fault move:1:2@3", "scramble, pile and pile:I"),
        ("--fault pile:24@3", "there is no process 24"),
        ("--fault pile@9 --rounds 3", "after the last round"),
        ("--watch", "needs a terminal"),
    ] {
        Place::new().refused(&[(&format!("{block} {flags}"), says)]);
    }
    let forecast = "forecast --program moving-block";
    Place::new().refused(&[(forecast, "`headway run` runs it")]);
}

#[test]
fn a_ring_of_stations_runs_like_the_others() {
    let stations = "run --program moving-block --stations";
    let ran = headway(&format!("{stations} 6,5,4"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let first = "15 processes in stations of 6,5,4, a moving block; 1 token, 2 apart";
    has(
        &ran.out,
        &[first, "▾ a station begins", "a pile, ▪ work", "legitimate"],
    );
    let marks = ran
        .out
        .lines()
        .find(|line| line.contains('▾'))
        .expect("marks");
    assert_eq!(
        marks.matches('▾').count(),
        4,
        "three, and what it means: {marks}"
    );
    assert!(ran.out.matches('▪').count() > 10, "{}", ran.out);
    let told = json(&format!(
        "{stations} 3,3,3,3,3 -m 2 --fault scramble@50 --format json"
    ));
    assert_eq!(told["station_sizes"], value!([3, 3, 3, 3, 3]));
    assert_eq!(
        (&told["separation"], &told["processes"]),
        (&value!(2), &value!(15))
    );
    assert_eq!(told["min_distance_after"], 2);
    assert_eq!(told["worst_legitimate_at"], value!(null));
    let stuck = headway(&format!("{stations} 3,3 -m 2 --start spaced"));
    assert_eq!(stuck.code, 1);
    has(
        &stuck.err,
        &["2 tokens 1 apart need a ring of more than 2 stations"],
    );
    for (flags, says) in [
        (
            "20,0,20",
            "--stations 20,0,20: station 2 has no members: expected sizes of 1 or more",
        ),
        ("20", "--stations 20: only one station: expected 2 or more"),
        ("20,x", "invalid value 'x' for '--stations <SIZES>'"),
        ("3,3 -n 7", "--processes 7: the stations have 6 together"),
        ("100000,1", "expected 1 to 100000"),
        ("3,3 --fault pile:6@3", "there is no process 6"),
    ] {
        Place::new().refused(&[(&format!("{stations} {flags}"), says)]);
    }
    Place::new().refused(&[("run --stations 3,3", "give --program moving-block")]);
}
