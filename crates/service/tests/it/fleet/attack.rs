//! What somebody without a key can send: it is counted. (What somebody with a member's key can say:
//! `virtual_time`.)

use std::net::UdpSocket;

use headway_node::wire::block::Told;
use headway_node::wire::{Header, Layout};
use headway_node::{Key, RingId, Rule};
use headway_service::internal::control::{self, Message, Sender};
use headway_service::internal::roster::Mark;

use crate::harness::Fleet;
use crate::observer::closest;

pub(crate) fn rejected(fleet: &Fleet, at: usize, reason: &str) -> u64 {
    fleet.status(at)["rejected"][reason].as_u64().unwrap_or(0)
}

#[test]
fn forged_truncated_oversized_and_flooded_datagrams_are_counted_and_the_ring_is_unharmed() {
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1).with_observer(0.01);
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
    let name = RingId([7; 16]);
    let offer = |who| control::write(name, &sender(who, Mark::default()), &Message::Offer, &wrong);
    let (of_a_stranger, of_b) = (offer("x"), offer("b"));
    // The kernel loses what a node is too busy for.
    let said: [&[u8]; 8] = [
        &forged,
        &forged[..40],
        &[0x48; 1400],
        &[b'H'; 60_000],
        b"",
        b"HC",
        &of_a_stranger,
        &of_b,
    ];
    for reason in [
        "unauthenticated",
        "length",
        "control_malformed",
        "control_stranger",
        "control_unauthenticated",
    ] {
        fleet.until(reason, || {
            said.iter().for_each(|bytes| send(bytes));
            rejected(&fleet, 0, reason) > 0
        });
    }
    assert!(fleet.log(0).contains("datagrams rejected"));
    assert!(fleet.metric(0, "headway_rejected_total{reason=\"unauthenticated\"}") >= 1.0);
    // A flood, bounded in count and time: permits still come and stay apart.
    let before = fleet.observed().len();
    for _ in 0..20_000 {
        send(&forged);
    }
    fleet.until("work goes on", || fleet.observed().len() > before + 20);
    assert_eq!(closest(&fleet.observed(), &fleet.names), None);
    fleet.settle();
}

fn sender(name: &str, mark: Mark) -> Sender {
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
