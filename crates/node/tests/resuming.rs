//! Nodes of a ring of moving blocks that start again: from a saved state, from an older one, or,
//! two neighbours at once, from nothing.

use std::time::Duration;

use headway_node::{Config, Key, Machine, Plan, RingId};

const NODES: usize = 5;

struct Ring {
    nodes: Vec<Machine>,
    now: Duration,
    started: u64,
}

fn config(index: usize) -> Config {
    let plan = Plan::moving_block(NODES as u32, 1, 1).expect("it fits");
    Config::new(RingId([7; 16]), index as u32, plan)
}

impl Ring {
    fn new() -> Ring {
        let node = |index| Machine::new(config(index), Key::none(), index as u64 + 1);
        let nodes = (0..NODES).map(|index| node(index).expect("it fits"));
        Ring {
            nodes: nodes.collect(),
            now: Duration::ZERO,
            started: NODES as u64,
        }
    }

    fn incarnation(&mut self) -> u64 {
        self.started += 1;
        self.started << 32
    }

    /// A millisecond in which only these nodes are there.
    fn step(&mut self, there: &[usize]) {
        self.now += Duration::from_millis(1);
        let mut buffer = [0; 1500];
        for &at in there {
            self.nodes[at].handle_timeout(self.now);
            while self.nodes[at].poll_event().is_some() {}
        }
        for &at in there {
            while let Some(datagram) = self.nodes[at].poll_transmit(&mut buffer) {
                let to = datagram.to as usize;
                if there.contains(&to) {
                    let _ = self.nodes[to].handle_datagram(self.now, &buffer[..datagram.bytes]);
                }
            }
        }
    }

    fn held(&self) -> usize {
        self.nodes.iter().map(|node| node.held().count()).sum()
    }

    /// Until the token has moved so many hops.
    fn hops(&mut self, hops: u64) {
        let all: Vec<usize> = (0..NODES).collect();
        let count = |ring: &Ring| ring.nodes.iter().map(Machine::hops).sum::<u64>();
        let end = count(self) + hops;
        for _ in 0..100_000 {
            if count(self) >= end {
                return;
            }
            let held: Vec<_> = self.nodes.iter().map(|node| node.held().next()).collect();
            for (at, held) in held.into_iter().enumerate() {
                if let Some(held) = held {
                    self.nodes[at].handle_work_done(self.now, held.token, held.fence, None);
                }
            }
            self.step(&all);
            assert!(self.held() <= 1, "{} tokens", self.held());
        }
        panic!("the token stands");
    }

    fn saved(&self, at: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.nodes[at].save(&mut bytes);
        bytes
    }

    fn restore(&mut self, at: usize, saved: &[u8]) {
        let incarnation = self.incarnation();
        let node = Machine::restore(config(at), Key::none(), incarnation, self.now, saved);
        self.nodes[at] = node.expect("its own");
    }

    fn lose(&mut self, at: usize) {
        let incarnation = self.incarnation();
        self.nodes[at] = Machine::new(config(at), Key::none(), incarnation).expect("it fits");
    }

    fn values(&self, at: usize) -> Vec<u32> {
        self.nodes[at].local().values
    }
}

/// Wherever the token is: a node that starts again from its latest state changes nothing.
#[test]
fn the_latest_state_is_gone_on_from() {
    let mut ring = Ring::new();
    ring.hops(20);
    for at in (0..NODES).cycle().take(40) {
        ring.hops(3);
        let saved = ring.saved(at);
        ring.restore(at, &saved);
        assert!(!ring.nodes[at].joined(), "it asks first");
        ring.hops(NODES as u64);
        assert!(ring.nodes.iter().all(Machine::joined));
    }
}

/// A node that goes on from an older state than it had told says nothing of it before it has
/// heard what its successor knows; after that it is too late to hear it.
#[test]
fn an_older_state_is_not_told_before_the_successor_has_spoken() {
    for at in 0..NODES {
        let mut ring = Ring::new();
        ring.hops(20);
        let (saved, old) = (ring.saved(at), ring.values(at));
        ring.hops(2 * NODES as u64);
        let latest = ring.values(at);
        assert_ne!(old, latest);
        ring.restore(at, &saved);
        let after = (at + 1) % NODES;
        // The neighbours hear it, and it does not hear them.
        let mut buffer = [0; 1500];
        ring.nodes[at].handle_timeout(ring.now);
        while let Some(datagram) = ring.nodes[at].poll_transmit(&mut buffer) {
            let to = &mut ring.nodes[datagram.to as usize];
            let _ = to.handle_datagram(ring.now, &buffer[..datagram.bytes]);
        }
        assert_eq!(ring.nodes[after].local().heard, latest, "of n{at}");
        for _ in 0..10 {
            ring.step(&(0..NODES).collect::<Vec<_>>());
            if ring.nodes[at].joined() {
                break;
            }
        }
        let heard: Vec<u32> = ring.nodes[at].state().heard_of.to_vec();
        assert_eq!(heard, latest, "n{at} can tell");
    }
}

/// Its successor starts again at the same time, and does not say at once what it knows.
#[test]
fn an_older_state_waits_for_a_successor_that_starts_again_too() {
    let all: Vec<usize> = (0..NODES).collect();
    for at in 0..NODES {
        let mut ring = Ring::new();
        ring.hops(20);
        let saved = ring.saved(at);
        ring.hops(2 * NODES as u64);
        let (latest, after) = (ring.values(at), (at + 1) % NODES);
        let kept = ring.saved(after);
        ring.restore(at, &saved);
        ring.restore(after, &kept);
        for _ in 0..1500 {
            ring.step(&all);
            if ring.nodes[at].joined() {
                break;
            }
        }
        assert!(ring.nodes[at].joined(), "n{at}");
        let heard: Vec<u32> = ring.nodes[at].state().heard_of.to_vec();
        assert_eq!(heard, latest, "n{at} can tell");
    }
}

/// All nodes start again, so that nobody is there who could be asked: each goes on from its own
/// state when it has waited as long as for a neighbour that is silent.
#[test]
fn all_nodes_start_again_and_go_on() {
    let all: Vec<usize> = (0..NODES).collect();
    for hops in 0..NODES as u64 {
        let mut ring = Ring::new();
        ring.hops(20 + hops);
        for at in 0..NODES {
            let saved = ring.saved(at);
            ring.restore(at, &saved);
        }
        let (silence, began) = (config(0).timing.silence, ring.now);
        while !ring.nodes.iter().all(Machine::joined) {
            ring.step(&all);
            assert!(ring.held() <= 1);
            assert!(ring.now < began + 2 * silence, "they wait for each other");
        }
        ring.hops(2 * NODES as u64);
        assert_eq!(ring.held(), 1);
    }
}

/// Nobody is no answer, however long that lasts, and nothing is done meanwhile but asking.
#[test]
fn who_hears_nobody_waits() {
    let mut alone = Machine::new(config(2), Key::none(), 1).expect("it fits");
    alone.handle_timeout(Duration::ZERO);
    let late = 10 * config(2).timing.silence;
    alone.handle_timeout(late);
    assert!(!alone.joined());
    while alone.poll_transmit(&mut [0; 1500]).is_some() {}
    assert!(alone.poll_timeout() > late);
}

/// Two neighbours, or three, lose everything, and come back in any order: what they take fits the
/// others, and no token is there twice.
#[test]
fn neighbours_that_lose_everything_make_no_second_token() {
    for (first, hops) in (0..NODES).flat_map(|at| (0..2 * NODES).map(move |hops| (at, hops))) {
        for back in [[1, 0, 2], [0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            for lost in [2, 3] {
                let mut ring = Ring::new();
                ring.hops(20 + hops as u64);
                let mut there: Vec<usize> = (0..NODES).collect();
                for far in 0..lost {
                    let at = (first + far) % NODES;
                    ring.lose(at);
                    there.retain(|other| *other != at);
                }
                for far in back.into_iter().filter(|far| *far < lost) {
                    there.push((first + far) % NODES);
                    // Longer than it waits for a neighbour that does not answer.
                    for _ in 0..1500 {
                        ring.step(&there);
                        assert!(ring.held() <= 1, "{lost} from n{first} on, {back:?}");
                    }
                }
                assert!(ring.nodes.iter().all(Machine::joined));
                assert_eq!(ring.held(), 1, "{lost} from n{first} on, {back:?}");
            }
        }
    }
}
