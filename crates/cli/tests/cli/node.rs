//! `headway node`: its words, its mistakes, a ring of real processes, and the worked
//! example of the operators' guide.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use headway_testkit::tools;

use crate::common::{headway, headway_in, headway_where};

fn path() -> std::path::PathBuf {
    assert_cmd::cargo::cargo_bin("headway")
}

#[test]
fn the_example_is_written_checked_and_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let ran = headway_in(folder.path(), "node init node.toml --key ring.key");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let check = "node check-config --config node.toml";
    let ran = headway_in(folder.path(), check);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in [
        "members               3",
        "true separation",
        "worst-case recovery",
        "turn of a token",
    ] {
        assert!(ran.out.contains(part), "{part} not in\n{}", ran.out);
    }
    let ran = headway_in(folder.path(), "node init node.toml");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cannot write node.toml"), "{}", ran.err);
    let ran = headway("node init");
    assert!(ran.out.contains("[[ring.members]]"));
}

#[test]
fn mistakes_are_shown_with_file_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        headway_in(folder.path(), "node init node.toml --key ring.key").code,
        0
    );
    let path = folder.path().join("node.toml");
    let good = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, good.replace("tokens = 1", "tokens = 9")).unwrap();
    let ran = headway_in(folder.path(), "node check-config --config node.toml");
    assert_eq!(ran.code, 2);
    let line = good.lines().position(|line| line == "tokens = 1").unwrap() + 1;
    let expected =
        format!("error: node.toml:{line}:10: ring.tokens: 9 tokens 1 hop apart need 10 nodes");
    assert!(ran.err.contains(&expected), "{}", ran.err);
    assert!(
        ran.err.contains("tokens = 9\n"),
        "the line is shown: {}",
        ran.err
    );
    std::fs::write(&path, good).unwrap();
    let check = "node check-config --config node.toml";
    let ran = headway_where(folder.path(), ("HEADWAY_TIMING_TICK", "soon"), check);
    let expected = "HEADWAY_TIMING_TICK: timing.tick: expected a length of time";
    assert!(ran.err.contains(expected), "{}", ran.err);
    std::fs::set_permissions(
        folder.path().join("ring.key"),
        std::os::unix::fs::PermissionsExt::from_mode(0o644),
    )
    .unwrap();
    let check = "node check-config --config node.toml";
    let ran = headway_in(folder.path(), check);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("chmod 600"), "{}", ran.err);
    let ran = headway("node");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("headway node init"), "{}", ran.err);
    let ran = headway("node status --socket /nowhere/node.sock");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("is the node running"), "{}", ran.err);
}

#[test]
fn every_machine_makes_its_own_key_and_members_are_listed_with_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| headway_in(folder.path(), arguments);
    let key = |file: &str| {
        let ran = run(&format!("node identity {file}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
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
    assert_eq!(run(&init).code, 0);
    let check = |identity: &str| {
        let variable = ("HEADWAY_NODE_IDENTITY_FILE", identity);
        let check = "node check-config --config node.toml";
        headway_where(folder.path(), variable, check)
    };
    let ran = check("a.identity");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in ["members               2", "a pair for each member"] {
        assert!(ran.out.contains(part), "{part} not in\n{}", ran.out);
    }
    let ran = check("b.identity");
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("ring.members: a has the key hw1"),
        "{}",
        ran.err
    );
    let ran = check("none.identity");
    assert!(
        ran.err.contains("headway node identity none.identity"),
        "{}",
        ran.err
    );
    // The example as it is says what to fill in.
    assert_eq!(run("node init example.toml").code, 0);
    let ran = run("node check-config --config example.toml");
    assert_eq!(ran.code, 2);
    assert!(
        ran.err
            .contains("is no node's key: expected what `headway node identity` prints"),
        "{}",
        ran.err
    );
    let ran = run("node init other.toml --member a=127.0.0.1:7400");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("expected NAME=ADDRESS=KEY"), "{}", ran.err);
    let ran = run("node identity --operator operator.key");
    assert!(ran.code == 0 && ran.out.starts_with("hwo1"), "{}", ran.err);
    let same = run("node identity --operator operator.key");
    assert_eq!(same.out, ran.out);
}

/// Kills the nodes of a test, whatever becomes of it.
struct Nodes(Vec<Child>);

impl Drop for Nodes {
    fn drop(&mut self) {
        for node in &mut self.0 {
            let _ = node.kill();
            let _ = node.wait();
        }
    }
}

#[test]
fn three_processes_form_a_ring_and_change_it() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        headway_in(folder.path(), "node init example.toml --key ring.key").code,
        0
    );
    let address = |at: usize| format!("127.{}.99.{}:7400", 1 + std::process::id() % 250, at + 1);
    let mut nodes = Nodes(Vec::new());
    for at in 0..4 {
        let mut command = Command::new(path());
        // Everything by variables, nothing by file.
        command.current_dir(folder.path()).arg("node");
        let members: Vec<String> = (0..3).map(|at| format!("n{at}={}", address(at))).collect();
        let (listen, members) = (address(at), members.join(","));
        let seed = address(0);
        let (name, state, socket) = (
            format!("n{at}"),
            format!("state-{at}"),
            format!("{at}.sock"),
        );
        for (variable, value) in [
            ("HEADWAY_NODE_NAME", &*name),
            ("HEADWAY_NODE_LISTEN", &listen),
            ("HEADWAY_NODE_ADVERTISE", &listen),
            ("HEADWAY_NODE_STATE_DIR", &state),
            ("HEADWAY_RING_NAME", "variables"),
            ("HEADWAY_RING_KEY_FILE", "ring.key"),
            ("HEADWAY_TIMING_TICK", "2ms"),
            ("HEADWAY_API_SOCKET", &socket),
            if at < 3 {
                ("HEADWAY_RING_MEMBERS", &members)
            } else {
                ("HEADWAY_RING_SEEDS", &seed)
            },
        ] {
            command.env(variable, value);
        }
        let log = std::fs::File::create(folder.path().join(format!("{at}.log"))).unwrap();
        nodes
            .0
            .push(command.stderr(log).stdout(Stdio::null()).spawn().unwrap());
    }
    let until = |what: &str, command: &str, text: &str| {
        let began = Instant::now();
        loop {
            let ran = headway_in(folder.path(), command);
            if ran.code == 0 && ran.out.contains(text) {
                return;
            }
            assert!(
                began.elapsed() < Duration::from_secs(120),
                "{what}: {}{}",
                ran.out,
                ran.err
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    until(
        "settled",
        "node status --format json --socket 0.sock",
        "\"members\": 3",
    );
    let add = format!("node add n3 {} --socket 1.sock", address(3));
    if !cfg!(feature = "keepers") {
        // Nothing is decided, and that is what is said.
        let ran = headway_in(folder.path(), &add);
        assert_eq!(ran.code, 1, "{}", ran.out);
        assert!(ran.err.contains("too few keepers"), "{}", ran.err);
        assert!(ran.err.contains("--features keepers"), "{}", ran.err);
        let ran = headway_in(folder.path(), "node list --socket 2.sock");
        assert!(
            ran.out.starts_with("roster 1 of ring variables"),
            "{}",
            ran.out
        );
        return;
    }
    until("added", &add, "roster 2: n3 is added");
    until(
        "four",
        "node status --format json --socket 3.sock",
        "\"members\": 4",
    );
    until(
        "removed",
        "node remove n1 --socket 3.sock",
        "roster 3: n1 is removed",
    );
    until(
        "three again",
        "node status --format json --socket 0.sock",
        "\"members\": 3",
    );
    let ran = headway_in(folder.path(), "node list --socket 2.sock");
    assert!(
        ran.out.starts_with("roster 3 of ring variables"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("n1"), "{}", ran.out);
    let ran = headway_in(folder.path(), "node remove n1 --socket 0.sock");
    assert_eq!(
        (ran.code, ran.err.contains("no member `n1`")),
        (2, true),
        "{}",
        ran.err
    );
    let ran = headway_in(folder.path(), "node ask --socket 0.sock");
    assert!(ran.err.contains("there is no command"), "{}", ran.err);
    // A removed keeper has its vote until the log goes on without it, and then ends.
    let began = Instant::now();
    let keeps = |state: &str| {
        let mut kept = std::fs::read_dir(folder.path().join(state)).unwrap();
        kept.any(|entry| {
            let name = entry.unwrap().file_name();
            name.to_string_lossy().starts_with("log-")
        })
    };
    while keeps("state-1") {
        assert!(began.elapsed() < Duration::from_secs(120), "n1 keeps a log");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(keeps("state-0"));
    // Two of three keepers are gone: nobody knows what will become of it.
    for node in &mut nodes.0[2..] {
        let _ = node.kill();
    }
    let ran = headway_in(folder.path(), "node remove n2 --socket 0.sock");
    assert_eq!((ran.code, &*ran.out), (1, ""), "{}", ran.err);
    assert!(
        ran.err.starts_with("not decided: too few keepers") && ran.err.contains("not known"),
        "{}",
        ran.err
    );
}

#[test]
fn the_worked_example_loses_nothing_with_headway() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let python = tools::program(&["python3"], "python3");
    let redis = tools::program(&["redis-server"], "redis-server");
    if let Err(why) = python.and(redis) {
        return tools::skip("the_worked_example_loses_nothing_with_headway", &why);
    }
    // Below the ports that connections are given.
    let port = 20_000 + (std::process::id() % 12_000);
    let output = Command::new("python3")
        .arg(format!("{root}/docs/operators/rolling-restart.py"))
        .args(["--down", "0.2", "--port", &port.to_string(), "--headway"])
        .arg(path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(text.lines().count(), 6, "{text}");
}

/// A script of `packaging` that tries something, and prints so many lines that begin with `ok`.
fn tried(test: &str, script: &str, fine: usize) {
    let script = format!("{}/../../packaging/{script}", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("bash")
        .arg(script)
        .arg(path())
        .output()
        .unwrap();
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
fn the_unit_works_under_a_real_systemd() {
    tried("the_unit_works_under_a_real_systemd", "try-unit", 7);
}

#[test]
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
    let rule = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../packaging/50-headway.rules"
    );
    let rule = std::fs::read_to_string(rule).unwrap();
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
