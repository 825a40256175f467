//! When things are due, to the microsecond: what is told again, who is silent, when a clock ticks.

use std::time::Duration;

use headway_node::{Config, Event, Key, Machine, Plan, RingId};

use super::fields::{NOW, restored};
use super::harness::{Nodes, events, machine, told, us};
use super::scripted::{ELSEWHERE, Scripted, at};

#[test]
fn the_state_is_told_again_after_a_refresh_and_not_before() {
    let mut alone = machine(|_| {});
    alone.handle_timeout(us(1000));
    let first = told(&mut alone);
    assert_eq!(first.iter().map(|sent| sent.0).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(told(&mut alone), []);
    assert_eq!(alone.poll_timeout(), us(21_000));
    alone.handle_timeout(us(20_999));
    assert_eq!(told(&mut alone), []);
    alone.handle_timeout(us(21_000));
    let again = told(&mut alone);
    assert_eq!(again.len(), 2);
    assert_ne!(again, first, "under a new number");
    assert_eq!(alone.poll_timeout(), us(41_000));
}

#[test]
fn silence_is_noticed_when_it_is_due() {
    let mut alone = machine(|config| config.timing.heartbeat_timeout = us(100_000));
    alone.handle_timeout(us(1000));
    let _ = told(&mut alone);
    assert_eq!(alone.silent().count(), 0);
    alone.handle_timeout(us(100_999));
    assert_eq!(events(&mut alone), []);
    assert!(!alone.joined(), "it waits for an answer as long");
    alone.handle_timeout(us(101_000));
    let seen: Vec<_> = alone.neighbours().collect();
    assert_eq!(seen.iter().map(|one| one.node).collect::<Vec<_>>(), [0, 2]);
    assert!(seen.iter().all(|one| one.heard.is_none() && one.silent));
    let silent = [Event::Silent { node: 0 }, Event::Silent { node: 2 }];
    assert_eq!(events(&mut alone), silent);
    assert_eq!(alone.silent().collect::<Vec<_>>(), [0, 2]);
    assert!(alone.joined(), "nobody is there: the ring is new");
    assert_eq!(events(&mut alone), [], "told once");
}

#[test]
fn a_silent_neighbour_that_speaks_is_heard() {
    let plan = Plan::new(3, 1, 1).unwrap();
    let mut nodes = Nodes::new(plan, |_| {});
    nodes.settle();
    nodes.events.clear();
    // Nodes 1 and 2 go on without node 0 until they call it silent.
    let gone = nodes.all[0].clone();
    for step in 1..=600 {
        let now = nodes.now + us(1000 * step);
        for index in [1, 2] {
            nodes.all[index].handle_timeout(now);
            for (to, bytes) in told(&mut nodes.all[index]) {
                if to != 0 {
                    let _ = nodes.all[to as usize].handle_datagram(now, &bytes);
                }
            }
        }
    }
    nodes.now += us(600_000);
    for index in [1, 2] {
        assert!(events(&mut nodes.all[index]).contains(&Event::Silent { node: 0 }));
    }
    nodes.all[0] = gone;
    nodes.run(30_000);
    for index in [1, 2] {
        assert!(nodes.events.contains(&(index, Event::Heard { node: 0 })));
        assert_eq!(nodes.all[index].silent().count(), 0);
        let recently =
            |heard: Option<Duration>| heard.is_some_and(|at| at + us(30_000) >= nodes.now);
        assert!(
            nodes.all[index]
                .neighbours()
                .all(|one| recently(one.heard) && !one.silent)
        );
    }
}

#[test]
fn nothing_happens_within_a_tick() {
    let plan = Plan::new(3, 1, 1).unwrap();
    let mut nodes = Nodes::new(plan, |config| config.timing.tick = us(50));
    nodes.settle();
    let before = nodes.all[0].rounds();
    nodes.run(5000);
    let rounds = nodes.all[0].rounds() - before;
    assert!(
        (90..=100).contains(&rounds),
        "{rounds} rounds of 50 µs in 5 ms"
    );
    let mut nodes = Nodes::new(Plan::logical(3, 1, 1, 2).unwrap(), |config| {
        config.timing.tick = us(50);
    });
    nodes.settle();
    let before = nodes.all[0].rounds();
    nodes.run(5000);
    let rounds = nodes.all[0].rounds() - before;
    assert!((45..=50).contains(&rounds), "{rounds} rounds of 2 ticks");
}

/// Nobody has to call a node for nothing: it says when something is next to do, also
/// when a neighbour is silent, and when it has joined.
#[test]
fn a_node_says_when_it_is_to_be_called() {
    let mut alone = machine(|config| config.timing.heartbeat_timeout = us(50_000));
    for (now, next) in [
        (1000, 21_000),
        (21_000, 41_000),
        // Both neighbours are silent before it is time to speak again.
        (41_000, 51_000),
        // It joins, and tells so.
        (51_000, 71_000),
        (60_000, 71_000),
        (71_000, 91_000),
    ] {
        alone.handle_timeout(us(now));
        let _ = told(&mut alone);
        assert_eq!(alone.joined(), now >= 51_000);
        assert_eq!(alone.poll_timeout(), us(next), "at {now}");
    }
}

/// The time since a node was restored counts, also at time 0.
#[test]
fn a_restored_node_waits_for_its_neighbours_from_then_on() {
    for start in [us(0), us(7)] {
        let plan = Plan::new(3, 1, 1).unwrap();
        let config = Config::new(RingId([7; 16]), 1, plan);
        let mut saved = Vec::new();
        restored(config, &[]).unwrap().save(&mut saved);
        let mut node = Machine::restore(config, Key::none(), 3, start, &saved).unwrap();
        let silence = start + config.timing.heartbeat_timeout;
        node.handle_timeout(silence - us(1));
        assert_eq!(node.silent().count(), 0);
        node.handle_timeout(silence);
        assert_eq!(node.silent().collect::<Vec<_>>(), [0, 2]);
    }
}

/// A clock that could tick does so when its pause is over, to the microsecond.
#[test]
fn a_clock_ticks_when_its_pause_is_over() {
    let plan = Plan::new(3, 1, 1).unwrap();
    let mut config = Config::new(RingId([7; 16]), 1, plan);
    config.timing.tick = us(50);
    let mut node = Scripted::configured(config, 1, &[]);
    assert_eq!(node.answers(), [0, 2]);
    node.hears(at(0, 1), &[ELSEWHERE]).unwrap();
    assert_eq!(
        node.machine.poll_timeout(),
        NOW + us(20_000),
        "node 2 is not known"
    );
    node.hears(at(2, 1), &[ELSEWHERE]).unwrap();
    assert_eq!(node.machine.poll_timeout(), NOW + us(50));
    node.machine.handle_timeout(NOW + us(49));
    assert_eq!(node.machine.phase(), 1);
    node.machine.handle_timeout(NOW + us(50));
    assert_eq!(node.machine.phase(), 2);
}
