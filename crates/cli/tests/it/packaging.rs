//! What packages install, the alert rules for Prometheus and the Grafana dashboard.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use headway_testkit::tools;
use serde_json::Value;
use toml::Table;

use crate::common::{folder, read, root, until};
use crate::fleet::{LONG, Ring};

/// What a package installs: from which file of the repository, to where, with which mode.
type Assets = BTreeSet<(String, String, String)>;

fn metadata() -> Table {
    let manifest: Table = read("crates/cli/Cargo.toml").parse().unwrap();
    manifest["package"]["metadata"].as_table().unwrap().clone()
}

fn deb(metadata: &Table) -> Assets {
    let asset = |asset: &toml::Value| {
        let part = |at: usize| asset[at].as_str().unwrap().to_owned();
        let (from, to) = (part(0), part(1));
        let name = from.rsplit('/').next().unwrap();
        let name = if to.ends_with('/') { name } else { "" };
        let from = from.trim_start_matches("../../").to_owned();
        (from, format!("/{to}{name}"), part(2))
    };
    let assets = metadata["deb"]["assets"].as_array().unwrap();
    assets.iter().map(asset).collect()
}

fn rpm(metadata: &Table) -> Assets {
    let asset = |asset: &toml::Value| {
        let part = |key: &str| asset[key].as_str().unwrap().to_owned();
        (part("source"), part("dest"), part("mode"))
    };
    let assets = metadata["generate-rpm"]["assets"].as_array().unwrap();
    assets.iter().map(asset).collect()
}

#[test]
fn both_packages_install_the_same_where_the_unit_expects_it() {
    let metadata = metadata();
    let assets = deb(&metadata);
    assert_eq!(assets, rpm(&metadata));
    let mut fewer = assets.clone();
    fewer.pop_first();
    assert_ne!(fewer, rpm(&metadata));
    for (from, ..) in &assets {
        let made = from.starts_with("target/");
        assert!(made || root().join(from).is_file(), "{from} is missing");
    }
    let to: BTreeSet<&str> = assets.iter().map(|(_, to, _)| &**to).collect();
    let unit = read("packaging/headway-node.service");
    let program = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="))
        .and_then(|line| line.split(' ').next())
        .unwrap();
    assert!(to.contains(program), "the unit starts {program}: {to:?}");
    assert!(to.contains("/usr/lib/systemd/system/headway-node.service"));
    assert!(to.contains("/usr/lib/sysusers.d/headway.conf"));
    assert!(read("packaging/headway.sysusers").contains("u headway "));
    for script in ["deb/postinst", "deb/prerm", "deb/postrm"] {
        assert!(read(&format!("packaging/{script}")).starts_with("#!/bin/sh\n"));
    }
}

/// By which systemd kills whatever a command has started, when its node is gone: all processes of
/// the unit's control group.
#[test]
fn the_unit_leaves_nothing_of_a_command_behind() {
    let unit = read("packaging/headway-node.service");
    let value = |key: &str| {
        let mut lines = unit.lines().filter_map(|line| line.split_once('='));
        lines.find_map(|(name, value)| (name == key).then_some(value))
    };
    assert!(matches!(value("KillMode"), Some("mixed" | "control-group")));
    assert!(matches!(value("SendSIGKILL"), None | Some("yes" | "true")));
    // Nor is a command started outside of it.
    assert_eq!(value("Delegate"), None);
}

/// `promtool` over these rules and the tests of them.
fn promtool(promtool: &Path, rules: &str) -> (bool, String) {
    let folder = folder();
    std::fs::write(folder.path().join("headway.rules.yml"), rules).unwrap();
    let tests = read("packaging/prometheus/headway.test.yml");
    std::fs::write(folder.path().join("headway.test.yml"), tests).unwrap();
    let run = |arguments: [&str; 3]| {
        let mut command = Command::new(promtool);
        command.current_dir(folder.path()).args(arguments);
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    };
    let checked = run(["check", "rules", "headway.rules.yml"]);
    let tested = run(["test", "rules", "headway.test.yml"]);
    (checked.0 && tested.0, checked.1 + &tested.1)
}

#[test]
fn alerts_are_raised_when_they_should_be() {
    let name = "alerts_are_raised_when_they_should_be";
    let tool = match tools::program(&["promtool"], "prometheus") {
        Ok(tool) => tool,
        Err(why) => return tools::skip(name, &why),
    };
    let rules = read("packaging/prometheus/headway.rules.yml");
    let (fine, text) = promtool(&tool, &rules);
    assert!(fine, "{text}");
    // An alert that is never raised is noticed, whichever it is, and so is one that always is.
    let is_expression = |line: &&str| line.trim_start().starts_with("expr: ");
    let expressions: Vec<&str> = rules.lines().filter(is_expression).collect();
    assert_eq!(expressions.len(), rules.matches("- alert: ").count());
    for expression in expressions {
        for wrong in ["vector(0) > 1", "vector(1)"] {
            let broken = rules.replace(expression, &format!("        expr: {wrong}"));
            assert!(!promtool(&tool, &broken).0, "not noticed: {expression}");
        }
    }
}

/// The names of series in a text for Prometheus.
fn series(metrics: &str) -> BTreeSet<String> {
    let lines = metrics.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split([' ', '{']).next())
        .map(str::to_owned)
        .collect()
}

/// What a query uses of ours.
fn used(query: &str) -> BTreeSet<String> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    query
        .split(|c| !letter(c))
        .filter(|word| word.starts_with("headway_"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn rules_and_board_use_what_a_node_exports() {
    let ring = Ring::settled(3, LONG);
    let address = ring.http(0);
    let text = until(|| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let host = format!("Host: {address}\r\nConnection: close\r\n\r\n");
        write!(stream, "GET /metrics HTTP/1.1\r\n{host}").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        // One for each reason, once there is one.
        match text.contains("headway_rejected") {
            true => Ok(text),
            false => Err(text),
        }
    });
    drop(ring);
    let mut exported = series(&text);
    assert!(exported.contains("headway_settled"), "{text}");
    exported.insert("headway_rejected_total".to_owned());

    let board: Value = serde_json::from_str(&read("packaging/grafana/headway.json")).unwrap();
    let panels = board["panels"].as_array().unwrap();
    let ids: BTreeSet<u64> = panels.iter().map(|p| p["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "each panel has an id of its own");
    let mut queries: Vec<(String, String)> = Vec::new();
    for panel in panels {
        let title = panel["title"].as_str().unwrap();
        let targets = panel["targets"].as_array().unwrap();
        assert!(!targets.is_empty(), "{title} shows nothing");
        for target in targets {
            queries.push((title.into(), target["expr"].as_str().unwrap().into()));
        }
    }
    for variable in board["templating"]["list"].as_array().unwrap() {
        if let Some(query) = variable["query"]["query"].as_str() {
            queries.push((variable["name"].to_string(), query.into()));
        }
    }
    let rules = read("packaging/prometheus/headway.rules.yml");
    let expressions = rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("expr: "));
    queries.extend(expressions.map(|query| ("an alert".to_owned(), query.to_owned())));
    for (whose, query) in &queries {
        let missing: Vec<_> = used(query).difference(&exported).cloned().collect();
        assert!(missing.is_empty(), "{whose}: no node exports {missing:?}");
    }
    let wrong = used("rate(headway_permit_total[5m])");
    assert!(!wrong.is_subset(&exported), "a wrong name is noticed");
}
