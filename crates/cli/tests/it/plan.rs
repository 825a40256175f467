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
    for (file, members, separation, stations) in [
        ("shards.txt", 9, 3, 3),
        ("pairs.csv", 10, 2, 2),
        ("racks.csv", 16, 4, 4),
        ("describering.txt", 12, 3, 3),
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
        assert_eq!(json["works_by_stations"], stations, "{file}");
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

/// Kafka with replicas in three racks, Cassandra with virtual nodes, Ceph: as many stations as
/// are proved necessary, where an order has room for one token.
#[test]
fn stations_are_as_few_as_are_proved_necessary() {
    for (file, members, stations) in [
        ("assignment.json", 6, 3),
        ("vnodes.txt", 12, 3),
        ("pg-dump.json --together hosts.csv", 4, 2),
    ] {
        let json = plan(file, 0);
        assert_eq!(json["tokens"], 1, "{file}");
        assert_eq!(json["works_by_order"], members, "{file}");
        assert_eq!(json["works_by_stations"], stations, "{file}");
        assert_eq!(json["stations_at_least"], stations, "{file}");
        assert_eq!(json["proposed"], "stations", "{file}");
    }
    let json = plan("assignment.json", 0);
    assert_eq!(
        json["stations"],
        json!([["1", "2"], ["3", "4"], ["5", "6"]])
    );
    assert_eq!(
        json["stations_because"],
        "no two of 1, 6, 4 may be down together"
    );
    let because = json["because"].as_str().unwrap();
    let none = "no order allows more than one at a time: ";
    assert!(because.starts_with(none), "{because}");
    let text = headway_in(&examples(), "plan assignment.json");
    let whole = "a whole pass takes 3 works one after another, in the order of the ring 6";
    has(
        &text.out,
        &[
            whole,
            "Station 1, 2 members:\n  1 2\n",
            "One by one, no order allows more than one at a time: no two of",
        ],
    );
}

/// Where stations are not faster, the order of the ring is proposed; where every two are in
/// conflict, the answer is no.
#[test]
fn the_faster_is_proposed() {
    let place = Place::new();
    // A ring of seven: three tokens two apart, and three stations.
    place.write("ring", "a,b\nb,c\nc,d\nd,e\ne,f\nf,g\ng,a\n");
    let told = place.told("plan ring");
    has(
        &told,
        &["The order of the ring is best: a whole pass takes 3 works"],
    );
    let racks = plan("assignment.json --together brokers.csv", 1);
    assert_eq!(
        (&racks["members"], &racks["conflicting_pairs"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(racks["members_by_place"]["r2"], json!(["3", "4"]));
    assert_eq!(
        (&racks["works_by_stations"], &racks["proposed"]),
        (&json!(3), &json!("order"))
    );
}

#[test]
fn hosts_as_places_of_a_ring() {
    let json = plan("pg-dump.json --together hosts.csv", 0);
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
    assert_eq!(picture.matches("class=\"token f2\"").count(), 3);
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
    place.write("conflicts", "a,b\n");
    place.write("together", "member,rack\na,r1\nb,r2\na,r2\n");
    let two = "together:4:1: a is of r2, but of r1 in line 2: expected one place for each member";
    place.refused(&[("plan conflicts --together together", two)]);
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
