//! Members come, go, die and return.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::Fleet;
use crate::observer::{closest, fences_grow};

fn add(fleet: &Fleet, by: usize, at: usize, force: bool) -> Result<serde_json::Value, String> {
    let mut body = fleet.member(at);
    body["force"] = force.into();
    fleet.ask(by, "POST", "/v1/members", Some(&body))
}

#[test]
fn a_member_is_added_and_another_removed_while_the_ring_works() {
    let names = ["a", "b", "c", "d"];
    let mut fleet = Fleet::new(10, &names, 1, 1).with_observer(0.02);
    for at in 0..3 {
        fleet.write_config(at, 3);
        fleet.start(at);
    }
    fleet.settle();
    let silent = add(&fleet, 1, 3, false).unwrap_err();
    assert!(silent.contains("d does not answer"), "{silent}");
    fleet.write_config(3, 3);
    fleet.start(3);
    fleet.until("d listens", || fleet.status(3)["phase"] == "outside");
    assert_eq!(add(&fleet, 1, 3, false).unwrap()["version"], 2);
    fleet.until("four members", || {
        (0..4).all(|at| fleet.status(at)["members"] == 4)
    });
    fleet.settle();
    fleet.until("d works", || {
        fleet.observed().iter().any(|seen| seen.node == "d")
    });
    let twice = add(&fleet, 0, 3, false).unwrap_err();
    assert!(twice.contains("`d` is there twice"), "{twice}");

    let removed = fleet.ask(3, "DELETE", "/v1/members/b", None).unwrap();
    assert_eq!(removed["version"], 3);
    fleet.until("b is out", || fleet.status(1)["phase"] == "outside");
    fleet.until("three members", || {
        [0, 2, 3].iter().all(|&at| fleet.status(at)["members"] == 3)
    });
    fleet.until("settled", || {
        [0, 2, 3]
            .iter()
            .all(|&at| fleet.status(at)["settled"] == true)
    });
    let before = fleet.observed().len();
    fleet.until("the three work", || fleet.observed().len() > before + 20);
    let after = &fleet.observed()[before..];
    assert!(after.iter().all(|seen| seen.node != "b"));
    assert_eq!(
        closest(&fleet.observed(), &fleet.names),
        None,
        "one at a time, throughout"
    );
    // Across both changes.
    fences_grow(&fleet.observed());
    let unknown = fleet.ask(0, "DELETE", "/v1/members/zz", None).unwrap_err();
    assert!(unknown.contains("no member `zz`"), "{unknown}");
}

const BYPASS: &str = "[membership]\nbypass = true\nbypass_after = \"2s\"\nwindow = \"600ms\"\n";
const SHORT: &str = "refresh = \"20ms\"\nsilence = \"300ms\"\ntick = \"2ms\"\ndwell_most = \"1s\"\ngrace = \"500ms\"\n";

#[test]
fn a_dead_member_is_bypassed_by_a_majority_and_returns() {
    let names = ["a", "b", "c", "d", "e"];
    let mut fleet = Fleet::new(12, &names, 1, 1).with_observer(0.02);
    fleet.more += BYPASS;
    fleet.timing = SHORT.into();
    fleet.start_all();
    fleet.settle();
    fleet.kill(2);
    let rest = [0, 1, 3, 4];
    fleet.until("c is bypassed", || {
        rest.iter()
            .all(|&at| fleet.status(at)["bypassed"][0] == "c")
    });
    fleet.settle();
    let before = fleet.observed().len();
    fleet.until("four work", || fleet.observed().len() > before + 20);
    fleet.start(2);
    fleet.until("c is back", || {
        (0..5).all(|at| fleet.status(at)["bypassed"] == json!([]))
    });
    fleet.settle();
    let before = fleet.observed().len();
    fleet.until("c works", || {
        fleet.observed()[before..]
            .iter()
            .any(|seen| seen.node == "c")
    });
    assert_eq!(
        closest(&fleet.observed(), &fleet.names),
        None,
        "one at a time, throughout"
    );
}

/// A node stops within a command and stays away. Its permit is kept for it, as if its machine
/// were being rebooted, and nobody knows when it was granted: the others go on without it, and
/// not before any permit of that time is over.
fn left_out_after_a_stop(test: u8, leave_out: impl Fn(&Fleet)) -> Fleet {
    const LONGEST_PERMIT: Duration = Duration::from_millis(3_500);
    let names = ["a", "b", "c", "d", "e"];
    let mut fleet = Fleet::new(test, &names, 1, 1).with_observer(0.02);
    fleet.more += &BYPASS.replace("\"2s\"", "\"4s\"");
    fleet.timing = SHORT.replace("dwell_most = \"1s\"", "dwell_most = \"3s\"");
    fs::write(fleet.path("slow-c"), "1000").expect("written");
    fleet.start_all();
    let begun = |fleet: &Fleet, who: &str| {
        let seen = fleet.observed();
        let begun = seen.iter().filter(|seen| seen.begins && seen.node == who);
        begun.count()
    };
    fleet.until("c works", || begun(&fleet, "c") == 1);
    let (before, granted) = (fleet.observed().len(), Instant::now());
    assert_eq!(fleet.stop(2), 0);
    assert!(fleet.log(2).contains("SIGTERM to the command"));
    leave_out(&fleet);
    fleet.until("the others go on", || fleet.observed().len() > before);
    let waited = granted.elapsed();
    assert!(waited >= LONGEST_PERMIT, "after {waited:?}");
    let rest = ["a", "b", "d", "e"];
    fleet.until("all four", || {
        rest.iter().all(|name| begun(&fleet, name) > 5)
    });
    assert_eq!(begun(&fleet, "c"), 1);
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
    fences_grow(&fleet.observed());
    fleet
}

#[test]
fn a_node_that_stops_within_a_command_is_bypassed_when_its_permit_is_over() {
    let fleet = left_out_after_a_stop(27, |_| {});
    assert_eq!(fleet.status(0)["bypassed"], json!(["c"]));
}

#[test]
fn a_node_that_stops_within_a_command_and_is_removed_is_waited_for_until_its_permit_is_over() {
    left_out_after_a_stop(28, |fleet| {
        let removed = fleet.ask(0, "DELETE", "/v1/members/c", None);
        assert_eq!(removed.unwrap()["version"], 2);
    });
}

#[test]
fn a_minority_never_bypasses() {
    let names = ["a", "b", "c", "d", "e"];
    let mut fleet = Fleet::new(13, &names, 1, 1).with_observer(0.02);
    fleet.more += BYPASS;
    fleet.timing = SHORT.into();
    fleet.start_all();
    fleet.settle();
    for at in [2, 3, 4] {
        fleet.kill(at);
    }
    let refused = |at: usize| {
        let alarms = fleet.status(at)["alarms"].to_string();
        alarms.contains("too few keepers of the roster answer")
    };
    fleet.until("a and b say that they are too few", || {
        refused(0) && refused(1)
    });
    assert_eq!(fleet.status(0)["bypassed"], json!([]));
    assert_eq!(fleet.status(0)["roster"], 1);
    assert!(fleet.metric(0, "headway_bypass_refused_total") >= 1.0);
}

/// One of two members is gone: nobody works and nothing is decided until it is back; if it never
/// is, a new ring begins, as docs/operators/keepers.md says, and fencing numbers grow all the same.
#[test]
fn with_one_of_two_members_gone_the_other_waits_or_begins_a_new_ring() {
    let mut fleet = Fleet::new(29, &["a", "b", "c"], 1, 1).with_observer(0.02);
    fleet.timing = SHORT.into();
    for at in [0, 1] {
        fleet.write_config(at, 2);
        fleet.start(at);
    }
    let settled = |fleet: &Fleet, other: usize| {
        let settled = |at: usize| fleet.status(at)["settled"] == true;
        fleet.until("two are settled", || settled(0) && settled(other));
    };
    let work = |fleet: &Fleet| {
        let before = fleet.observed().len();
        fleet.until("both work", || fleet.observed().len() > before + 10);
    };
    settled(&fleet, 1);
    fleet.kill(1);
    fleet.until("a says so", || {
        fleet.status(0)["alarms"].to_string().contains("silent")
    });
    let refused = fleet.ask(0, "DELETE", "/v1/members/b", None).unwrap_err();
    assert!(refused.contains("a ring has 2"), "{refused}");
    let refused = add(&fleet, 0, 2, true).unwrap_err();
    assert!(refused.contains("too few keepers"), "{refused}");
    let gone = json!({ "gone": ["b"] });
    let recovered = fleet.ask(0, "POST", "/v1/recover", Some(&gone));
    let refused = recovered.unwrap_err();
    assert!(refused.contains("one member would be left"), "{refused}");
    let before = fleet.observed().len();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(fleet.observed().len(), before, "nobody works");
    fleet.start(1);
    settled(&fleet, 1);
    work(&fleet);

    fleet.kill(1);
    fleet.kill(0);
    let before = fleet.observed().len();
    fs::remove_dir_all(fleet.path("state-a")).expect("its state is removed");
    for at in [0, 2] {
        fleet.write_config(at, 3);
        let path = fleet.path(&format!("{}.toml", fleet.names[at]));
        let text = fs::read_to_string(&path).expect("its file");
        let without = |text: &str| {
            let begin = text.find("[[ring.members]]\nname = \"b\"").expect("b");
            let end = text.find("[[ring.members]]\nname = \"c\"").expect("c");
            [&text[..begin], &text[end..]].concat()
        };
        let text = without(&text.replace("name = \"test\"", "name = \"again\""));
        fs::write(&path, text).expect("written");
        fleet.start(at);
    }
    settled(&fleet, 2);
    work(&fleet);
    let all = fleet.observed();
    assert_eq!(closest(&all, &fleet.names), None);
    // A node that was killed runs its command again under the same number; here nothing is left of
    // the old ring but the end of a command.
    let (old, new) = all.split_at(before);
    let begun = new.iter().filter(|seen| seen.begins);
    assert!(old.iter().map(|seen| seen.fence).max() < begun.map(|seen| seen.fence).min());
    fences_grow(new);
}

/// Three of five keepers are gone for good: nothing is decided, a command says so, the ring waits,
/// and somebody's word begins a new log. One that was not gone after all stays outside.
#[test]
fn a_lost_majority_of_keepers_is_recovered_on_somebodys_word() {
    let names = ["a", "b", "c", "d", "e"];
    let mut fleet = Fleet::new(15, &names, 1, 1).with_observer(0.02);
    fleet.timing = SHORT.into();
    fleet.start_all();
    fleet.settle();
    let gone = |names: &[&str]| json!({ "gone": names });
    let recover = |fleet: &Fleet, names| fleet.ask(0, "POST", "/v1/recover", Some(&gone(names)));
    let early = recover(&fleet, &["c", "d"]).unwrap_err();
    assert!(early.contains("3 of 5 keepers"), "{early}");
    for at in [2, 3, 4] {
        fleet.kill(at);
    }
    let refused = fleet.ask(0, "DELETE", "/v1/members/c", None).unwrap_err();
    assert!(refused.contains("too few keepers"), "{refused}");
    assert_eq!(fleet.status(0)["roster"], 1);
    let version = &recover(&fleet, &["c", "d", "e"]).unwrap()["version"];
    assert_eq!(*version, 1001);
    // a's word is not b's: without an operator's key, somebody says it there, too.
    fleet.until("b hears of it and does not believe it", || {
        let alarms = fleet.status(1)["alarms"].to_string();
        alarms.contains("a offers roster 1001, which too few keepers have signed")
    });
    assert_eq!(fleet.status(1)["roster"], 1);
    let gone = gone(&["c", "d", "e"]);
    let there = fleet.ask(1, "POST", "/v1/recover", Some(&gone)).unwrap();
    assert_eq!(there["version"], 1001);
    fleet.until("two are left", || {
        let left = |at| fleet.status(at)["settled"] == true && fleet.status(at)["members"] == 2;
        left(0) && left(1)
    });
    // The new log decides: a third member comes, and it is one that was not gone after all.
    fleet.start(2);
    fleet.until("c hears of it and does not believe it", || {
        fleet.status(2)["alarms"]
            .to_string()
            .contains("roster 1001")
    });
    assert_eq!(fleet.status(2)["permits"], 0);
    let there = fleet.ask(2, "POST", "/v1/recover", Some(&gone)).unwrap();
    assert_eq!(there["version"], 1001);
    fleet.until("c is outside", || fleet.status(2)["phase"] == "outside");
    fleet.until("added again", || add(&fleet, 1, 2, false).is_ok());
    fleet.until("three", || {
        (0..3).all(|at| fleet.status(at)["settled"] == true && fleet.status(at)["roster"] == 1002)
    });
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
}

/// Why nobody may say that machines are gone which are not: two rings, which both work. Each hears
/// of the other's roster and says so. Then one of them is given up, as docs/operators/keepers.md
/// says.
#[test]
fn recovered_on_both_sides_there_are_two_rings() {
    let mut fleet = Fleet::new(140, &["a", "b", "c", "d"], 1, 1).with_observer(0.02);
    fleet.timing = SHORT.into();
    fleet.start_all();
    fleet.settle();
    for (at, others) in [
        (0, ["c", "d"]),
        (1, ["c", "d"]),
        (2, ["a", "b"]),
        (3, ["a", "b"]),
    ] {
        let gone = json!({ "gone": others });
        let there = fleet.ask(at, "POST", "/v1/recover", Some(&gone)).unwrap();
        assert_eq!(there["version"], 1001);
    }
    let small = |at| fleet.status(at)["settled"] == true && fleet.status(at)["members"] == 2;
    fleet.until("two rings of two", || (0..4).all(small));
    let before = fleet.observed().len();
    fleet.until("all work", || {
        let seen = fleet.observed();
        let works = |name: &str| {
            seen[before..]
                .iter()
                .any(|seen| seen.begins && seen.node == name)
        };
        ["a", "b", "c", "d"].into_iter().all(works)
    });
    let alarmed = |fleet: &Fleet, at: usize| {
        let alarms = fleet.status(at)["alarms"].to_string();
        alarms.contains("there are two rings")
    };
    fleet.until("an alarm on either side", || {
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| alarmed(&fleet, at));
        (a || b) && (c || d)
    });
    for at in [2, 3] {
        fleet.kill(at);
    }
    for at in [2, 3] {
        let state = fleet.path(&format!("state-{}", fleet.names[at]));
        fs::remove_dir_all(state).expect("its state is removed");
        fleet.write_config(at, 2);
        fleet.start(at);
        fleet.until("added again", || add(&fleet, 0, at, false).is_ok());
    }
    fleet.until("one ring, and no alarm", || {
        let fine = |at: usize| {
            let status = fleet.status(at);
            status["settled"] == true && status["members"] == 4 && !alarmed(&fleet, at)
        };
        (0..4).all(fine)
    });
}

#[test]
fn files_with_different_members_are_told_apart() {
    let mut fleet = Fleet::new(14, &["a", "b", "c"], 1, 1);
    for at in 0..3 {
        // c was told of two members only.
        fleet.write_config(at, if at == 1 { 2 } else { 3 });
        fleet.start(at);
    }
    fleet.until("a says so", || {
        fleet.status(0)["alarms"]
            .to_string()
            .contains("b was configured with other members")
    });
    assert_eq!(fleet.status(0)["roster"], 1);
    assert_eq!(fleet.status(0)["settled"], false);
}
