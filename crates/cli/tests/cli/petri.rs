//! `headway petri` as a newcomer would use it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{self, Ran};

fn headway(code: i32, arguments: &[&str]) -> Ran {
    let ran = common::run(Path::new("."), &[&["petri"], arguments].concat());
    assert_eq!(ran.code, code, "{arguments:?}: {}{}", ran.out, ran.err);
    ran
}

/// Standard output of a command that ends with this code.
fn told(code: i32, arguments: &[&str]) -> String {
    headway(code, arguments).out
}

/// Standard error of a command that ends with this code.
fn complaint(code: i32, arguments: &[&str]) -> String {
    headway(code, arguments).err
}

fn json(code: i32, arguments: &[&str]) -> Value {
    serde_json::from_str(&told(code, arguments)).expect("JSON")
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/petri")
        .join(name);
    path.to_str().expect("a plain path").to_owned()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn file(&self, name: &str) -> String {
        let path: PathBuf = self.0.path().join(name);
        path.to_str().expect("a plain path").to_owned()
    }
}

#[test]
fn a_ring_goes_out_as_pnml_and_comes_back() {
    let folder = Folder::new();
    let (net, state, again) = (
        folder.file("r.pnml"),
        folder.file("s.json"),
        folder.file("t.json"),
    );
    let ring = [
        "--processes",
        "9",
        "--tokens",
        "3",
        "--separation",
        "3",
        "--delays",
        "every:3",
    ];
    let export = [&["export"], &ring[..], &["--to", "pnml", "-o", &net]].concat();
    told(0, &export);
    told(0, &["import", &net, "-o", &state]);
    told(0, &["export", &state, "-o", &net]);
    told(0, &["import", &net, "-o", &again]);
    let read = |path: &str| std::fs::read_to_string(path).expect("written");
    assert_eq!(read(&state), read(&again));
    assert_eq!(read(&state).matches("\"delay\"").count(), 3);
}

/// What is not an event graph is judged by its markings, invariants and siphons.
#[test]
fn nets_with_choices_are_judged_too() {
    let net = example("philosophers.pnml");
    let found = json(0, &["analyze", &net, "--format", "json"]);
    assert_eq!(found["event_graph"], false);
    assert_eq!(found["markings"], 6);
    for (key, wanted) in [
        ("live", false),
        ("bounded", true),
        ("safe", true),
        ("never_stuck", false),
        ("free_choice", false),
        ("strongly_connected", true),
    ] {
        assert_eq!(found[key], wanted, "{key}");
    }
    let stuck = "nothing fires any more after first1 first2";
    assert_eq!(found["why_never_stuck"], stuck);
    let invariants = found["p_invariants"].as_array().unwrap();
    assert_eq!(invariants.len(), 4);
    assert!(invariants.iter().all(|invariant| invariant["value"] == 1));
    assert_eq!(found["t_invariants"].as_array().unwrap().len(), 2);
    // The siphon that can lose its last token has no trap: both forks and who eats.
    let siphons = found["siphons"].as_array().unwrap();
    let forks = ["eats1", "eats2", "fork1", "fork2"];
    let has = |set: &Value, name: &str| {
        let names = set["place_names"].as_array().unwrap();
        names.contains(&name.into())
    };
    let of_forks = |set: &&Value| forks.iter().all(|name| has(set, name));
    let siphon = siphons
        .iter()
        .find(of_forks)
        .expect("the siphon of the forks");
    assert_eq!(siphon["place_names"].as_array().unwrap().len(), forks.len());
    let text = told(0, &["analyze", &net]);
    assert!(text.contains(stuck), "{text}");
    assert!(text.contains("P-invariants: 4 minimal"), "{text}");
    assert!(text.contains("= 1"), "{text}");
    // With fewer markings than there are, "?" has a reason.
    let few = told(0, &["analyze", &net, "--max-markings", "5"]);
    assert!(few.contains("? live"), "{few}");
    let why = "more than 5 markings, and the net is not free-choice";
    assert!(few.contains(why), "{few}");
    assert!(
        few.contains("at most 1 on a place by P-invariants"),
        "{few}"
    );
}

/// Writes a standard file with these elements on its page.
fn write_page(folder: &Folder, page: &str) -> String {
    let net = folder.file("net.pnml");
    let text = format!(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
         type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">{page}</page></net></pnml>"
    );
    std::fs::write(&net, text).unwrap();
    net
}

/// What is structure, what the start shows, and what follows from another answer is not
/// "?", however many markings there are.
#[test]
fn answers_that_follow_are_given() {
    let net = example("conveyor.pnml");
    let many = [
        "analyze",
        &net,
        "--mark",
        "b1=18446744073709551615",
        "--max-markings",
        "50",
    ];
    let found = json(0, &[&many[..], &["--format", "json"]].concat());
    for (key, wanted) in [
        ("event_graph", true),
        ("live", true),
        ("bounded", true),
        ("safe", false),
        ("never_stuck", true),
    ] {
        assert_eq!(found[key], wanted, "{key}: {found:#}");
    }
    assert_eq!(
        found["why_safe"],
        "18446744073709551615 on b1 from the start"
    );
    let why = "the tokens of all places add up to more than 2^62, too many for exact arithmetic";
    assert_eq!(found["why_no_cycle_time"], why);
    let text = told(0, &many);
    assert!(
        !text.contains("?") && !text.contains("not an event graph"),
        "{text}"
    );

    let folder = Folder::new();
    // 3·p + q is more than 2^64, and stays what it is.
    let split = write_page(
        &folder,
        "<place id=\"p\"/><place id=\"q\"/><transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"/>\
         <arc id=\"b\" source=\"t\" target=\"q\"><inscription><text>3</text></inscription></arc>",
    );
    let many = [
        "--mark",
        "p=9223372036854775808",
        "--max-markings",
        "50",
        "--format",
        "json",
    ];
    let found = json(0, &[&["analyze", &split], &many[..]].concat());
    assert_eq!(found["why_bounded"], "every place is in a P-invariant");
    assert_eq!(found["bounded"], true);
    let source = write_page(
        &folder,
        "<place id=\"q\"/><transition id=\"t\"/><arc id=\"a\" source=\"t\" target=\"q\">\
         <inscription><text>3</text></inscription></arc>",
    );
    let found = json(0, &["analyze", &source, "--format", "json"]);
    assert_eq!(
        (&found["live"], &found["bounded"]),
        (&Value::from(true), &Value::from(false))
    );
    assert_eq!(found["never_stuck"], true);
    assert_eq!(found["why_never_stuck"], "t has no input place");
    let text = told(0, &["analyze", &source]);
    assert!(
        text.contains("n   1 place, 1 transition, 1 arc, 0 tokens"),
        "{text}"
    );
    let why = complaint(2, &["play", &source]);
    assert!(why.contains("transition t has no input place"), "{why}");
}

/// Looks get lost in PNML only, so that only there it is said.
#[test]
fn other_formats_say_nothing_about_looks() {
    let folder = Folder::new();
    let net = write_page(
        &folder,
        "<!-- mine --><place id=\"p\"/><transition id=\"t\"/>",
    );
    for (to, said) in [("pnml", true), ("tina", false), ("dot", false)] {
        let warnings = complaint(0, &["export", &net, "--to", to]);
        assert_eq!(
            warnings.contains("comments not kept"),
            said,
            "{to}: {warnings}"
        );
    }
}

#[test]
fn a_net_without_bound_is_shown_to_grow() {
    let folder = Folder::new();
    let net = write_page(
        &folder,
        "<place id=\"p\"><initialMarking><text>1</text></initialMarking></place><transition id=\"t\"/>\
         <arc id=\"a\" source=\"p\" target=\"t\"/><arc id=\"b\" source=\"t\" target=\"p\">\
         <inscription><text>2</text></inscription></arc>",
    );
    let found = json(0, &["analyze", &net, "--format", "json"]);
    assert_eq!(found["bounded"], false);
    assert_eq!(found["why_bounded"], "p can grow without end by t");
    assert_eq!(found["markings"], Value::Null);
}

#[test]
fn analyze_tells_everything_in_json() {
    let folder = Folder::new();
    let net = folder.file("r.pnml");
    // A solver that stops after 100 iterations says 6.
    told(
        0,
        &[
            "export",
            "--processes",
            "1000",
            "--tokens",
            "100",
            "--separation",
            "6",
            "-o",
            &net,
        ],
    );
    let found = json(0, &["analyze", &net, "--format", "json"]);
    assert_eq!(found["places"], 7000);
    assert_eq!(found["transitions"], 6000);
    assert_eq!(found["arcs"], 14000);
    assert_eq!(found["event_graph"], true);
    assert_eq!(found["live"], true);
    assert_eq!(found["cycle_time"], "10/1");
    assert_eq!(found["certificate_verified"], true);
    assert_eq!(
        found["critical_circuit"].as_array().map(Vec::len),
        Some(1000)
    );
    assert_eq!(found["transient"], found["as_ring"]["last_rest"]);
    assert!(found["transient"].as_u64() <= found["as_ring"]["worst_last_rest"].as_u64());
    assert_eq!(found["period"], 1000);
}

/// Too large to be played: the forecast answers for a ring.
#[test]
fn the_transient_of_a_large_ring_comes_from_the_forecast() {
    let folder = Folder::new();
    let net = folder.file("r.pnml");
    told(
        0,
        &[
            "export",
            "--processes",
            "30000",
            "--delays",
            "1",
            "--tokens",
            "30",
            "-o",
            &net,
        ],
    );
    let found = json(
        0,
        &["analyze", &net, "--format", "json", "--max-rounds", "10"],
    );
    assert!(found["why_no_transient"].is_string());
    assert_eq!(found["transient"], found["as_ring"]["last_rest"]);
    assert!(found["transient"].is_u64());
}

#[test]
fn tina_dot_and_pictures() {
    let folder = Folder::new();
    let picture = folder.file("r.svg");
    let ring = ["--processes", "4", "--tokens", "1", "--separation", "2"];
    let tina = told(
        0,
        &[&["export"], &ring[..], &["--to", "tina", "--svg", &picture]].concat(),
    );
    assert!(tina.contains("tr t0 [1,1] p0 m0_0 -> p1 m0_1\n"), "{tina}");
    assert!(told(0, &[&["export"], &ring[..], &["--to", "dot"]].concat()).starts_with("digraph"));
    assert!(
        std::fs::read_to_string(picture)
            .expect("drawn")
            .starts_with("<svg")
    );
    let workshop = example("workshop.pnml");
    let why = complaint(2, &["export", &workshop, "--to", "tina"]);
    assert!(
        why.contains("place busy holds tokens for 2 rounds"),
        "{why}"
    );
}

/// The demonstration of docs/petri.md.
#[test]
fn minor_rings_recover_where_monitors_do_not() {
    let folder = Folder::new();
    let (minor, monitor) = (folder.file("minor.pnml"), folder.file("monitor.pnml"));
    let plant = example("conveyor.pnml");
    let separate = |code, method, output: &str| {
        let common = ["separate", &plant, "--ring", "auto", "--separation", "4"];
        let more = ["--method", method, "--format", "json", "-o", output];
        json(code, &[&common[..], &more[..]].concat())
    };
    let found = separate(0, "minor-ring", &minor);
    assert_eq!(found["before"]["separation_kept"], 0);
    assert_eq!(found["before"]["cycle_time"], "4/1");
    assert_eq!(found["after"]["cycle_time"], "4/1");
    assert_eq!(found["after"]["separation_kept"], 4);
    assert_eq!(found["stabilization_bound"], 11);
    assert_eq!(found["places_added"], 12);
    assert!(found["after"]["separated_from"].as_u64() <= Some(11));

    let found = separate(1, "monitor", &monitor);
    assert_eq!(found["after"]["separated_from"], Value::Null);
    assert_eq!(found["after"]["separation_kept"], 2);
    assert_eq!(found["illegal_rows_at_start"], 4);

    // From a legal start monitors work, until a fault moves a pallet.
    let legal = ["--mark", "b1=1", "--mark", "b6=1"];
    let common = [
        "separate",
        &plant,
        "--ring",
        "auto",
        "--separation",
        "4",
        "--format",
        "json",
    ];
    let output = ["--method", "monitor", "-o", &monitor];
    let found = json(0, &[&common[..], &legal[..], &output[..]].concat());
    assert_eq!(found["after"]["separated_from"], 0);
    let fault = ["--mark", "b6=0", "--mark", "b2=1"];
    let played = told(0, &[&["play", &monitor], &fault[..]].concat());
    assert!(played.contains("Dead:"), "{played}");
    let output = ["--method", "minor-ring", "-o", &minor];
    json(0, &[&common[..], &legal[..], &output[..]].concat());
    let played = told(0, &[&["play", &minor], &fault[..]].concat());
    assert!(!played.contains("Dead:"), "{played}");
}

#[test]
fn circuits_are_listed_and_chosen() {
    let plant = example("workshop.pnml");
    let listed = json(
        0,
        &["separate", &plant, "--ring", "auto", "--format", "json"],
    );
    let circuits = listed["circuits"].as_array().expect("a list");
    assert_eq!(circuits.len(), 2);
    assert_eq!(
        (&circuits[1]["tokens"], &circuits[1]["circuit_rounds"]),
        (&1.into(), &3.into())
    );
    let belts: Vec<String> = (1..=12).map(|belt| format!("b{belt}")).collect();
    let found = json(
        0,
        &[
            "separate",
            &plant,
            "--ring",
            &belts.join(","),
            "--separation",
            "4",
            "--transitions",
            "m1",
            "--format",
            "json",
        ],
    );
    assert_eq!(found["at_transitions"], serde_json::json!(["m1"]));
    let why = found["why_no_bound"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(why.contains("m4"), "{why}");
}

#[test]
fn play_shows_rounds_time_and_csv() {
    let plant = example("workshop.pnml");
    let timed = told(0, &["play", &plant, "--rounds", "6"]);
    assert!(timed.contains("in time, earliest firing"), "{timed}");
    let csv = told(
        0,
        &[
            "play", &plant, "--rounds", "1", "--by", "rounds", "--format", "csv",
        ],
    );
    assert_eq!(
        csv,
        "round,place,tokens\n0,b1,3\n0,idle,1\n1,b2,3\n1,idle,1\n"
    );
    let played = json(
        0,
        &[
            "play", &plant, "--rounds", "2", "--by", "rounds", "--format", "json",
        ],
    );
    assert_eq!(played["played"][2]["fired"]["m2"], 3);
}

#[test]
fn wrong_input_is_refused_with_its_place() {
    let folder = Folder::new();
    let file = folder.file("bad.pnml");
    let good = std::fs::read_to_string(example("conveyor.pnml")).expect("an example");
    std::fs::write(&file, good.replace("source=\"b3\"", "source=\"b33\"")).expect("written");
    let why = complaint(2, &["analyze", &file]);
    assert!(
        why.contains("bad.pnml:35:7: <arc id=\"b3_m3\">: source \"b33\" is not the id of a node"),
        "{why}"
    );
    let plant = example("conveyor.pnml");
    for (arguments, expected) in [
        (vec!["analyze", "nowhere.pnml"], "cannot read nowhere.pnml"),
        (
            vec!["import", &plant],
            "give it a loop of one place with one token",
        ),
        (
            vec!["analyze", &plant, "--mark", "x=1"],
            "there is no such place",
        ),
        (
            vec!["analyze", &plant, "--net", "x"],
            "choose one of conveyor",
        ),
        (
            vec!["separate", &plant, "--ring", "auto", "--separation", "5"],
            "3 x 5 > 12",
        ),
        (
            vec!["separate", &plant, "--ring", "b1,b3", "--separation", "1"],
            "no transition leads from place \"b1\"",
        ),
        (
            vec![
                "separate",
                &plant,
                "--ring",
                "auto",
                "--separation",
                "4",
                "--transitions",
                "m99",
            ],
            "not a transition of the circuit",
        ),
        (
            vec!["export", &plant, "--processes", "5"],
            "--processes contradicts",
        ),
        (vec!["export", "--program", "measure"], "has no Petri net"),
    ] {
        let why = complaint(2, &arguments);
        assert!(why.contains(expected), "{arguments:?}: {why}");
    }
}

/// Every example of the help texts, in one folder with a plant and a ring.
#[test]
fn help_examples_work() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::copy(example("conveyor.pnml"), folder.path().join("plant.pnml")).expect("copied");
    let run = |arguments: &str| common::headway_in(folder.path(), arguments);
    assert_eq!(run("worst --witness state.json").code, 0);
    let mut tried = 0;
    for command in ["", "export", "analyze", "play", "import", "separate"] {
        let help = run(&format!("petri {command} --help"));
        assert_eq!(help.code, 0);
        for line in help
            .out
            .lines()
            .filter_map(|line| line.strip_prefix("  headway "))
        {
            // What comes after two spaces is a remark; pipes are the shell's.
            let line = line.split("  ").next().unwrap_or_default();
            let arguments = line.split(['>', '|']).next().unwrap_or_default();
            let ran = run(arguments);
            // Monitors do not separate from the plant's bad start: the answer is no.
            let no = arguments.contains("--method monitor");
            assert_eq!(ran.code, i32::from(no), "{arguments}: {}", ran.err);
            tried += 1;
        }
    }
    assert!(tried >= 20, "{tried} examples");
}

/// Every command of the guide works, and its numbers are what the commands say.
#[test]
fn the_guide_is_true() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let examples = folder.path().join("examples/petri");
    std::fs::create_dir_all(&examples).expect("a folder");
    for name in ["conveyor.pnml", "philosophers.pnml", "workshop.pnml"] {
        std::fs::copy(example(name), examples.join(name)).expect("copied");
    }
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/petri.md");
    let guide = std::fs::read_to_string(guide).expect("the guide");
    let mut said = String::new();
    let mut tried = 0;
    for arguments in guide
        .lines()
        .filter_map(|line| line.strip_prefix("    headway "))
    {
        let ran = common::headway_in(folder.path(), arguments);
        let no = arguments.contains("--method monitor") && !arguments.contains("--mark");
        assert_eq!(ran.code, i32::from(no), "{arguments}: {}", ran.err);
        said.push_str(&ran.out);
        tried += 1;
    }
    assert!(tried >= 14, "{tried} commands");
    // Blocks of output are shown as they are.
    for line in guide
        .lines()
        .filter(|line| line.starts_with("         0") || line.starts_with("    Dead:"))
    {
        assert!(said.contains(line.trim()), "{line}");
    }
    for line in [
        "at least 4 apart from round 8 on",
        "round 11, from any marking of the circuit and the minor rings",
        "12 places, 9 transitions, 24 arcs",
        "only 2 apart, again and again",
    ] {
        assert!(guide.contains(line) && said.contains(line), "{line}");
    }
    for (number, bare) in [
        ("| 52 |", "transient 52 rounds"),
        ("| 599 |", "worst case over all markings of this ring: 599"),
        ("| 6,004,000 |", "g(N-2) + N = 6004000"),
        ("| 35,988,002 |", "(N-1)^2 + 1 = 35988002"),
    ] {
        assert!(guide.contains(number) && said.contains(bare), "{bare}");
    }
}
