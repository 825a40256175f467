//! Large rings of moving blocks on virtual time with the real machine: how long they take to
//! recover, how long a node waits for a permit, what they send and what they need. The
//! figures of docs/dev/performance.md; it takes many minutes, so it is measured only if asked for.

use std::time::{Duration, Instant};

use headway_node::{Config, Key, Machine, Plan, RingId, Timing};
use headway_stage::world::{Conditions, Settings, Work, World};

use crate::table::peak_bytes;

/// Nodes, tokens, separation, and whether to scramble every memory.
const RINGS: [(u32, u32, u32, bool); 8] = [
    (1_000, 1, 1, true),
    (1_000, 2, 5, true),
    (1_000, 4, 5, true),
    (1_000, 16, 5, false),
    (1_000, 64, 5, false),
    (10_000, 4, 5, false),
    (10_000, 1, 1, true),
    (100_000, 1, 1, false),
];

pub(crate) fn measure() {
    println!(
        "| nodes, tokens, d | first settled | from scrambled | from a lost node | mean wait | \
         datagrams of a node in a second | bytes of a node |\n|---|---|---|---|---|---|---|"
    );
    for (nodes, tokens, separation, scrambled) in RINGS {
        let began = Instant::now();
        let plan = Plan::moving_block(nodes, tokens, separation).expect("it fits");
        println!("{} <!-- {:.0?} -->", row(plan, scrambled), began.elapsed());
    }
}

fn row(plan: Plan, scrambled: bool) -> String {
    let config = |index| Config {
        timing: Timing {
            refresh: Duration::from_secs(1),
            heartbeat_timeout: Duration::from_secs(5),
            ..Timing::default()
        },
        ..Config::new(RingId([9; 16]), index, plan)
    };
    let (_node, bytes) = peak_bytes(|| Box::new(Machine::new(config(0), Key::none(), 1)));
    let settings = Settings {
        conditions: Conditions {
            delay_min: Duration::from_micros(500),
            delay_max: Duration::from_micros(1500),
            ..Conditions::default()
        },
        work: Work {
            min: Duration::ZERO,
            max: Duration::ZERO,
        },
        ..Settings::default()
    };
    let mut world = World::new((0..plan.nodes()).map(config), settings).expect("configured");
    let first = settle(&mut world);
    let (visits, sent) = (
        count(&world, Machine::hops),
        count(&world, Machine::datagrams),
    );
    let watched = Duration::from_millis(u64::from(plan.nodes()));
    world.run_for(watched);
    let visits = count(&world, Machine::hops) - visits;
    let sent = count(&world, Machine::datagrams) - sent;
    let each = |number: u64| number as f64 / f64::from(plan.nodes()) / watched.as_secs_f64();
    // Half of the time between two visits.
    let wait = 0.5 / each(visits);
    let lost = plan.nodes() / 3;
    world.crash(lost);
    world.run_for(Duration::from_secs(1));
    world.restart_empty(lost).expect("as before");
    let lost = settle(&mut world);
    let scrambled = match scrambled {
        true => {
            world.scramble_all();
            format!("{:.1?}", settle(&mut world))
        }
        false => "-".to_owned(),
    };
    format!(
        "| {}, {}, {} | {first:.1?} | {scrambled} | {lost:.1?} | {wait:.2} s | {:.1} | {bytes} |",
        plan.nodes(),
        plan.tokens(),
        plan.separation(),
        each(sent),
    )
}

fn count(world: &World, what: fn(&Machine) -> u64) -> u64 {
    world.machines().iter().map(what).sum()
}

/// How long it takes until every node is settled, and then is for two turns of the tokens.
fn settle(world: &mut World) -> Duration {
    let start = world.now();
    let plan = world.machines()[0].config().plan;
    let turns = 2 * u64::from(plan.nodes()) * u64::from(plan.tokens());
    let mut since = None;
    loop {
        world.run_for(Duration::from_millis(50));
        if !world.settled() {
            since = None;
            continue;
        }
        let hops = count(world, Machine::hops);
        let (at, before) = *since.get_or_insert((world.now(), hops));
        if hops - before >= turns {
            return at - start;
        }
    }
}
