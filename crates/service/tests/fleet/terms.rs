//! What all members go by changes while they work: tokens, separation, times, the wire format.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::harness::Fleet;
use crate::observer::{Seen, closest};

/// No token had a larger fencing number before this moment, and all that begin on a ring later
/// have: numbers start from the time of day, a million a second.
fn fence_of_now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    (since.as_nanos() * (1 << 20) / 1_000_000_000) as u64
}

/// Two commands that lived together although one was of another ring, or nearer than the
/// separation of theirs. Ring k began after `changed[k - 1]` and has the separation `apart[k]`.
fn too_close(seen: &[Seen], names: &[String], changed: &[u64], apart: &[usize]) -> Option<String> {
    let ring = |fence: u64| changed.iter().filter(|at| fence >= **at).count();
    let place = |name: &String| names.iter().position(|other| other == name);
    for (at, line) in seen.iter().enumerate().filter(|(_, line)| line.begins) {
        for other in &line.others {
            // The last that began there; or if that has said that it ended, perhaps the next,
            // which had not said yet that it began.
            let said = |seen: &&Seen| seen.node == *other;
            let last = seen[..at].iter().rev().find(said);
            let before = seen[..at]
                .iter()
                .rev()
                .find(|seen| said(seen) && seen.begins);
            let after = seen[at..].iter().find(said);
            let after = after.filter(|_| last.is_none_or(|last| !last.begins));
            let far = place(&line.node)?.abs_diff(place(other)?);
            let far = far.min(names.len() - far);
            let fits = |seen: &Seen| {
                ring(seen.fence) == ring(line.fence) && far >= apart[ring(line.fence)]
            };
            if !before.into_iter().chain(after).any(fits) {
                return Some(format!(
                    "{line:?} while {other} worked: {before:?} or {after:?}"
                ));
            }
        }
    }
    None
}

fn set(fleet: &Fleet, by: usize, terms: &Value) -> Result<Value, String> {
    fleet.ask(by, "PATCH", "/v1/terms", Some(terms))
}

#[test]
fn tokens_separation_and_times_change_by_one_entry_and_nothing_restarts() {
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let mut fleet = Fleet::new(16, &names, 2, 2).with_observer(0.03);
    fleet.start_all();
    fleet.settle();
    let pids: Vec<i32> = (0..7).map(|at| fleet.pid(at)).collect();
    let refused = set(&fleet, 0, &json!({ "tokens": 4 })).unwrap_err();
    assert!(
        refused.contains("4 tokens 2 hops apart need 9 nodes, one of slack, and there are 7"),
        "{refused}"
    );
    let refused = set(&fleet, 0, &json!({ "silence_ms": 1 })).unwrap_err();
    assert!(refused.contains("`silence` is 1ms"), "{refused}");
    let refused = set(&fleet, 0, &json!({ "grace_ms": 1 })).unwrap_err();
    assert!(refused.contains("at least 100ms"), "{refused}");
    let refused = set(&fleet, 0, &json!({ "tokens": 2 })).unwrap_err();
    assert!(refused.contains("nothing would be different"), "{refused}");
    let refused = set(&fleet, 0, &json!({ "wire": 2 })).unwrap_err();
    assert!(refused.contains("unknown field `wire`"), "{refused}");
    assert_eq!(fleet.status(0)["roster"], 1, "nothing was proposed");

    let (mut changed, mut apart) = (Vec::new(), vec![2]);
    let work = |fleet: &Fleet| {
        let before = fleet.observed().len();
        fleet.until("they work", || fleet.observed().len() > before + 60);
        fleet.observed().split_off(before)
    };
    work(&fleet);
    for (by, tokens, separation, tick_ms) in [(3, 2, 3, 2), (0, 1, 6, 5), (6, 6, 1, 2)] {
        changed.push(fence_of_now());
        apart.push(separation);
        let terms = json!({ "tokens": tokens, "separation": separation, "tick_ms": tick_ms });
        let answer = set(&fleet, by, &terms).unwrap();
        assert_eq!(answer["version"], changed.len() + 1);
        fleet.until("on the new ring", || {
            (0..7).all(|at| {
                let status = fleet.status(at);
                status["settled"] == true
                    && (&status["tokens"], &status["separation"])
                        == (&json!(tokens), &json!(separation))
                    && status["terms"]["tick_ms"] == tick_ms
            })
        });
        let seen = work(&fleet);
        let used: std::collections::BTreeSet<u32> = seen.iter().map(|seen| seen.token).collect();
        assert_eq!(used.len() as u64, tokens as u64, "all tokens are used");
    }
    let seen = fleet.observed();
    assert_eq!(too_close(&seen, &fleet.names, &changed, &apart), None);
    // The counter-test: by a larger separation, or if the rings began earlier, it says no.
    let farther: Vec<usize> = apart.iter().map(|apart| apart + 1).collect();
    assert!(too_close(&seen, &fleet.names, &changed, &farther).is_some());
    assert_eq!(pids, (0..7).map(|at| fleet.pid(at)).collect::<Vec<_>>());
    // The files still say what they said.
    let differs = fleet.status(2)["file_differs"].to_string();
    assert!(differs.contains("ring.tokens = 2, not 6"), "{differs}");
    fleet.stop(2);
    fleet.start(2);
    fleet.settle();
    assert_eq!(fleet.status(2)["tokens"], 6, "the roster counts");
    assert!(fleet.log(2).contains("the ring goes by its roster"));
}

const BYPASS: &str = "[membership]\nbypass = true\nbypass_after = \"2s\"\nwindow = \"600ms\"\n";

/// Five members have room for two tokens two hops apart, four only for one.
#[test]
fn at_capacity_a_member_less_is_a_token_less_until_it_is_back() {
    let names = ["a", "b", "c", "d", "e"];
    let mut fleet = Fleet::new(11, &names, 2, 2).with_observer(0.02);
    fleet.more += BYPASS;
    fleet.timing = fleet.timing.replace("3s", "1s").replace("800ms", "500ms");
    fleet.start_all();
    fleet.settle();
    let now = |fleet: &Fleet, nodes: &[usize], tokens: u64, members: usize| {
        fleet.until("as many tokens as fit", || {
            nodes.iter().all(|&at| {
                let status = fleet.status(at);
                let numbers = (&status["tokens"], &status["members"]);
                numbers == (&json!(tokens), &json!(members))
                    && status["settled"] == true
                    && status["tokens_wanted"] == 2
            })
        });
    };
    // Bypassed, and back.
    fleet.kill(2);
    now(&fleet, &[0, 1, 3, 4], 1, 4);
    assert!(fleet.log(0).contains("fewer tokens travel than are wanted"));
    fleet.start(2);
    now(&fleet, &[0, 1, 2, 3, 4], 2, 5);
    // Dead, removed, and another one added.
    fleet.kill(4);
    // Its neighbours may bypass it at the same moment.
    let mut answer = fleet.ask(0, "DELETE", "/v1/members/e", None);
    while answer.as_ref().is_err_and(|why| why.contains("try again")) {
        answer = fleet.ask(0, "DELETE", "/v1/members/e", None);
    }
    let answer = answer.unwrap();
    let tokens = ["tokens", "tokens_before", "tokens_wanted"].map(|key| answer[key].clone());
    // It may have been bypassed before, and with it the token.
    assert_eq!((&tokens[0], &tokens[2]), (&json!(1), &json!(2)));
    now(&fleet, &[0, 1, 2, 3], 1, 4);
    let body = fleet.member(4);
    fleet.start(4);
    fleet.until("e listens", || fleet.status(4)["phase"] == "outside");
    let answer = fleet.ask(1, "POST", "/v1/members", Some(&body)).unwrap();
    assert_eq!(
        (&answer["tokens"], &answer["tokens_before"]),
        (&json!(2), &json!(1))
    );
    now(&fleet, &[0, 1, 2, 3, 4], 2, 5);
    let least = closest(&fleet.observed(), &fleet.names);
    assert!(least.is_none_or(|least| least >= 2), "{least:?}");
}

#[test]
fn the_last_two_members_stay() {
    let mut fleet = Fleet::new(17, &["a", "b"], 1, 1);
    fleet.start_all();
    fleet.settle();
    let refused = fleet.ask(0, "DELETE", "/v1/members/b", None).unwrap_err();
    assert!(refused.contains("a ring has 2 to"), "{refused}");
    assert_eq!(fleet.status(0)["roster"], 1);
}

fn is_wire(fleet: &Fleet, at: usize, wire: u8) -> bool {
    let status = fleet.status(at);
    status["settled"] == true && status["terms"]["wire"] == wire
}

fn alarms(fleet: &Fleet, at: usize) -> String {
    fleet.status(at)["alarms"].to_string()
}

/// With `HEADWAY_NEXT_PROGRAM`, by a program that was built with the next wire number
/// (`scripts/soak upgrade`).
#[test]
fn a_rolling_upgrade_changes_the_wire_format_when_everybody_speaks_the_next() {
    let names = ["a", "b", "c", "d", "e"];
    let mut fleet = Fleet::new(18, &names, 1, 1).with_observer(0.02);
    for at in 0..4 {
        fleet.write_config(at, 4);
        fleet.start(at);
    }
    fleet.settle();
    for at in 0..4 {
        let first = fleet.status(0);
        assert_eq!(
            (&first["terms"]["wire"], &first["roster"]),
            (&json!(1), &json!(1))
        );
        fleet.stop(at);
        fleet.speak(at, 2);
        fleet.start(at);
        if at < 3 {
            fleet.settle();
            let before = fleet.observed().len();
            fleet.until("both programs work", || {
                fleet.observed().len() > before + 20
            });
            let behind = fleet.status(0)["behind"].to_string();
            assert!(behind.contains(names[3]), "{behind}");
        }
    }
    fleet.until("the next wire format", || {
        (0..4).all(|at| is_wire(&fleet, at, 2))
    });
    let before = fleet.observed().len();
    fleet.until("they work", || fleet.observed().len() > before + 40);
    assert_eq!(fleet.status(3)["roster"], 2, "one entry");

    // The old program is back, and one of two releases later comes: both stay out and say why.
    fleet.stop(1);
    fleet.speak(1, 1);
    fleet.start(1);
    fleet.until("b says so", || {
        alarms(&fleet, 1).contains("the ring writes wire format 2, and this program speaks 1 only")
    });
    fleet.until("so do the others", || {
        alarms(&fleet, 0).contains("b does not speak wire format 2")
    });
    assert_ne!(fleet.status(1)["settled"], true);
    fleet.stop(1);
    fleet.speak(1, 4);
    fleet.start(1);
    fleet.until("b says so", || {
        alarms(&fleet, 1).contains("the ring writes wire format 2, and this program speaks 3 and 4")
    });
    assert!(fleet.metric(0, "headway_rejected_total{reason=\"control_wire\"}") >= 1.0);
    // A newcomer with the old program has no roster that would tell it.
    fleet.write_config(4, 4);
    fleet.speak(4, 1);
    fleet.start(4);
    fleet.until("e listens", || fleet.status(4)["phase"] == "outside");
    let refused = fleet.ask(0, "POST", "/v1/members", Some(&fleet.member(4)));
    let refused = refused.unwrap_err();
    assert!(refused.contains("e does not answer"), "{refused}");
    fleet.until("e says so", || {
        alarms(&fleet, 4).contains("somebody writes wire format 2, and this program speaks 1 only")
    });
    // The release after the next speaks both.
    fleet.stop(1);
    fleet.speak(1, 3);
    fleet.start(1);
    fleet.until("four", || (0..4).all(|at| is_wire(&fleet, at, 2)));
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
}

/// What a list found at one time is one entry of the log.
#[test]
fn several_members_come_and_go_by_one_entry() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut fleet = Fleet::new(19, &names, 1, 1).with_observer(0.02);
    for at in 0..7 {
        fleet.write_config(at, 5);
        fleet.start(at);
    }
    fleet.settle_of(&[0, 1, 2, 3, 4]);
    fleet.until("f and g listen", || {
        (5..7).all(|at| fleet.status(at)["phase"] == "outside")
    });
    let member = |at: usize| fleet.member(at);
    let body = json!({ "add": [member(5), member(7), member(6)], "remove": ["b", "zz"] });
    let answer = fleet.ask(2, "PATCH", "/v1/members", Some(&body)).unwrap();
    assert_eq!(answer["version"], 2);
    let refused = answer["refused"].as_object().unwrap();
    assert_eq!(refused.keys().collect::<Vec<_>>(), ["h", "zz"]);
    assert!(refused["h"].to_string().contains("h does not answer"));
    assert!(refused["zz"].to_string().contains("no member `zz`"));
    let ring = |fleet: &Fleet, on: &[usize], version: u64| {
        fleet.until("all on the new ring", || {
            on.iter().all(|&at| {
                let status = fleet.status(at);
                status["settled"] == true
                    && (&status["roster"], &status["members"])
                        == (&json!(version), &json!(on.len()))
            })
        });
    };
    ring(&fleet, &[0, 2, 3, 4, 5, 6], 2);
    // Three neighbours: the one in the middle has to wait.
    let body = json!({ "remove": ["c", "d", "e"] });
    let answer = fleet.ask(0, "PATCH", "/v1/members", Some(&body)).unwrap();
    assert_eq!(answer["version"], 3);
    let refused = answer["refused"].as_object().unwrap();
    assert_eq!(refused.keys().collect::<Vec<_>>(), ["d"]);
    ring(&fleet, &[0, 3, 5, 6], 3);
    let none = fleet
        .ask(0, "PATCH", "/v1/members", Some(&json!({})))
        .unwrap();
    assert_eq!(none["version"], 3, "nothing to do is no entry");
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
}
