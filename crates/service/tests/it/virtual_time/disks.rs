//! Disks that fill up and have room again: what a node cannot note it does not grant, so that
//! whatever it relies on after a restart, nobody begins too near.

use headway_service::internal::{Answer, Request};

use super::world::*;
use super::{is_caught, schedules};

/// What a program's permit is known by.
const TICKET: &str = "\"00000000000000000000000000000007\"";

/// For requests whose answers only the world looks at.
const UNHEARD: u64 = 1 << 32;

impl World {
    /// As by SIGTERM: it ends its command first.
    fn stop(&mut self, at: usize) {
        self.request(at, Request::Stop);
        let done = |world: &World| {
            let agent = world.hosts[at].agent.as_ref();
            agent.is_none_or(|agent| agent.finished(world.now))
        };
        while !done(self) {
            self.run_for(ms(1));
        }
        self.kill(at);
    }

    fn stops_and_starts(&mut self, at: usize, cleanly: bool) {
        if cleanly {
            self.stop(at);
        } else {
            self.kill(at);
        }
        let late = self.below(40);
        self.run_for(ms(late));
        self.start(at);
    }

    /// Lets time pass while somebody from outside wants a permit of a node: a program, which
    /// extends it again and again, or a FleetLock client.
    fn is_wanted_for(&mut self, at: usize, time: u64) {
        let ticket = serde_json::from_str(TICKET).expect("a ticket");
        let lease = ms(200);
        for passed in 0..time {
            if passed % 20 == 0 {
                let request = match (self.seed % 3, self.hosts[at].lent) {
                    (0, _) => continue,
                    (1, None) => Request::Acquire { ticket, lease },
                    (1, Some(_)) => {
                        let lease = lease + ms(passed);
                        Request::Extend { ticket, lease }
                    }
                    _ => Request::Lock {
                        group: "default".into(),
                        id: "machine".into(),
                    },
                };
                self.request_as(UNHEARD, at, request);
            }
            self.run_for(ms(1));
        }
    }

    fn all_work_again(&mut self) {
        self.hosts.iter_mut().for_each(|host| host.full = 0..0);
        self.recovers();
        self.run_for(ms(1_200));
        for at in 0..NODES {
            let alarms = self.status(at).map(|status| status.alarms);
            let alarms = alarms.into_iter().flatten().collect::<Vec<_>>().join("; ");
            assert!(
                !alarms.contains("cannot keep"),
                "seed {}: {alarms}",
                self.seed
            );
        }
    }
}

/// A node's disk has no room from its write number `after` on; it is killed or stopped, and
/// started again. Whether it ever missed a write.
fn fills_up(seed: u64, after: u64, forgets: bool) -> bool {
    let mut world = World::new(seed, 4);
    world.forgets = forgets;
    world.run_for(ms(800));
    let at = world.below(4) as usize;
    let host = &mut world.hosts[at];
    let first = host.writes + after;
    host.full = first..u64::MAX;
    // Nearly as long as a permit lasts, so that somebody is at work when it is killed.
    world.work = 250;
    let early = 100 + world.below(500);
    world.is_wanted_for(at, early);
    let missed = world.hosts[at].writes >= first;
    let cleanly = world.below(2) == 0;
    world.stops_and_starts(at, cleanly);
    world.run_for(ms(300));
    let runs = world.hosts[at].runs;
    world.all_work_again();
    world.until("it works again", |world| world.hosts[at].runs > runs);
    missed
}

#[test]
fn whichever_write_finds_the_disk_full_nobody_begins_too_near() {
    let mut missed = 0;
    let seeds = schedules(1800, 24, 400);
    let all = seeds.clone().count();
    for seed in seeds {
        missed += usize::from(fills_up(seed, seed % 40, false));
    }
    assert!(2 * missed > all, "{missed} of {all}");
}

/// The same schedules with nodes that go on as if everything were noted.
#[test]
fn a_full_disk_that_nobody_minds_is_caught() {
    // Early, because a node that has settled writes little.
    is_caught(1800..1860, 20, 4, |seed| fills_up(seed, seed % 8, true));
}

/// Disks fill up and have room again at any time, on any node, while members come and go.
fn now_and_then(seed: u64) {
    let mut world = World::new(seed, 4);
    world.run_for(ms(800));
    world.loss = 5;
    for _ in 0..6 {
        for at in 0..NODES {
            if world.below(3) == 0 {
                let first = world.hosts[at].writes + world.below(60);
                world.hosts[at].full = first..first + 1 + world.below(60);
            }
        }
        let (by, at) = (
            world.below(NODES as u64) as usize,
            world.below(NODES as u64) as usize,
        );
        let what = world.below(8);
        match what {
            0 => world.add(by, at),
            1 => world.remove(by, at),
            2 => {
                let (tokens, separation) = (1 + world.below(3), 1 + world.below(3));
                world.set(by, tokens, separation);
            }
            3 => drop(world.rotate(at)),
            _ if world.runs(at) => {
                let time = world.below(300);
                world.is_wanted_for(at, time);
                world.stops_and_starts(at, what == 4);
            }
            _ => {}
        }
        let pause = world.below(500);
        world.run_for(ms(pause));
    }
    world.all_work_again();
}

#[test]
fn disks_that_fill_up_now_and_then_never_lead_to_two_permits() {
    // A client that was told of its permit after its node had left the ring.
    now_and_then(395);
    for seed in schedules(0, 40, 1_000) {
        now_and_then(seed);
    }
}

/// A node that cannot note who has a permit says so to whoever asks, and grants again when it can.
#[test]
fn a_program_is_told_that_nothing_can_be_noted_and_keeps_what_it_had() {
    let mut world = World::new(1, 3);
    world.run_for(ms(800));
    let ticket = serde_json::from_str(TICKET).expect("a ticket");
    let why = "cannot write down who has a permit";
    let wanted = || Request::Acquire {
        ticket,
        lease: ms(50),
    };
    world.hosts[1].full = 0..u64::MAX;
    let refused = world.ask(1, wanted()).unwrap_err();
    assert!(refused.contains(why), "{refused}");
    let alarms = world.status(1).expect("it runs").alarms;
    assert!(alarms[0].contains("cannot keep the notes"), "{alarms:?}");
    world.hosts[1].full = 0..0;
    let given = world.ask(1, wanted());
    assert!(matches!(given, Ok(Answer::Permit(_))), "{given:?}");
    world.hosts[1].full = 0..u64::MAX;
    let lease = ms(250);
    for _ in 0..2 {
        let longer = world.ask(1, Request::Extend { ticket, lease }).unwrap_err();
        assert!(longer.contains(why), "{longer}");
    }
    // What is noted already is not given up.
    let view = world.ask(1, Request::Look { ticket });
    assert!(matches!(view, Ok(Answer::View(_))), "{view:?}");
    world.all_work_again();
}
