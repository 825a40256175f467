//! The moving block beside lock-step, on virtual time with the real machine: so these
//! figures do not depend on the computer.

use std::time::Duration;

use headway_node::{Config, Machine, Plan, RingId, Role, Rule, Timing};
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
            heartbeat_timeout: Duration::from_secs(5),
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

/// When each node is visited in the second after node 0 has got a token that it works on for
/// so long, and where the tokens are at the end.
fn visits(plan: Plan, after_ms: u64, work: Duration) -> (Vec<Vec<f64>>, Vec<usize>) {
    let mut world = ring(plan, Duration::ZERO, Duration::ZERO);
    world.run_for(Duration::from_millis(after_ms));
    world.set_work(0, exactly(work));
    let first = world.observer().visits()[0];
    while world.observer().visits()[0] == first {
        world.run_for(Duration::from_micros(10));
    }
    let (start, mut before) = (world.now(), world.observer().visits().to_vec());
    let mut times = vec![Vec::new(); before.len()];
    while world.now() < start + Duration::from_secs(1) {
        world.run_for(Duration::from_micros(50));
        let since = (world.now() - start).as_secs_f64();
        for (node, &count) in world.observer().visits().iter().enumerate() {
            let new = count - std::mem::replace(&mut before[node], count);
            times[node].extend((0..new).map(|_| since));
        }
    }
    let places = (0..).zip(world.machines());
    let places = places.filter(|(_, machine)| machine.held().next().is_some());
    (times, places.map(|(node, _)| node).collect())
}

/// How long nodes wait for a token while one works for a minute: all visits until every
/// other token has come up behind the holder, over the same visits without it.
fn long_holder(table: &mut Table) {
    let (n, m, d) = (60, 4, 5);
    let [lock_step, block] = plans(n, m, d).map(|plan| {
        let (mut waited, mut without, mut count) = (0.0, 0.0, 0);
        for after_ms in (0..200).step_by(41) {
            let (held_up, places) = visits(plan, after_ms, Duration::from_secs(60));
            if plan.rule() == Rule::MovingBlock {
                let queue = (1..m).rev().map(|behind| (n - behind * d) as usize);
                assert_eq!(places, [0].into_iter().chain(queue).collect::<Vec<_>>());
            }
            let (free, _) = visits(plan, after_ms, Duration::ZERO);
            for (held_up, free) in held_up.iter().zip(&free).skip(1) {
                count += held_up.len();
                waited += held_up.iter().sum::<f64>();
                without += free[..held_up.len()].iter().sum::<f64>();
            }
        }
        (waited / without, count)
    });
    table.add(Row {
        work: "nodes wait while one works for a minute (60 nodes, 4 tokens, d = 5), until every \
               other token has come up behind it, moving block: time over that without it"
            .to_owned(),
        ours: format!(
            "{:.2} in {} visits; lock-step makes {} of them and stands",
            block.0, block.1, lock_step.1
        ),
        baseline: "nobody works".to_owned(),
        ratio: block.0,
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
