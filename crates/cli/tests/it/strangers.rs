//! What people met who had never used it, and what they meet now.

use std::path::Path;

use crate::common::{
    Place, folder, has, headway, headway_in, json, read, refused, run, run_with_input,
};
use serde_json::json as value;

/// The commands that are suggested.
fn suggested(printed: &str) -> Vec<&str> {
    let after = printed.split("Try next:").nth(1).unwrap_or_default();
    let commands = after.lines().map(str::trim);
    commands
        .filter(|line| line.starts_with("headway"))
        .collect()
}

#[test]
fn flags_alone_mean_run_and_letters_mean_flags() {
    let long = headway("run --processes 30 --tokens 3 --separation 4").out;
    for short in [
        "--processes 30 --tokens 3 --separation 4",
        "-n 30 -m 3 -d 4",
        "-n30 -m3 -d4",
    ] {
        assert_eq!(headway(short).out, long, "{short}");
    }
    for command in [
        "forecast",
        "worst",
        "check delay-relay",
        "export tla",
        "petri export",
        "ring",
    ] {
        let help = headway(&format!("{command} --help")).out;
        has(&help, &["-m, --tokens <M>"]);
    }
    assert!(headway("--version").out.starts_with("headway "));
    assert!(headway("--procesess 30").err.contains("--processes"));
}

#[test]
fn a_minus_is_standard_input() {
    let state = headway("sweep --tokens 3 --show 0/0").out;
    let folder = folder();
    std::fs::write(folder.path().join("s.json"), &state).expect("written");
    let piped_to = |arguments: &[&str]| run_with_input(folder.path(), arguments, state.as_bytes());
    for (piped, file) in [
        (
            &["run", "--start", "-", "--format", "json"][..],
            "run --start s.json --format json",
        ),
        (
            &["forecast", "-", "--format", "json"],
            "forecast s.json --format json",
        ),
        (
            &["petri", "analyze", "-", "--format", "json"],
            "petri analyze s.json --format json",
        ),
    ] {
        assert_eq!(
            piped_to(piped).json(),
            headway_in(folder.path(), file).json(),
            "{file}"
        );
    }
    let protocol = read("examples/protocols/herman.protocol");
    let check = ["check", "-", "--set", "n=5"];
    let checked = run_with_input(folder.path(), &check, protocol.as_bytes());
    assert_eq!(checked.code, 0, "{}", checked.err);
    // The worst start on average has nothing to do with tokens that come close.
    assert!(checked.out.contains("Worst start: x"), "{}", checked.out);
    let empty = run_with_input(folder.path(), &["run", "--start", "-"], b"");
    assert!(
        empty.err.contains("error: standard input is empty"),
        "{}",
        empty.err
    );
    let walk = ["walk", "-", "--from", "edges"];
    let edges = run_with_input(folder.path(), &walk, b"a b\nb c\nc a\n");
    assert_eq!(edges.code, 0, "{}", edges.err);
}

#[test]
fn bounds_count_from_the_last_fault() {
    let last = "The last rest was after round 43, 13 after the last fault";
    has(&headway("run --fault scramble@30").out, &[last]);
    let json = json("run --fault scramble@30 --format json");
    let recovery = &json["recoveries"][0];
    assert_eq!(
        (&recovery["fault_at"], &recovery["recovery_rounds"]),
        (&value!(30), &value!(14))
    );
}

#[test]
fn what_is_not_judged_is_not_a_no() {
    for command in ["run", "forecast"] {
        let early = json(&format!("{command} --rounds 0 --format json"));
        let open = value!({"D1": true, "D2": null, "D3": null, "D4": null, "D5": null});
        assert_eq!(early["desiderata"], open, "{command}");
        let jam = json(&format!(
            "{command} --tokens 9 --separation 5 --format json"
        ));
        let never = value!({"D1": true, "D2": null, "D3": null, "D4": null, "D5": false});
        assert_eq!(jam["desiderata"], never, "{command}");
    }
    let text = headway("run --rounds 0").out;
    has(&text, &["? D2", "not judged"]);
    assert!(!text.contains('✗'), "{text}");
    let jam = headway("run --tokens 9 --separation 5").out;
    has(&jam, &["✗ D5"]);
}

#[test]
fn suggestions_keep_the_ring_and_do_not_repeat_the_jam() {
    let ran = headway("run --processes 200 --seed 7");
    let commands = suggested(&ran.out);
    assert_eq!(commands.len(), 4, "{}", ran.out);
    let keep = |command: &&str| command.contains("--processes 200");
    assert!(commands.iter().all(keep), "{commands:?}");
    let jam = headway("run -n 20 -m 9 -d 5");
    let commands = suggested(&jam.out);
    assert!(commands.len() >= 2, "{}", jam.out);
    let crowd = headway("run --separation 1000");
    for command in suggested(&crowd.out).into_iter().chain(commands) {
        let line = command.split("  ").next().unwrap_or(command);
        let words: Vec<&str> = line.split_whitespace().collect();
        let ran = run(Path::new("."), &words[1..]);
        let again = ran.err.contains("traffic jam");
        assert!(!again || words[1] == "forecast", "{command}: {}", ran.err);
        assert!(ran.code < 2, "{command}: {}", ran.err);
    }
    let worst = headway("worst -n 60 -m 3 --delays every:20");
    assert_eq!(
        suggested(&worst.out),
        ["headway run --processes 60 --tokens 3 --delays every:20 --start worst    see it settle"]
    );
}

#[test]
fn what_fits_is_said_only_if_it_fits() {
    let told = headway("run --separation 1000").err;
    has(&told, &["What fits: 4 tokens 6 apart."]);
    let told = headway("run -n 3 -m 9 -d 2").err;
    has(&told, &["What fits: 1 token 2 apart."]);
}

#[test]
fn worst_cases_have_one_name_and_one_meaning() {
    let csv = headway("worst --format csv").out;
    let heads = "processes,tokens,separation,widest_gap,worst_last_rest,worst_legitimate_at,\
                 last_rest,legitimate_at";
    assert_eq!(csv, format!("{heads}\n24,4,5,1,19,22,19,22\n"));
    let (worst, run) = (json("worst --format json"), json("run --format json"));
    let check = json("check delay-relay -n 6 -m 2 -d 3 --format json");
    let same = json("worst -n 6 -m 2 -d 3 --format json");
    for key in ["worst_last_rest", "worst_legitimate_at"] {
        assert_eq!(worst[key], run[key], "{key}");
    }
    assert_eq!(check["worst_last_rest"], same["worst_last_rest"]);
    assert_eq!(check["worst_steps"], same["worst_legitimate_at"]);
}

#[test]
fn the_readme_s_state_settles() {
    let readme = read("crates/cli/README.md");
    let from = readme.find("{ \"separation\"").expect("an example");
    let example = readme[from..].split("```").next().expect("its end");
    let ran = run_with_input(Path::new("."), &["run", "--start", "-"], example.as_bytes());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(!ran.err.contains("jam"), "{}", ran.err);
}

#[test]
fn what_is_not_text_is_said_with_its_line() {
    let folder = folder();
    std::fs::write(folder.path().join("x.json"), b"{\n\xff\xfe}").expect("written");
    for command in ["run --start", "walk", "sweep", "node --config"] {
        let says = "x.json:2: this is not text in UTF-8";
        refused(folder.path(), &[(&format!("{command} x.json"), says)]);
    }
}

#[test]
fn a_sweep_shows_its_numbers() {
    let place = Place::new();
    let told = place.told("sweep -n 24 -m 1 2 --measure speed legitimate_at --samples 40");
    let table = "tokens   separation   speed   legitimate_at\n";
    has(&told, &[table, " ± "]);
    let csv = place.read("headway-sweep/cells.csv");
    let heads = csv.lines().next().expect("a head");
    let speed = heads.split(',').position(|head| head == "speed_mean");
    let speed = speed.expect("a column of its own");
    // Every token moves in every round.
    for row in csv.lines().skip(1) {
        assert_eq!(row.split(',').nth(speed), Some("1"), "{row}");
    }
}

#[test]
fn hints_can_be_followed() {
    for (arguments, says, not) in [
        (
            "-n -5",
            "invalid value '-5' for '--processes <N>': expected a whole number",
            "unexpected argument",
        ),
        (
            "run --rounds -3",
            "invalid value '-3' for '--rounds <R>': expected a whole number",
            "unexpected argument",
        ),
        (
            "sweep --tokens -1",
            "error: --tokens: '-1': expected a number",
            "-- -1",
        ),
        (
            "worst --program measure -n 12 -m 3",
            "error: --program measure:",
            "--start",
        ),
        (
            "sweep --samples 99999999999999999999",
            "expected a smaller whole number",
            "at least 1",
        ),
        ("run -n 0", "give --processes 1 or more", "2 or more"),
    ] {
        let ran = headway(arguments);
        assert_eq!(ran.code, 2, "{arguments}");
        has(&ran.err, &[says]);
        assert!(!ran.err.contains(not), "{arguments}: {}", ran.err);
    }
    assert_eq!(headway("run -n 1 -m 1 -d 1").code, 0);
    // A pile is the same for every seed: another start is another kind of start.
    let piled = headway("run --start piled").out;
    let another = suggested(&piled);
    let random = |line: &&str| line.contains("--start random --seed random");
    assert!(another.iter().any(random), "{piled}");
}
