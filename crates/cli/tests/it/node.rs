//! `headway node`: its words, its mistakes, what its package allows, and the worked example of the
//! operators' guide.

use std::process::Command;

use headway_testkit::tools;

use crate::common::{Place, has, program, read, root};

#[test]
fn the_example_is_written_checked_and_never_overwritten() {
    let place = Place::new();
    place.init_node("node.toml");
    has(
        &place.told("node check-config --config node.toml"),
        &[
            "members               3",
            "true separation",
            "typical recovery",
            "worst-case recovery",
            "turn of a token",
        ],
    );
    place.refused(&[("node init node.toml", "cannot write node.toml")]);
    has(&place.told("node init"), &["[[ring.members]]"]);
}

#[test]
fn mistakes_are_shown_with_file_line_and_key() {
    let place = Place::new();
    place.init_node("node.toml");
    let good = place.read("node.toml");
    place.write("node.toml", &good.replace("tokens = 1", "tokens = 9"));
    let line = good.lines().position(|line| line == "tokens = 1").unwrap() + 1;
    let at = format!("node.toml:{line}:10: ring.tokens: 9 tokens 1 hop apart need 10 nodes");
    let check = "node check-config --config node.toml";
    // The line is shown.
    let cases = [(check, &*at), (check, "tokens = 9\n")];
    place.refused(&cases);
    place.write("node.toml", &good);
    std::fs::set_permissions(
        place.path().join("identity"),
        std::os::unix::fs::PermissionsExt::from_mode(0o644),
    )
    .unwrap();
    place.refused(&[
        (
            &format!("HEADWAY_TIMING_TICK=soon {check}"),
            "HEADWAY_TIMING_TICK: timing.tick: expected a length of time",
        ),
        (check, "chmod 600"),
        ("node", "headway node init"),
        (
            "node status --socket /nowhere/node.sock",
            "is the node running",
        ),
        ("node ask", "`ask` is called `node request` now"),
        (
            "node set --dwell-most 1h",
            "`--dwell-most` is called `--max-hold` now",
        ),
    ]);
}

#[test]
fn every_machine_makes_its_own_key_and_members_are_listed_with_theirs() {
    let place = Place::new();
    let key = |file: &str| {
        let ran = place.run(0, &format!("node identity {file}"));
        (ran.out.trim().to_owned(), ran.err)
    };
    let (a, told) = key("a.identity");
    assert!(
        a.starts_with("hw1") && told.contains("they stay on this machine"),
        "{told}"
    );
    let (again, told) = key("a.identity");
    assert!(again == a && told.is_empty(), "{told}");
    let (b, _) = key("b.identity");
    let init =
        format!("node init node.toml --member a=127.0.0.1:7400={a} --member b=127.0.0.2:7400={b}");
    place.told(&init);
    let check = |identity: &str| {
        format!("HEADWAY_NODE_IDENTITY_FILE={identity} node check-config --config node.toml")
    };
    has(
        &place.told(&check("a.identity")),
        &["members               2", "a pair for each member"],
    );
    // The example as it is says what to fill in.
    place.told("node init example.toml");
    place.refused(&[
        (&check("b.identity"), "ring.members: a has the key hw1"),
        (
            &check("none.identity"),
            "headway node identity none.identity",
        ),
        (
            "node check-config --config example.toml",
            "is no node's key: expected what `headway node identity` prints",
        ),
        (
            "node init other.toml --member a=127.0.0.1:7400",
            "expected NAME=ADDRESS=KEY",
        ),
    ]);
    // After `rotate-key` the membership counts that the node has kept.
    let kept = place.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    std::fs::write(kept.join("membership"), "").unwrap();
    let check = format!("HEADWAY_NODE_STATE_DIR=kept {}", check("b.identity"));
    let ran = place.run(0, &check);
    has(&ran.err, &["the membership in node.state_dir counts"]);
    let operator = place.told("node identity --recovery-key operator.key");
    assert!(operator.starts_with("hwo1"), "{operator}");
    let again = place.told("node identity --recovery-key operator.key");
    assert_eq!(again, operator);
}

#[test]
#[ignore = "make test-all"]
fn the_worked_example_loses_nothing_with_headway() {
    let python = tools::program(&["python3"], "python3");
    let redis = tools::program(&["redis-server"], "redis-server");
    if let Err(why) = python.and(redis) {
        return tools::skip("the_worked_example_loses_nothing_with_headway", &why);
    }
    // Below the ports that connections are given.
    let port = 20_000 + (std::process::id() % 12_000);
    let output = Command::new("python3")
        .arg(root().join("docs/operators/rolling-restart.py"))
        .args(["--down", "0.2", "--port", &port.to_string(), "--headway"])
        .arg(program())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{told}");
    assert_eq!(text.lines().count(), 6, "{text}");
}

/// A script of `packaging` that tries something, and prints so many lines that begin with `ok`.
fn tried(test: &str, script: &str, fine: usize) {
    let mut command = Command::new("bash");
    command.arg(root().join("packaging").join(script));
    let output = command.arg(program()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.code() == Some(77) {
        let why = text.lines().last().unwrap_or_default();
        return tools::skip(test, why.trim_start_matches("skipped: "));
    }
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{told}");
    let lines = text.lines().filter(|line| line.starts_with("ok: "));
    assert_eq!(lines.count(), fine, "{text}");
}

#[test]
#[ignore = "make test-all"]
fn the_unit_works_under_a_real_systemd() {
    tried("the_unit_works_under_a_real_systemd", "try-unit", 7);
}

#[test]
#[ignore = "make test-all"]
fn a_real_polkitd_allows_what_the_rule_lists() {
    tried("a_real_polkitd_allows_what_the_rule_lists", "try-rules", 2);
}

/// The rule for polkit, in another JavaScript: it allows what it lists, and nothing else.
#[test]
fn the_rule_for_polkit_allows_what_it_lists() {
    let name = "the_rule_for_polkit_allows_what_it_lists";
    let node = match tools::program(&["node"], "nodejs") {
        Ok(node) => node,
        Err(why) => return tools::skip(name, &why),
    };
    let rule = read("packaging/50-headway.rules");
    let asks = r#"
        const ask = (user, id, unit, verb) =>
            console.log(asked({ id, lookup: (key) => ({ unit, verb })[key] }, { user }));
        const units = "org.freedesktop.systemd1.manage-units";
        ask("headway", units, "nginx.service", "restart");
        ask("headway", units, "nginx.service", "stop");
        ask("headway", units, "sshd.service", "restart");
        ask("other", units, "nginx.service", "restart");
        ask("headway", "org.freedesktop.login1.reboot");
        ask("headway", "org.freedesktop.login1.reboot-multiple-sessions");
        ask("headway", "org.freedesktop.login1.reboot-ignore-inhibit");
        ask("headway", "org.freedesktop.policykit.exec");
        ask("other", "org.freedesktop.login1.reboot");
    "#;
    let answers = |rule: &str| {
        let script = format!(
            "let asked; const polkit = {{ addRule: (rule) => {{ asked = rule; }}, \
             Result: {{ YES: 'yes', NOT_HANDLED: 'no' }} }}; {rule}\n{{ {asks} }}"
        );
        let output = Command::new(&node).args(["-e", &script]).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        let said = String::from_utf8_lossy(&output.stdout);
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(answers(&rule), "yes no no no no no no no no");
    let reboots = rule.replace("reboots = false", "reboots = true");
    assert_eq!(answers(&reboots), "yes no no no yes yes no no no");
}
