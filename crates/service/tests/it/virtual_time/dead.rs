//! A dead machine does not stop the others: it is passed over as soon as no permit can be in use
//! there, and comes back by itself.

use std::time::Duration;

use headway_service::config::When;

use super::schedules;
use super::world::*;

/// How long a permit may last in these worlds, and with the time to stop.
const HOLD: Duration = Duration::from_secs(4);
const LONGEST: Duration = Duration::from_millis(4_100);

/// Five members, whose last restart is longer ago than a permit lasts. n2 uses permits, or does not.
fn long_running(seed: u64, works: bool) -> World {
    let mut world = World::new(seed, 5);
    for at in 0..5 {
        world.kill(at);
        let settings = &mut world.hosts[at].settings;
        settings.timing.max_hold = HOLD;
        if at == 2 && !works {
            settings.command.when = When::Requested;
        }
    }
    world.flying.clear();
    for at in 0..5 {
        world.hosts[at].kept = Default::default();
        world.start(at);
    }
    world.run_for(LONGEST + ms(3_000));
    world
}

/// How long the others have no ring without n2, after it died.
fn waited(world: &mut World) -> Duration {
    let died = world.now;
    world.kill(2);
    world.until("the ring closes without n2", |world| {
        [0, 1, 3, 4].iter().all(|&at| {
            let status = world.status(at).expect("it runs");
            status.settled && status.bypassed == ["n2"]
        })
    });
    world.now - died
}

fn works(world: &mut World, nodes: &[usize]) {
    let runs = |world: &World, at: usize| world.hosts[at].runs;
    let before: Vec<u64> = nodes.iter().map(|&at| runs(world, at)).collect();
    world.until("all work", |world| {
        let mut all = nodes.iter().zip(&before);
        all.all(|(&at, before)| runs(world, at) > before + 2)
    });
}

#[test]
fn a_dead_member_that_used_no_permit_is_passed_over_at_once() {
    for seed in schedules(1700, 2, 20) {
        let mut world = long_running(seed, false);
        let waited = waited(&mut world);
        assert!(waited < LONGEST / 2, "seed {seed}: {waited:?}");
        works(&mut world, &[0, 1, 3, 4]);
        world.start(2);
        world.until("it is back by itself", |world| {
            let status = world.status(2).expect("it runs");
            status.settled && status.bypassed.is_empty()
        });
    }
}

#[test]
fn a_member_that_died_at_work_is_passed_over_when_its_permit_is_over() {
    for seed in schedules(1720, 2, 20) {
        let mut world = long_running(seed, true);
        // Its command outlives it, and takes nearly as long as it may.
        world.work = 3_900;
        world.until("n2 works", |world| world.hosts[2].command.is_some());
        world.work = 80;
        let waited = waited(&mut world);
        assert!(world.hosts[2].command.is_none(), "seed {seed}");
        // The neighbours answered a moment before it began.
        assert!(waited + ms(150) > LONGEST, "seed {seed}: {waited:?}");
        assert!(waited < 2 * LONGEST, "seed {seed}: {waited:?}");
        works(&mut world, &[0, 1, 3, 4]);
        world.start(2);
        works(&mut world, &[0, 1, 2, 3, 4]);
    }
}

/// A neighbour that was restarted a moment ago does not know what it has answered.
#[test]
fn a_neighbour_that_has_forgotten_its_answers_waits_as_long_as_a_permit_lasts() {
    for seed in schedules(1740, 1, 20) {
        let mut world = long_running(seed, false);
        world.kill(3);
        world.start(3);
        let restarted = world.now;
        world.run_for(ms(1_000));
        waited(&mut world);
        assert!(world.now - restarted >= LONGEST, "seed {seed}");
    }
}
