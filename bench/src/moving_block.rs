//! The moving block beside lock-step, on virtual time with the real machine: so these
//! figures do not depend on the computer.

use std::time::Duration;

use headway_node::{Config, Machine, Plan, RingId, Role, Timing};
use headway_stage::world::{Conditions, Settings, Work, World};

use crate::table::{Goal, Row, Table};

const ONE_WAY: Duration = Duration::from_micros(200);

/// Of full demand: ten times the way to a neighbour. The longer works are, the less a slow
/// pace costs, and the more tokens suit lock-step too.
const WORK: Duration = Duration::from_millis(2);

pub(crate) fn measure(table: &mut Table) {
    two_at_once(table);
    full_demand(table);
    long_holder(table);
    idle(table);
}

fn exactly(time: Duration) -> Work {
    Work {
        min: time,
        max: time,
    }
}

/// A settled ring whose applications all work for so long.
fn ring(plan: Plan, tick: Duration, work: Duration) -> World {
    let configs = (0..plan.nodes()).map(|index| Config {
        role: Role::usual(index, plan.nodes()),
        timing: Timing {
            tick,
            refresh: Duration::from_millis(500),
            silence: Duration::from_secs(5),
            ..Timing::default()
        },
        ..Config::new(RingId([9; 16]), index, plan)
    });
    let settings = Settings {
        conditions: Conditions {
            delay_min: ONE_WAY / 2,
            delay_max: 3 * ONE_WAY / 2,
            ..Conditions::default()
        },
        work: exactly(Duration::ZERO),
        ..Settings::default()
    };
    let mut world = World::new(configs, settings).expect("configured");
    while !world.settled() {
        world.run_for(Duration::from_secs(1));
    }
    for node in 0..plan.nodes() {
        world.set_work(node, exactly(work));
    }
    world
}

fn plans(nodes: u32, tokens: u32, separation: u32) -> [Plan; 2] {
    [
        Plan::new(nodes, tokens, separation).expect("it fits"),
        Plan::moving_block(nodes, tokens, separation).expect("it fits"),
    ]
}

/// How long until each of these nodes has worked once, if they ask now.
fn served(world: &mut World, nodes: &[u32], work: Duration) -> Duration {
    let start = world.now();
    let before = world.observer().visits().to_vec();
    for &node in nodes {
        world.set_work(node, exactly(work));
    }
    let step = Duration::from_micros(500);
    let mut left = nodes.to_vec();
    while !left.is_empty() {
        world.run_for(step);
        let working = world.observer().permits().to_vec();
        left.retain(|&node| {
            let asked = world.observer().visits()[node as usize] > before[node as usize];
            let works = working.iter().any(|permit| permit.node == node);
            !asked || works
        });
        for node in nodes.iter().filter(|node| !left.contains(node)) {
            world.set_work(*node, exactly(Duration::ZERO));
        }
    }
    world.now() - start
}

fn mean(times: impl Iterator<Item = Duration>) -> f64 {
    let times: Vec<f64> = times.map(|time| time.as_secs_f64()).collect();
    times.iter().sum::<f64>() / times.len() as f64
}

/// Two nodes half a ring apart that ask at the same time, over one.
fn two_at_once(table: &mut Table) {
    let work = Duration::from_secs(1);
    let [lock_step, block] = plans(60, 3, 5).map(|plan| {
        let asked = |nodes: &[u32]| {
            let mut world = ring(plan, Duration::ZERO, Duration::ZERO);
            let times = (0..10).map(|offset| {
                world.run_for(Duration::from_micros(7_300));
                let nodes: Vec<u32> = nodes.iter().map(|node| (node + 5 * offset) % 60).collect();
                served(&mut world, &nodes, work)
            });
            mean(times)
        };
        asked(&[3, 33]) / asked(&[3])
    });
    table.add(Row {
        work: "two nodes half a ring apart ask at the same time (60 nodes, 3 tokens, d = 5), \
               moving block: time over that of one"
            .to_owned(),
        ours: format!("{block:.2}; lock-step {lock_step:.2}"),
        baseline: "one node alone".to_owned(),
        ratio: block,
        goal: Goal::AtMost(1.15),
    });
}

/// Hops of all tokens in a second under full demand.
fn throughput(plan: Plan) -> f64 {
    let mut world = ring(plan, Duration::ZERO, WORK);
    let hops = |world: &World| -> u64 { world.machines().iter().map(Machine::hops).sum() };
    world.run_for(Duration::from_secs(10));
    let before = hops(&world);
    world.run_for(Duration::from_secs(20));
    (hops(&world) - before) as f64 / 20.0
}

fn full_demand(table: &mut Table) {
    let (n, d) = (60, 5);
    let [lock_step, block] = plans(n, n / (2 * d), d).map(throughput);
    table.add(Row {
        work: format!(
            "full demand, works of ten one-way times, {n} nodes, {} tokens, d = {d}: hops in a second",
            n / (2 * d)
        ),
        ours: format!("{block:.0}"),
        baseline: format!("lock-step {lock_step:.0}"),
        ratio: block / lock_step,
        goal: Goal::AtLeast(0.95),
    });
    let best_of = |make: fn(u32, u32, u32) -> Option<Plan>| {
        let tokens = (4..=11).filter_map(|m| Some((m, throughput(make(n, m, d)?))));
        tokens.fold(
            (0, 0.0),
            |best, one| if one.1 > best.1 { one } else { best },
        )
    };
    let lock_step = best_of(|n, m, d| Plan::new(n, m, d).ok());
    let block = best_of(|n, m, d| Plan::moving_block(n, m, d).ok());
    table.add(Row {
        work: "the same with the number of tokens that suits each best".to_owned(),
        ours: format!("{:.0} with {} tokens", block.1, block.0),
        baseline: format!("lock-step {:.0} with {} tokens", lock_step.1, lock_step.0),
        ratio: block.1 / lock_step.1,
        goal: Goal::AtLeast(1.4),
    });
}

/// How long a node waits for the tokens that are behind it, with and without a holder that
/// works for a minute ahead of it.
fn long_holder(table: &mut Table) {
    let (n, m, d) = (60, 4, 5);
    // Where the last token comes up behind the holder, node 0.
    let node = (n - m * d) as usize;
    // A token has just come to node 0; how many tokens are behind that node.
    let arrived = |plan: Plan, after_ms: u64, work: Duration| {
        let mut world = ring(plan, Duration::ZERO, Duration::ZERO);
        world.run_for(Duration::from_millis(after_ms));
        world.set_work(0, exactly(work));
        let before = world.observer().visits()[0];
        while world.observer().visits()[0] == before {
            world.run_for(Duration::from_micros(10));
        }
        let held = |from: usize, to: usize| -> usize {
            let places = world.machines()[from..to].iter();
            places.map(|machine| machine.held().count()).sum()
        };
        // One of them has nearly the whole way before it, further than a clock runs ahead.
        let behind = if held(1, 6) > 0 { held(1, node) } else { 0 };
        (world, behind as u64)
    };
    let [lock_step, block] = plans(n, m, d).map(|plan| {
        // Both runs are the same up to there, at the first time that has some behind.
        let mut times = (0..).step_by(3);
        let time = times.find(|&time| arrived(plan, time, Duration::ZERO).1 > 0);
        let [with, without] = [60, 0].map(|seconds| {
            let work = Duration::from_secs(seconds);
            let (mut world, behind) = arrived(plan, time.unwrap_or(0), work);
            let (start, before) = (world.now(), world.observer().visits()[node]);
            while world.observer().visits()[node] < before + behind {
                world.run_for(Duration::from_micros(100));
            }
            (world.now() - start).as_secs_f64()
        });
        with / without
    });
    table.add(Row {
        work: "a node waits for the tokens behind it (60 nodes, 4 tokens, d = 5) while one ahead \
               works for a minute, moving block: time over that without it"
            .to_owned(),
        ours: format!("{block:.2}; lock-step {lock_step:.0}"),
        baseline: "nobody works".to_owned(),
        ratio: block,
        goal: Goal::AtMost(1.05),
    });
}

/// Datagrams of an idle ring with the service's pause.
fn idle(table: &mut Table) {
    let [lock_step, block] = plans(60, 6, 5).map(|plan| {
        let mut world = ring(plan, Duration::from_millis(100), Duration::ZERO);
        let count =
            |world: &World| -> u64 { world.machines().iter().map(Machine::datagrams).sum() };
        let before = count(&world);
        world.run_for(Duration::from_secs(60));
        (count(&world) - before) as f64 / 60.0 / 60.0
    });
    table.add(Row {
        work: "idle traffic, 60 nodes, 6 tokens, d = 5, a pause of 100 ms: datagrams of a node in \
               a second"
            .to_owned(),
        ours: format!("{block:.1}"),
        baseline: format!("lock-step {lock_step:.1}"),
        ratio: block / lock_step,
        goal: Goal::AtMost(1.0),
    });
}
