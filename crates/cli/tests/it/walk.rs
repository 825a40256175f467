//! `headway walk` and `headway run --walk`, as a person would use them.

use headway_testkit::tier::pick;
use serde_json::Value;

use crate::common::{folder, headway_in as headway, read, refused, root};

#[test]
fn the_json_has_what_it_must() {
    let folder = folder();
    let ran = headway(
        folder.path(),
        "walk --generate figure7 --tokens 3 --format json -o walk.json",
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json = ran.json();
    assert_eq!(json["length"], 12);
    assert_eq!(json["walk"].as_array().unwrap().len(), 12);
    assert_eq!(json["separation_on_walk"], 4);
    assert_eq!(json["distance_kept"], 2);
    assert_eq!(json["tokens"], 3);
    assert_eq!(json["visits_by_node"]["a2"], 1);
    assert_eq!(json["gap"], 0);
    assert_eq!(json["proved_best_for_any_length"], true);
    let file = std::fs::read_to_string(folder.path().join("walk.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&file).unwrap(), json);
}

#[test]
fn a_star_and_a_line_say_what_is_impossible() {
    let folder = folder();
    let star = headway(folder.path(), "walk --generate star:6 --tokens 3");
    assert_eq!(star.code, 0);
    for words in [
        "Distance kept in the network: 0: two tokens meet at centre",
        "No walk of any length keeps more: no 3 tokens further apart can keep moving",
        "D3 and D4 cannot both hold here: a token at any of 5 nodes (leaf1, leaf2, leaf3, leaf4, \
         leaf5) must move next to one of 1 (centre)",
    ] {
        assert!(star.out.contains(words), "{words}\n{}", star.out);
    }
    for length in [4, 7] {
        let line = headway(folder.path(), &format!("walk --generate line:{length}"));
        assert!(
            line.out.contains("D3 and D4 cannot both hold here"),
            "{}",
            line.out
        );
        assert!(
            line.out.contains("Distance kept in the network: 1,"),
            "{}",
            line.out
        );
    }
    // And a ring, where nothing is: the counter-test.
    let ring = headway(folder.path(), "walk --generate ring:8 --tokens 2");
    assert!(ring.out.contains("D4 holds"), "{}", ring.out);
    assert!(!ring.out.contains("cannot"), "{}", ring.out);
    assert!(
        ring.out.contains("Distance kept in the network: 4,"),
        "{}",
        ring.out
    );
}

#[test]
fn exit_codes() {
    let folder = folder();
    for (line, code) in [
        ("walk --generate grid:4x5 --separation 4", 0),
        ("walk --generate grid:4x5 --separation 5", 1),
        ("walk --generate grid:3x3 --method hamiltonian", 1),
        ("walk --generate grid:4x3 --method hamiltonian", 0),
        ("walk --generate star:5 --tokens 3 --method formation", 1),
        (
            "walk --generate grid:2x3 --tokens 2 --method rings --separation 9",
            1,
        ),
        ("walk", 2),
        ("walk --generate cube:3", 2),
        ("walk --generate star:5 --tokens 0", 2),
        ("walk --generate star:5 --tokens 6", 2),
        ("walk missing.dot", 2),
        ("walk --generate ring:4 --rings rings.json", 2),
        ("walk --generate ring:4 -o no/such/folder.json", 2),
        ("run --walk missing.json", 2),
    ] {
        let ran = headway(folder.path(), line);
        assert_eq!(ran.code, code, "{line}\n{}{}", ran.out, ran.err);
        assert_eq!(
            ran.err.contains("help:"),
            code == 2 && !line.contains("cube"),
            "{line}\n{}",
            ran.err
        );
    }
    let impossible = headway(folder.path(), "walk --generate grid:4x5 --separation 5");
    assert!(
        impossible.out.contains("impossible, on any walk"),
        "{}",
        impossible.out
    );
}

#[test]
fn bad_networks_are_refused_with_the_place() {
    let folder = folder();
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
        std::fs::write(folder.path().join(name), text).unwrap();
        refused(folder.path(), &[(&format!("walk {name}"), words)]);
    }
    std::fs::write(folder.path().join("ok.edges"), "a b\nb a\na a\n").unwrap();
    let ran = headway(folder.path(), "walk ok.edges");
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("self-loops at a"), "{}", ran.err);
    assert!(ran.err.contains("duplicate"), "{}", ran.err);
    let ran = headway(folder.path(), "walk c.what --from edges");
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn a_walk_is_run_and_keeps_its_promise() {
    let folder = folder();
    let made = headway(
        folder.path(),
        "walk --generate grid:5x5 --tokens 3 -o walk.json --format json",
    );
    let kept = made.json()["distance_kept"].as_u64().unwrap();
    assert!(kept >= 3);
    for start in ["random", "piled", "worst"] {
        let ran = headway(
            folder.path(),
            &format!("run --walk walk.json --start {start} --format json"),
        );
        assert_eq!(ran.code, 0, "{}", ran.err);
        let json = ran.json();
        let network = &json["over_network"];
        assert_eq!(json["processes"], made.json()["length"]);
        assert_eq!(network["distance_promised"], kept);
        assert!(network["least_distance_once_legitimate"].as_u64().unwrap() >= kept);
        if start == "piled" {
            assert_eq!(network["distance_at_start"], 0);
            assert_eq!(network["least_distance_while_stabilizing"], 0);
        }
        let rounds = network["least_distance_by_round"].as_array().unwrap();
        assert_eq!(rounds.len() as u64, json["rounds"].as_u64().unwrap() + 1);
    }
    let text = headway(folder.path(), "run --walk walk.json --start piled");
    assert!(
        text.out
            .contains("In the network of 25 nodes: 0 apart at the start"),
        "{}",
        text.out
    );
    let csv = headway(folder.path(), "run --walk walk.json --format csv");
    assert!(
        csv.out
            .starts_with("round,token,process,resting,legitimate,node,network_distance\n")
    );
    // A counter-test: a smaller separation on the walk keeps less in the network,
    // and the run shows it.
    let close = headway(
        folder.path(),
        "run --walk walk.json --separation 1 --start spaced --format json",
    );
    let promised = close.json()["over_network"]["distance_promised"]
        .as_u64()
        .unwrap();
    assert!(promised < kept);
}

#[test]
fn a_tampered_walk_file_is_refused() {
    let folder = folder();
    headway(folder.path(), "walk --generate grid:3x3 -o walk.json");
    let good: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("walk.json")).unwrap())
            .unwrap();
    let break_it = |change: fn(&mut Value), words: &str| {
        let mut bad = good.clone();
        change(&mut bad);
        std::fs::write(folder.path().join("bad.json"), bad.to_string()).unwrap();
        refused(folder.path(), &[("run --walk bad.json", words)]);
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
    let folder = folder();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "along.json",
        r#"["b1","b2","b3","a3","a2","a1","b1","b2","b3","c3","c2","c1"]"#,
    );
    // The paper's figure 7: three tokens stay 2 apart, two would meet.
    for (tokens, kept) in [(3, 2), (2, 0)] {
        let ran = headway(
            folder.path(),
            &format!("walk --generate figure7 --along along.json --tokens {tokens} --format json"),
        );
        assert_eq!(ran.json()["distance_kept"], kept, "{}", ran.err);
    }
    // Both rings along the shared row in one direction, or against each other.
    for (first, kept) in [
        (r#"["a3","a2","a1","b1","b2","b3"]"#, 3),
        (r#"["a1","a2","a3","b3","b2","b1"]"#, 1),
    ] {
        let second = r#"["b1","b2","b3","c3","c2","c1"]"#;
        write("rings.json", &format!("[{first},{second}]"));
        let ran = headway(
            folder.path(),
            "walk --generate figure7 --method rings --rings rings.json --format json",
        );
        assert_eq!(ran.json()["distance_kept"], kept);
        assert_eq!(ran.json()["proved_best_for_these_rings"], true);
    }
    write("wrong.json", r#"["b1","c3"]"#);
    refused(
        folder.path(),
        &[(
            "walk --generate figure7 --along wrong.json",
            "there is no link from \"b1\" to \"c3\"",
        )],
    );
}

#[test]
fn the_same_seed_gives_the_same_walk() {
    let folder = folder();
    let nodes = pick(12, 40, 40);
    let line = format!("walk --generate geometric:{nodes} --tokens 3 --seed 5 --format json");
    let one = headway(folder.path(), &line);
    assert_eq!(one.out, headway(folder.path(), &line).out);
    assert_eq!(one.json()["seed"], 5);
}

#[test]
fn the_picture_is_drawn_in_every_theme() {
    let folder = folder();
    for theme in ["auto", "light", "dark"] {
        let ran = headway(
            folder.path(),
            &format!("walk --generate grid:3x4 --svg w.svg --theme {theme}"),
        );
        assert_eq!(ran.code, 0);
        let svg = std::fs::read_to_string(folder.path().join("w.svg")).unwrap();
        assert_eq!(svg.contains("prefers-color-scheme"), theme == "auto");
        assert_eq!(svg.matches("class=\"node\"").count(), 12);
        assert!(svg.contains("2 tokens keep distance"));
    }
}

#[test]
fn every_example_network_has_a_walk() {
    let folder = folder();
    let examples = root().join("examples/networks");
    let mut seen = 0;
    for entry in std::fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        let ran = headway(
            folder.path(),
            &format!("walk {} --format json", path.display()),
        );
        assert_eq!(ran.code, 0, "{}: {}", path.display(), ran.err);
        assert!(
            ran.json()["distance_kept"].as_u64().unwrap() >= 2,
            "{}",
            path.display()
        );
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn labels_are_shown_and_names_kept() {
    let folder = folder();
    let harbour = root().join("examples/networks/harbour.gml");
    let command = format!("walk {} -o walk.json --svg walk.svg", harbour.display());
    let ran = headway(folder.path(), &command);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("Turning Pool"), "{}", ran.out);
    let svg = std::fs::read_to_string(folder.path().join("walk.svg")).unwrap();
    assert!(svg.contains(">Turning Pool</text>"), "{svg}");
    let file = std::fs::read_to_string(folder.path().join("walk.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    assert!(file["walk"].as_array().unwrap().contains(&"8".into()));
    assert_eq!(file["network"]["nodes"][7]["label"], "Turning Pool");
    assert_eq!(file["interrupted"], false);
}

#[test]
fn a_network_in_pieces_and_its_largest_piece() {
    let folder = folder();
    std::fs::write(folder.path().join("two.adjlist"), "a b\nc d e\nd e\n").unwrap();
    let ran = headway(folder.path(), "walk two.adjlist --largest-component");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let kept = "kept the largest of 2 components: 3 of 5 nodes";
    assert!(ran.err.contains(kept), "{}", ran.err);
    // A mistake is shown with its line, whatever the format.
    std::fs::write(folder.path().join("bad.net"), "*Vertices 2\n*Edges\n1 5\n").unwrap();
    refused(
        folder.path(),
        &[
            ("walk two.adjlist", "2 components"),
            ("walk two.adjlist", "--largest-component"),
            ("walk bad.net", "bad.net:3"),
            (
                "walk --generate ring:5 --write-network ring.gml",
                "gml is only read",
            ),
        ],
    );
}

/// Every command of docs/walks.md, in order, in one folder.
#[test]
fn the_guide_works() {
    let folder = folder();
    let examples = folder.path().join("examples");
    std::os::unix::fs::symlink(root().join("examples"), examples).unwrap();
    let guide = read("docs/walks.md");
    let mut tried = 0;
    let mut in_shell = false;
    for line in guide.lines().map(str::trim) {
        if line.starts_with("```") {
            in_shell = line == "```sh";
        } else if let (true, Some(arguments)) = (in_shell, line.strip_prefix("headway ")) {
            let ran = headway(folder.path(), arguments);
            assert_eq!(ran.code, 0, "{line}\n{}", ran.err);
            tried += 1;
        } else if let (true, Some(rest)) = (in_shell, line.strip_prefix("echo '")) {
            let (text, file) = rest.split_once("' > ").unwrap();
            std::fs::write(folder.path().join(file), text).unwrap();
        }
    }
    assert!(tried >= 11, "{tried} commands");
}
