//! Nodes of one ring without a network, and one alone.

use std::time::Duration;

use headway_node::{Config, Event, Key, Machine, Plan, RingId, Timing};

pub(crate) fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// More than any node has to say at once.
const MOST_EVENTS: usize = 100;

/// Nodes of one ring, whose datagrams arrive at once.
pub(crate) struct Nodes {
    pub(crate) all: Vec<Machine>,
    pub(crate) now: Duration,
    pub(crate) events: Vec<(usize, Event)>,
    /// Says that it is done with a permit as soon as it is granted.
    pub(crate) busy: bool,
}

impl Nodes {
    pub(crate) fn new(plan: Plan, change: impl Fn(&mut Config)) -> Nodes {
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
    pub(crate) fn run(&mut self, micros: u64) {
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
            for event in events(&mut self.all[index]) {
                self.events.push((index, event));
                if let Event::Granted { token, fence } = event
                    && self.busy
                {
                    self.all[index].handle_work_done(self.now, token, fence, Some(&[token as u8]));
                }
            }
            let mut datagrams = 0;
            while let Some(datagram) = self.all[index].poll_transmit(&mut buffer) {
                let to = &mut self.all[datagram.to as usize];
                let _ = to.handle_datagram(self.now, &buffer[..datagram.bytes]);
                datagrams += 1;
                assert!(datagrams <= 2, "more datagrams than neighbours");
            }
        }
    }

    pub(crate) fn settle(&mut self) {
        for _ in 0..10_000 {
            if self.all.iter().all(Machine::settled) {
                return;
            }
            self.run(10);
        }
        panic!("not settled");
    }
}

pub(crate) fn machine(change: impl Fn(&mut Config)) -> Machine {
    let mut config = Config::new(RingId([7; 16]), 1, Plan::new(3, 1, 1).unwrap());
    change(&mut config);
    Machine::new(config, Key::none(), 5).unwrap()
}

/// All that a machine has to say now.
pub(crate) fn told(machine: &mut Machine) -> Vec<(u32, Vec<u8>)> {
    let mut buffer = [0; 1500];
    std::iter::from_fn(|| {
        let datagram = machine.poll_transmit(&mut buffer)?;
        Some((datagram.to, buffer[..datagram.bytes].to_vec()))
    })
    .collect()
}

pub(crate) fn events(machine: &mut Machine) -> Vec<Event> {
    let events = std::iter::from_fn(|| machine.poll_event());
    let events: Vec<Event> = events.take(MOST_EVENTS).collect();
    assert!(events.len() < MOST_EVENTS, "events without end: {events:?}");
    events
}

/// A ring whose one permit is held, and who holds it.
pub(crate) fn holding(timing: Timing) -> (Nodes, usize, u64) {
    let plan = Plan::new(3, 1, 1).unwrap();
    let mut nodes = Nodes::new(plan, |config| {
        config.timing = timing;
        config.payload = 4;
    });
    nodes.settle();
    nodes.busy = false;
    nodes.events.clear();
    for _ in 0..10_000 {
        nodes.run(1);
        if let Some(&(node, Event::Granted { token: 0, fence })) = nodes.events.first() {
            return (nodes, node, fence);
        }
    }
    panic!("no permit is granted");
}

pub(crate) fn quick() -> Timing {
    Timing {
        min_hold: us(200),
        max_hold: us(1000),
        stop_timeout: us(300),
        ..Timing::default()
    }
}
