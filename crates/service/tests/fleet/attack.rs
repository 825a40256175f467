//! What somebody without a key, or with another member's, or with an old datagram, can do: be
//! counted.

use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use headway_node::wire::block::Told;
use headway_node::wire::{Header, Layout};
use headway_node::{Key, RingId, Rule};
use headway_service::identity::{Identity, Purpose, Signer};
use headway_service::internal::control::{self, Letter, Message, Sender};
use headway_service::internal::roster::{Mark, Roster, Signed};
use headway_service::operator;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::Fleet;
use crate::observer::{closest, fences_grow};

pub(crate) fn rejected(fleet: &Fleet, at: usize, reason: &str) -> u64 {
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
    for who in ["x", "b"] {
        let offer = control::write(name, &sender(who, Mark::default()), &Message::Offer, &wrong);
        send(&offer);
    }
    for reason in [
        "unauthenticated",
        "length",
        "control_malformed",
        "control_stranger",
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
    let mut fleet = Fleet::new(42, &["a", "b", "c"], 1, 1).with_shared_key();
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

/// One member is compromised: it has its own secrets and everybody's public keys. It speaks for
/// itself, and for nobody else. The same with the secrets of those whom it speaks for is the
/// counter-test: then everything is believed, so a node that took any key would be noticed.
#[test]
fn a_compromised_member_speaks_for_itself_only() {
    let names = ["a", "b", "c", "d", "e"];
    let mut fleet = Fleet::new(43, &names, 1, 1);
    fleet.start_all();
    fleet.settle();
    // e is the one; its node does not run any more, and somebody sits at its keys.
    let ring = control_ring();
    let identities: Vec<Identity> = (0..5)
        .map(|at| fleet.identities(at).list()[0].clone())
        .collect();
    let first = fleet.ask(0, "GET", "/v1/roster", None).unwrap();
    let first: Roster = serde_json::from_value(first).unwrap();
    let mut evil = first.clone();
    evil.version = 99;
    evil.members.truncate(2);
    let forge = |signers: &[usize]| {
        let mut forged = Signed::new(evil.clone());
        for at in signers {
            let vouch = identities[*at].signer().vouch(&forged.mark().message());
            assert!(forged.add(vouch));
        }
        forged
    };
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = fleet.address(0);
    let say = |as_name: &str, with: usize, mark: Mark, message: &Message| {
        let key = identities[with].key_with(
            "test",
            Purpose::Control,
            as_name,
            ("a", &identities[0].public()),
        );
        let bytes = control::write(ring, &sender(as_name, mark), message, &key.unwrap());
        socket.send_to(&bytes, &to).unwrap();
    };
    let refused = |fleet: &Fleet| rejected(fleet, 0, "control_unauthenticated");
    // As b: an offer, a pong, a letter, signatures, each with e's secrets.
    let own = Signed::new(first.clone()).mark();
    let forged = forge(&[4]);
    let letter = Letter {
        log: 1,
        number: 2,
        is_answer: true,
        part: 0,
        parts: 1,
        bytes: vec![1],
    };
    let vouches = |forged: &Signed| Message::Vouches {
        mark: forged.mark(),
        list: forged.signatures().collect(),
    };
    for message in [
        Message::Offer,
        Message::Pong { nonce: 7 },
        Message::Echo {
            nonce: 7,
            later: false,
        },
        Message::Letter(letter),
        vouches(&forged),
    ] {
        let before = refused(&fleet);
        say("b", 4, own, &message);
        fleet.until("refused", || refused(&fleet) > before);
    }
    // As b, on the ring: a hop with e's key for its own link; b's own key is listened to, and what
    // is wrong then is the ring.
    let layout = Layout {
        tokens: 1,
        payload: 0,
        rule: Rule::MovingBlock,
        version: 1,
    };
    let header = Header {
        receiver: 0,
        sender: 1,
        ..Header::default()
    };
    for (name, with, reason) in [("e", 4, "unauthenticated"), ("b", 1, "ring")] {
        let other = ("a", &identities[0].public());
        let hop = identities[with].key_with("test", Purpose::Hop, name, other);
        let mut bytes = vec![0; layout.bytes()];
        layout.write(
            &header,
            [(1, 5, &[][..])].into_iter(),
            Some((&Told::default(), &[0])),
            &hop.unwrap(),
            &mut bytes,
        );
        let before = rejected(&fleet, 0, reason);
        socket.send_to(&bytes, fleet.address(0)).unwrap();
        fleet.until(reason, || rejected(&fleet, 0, reason) > before);
    }
    // As itself: a roster that it alone has signed is not taken, and a says so.
    say("e", 4, forged.mark(), &vouches(&forged));
    fleet.until("an alarm", || {
        let alarms = fleet.status(0)["alarms"].to_string();
        alarms.contains("e offers roster 99, which too few keepers have signed")
    });
    assert_eq!(fleet.status(0)["roster"], 1);
    assert_eq!(fleet.status(0)["settled"], true);
    // With a majority's secrets it would have been taken: e serves what it offers.
    fleet.kill(4);
    let server = UdpSocket::bind(fleet.address(4)).unwrap();
    server
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    let proved = forge(&[2, 3, 4]);
    fleet.until("taken", || {
        say("e", 4, proved.mark(), &vouches(&proved));
        for (chunk, bytes) in (0..).zip(proved.bytes().chunks(control::CHUNK_BYTES)) {
            let digest = proved.mark().digest;
            let bytes = bytes.to_vec();
            say(
                "e",
                4,
                proved.mark(),
                &Message::Chunk {
                    digest,
                    chunk,
                    bytes,
                },
            );
        }
        fleet.status(0)["roster"] == 99
    });
}

/// Somebody has the key that all share, and speaks with a thousand names: that is a few alarms, a
/// few lines in the log, and no harm to the ring.
#[test]
fn a_flood_of_alarms_from_a_key_holder_is_bounded() {
    const NAMES: u64 = 1_000;
    let mut fleet = Fleet::new(48, &["a", "b", "c"], 1, 1)
        .with_shared_key()
        .with_observer(0.01);
    fleet.start_all();
    fleet.settle();
    let key = headway_service::secret::key(&fleet.path("ring.key")).unwrap();
    let wrong = Key::new(b"not the key of the ring").unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let say = |name: &str, mark: Mark, key: &Key| {
        let bytes = control::write(control_ring(), &sender(name, mark), &Message::Offer, key);
        socket.send_to(&bytes, fleet.address(0)).unwrap();
    };
    let refused = || rejected(&fleet, 0, "control_unauthenticated");
    for number in 0..NAMES {
        let mark = Mark {
            version: 1,
            digest: [7; 32],
            size: 9,
        };
        say(&format!("x{number}"), mark, &key);
        if number % 100 == 99 {
            // What came before has been read.
            let before = refused();
            fleet.until("read", || {
                say("x", mark, &wrong);
                refused() > before
            });
        }
    }
    let said = "was configured with other members";
    let alarms = fleet.status(0)["alarms"].as_array().unwrap().len();
    let lines = fleet.log(0).matches(said).count();
    assert!((1..=16).contains(&alarms), "{alarms} alarms");
    assert!((1..=16).contains(&lines), "{lines} lines");
    let before = fleet.observed().len();
    fleet.until("work goes on", || fleet.observed().len() > before + 20);
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
}

pub(crate) fn sender(name: &str, mark: Mark) -> Sender {
    Sender {
        name: name.into(),
        address: "127.0.0.1:9".into(),
        mark,
        wire: 1,
        newest: 1,
        boot: 7,
        drained: true,
        on_ring: false,
    }
}

/// What control datagrams of the ring "test" are known by.
pub(crate) fn control_ring() -> RingId {
    let digest = Sha256::digest(b"headway ring name 1test");
    let mut id = RingId([0; 16]);
    id.0.copy_from_slice(&digest[..16]);
    id
}

/// An operator's word begins a new log for everybody; somebody else's does not.
#[test]
fn an_operators_word_counts_everywhere() {
    let names = ["a", "b", "c", "d", "e"];
    let mut fleet = Fleet::new(45, &names, 1, 1).with_observer(0.01);
    let [first, other] = [1, 2].map(|number| Signer::new(&[number; 32]));
    fleet.ring += &format!("operator_key = \"{}\"\n", first.public());
    fleet.start_all();
    fleet.settle();
    // Another key for the operator, by an entry of the log.
    let next = Signer::new(&[3; 32]);
    let rotate = |by: &Signer| {
        let signature = operator::sign_key("test", next.public(), by);
        let body = json!({ "key": next.public(), "signature": signature });
        fleet.ask(0, "POST", "/v1/operator", Some(&body))
    };
    assert!(rotate(&other).unwrap_err().contains("not signed"));
    assert_eq!(rotate(&first).unwrap()["version"], 2);
    let known = fleet.observed().len();
    fleet.until("all know", || {
        (0..5).all(|at| fleet.status(at)["roster"] == 2 && fleet.status(at)["settled"] == true)
    });
    fleet.until("all work", || {
        let seen = &fleet.observed()[known..];
        names
            .iter()
            .all(|name| seen.iter().any(|seen| seen.node == *name))
    });
    assert!(
        (0..5).all(|at| !fleet.log(at).contains("SIGTERM")),
        "nobody was stopped for it"
    );
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
    fences_grow(&fleet.observed());
    for at in [2, 3, 4] {
        fleet.kill(at);
    }
    let gone = ["c", "d", "e"];
    let recover = |more: (&str, Value)| {
        let mut body = json!({ "gone": gone });
        body[more.0] = more.1;
        fleet.ask(0, "POST", "/v1/recover", Some(&body))
    };
    let unsigned = recover(("unsigned", true.into())).unwrap();
    let unsigned = unsigned["unsigned"].as_str().unwrap();
    let gone = gone.map(str::to_owned);
    let sign = |by| operator::sign_roster(unsigned, "test", &gone, by).unwrap();
    for by in [&other, &first] {
        let refused = recover(("signature", sign(by).into())).unwrap_err();
        assert!(refused.contains("not signed"), "{refused}");
    }
    let more = ["b".to_owned()];
    assert_eq!(operator::sign_roster(unsigned, "test", &more, &next), None);
    assert_eq!(
        recover(("signature", sign(&next).into())).unwrap()["version"],
        1002
    );
    fleet.until("b believes it, too", || {
        (0..2).all(|at| fleet.status(at)["roster"] == 1002 && fleet.status(at)["settled"] == true)
    });
}

#[test]
fn a_key_that_everybody_can_read_stops_the_node_before_it_starts() {
    let mut fleet = Fleet::new(44, &["a", "b"], 1, 1);
    fleet.write_config(0, 2);
    let key = fleet.path("a.identity");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    fleet.start(0);
    assert_eq!(fleet.wait(0), 2);
    assert!(fleet.log(0).contains("chmod 600"), "{}", fleet.log(0));
    let secret = std::fs::read_to_string(&key).unwrap();
    assert!(!fleet.log(0).contains(secret.trim()), "never in a log");
}
