//! One machine at a time: what comes out for what goes in, to the microsecond.

use std::time::Duration;

use headway_node::wire::Rejected;
use headway_node::{
    Config, Event, Grant, Held, Key, Machine, Plan, RestoreError, RingId, Role, Timing,
};

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// Nodes of one ring, whose datagrams arrive at once.
struct Nodes {
    all: Vec<Machine>,
    now: Duration,
    events: Vec<(usize, Event)>,
    /// Says that it is done with a permit as soon as it is granted.
    busy: bool,
}

impl Nodes {
    fn new(plan: Plan, change: impl Fn(&mut Config)) -> Nodes {
        let machine = |index| {
            let mut config = Config::new(RingId([7; 16]), index, plan);
            change(&mut config);
            Machine::new(config, Key::none(), 100 + u64::from(index)).unwrap()
        };
        Nodes {
            all: (0..plan.nodes()).map(machine).collect(),
            now: us(1),
            events: Vec::new(),
            busy: true,
        }
    }

    /// Time passes, and everything that is to be said is heard.
    fn run(&mut self, micros: u64) {
        let end = self.now + us(micros);
        while self.now < end {
            self.now += us(1);
            self.exchange();
        }
    }

    fn exchange(&mut self) {
        let mut buffer = [0; 1500];
        for index in 0..self.all.len() {
            if self.all[index].poll_timeout() <= self.now {
                self.all[index].handle_timeout(self.now);
            }
            while let Some(event) = self.all[index].poll_event() {
                self.events.push((index, event));
                if let Event::Granted { token, fence } = event
                    && self.busy
                {
                    self.all[index].handle_work_done(self.now, token, fence, Some(&[token as u8]));
                }
            }
            while let Some(datagram) = self.all[index].poll_transmit(&mut buffer) {
                let to = &mut self.all[datagram.to as usize];
                let _ = to.handle_datagram(self.now, &buffer[..datagram.bytes]);
            }
        }
    }

    fn settle(&mut self) {
        for _ in 0..10_000 {
            if self.all.iter().all(Machine::settled) {
                return;
            }
            self.run(10);
        }
        panic!("not settled");
    }
}

fn machine(change: impl Fn(&mut Config)) -> Machine {
    let mut config = Config::new(RingId([7; 16]), 1, Plan::new(3, 1, 1).unwrap());
    change(&mut config);
    Machine::new(config, Key::none(), 5).unwrap()
}

/// All that a machine has to say now.
fn told(machine: &mut Machine) -> Vec<(u32, Vec<u8>)> {
    let mut buffer = [0; 1500];
    std::iter::from_fn(|| {
        let datagram = machine.poll_transmit(&mut buffer)?;
        Some((datagram.to, buffer[..datagram.bytes].to_vec()))
    })
    .collect()
}

fn events(machine: &mut Machine) -> Vec<Event> {
    std::iter::from_fn(|| machine.poll_event()).collect()
}

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
    let mut alone = machine(|config| config.timing.silence = us(100_000));
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

/// A ring whose one permit is held, and who holds it.
fn holding(timing: Timing) -> (Nodes, usize, u64) {
    let plan = Plan::new(3, 1, 1).unwrap();
    let mut nodes = Nodes::new(plan, |config| {
        config.timing = timing;
        config.payload = 4;
    });
    nodes.settle();
    nodes.busy = false;
    nodes.events.clear();
    loop {
        nodes.run(1);
        if let Some(&(node, Event::Granted { token: 0, fence })) = nodes.events.first() {
            return (nodes, node, fence);
        }
    }
}

fn quick() -> Timing {
    Timing {
        dwell_least: us(200),
        dwell_most: us(1000),
        grace: us(300),
        ..Timing::default()
    }
}

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
    // Not done: it is asked back after the most, and waits for the grace.
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

/// Every datagram that is not for this node, not of its ring, or not new.
#[test]
fn what_is_not_listened_to_is_counted() {
    let plan = Plan::new(4, 2, 1).unwrap();
    let mut nodes = Nodes::new(plan, |config| config.payload = 2);
    nodes.settle();
    let now = nodes.now + us(1);
    let mut sender = nodes.all[0].clone();
    sender.handle_timeout(now + us(50_000));
    let (_, good) = told(&mut sender)
        .into_iter()
        .find(|sent| sent.0 == 1)
        .unwrap();
    let receiver = &nodes.all[1];
    assert_eq!(receiver.clone().handle_datagram(now, &good), Ok(()));
    let values = 5_u32;
    type Change<'a> = &'a dyn Fn(&mut Vec<u8>);
    let changes: [(Rejected, Change<'_>); 15] = [
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
            bytes[64..68].copy_from_slice(&1000_i32.to_be_bytes());
        }),
        (Rejected::Domain, &|bytes| {
            bytes[76..80].copy_from_slice(&values.to_be_bytes());
        }),
        (Rejected::Domain, &|bytes| bytes[100] = 3),
    ];
    for (number, (reason, change)) in changes.iter().enumerate() {
        let mut receiver = receiver.clone();
        let mut bytes = good.clone();
        change(&mut bytes);
        assert_eq!(
            receiver.handle_datagram(now, &bytes),
            Err(*reason),
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
    // A copy is stale, and twice is twice.
    let mut receiver = nodes.all[1].clone();
    let _ = events(&mut receiver);
    assert_eq!(receiver.handle_datagram(now, &good), Ok(()));
    assert_eq!(receiver.handle_datagram(now, &good), Err(Rejected::Stale));
    assert_eq!(receiver.handle_datagram(now, &good), Err(Rejected::Stale));
    let expected = Event::Rejected {
        reason: Rejected::Stale,
        count: 2,
    };
    assert!(events(&mut receiver).contains(&expected));
}

#[test]
fn a_saved_state_is_the_state() {
    let plan = Plan::new(5, 2, 1).unwrap();
    let mut nodes = Nodes::new(plan, |config| {
        config.payload = 3;
        config.role = Role::usual(config.index, 5);
    });
    nodes.settle();
    nodes.busy = false;
    nodes.run(40);
    for node in &nodes.all {
        let mut bytes = b"before".to_vec();
        node.save(&mut bytes);
        let saved = &bytes[6..];
        let config = *node.config();
        let restore =
            |config, saved: &[u8]| Machine::restore(config, Key::none(), 9, nodes.now, saved);
        let again = restore(config, saved).unwrap();
        assert_eq!(again.local(), node.local());
        assert_eq!((again.rounds(), again.hops()), (node.rounds(), node.hops()));
        assert_eq!((again.settled(), again.joined()), (node.settled(), true));
        assert_eq!(
            again.held().collect::<Vec<_>>(),
            node.held().collect::<Vec<_>>()
        );
        assert!((0..2).all(|token| again.payload(token) == node.payload(token)));
        let mut twice = Vec::new();
        again.save(&mut twice);
        assert_eq!(twice, saved, "saved again it is the same");
        // A permit that was being used is granted again, under its number.
        let granted = events(&mut again.clone());
        let permits = node.held().filter(|held| held.permit);
        for Held { token, fence, .. } in permits {
            assert!(granted.contains(&Event::Granted { token, fence }));
        }
        for at in 0..saved.len() {
            let mut damaged = saved.to_vec();
            damaged[at] ^= 4;
            assert_eq!(
                restore(config, &damaged).unwrap_err(),
                RestoreError::Damaged
            );
        }
        assert_eq!(
            restore(config, &saved[1..]).unwrap_err(),
            RestoreError::Damaged
        );
        assert_eq!(
            restore(config, &saved[..20]).unwrap_err(),
            RestoreError::Damaged
        );
        let other = Config {
            index: (config.index + 1) % 5,
            ..config
        };
        assert_eq!(restore(other, saved).unwrap_err(), RestoreError::Foreign);
        let other = Config {
            ring: RingId([8; 16]),
            ..config
        };
        assert_eq!(restore(other, saved).unwrap_err(), RestoreError::Foreign);
        let other = Config {
            payload: 4,
            ..config
        };
        assert_eq!(restore(other, saved).unwrap_err(), RestoreError::Foreign);
        let other = Config { index: 5, ..config };
        assert!(matches!(
            restore(other, saved),
            Err(RestoreError::Config(_))
        ));
    }
}

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

/// A node that measures finds what the others were told.
#[test]
fn a_measuring_node_finds_the_separation() {
    let plan = Plan::logical(6, 2, 3, 1).unwrap();
    let mut nodes = Nodes::new(plan, |config| {
        config.role = if config.index == 2 {
            Role::Measure
        } else {
            Role::Relay
        };
    });
    nodes.settle();
    assert!(nodes.all.iter().all(|node| node.separation() == 3));
}
