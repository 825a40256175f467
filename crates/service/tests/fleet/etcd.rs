//! A ring whose roster is in an etcd.

use headway_testkit::etcd::Server;
use headway_testkit::tools;
use serde_json::json;

use crate::harness::Fleet;
use crate::observer::closest;

const BYPASS: &str = "[membership]\nbypass = true\nbypass_after = \"2s\"\nwindow = \"600ms\"\n";
const SHORT: &str = "refresh = \"20ms\"\nsilence = \"300ms\"\ntick = \"2ms\"\ndwell_most = \"1s\"\ngrace = \"500ms\"\n";

#[test]
fn members_come_go_die_and_return_by_an_etcd() {
    let mut server = match Server::start() {
        Ok(server) => server,
        Err(why) => return tools::skip("members_come_go_die_and_return_by_an_etcd", &why),
    };
    let names = ["a", "b", "c", "d"];
    let mut fleet = Fleet::new(26, &names, 1, 1).with_observer(0.02);
    fleet.ring += &format!("etcd = [\"{}\"]\n", server.url());
    fleet.more += BYPASS;
    fleet.timing = SHORT.into();
    for at in 0..4 {
        fleet.write_config(at, 3);
        fleet.start(at);
    }
    fleet.settle_of(&[0, 1, 2]);
    fleet.until("d listens", || fleet.status(3)["phase"] == "outside");
    let added = fleet.ask(1, "POST", "/v1/members", Some(&fleet.member(3)));
    assert_eq!(added.unwrap()["version"], 2);
    fleet.until("four members", || {
        (0..4).all(|at| fleet.status(at)["members"] == 4)
    });
    fleet.settle();
    // One dies, is bypassed, and comes back.
    fleet.kill(2);
    fleet.until("c is bypassed", || {
        [0, 1, 3]
            .iter()
            .all(|&at| fleet.status(at)["bypassed"] == json!(["c"]))
    });
    fleet.start(2);
    fleet.until("c is back", || {
        (0..4).all(|at| fleet.status(at)["bypassed"] == json!([]))
    });
    fleet.settle();
    // Without etcd the ring goes on, and says what it cannot do.
    server.kill();
    fleet.until("its absence is an alarm", || {
        let alarms = fleet.status(0)["alarms"].to_string();
        alarms.contains("no etcd answers")
    });
    let before = fleet.observed().len();
    fleet.until("it works", || fleet.observed().len() > before + 20);
    let refused = fleet.ask(0, "DELETE", "/v1/members/b", None).unwrap_err();
    assert!(refused.contains("Nothing was changed"), "{refused}");
    server.run().expect("it starts again");
    fleet.until("the alarm is over", || {
        fleet.status(0)["alarms"] == json!([])
    });
    let removed = fleet.ask(0, "DELETE", "/v1/members/b", None).unwrap();
    assert_eq!(removed["version"], 5);
    fleet.until("b is out", || fleet.status(1)["phase"] == "outside");
    fleet.settle_of(&[0, 2, 3]);
    // Its data is gone: nothing is decided, until somebody says so on most nodes.
    server.kill();
    server.empty();
    server.run().expect("it starts empty");
    fleet.until("that is an alarm", || {
        let alarms = fleet.status(0)["alarms"].to_string();
        alarms.contains("was put back or deleted")
    });
    let refused = fleet.ask(2, "DELETE", "/v1/members/d", None).unwrap_err();
    assert!(refused.contains("was put back or deleted"), "{refused}");
    for at in [0, 2] {
        let recovered = fleet.ask(at, "POST", "/v1/recover", Some(&json!({ "gone": [] })));
        assert_eq!(recovered.unwrap()["version"], 1005);
    }
    // Two of three are most of them, and the third believes them.
    fleet.until("d hears of it", || fleet.status(3)["roster"] == 1005);
    // Somebody who goes on to it, as to all of them, begins no second new log.
    let recovered = fleet.ask(3, "POST", "/v1/recover", Some(&json!({ "gone": [] })));
    assert_eq!(recovered.unwrap()["version"], 1005);
    fleet.settle_of(&[0, 2, 3]);
    let left_out = fleet.ask(2, "DELETE", "/v1/members/d", None).unwrap();
    assert_eq!(left_out["version"], 1006);
    fleet.settle_of(&[0, 2]);
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
}
