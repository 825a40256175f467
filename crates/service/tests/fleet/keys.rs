//! Keys that change while the ring works.

use std::net::UdpSocket;

use headway_service::identity::{Identity, Purpose};
use headway_service::internal::control::{self, Message};

use crate::attack::{control_ring, rejected, sender};
use crate::harness::Fleet;
use crate::observer::{closest, fences_grow};

/// All nodes of a ring take other keys, one after the other, and one of them is killed and started
/// in between. Nobody works beside another, fencing numbers grow, and the old keys are worth
/// nothing in the end.
#[test]
fn all_nodes_take_other_keys_one_after_the_other() {
    let names = ["a", "b", "c", "d", "e"];
    let mut fleet = Fleet::new(46, &names, 1, 1).with_observer(0.01);
    fleet.start_all();
    fleet.settle();
    let old: Vec<Identity> = (0..5)
        .map(|at| fleet.identities(at).list()[0].clone())
        .collect();
    for (at, old) in old.iter().enumerate() {
        let version = fleet.ask(at, "POST", "/v1/rotate-key", None).unwrap();
        assert_eq!(version["version"], at as u64 + 2);
        if at == 2 {
            fleet.kill(at);
            fleet.start(at);
        }
        fleet.until("all act by it", || {
            (0..5).all(|other| {
                let status = fleet.status(other);
                status["roster"] == at as u64 + 2 && status["settled"] == true
            })
        });
        fleet.until("it forgets the old one", || {
            let now = fleet.identities(at);
            now.list().len() == 1 && now.public() != old.public()
        });
    }
    let before = fleet.observed().len();
    fleet.until("they work", || fleet.observed().len() > before + 20);
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
    fences_grow(&fleet.observed());
    // Whoever has an old key of b is a stranger to a; the new one is listened to.
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let refused = |fleet: &Fleet| rejected(fleet, 0, "control_unauthenticated");
    let a = fleet.identities(0).public();
    let say = |by: &Identity| {
        let key = by
            .key_with("test", Purpose::Control, "b", ("a", &a))
            .unwrap();
        let mark = Default::default();
        let bytes = control::write(control_ring(), &sender("b", mark), &Message::Offer, &key);
        socket.send_to(&bytes, fleet.address(0)).unwrap();
    };
    let before = refused(&fleet);
    say(&fleet.identities(1).list()[0]);
    say(&old[1]);
    fleet.until("refused", || refused(&fleet) > before);
    assert_eq!(refused(&fleet), before + 1);
}

/// What cannot be is said: a key that somebody has, none where all others have one.
#[test]
fn a_member_without_a_key_of_its_own_is_not_added() {
    let mut fleet = Fleet::new(47, &["a", "b", "c", "d"], 1, 1);
    for at in 0..3 {
        fleet.write_config(at, 3);
        fleet.start(at);
    }
    fleet.settle();
    let mut member = fleet.member(3);
    member["force"] = true.into();
    let add = |fleet: &Fleet, member: &serde_json::Value| {
        let added = fleet.ask(0, "POST", "/v1/members", Some(member));
        added.unwrap_err()
    };
    member["key"] = serde_json::Value::Null;
    let refused = add(&fleet, &member);
    assert!(
        refused.contains("`a` has a key and `d` has none"),
        "{refused}"
    );
    member["key"] = fleet.identities(1).public().to_string().into();
    let refused = add(&fleet, &member);
    assert!(
        refused.contains("`b` and `d` have the same key"),
        "{refused}"
    );
    member["key"] = "hw1nonsense".into();
    let refused = add(&fleet, &member);
    assert!(refused.contains("no node's key"), "{refused}");
}
