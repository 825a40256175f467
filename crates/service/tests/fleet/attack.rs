//! What somebody without the key, or with an old datagram, can do: be counted.

use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use headway_node::wire::block::Told;
use headway_node::wire::{Header, Layout};
use headway_node::{Key, RingId, Rule};
use headway_service::internal::control::{self, Message, Sender};
use headway_service::internal::roster::{Member, Roster, Signed};

use crate::harness::Fleet;
use crate::observer::closest;

fn rejected(fleet: &Fleet, at: usize, reason: &str) -> u64 {
    fleet.status(at)["rejected"][reason].as_u64().unwrap_or(0)
}

#[test]
fn forged_truncated_oversized_and_flooded_datagrams_are_counted_and_the_ring_is_unharmed() {
    let mut fleet = Fleet::new(40, &["a", "b", "c"], 1, 1).with_observer(0.01);
    fleet.start_all();
    fleet.settle();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = fleet.address(0);
    let send = |bytes: &[u8]| {
        let _ = socket.send_to(bytes, &to);
    };
    let layout = Layout {
        tokens: 1,
        payload: 0,
        rule: Rule::MovingBlock,
        version: 1,
    };
    let mut forged = vec![0; layout.bytes()];
    let wrong = Key::new(b"not the key of the ring").unwrap();
    let header = Header {
        receiver: 0,
        sender: 2,
        ..Header::default()
    };
    layout.write(
        &header,
        [(1, 5, &[][..])].into_iter(),
        Some((&Told::default(), &[0])),
        &wrong,
        &mut forged,
    );
    send(&forged);
    send(&forged[..40]);
    send(&[0x48; 1400]);
    send(&[b'H'; 60_000]);
    send(b"");
    send(b"HC");
    let name = RingId([7; 16]);
    let sender = Sender {
        name: "x".into(),
        address: "127.0.0.1:9".into(),
        mark: Default::default(),
        wire: 1,
        newest: 1,
        drained: true,
        on_ring: false,
    };
    send(&control::write(name, &sender, &Message::Offer, &wrong));
    for reason in [
        "unauthenticated",
        "length",
        "control_malformed",
        "control_unauthenticated",
    ] {
        fleet.until(reason, || rejected(&fleet, 0, reason) > 0);
        assert!(fleet.log(0).contains("datagrams rejected"));
    }
    assert!(fleet.metric(0, "headway_rejected_total{reason=\"unauthenticated\"}") >= 1.0);
    // A flood, bounded in count and time: permits still come and stay apart.
    let before = fleet.observed().len();
    for _ in 0..20_000 {
        send(&forged);
    }
    fleet.until("work goes on", || fleet.observed().len() > before + 20);
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
    assert_eq!(fleet.status(0)["settled"], true);
}

#[test]
fn replayed_datagrams_of_a_ring_change_nothing() {
    let mut fleet = Fleet::new(41, &["a", "b", "c"], 1, 1).with_observer(0.01);
    for at in 0..3 {
        fleet.write_config(at, 3);
    }
    // In b's place, somebody who only listens: what a and c say to b is recorded.
    let recorder = UdpSocket::bind(fleet.address(1)).unwrap();
    recorder
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    fleet.start(0);
    fleet.start(2);
    let mut recorded = Vec::new();
    let mut buffer = [0; 2048];
    while recorded.len() < 40 {
        match recorder.recv(&mut buffer) {
            Ok(bytes) => recorded.push(buffer[..bytes].to_vec()),
            Err(_) if recorded.len() > 4 => break,
            Err(_) => {}
        }
    }
    drop(recorder);
    fleet.start(1);
    fleet.settle();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let stale = rejected(&fleet, 1, "stale");
    let before = fleet.observed().len();
    for _ in 0..50 {
        for datagram in &recorded {
            socket.send_to(datagram, fleet.address(1)).unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    fleet.until("counted", || rejected(&fleet, 1, "stale") > stale + 20);
    fleet.until("work goes on", || fleet.observed().len() > before + 20);
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
    assert_eq!(fleet.status(1)["settled"], true);
}

#[test]
fn a_node_with_another_key_is_a_stranger() {
    let mut fleet = Fleet::new(42, &["a", "b", "c"], 1, 1);
    for at in 0..3 {
        fleet.write_config(at, 3);
    }
    let other = fleet.path("other.key");
    headway_service::secret::create(&other).unwrap();
    let path = fleet.path("c.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("ring.key", "other.key")).unwrap();
    for at in 0..3 {
        fleet.start(at);
    }
    fleet.until("c is refused", || {
        rejected(&fleet, 0, "unauthenticated") > 0
    });
    fleet.until("c is missed", || {
        fleet.status(0)["silent"].to_string().contains('c')
    });
    assert_eq!(fleet.status(0)["settled"], false);
    assert_eq!(fleet.status(0)["permits"], 0);
}

#[test]
fn a_roster_that_somebody_else_signed_is_not_taken() {
    let mut fleet = Fleet::new(43, &["a", "b", "c"], 1, 1);
    fleet.start_all();
    fleet.settle();
    let wrong = Key::new(b"not the key of the ring").unwrap();
    let roster = Roster {
        version: 99,
        ring: "test".into(),
        members: vec![Member {
            name: "evil".into(),
            address: "127.0.0.1:9".into(),
            http: None,
        }],
        ..Roster::default()
    };
    let signed = Signed::new(roster, &wrong);
    let sender = Sender {
        name: "evil".into(),
        address: "127.0.0.1:9".into(),
        mark: signed.mark(),
        wire: 1,
        newest: 1,
        drained: true,
        on_ring: false,
    };
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let offer = control::write(RingId([0; 16]), &sender, &Message::Offer, &wrong);
    for _ in 0..10 {
        socket.send_to(&offer, fleet.address(0)).unwrap();
    }
    fleet.until("counted", || {
        rejected(&fleet, 0, "control_unauthenticated") > 0
    });
    assert_eq!(fleet.status(0)["roster"], 1);
}

#[test]
fn a_key_that_everybody_can_read_stops_the_node_before_it_starts() {
    let mut fleet = Fleet::new(44, &["a", "b"], 1, 1);
    let key = fleet.path("ring.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    fleet.write_config(0, 2);
    fleet.start(0);
    assert_eq!(fleet.wait(0), 2);
    assert!(fleet.log(0).contains("chmod 600"), "{}", fleet.log(0));
    let secret = std::fs::read_to_string(&key).unwrap();
    assert!(!fleet.log(0).contains(secret.trim()), "never in a log");
}
