//! Commands under permits, with nodes that are real processes, and the demonstration.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Ran, headway_in, run};

pub(crate) fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin("headway")
}

/// Three nodes, killed at the end whatever becomes of the test.
pub(crate) struct Ring {
    pub(crate) folder: tempfile::TempDir,
    nodes: Vec<Option<Child>>,
}

impl Drop for Ring {
    fn drop(&mut self) {
        for at in 0..self.nodes.len() {
            self.kill(at);
        }
    }
}

impl Ring {
    /// `test` is a number of its own; `more` goes into every file.
    pub(crate) fn start(test: u8, more: &str) -> Ring {
        let folder = tempfile::tempdir().unwrap();
        let init = headway_in(folder.path(), "node init example.toml --key ring.key");
        assert_eq!(init.code, 0, "{}", init.err);
        let net = format!("127.{}.{test}", 1 + std::process::id() % 250);
        let members: String = (0..3)
            .map(|at| {
                format!(
                    "[[ring.members]]\nname = \"n{at}\"\naddress = \"{net}.{}:7400\"\n",
                    at + 1
                )
            })
            .collect();
        for at in 0..3 {
            let text = format!(
                "[node]\nname = \"n{at}\"\nlisten = \"{net}.{0}:7400\"\nstate_dir = \"{at}\"\n\
                 [timing]\ntick = \"2ms\"\nrefresh = \"20ms\"\n{more}\n\
                 [api]\nsocket = \"{at}.sock\"\nhttp = \"{net}.{0}:7480\"\n\
                 [ring]\nname = \"test\"\nkey_file = \"ring.key\"\n{members}",
                at + 1
            );
            std::fs::write(folder.path().join(format!("{at}.toml")), text).unwrap();
        }
        let mut ring = Ring {
            folder,
            nodes: vec![None, None, None],
        };
        for at in 0..3 {
            ring.start_node(at);
        }
        ring.until("node status --socket 0.sock", 0, "settled");
        ring
    }

    /// So many nodes with keys of their own, and an operator whose key is in `operator.key`.
    pub(crate) fn with_keys(test: u8, nodes: usize) -> Ring {
        let folder = tempfile::tempdir().unwrap();
        let net = format!("127.{}.{test}", 1 + std::process::id() % 250);
        let key = |file: &str| {
            let ran = headway_in(folder.path(), &format!("node identity {file}"));
            assert_eq!(ran.code, 0, "{}", ran.err);
            ran.out.trim().to_owned()
        };
        let operator = key("--operator operator.key");
        let member = |at: usize| {
            let (key, place) = (key(&format!("{at}.identity")), at + 1);
            format!(
                "[[ring.members]]\nname = \"n{at}\"\naddress = \"{net}.{place}:7400\"\n\
                 key = \"{key}\"\n"
            )
        };
        let members: String = (0..nodes).map(member).collect();
        for at in 0..nodes {
            let text = format!(
                "[node]\nname = \"n{at}\"\nlisten = \"{net}.{0}:7400\"\nstate_dir = \"{at}\"\n\
                 identity_file = \"{at}.identity\"\n\
                 [timing]\ntick = \"2ms\"\nrefresh = \"20ms\"\ndwell_most = \"1s\"\n\
                 grace = \"500ms\"\n[api]\nsocket = \"{at}.sock\"\n\
                 [ring]\nname = \"test\"\noperator_key = \"{operator}\"\n{members}",
                at + 1
            );
            std::fs::write(folder.path().join(format!("{at}.toml")), text).unwrap();
        }
        let mut ring = Ring {
            folder,
            nodes: (0..nodes).map(|_| None).collect(),
        };
        for at in 0..nodes {
            ring.start_node(at);
        }
        ring.until("node status --socket 0.sock", 0, "settled");
        ring
    }

    /// Starts one more, which asks the first for the roster.
    pub(crate) fn start_another(&mut self) {
        let at = self.nodes.len();
        let file = |at: usize| self.folder.path().join(format!("{at}.toml"));
        let text = std::fs::read_to_string(file(0)).unwrap();
        let (text, _) = text.split_once("[[ring.members]]").unwrap();
        let own = |line: &str| {
            let line = line.replace(".1:74", &format!(".{}:74", at + 1));
            match line.split_once(" = ") {
                Some(("name", "\"n0\"")) => format!("name = \"n{at}\"\n"),
                Some(("state_dir", _)) => format!("state_dir = \"{at}\"\n"),
                Some(("socket", _)) => format!("socket = \"{at}.sock\"\n"),
                Some(("listen", address)) => {
                    format!("{line}\nadvertise = {address}\n")
                }
                _ => format!("{line}\n"),
            }
        };
        let own: String = text.lines().map(own).collect();
        let members = std::fs::read_to_string(file(0)).unwrap();
        let seed = members
            .lines()
            .find_map(|line| line.strip_prefix("address = "));
        std::fs::write(file(at), format!("{own}seeds = [{}]\n", seed.unwrap())).unwrap();
        self.nodes.push(None);
        self.start_node(at);
        let socket = format!("node status --socket {at}.sock");
        self.until(&socket, 1, "is outside");
    }

    pub(crate) fn start_node(&mut self, at: usize) {
        let log = std::fs::File::options()
            .append(true)
            .create(true)
            .open(self.folder.path().join(format!("{at}.log")));
        let node = Command::new(program())
            .current_dir(self.folder.path())
            .args(["node", "--config", &format!("{at}.toml")])
            .stderr(log.unwrap())
            .stdout(Stdio::null())
            .spawn();
        self.nodes[at] = Some(node.unwrap());
    }

    pub(crate) fn kill(&mut self, at: usize) {
        if let Some(mut node) = self.nodes[at].take() {
            let _ = node.kill();
            let _ = node.wait();
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn headway(&self, arguments: &str) -> Ran {
        headway_in(self.path(), arguments)
    }

    /// Repeats a command until it ends so and says that.
    pub(crate) fn until(&self, arguments: &str, code: i32, text: &str) -> Ran {
        let began = Instant::now();
        loop {
            let ran = self.headway(arguments);
            if ran.code == code && (ran.out.contains(text) || ran.err.contains(text)) {
                return ran;
            }
            assert!(
                began.elapsed() < Duration::from_secs(120),
                "{arguments}: exit code {}\n{}{}",
                ran.code,
                ran.out,
                ran.err
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_command_runs_under_a_permit_and_its_exit_code_is_the_answer() {
    let ring = Ring::start(110, "dwell_most = \"5s\"\ngrace = \"1s\"");
    let folder = ring.path();
    let shell = |socket: &str, script: &str| {
        run(
            folder,
            &["node", "run", "--socket", socket, "--", "sh", "-c", script],
        )
    };
    let ran = shell("0.sock", "echo $HEADWAY_TOKEN $HEADWAY_FENCE; exit 7");
    assert_eq!((ran.code, &*ran.err), (7, ""), "{}", ran.out);
    let words: Vec<&str> = ran.out.split_whitespace().collect();
    assert_eq!((words.len(), words[0]), (2, "0"), "{}", ran.out);
    // Released although it failed: the next gets it, with a larger number.
    let next = shell("1.sock", "echo $HEADWAY_FENCE");
    let number = |text: &str| text.trim().parse::<u64>().unwrap();
    assert!(number(&next.out) > number(words[1]), "{}", next.out);
    // A permit is kept while the command lives, and the one who waits in vain says so.
    let mut holder = Command::new(program())
        .current_dir(folder)
        .args(["node", "run", "--socket", "0.sock", "--"])
        .args([
            "sh",
            "-c",
            "trap 'echo told; exit 3' USR1; touch has; while :; do sleep 0.05; done",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    while !folder.join("has").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let ran = ring.headway("node run --socket 1.sock --within 300ms -- touch never");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("no permit came in time") && !folder.join("never").exists());
    // Signals are passed on.
    let pid = holder.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-USR1", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(holder.wait().unwrap().code(), Some(3));
    let ran = ring.headway("node run --socket 1.sock -- true");
    assert_eq!(ran.code, 0, "{}", ran.err);
    // What runs for too long is ended, before others get the permit.
    let ran = shell("2.sock", "trap '' TERM; while :; do sleep 0.05; done");
    assert_eq!(ran.code, 128 + 9, "{}", ran.err);
    assert!(ran.err.contains("the permit is over"), "{}", ran.err);
    let ran = ring.headway("node run --socket 0.sock -- no-such-program");
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("cannot run no-such-program"),
        "{}",
        ran.err
    );
    let ran = ring.headway("node run --socket 0.sock");
    assert_eq!(ran.code, 2, "{}", ran.out);
    let ran = ring.headway("node run --socket none.sock -- true");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("is the node running"), "{}", ran.err);
}

#[test]
fn an_asked_command_is_waited_for_and_outlives_a_restart() {
    let hook = "[hook]\ncommand = [\"sh\", \"-c\", \"echo x >>DIR/ran; test ! -e DIR/fails\"]";
    let folder = tempfile::tempdir().unwrap();
    let hook = hook.replace("DIR", &folder.path().display().to_string());
    let mut ring = Ring::start(111, &hook);
    let runs = || {
        let text = std::fs::read_to_string(folder.path().join("ran"));
        text.unwrap_or_default().lines().count()
    };
    // Nothing runs unless it was asked for.
    assert_eq!(runs(), 0);
    let ran = ring.headway("node ask --wait --socket 0.sock");
    assert_eq!(
        (ran.code, &*ran.out),
        (0, "the command has succeeded\n"),
        "{}",
        ran.err
    );
    assert_eq!(runs(), 1);
    std::fs::write(folder.path().join("fails"), "").unwrap();
    let ran = ring.headway("node ask --wait --socket 0.sock");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert_eq!(runs(), 2);
    // While nobody can have a permit, it is asked for; the node is killed and comes back.
    ring.kill(1);
    ring.until("node status --socket 0.sock", 1, "n1 is silent");
    assert_eq!(ring.headway("node ask --socket 0.sock").code, 0);
    assert_eq!(ring.headway("node ask --socket 2.sock").code, 0);
    ring.kill(0);
    ring.start_node(0);
    ring.start_node(1);
    let began = Instant::now();
    while runs() < 4 {
        assert!(
            began.elapsed() < Duration::from_secs(120),
            "{} runs",
            runs()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_demonstration_shows_a_death_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(program())
        .args([
            "fleet",
            "demo",
            "--for",
            "14s",
            "--kill-after",
            "1s",
            "--serve",
        ])
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for part in [
        "5 nodes on 127.0.0.1",
        "the fleet view is at http://127.0.0.1:",
        "a is settled",
        "kill -9 c",
        "c is silent:",
        "c is started again",
        "hears c again",
        "never two at a time",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    // After it is back, all work again.
    let (_, after) = text.split_once("c is started again").unwrap();
    for name in ["a", "b", "c", "d", "e"] {
        assert!(after.contains(&format!("{name} works")), "{name}:\n{text}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(left(folder.path()), 0, "processes are left");
}

#[test]
fn the_demonstration_ends_in_good_order_by_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Command::new(program())
        .args(["fleet", "demo"])
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while left(folder.path()) < 5 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = demo.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(demo.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(left(folder.path()), 0, "processes are left");
}

/// Nodes that were started with a file of this folder.
fn left(folder: &Path) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
    let folder = folder.display().to_string();
    lines
        .filter(|line| line.contains("--config") && line.contains(&folder))
        .count()
}

#[test]
fn a_roll_out_of_real_processes_survives_a_kill_and_stops_at_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("upgrade");
    let text = format!(
        "#!/bin/sh\ncd {0}\necho $HEADWAY_NODE $HEADWAY_STEP $HEADWAY_ATTEMPT >>ran\n\
         test ! -e fails-$HEADWAY_NODE || exit 3\nsleep 0.3\n",
        folder.path().display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = script.display();
    let mut ring = Ring::start(112, &format!("[rollout]\nallow = [\"{script}\", \"true\"]"));
    let ran = ring.headway("rollout status --socket 0.sock");
    assert_eq!(
        (ran.code, ran.err.contains("there is no roll-out")),
        (2, true),
        "{}",
        ran.err
    );
    let ran = ring.headway("rollout start web --socket 0.sock -- rm -rf x");
    assert_eq!(
        (ran.code, ran.err.contains("rollout.allow")),
        (2, true),
        "{}",
        ran.err
    );
    let dry = format!("rollout start web --dry-run --canary n1 --socket 0.sock -- {script}");
    let ran = ring.headway(&dry);
    assert!(
        ran.out.contains("would run on 3 members, 1 at a time"),
        "{}{}",
        ran.out,
        ran.err
    );
    std::fs::write(folder.path().join("fails-n2"), "").unwrap();
    let start = format!(
        "rollout start web --canary n1 --settle 100ms --healthy true --socket 0.sock -- {script}"
    );
    assert_eq!(ring.headway(&start).code, 0);
    // Any node answers; the exit code agrees, and so does everybody's alarm.
    let ran = ring.headway("rollout status --watch --socket 1.sock");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("web is failed") && ran.out.contains("1 failed"),
        "{}",
        ran.out
    );
    ring.until(
        "node status --socket 1.sock",
        0,
        "roll-out web has stopped: n2: exit code 3",
    );
    let ran = ring.headway("rollout log --socket 2.sock");
    assert!(ran.out.contains("n0 started roll-out web"), "{}", ran.out);
    assert!(
        ran.out.contains("n2: failed after") && ran.out.contains("exit code 3"),
        "{}",
        ran.out
    );
    // Mended; in the middle of its second try the node is killed, and runs it a third time.
    std::fs::remove_file(folder.path().join("fails-n2")).unwrap();
    let lines = || -> Vec<String> {
        let text = std::fs::read_to_string(folder.path().join("ran"));
        text.unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    };
    let tries = || {
        lines()
            .iter()
            .filter(|line| line.starts_with("n2 "))
            .count()
    };
    let ran = ring.headway("rollout resume web --socket 0.sock");
    assert_eq!(
        (ran.code, ran.err.contains("--retry")),
        (2, true),
        "{}",
        ran.err
    );
    assert_eq!(
        ring.headway("rollout resume web --retry --socket 0.sock")
            .code,
        0
    );
    let began = Instant::now();
    while tries() < 2 {
        assert!(began.elapsed() < Duration::from_secs(120), "{:?}", lines());
        std::thread::sleep(Duration::from_millis(5));
    }
    ring.kill(2);
    ring.start_node(2);
    let ran = ring.until(
        "rollout status --socket 1.sock --format json",
        0,
        "\"complete\"",
    );
    let status = ran.json();
    assert_eq!(
        (&status["done"], &status["failed"]),
        (&3.into(), &0.into()),
        "{status}"
    );
    let steps: Vec<String> = lines().iter().map(|line| line.replace(' ', "-")).collect();
    let of_n2: Vec<Vec<&str>> = steps
        .iter()
        .filter(|line| line.starts_with("n2-"))
        .map(|line| line.split('-').collect())
        .collect();
    assert_eq!(of_n2.len(), 3, "{steps:?}");
    assert!(
        of_n2.iter().all(|line| line[1] == of_n2[0][1]),
        "one number: {steps:?}"
    );
    assert_eq!(
        [of_n2[0][2], of_n2[1][2], of_n2[2][2]],
        ["0", "1", "2"],
        "{steps:?}"
    );
    assert!(
        lines()[0].starts_with("n1 "),
        "the canary first: {:?}",
        lines()
    );
    let ran = ring.headway("rollout abort web --socket 2.sock");
    assert!(ran.out.contains("web is aborted"), "{}{}", ran.out, ran.err);
}

#[test]
fn tokens_change_by_a_command_and_with_the_members() {
    let ring = Ring::start(121, "");
    let set = |flags: &str| ring.headway(&format!("node set --socket 1.sock {flags}"));
    let ran = set("");
    assert_eq!(ran.code, 2, "{}", ran.out);
    let ran = set("--tick 1500us");
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(
        ran.err
            .contains("--tick 1.5ms: expected whole milliseconds"),
        "{}",
        ran.err
    );
    let ran = set("--tokens 3");
    assert_eq!(ran.code, 2, "{}", ran.out);
    let refused =
        "3 tokens 1 hop apart need 4 nodes, one of slack, and there are 3: take at most 2";
    assert!(ran.err.contains(refused), "{}", ran.err);
    let ran = set("--tokens 2 --grace 20s");
    if !cfg!(feature = "keepers") {
        assert_eq!((ran.code, &*ran.out), (1, ""));
        assert!(ran.err.contains("too few keepers"), "{}", ran.err);
        return;
    }
    let said = "roster 2: 2 tokens, at least 1 hop apart in real time\n";
    assert_eq!((ran.code, &*ran.out), (0, said), "{}", ran.err);
    let ran = ring.until("node status --socket 0.sock", 0, "roster 2, place 0 of 3");
    for text in [
        "asked for   2 tokens, at least 1 hop apart",
        "room for    2 tokens; with a member less, fewer travel",
        "and 20s of grace",
        "file says   ring.tokens = 1, not 2\n            timing.grace = 10000ms, not 20000ms\n",
    ] {
        assert!(ran.out.contains(text), "{text} in\n{}", ran.out);
    }
    let ran = ring.headway("node remove n2 --socket 0.sock");
    let said = "roster 3: n2 is removed\n\
         1 token from now on, because 2 that are 1 hop apart need 3 members, and there are 2; 2 \
         again as soon as they fit\n";
    assert_eq!((ran.code, &*ran.out), (0, said), "{}", ran.err);
    let fewer = "in force    1 token: no more fit on 2 members; 2 again as soon as they do";
    ring.until("node status --socket 1.sock", 0, fewer);
}
