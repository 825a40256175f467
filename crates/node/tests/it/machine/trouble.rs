//! What is not legitimate is noticed, and takes permits away.

use headway_node::{Config, Event, Grant, Key, Machine, Plan, RingId, Timing};

use super::fields::{CLEAN, fence_of, rounds_of, stage_of};
use super::harness::{Nodes, events, holding};
use super::scripted::{ELSEWHERE, HERE, Scripted, at};

/// A neighbour that is restored to an old state is out of step: what this node sees is
/// not legitimate, so its permit is asked back, and it has to settle again.
#[test]
fn trouble_takes_permits_away() {
    let (mut nodes, holder, fence) = holding(Timing::default());
    let neighbour = (holder + 2) % 3;
    let mut saved = Vec::new();
    let config = *nodes.all[neighbour].config();
    nodes.all[neighbour].save(&mut saved);
    let old = nodes.all[neighbour].phase();
    // Everybody goes on for some rounds, and then the same permit is held again.
    nodes.all[holder].handle_work_done(nodes.now, 0, fence, None);
    nodes.busy = true;
    nodes.run(100);
    nodes.busy = false;
    nodes.run(100);
    let holder = (0..3)
        .find(|&node| nodes.all[node].held().count() == 1)
        .unwrap();
    let neighbour_now = nodes.all[neighbour].phase();
    assert!((neighbour_now - old).abs() > 2, "{neighbour_now} {old}");
    assert!(nodes.all.iter().all(Machine::settled));
    nodes.all[neighbour] = Machine::restore(config, Key::none(), 77, nodes.now, &saved).unwrap();
    nodes.events.clear();
    nodes.run(20);
    for node in (0..3).filter(|&node| node != neighbour) {
        assert!(
            nodes.events.contains(&(node, Event::Unsettled)),
            "{:?}",
            nodes.events
        );
    }
    if holder != neighbour {
        let withdrawn = |event: &(usize, Event)| {
            event.0 == holder && matches!(event.1, Event::Withdrawn { .. })
        };
        assert!(nodes.events.iter().any(withdrawn), "{:?}", nodes.events);
    }
    assert!(nodes.all.iter().any(|node| node.resets() > 0));
    nodes.busy = true;
    nodes.run(20_000);
    assert!(nodes.all.iter().all(Machine::settled));
    assert!(nodes.all.iter().all(|node| node.phase() >= 0));
}

/// A successor that is out of step takes no token away, and no tick is made that could be
/// late: that it is out of step is enough, and at once.
#[test]
fn a_successor_out_of_step_is_trouble() {
    let (mut nodes, first, fence) = holding(Timing::default());
    let saved: Vec<Vec<u8>> = nodes
        .all
        .iter()
        .map(|node| {
            let mut bytes = Vec::new();
            node.save(&mut bytes);
            bytes
        })
        .collect();
    nodes.all[first].handle_work_done(nodes.now, 0, fence, None);
    nodes.busy = true;
    nodes.run(100);
    nodes.busy = false;
    nodes.run(100);
    let holds = |node: &usize| nodes.all[*node].held().count() == 1;
    let holder = (0..3).find(holds).unwrap();
    let successor = (holder + 1) % 3;
    let config = *nodes.all[successor].config();
    let old = &saved[successor];
    nodes.all[successor] = Machine::restore(config, Key::none(), 77, nodes.now, old).unwrap();
    nodes.events.clear();
    assert!(nodes.all[holder].settled());
    nodes.run(5);
    assert!(!nodes.all[holder].settled());
    let told: Vec<Event> = nodes
        .events
        .iter()
        .filter(|event| event.0 == holder)
        .map(|event| event.1)
        .collect();
    assert!(told.contains(&Event::Unsettled), "{told:?}");
    let withdrawn = |event: &Event| matches!(event, Event::Withdrawn { .. });
    assert!(told.iter().any(withdrawn), "{told:?}");
}

/// Whoever grants at once does not ask back for what is wrong elsewhere.
#[test]
fn trouble_is_no_reason_where_permits_are_always_granted() {
    let plan = Plan::new(3, 1, 1).unwrap();
    let mut nodes = Nodes::new(plan, |config| config.grant = Grant::Always);
    nodes.busy = false;
    nodes.run(200);
    assert!(nodes.all.iter().all(|node| !node.settled()));
    let granted = nodes
        .events
        .iter()
        .filter(|event| matches!(event.1, Event::Granted { .. }));
    assert_eq!(granted.count(), 1);
    assert!(
        !nodes
            .events
            .iter()
            .any(|event| matches!(event.1, Event::Withdrawn { .. }))
    );
}

/// A clock at 0 waits for a neighbour that recovers and makes no step that would tell:
/// that the neighbour is out of step is enough.
#[test]
fn a_neighbour_that_recovers_is_trouble_at_phase_0() {
    let plan = Plan::new(4, 1, 1).unwrap();
    let (token, fence, working) = (0, 9, 1);
    for grant in [Grant::WhenSettled, Grant::Always] {
        let config = Config {
            grant,
            ..Config::new(RingId([7; 16]), 1, plan)
        };
        let fields = [
            (CLEAN, 1000),
            (fence_of(0), fence as i64),
            (rounds_of(0), 1),
            (stage_of(0), working),
        ];
        let mut node = Scripted::configured(config, 0, &fields);
        node.hears(at(0, 0), &[HERE]).unwrap();
        node.hears(at(2, 0), &[ELSEWHERE]).unwrap();
        let granted = [Event::Granted { token, fence }, Event::Settled];
        assert_eq!(events(&mut node.machine), granted);
        node.hears(at(2, -2), &[ELSEWHERE]).unwrap();
        assert_eq!(node.machine.phase(), 0, "it waits");
        let expected = match grant {
            Grant::WhenSettled => vec![Event::Withdrawn { token, fence }, Event::Unsettled],
            Grant::Always => vec![Event::Unsettled],
        };
        assert_eq!(events(&mut node.machine), expected);
    }
}
