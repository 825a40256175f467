//! `headway node members apply`: three real nodes and lists of who should be there, and the
//! guide's ways to such lists.

use std::process::Command;

use headway_service::members::read;
use headway_testkit::tools;

use crate::common::{Ran, headway, run_with_input};
use crate::fleet::Ring;

#[test]
fn members_come_and_go_as_a_list_says() {
    let ring = &Ring::by_variables(3, 2);
    let list = |nodes: &[usize]| {
        let member = |at: &usize| {
            let address = ring.address(*at);
            let key = ring.key(&format!("{at}.identity"));
            format!(r#"{{"name":"n{at}","address":"{address}","key":"{key}"}}"#)
        };
        let members: Vec<String> = nodes.iter().map(member).collect();
        format!("[{}]", members.join(","))
    };
    let apply = |list: &str, more: &str| -> Ran {
        let arguments = format!("node members apply - --socket 0.sock {more}");
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        run_with_input(ring.path(), &arguments, list.as_bytes())
    };
    let ran = apply(&list(&[0, 1, 2]), "");
    let nothing = "membership 1: these are its members already\n";
    assert_eq!((ran.code, &*ran.out, &*ran.err), (0, nothing, ""));
    // What `list` prints is such a list, too.
    let toml = ring.headway("node list --toml --socket 0.sock").out;
    assert_eq!(apply(&toml, "").out, nothing);

    // A mistake has a line and a field, and changes nothing.
    let ran = apply("[\n  {\"name\": \"n0\", \"address\": 5}\n]", "");
    assert_eq!((ran.code, &*ran.out), (2, ""));
    let expected = "-:2:29: [0].address: invalid type: integer `5`, expected a string";
    assert!(ran.err.contains(expected), "{}", ran.err);
    let ran = apply("", "");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("nobody is listed"), "{}", ran.err);

    // Half of the members cannot be missing, and one that does not run is not added.
    let ran = apply(&list(&[0]), "");
    assert_eq!((ran.code, &*ran.out), (1, ""));
    assert!(
        ran.err.contains("the list has 1 of the 3 members"),
        "{}",
        ran.err
    );
    let ran = apply(&list(&[0, 1, 2, 5]), "--dry-run");
    assert_eq!(
        (ran.code, &*ran.out),
        (0, "would be changed: n5 is added\n")
    );
    let ran = apply(&list(&[0, 1, 2, 5]), "--format json");
    assert_eq!(ran.code, 1, "{}", ran.out);
    let json = ran.json();
    assert_eq!(json["not_applied"][0]["name"], "n5");
    let why = json["not_applied"][0]["why"].to_string();
    assert!(why.contains("n5 does not answer"), "{why}");

    // One that is elsewhere than the list says is left where it is.
    let moved =
        list(&[0, 1, 2]).replace(&ring.address(2), &ring.address(2).replace(":7400", ":7401"));
    let ran = apply(&moved, "");
    assert_eq!((ran.code, &*ran.out), (1, ""));
    let expected = ":7401 in the list: `headway node remove n2`, then apply the list again";
    assert!(ran.err.contains(expected), "{}", ran.err);

    let ran = apply(&list(&[0, 1, 3, 4]), "");
    let changed =
        "membership 2: n3 is added\nmembership 2: n4 is added\nmembership 2: n2 is removed\n";
    assert_eq!((ran.code, &*ran.out), (0, changed), "{}", ran.err);
    ring.until(
        "node list --socket 1.sock",
        0,
        "membership 2 of ring variables",
    );
}

#[test]
fn without_a_node_nothing_is_applied() {
    let ran = headway("node members apply /nowhere/list.json --socket /nowhere/node.sock");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("/nowhere/list.json"), "{}", ran.err);
}

/// What programs said once, and what the guide makes of it.
const RECORDED: &[(&str, &str)] = &[
    ("dig", "0 0 7400 a.example.org.\n0 0 7401 b.example.org.\n"),
    (
        "curl",
        r#"[{"ID": "7d1a", "Node": "a", "Address": "192.0.2.1", "Datacenter": "dc1",
             "ServiceID": "web", "ServiceName": "web", "ServiceAddress": "", "ServicePort": 7400},
            {"ID": "90fe", "Node": "b", "Address": "192.0.2.2", "Datacenter": "dc1",
             "ServiceID": "web", "ServiceName": "web", "ServiceAddress": "198.51.100.2",
             "ServicePort": 7401}]"#,
    ),
    (
        "kubectl",
        r#"{"apiVersion": "v1", "kind": "List", "items": [
            {"kind": "EndpointSlice", "addressType": "IPv4",
             "ports": [{"name": "headway", "port": 7400, "protocol": "UDP"}],
             "endpoints": [
                {"addresses": ["10.0.0.1"], "conditions": {"ready": true},
                 "targetRef": {"kind": "Pod", "name": "web-0", "namespace": "prod"}},
                {"addresses": ["10.0.0.2"], "conditions": {"ready": false},
                 "targetRef": {"kind": "Pod", "name": "web-1", "namespace": "prod"}}]},
            {"kind": "EndpointSlice", "addressType": "IPv4", "ports": [], "endpoints": null}]}"#,
    ),
];

#[test]
fn the_guides_lists_are_lists_of_members() {
    if let Err(why) = tools::program(&["jq"], "jq") {
        return tools::skip("the_guides_lists_are_lists_of_members", &why);
    }
    let guide = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/operators/members.md"
    );
    let guide = std::fs::read_to_string(guide).expect("the guide");
    // The command after which a list is there.
    let line = |first: &str| {
        let mut lines = guide.lines();
        let line = lines.find(|line| line.starts_with(&format!("{first} ")));
        let line = line.unwrap_or_else(|| panic!("no line begins with {first}"));
        let (list, rest) = line.rsplit_once(" | ").expect("a pipe");
        assert_eq!(rest, "headway node members apply -");
        list.to_owned()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let shell = |command: &str| {
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(folder.path())
            .env("PATH", format!("{}:{path}", folder.path().display()))
            .output();
        String::from_utf8(output.expect("a shell").stdout).expect("text")
    };
    let say = |program: &str, text: &str| {
        let script = format!("#!/bin/sh\ncat <<'END'\n{text}\nEND\n");
        let path = folder.path().join(program);
        std::fs::write(&path, script).expect("written");
        let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, runs).expect("made a program");
    };
    let mut found = Vec::new();
    for (program, text) in RECORDED {
        say(program, text.trim_end());
        let list = shell(&line(program));
        let members = read(&list).unwrap_or_else(|mistake| panic!("{mistake}\n{list}"));
        found.extend(members.into_iter().map(|one| (one.name, one.address)));
        // A program that says nothing is no empty fleet.
        say(program, "");
        let list = shell(&line(program));
        assert!(read(&list).is_err(), "{program}: {list}");
    }
    let found: Vec<(&str, &str)> = { found.iter() }
        .map(|(name, address)| (&**name, &**address))
        .collect();
    assert_eq!(
        found,
        [
            ("a", "a.example.org:7400"),
            ("b", "b.example.org:7401"),
            ("a", "192.0.2.1:7400"),
            ("b", "198.51.100.2:7401"),
            ("web-0", "10.0.0.1:7400"),
            ("web-1", "10.0.0.2:7400"),
        ]
    );
    // And with the keys of those who may come.
    std::fs::write(folder.path().join("keys.json"), r#"{"a": "A", "c": "C"}"#).expect("written");
    let join = guide.lines().find(|line| line.contains("--slurpfile"));
    let join = join.expect("the line about keys").trim();
    let list = shell(&format!(
        r#"echo '[{{"name":"a"}},{{"name":"b"}}]' {join} | jq -c ."#
    ));
    let expected = r#"[{"name":"a","key":"A"},{"name":"b","key":null}]"#;
    assert_eq!(list.trim(), expected);
}
