//! A node's files that are damaged or not private when it starts, or that find no room.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::harness::{Fleet, alive, http};
use crate::observer::closest;

#[test]
fn half_written_notes_are_an_alarm_and_a_command_that_still_runs_is_ended() {
    // No other test has a node of this name: whatever ran under it is ended.
    let mut fleet = Fleet::new(&["half", "b", "c"], 1, 1).with_observer(0.01);
    fleet.timing = fleet.timing.replace("\"300s\"", "\"2s\"");
    fs::write(fleet.path("slow-half"), "1000").expect("written");
    fleet.start_all();
    let of_half = |fleet: &Fleet| {
        let seen = fleet.observed();
        let mut begun = seen
            .iter()
            .filter(|seen| seen.begins && seen.node == "half");
        begun.next_back().map(|seen| (seen.process, seen.fence))
    };
    // It outlives its node, if its permit was not over before that was killed.
    let (process, fence) = loop {
        let before = of_half(&fleet);
        fleet.until("half works", || of_half(&fleet) != before);
        let (process, fence) = of_half(&fleet).expect("it works");
        fleet.kill(0);
        if alive(process) {
            break (process, fence);
        }
        fleet.start(0);
    };
    fs::write(fleet.path("slow-half"), "0.01").expect("written");
    let notes = fleet.path("state-half/notes");
    let whole = fs::read(&notes).expect("notes");
    fs::write(&notes, &whole[..whole.len() / 2]).expect("cut");
    fleet.start(0);
    fleet.until("an alarm", || {
        let alarms = fleet.status(0)["alarms"].to_string();
        alarms.contains("the kept notes cannot be read")
    });
    assert!(!alive(process), "ended before the node took part");
    fleet.until("half works again", || {
        of_half(&fleet).is_some_and(|(_, later)| later > fence)
    });
    fleet.settle();
    let alarms = fleet.status(0)["alarms"].to_string();
    assert!(!alarms.contains("notes"), "over: {alarms}");
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
    let fences = |begins| {
        let seen = fleet.observed().into_iter();
        let begun = seen.filter(move |seen| seen.begins == begins);
        begun.map(|seen| seen.fence).collect::<Vec<u64>>()
    };
    let seen = fences(true);
    assert!(seen.is_sorted_by(|one, next| one < next), "no fence twice");
}

/// A disk of its own with a megabyte.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn new(folder: PathBuf) -> Option<SmallDisk> {
        fs::create_dir_all(&folder).expect("a folder");
        let options = ["-t", "tmpfs", "-o", "size=1m", "tmpfs"];
        let mounted = Command::new("mount").args(options).arg(&folder).output();
        mounted.ok()?.status.success().then_some(SmallDisk(folder))
    }

    fn fill(&self) {
        let full = fs::write(self.0.join("filler"), vec![0; 2 << 20]);
        assert!(full.is_err());
    }

    fn make_room(&self) {
        fs::remove_file(self.0.join("filler")).expect("it was there");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let folder: &Path = &self.0;
        let _ = Command::new("umount").arg("-l").arg(folder).output();
    }
}

#[test]
fn a_node_with_a_full_disk_grants_nothing_and_lets_the_others_work() {
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1).with_observer(0.01);
    fleet.more += "[fleetlock]\nenabled = true\nwait = \"100ms\"\n";
    let Some(disk) = SmallDisk::new(fleet.path("state-b")) else {
        println!("skipped: a_node_with_a_full_disk: run as root, where `mount` is");
        return;
    };
    fleet.start_all();
    fleet.settle();
    let begun = |fleet: &Fleet, name: &str| {
        let seen = fleet.observed();
        let own = seen.iter().filter(|seen| seen.begins && seen.node == name);
        own.count()
    };
    fleet.until("b works", || begun(&fleet, "b") > 3);
    disk.fill();
    fleet.until("an alarm", || {
        let alarms = fleet.status(1)["alarms"].to_string();
        alarms.contains("cannot keep the notes")
    });
    // What had begun before has ended.
    let rest = begun(&fleet, "a");
    fleet.until("a works", || begun(&fleet, "a") > rest + 2);
    let before = begun(&fleet, "b");
    for again in [false, true] {
        if again {
            fleet.kill(1);
            fleet.start(1);
            fleet.settle();
        }
        let rest = begun(&fleet, "a");
        fleet.until("the others work", || begun(&fleet, "a") > rest + 20);
        assert_eq!(begun(&fleet, "b"), before, "started again: {again}");
    }
    let body = json!({ "wait_ms": 60_000 });
    let refused = fleet.ask(1, "POST", "/v1/permits", Some(&body));
    let refused = refused.expect_err("nothing is granted");
    assert!(refused.contains("cannot write down"), "{refused}");
    let client = r#"{"client_params":{"id":"m","group":"default"}}"#;
    let lock = |fleet: &Fleet| {
        let header = [("fleet-lock-protocol", "true")];
        http(&fleet.http(1), "POST", "/v1/pre-reboot", &header, client).0
    };
    let rest = begun(&fleet, "a");
    while begun(&fleet, "a") < rest + 20 {
        assert_ne!(lock(&fleet), 200);
    }
    disk.make_room();
    fleet.until("a client has its turn", || lock(&fleet) == 200);
    let header = [("fleet-lock-protocol", "true")];
    let back = http(&fleet.http(1), "POST", "/v1/steady-state", &header, client);
    assert_eq!(back.0, 200);
    fleet.until("b works again", || begun(&fleet, "b") > before);
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
}

/// What cannot serve is never ready, and says why.
#[test]
fn a_node_that_cannot_start_says_why() {
    let mut fleet = Fleet::new(&["a", "b"], 1, 1);
    let told = fleet.path("notify");
    let manager = std::os::unix::net::UnixDatagram::bind(&told).expect("a socket");
    manager.set_nonblocking(true).expect("set");
    fleet.variables = vec![(0, "NOTIFY_SOCKET", told.display().to_string())];
    fleet.write_config(0, 2);
    let key = fleet.path("a.identity");
    fs::set_permissions(&key, Permissions::from_mode(0o644)).expect("changed");
    fleet.start(0);
    assert_eq!(fleet.wait(0), 2);
    assert!(fleet.log(0).contains("chmod 600"), "{}", fleet.log(0));
    let secret = fs::read_to_string(&key).expect("a key");
    assert!(!fleet.log(0).contains(secret.trim()), "never in a log");
    fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("changed");
    let _taken = TcpListener::bind(fleet.http(0)).expect("free");
    fleet.start(0);
    assert_eq!(fleet.wait(0), 2);
    assert!(fleet.log(0).contains("(api.http)"), "{}", fleet.log(0));
    assert!(manager.recv(&mut [0; 64]).is_err(), "systemd was told");
}
