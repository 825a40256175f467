//! What a ring promises, as functions of a seed that say what was broken.

use std::time::Duration;

use headway_node::wire::field;
use headway_node::{Config, Key, Machine, Rule};
use headway_stage::world::{Settings, World};

use crate::scenario::Scenario;

/// Loss, delay, duplication and reordering, from a cold start: never a permit too
/// near to another or to two at once, fencing numbers that only grow, settled
/// in the end and from then on, everybody served equally.
pub(crate) fn closure(mut scenario: Scenario) -> Result<f64, String> {
    scenario.conditions.loss = f64::from(scenario.below(4)) * 0.1;
    scenario.conditions.duplicate = f64::from(scenario.below(4)) * 0.1;
    scenario.conditions.corrupt = match scenario.key.authenticates() {
        true => f64::from(scenario.below(3)) * 0.1,
        false => 0.0,
    };
    let mut world = scenario.world();
    wait_until_settled(&mut world, &scenario)?;
    let settled_at = world.now();
    fair(&mut world, &scenario)?;
    safe(&world, &scenario)?;
    let watched = world.now() - settled_at;
    if world.settled_for() < watched {
        return Err(format!("unsettled again: {}", scenario.describe()));
    }
    Ok(0.0)
}

/// In a ring of moving blocks, applications want again what they have done with and what
/// still stands at their node: all of what closure promises. Returns how often one might.
pub(crate) fn wanted_late(mut scenario: Scenario) -> Result<f64, String> {
    scenario.conditions.loss = f64::from(scenario.below(4)) * 0.1;
    let mut world = scenario.world();
    wait_until_settled(&mut world, &scenario)?;
    let (settled_at, nodes) = (world.now(), scenario.plan.nodes());
    let mut granted = 0;
    for _ in 0..60 {
        world.run_for(scenario.while_watched() / 200);
        let (node, token) = (
            scenario.below(nodes),
            scenario.below(scenario.plan.tokens()),
        );
        let here = world.machines()[node as usize].held();
        let here = here.into_iter().any(|held| held.token == token);
        let may = world.want(node, token);
        if may && !here {
            return Err(format!("a token that is not here: {}", scenario.describe()));
        }
        granted += u32::from(may);
    }
    fair(&mut world, &scenario)?;
    safe(&world, &scenario)?;
    if world.settled_for() < world.now() - settled_at {
        return Err(format!("unsettled again: {}", scenario.describe()));
    }
    Ok(f64::from(granted))
}

/// Any memory and any datagrams under way, then quiet: settled within the bound,
/// and from then on all of what closure promises. Returns the share of the bound
/// that it took.
pub(crate) fn convergence(mut scenario: Scenario) -> Result<f64, String> {
    let mut world = scenario.world();
    let warm = scenario.below(50_000);
    world.run_for(Duration::from_micros(u64::from(warm)));
    if scenario.below(4) == 0 {
        for _ in 0..=scenario.below(scenario.plan.nodes()) {
            world.scramble(scenario.below(scenario.plan.nodes()));
        }
    } else {
        world.scramble_all();
    }
    let (start, bound) = (world.now(), scenario.bound());
    // Two turns of what every node does in each: rounds, or tokens passed on.
    let (done, turns): (fn(&Machine) -> u64, u32) = match scenario.plan.rule() {
        Rule::LockStep => (Machine::rounds, 2 * scenario.plan.nodes() + 2),
        Rule::MovingBlock => (Machine::hops, 3 * scenario.plan.tokens()),
    };
    let before: Vec<u64> = world.machines().iter().map(done).collect();
    loop {
        world.run_for(bound / 100);
        // A corrupted memory may say settled and be wrong; after two turns it has
        // seen for itself. By then nobody works under a permit of before, either.
        let over = world.now() - start > scenario.work.max;
        let mut nodes = world.machines().iter().zip(&before);
        if over
            && world.settled()
            && nodes.all(|(node, before)| done(node) >= before + u64::from(turns))
        {
            break;
        }
        if world.now() - start > bound {
            let nodes = world.machines().iter();
            let nodes: Vec<String> = nodes
                .map(|node| format!("{}:{}", node.phase(), node.settled()))
                .collect();
            return Err(format!(
                "not settled after {bound:?} ({}): {}",
                nodes.join(" "),
                scenario.describe()
            ));
        }
    }
    let settled_at = world.now();
    world.promise();
    fair(&mut world, &scenario)?;
    safe(&world, &scenario)?;
    if world.settled_for() < world.now() - settled_at {
        return Err(format!("unsettled again: {}", scenario.describe()));
    }
    Ok((settled_at - start).as_secs_f64() / bound.as_secs_f64())
}

/// Nodes killed at any moment and started again with the state that they had saved:
/// no fault at all, only slowness.
pub(crate) fn restarts(mut scenario: Scenario) -> Result<f64, String> {
    scenario.conditions.loss = f64::from(scenario.below(3)) * 0.1;
    let mut world = scenario.world();
    wait_until_settled(&mut world, &scenario)?;
    for _ in 0..3 {
        world.run_for(Duration::from_micros(u64::from(scenario.below(20_000))));
        let node = scenario.below(scenario.plan.nodes());
        let mut saved = Vec::new();
        world.machines()[node as usize].save(&mut saved);
        world.crash(node);
        world.run_for(Duration::from_micros(u64::from(scenario.below(20_000))));
        world
            .restart(node, &saved)
            .map_err(|error| error.to_string())?;
    }
    let watched = scenario.while_watched() / 10;
    world.run_for(watched);
    safe(&world, &scenario)?;
    if world.settled_for() < watched {
        return Err(format!("a restart was a fault: {}", scenario.describe()));
    }
    Ok(0.0)
}

/// Datagrams that are copied and sent again, changed, made with another key, or made
/// for another ring with the same key: none of it makes a difference.
pub(crate) fn intrusion(mut scenario: Scenario) -> Result<f64, String> {
    scenario.key = Key::new(b"the key that the intruder lacks").expect("long enough");
    let mut world = scenario.world();
    wait_until_settled(&mut world, &scenario)?;
    let settled_at = world.now();
    let mut elsewhere = scenario.configs();
    let other = Config::identity(b"another ring", &scenario.plan, scenario.payload);
    elsewhere.iter_mut().for_each(|config| config.ring = other);
    let settings = Settings {
        key: scenario.key.clone(),
        conditions: scenario.conditions,
        work: scenario.work,
        seed: scenario.seed,
        sabotage: None,
    };
    let mut elsewhere = World::new(elsewhere, settings).map_err(|error| error.to_string())?;
    let mut copied: Vec<(u32, Vec<u8>)> = Vec::new();
    for _ in 0..40 {
        world.run_for(scenario.while_watched() / 400);
        elsewhere.run_for(Duration::from_micros(500));
        let seen = |(to, bytes): (u32, &[u8])| (to, bytes.to_vec());
        copied.extend(world.under_way().map(seen));
        let foreign: Vec<_> = elsewhere.under_way().map(seen).collect();
        for (to, bytes) in foreign {
            world.inject(to, &bytes);
        }
        for _ in 0..8 {
            let Some(chosen) = copied.len().checked_sub(1) else {
                break;
            };
            let chosen = scenario.below(chosen as u32 + 1) as usize;
            let (to, mut bytes) = copied[chosen].clone();
            match scenario.below(3) {
                0 => {}
                1 => {
                    // Another phase, and other values.
                    let at = field::PHASE.start + scenario.below(24) as usize;
                    let at = at.min(bytes.len() - 33);
                    bytes[at] ^= 1 << scenario.below(8);
                }
                _ => bytes.truncate(scenario.below(bytes.len() as u32) as usize),
            }
            world.inject(to, &bytes);
        }
    }
    fair(&mut world, &scenario)?;
    safe(&world, &scenario)?;
    if world.settled_for() < world.now() - settled_at {
        return Err(format!("unsettled by an intruder: {}", scenario.describe()));
    }
    Ok(0.0)
}

/// A node that is replaced by one of another ring, at the same address and with the
/// same key: nobody listens to it, and the ring stops.
pub(crate) fn stranger(mut scenario: Scenario) -> Result<f64, String> {
    let mut world = scenario.world();
    wait_until_settled(&mut world, &scenario)?;
    let node = scenario.below(scenario.plan.nodes());
    let mut config = scenario.configs()[node as usize];
    config.ring = Config::identity(b"another ring", &scenario.plan, scenario.payload);
    world.crash(node);
    world
        .restart_as(node, config)
        .map_err(|error| error.to_string())?;
    let rounds = |world: &World| -> u64 { world.machines().iter().map(|node| node.rounds()).sum() };
    let before = rounds(&world);
    world.run_for(scenario.while_watched());
    safe(&world, &scenario)?;
    // Everybody may be as far ahead of a dead node as they are away from it.
    let n = u64::from(scenario.plan.nodes());
    if rounds(&world) - before > n * n {
        return Err(format!("a stranger was let in: {}", scenario.describe()));
    }
    Ok(0.0)
}

/// Nodes killed and started again with nothing: they rejoin, and the ring settles.
/// Returns the share of the bound that it took.
pub(crate) fn amnesia(mut scenario: Scenario) -> Result<f64, String> {
    let mut world = scenario.world();
    wait_until_settled(&mut world, &scenario)?;
    for _ in 0..=scenario.below(2) {
        let node = scenario.below(scenario.plan.nodes());
        world.crash(node);
        world.run_for(Duration::from_micros(u64::from(scenario.below(20_000))));
        world
            .restart_empty(node)
            .map_err(|error| error.to_string())?;
    }
    let (start, bound, watched) = (world.now(), scenario.bound(), scenario.while_watched());
    while world.settled_for() < watched {
        if world.now() - start > bound + watched {
            return Err(format!(
                "not settled after {bound:?}: {}",
                scenario.describe()
            ));
        }
        world.run_for(watched / 10);
    }
    let took = world.now() - start - world.settled_for();
    world.promise();
    world.run_for(scenario.while_watched() / 10);
    safe(&world, &scenario)?;
    Ok(took.as_secs_f64() / bound.as_secs_f64())
}

/// Lets time pass until all nodes are settled. What is lost delays, so there is no
/// bound but a generous one.
fn wait_until_settled(world: &mut World, scenario: &Scenario) -> Result<(), String> {
    let step = scenario.while_watched() / 10;
    for _ in 0..400 {
        if world.settled() {
            return safe(world, scenario);
        }
        world.run_for(step);
    }
    Err(format!("never settled: {}", scenario.describe()))
}

fn safe(world: &World, scenario: &Scenario) -> Result<(), String> {
    match world.observer().violations().first() {
        None => Ok(()),
        Some(violation) => Err(format!("{violation}: {}", scenario.describe())),
    }
}

/// Every node passes on as many tokens as every other, but for those on their way:
/// one each.
fn fair(world: &mut World, scenario: &Scenario) -> Result<(), String> {
    let hops = |world: &World| -> Vec<u64> {
        let nodes = world.machines().iter();
        nodes.map(|node| node.hops()).collect()
    };
    let before = hops(world);
    for _ in 0..400 {
        world.run_for(scenario.while_watched() / 20);
        let passed: Vec<u64> = hops(world)
            .iter()
            .zip(&before)
            .map(|(a, b)| a - b)
            .collect();
        let least = *passed.iter().min().expect("a ring has nodes");
        let spread = passed.iter().max().expect("a ring has nodes") - least;
        if spread > u64::from(scenario.plan.tokens()) {
            return Err(format!("hops {passed:?}: {}", scenario.describe()));
        }
        if least > 2 * u64::from(scenario.plan.tokens()) {
            return Ok(());
        }
    }
    Err(format!("no progress: {}", scenario.describe()))
}
