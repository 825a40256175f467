//! Who may work, under which number, from when and for how long.

use headway_node::{Event, Grant, Held, Machine, Plan};

use super::harness::{Nodes, events, holding, quick, us};

#[test]
fn a_permit_lasts_from_the_least_to_the_most() {
    let (mut nodes, holder, fence) = holding(quick());
    let granted = nodes.now;
    let held = |nodes: &Nodes| nodes.all[holder].held().collect::<Vec<_>>();
    let (token, permit) = (0, true);
    let here = [Held {
        token,
        fence,
        permit,
    }];
    assert_eq!(held(&nodes), here);
    // Done at once: the token stays for the least time all the same.
    let mut done = nodes.all[holder].clone();
    assert!(done.handle_work_done(granted, 0, fence, None));
    assert!(!done.handle_work_done(granted, 0, fence, None), "once");
    done.handle_timeout(granted + us(198));
    assert_eq!(
        done.held().map(|held| held.permit).collect::<Vec<_>>(),
        [false]
    );
    assert_eq!(events(&mut done), [], "nobody is told what he said");
    // Not done: it is asked back after the most, and waits for the stop timeout.
    nodes.events.clear();
    nodes.run(998);
    assert_eq!(nodes.events, []);
    nodes.run(3);
    assert_eq!(nodes.events, [(holder, Event::Withdrawn { token, fence })]);
    assert_eq!(held(&nodes), here, "asked back, still here");
    nodes.run(290);
    assert_eq!(held(&nodes), here);
    nodes.run(20);
    assert_eq!(held(&nodes), []);
}

/// Somebody else had to be asked first.
#[test]
fn a_permit_that_is_used_late_has_its_whole_time() {
    let (mut nodes, holder, fence) = holding(quick());
    nodes.events.clear();
    nodes.run(500);
    let now = nodes.now;
    let node = &mut nodes.all[holder];
    assert!(!node.handle_begun(now, 0, fence + 1) && !node.handle_begun(now, 9, fence));
    assert!(node.handle_begun(now, 0, fence));
    assert!(node.handle_begun(now - us(400), 0, fence), "never earlier");
    nodes.run(998);
    assert_eq!(nodes.events, []);
    nodes.run(3);
    let token = 0;
    assert_eq!(nodes.events, [(holder, Event::Withdrawn { token, fence })]);
    let now = nodes.now;
    let node = &mut nodes.all[holder];
    assert!(!node.handle_begun(now, 0, fence), "it was asked back");
    assert!(node.handle_work_done(now, 0, fence, None));
    assert!(!node.handle_begun(now, 0, fence), "it is over");
}

#[test]
fn who_stops_when_asked_is_not_kept_waiting() {
    let (mut nodes, holder, fence) = holding(quick());
    nodes.run(1001);
    assert!(
        nodes
            .events
            .contains(&(holder, Event::Withdrawn { token: 0, fence }))
    );
    let now = nodes.now;
    assert!(nodes.all[holder].handle_work_done(now, 0, fence, Some(b"bye")));
    nodes.run(10);
    assert_eq!(nodes.all[holder].held().count(), 0);
    assert_eq!(nodes.all[holder].payload(0), b"bye", "as it left");
    let next = (holder + 1) % 3;
    assert_eq!(nodes.all[next].payload(0), b"bye", "as it arrived");
    assert_eq!(nodes.all[next].payload(1), b"", "no such token");
}

#[test]
fn only_the_permit_that_there_is_can_be_done_with() {
    let (mut nodes, holder, fence) = holding(quick());
    let now = nodes.now;
    let before = format!("{:?}", nodes.all[holder]);
    let other = (holder + 1) % 3;
    assert!(
        !nodes.all[holder].handle_work_done(now, 1, fence, None),
        "no such token"
    );
    assert!(
        !nodes.all[holder].handle_work_done(now, 0, fence + 1, None),
        "no such number"
    );
    assert!(
        !nodes.all[other].handle_work_done(now, 0, fence, None),
        "not here"
    );
    assert_eq!(
        format!("{:?}", nodes.all[holder]),
        before,
        "nothing changed"
    );
    assert!(nodes.all[holder].handle_work_done(now, 0, fence, Some(b"longer than four")));
    assert_eq!(nodes.all[holder].payload(0), b"long", "cut");
}

#[test]
fn fencing_numbers_grow_by_one_with_every_hop() {
    let plan = Plan::new(4, 1, 1).unwrap();
    let mut nodes = Nodes::new(plan, |config| {
        config.grant = Grant::Always;
        config.fence_floor = 1000;
    });
    nodes.run(2000);
    let fences = nodes.events.iter().filter_map(|(_, event)| match event {
        Event::Granted { fence, .. } => Some(*fence),
        _ => None,
    });
    let fences: Vec<u64> = fences.collect();
    assert!(fences.len() > 20 && fences[0] > 1000);
    assert!(
        fences.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "{fences:?}"
    );
    let hops: u64 = nodes.all.iter().map(Machine::hops).sum();
    assert!(hops.abs_diff(fences.len() as u64) <= 1);
}

#[test]
fn permits_wait_until_a_ring_is_settled_unless_told_otherwise() {
    for (grant, at_once) in [(Grant::WhenSettled, false), (Grant::Always, true)] {
        let plan = Plan::new(4, 1, 1).unwrap();
        let mut nodes = Nodes::new(plan, |config| config.grant = grant);
        nodes.settle();
        nodes.run(100);
        let mut early = false;
        let mut settled = [false; 4];
        for (node, event) in &nodes.events {
            match event {
                Event::Settled => settled[*node] = true,
                Event::Granted { .. } => early |= !settled[*node],
                _ => {}
            }
        }
        assert!(settled.iter().all(|settled| *settled));
        assert_eq!(early, at_once, "{grant:?}");
    }
}

/// A permit is asked back when it is due, to the microsecond, and the stop timeout is as long.
#[test]
fn a_permit_ends_when_it_is_due() {
    let (nodes, holder, fence) = holding(quick());
    let mut node = nodes.all[holder].clone();
    let due = node.poll_timeout();
    node.handle_timeout(due - us(1));
    assert_eq!(events(&mut node), []);
    node.handle_timeout(due);
    assert_eq!(events(&mut node), [Event::Withdrawn { token: 0, fence }]);
    assert_eq!(node.poll_timeout(), due + quick().stop_timeout);
    node.handle_timeout(due + quick().stop_timeout - us(1));
    assert_eq!(node.held().count(), 1);
    node.handle_timeout(due + quick().stop_timeout);
    assert_eq!(node.held().count(), 0);
}

/// Whoever asks has a permit, or had it: the successor has had the token since, and the
/// predecessor has heard that it was passed on. What it heard may be from a few turns ago.
#[test]
fn a_neighbour_knows_of_a_later_permit_and_never_of_one_that_is_not() {
    for tokens in [1, 2] {
        let plan = Plan::moving_block(5, tokens, 1).unwrap();
        let mut nodes = Nodes::new(plan, |config| config.timing = quick());
        nodes.settle();
        nodes.busy = false;
        let mut known = [0; 2];
        for _ in 0..400 {
            nodes.events.clear();
            nodes.run(100);
            let granted = nodes.events.iter().filter_map(|(at, event)| match event {
                Event::Granted { token, fence } => Some((*at, *token, *fence)),
                _ => None,
            });
            for (at, token, fence) in granted.collect::<Vec<_>>() {
                let beside = [(at + 4) % 5, (at + 1) % 5];
                let knows = |nodes: &Nodes, beside: usize| {
                    u32::from(nodes.all[beside].knows_later(token, fence))
                };
                assert_eq!(beside.map(|beside| knows(&nodes, beside)), [0, 0], "{at}");
                let now = nodes.now;
                nodes.all[at].handle_work_done(now, token, fence, None);
                nodes.run(400);
                for (known, beside) in known.iter_mut().zip(beside) {
                    *known += knows(&nodes, beside);
                }
            }
        }
        // With one token the predecessor hears it late.
        let [before, after] = known.map(|known| known > 10);
        assert!(after && (before || tokens == 1), "{known:?}");
    }
}
