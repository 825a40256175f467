//! Which datagrams are listened to, and which are answered.

use headway_node::wire::{Header, Rejected, Released, field};
use headway_node::{Config, Event, Plan, RingId};

use super::fields::{fence_of, value_of};
use super::harness::{Nodes, events, told, us};
use super::scripted::{ELSEWHERE, Scripted, at};

/// Every datagram that is not for this node, not of its ring, or not new.
#[test]
fn what_is_not_listened_to_is_counted() {
    let plan = Plan::new(4, 2, 1).unwrap();
    let mut nodes = Nodes::new(plan, |config| {
        config.payload = 2;
        config.fence_ceiling = 1 << 40;
    });
    nodes.settle();
    let now = nodes.now + us(1);
    let mut sender = nodes.all[0].clone();
    sender.handle_timeout(now + us(50_000));
    let (_, good) = told(&mut sender)
        .into_iter()
        .find(|sent| sent.0 == 1)
        .unwrap();
    let receiver = &nodes.all[1];
    assert!(receiver.clone().handle_datagram(now, &good).is_ok());
    let values = 5_u32;
    type Change<'a> = &'a dyn Fn(&mut Vec<u8>);
    let changes: [(Rejected, Change<'_>); 17] = [
        (Rejected::Length, &|bytes| bytes.push(0)),
        (Rejected::Length, &|bytes| bytes.truncate(20)),
        (Rejected::Version, &|bytes| bytes[1] = b'X'),
        (Rejected::Version, &|bytes| bytes[2] = 2),
        (Rejected::Version, &|bytes| bytes[3] |= 2),
        (Rejected::Version, &|bytes| bytes[5] ^= 1),
        (Rejected::Version, &|bytes| bytes[7] ^= 1),
        (Rejected::Version, &|bytes| bytes[70] ^= 1),
        (Rejected::Unauthenticated, &|bytes| {
            *bytes.last_mut().unwrap() = 1;
        }),
        (Rejected::Ring, &|bytes| bytes[8] ^= 1),
        (Rejected::Sender, &|bytes| bytes[27] = 3),
        (Rejected::Receiver, &|bytes| bytes[31] = 2),
        (Rejected::Domain, &|bytes| {
            bytes[field::PHASE].copy_from_slice(&1000_i32.to_be_bytes());
        }),
        (Rejected::Domain, &|bytes| {
            bytes[76..80].copy_from_slice(&values.to_be_bytes());
        }),
        (Rejected::Domain, &|bytes| bytes[100] = 3),
        (Rejected::Fence, &|bytes| {
            bytes[80..88].copy_from_slice(&(i64::MAX - 3).to_be_bytes());
        }),
        (Rejected::Fence, &|bytes| {
            bytes[80..88].copy_from_slice(&((1_u64 << 40) + 1).to_be_bytes());
        }),
    ];
    for (number, (reason, change)) in changes.iter().enumerate() {
        let mut receiver = receiver.clone();
        let mut bytes = good.clone();
        change(&mut bytes);
        assert_eq!(
            receiver.handle_datagram(now, &bytes).err(),
            Some(*reason),
            "change {number}"
        );
        let count = 1;
        let expected = Event::Rejected {
            reason: *reason,
            count,
        };
        assert!(events(&mut receiver).contains(&expected), "change {number}");
        let counted = receiver.rejected().find(|(counted, _)| counted == reason);
        let before = nodes.all[1]
            .rejected()
            .find(|(counted, _)| counted == reason);
        assert_eq!(counted.unwrap().1, before.unwrap().1 + 1);
    }
    // The largest that may be.
    let mut bytes = good.clone();
    bytes[80..88].copy_from_slice(&(1_u64 << 40).to_be_bytes());
    assert!(receiver.clone().handle_datagram(now, &bytes).is_ok());
    // A copy is stale, and twice is twice.
    let mut receiver = nodes.all[1].clone();
    let _ = events(&mut receiver);
    assert!(receiver.handle_datagram(now, &good).is_ok());
    assert_eq!(
        receiver.handle_datagram(now, &good).err(),
        Some(Rejected::Stale)
    );
    assert_eq!(
        receiver.handle_datagram(now, &good).err(),
        Some(Rejected::Stale)
    );
    let expected = Event::Rejected {
        reason: Rejected::Stale,
        count: 2,
    };
    assert!(events(&mut receiver).contains(&expected));
}

/// A datagram of an unknown incarnation is answered, so that it can answer the challenge;
/// a copy is not.
#[test]
fn only_an_unknown_incarnation_is_answered_when_stale() {
    let mut node = Scripted::in_phase(Plan::new(3, 1, 1).unwrap(), 3, &[]);
    let tokens = [ELSEWHERE];
    for sender in [0, 2] {
        node.hears(at(sender, 3), &tokens).unwrap();
    }
    let _ = node.answers();
    for sender in [0, 2] {
        let copy = at(sender, 3);
        assert_eq!(node.hears_as_it_is(copy, &tokens), Err(Rejected::Stale));
        assert_eq!(node.answers(), []);
        let other = Header {
            incarnation: 8,
            ..copy
        };
        assert_eq!(node.hears_as_it_is(other, &tokens), Err(Rejected::Stale));
        assert_eq!(node.answers(), [sender]);
    }
}

/// Without anything to tell, a neighbour is answered when it repeats itself a tick behind,
/// when it has come to a phase at which it waits for the word that it is known, and when
/// it joins; otherwise not.
#[test]
fn a_neighbour_that_waits_for_an_answer_gets_one() {
    let tokens = [ELSEWHERE];
    let plan = Plan::new(3, 1, 1).unwrap();
    let clock = Config::new(RingId([7; 16]), 1, plan).domain().clock;
    let last = clock.modulus - 1;
    // Own phase, the neighbour's phase before and now, and whether it is answered.
    for (own, before, now, answered) in [
        // Repeated: behind, in step, ahead.
        (3, 2, 2, true),
        (3, 3, 3, false),
        (3, 4, 4, false),
        // News, of whatever phase.
        (3, 1, 2, false),
        (3, 2, 3, false),
        (3, 3, 4, false),
        // Round the turn: news of phase 0, and 0 repeated.
        (last, last, 0, true),
        (0, last, 0, true),
        (last, 0, 0, false),
        (0, 0, 0, false),
        (0, last, last, true),
        // In the tail.
        (0, -2, -1, true),
        (0, -2, -2, false),
        (0, 0, 1, false),
    ] {
        let mut node = Scripted::in_phase(plan, own, &[]);
        let case = format!("{own}: {before} {now}");
        node.hears(at(2, before), &tokens).unwrap();
        let _ = node.answers();
        node.hears(at(2, now), &tokens).unwrap();
        assert_eq!(node.machine.phase(), own, "node 0 was not heard: it waits");
        assert_eq!(node.answers(), vec![2; usize::from(answered)], "{case}");
    }
    let mut node = Scripted::in_phase(plan, 3, &[]);
    node.hears(at(2, 3), &tokens).unwrap();
    let _ = node.answers();
    for _ in 0..2 {
        let joining = Header {
            joining: true,
            ..at(2, 3)
        };
        node.hears(joining, &tokens).unwrap();
        assert_eq!(node.answers(), [2]);
    }
}

/// What a token carries and its number are the predecessor's word; a successor's, or that
/// of a predecessor that has just started and knows nothing, is not listened to.
#[test]
fn a_token_comes_with_what_its_predecessor_says() {
    let mut config = Config::new(RingId([7; 16]), 1, Plan::logical(6, 2, 2, 1).unwrap());
    config.payload = 4;
    let fields = [(fence_of(1), 40), (value_of(1), 0)];
    let mut node = Scripted::configured(config, 1, &fields);
    // The predecessor is a tick ahead, in which it has passed on token 1.
    let ahead = Header {
        released: Some(Released {
            token: 1,
            previous: 0,
        }),
        ..at(0, 2)
    };
    node.hears(ahead, &[ELSEWHERE, (1, 70, b"abc")]).unwrap();
    // It starts again, and says so.
    let joining = Header {
        joining: true,
        ..at(0, 0)
    };
    node.hears(joining, &[ELSEWHERE, (0, 5, b"zz")]).unwrap();
    assert_eq!(node.machine.held().count(), 0);
    // The successor lets this node tick, and has numbers of its own.
    node.hears(at(2, 1), &[ELSEWHERE, (0, 900, b"x")]).unwrap();
    assert_eq!(node.machine.phase(), 2);
    let held: Vec<_> = node
        .machine
        .held()
        .map(|held| (held.token, held.fence))
        .collect();
    assert_eq!(held, [(1, 71)]);
    assert_eq!(node.machine.payload(1), b"abc");
    assert_eq!(node.machine.payload(0), b"");
}

/// In a ring of two, of two datagrams that have crossed only node 0 answers: otherwise
/// two would go to and fro forever.
#[test]
fn node_1_of_two_is_quiet_when_datagrams_cross() {
    for (index, other, answers) in [(0, 1, vec![1]), (1, 0, vec![])] {
        let plan = Plan::new(2, 1, 1).unwrap();
        let config = Config::new(RingId([7; 16]), index, plan);
        let mut node = Scripted::configured(config, 1, &[]);
        assert_eq!(node.answers(), [other]);
        // It does not echo what was just told.
        node.hears(at(other, 1), &[ELSEWHERE]).unwrap();
        assert_eq!(node.machine.phase(), 2, "it has ticked");
        assert_eq!(node.answers(), answers);
        // After a while everything is told again.
        node.machine
            .handle_timeout(node.now + config.timing.refresh);
        assert_eq!(node.answers(), [other]);
    }
}

/// A node goes on from what it remembered a while ago: whoever has heard it since does not answer
/// its earlier questions, also if it speaks first, so that it notices at once. After as long as a
/// permit may last it is answered all the same: the other one's memory may be wrong.
#[test]
fn who_was_put_back_hears_that_it_knew_more() {
    for (late, noticed) in [(1_000, true), (100_000, true), (2_000_000, false)] {
        let plan = Plan::moving_block(3, 1, 1).unwrap();
        let mut nodes = Nodes::new(plan, |config| {
            config.timing.max_hold = us(400_000);
            config.timing.stop_timeout = us(100_000);
        });
        nodes.settle();
        let before = nodes.all[0].clone();
        nodes.run(50_000);
        nodes.all[0] = before;
        nodes.now += us(late);
        // It speaks first.
        nodes.run(25_000);
        assert_eq!(nodes.all[0].was_put_back(), noticed, "{late}");
    }
}
