//! How quickly a token is passed on, and a permit granted, against the bare transport.
//!
//! Two nodes of the service and one token that nobody wants: it goes to and fro as
//! quickly as they can. The bare transport is two processes that block until a message
//! arrives and send one back. A node has more to do than that for every message: it
//! sleeps until a message, a request or a time comes, authenticates, keeps its state on
//! disk, and answers; what it may take is the goal.
//!
//! The two are measured in short blocks in turn, the ring being stopped (SIGSTOP) during
//! the other's, so that whatever else the machine does meets both. The ratio is the median
//! of those of all pairs of blocks, or that of the quickest blocks if it is higher: when
//! the machine is busy, the bare transport may wait for a core in most of its blocks.

use std::time::{Duration, Instant};

use headway_node::{Config, Plan, RingId};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::fleet::{Ring, sleeps};
use crate::grant::{Granting, MESSAGES};
use crate::node::PingPong;
use crate::redis::Redis;
use crate::table::{Goal, Row, Table, ratio, time};

const PAIRS: usize = 40;

/// The times of a ring that hands over as quickly as it can.
pub(crate) const AT_ONCE: &str = "tick = \"0ms\"\nrefresh = \"20ms\"\nheartbeat_timeout = \"1s\"\n";

pub(crate) fn measure(table: &mut Table) {
    let work = "a token that nobody wants passed on between two nodes of the service, loopback UDP, \
                state kept on disk first";
    for (place, cores) in [("On one core", [0, 0]), ("A core each", [0, 1])] {
        let Some(measured) = on_cores(cores) else {
            eprintln!("  skipped: {work}, {place}: there is no such core to be had");
            continue;
        };
        let Compared {
            granted,
            passed_on,
            redis,
        } = measured;
        table.add(Row {
            work: format!(
                "{place}: a permit granted, from a token's arrival to its use, the neighbour having \
                 been asked; loopback UDP, two nodes"
            ),
            ours: time(granted.hand_over),
            baseline: format!(
                "question and answer bare, likewise {}",
                time(granted.one_way.mul_f64(MESSAGES))
            ),
            ratio: granted.ratio / MESSAGES,
            goal: Goal::AtMost(2.0),
        });
        table.add(Row {
            work: format!("{place}: {work}"),
            ours: passed_on.ours(),
            baseline: passed_on.bare("bare UDP, one way, likewise"),
            ratio: passed_on.ratio,
            goal: Goal::AtMost(2.0),
        });
        if let Some(redis) = redis {
            table.add(Row {
                work: work.to_owned(),
                ours: time(redis.hand_over),
                baseline: format!(
                    "a lock through Redis (LPUSH, BLPOP), likewise {}",
                    time(redis.one_way)
                ),
                ratio: redis.ratio,
                goal: Goal::AtMost(1.0),
            });
        }
    }
}

/// What was compared with the bare transport, or with Redis.
struct Compared {
    granted: Measured,
    passed_on: Measured,
    redis: Option<Measured>,
}

/// The two nodes, and the two ends of what they are compared with, on these cores. Left
/// alone, the scheduler puts the one pair on one core and the other on two, and a core that
/// sleeps takes longer to wake than all the rest together.
fn on_cores(cores: [usize; 2]) -> Option<Compared> {
    let all = sched_getaffinity(Pid::from_raw(0)).ok()?;
    let allowed = |core: &usize| all.is_set(*core).unwrap_or(false);
    if !cores.iter().all(allowed) {
        return None;
    }
    // What goes through a server as well needs more than one core.
    let apart = cores[0] != cores[1];
    let redis = apart.then(|| Redis::start(cores[1])).flatten();
    if apart && redis.is_none() {
        eprintln!("  skipped: a lock through Redis: there is no redis-server");
    }
    let mut ring = Ring::new(2, 23_000, AT_ONCE);
    // A process begins where the one that starts it is.
    stay_on(cores[0]);
    ring.start(0);
    stay_on(cores[1]);
    ring.start(1);
    ring.settle();
    let mut bare = PingPong::start(datagram_bytes());
    stay_on(cores[0]);
    let passed_on = compare(&ring, &mut bare);
    let redis = redis.map(|mut redis| compare(&ring, &mut redis));
    drop(ring);
    let granting = Granting::start(cores, stay_on);
    let granted = compare(&granting, &mut bare);
    drop((granting, bare));
    sched_setaffinity(Pid::from_raw(0), &all).expect("it was so before");
    Some(Compared {
        granted,
        passed_on,
        redis,
    })
}

pub(crate) fn stay_on(core: usize) {
    let mut set = CpuSet::new();
    set.set(core).expect("a core");
    sched_setaffinity(Pid::from_raw(0), &set).expect("a core that is allowed");
}

/// Of a node of a ring of two with one token.
pub(crate) fn datagram_bytes() -> usize {
    let plan = Plan::new(2, 1, 1).expect("it fits");
    Config::new(RingId([0; 16]), 0, plan).datagram_bytes()
}

/// A transport without anything on it, in two processes: this one and another.
pub(crate) trait BareTransport {
    /// How long a block is: many messages, and short beside what disturbs.
    const BLOCK: Duration;

    /// Some messages go to and fro; how many there were, both ways.
    fn there_and_back(&mut self) -> u64;

    /// Messages go to and fro for this long; how many there were, both ways.
    fn run_for(&mut self, time: Duration) -> u64 {
        let start = Instant::now();
        let mut messages = 0;
        while start.elapsed() < time {
            messages += self.there_and_back();
        }
        messages
    }

    /// The other process.
    fn other(&self) -> u32;
}

/// What was measured; times are the medians of all blocks.
pub(crate) struct Measured {
    hand_over: Duration,
    one_way: Duration,
    pub(crate) ratio: f64,
    /// A hand-over's, and a message's of the bare transport.
    wake_ups: [f64; 2],
    datagrams: f64,
}

impl Measured {
    pub(crate) fn ours(&self) -> String {
        format!(
            "{} ({:.1} messages and {:.1} wake-ups each)",
            time(self.hand_over),
            self.datagrams,
            self.wake_ups[0]
        )
    }

    pub(crate) fn bare(&self, what: &str) -> String {
        format!(
            "{what} {} ({:.1} wake-ups)",
            time(self.one_way),
            self.wake_ups[1]
        )
    }
}

/// What hands a token to and fro, and stops while something else is measured.
pub(crate) trait HandsOver {
    fn pause(&self);

    fn resume(&self);

    /// Lets it run for this long.
    fn block(&self, time: Duration) -> Block;
}

/// Measures a ring that hands its token to and fro, and the bare transport.
pub(crate) fn compare<T: BareTransport>(ring: &impl HandsOver, bare: &mut T) -> Measured {
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let (mut hops, mut messages, mut slept, mut sent) = (0, 0, [0, 0], 0.0);
    bare.run_for(T::BLOCK);
    for pair in 0..PAIRS {
        let mut run_bare = |theirs: &mut Vec<Duration>| {
            let before = sleeps(bare.other()) + sleeps(std::process::id());
            let start = Instant::now();
            let passed = bare.run_for(T::BLOCK).max(1);
            theirs.push(start.elapsed().div_f64(passed as f64));
            slept[1] += sleeps(bare.other()) + sleeps(std::process::id()) - before;
            messages += passed;
        };
        ring.pause();
        if pair % 2 == 0 {
            run_bare(&mut theirs);
        }
        ring.resume();
        let block = ring.block(T::BLOCK);
        ring.pause();
        if pair % 2 == 1 {
            run_bare(&mut theirs);
        }
        ours.push(block.time.div_f64(block.hops.max(1) as f64));
        hops += block.hops;
        slept[0] += block.slept;
        sent += block.datagrams;
        ratios.push(ratio(ours[pair], theirs[pair]));
    }
    ring.resume();
    ratios.sort_unstable_by(f64::total_cmp);
    ours.sort_unstable();
    theirs.sort_unstable();
    Measured {
        hand_over: ours[PAIRS / 2],
        one_way: theirs[PAIRS / 2],
        ratio: ratios[PAIRS / 2].max(ratio(ours[0], theirs[0])),
        wake_ups: [
            slept[0] as f64 / hops.max(1) as f64,
            slept[1] as f64 / messages.max(1) as f64,
        ],
        datagrams: sent / hops.max(1) as f64,
    }
}

/// What happened in a while.
pub(crate) struct Block {
    pub(crate) time: Duration,
    pub(crate) hops: u64,
    /// How often somebody waited for something, if it is counted.
    pub(crate) slept: u64,
    pub(crate) datagrams: f64,
}

impl HandsOver for Ring {
    fn pause(&self) {
        self.pause();
    }

    fn resume(&self) {
        self.resume();
    }

    fn block(&self, time: Duration) -> Block {
        // What was missed while it was stopped is made up for.
        std::thread::sleep(time / 6);
        let sent = || self.sent(0) + self.sent(1);
        let slept = || self.processes().map(sleeps).sum::<u64>();
        let (sent_before, slept_before) = (sent(), slept());
        let (start, before) = hops(self);
        std::thread::sleep(time);
        let (end, after) = hops(self);
        let (slept_after, sent_after) = (slept(), sent());
        Block {
            time: end - start,
            hops: after - before,
            slept: slept_after - slept_before,
            datagrams: sent_after - sent_before,
        }
    }
}

/// Hand-overs so far, and when that was: the middle of the time that asking took. With two
/// nodes and one token, the other node has handed it over as often.
pub(crate) fn hops(ring: &Ring) -> (Instant, u64) {
    let asked = Instant::now();
    let hops = ring.status(0)["hops"].as_u64().unwrap_or(0);
    (asked + asked.elapsed() / 2, 2 * hops)
}
