//! Whatever a memory holds, it is in its domain before anything is done with it; and what
//! a datagram says is looked at to the last value that may be.

use headway_node::wire::{HEADER_BYTES, Header, Layout, Released};
use headway_node::{Config, Key, Machine, Plan, RestoreError, RingId, Role, Rule, recovery_rounds};

use super::fields::{
    BASE, COUNTER, ELAPSED, IGNORE, NOW, PHASE, Place, RELEASED_PREVIOUS, RELEASED_TOKEN, TURN,
    fence_of, payloads_of, restored, stage_of, value_of,
};

fn config(role: Role) -> Config {
    let mut config = Config::new(RingId([7; 16]), 1, Plan::logical(6, 2, 3, 1).unwrap());
    config.role = role;
    config.payload = 3;
    config.fence_floor = 40;
    config
}

/// What a field of a node is once it has been called.
fn after(config: Config, fields: &[(Place, i64)], (at, size): Place) -> i64 {
    let mut node = restored(config, fields).unwrap();
    node.handle_timeout(NOW);
    let mut bytes = Vec::new();
    node.save_unsealed(&mut bytes);
    let mut wide = [0; 8];
    wide[8 - size..].copy_from_slice(&bytes[at..at + size]);
    let value = i64::from_be_bytes(wide);
    // Four bytes may be a number below 0.
    if size == 4 {
        i64::from(value as i32)
    } else {
        value
    }
}

#[test]
fn every_field_is_put_back_into_its_domain() {
    let delay = config(Role::Delay);
    let clock = delay.domain().clock;
    let (tail, modulus) = (i64::from(clock.tail), i64::from(clock.modulus));
    let values = i64::from(delay.domain().values);
    let relay = config(Role::Relay);
    for (config, place, value, expected) in [
        (delay, PHASE, -tail - 1, -tail),
        (delay, PHASE, -tail, -tail),
        (delay, PHASE, -1, -1),
        (delay, PHASE, 0, 0),
        (delay, PHASE, modulus - 1, modulus - 1),
        (delay, PHASE, modulus, -tail),
        (delay, COUNTER, -1, 0),
        (delay, COUNTER, 2, 2),
        (delay, COUNTER, 3, 2),
        (relay, COUNTER, 1, 0),
        (delay, TURN, 1, 1),
        (delay, TURN, 2, 0),
        (delay, IGNORE, -1, 0),
        (delay, IGNORE, 2, 2),
        (delay, IGNORE, 3, 2),
        (delay, BASE, -1, 0),
        (delay, value_of(1), values - 1, values - 1),
        (delay, value_of(1), values, 0),
        (delay, fence_of(1), 39, 40),
        (delay, fence_of(1), 41, 41),
    ] {
        let found = after(config, &[(place, value)], place);
        assert_eq!(found, expected, "{value} at {place:?}");
    }
    // A payload that claims to be longer than it can be is cut when it is asked for.
    for (length, expected) in [(0, 0), (3, 3), (4, 3), (255, 3)] {
        let (at, _) = payloads_of(2);
        let second = (at + 4, 1);
        let node = restored(delay, &[(second, length)]).unwrap();
        assert_eq!(node.payload(1).len(), expected);
        assert_eq!(node.payload(0).len(), 0);
    }
    // The largest that a field may have stays, and one more becomes it.
    let measure = config(Role::Measure);
    for place in [ELAPSED, BASE, COUNTER] {
        let largest = after(measure, &[(place, i64::from(i32::MAX))], place);
        assert!((2..100).contains(&largest), "{largest} at {place:?}");
        for (value, expected) in [
            (largest - 1, largest - 1),
            (largest, largest),
            (largest + 1, largest),
        ] {
            assert_eq!(after(measure, &[(place, value)], place), expected);
        }
    }
}

#[test]
fn what_was_released_is_a_token_and_a_value() {
    let config = config(Role::Delay);
    let values = i64::from(config.domain().values);
    const NONE: i64 = 0xFFFF;
    for (token, previous, expected) in [
        (1, values - 1, 1),
        (0, 0, 0),
        (2, 0, NONE),
        (1, values, NONE),
        (2, values, NONE),
    ] {
        let fields = [(RELEASED_TOKEN, token), (RELEASED_PREVIOUS, previous)];
        assert_eq!(
            after(config, &fields, RELEASED_TOKEN),
            expected,
            "{fields:?}"
        );
    }
}

#[test]
fn every_stage_of_a_permit_is_restored() {
    let config = config(Role::Delay);
    for stage in 0..4 {
        let node = restored(config, &[(stage_of(1), stage)]).unwrap();
        let mut bytes = Vec::new();
        node.save_unsealed(&mut bytes);
        assert_eq!(i64::from(bytes[stage_of(1).0]), stage);
    }
    let error = restored(config, &[(stage_of(1), 4)]).unwrap_err();
    assert_eq!(error, RestoreError::Damaged);
}

#[test]
fn a_datagram_is_in_its_domain_to_the_last_value() {
    let layout = Layout {
        tokens: 2,
        payload: 2,
        rule: Rule::LockStep,
        version: headway_node::wire::VERSION,
    };
    let in_domain = |phase, released, value: u32, payload: &[u8]| {
        let header = Header {
            ring: RingId([7; 16]),
            sender: 0,
            receiver: 1,
            joining: false,
            incarnation: 1,
            sequence: u64::MAX,
            challenge: 0x0102_0304_0506_0708,
            echo: 1 << 40 | 1,
            phase,
            released,
        };
        let mut bytes = [0; 1500];
        let fence = 0xFFFF_FFFF_0000_0001;
        let tokens = [(0, 0, &[][..]), (value, fence, payload)];
        let size = layout.write(&header, tokens.into_iter(), None, &Key::none(), &mut bytes);
        let datagram = layout.read(&bytes[..size], &Key::none()).unwrap();
        assert_eq!(datagram.header, header);
        let (_, read, carried) = datagram.tokens().nth(1).unwrap();
        assert_eq!(read, fence);
        assert_eq!(carried, payload);
        datagram.in_domain(6, -2..9)
    };
    let released = |token, previous| Some(Released { token, previous });
    let payload = b"ab";
    for (phase, is) in [(-3, false), (-2, true), (8, true), (9, false)] {
        assert_eq!(in_domain(phase, None, 5, payload), is, "phase {phase}");
    }
    for (value, is) in [(5, true), (6, false)] {
        assert_eq!(in_domain(0, None, value, payload), is, "value {value}");
    }
    for (token, previous, is) in [(1, 5, true), (2, 5, false), (1, 6, false), (2, 6, false)] {
        let told = released(token, previous);
        assert_eq!(in_domain(0, told, 5, payload), is, "{told:?}");
    }
}

/// Whoever reads a datagram without asking whether it is in its domain gets no more
/// than there is.
#[test]
fn a_payload_that_claims_too_much_is_cut() {
    let layout = Layout {
        tokens: 2,
        payload: 2,
        rule: Rule::LockStep,
        version: headway_node::wire::VERSION,
    };
    let tokens = [(1, 2, &b"ab"[..]), (3, 4, &b"c"[..])];
    let mut bytes = vec![0; layout.bytes()];
    layout.write(
        &Header::default(),
        tokens.into_iter(),
        None,
        &Key::none(),
        &mut bytes,
    );
    for length in [3, 4, 255] {
        bytes[HEADER_BYTES + 2 * 12] = length;
        let read = layout.read(&bytes, &Key::none()).unwrap();
        assert_eq!(read.tokens().collect::<Vec<_>>(), tokens);
        assert!(!read.in_domain(9, 0..9));
    }
}

#[test]
fn datagrams_are_counted() {
    let mut node = Machine::new(config(Role::Delay), Key::none(), 1).unwrap();
    assert_eq!(node.datagrams(), 0);
    let mut buffer = [0; 1500];
    node.handle_timeout(NOW);
    for count in 1..=2 {
        node.poll_transmit(&mut buffer).unwrap();
        assert_eq!(node.datagrams(), count);
    }
}

#[test]
fn recovery_takes_ten_turns_and_two_for_every_token() {
    for (nodes, tokens) in [(5, 1), (7, 3), (40, 5)] {
        let plan = Plan::logical(nodes, tokens, 1, 1).unwrap();
        let turns = 10 + 2 * u64::from(tokens);
        assert_eq!(recovery_rounds(&plan), turns * u64::from(nodes));
    }
}
