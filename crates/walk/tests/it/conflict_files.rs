//! Files that say who may not be down together.

use std::collections::BTreeSet;

use headway_testkit::table::rows;
use headway_walk::plan::conflicts::{Conflicts, ConflictsError, Input};

pub(crate) const KAFKA: &str = r#"{"version":1,"partitions":[
  {"topic":"orders","partition":0,"replicas":[1,2,3],"log_dirs":["any","any","any"]},
  {"topic":"orders","partition":1,"replicas":[2,3,4]}]}"#;

pub(crate) const REASSIGN: &str = "Current partition replica assignment\n\
{\"version\":1,\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"replicas\":[7,8]}]}\n\n\
Proposed partition reassignment configuration\n\
{\"version\":1,\"partitions\":[{\"topic\":\"t\",\"partition\":0,\"replicas\":[8,9]}]}\n";

pub(crate) const CASSANDRA: &str = "Schema Version:4b1d0c3e-5b2e-3d8d-8f9c-1f3f1a0f7f1b\nTokenRange: \n\
\tTokenRange(start_token:-3074457345618258603, end_token:3074457345618258602, \
endpoints:[10.0.0.1, 10.0.0.2], rpc_endpoints:[10.0.0.1, 10.0.0.2], \
endpoint_details:[EndpointDetails(host:10.0.0.1, datacenter:dc1, rack:r1)])\n\
\tTokenRange(start_token:3074457345618258602, end_token:-3074457345618258603, \
endpoints:[/10.0.0.2, 10.0.0.3], rpc_endpoints:[], endpoint_details:[])\n";

pub(crate) const CEPH: &str = r#"{"pg_ready":true,"pg_map":{"version":7,"pg_stats":[
  {"pgid":"1.0","state":"active+clean","up":[0,1,2147483647],"acting":[0,2,2147483647]},
  {"pgid":"1.1","up":[3,4,5],"acting":[3,4,5]}]}}"#;

/// The groups by names, as a set of sets.
fn named(conflicts: &Conflicts) -> BTreeSet<BTreeSet<&str>> {
    (conflicts.groups().iter())
        .map(|group| {
            group
                .members
                .iter()
                .map(|&member| conflicts.name(member))
                .collect()
        })
        .collect()
}

fn reads(text: &str, input: Input, expected: &[&[&str]]) {
    assert_eq!(Input::of_text(text), input, "{text}");
    let conflicts = input.read(text).expect("a file");
    let expected = expected
        .iter()
        .map(|group| group.iter().copied().collect())
        .collect();
    assert_eq!(named(&conflicts), expected, "{text}");
}

#[test]
fn every_kind_of_file_is_known_and_read() {
    reads(
        "a, b,c\n\n# all of rack 7\nc,d # and these\ne\n",
        Input::Groups,
        &[&["a", "b", "c"], &["c", "d"]],
    );
    reads(
        "\u{feff}a,b\r\nb,\"c\"\r\n",
        Input::Groups,
        &[&["a", "b"], &["b", "c"]],
    );
    reads(
        "From,To\na,b\nb,c\nb,a\n",
        Input::Pairs,
        &[&["a", "b"], &["b", "c"]],
    );
    reads(
        "member,rack\na,r1\nb,r2\nc,r1\n",
        Input::Racks,
        &[&["a", "c"]],
    );
    reads(KAFKA, Input::Kafka, &[&["1", "2", "3"], &["2", "3", "4"]]);
    reads(REASSIGN, Input::Kafka, &[&["7", "8"]]);
    reads(
        CASSANDRA,
        Input::Cassandra,
        &[&["10.0.0.1", "10.0.0.2"], &["10.0.0.2", "10.0.0.3"]],
    );
    let osds: &[&[&str]] = &[
        &["osd.0", "osd.1"],
        &["osd.0", "osd.2"],
        &["osd.3", "osd.4", "osd.5"],
    ];
    reads(CEPH, Input::Ceph, osds);
    // Before Nautilus there was no pg_map; pgs_brief was once a list.
    let older = CEPH
        .replace("\"pg_map\":{\"version\":7,", "")
        .replace("]}}", "]}");
    reads(&older, Input::Ceph, osds);
    reads(
        "[{\"pgid\":\"1.0\",\"up\":[0,1],\"acting\":[0,1]}]",
        Input::Ceph,
        &[&["osd.0", "osd.1"]],
    );
}

/// What a file is, what is in it, what is said of it.
const MISTAKES: &str = r#"
groups | a,b\na,,b\n | line 2: a member without a name: expected names with commas between them
groups | a,b,a | line 1: a is there twice
groups | a | 1 members: a ring has at least 2
groups | "a,b",c | line 1: a quote within a name, or a comma within quotes
pairs | from,to\na,b,c\n | line 2: expected 2 columns, found 3
racks | member,rack\n | expected a header and rows of 2 columns below it
kafka | {} | partitions: missing: expected a list
kafka | {"partitions":[{"replicas":[1,"x"]}]} | partitions[0].replicas[1]: expected a number, found "x"
ceph | {"pg_map":{}} | pg_map.pg_stats: missing: expected a list
ceph | {"pg_stats":[{"up":3}]} | pg_stats[0].up: expected a list, found 3
cassandra | TokenRange(start_token:1) | line 1: expected endpoints:[…] in this range
kafka | {\n"partitions": } | line 2: not JSON ...
cassandra | Datacenter: dc1 | no TokenRange(…) ...
"#;

#[test]
fn mistakes_have_a_place() {
    for [input, text, said] in rows(MISTAKES) {
        let input: Input = input.parse().unwrap();
        let error = input.read(&text).expect_err(&text).to_string();
        match said.strip_suffix(" ...") {
            Some(begin) => assert!(error.starts_with(begin), "{text}: {error}"),
            None => assert_eq!(error, said, "{text}"),
        }
    }
}

#[test]
fn a_group_that_is_too_large_is_refused() {
    let many: Vec<String> = (0..20_000).map(|member| member.to_string()).collect();
    let refused = Conflicts::new([("all", many)]).expect_err("200 million pairs");
    assert_eq!(refused, ConflictsError::TooDense);
}

#[test]
fn whole_racks_take_one_place_each() {
    let conflicts = Input::Groups.read("a1,b1\nb2,c1\nx").expect("groups");
    let racks = Input::racks("member,rack\na1,A\na2,A\nb1,B\nb2,B\nd,D\n").expect("racks");
    let places = conflicts.together(&racks).expect("places");
    let expected = [["A", "B"], ["B", "c1"]].map(BTreeSet::from);
    assert_eq!(named(&places), BTreeSet::from(expected));
    assert_eq!(places.len(), 5, "{:?}", places.names());
    let torn = Input::Groups
        .read("a1,a2")
        .expect("groups")
        .together(&racks);
    let said = torn.expect_err("in one rack").to_string();
    assert!(
        said.starts_with("a1 and a2 are both of A, which goes as a whole, but line 1"),
        "{said}"
    );
    let twice = Input::racks("member,rack\na,A\nb,A\na,B\n").expect_err("a in two racks");
    assert_eq!(
        twice.to_string(),
        "line 4: a is of B, but of A in line 2: expected one place for each member"
    );
    let twice = ["A", "B"].map(|place| (place.to_owned(), vec!["a".to_owned()]));
    assert!(matches!(
        conflicts.together(&twice.into()),
        Err(ConflictsError::TwoPlaces { .. })
    ));
}

/// A NUL byte is in no text: not in a name, not beside one.
#[test]
fn a_nul_byte_is_refused() {
    for text in ["a,b\nc,\0d\n", "a,b\n\0\n", "member,rack\na,r\nb,\0\n"] {
        let line = 1 + text[..text.find('\0').unwrap()].matches('\n').count();
        let told = format!("line {line}: a NUL byte: this is not a text file");
        let input = Input::of_text(text);
        assert_eq!(input.read(text).unwrap_err().to_string(), told);
        assert_eq!(Input::racks(text).unwrap_err().to_string(), told);
    }
}
