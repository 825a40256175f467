//! `headway plan` and `headway node check-config --conflicts`, as an operator would use them.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::{folder, headway_in, refused, root};

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

/// What a plan counts on is what a node of that ring says of its configuration.
#[test]
fn the_tokens_are_what_a_node_has_room_for() {
    let json = plan("shards.txt", 0);
    let folder = folder();
    let key = headway_in(folder.path(), "node init --key ring.key");
    assert_eq!(key.code, 0, "{}", key.err);
    let config = std::fs::read_to_string(examples().join("node.toml")).unwrap();
    std::fs::write(folder.path().join("node.toml"), config).unwrap();
    let check = format!(
        "node check-config --config node.toml --ring-tokens {} --ring-separation {}",
        json["tokens"], json["separation"]
    );
    let ran = headway_in(folder.path(), &check);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let most = format!("{0} of at most {0}", json["tokens"]);
    assert!(ran.out.contains(&most), "{most}\n{}", ran.out);
}

/// An order that breaks it is refused, and the planned one is not.
#[test]
fn check_config_refuses_an_order_that_breaks_it() {
    let folder = folder();
    assert_eq!(
        headway_in(folder.path(), "node init --key ring.key").code,
        0
    );
    let config = std::fs::read_to_string(examples().join("node.toml")).unwrap();
    std::fs::write(folder.path().join("node.toml"), &config).unwrap();
    let shards = examples().join("shards.txt");
    let check = format!(
        "node check-config --config node.toml --conflicts {}",
        shards.display()
    );
    let broken = headway_in(folder.path(), &check);
    assert_eq!(broken.code, 1, "{}", broken.out);
    for words in [
        "may not be down together (line ",
        "hops apart in ring.members, and permits only 3",
        "`headway plan ",
    ] {
        assert!(broken.err.contains(words), "{words}\n{}", broken.err);
    }
    // The same with one token: it is never at two members.
    let one = headway_in(folder.path(), &format!("{check} --ring-tokens 1"));
    assert_eq!(one.code, 0, "{}", one.err);
    // In the order of the plan.
    let json = plan("shards.txt", 0);
    let (head, _) = config.split_once("[[ring.members]]").unwrap();
    let members = json["order"].as_array().unwrap().iter().enumerate();
    let members: String = members
        .map(|(at, name)| {
            format!("[[ring.members]]\nname = {name}\naddress = \"127.0.0.1:74{at:02}\"\n")
        })
        .collect();
    std::fs::write(folder.path().join("node.toml"), format!("{head}{members}")).unwrap();
    let kept = headway_in(folder.path(), &check);
    assert_eq!(kept.code, 0, "{}", kept.err);
    assert!(
        kept.out
            .contains("kept: no two of them hold permits together"),
        "{}",
        kept.out
    );
    // One hop less is too few.
    let less = headway_in(folder.path(), &format!("{check} --ring-separation 2"));
    assert_eq!(less.code, 1, "{}", less.out);
    // Other names are a mistake, not a yes.
    let others = examples().join("racks.csv");
    let check = format!(
        "node check-config --config node.toml --conflicts {}",
        others.display()
    );
    let ran = headway_in(folder.path(), &check);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(
        ran.err.contains("none of the members of the ring is in it"),
        "{}",
        ran.err
    );
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
    let folder = folder();
    let shards = examples().join("shards.txt");
    let line = format!(
        "plan {} -o plan.json --svg plan.svg --theme dark",
        shards.display()
    );
    let ran = headway_in(folder.path(), &line);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let written = std::fs::read_to_string(folder.path().join("plan.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written, plan("shards.txt", 0));
    let picture = std::fs::read_to_string(folder.path().join("plan.svg")).unwrap();
    assert_eq!(picture.matches("class=\"member\"").count(), 9);
    assert_eq!(picture.matches("class=\"chord\"").count(), 18);
}

#[test]
fn mistakes_say_what_to_do() {
    let folder = folder();
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
        std::fs::write(folder.path().join("conflicts"), text).unwrap();
        refused(folder.path(), &[("plan conflicts", says)]);
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
