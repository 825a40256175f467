//! `headway plan` and `headway node check-config --conflicts`, as an operator would use them.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::{Place, has, headway_in, read, refused, root};

/// The repository's examples.
fn examples() -> PathBuf {
    root().join("examples/conflicts")
}

fn plan(arguments: &str, code: i32) -> Value {
    let ran = headway_in(&examples(), &format!("plan {arguments} --format json"));
    assert_eq!(ran.code, code, "{arguments}: {}", ran.err);
    ran.json()
}

#[test]
fn every_kind_of_file() {
    for (file, members, separation) in [
        ("shards.txt", 9, 3),
        ("pairs.csv", 10, 2),
        ("racks.csv", 16, 4),
        ("describering.txt", 12, 3),
    ] {
        let json = plan(file, 0);
        assert_eq!(json["members"], members, "{file}");
        assert_eq!(json["separation"], separation, "{file}");
        assert_eq!(json["lower_bound"], separation, "{file}");
        assert_eq!(json["optimal"], true, "{file}");
        assert_eq!(
            json["order"].as_array().map(Vec::len),
            Some(members),
            "{file}"
        );
        assert_eq!(json["go_together"], Value::Null, "{file}");
        assert!(json["tokens"].as_u64() > Some(1), "{file}");
    }
}

/// A place with the example's node and its key.
fn node() -> (Place, String) {
    let place = Place::with_examples();
    let config = read("examples/conflicts/node.toml");
    // The key of the first is that of this machine.
    let own = place.told("node identity state/identity");
    let listed = config.lines().find(|line| line.starts_with("key = "));
    let own = format!("key = \"{}\"", own.trim());
    let config = config.replace(listed.expect("a key"), &own);
    place.write("node.toml", &config);
    (place, config)
}

/// What a plan counts on is what a node of that ring says of its configuration.
#[test]
fn the_tokens_are_what_a_node_has_room_for() {
    let json = plan("shards.txt", 0);
    let (place, _) = node();
    let told = place.told(&format!(
        "HEADWAY_RING_TOKENS={} HEADWAY_RING_SEPARATION={} node check-config --config node.toml",
        json["tokens"], json["separation"]
    ));
    has(&told, &[&format!("{0} of at most {0}", json["tokens"])]);
}

/// An order that breaks it is refused, and the planned one is not.
#[test]
fn check_config_refuses_an_order_that_breaks_it() {
    let (place, config) = node();
    let check = "node check-config --config node.toml --conflicts examples/conflicts/";
    let shards = format!("{check}shards.txt");
    has(
        &place.run(1, &shards).err,
        &[
            "may not be down together (line ",
            "hops apart in ring.members, and permits only 3",
            "`headway plan ",
        ],
    );
    // The same with one token: it is never at two members.
    place.told(&format!("HEADWAY_RING_TOKENS=1 {shards}"));
    // In the order of the plan.
    let json = plan("shards.txt", 0);
    let (head, _) = config.split_once("[[ring.members]]").unwrap();
    let members = json["order"].as_array().unwrap().iter().enumerate();
    let keys = config.lines().filter(|line| line.starts_with("key = "));
    let keys: Vec<&str> = keys.collect();
    let members: String = members
        .map(|(at, name)| {
            let key = keys[at];
            format!("[[ring.members]]\nname = {name}\naddress = \"127.0.0.1:74{at:02}\"\n{key}\n")
        })
        .collect();
    place.write("node.toml", &format!("{head}{members}"));
    let kept = "kept: no two of them hold permits together";
    has(&place.told(&shards), &[kept]);
    // One hop less is too few.
    place.run(1, &format!("HEADWAY_RING_SEPARATION=2 {shards}"));
    // Other names are a mistake, not a yes.
    let none = "none of the members of the ring is in it";
    has(&place.run(2, &format!("{check}racks.csv")).err, &[none]);
}

#[test]
fn one_at_a_time_comes_with_groups() {
    let json = plan("assignment.json", 1);
    assert_eq!(json["tokens"], 1);
    let because = json["because"].as_str().unwrap();
    assert!(
        because.starts_with("no order allows more than one at a time: "),
        "{because}"
    );
    assert_eq!(
        json["go_together"],
        json!([["1", "2"], ["3", "4"], ["5", "6"]])
    );
    let text = headway_in(&examples(), "plan assignment.json");
    assert_eq!(text.code, 1);
    for words in [
        "No order allows more than one at a time: no two of",
        "Group 1, 2 members:\n  1 2\n",
        "--together",
    ] {
        assert!(text.out.contains(words), "{words}\n{}", text.out);
    }
    // A rack as one place: three places in conflict, each with each.
    let racks = plan("assignment.json --together brokers.csv", 1);
    assert_eq!(
        (&racks["members"], &racks["conflicting_pairs"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(racks["members_by_place"]["r2"], json!(["3", "4"]));
    assert_eq!(racks["go_together"], Value::Null);
}

#[test]
fn hosts_as_places_of_a_ring() {
    let json = plan("pg-dump.json --together hosts.csv", 1);
    assert_eq!(
        (&json["members"], &json["separation"]),
        (&json!(4), &json!(2))
    );
    let torn = headway_in(&examples(), "plan shards.txt --together -");
    assert_eq!(torn.code, 2, "nothing on standard input");
}

#[test]
fn the_picture_and_the_file() {
    let place = Place::with_examples();
    let plan_it = "plan examples/conflicts/shards.txt -o plan.json --svg plan.svg --theme dark";
    place.told(plan_it);
    let written: Value = serde_json::from_str(&place.read("plan.json")).unwrap();
    assert_eq!(written, plan("shards.txt", 0));
    let picture = place.read("plan.svg");
    assert_eq!(picture.matches("class=\"member\"").count(), 9);
    assert_eq!(picture.matches("class=\"chord\"").count(), 18);
}

#[test]
fn mistakes_say_what_to_do() {
    let place = Place::new();
    for (text, says) in [
        ("", "0 members: a ring has at least 2"),
        ("a\n", "a ring has at least 2"),
        ("a,b\nb,,c\n", "conflicts:2:1: a member without a name"),
        ("a,b,a\n", "line 1: a is there twice"),
        (
            "from,to\na,b,c\n",
            "conflicts:2:1: expected 2 columns, found 3",
        ),
        (
            "{\"partitions\": 3}",
            "partitions: expected a list, found 3",
        ),
        ("{\"version\": 1,", "not JSON"),
        (
            "{\"pg_map\": {\"pg_stats\": [{\"up\": [\"a\"]}]}}",
            "pg_map.pg_stats[0].up[0]: expected a number",
        ),
    ] {
        place.write("conflicts", text);
        place.refused(&[("plan conflicts", says)]);
    }
    let kafka = "it was read as kafka; if it is something else, say so with --input";
    refused(
        &examples(),
        &[
            ("plan shards.txt --input kafka", kafka),
            ("plan shards.txt --input xml", "invalid value 'xml'"),
            ("plan nowhere.txt", "cannot read nowhere.txt"),
        ],
    );
}
