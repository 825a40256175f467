//! `headway walk` and `headway run --walk`, as a person would use them.

use headway_testkit::tier::pick;
use serde_json::Value;

use crate::common::{Place, has, read, root};

#[test]
fn the_json_has_what_it_must() {
    let place = Place::new();
    let json = place.json("walk --generate figure7 --tokens 3 -o walk.json");
    assert_eq!(json["length"], 12);
    assert_eq!(json["walk"].as_array().unwrap().len(), 12);
    assert_eq!(json["separation_on_walk"], 4);
    assert_eq!(json["distance_kept"], 2);
    assert_eq!(json["tokens"], 3);
    assert_eq!(json["visits_by_node"]["a2"], 1);
    assert_eq!(json["gap"], 0);
    assert_eq!(json["proved_best_for_any_length"], true);
    let file: Value = serde_json::from_str(&place.read("walk.json")).unwrap();
    assert_eq!(file, json);
}

#[test]
fn a_star_and_a_line_say_what_is_impossible() {
    let place = Place::new();
    let neither = "D3 and D4 cannot both hold here";
    has(
        &place.told("walk --generate star:6 --tokens 3"),
        &[
            "Distance kept in the network: 0: two tokens meet at centre",
            "No walk of any length keeps more: no 3 tokens further apart can keep moving",
            neither,
            ": a token at any of 5 nodes (leaf1, leaf2, leaf3, leaf4, leaf5) must move next to \
             one of 1 (centre)",
        ],
    );
    for length in [4, 7] {
        let line = place.told(&format!("walk --generate line:{length}"));
        has(&line, &[neither, "Distance kept in the network: 1,"]);
    }
    // And a ring, where nothing is: the counter-test.
    let ring = place.told("walk --generate ring:8 --tokens 2");
    has(&ring, &["D4 holds", "Distance kept in the network: 4,"]);
    assert!(!ring.contains("cannot"), "{ring}");
}

#[test]
fn exit_codes() {
    let place = Place::new();
    let far = "walk --generate grid:4x5 --separation 5";
    for (line, code) in [
        ("walk --generate grid:4x5 --separation 4", 0),
        (far, 1),
        ("walk --generate grid:3x3 --method hamiltonian", 1),
        ("walk --generate grid:4x3 --method hamiltonian", 0),
        ("walk --generate star:5 --tokens 3 --method formation", 1),
        (
            "walk --generate grid:2x3 --tokens 2 --method rings --separation 9",
            1,
        ),
    ] {
        let err = place.run(code, line).err;
        assert!(!err.contains("help:"), "{line}\n{err}");
    }
    has(&place.run(1, far).out, &["impossible, on any walk"]);
    place.refused(&[
        ("walk", "help:"),
        ("walk --generate cube:3", "invalid value 'cube:3'"),
        ("walk --generate star:5 --tokens 0", "help:"),
        ("walk --generate star:5 --tokens 6", "help:"),
        ("walk missing.dot", "help:"),
        ("walk --generate ring:4 --rings rings.json", "help:"),
        ("run --walk missing.json", "help:"),
    ]);
    // Its answer is printed before the file is written.
    let unwritten = place.run(2, "walk --generate ring:4 -o no/such/folder.json");
    has(&unwritten.err, &["help:"]);
}

#[test]
fn bad_networks_are_refused_with_the_place() {
    let place = Place::new();
    for (name, text, words) in [
        ("a.dot", "graph {\n a -- \n}", "a.dot:3:1: expected a name"),
        (
            "a.edges",
            "a b\n\"c d\n",
            "a.edges:2:1: a name in double quotes has no end",
        ),
        (
            "a.graphml",
            "<graphml><graph>\n<node id='a'/><edge source='a' target='b'/></graph></graphml>",
            "a.graphml:2:1: target \"b\" is not a node",
        ),
        (
            "a.json",
            "{\"nodes\": [{\"id\": 1}], \"links\": [{\"source\": 1}]}",
            "links[0].target",
        ),
        ("b.json", "{", "b.json:1:1: not JSON"),
        (
            "b.edges",
            "a b\nc d\n",
            "falls into 2 components:\n  - a, b\n  - c, d",
        ),
        (
            "b.dot",
            "digraph { a -> b -> c -> b }",
            "not strongly connected",
        ),
        ("c.edges", "", "needs at least 2"),
        ("c.what", "a b", "the ending does not show the format"),
    ] {
        place.write(name, text);
        place.refused(&[(&format!("walk {name}"), words)]);
    }
    place.write("ok.edges", "a b\nb a\na a\n");
    let ran = place.run(0, "walk ok.edges");
    has(&ran.err, &["self-loops at a", "duplicate"]);
    place.told("walk c.what --from edges");
}

#[test]
fn a_walk_is_run_and_keeps_its_promise() {
    let place = Place::new();
    let made = place.json("walk --generate grid:5x5 --tokens 3 -o walk.json");
    let kept = made["distance_kept"].as_u64().unwrap();
    assert!(kept >= 3);
    for start in ["random", "piled", "worst"] {
        let json = place.json(&format!("run --walk walk.json --start {start}"));
        let network = &json["over_network"];
        assert_eq!(json["processes"], made["length"]);
        assert_eq!(network["distance_promised"], kept);
        assert!(network["least_distance_once_legitimate"].as_u64().unwrap() >= kept);
        if start == "piled" {
            assert_eq!(network["distance_at_start"], 0);
            assert_eq!(network["least_distance_while_stabilizing"], 0);
        }
        let rounds = network["least_distance_by_round"].as_array().unwrap();
        assert_eq!(rounds.len() as u64, json["rounds"].as_u64().unwrap() + 1);
    }
    let text = place.told("run --walk walk.json --start piled");
    let start = "In the network of 25 nodes: 0 apart at the start";
    has(&text, &[start]);
    let csv = place.told("run --walk walk.json --format csv");
    let heads = "round,token,process,resting,legitimate,node,network_distance\n";
    assert!(csv.starts_with(heads), "{csv}");
    // A counter-test: a smaller separation on the walk keeps less in the network,
    // and the run shows it.
    let close = place.json("run --walk walk.json --separation 1 --start spaced");
    let promised = close["over_network"]["distance_promised"].as_u64();
    assert!(promised.unwrap() < kept);
}

#[test]
fn a_tampered_walk_file_is_refused() {
    let place = Place::new();
    place.told("walk --generate grid:3x3 -o walk.json");
    let good: Value = serde_json::from_str(&place.read("walk.json")).unwrap();
    let break_it = |change: fn(&mut Value), words: &str| {
        let mut bad = good.clone();
        change(&mut bad);
        place.write("bad.json", &bad.to_string());
        place.refused(&[("run --walk bad.json", words)]);
    };
    break_it(|file| file["walk"][0] = "nowhere".into(), "walk[0]");
    break_it(
        |file| file["walk"].as_array_mut().unwrap().swap(0, 3),
        "there is no link",
    );
    break_it(
        |file| file["tokens"] = 0.into(),
        "tokens: expected a number from 1",
    );
    break_it(|file| file["format"] = "other".into(), "format");
    break_it(
        |file| file["network"]["edges"] = Value::Null,
        "network: links",
    );
}

#[test]
fn a_given_walk_and_given_rings_are_judged() {
    let place = Place::new();
    place.write(
        "along.json",
        r#"["b1","b2","b3","a3","a2","a1","b1","b2","b3","c3","c2","c1"]"#,
    );
    // The paper's figure 7: three tokens stay 2 apart, two would meet.
    let along = "walk --generate figure7 --along";
    for (tokens, kept) in [(3, 2), (2, 0)] {
        let judged = place.json(&format!("{along} along.json --tokens {tokens}"));
        assert_eq!(judged["distance_kept"], kept);
    }
    // Both rings along the shared row in one direction, or against each other.
    for (first, kept) in [
        (r#"["a3","a2","a1","b1","b2","b3"]"#, 3),
        (r#"["a1","a2","a3","b3","b2","b1"]"#, 1),
    ] {
        let second = r#"["b1","b2","b3","c3","c2","c1"]"#;
        place.write("rings.json", &format!("[{first},{second}]"));
        let rings = "walk --generate figure7 --method rings --rings rings.json";
        let judged = place.json(rings);
        assert_eq!(judged["distance_kept"], kept);
        assert_eq!(judged["proved_best_for_these_rings"], true);
    }
    place.write("wrong.json", r#"["b1","c3"]"#);
    let none = "there is no link from \"b1\" to \"c3\"";
    place.refused(&[(&format!("{along} wrong.json"), none)]);
}

#[test]
fn the_same_seed_gives_the_same_walk() {
    let nodes = pick(12, 40, 40);
    let line = format!("walk --generate geometric:{nodes} --tokens 3 --seed 5");
    let (one, other) = (Place::new().json(&line), Place::new().json(&line));
    assert_eq!(one, other);
    assert_eq!(one["seed"], 5);
}

#[test]
fn the_picture_is_drawn_in_every_theme() {
    let place = Place::new();
    for theme in ["auto", "light", "dark"] {
        place.told(&format!(
            "walk --generate grid:3x4 --svg w.svg --theme {theme}"
        ));
        let svg = place.read("w.svg");
        assert_eq!(svg.contains("prefers-color-scheme"), theme == "auto");
        assert_eq!(svg.matches("class=\"node\"").count(), 12);
        assert!(svg.contains("2 tokens keep distance"));
    }
}

#[test]
fn every_example_network_has_a_walk() {
    let place = Place::new();
    let examples = std::fs::read_dir(root().join("examples/networks")).unwrap();
    let paths: Vec<_> = examples.map(|entry| entry.unwrap().path()).collect();
    for path in &paths {
        let json = place.json(&format!("walk {}", path.display()));
        let kept = json["distance_kept"].as_u64().unwrap();
        assert!(kept >= 2, "{}", path.display());
    }
    assert_eq!(paths.len(), 6);
}

#[test]
fn labels_are_shown_and_names_kept() {
    let place = Place::with_examples();
    let text = place.told("walk examples/networks/harbour.gml -o walk.json --svg walk.svg");
    has(&text, &["Turning Pool"]);
    has(&place.read("walk.svg"), &[">Turning Pool</text>"]);
    let file: Value = serde_json::from_str(&place.read("walk.json")).unwrap();
    assert!(file["walk"].as_array().unwrap().contains(&"8".into()));
    assert_eq!(file["network"]["nodes"][7]["label"], "Turning Pool");
    assert_eq!(file["interrupted"], false);
}

#[test]
fn a_network_in_pieces_and_its_largest_piece() {
    let place = Place::new();
    place.write("two.adjlist", "a b\nc d e\nd e\n");
    let ran = place.run(0, "walk two.adjlist --largest-component");
    let kept = "kept the largest of 2 components: 3 of 5 nodes";
    has(&ran.err, &[kept]);
    // A mistake is shown with its line, whatever the format.
    place.write("bad.net", "*Vertices 2\n*Edges\n1 5\n");
    place.refused(&[
        ("walk two.adjlist", "2 components"),
        ("walk two.adjlist", "--largest-component"),
        ("walk bad.net", "bad.net:3"),
        (
            "walk --generate ring:5 --write-network ring.gml",
            "gml is only read",
        ),
    ]);
}

/// Every command of docs/research/walks.md, in order, in one folder.
#[test]
fn the_guide_works() {
    let place = Place::with_examples();
    let guide = read("docs/research/walks.md");
    let mut tried = 0;
    let mut in_shell = false;
    for line in guide.lines().map(str::trim) {
        if line.starts_with("```") {
            in_shell = line == "```sh";
        } else if let (true, Some(arguments)) = (in_shell, line.strip_prefix("headway ")) {
            place.told(arguments);
            tried += 1;
        } else if let (true, Some(rest)) = (in_shell, line.strip_prefix("echo '")) {
            let (text, file) = rest.split_once("' > ").unwrap();
            place.write(file, text);
        }
    }
    assert!(tried >= 11, "{tried} commands");
}
