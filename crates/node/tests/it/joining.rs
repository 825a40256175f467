//! A node that remembers nothing takes its place between any two neighbours: in step
//! with both if that can be, holding nothing, and not before it knows enough.

use std::time::Duration;

use headway_core::token_ring::holds;
use headway_node::wire::{Header, Layout, Released};
use headway_node::{Config, Key, Machine, Plan, RingId, Role, Rule};

const NOW: Duration = Duration::from_millis(5);

fn config(index: u32) -> Config {
    let plan = Plan::logical(5, 2, 2, 1).unwrap();
    let mut config = Config::new(RingId([7; 16]), index, plan);
    // Nothing ticks while it is looked at.
    config.timing.tick = Duration::from_secs(10);
    config.turn_phases = 1;
    config
}

fn layout() -> Layout {
    Layout {
        tokens: 2,
        payload: 0,
        rule: Rule::LockStep,
        version: headway_node::wire::VERSION,
    }
}

/// A neighbour's state: its phase, or none if it is joining, and its values.
type Told = (Option<i32>, [u32; 2]);

/// A fresh node that is told this by its predecessor and its successor.
fn joined(config: Config, predecessor: Option<Told>, successor: Option<Told>) -> Machine {
    let mut machine = Machine::new(config, Key::none(), 1234).unwrap();
    machine.handle_timeout(NOW);
    let neighbours = [
        (config.predecessor(), predecessor),
        (config.successor(), successor),
    ];
    let mut buffer = [0; 1500];
    let mut asked = Vec::new();
    while let Some(sent) = machine.poll_transmit(&mut buffer) {
        let datagram = layout().read(&buffer[..sent.bytes], &Key::none()).unwrap();
        assert!(datagram.header.joining);
        asked.push((sent.to, datagram.header.challenge));
    }
    assert_eq!(asked.len(), 2);
    for (to, challenge) in asked {
        let (sender, told) = neighbours.iter().find(|(node, _)| *node == to).unwrap();
        let Some((phase, values)) = told else {
            continue;
        };
        assert!(!machine.joined(), "not before both have answered");
        let header = Header {
            ring: config.ring,
            sender: *sender,
            receiver: config.index,
            joining: phase.is_none(),
            incarnation: 9,
            sequence: 1,
            challenge: 3,
            echo: challenge,
            phase: phase.unwrap_or(0),
            released: None::<Released>,
        };
        let tokens = values.iter().map(|&value| (value, 0, &[][..]));
        let mut answer = [0; 1500];
        let bytes = layout().write(&header, tokens, None, &Key::none(), &mut answer);
        machine.handle_datagram(NOW, &answer[..bytes]).unwrap();
    }
    machine
}

#[test]
fn its_phase_is_in_step_with_both_if_any_is() {
    let config = config(1);
    let clock = config.domain().clock;
    let phases = || -clock.tail..clock.modulus;
    for one in phases() {
        for other in phases() {
            let machine = joined(
                config,
                Some((Some(one), [0; 2])),
                Some((Some(other), [0; 2])),
            );
            assert!(machine.joined());
            let phase = machine.phase();
            let in_step = |phase| clock.in_step(phase, one) && clock.in_step(phase, other);
            if phases().any(in_step) {
                assert!(in_step(phase), "{one} {phase} {other}");
                assert_eq!(machine.resets(), 0);
                // Behind the one that is ahead, so that it holds nobody up.
                if one == other || clock.after(one) == other {
                    assert_eq!(phase, one);
                } else if clock.after(other) == one {
                    assert_eq!(phase, other);
                }
            } else if one <= 0 && other <= 0 {
                // In the tail with them, from where it may climb at once.
                let lowest = one.min(other);
                assert!(
                    (lowest..=lowest + 1).contains(&phase),
                    "{one} {phase} {other}"
                );
                assert_eq!(machine.resets(), 0);
            } else {
                assert_eq!(phase, -clock.tail, "{one} {phase} {other}");
                assert_eq!(machine.resets(), 0);
            }
        }
    }
}

#[test]
fn it_holds_nothing_and_neither_does_its_successor_because_of_it() {
    for index in 0..5 {
        let config = config(index);
        let values = config.domain().values;
        for before in 0..values {
            for after in 0..values {
                let told = |value| Some((Some(3), [value; 2]));
                let own = joined(config, told(before), told(after)).local().values[0];
                assert!(own < values);
                assert!(
                    !holds(own, before, index == 0),
                    "{index}: {before} {own} {after}"
                );
                if index == 0 && before != after {
                    assert!(!holds(after, own, false), "{before} {own} {after}");
                }
            }
        }
    }
}

#[test]
fn one_neighbour_is_enough_when_the_other_is_as_new() {
    let new = Some((None, [0; 2]));
    let known = Some((Some(3), [2, 4]));
    for index in 0..5 {
        let config = config(index);
        let machine = joined(config, known, new);
        assert!(machine.joined());
        let expected = if index == 0 { vec![3, 5] } else { vec![2, 4] };
        assert_eq!((machine.phase(), machine.local().values), (3, expected));
        let machine = joined(config, new, known);
        assert!(machine.joined());
        assert_eq!((machine.phase(), machine.local().values), (3, vec![2, 4]));
        // A ring that is all new begins at 0, all tokens at node 0.
        let machine = joined(config, new, new);
        assert!(machine.joined());
        assert_eq!((machine.phase(), machine.local().values), (0, vec![0, 0]));
        // The largest value is followed by 0.
        if index == 0 {
            let machine = joined(config, Some((Some(3), [5, 5])), new);
            assert_eq!(machine.local().values, [0, 0]);
        }
    }
}

/// A delay among others behaves as if it had just released; a node of a new ring may
/// release at once.
#[test]
fn its_counter_is_the_safe_one() {
    let known = Some((Some(3), [1, 1]));
    let new = Some((None, [0; 2]));
    for (role, among_others) in [(Role::Delay, 1), (Role::Relay, 0)] {
        let config = Config { role, ..config(2) };
        for (predecessor, successor) in [(known, known), (known, new), (new, known)] {
            let machine = joined(config, predecessor, successor);
            assert_eq!(machine.local().counter, among_others);
        }
        assert_eq!(joined(config, new, new).local().counter, 0);
    }
}

#[test]
fn it_waits_for_both_and_not_for_ever() {
    let config = config(1);
    let known = Some((Some(3), [2, 4]));
    for (predecessor, successor) in [(known, None), (None, known)] {
        let mut machine = joined(config, predecessor, successor);
        assert!(!machine.joined());
        let silence = config.timing.heartbeat_timeout;
        machine.handle_timeout(NOW + silence - Duration::from_micros(1));
        assert!(!machine.joined());
        machine.handle_timeout(NOW + silence);
        assert!(machine.joined());
        assert_eq!((machine.phase(), machine.local().values), (3, vec![2, 4]));
    }
}
