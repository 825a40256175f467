//! Real nodes: permits for commands, members, terms, keys, rollouts and the demonstration, as
//! far as the program itself has a part in it. crates/service/tests has the rest.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Ran, folder, has, headway, headway_in, network, program, refused, run, until};

/// Nodes with keys of their own, killed at the end whatever becomes of the test. The operator's
/// key is in `operator.key`.
pub(crate) struct Ring {
    folder: tempfile::TempDir,
    /// The last number of its first address; the operators' guide has those before 11.
    first: usize,
    nodes: Vec<Option<Child>>,
}

/// Permits that no command outlives, however busy the machine is.
pub(crate) const LONG: &str = "max_hold = \"2m\"\n";

impl Drop for Ring {
    fn drop(&mut self) {
        for at in 0..self.nodes.len() {
            self.kill(at);
        }
    }
}

impl Ring {
    /// So many nodes, which do not run yet.
    pub(crate) fn new(nodes: usize) -> Ring {
        static RINGS: AtomicUsize = AtomicUsize::new(0);
        Ring {
            folder: folder(),
            first: 11 + 8 * RINGS.fetch_add(1, Ordering::Relaxed),
            nodes: (0..nodes).map(|_| None).collect(),
        }
    }

    /// So many nodes, which have settled; `more` goes into every file, beginning with `timing`.
    pub(crate) fn settled(nodes: usize, more: &str) -> Ring {
        let mut ring = Ring::new(nodes);
        let operator = ring.key("--recovery-key operator.key");
        let members: String = (0..nodes)
            .map(|at| {
                let (key, address) = (ring.key(&format!("{at}.identity")), ring.address(at));
                format!(
                    "[[ring.members]]\nname = \"n{at}\"\naddress = \"{address}\"\nkey = \"{key}\"\n"
                )
            })
            .collect();
        for at in 0..nodes {
            let text = format!(
                "[node]\nname = \"n{at}\"\nlisten = \"{}\"\nstate_dir = \"{at}\"\n\
                 identity_file = \"{at}.identity\"\n[timing]\ntick = \"2ms\"\nrefresh = \"20ms\"\n\
                 {more}\n[api]\nsocket = \"{at}.sock\"\nhttp = \"{}\"\n\
                 [ring]\nname = \"test\"\nrecovery_key = \"{operator}\"\n{members}",
                ring.address(at),
                ring.http(at)
            );
            std::fs::write(ring.path().join(format!("{at}.toml")), text).unwrap();
        }
        for at in 0..nodes {
            ring.start_node(at);
        }
        ring.until("node status --socket 0.sock", 0, "settled");
        ring
    }

    pub(crate) fn key(&self, file: &str) -> String {
        let ran = self.headway(&format!("node identity {file}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.trim().to_owned()
    }

    pub(crate) fn address(&self, at: usize) -> String {
        format!("{}.{}:7400", network(), self.first + at)
    }

    pub(crate) fn http(&self, at: usize) -> String {
        format!("{}.{}:7480", network(), self.first + at)
    }

    /// So many members, which have settled, and so many nodes that wait to be added: everything by
    /// variables, nothing by file.
    pub(crate) fn by_variables(members: usize, others: usize) -> Ring {
        let mut ring = Ring::new(members + others);
        let keys = (0..members).map(|at| ring.key(&format!("{at}.identity")));
        let list = keys.enumerate();
        let list = list.map(|(at, key)| format!("n{at}={}={key}", ring.address(at)));
        let list = list.collect::<Vec<_>>().join(",");
        for at in 0..members + others {
            let (name, state, socket) = (format!("n{at}"), format!("{at}"), format!("{at}.sock"));
            let (listen, identity) = (ring.address(at), format!("{at}.identity"));
            let variables = [
                ("NODE_NAME", &*name),
                ("NODE_LISTEN", &listen),
                ("NODE_ADVERTISE", &listen),
                ("NODE_STATE_DIR", &state),
                ("RING_NAME", "variables"),
                ("NODE_IDENTITY_FILE", &identity),
                ("TIMING_TICK", "2ms"),
                ("API_SOCKET", &socket),
                ("RING_MEMBERS", &list),
            ];
            ring.start_by(at, &[], &variables);
        }
        ring.until("node status --socket 0.sock", 0, "settled");
        ring
    }

    fn start_node(&mut self, at: usize) {
        self.start_by(at, &["--config", &format!("{at}.toml")], &[]);
    }

    pub(crate) fn start_by(&mut self, at: usize, flags: &[&str], variables: &[(&str, &str)]) {
        let log = self.path().join(format!("{at}.log"));
        let log = std::fs::File::options().append(true).create(true).open(log);
        let mut command = Command::new(program());
        command.current_dir(self.path()).arg("node").args(flags);
        for (name, value) in variables {
            command.env(format!("HEADWAY_{name}"), value);
        }
        command.stdout(Stdio::null()).stderr(log.unwrap());
        self.nodes[at] = Some(command.spawn().unwrap());
    }

    fn kill(&mut self, at: usize) {
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
        until(|| {
            let ran = self.headway(arguments);
            let said = ran.out.contains(text) || ran.err.contains(text);
            match ran.code == code && said {
                true => Ok(ran),
                false => Err(format!(
                    "{arguments}: no `{text}`, exit code {}\n{}{}",
                    ran.code, ran.out, ran.err
                )),
            }
        })
    }

    /// A command that ends so and prints just that.
    fn says(&self, arguments: &str, code: i32, text: &str) {
        let ran = self.headway(arguments);
        assert_eq!(
            (ran.code, &*ran.out),
            (code, text),
            "{arguments}: {}",
            ran.err
        );
    }
}

#[test]
fn a_command_runs_under_a_permit_and_its_exit_code_is_the_answer() {
    let ring = Ring::settled(3, LONG);
    let shell = |socket: &str, script: &str| {
        let arguments = ["node", "run", "--socket", socket, "--", "sh", "-c", script];
        run(ring.path(), &arguments)
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
    let script = "trap 'echo told; exit 3' USR1; echo has; while :; do sleep 0.05; done";
    let mut holder = Command::new(program())
        .current_dir(ring.path())
        .args(["node", "run", "--socket", "0.sock", "--"])
        .args(["sh", "-c", script])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "has");
    let ran = ring.headway("node run --socket 1.sock --within 300ms -- touch never");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("no permit came in time") && !ring.path().join("never").exists());
    // Signals are passed on.
    let pid = holder.id().to_string();
    let sent = Command::new("kill").args(["-USR1", &pid]).status();
    assert!(sent.unwrap().success());
    assert_eq!(lines.next().unwrap().unwrap(), "told");
    assert_eq!(holder.wait().unwrap().code(), Some(3));
    ring.says("node run --socket 1.sock -- true", 0, "");
    refused(
        ring.path(),
        &[
            (
                "node run --socket 0.sock -- no-such-program",
                "cannot run no-such-program",
            ),
            ("node run --socket 0.sock", "<COMMAND>"),
            ("node run --socket none.sock -- true", "is the node running"),
        ],
    );
    // What runs for too long is ended, before others get the permit.
    let short = "node set --socket 0.sock --max-hold 2s --stop-timeout 500ms";
    assert_eq!(ring.headway(short).code, 0);
    ring.until("node status --socket 2.sock", 0, "hold 0ms to 2s");
    let ran = shell("2.sock", "trap '' TERM; while :; do sleep 0.05; done");
    assert_eq!(ran.code, 128 + 9, "{}", ran.err);
    assert!(ran.err.contains("the permit is over"), "{}", ran.err);
}

#[test]
fn an_asked_command_is_waited_for_and_outlives_a_restart() {
    let folder = folder();
    let script = format!(
        "cd {}; echo x >>ran; test ! -e fails",
        folder.path().display()
    );
    let hook = format!("{LONG}[command]\nrun = [\"sh\", \"-c\", \"{script}\"]");
    let mut ring = Ring::settled(3, &hook);
    let runs = || {
        let text = std::fs::read_to_string(folder.path().join("ran"));
        text.unwrap_or_default().lines().count()
    };
    // Nothing runs unless it was asked for.
    assert_eq!(runs(), 0);
    let wait = "node request --wait --socket 0.sock";
    ring.says(wait, 0, "the command has succeeded\n");
    assert_eq!(runs(), 1);
    std::fs::write(folder.path().join("fails"), "").unwrap();
    let ran = ring.headway(wait);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert_eq!(runs(), 2);
    // While nobody can have a permit, it is asked for; the node is killed and comes back.
    ring.kill(1);
    ring.until("node status --socket 0.sock", 1, "n1 is silent");
    assert_eq!(ring.headway("node request --socket 0.sock").code, 0);
    assert_eq!(ring.headway("node request --socket 2.sock").code, 0);
    ring.kill(0);
    ring.start_node(0);
    ring.start_node(1);
    until(|| match runs() {
        4 => Ok(()),
        runs => Err(format!("{runs} runs")),
    });
}

#[test]
fn the_demonstration_shows_a_death_and_leaves_nothing_after_ctrl_c() {
    let folder = folder();
    let mut demo = Command::new(program())
        .args(["fleet", "demo", "--for", "3m", "--kill-after", "1ms"])
        .arg("--serve")
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap());
    // The others go on without it, and after it is back all work again.
    let works = |text: &str, name: &str| {
        let (_, after) = text.split_once("c is started again")?;
        after.contains(&format!("{name} works")).then_some(())
    };
    let mut text = String::new();
    while ["a", "b", "c", "d", "e"]
        .iter()
        .any(|name| works(&text, name).is_none())
    {
        assert!(lines.read_line(&mut text).unwrap() > 0, "{text}");
    }
    assert_eq!(left(folder.path()), 5);
    let pid = demo.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.unwrap().success());
    lines.read_to_string(&mut text).unwrap();
    assert_eq!(demo.wait().unwrap().code(), Some(130));
    for part in [
        "5 nodes on 127.0.0.1",
        "the fleet view is at http://127.0.0.1:",
        "a is settled",
        "kill -9 c",
        "c is silent:",
        "the ring goes on without c",
        "all are on the ring again",
        "never two at a time",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(left(folder.path()), 0, "processes are left");
}

/// Exit code 0 where commands ran and none beside another; where the machine is too busy for one,
/// it takes longer.
#[test]
fn the_demonstration_ends_by_itself_and_judges_what_it_saw() {
    for seconds in [1, 5, 30] {
        let ran = headway(&format!("fleet demo --for {seconds}s"));
        let worked = ran.out.contains("works, fencing number");
        assert_eq!(ran.code, i32::from(!worked), "{}", ran.out);
        if worked {
            return has(
                &ran.out,
                &["never two at a time. Nodes, folders and processes are removed."],
            );
        }
    }
    panic!("no command ran");
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
fn a_rollout_of_real_processes_survives_a_kill_and_stops_at_a_failure() {
    let folder = folder();
    let script = folder.path().join("upgrade");
    let text = format!(
        "#!/bin/sh\ncd {0}\necho $HEADWAY_NODE $HEADWAY_STEP $HEADWAY_ATTEMPT >>ran\n\
         test ! -e fails-$HEADWAY_NODE || exit 3\nwhile test -e hangs-$HEADWAY_NODE; do sleep 0.02; done\n",
        folder.path().display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = script.display();
    let mut ring = Ring::settled(
        3,
        &format!("{LONG}[rollout]\nallow = [\"{script}\", \"true\"]"),
    );
    refused(
        ring.path(),
        &[
            ("rollout status --socket 0.sock", "no rollout yet"),
            (
                "rollout start web --socket 0.sock -- rm -rf x",
                "rollout.allow",
            ),
        ],
    );
    let dry = format!("rollout start web --dry-run --canary n1 --socket 0.sock -- {script}");
    ring.until(&dry, 0, "would run on 3 members, 1 at a time");
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
        "rollout web has stopped: n2: exit code 3",
    );
    let ran = ring.headway("rollout log --socket 2.sock");
    assert!(ran.out.contains("n0 started rollout web"), "{}", ran.out);
    assert!(
        ran.out.contains("n2: failed after") && ran.out.contains("exit code 3"),
        "{}",
        ran.out
    );
    // Mended; in the middle of its second try the node is killed, and runs it a third time.
    let (fails, hangs) = (
        folder.path().join("fails-n2"),
        folder.path().join("hangs-n2"),
    );
    std::fs::rename(fails, &hangs).unwrap();
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
    refused(
        ring.path(),
        &[("rollout resume web --socket 0.sock", "--retry")],
    );
    let resume = "rollout resume web --retry --socket 0.sock";
    assert_eq!(ring.headway(resume).code, 0);
    until(|| match tries() {
        2 => Ok(()),
        _ => Err(format!("{:?}", lines())),
    });
    ring.kill(2);
    std::fs::remove_file(hangs).unwrap();
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
fn three_processes_form_a_ring_and_change_it() {
    let mut ring = Ring::by_variables(3, 1);
    let status = |at: usize| format!("node status --format json --socket {at}.sock");
    ring.until(&status(0), 0, "\"members\": 3");
    let (address, key) = (ring.address(3), ring.key("3.identity"));
    let add = format!("node add n3 {address} --key {key} --socket 1.sock");
    ring.until(&add, 0, "membership 2: n3 is added");
    ring.until(&status(3), 0, "\"members\": 4");
    let remove = "node remove n1 --socket 3.sock";
    ring.until(remove, 0, "membership 3: n1 is removed");
    ring.until(&status(0), 0, "\"members\": 3");
    let ran = ring.headway("node list --socket 2.sock");
    assert!(
        ran.out.starts_with("membership 3 of ring variables"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("n1"), "{}", ran.out);
    let set = "node set --socket 2.sock";
    refused(
        ring.path(),
        &[
            ("node remove n1 --socket 0.sock", "no member `n1`"),
            ("node request --socket 0.sock", "there is no command"),
            (set, "error"),
            (
                &format!("{set} --tick 1500us"),
                "--tick 1.5ms: expected whole milliseconds",
            ),
            (
                &format!("{set} --tokens 3"),
                "3 tokens 1 hop apart need 4 nodes, one of slack, and there are 3: take at most 2",
            ),
        ],
    );
    let said = "membership 4: 2 tokens, at least 1 hop apart in real time\n";
    ring.says(&format!("{set} --tokens 2 --stop-timeout 20s"), 0, said);
    let ran = ring.until(
        "node status --socket 0.sock",
        0,
        "membership 4, place 0 of 3",
    );
    for text in [
        "configured  2 tokens, at least 1 hop apart",
        "room for    2 tokens; losing a member reduces capacity",
        "stop_timeout 20s",
        "file says   ring.tokens = 1, not 2\n            timing.stop_timeout = 10000ms, not 20000ms\n",
    ] {
        assert!(ran.out.contains(text), "{text} in\n{}", ran.out);
    }
    let said = "membership 5: n3 is removed\n\
         1 token from now on, because 2 that are 1 hop apart need 3 members, and there are 2; 2 \
         again as soon as they fit\n";
    ring.says("node remove n3 --socket 0.sock", 0, said);
    let fewer = "in force    1 token: no more fit on 2 members; 2 again as soon as they do";
    ring.until("node status --socket 2.sock", 0, fewer);
    // One of two voters is gone: nobody knows what will become of it.
    ring.kill(2);
    ring.kill(3);
    let ran = ring.headway("node set --tokens 1 --socket 0.sock");
    assert_eq!((ran.code, &*ran.out), (1, ""), "{}", ran.err);
    let open = ran.err.starts_with("not decided: too few voters") && ran.err.contains("not known");
    assert!(open, "{}", ran.err);
}

/// What the recovery key is for: another one in its place, and a recovered membership.
#[test]
fn the_operator_takes_another_key_and_begins_a_new_log() {
    let mut ring = Ring::settled(4, "max_hold = \"1s\"\nstop_timeout = \"500ms\"");
    for file in ["next.key", "other.key"] {
        ring.key(&format!("--recovery-key {file}"));
    }
    let rotate = "node rotate-key --socket 1.sock";
    let with = |old: &str, new: &str| format!("{rotate} --recovery-key {old} --new {new}");
    let recover = "node recover --socket 0.sock";
    let makes_one = "headway node identity --recovery-key FILE";
    let majority = "which is a majority: use `headway node remove` for each";
    let missing = with("missing.key", "next.key");
    let unsigned = "not signed with the key that is to be replaced";
    refused(
        ring.path(),
        &[
            (
                &format!("{rotate} --recovery-key operator.key"),
                "--new <FILE>",
            ),
            (&format!("{rotate} --new next.key"), "--recovery-key <FILE>"),
            (&missing, "cannot read the key file missing.key"),
            (&missing, makes_one),
            (&with("operator.key", "missing.key"), makes_one),
            (&with("operator.key", "0.toml"), "chmod 600 0.toml"),
            (&with("other.key", "next.key"), unsigned),
            (
                "node rotate-key --recovery-key next.key --new other.key --socket /nowhere/node.sock",
                "is the node running",
            ),
            (recover, majority),
            (&format!("{recover} --gone n3"), majority),
            (&format!("{recover} --gone n2,n9"), "no member `n9`"),
        ],
    );
    let said = "membership 2: the recovery key is another one\n";
    ring.says(&with("operator.key", "next.key"), 0, said);
    for at in 0..4 {
        let status = format!("node status --socket {at}.sock");
        ring.until(&status, 0, "membership 2, place");
    }
    // The old one is worth nothing.
    refused(
        ring.path(),
        &[(&with("operator.key", "other.key"), unsigned)],
    );
    for at in [2, 3] {
        ring.kill(at);
    }
    let gone = |operator: &str| format!("{recover} --gone n2,n3 --recovery-key {operator}");
    refused(
        ring.path(),
        &[
            (&gone("missing.key"), makes_one),
            (&gone("operator.key"), "not signed with the key"),
        ],
    );
    let said = "membership 1002: the members that are left decide from now on\n";
    ring.says(&gone("next.key"), 0, said);
    // Said once, on one node; the other believes it.
    for at in [0, 1] {
        let place = format!("membership 1002, place {at} of 2");
        ring.until(&format!("node status --socket {at}.sock"), 0, &place);
    }
    let ran = ring.headway("node list --socket 1.sock");
    let gone = !ran.out.contains("n2") && !ran.out.contains("n3");
    assert!(gone, "{}", ran.out);
}
