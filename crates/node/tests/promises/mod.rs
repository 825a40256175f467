//! What a ring promises, as functions of a seed that say what was broken.

use std::time::Duration;

use headway_node::world::World;

use crate::common::Scenario;

/// Loss, delay, duplication and reordering, from a cold start: never a permit too
/// near to another or to two at once, fencing numbers that only grow, settled
/// sometime and for ever after, everybody served equally.
pub(crate) fn closure(seed: u64) -> Result<f64, String> {
    closure_of(Scenario::draw(seed))
}

pub(crate) fn closure_of(mut scenario: Scenario) -> Result<f64, String> {
    scenario.network.loss = f64::from(scenario.below(4)) * 0.1;
    scenario.network.duplicate = f64::from(scenario.below(4)) * 0.1;
    scenario.network.corrupt = match scenario.key.authenticates() {
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

/// Any memory and any datagrams under way, then quiet: settled within the bound,
/// and from then on all of what closure promises. Returns the share of the bound
/// that it took.
pub(crate) fn convergence(seed: u64) -> Result<f64, String> {
    convergence_of(Scenario::draw(seed))
}

pub(crate) fn convergence_of(mut scenario: Scenario) -> Result<f64, String> {
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
    world.run_for(bound);
    if !world.settled() {
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
    // A corrupted memory may say settled and be wrong, for a turn at most.
    let last = world.observer().last_violation_at().unwrap_or(0);
    let last = Duration::from_micros(last).saturating_sub(start);
    let took = bound.saturating_sub(world.settled_for()).max(last);
    world.observe_anew();
    let settled_at = world.now();
    fair(&mut world, &scenario)?;
    safe(&world, &scenario)?;
    let watched = world.now() - settled_at;
    if world.settled_for() < watched {
        return Err(format!("unsettled again: {}", scenario.describe()));
    }
    Ok(took.as_secs_f64() / bound.as_secs_f64())
}

/// Nodes killed at any moment and started again with the state that they had saved:
/// no fault at all, only slowness.
pub(crate) fn restarts(seed: u64) -> Result<f64, String> {
    let mut scenario = Scenario::draw(seed);
    scenario.network.loss = f64::from(scenario.below(3)) * 0.1;
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
            .restart(node, Some(&saved))
            .map_err(|error| error.to_string())?;
    }
    let watched = scenario.bound() / 10;
    world.run_for(watched);
    safe(&world, &scenario)?;
    if world.settled_for() < watched {
        return Err(format!("a restart was a fault: {}", scenario.describe()));
    }
    Ok(0.0)
}

/// Nodes killed and started again with nothing: they rejoin, and the ring settles.
/// Returns the share of the bound that it took.
pub(crate) fn amnesia(seed: u64) -> Result<f64, String> {
    let mut scenario = Scenario::draw(seed);
    let mut world = scenario.world();
    wait_until_settled(&mut world, &scenario)?;
    for _ in 0..=scenario.below(2) {
        let node = scenario.below(scenario.plan.nodes());
        world.crash(node);
        world.run_for(Duration::from_micros(u64::from(scenario.below(20_000))));
        world
            .restart(node, None)
            .map_err(|error| error.to_string())?;
    }
    let bound = scenario.bound();
    world.run_for(bound);
    if !world.settled() {
        return Err(format!(
            "not settled after {bound:?}: {}",
            scenario.describe()
        ));
    }
    let took = bound.saturating_sub(world.settled_for());
    world.observe_anew();
    world.run_for(bound / 10);
    safe(&world, &scenario)?;
    Ok(took.as_secs_f64() / bound.as_secs_f64())
}

/// Lets time pass until all nodes are settled. What is lost delays, so there is no
/// bound but a generous one.
fn wait_until_settled(world: &mut World, scenario: &Scenario) -> Result<(), String> {
    let step = scenario.bound() / 10;
    for _ in 0..400 {
        if world.settled() {
            return safe(world, scenario);
        }
        world.run_for(step);
    }
    Err(format!("never settled: {}", scenario.describe()))
}

fn safe(world: &World, scenario: &Scenario) -> Result<(), String> {
    let seen = world.observer();
    if let Some(violation) = seen.first_violation() {
        return Err(format!(
            "{} violations, first {violation:?}: {}",
            seen.violations(),
            scenario.describe()
        ));
    }
    if seen.fences_back() > 0 {
        return Err(format!(
            "{} fencing numbers that are not higher: {}",
            seen.fences_back(),
            scenario.describe()
        ));
    }
    Ok(())
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
        world.run_for(scenario.bound() / 20);
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
