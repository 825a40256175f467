//! The command: its environment, its limits, its end.

use headway_service::internal::{Run, Store, Sync};
use nix::sys::signal::Signal;

use crate::harness::{Fleet, alive, lines};

/// A ring whose nodes run this shell script.
fn fleet(script: &str, more: &str) -> Fleet {
    let mut fleet = Fleet::new(&["a", "b"], 1, 1);
    let folder = fleet.folder.path().display().to_string();
    let script = script.replace("FOLDER", &folder);
    let when = if more.contains("when =") {
        ""
    } else {
        "when = \"every\"\n"
    };
    fleet.more += &format!("[command]\nrun = [\"/bin/sh\", \"-c\", {script:?}]\n{when}{more}\n");
    fleet
}

/// Nothing of the node's own environment; what it says and how it ends is in the log.
#[test]
fn its_environment_is_its_own() {
    let mut fleet = fleet(
        "env | sort >> FOLDER/env; echo to the log; echo worse >&2; [ $HEADWAY_NODE = a ] || exit 7",
        "environment = { COLOUR = \"blue\" }",
    );
    fleet.start_all();
    fleet.settle();
    let env = |fleet: &Fleet| lines(&fleet.path("env"));
    fleet.until("both have run it", || {
        let seen = env(&fleet);
        ["a", "b"]
            .iter()
            .all(|node| seen.contains(&format!("HEADWAY_NODE={node}")))
    });
    let seen = env(&fleet);
    let pairs = seen.iter().filter_map(|line| line.split_once('='));
    let names: std::collections::BTreeSet<&str> = pairs
        .map(|(name, _)| name)
        .filter(|name| !matches!(*name, "_" | "SHLVL" | "OLDPWD"))
        .collect();
    let expected = [
        "COLOUR",
        "HEADWAY_DEADLINE",
        "HEADWAY_FENCE",
        "HEADWAY_HOLD",
        "HEADWAY_NODE",
        "HEADWAY_RING",
        "HEADWAY_SECONDS",
        "HEADWAY_TOKEN",
        "PATH",
        "PWD",
    ];
    assert_eq!(Vec::from_iter(names), expected);
    fleet.until("b's has failed", || {
        fleet.log(1).contains("the command has failed")
    });
    for said in ["status=7", "to the log", "worse"] {
        fleet.until(said, || fleet.log(1).contains(said));
    }
    assert!(fleet.metric(1, "headway_command_failures_total") >= 1.0);
}

#[test]
fn one_that_hangs_is_ended_with_all_its_children_and_the_ring_goes_on() {
    let mut fleet = fleet(
        "trap '' TERM; echo begin $HEADWAY_NODE $HEADWAY_TOKEN $HEADWAY_FENCE $$ >> FOLDER/observed; \
         if [ $HEADWAY_NODE = a ]; then sleep 1000 & echo $! >> FOLDER/children; wait; sleep 1000; fi",
        "",
    );
    fleet.timing = "refresh = \"20ms\"\nheartbeat_timeout = \"400ms\"\ntick = \"2ms\"\nmax_hold = \"500ms\"\nstop_timeout = \"600ms\"\n".into();
    fleet.start_all();
    fleet.until("the hanging one has been ended twice", || {
        lines(&fleet.path("children")).len() > 2
    });
    let children = lines(&fleet.path("children"));
    for child in &children[..children.len() - 1] {
        assert!(
            !alive(child.parse().unwrap()),
            "the child {child} of an ended command lives on"
        );
    }
    assert!(
        fleet.log(0).contains("SIGTERM to the command")
            && fleet.log(0).contains("SIGKILL to the command")
    );
    assert!(fleet.metric(0, "headway_command_failures_total") >= 2.0);
    // On a slow machine its permit may be over before it has said so.
    fleet.until("b's has run", || {
        fleet.observed().iter().any(|seen| seen.node == "b")
    });
}

/// The command looks whether it was announced, and then kills its node.
#[test]
fn a_command_is_announced_before_it_begins_and_found_though_its_process_was_not_noted() {
    let mut fleet = fleet(
        "grep -q \"\\\"id\\\":$HEADWAY_HOLD,\" FOLDER/state-$HEADWAY_NODE/notes && said=announced; \
         echo $$ $HEADWAY_NODE $said >> FOLDER/pids; \
         if rm FOLDER/kill 2>/dev/null; then kill -9 $PPID; fi; sleep 100",
        "",
    );
    std::fs::write(fleet.path("kill"), "").unwrap();
    fleet.start_all();
    fleet.until("it runs", || !lines(&fleet.path("pids")).is_empty());
    let line = lines(&fleet.path("pids"))[0].clone();
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(words[2..], ["announced"], "{line}");
    let (first, name) = (words[0].parse().unwrap(), words[1]);
    let at = usize::from(name == "b");
    fleet.wait(at);
    assert!(alive(first));
    // Whether the node had the time to note the process is chance; here it had not.
    let folder = fleet.path(&format!("state-{name}"));
    let change = |change: &dyn Fn(&mut Run)| {
        let mut store = Store::open(&folder, Sync::Never).unwrap();
        let mut notes = store.notes().unwrap();
        change(notes.run.as_mut().expect("it runs"));
        store.save_notes(&notes).unwrap();
    };
    change(&|run| run.process = None);
    fleet.start(at);
    fleet.until("it is ended", || !alive(first));
    let log = fleet.log(at);
    assert!(
        log.contains("a command of before the restart still runs"),
        "{log}"
    );
    // Counter-test: of a run with another number nothing is known, and nothing ended.
    let mark = format!(" {name} ");
    let again = || {
        let pids = lines(&fleet.path("pids"));
        pids.into_iter().skip(1).find(|line| line.contains(&mark))
    };
    fleet.until("it runs again", || again().is_some());
    let again = again().unwrap();
    let second = again.split(' ').next().unwrap().parse().unwrap();
    fleet.kill(at);
    change(&|run| (run.id, run.process) = (1, None));
    fleet.start(at);
    fleet.until("it is up", || fleet.status(at).is_object());
    assert!(alive(second), "not by its number");
    nix::sys::signal::killpg(nix::unistd::Pid::from_raw(second), Signal::SIGKILL).unwrap();
}

#[test]
fn a_node_that_hands_on_ends_its_command_passes_the_token_and_says_zero() {
    let mut fleet = fleet("echo $$ $HEADWAY_NODE >> FOLDER/pids; sleep 100", "");
    fleet.node = "hand_on = true\n".into();
    fleet.start_all();
    fleet.until("it runs", || !lines(&fleet.path("pids")).is_empty());
    let line = lines(&fleet.path("pids"))[0].clone();
    let (first, name) = line.split_once(' ').unwrap();
    let first: i32 = first.parse().unwrap();
    let at = usize::from(name == "b");
    assert_eq!(fleet.stop(at), 0);
    assert!(!alive(first));
    assert!(fleet.log(at).contains("stopped"), "{}", fleet.log(at));
    assert!(!fleet.socket(at).exists());
    // The other one got the token, and uses it when it hears its neighbour again.
    fleet.until("the other has it", || {
        fleet.status(1 - at)["holding"][0]["token"] == 0
    });
    fleet.start(at);
    fleet.until("the other runs", || {
        let pids = lines(&fleet.path("pids"));
        pids.get(1).is_some_and(|line| !line.ends_with(name))
    });
}

#[test]
fn a_hangup_reads_the_file_again_and_mistakes_change_nothing() {
    let mut fleet = fleet("echo old >> FOLDER/ran", "");
    fleet.start_all();
    fleet.settle();
    fleet.until("it ran", || !lines(&fleet.path("ran")).is_empty());
    let path = fleet.path("a.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("tokens = 1", "tokens = 99")).unwrap();
    fleet.signal(0, Signal::SIGHUP);
    fleet.until("refused", || {
        fleet.log(0).contains("the configuration is not used")
    });
    let changed = text
        .replace("echo old", "echo new")
        .replace("tick = \"2ms\"", "tick = \"3ms\"");
    std::fs::write(&path, changed.replace("/state-a", "/state-other")).unwrap();
    fleet.signal(0, Signal::SIGHUP);
    fleet.until("read", || {
        fleet.log(0).contains("the configuration was read again")
    });
    assert!(
        fleet.log(0).contains("these need a restart") && fleet.log(0).contains("node.state_dir")
    );
    fleet.until("the new one runs", || {
        lines(&fleet.path("ran")).contains(&"new".into())
    });
    fleet.settle();
}
