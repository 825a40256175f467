//! `headway petri` as a newcomer would use it.

use headway_testkit::tier::pick;
use serde_json::Value;

use crate::common::{Place, has, read};

/// A place with the examples in it.
fn place() -> Place {
    let place = Place::new();
    for name in ["conveyor.pnml", "philosophers.pnml", "workshop.pnml"] {
        place.write(name, &read(&format!("examples/petri/{name}")));
    }
    place
}

/// Writes a standard file with these elements on its page.
fn write_page(place: &Place, name: &str, page: &str) {
    let text = format!(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
         type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">{page}</page></net></pnml>"
    );
    place.write(name, &text);
}

#[test]
fn a_ring_goes_out_as_pnml_and_comes_back() {
    let place = place();
    let ring = "--processes 9 --tokens 3 --separation 3 --delays every:3";
    place.told(&format!("petri export {ring} --to pnml -o r.pnml"));
    place.told("petri import r.pnml -o s.json");
    place.told("petri export s.json -o r.pnml");
    place.told("petri import r.pnml -o t.json");
    assert_eq!(place.read("s.json"), place.read("t.json"));
    assert_eq!(place.read("s.json").matches("\"delay\"").count(), 3);
}

/// What is not an event graph is judged by its markings, invariants and siphons.
#[test]
fn nets_with_choices_are_judged_too() {
    let place = place();
    let analyze = "petri analyze philosophers.pnml";
    let found = place.json(analyze);
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
    let forks = ["eats1", "eats2", "fork1", "fork2"];
    let names = |set: &Value| set["place_names"].as_array().unwrap().clone();
    let of_forks = |set: &&Value| {
        forks
            .iter()
            .all(|name| names(set).contains(&(*name).into()))
    };
    let siphons = found["siphons"].as_array().unwrap();
    let siphon = siphons.iter().find(of_forks);
    let siphon = siphon.expect("the siphon of the forks");
    assert_eq!(names(siphon).len(), forks.len());
    let text = place.told(analyze);
    has(&text, &[stuck, "P-invariants: 4 minimal", "= 1"]);
    // With fewer markings than there are, "?" has a reason.
    let few = place.told(&format!("{analyze} --max-markings 5"));
    let open = "more than 5 markings, and the net is not free-choice";
    let least = "at most 1 on a place by P-invariants";
    has(&few, &["? live", open, least]);
}

/// What is structure, what the start shows, and what follows from another answer is not
/// "?", however many markings there are.
#[test]
fn answers_that_follow_are_given() {
    let place = place();
    let many = "petri analyze conveyor.pnml --mark b1=18446744073709551615 --max-markings 50";
    let found = place.json(many);
    for (key, wanted) in [
        ("event_graph", true),
        ("live", true),
        ("bounded", true),
        ("safe", false),
        ("never_stuck", true),
    ] {
        assert_eq!(found[key], wanted, "{key}: {found:#}");
    }
    let why = "18446744073709551615 on b1 from the start";
    assert_eq!(found["why_safe"], why);
    let why = "the tokens of all places add up to more than 2^62, too many for exact arithmetic";
    assert_eq!(found["why_no_cycle_time"], why);
    let text = place.told(many);
    let open = text.contains('?') || text.contains("not an event graph");
    assert!(!open, "{text}");

    // 3·p + q is more than 2^64, and stays what it is.
    write_page(
        &place,
        "split.pnml",
        "<place id=\"p\"/><place id=\"q\"/><transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"/>\
         <arc id=\"b\" source=\"t\" target=\"q\"><inscription><text>3</text></inscription></arc>",
    );
    let many = "petri analyze split.pnml --mark p=9223372036854775808 --max-markings 50";
    let found = place.json(many);
    assert_eq!(found["why_bounded"], "every place is in a P-invariant");
    assert_eq!(found["bounded"], true);
    write_page(
        &place,
        "source.pnml",
        "<place id=\"q\"/><transition id=\"t\"/><arc id=\"a\" source=\"t\" target=\"q\">\
         <inscription><text>3</text></inscription></arc>",
    );
    let found = place.json("petri analyze source.pnml");
    for (key, wanted) in [("live", true), ("bounded", false), ("never_stuck", true)] {
        assert_eq!(found[key], wanted, "{key}");
    }
    assert_eq!(found["why_never_stuck"], "t has no input place");
    let text = place.told("petri analyze source.pnml");
    let counts = "n   1 place, 1 transition, 1 arc, 0 tokens";
    assert!(text.contains(counts), "{text}");
    let played = place.run(2, "petri play source.pnml");
    has(&played.err, &["transition t has no input place"]);
}

/// Looks get lost in PNML only, so that only there it is said.
#[test]
fn other_formats_say_nothing_about_looks() {
    let place = place();
    let page = "<!-- mine --><place id=\"p\"/><transition id=\"t\"/>";
    write_page(&place, "net.pnml", page);
    for (to, said) in [("pnml", true), ("tina", false), ("dot", false)] {
        let warnings = place
            .run(0, &format!("petri export net.pnml --to {to}"))
            .err;
        let says = warnings.contains("comments not kept");
        assert_eq!(says, said, "{to}: {warnings}");
    }
}

#[test]
fn a_net_without_bound_is_shown_to_grow() {
    let place = place();
    write_page(
        &place,
        "net.pnml",
        "<place id=\"p\"><initialMarking><text>1</text></initialMarking></place><transition id=\"t\"/>\
         <arc id=\"a\" source=\"p\" target=\"t\"/><arc id=\"b\" source=\"t\" target=\"p\">\
         <inscription><text>2</text></inscription></arc>",
    );
    let found = place.json("petri analyze net.pnml");
    assert_eq!(found["bounded"], false);
    assert_eq!(found["why_bounded"], "p can grow without end by t");
    assert_eq!(found["markings"], Value::Null);
}

#[test]
fn analyze_tells_everything_in_json() {
    let place = place();
    // A solver that stops after 100 iterations says 6.
    let ring = "--processes 1000 --tokens 100 --separation 6";
    place.told(&format!("petri export {ring} -o r.pnml"));
    let found = place.json("petri analyze r.pnml");
    assert_eq!(found["places"], 7000);
    assert_eq!(found["transitions"], 6000);
    assert_eq!(found["arcs"], 14000);
    assert_eq!(found["event_graph"], true);
    assert_eq!(found["live"], true);
    assert_eq!(found["cycle_time"], "10/1");
    assert_eq!(found["certificate_verified"], true);
    let circuit = found["critical_circuit"].as_array();
    assert_eq!(circuit.map(Vec::len), Some(1000));
    assert_eq!(found["transient"], found["as_ring"]["last_rest"]);
    assert!(found["transient"].as_u64() <= found["as_ring"]["worst_last_rest"].as_u64());
    assert_eq!(found["period"], 1000);
}

/// Too large to be played: the forecast answers for a ring.
#[test]
fn the_transient_of_a_large_ring_comes_from_the_forecast() {
    let place = place();
    let processes = pick(10_000, 30_000, 30_000);
    let ring = format!("--processes {processes} --delays 1 --tokens 30");
    place.told(&format!("petri export {ring} -o r.pnml"));
    let found = place.json("petri analyze r.pnml --max-rounds 10");
    assert!(found["why_no_transient"].is_string());
    assert_eq!(found["transient"], found["as_ring"]["last_rest"]);
    assert!(found["transient"].is_u64());
}

#[test]
fn tina_dot_and_pictures() {
    let place = place();
    let ring = "petri export --processes 4 --tokens 1 --separation 2 --to";
    let tina = place.told(&format!("{ring} tina --svg r.svg"));
    assert!(tina.contains("tr t0 [1,1] p0 m0_0 -> p1 m0_1\n"), "{tina}");
    assert!(place.read("r.svg").starts_with("<svg"));
    assert!(place.told(&format!("{ring} dot")).starts_with("digraph"));
    let workshop = "petri export workshop.pnml --to tina";
    let why = "place busy holds tokens for 2 rounds";
    place.refused(&[(workshop, why)]);
}

/// The demonstration of docs/research/petri.md.
#[test]
fn minor_rings_recover_where_monitors_do_not() {
    let place = place();
    let separate = "petri separate conveyor.pnml --ring auto --separation 4 --method";
    let found = place.json(&format!("{separate} minor-ring -o minor.pnml"));
    assert_eq!(found["before"]["separation_kept"], 0);
    assert_eq!(found["before"]["cycle_time"], "4/1");
    assert_eq!(found["after"]["cycle_time"], "4/1");
    assert_eq!(found["after"]["separation_kept"], 4);
    assert_eq!(found["stabilization_bound"], 11);
    assert_eq!(found["places_added"], 12);
    assert!(found["after"]["separated_from"].as_u64() <= Some(11));

    let found = place
        .run(
            1,
            &format!("{separate} monitor -o monitor.pnml --format json"),
        )
        .json();
    assert_eq!(found["after"]["separated_from"], Value::Null);
    assert_eq!(found["after"]["separation_kept"], 2);
    assert_eq!(found["illegal_rows_at_start"], 4);

    // From a legal start monitors work, until a fault moves a pallet.
    let legal = "--mark b1=1 --mark b6=1";
    let found = place.json(&format!("{separate} monitor {legal} -o monitor.pnml"));
    assert_eq!(found["after"]["separated_from"], 0);
    let fault = "--mark b6=0 --mark b2=1";
    let played = place.told(&format!("petri play monitor.pnml {fault}"));
    assert!(played.contains("Dead:"), "{played}");
    place.json(&format!("{separate} minor-ring {legal} -o minor.pnml"));
    let played = place.told(&format!("petri play minor.pnml {fault}"));
    assert!(!played.contains("Dead:"), "{played}");
}

#[test]
fn circuits_are_listed_and_chosen() {
    let place = place();
    let listed = place.json("petri separate workshop.pnml --ring auto");
    let circuits = listed["circuits"].as_array().expect("a list");
    assert_eq!(circuits.len(), 2);
    let second = (&circuits[1]["tokens"], &circuits[1]["circuit_rounds"]);
    assert_eq!(second, (&1.into(), &3.into()));
    let belts: Vec<String> = (1..=12).map(|belt| format!("b{belt}")).collect();
    let belts = belts.join(",");
    let found = place.json(&format!(
        "petri separate workshop.pnml --ring {belts} --separation 4 --transitions m1"
    ));
    assert_eq!(found["at_transitions"], serde_json::json!(["m1"]));
    let why = found["why_no_bound"].as_str().unwrap_or_default();
    assert!(why.contains("m4"), "{why}");
}

#[test]
fn play_shows_rounds_time_and_csv() {
    let place = place();
    let timed = place.told("petri play workshop.pnml --rounds 6");
    assert!(timed.contains("in time, earliest firing"), "{timed}");
    let csv = "petri play workshop.pnml --rounds 1 --by rounds --format csv";
    let rows = "round,place,tokens\n0,b1,3\n0,idle,1\n1,b2,3\n1,idle,1\n";
    assert_eq!(place.told(csv), rows);
    let played = place.json("petri play workshop.pnml --rounds 2 --by rounds");
    assert_eq!(played["played"][2]["fired"]["m2"], 3);
}

#[test]
fn wrong_input_is_refused_with_its_place() {
    let place = place();
    let wrong = place
        .read("conveyor.pnml")
        .replace("source=\"b3\"", "source=\"b33\"");
    place.write("bad.pnml", &wrong);
    let cases = &[
        (
            "petri analyze bad.pnml",
            "bad.pnml:35:7: <arc id=\"b3_m3\">: source \"b33\" is not the id of a node",
        ),
        ("petri analyze nowhere.pnml", "cannot read nowhere.pnml"),
        (
            "petri import conveyor.pnml",
            "give it a loop of one place with one token",
        ),
        ("petri analyze conveyor.pnml --mark x=1", "no such place"),
        ("petri play conveyor.pnml --mark b99=1", "its places: b1 b2"),
        (
            "petri analyze conveyor.pnml --net x",
            "choose one of conveyor",
        ),
        (
            "petri separate conveyor.pnml --ring auto --separation 5",
            "3 x 5 > 12",
        ),
        (
            "petri separate conveyor.pnml --ring b1,b3 --separation 1",
            "no transition leads from place \"b1\"",
        ),
        (
            "petri separate conveyor.pnml --ring auto --separation 4 --transitions m99",
            "not a transition of the circuit",
        ),
        (
            "petri export conveyor.pnml --processes 5",
            "--processes contradicts",
        ),
        ("petri export --program measure", "has no Petri net"),
    ];
    place.refused(cases);
}

/// Every example of the help texts, in one folder with a plant and a ring.
#[test]
fn help_examples_work() {
    let place = place();
    place.write("plant.pnml", &place.read("conveyor.pnml"));
    place.told("worst --witness state.json");
    let mut tried = 0;
    for command in ["", "export", "analyze", "play", "import", "separate"] {
        let help = place.told(&format!("petri {command} --help"));
        for line in help
            .lines()
            .filter_map(|line| line.strip_prefix("  headway "))
        {
            // What comes after two spaces is a remark; pipes are the shell's.
            let line = line.split("  ").next().unwrap_or_default();
            let arguments = line.split(['>', '|']).next().unwrap_or_default();
            // Monitors do not separate from the plant's bad start: the answer is no.
            let no = arguments.contains("--method monitor");
            place.run(i32::from(no), arguments);
            tried += 1;
        }
    }
    assert!(tried >= 20, "{tried} examples");
}

/// Every command of the guide works, and its numbers are what the commands say.
#[test]
fn the_guide_is_true() {
    let place = Place::with_examples();
    let guide = read("docs/research/petri.md");
    let mut said = String::new();
    let mut tried = 0;
    let commands = guide
        .lines()
        .filter_map(|line| line.strip_prefix("    headway "));
    for arguments in commands {
        let no = arguments.contains("--method monitor") && !arguments.contains("--mark");
        said.push_str(&place.run(i32::from(no), arguments).out);
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
