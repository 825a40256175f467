//! What somebody wants of a fleet, one change after the other: what is made of it, what is refused
//! and why, and what becomes of permits meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use headway_service::config::Bypass;
use headway_service::internal::roster::Member;
use headway_service::internal::{Kept, Request, Word};
use serde_json::{Value, json};

use super::schedules;
use super::world::*;

/// `max_hold` and `stop_timeout` of these worlds.
pub(super) const LONGEST_PERMIT: Duration = Duration::from_millis(400);

impl World {
    pub(super) fn member(&self, at: usize) -> Member {
        Member {
            name: format!("n{at}"),
            address: address(at),
            key: Some(newest(&self.hosts[at].identities)),
            ..Member::default()
        }
    }

    pub(super) fn remove_member(
        &mut self,
        by: usize,
        name: &str,
        gone: bool,
    ) -> Result<Value, String> {
        let name = name.into();
        self.change(by, Request::Remove { name, gone })
    }

    pub(super) fn add_member(
        &mut self,
        by: usize,
        member: Member,
        force: bool,
    ) -> Result<Value, String> {
        let after = None;
        self.change(
            by,
            Request::Add {
                member,
                after,
                force,
            },
        )
    }

    pub(super) fn set_terms(&mut self, by: usize, terms: &Value) -> Result<Value, String> {
        let change = serde_json::from_value(terms.clone()).expect("a change of terms");
        self.change(by, Request::Set(change))
    }

    pub(super) fn recover(
        &mut self,
        at: usize,
        gone: &[usize],
        word: Word,
    ) -> Result<Value, String> {
        let gone = gone.iter().map(|at| format!("n{at}")).collect();
        self.change(at, Request::Recover { gone, word })
    }

    /// These are settled on one ring of so many members, by this roster.
    pub(super) fn is_ring(&self, nodes: &[usize], version: u64) -> bool {
        nodes.iter().all(|&at| {
            let status = self.status(at).expect("it runs");
            status.settled && (status.membership, status.members) == (version, nodes.len())
        })
    }

    pub(super) fn alarmed(&self, at: usize, text: &str) -> bool {
        let alarms = self.status(at).expect("it runs").alarms;
        alarms.iter().any(|alarm| alarm.contains(text))
    }

    pub(super) fn all_runs(&self) -> u64 {
        self.hosts.iter().map(|host| host.runs).sum()
    }

    /// All of these work.
    pub(super) fn works(&mut self, nodes: &[usize]) {
        let before: Vec<u64> = self.hosts.iter().map(|host| host.runs).collect();
        self.until("all work", |world| {
            nodes
                .iter()
                .all(|&at| world.hosts[at].runs > before[at] + 2)
        });
    }

    /// Starts a node anew with other settings, as if it had never run.
    pub(super) fn start_with(&mut self, at: usize, change: impl FnOnce(&mut Host)) {
        self.kill(at);
        self.hosts[at].kept = Kept::default();
        change(&mut self.hosts[at]);
        self.start(at);
    }
}

#[test]
fn several_members_come_and_go_by_one_change() {
    for seed in schedules(1400, 2, 20) {
        let mut world = World::new(seed, 4);
        world.run_for(ms(1000));
        world.show_keys(4);
        world.start(4);
        world.run_for(ms(200));
        // Nobody runs at the address of n5.
        let add = vec![world.member(4), world.member(5)];
        let remove = vec!["n1".into(), "zz".into()];
        let answer = world.change(2, Request::Follow { add, remove }).unwrap();
        assert_eq!(answer["version"], 2, "seed {seed}");
        let refused = answer["refused"].as_object().unwrap();
        assert_eq!(refused.keys().collect::<Vec<_>>(), ["n5", "zz"]);
        assert!(refused["n5"].to_string().contains("n5 does not answer"));
        assert!(refused["zz"].to_string().contains("no member `zz`"));
        world.until("one ring", |world| world.is_ring(&[0, 2, 3, 4], 2));
        let nothing = Request::Follow {
            add: vec![],
            remove: vec![],
        };
        let none = world.change(0, nothing).unwrap();
        assert_eq!(none["version"], 2, "nothing to do is no entry");

        // Three neighbours: the one in the middle has to wait.
        let mut world = World::new(seed, NODES);
        world.run_for(ms(1000));
        let remove = [1, 2, 3].map(|at| format!("n{at}")).to_vec();
        let add = Vec::new();
        let answer = world.change(0, Request::Follow { add, remove }).unwrap();
        let refused = answer["refused"].as_object().unwrap();
        assert_eq!(refused.keys().collect::<Vec<_>>(), ["n2"], "seed {seed}");
        world.until("one ring", |world| world.is_ring(&[0, 2, 4, 5], 2));
    }
}

/// Three neighbours that are gone could ask each other, and nobody who knows better.
#[test]
fn three_neighbours_are_removed_only_on_somebodys_word() {
    for seed in schedules(1420, 2, 20) {
        let mut world = World::new(seed, NODES);
        world.run_for(ms(1000));
        for name in ["n1", "n3"] {
            world.remove_member(0, name, false).unwrap();
        }
        let refused = world.remove_member(0, "n2", false).unwrap_err();
        let why = "n2 and both its neighbours would be gone";
        assert!(refused.contains(why), "seed {seed}: {refused}");
        let refused = world.remove_member(0, "n2", true).unwrap_err();
        let why = "n2 was heard a moment ago";
        assert!(refused.contains(why), "seed {seed}: {refused}");
        world.kill(2);
        world.run_for(ms(9_000));
        world.remove_member(0, "n2", true).unwrap();
        world.until("three are left", |world| world.is_ring(&[0, 4, 5], 4));
        world.works(&[0, 4, 5]);
    }
}

#[test]
fn what_no_roster_can_be_is_refused_and_nothing_is_proposed() {
    let mut world = World::new(1440, 3);
    world.run_for(ms(1000));
    let refused =
        |world: &mut World, member: Member| world.add_member(0, member, true).unwrap_err();
    let mut member = world.member(3);
    member.key = None;
    let why = refused(&mut world, member.clone());
    assert!(why.contains("`n3` has no key"), "{why}");
    member.key = Some(identity(1).public());
    let why = refused(&mut world, member);
    assert!(why.contains("`n1` and `n3` have the same key"), "{why}");
    let twice = world.member(2);
    let why = refused(&mut world, twice);
    assert!(why.contains("`n2` is there twice"), "{why}");
    let unknown = world.remove_member(0, "zz", false).unwrap_err();
    assert!(unknown.contains("no member `zz`"), "{unknown}");
    world.remove_member(0, "n2", false).unwrap();
    world.until("two are left", |world| world.is_ring(&[0, 1], 2));
    let last = world.remove_member(0, "n1", false).unwrap_err();
    assert!(last.contains("a ring has 2 to"), "{last}");
    let alone = world.recover(0, &[1], Word::Here).unwrap_err();
    assert!(alone.contains("one member would be left"), "{alone}");
    for (terms, why) in [
        (
            json!({ "tokens": 4 }),
            "4 tokens 1 hop apart need 5 nodes, one of slack, and there are 2",
        ),
        (
            json!({ "heartbeat_timeout_ms": 1 }),
            "`heartbeat_timeout` is 1ms",
        ),
        (json!({ "stop_timeout_ms": 1 }), "at least 100ms"),
        (json!({ "tokens": 1 }), "nothing would be different"),
    ] {
        let refused = world.set_terms(0, &terms).expect_err(why);
        assert!(refused.contains(why), "{refused}");
    }
    assert_eq!(world.status(0).expect("it runs").membership, 2);
}

/// One change is of all terms; the files still say what they said, and the roster counts, after a
/// restart, too.
#[test]
fn tokens_separation_and_times_change_at_once_and_nothing_restarts() {
    for seed in schedules(1460, 2, 20) {
        let mut world = World::new(seed, NODES);
        world.run_for(ms(1000));
        let terms = json!({ "tokens": 2, "separation": 2, "tick_ms": 5 });
        let answer = world.set_terms(3, &terms).unwrap();
        assert_eq!(answer["version"], 2, "seed {seed}");
        world.until("all by it", |world| world.is_ring(&[0, 1, 2, 3, 4, 5], 2));
        world.kill(2);
        world.start(2);
        world.until("again", |world| world.is_ring(&[0, 1, 2, 3, 4, 5], 2));
        let status = world.status(2).expect("it runs");
        let tick = status.ring_settings.map(|terms| terms.tick_ms);
        let now = (status.tokens, status.separation, tick);
        assert_eq!(now, (2, 2, Some(5)), "seed {seed}");
        let differs = status.file_differs.join("; ");
        assert!(differs.contains("ring.tokens = 1, not 2"), "{differs}");
        world.works(&[0, 1, 2, 3, 4, 5]);
    }
}

/// Five members have room for two tokens two hops apart, four only for one.
#[test]
fn at_capacity_a_member_less_is_a_token_less_until_it_is_back() {
    for seed in schedules(1480, 2, 20) {
        let mut world = World::new(seed, 5);
        world.run_for(ms(1000));
        world
            .set_terms(0, &json!({ "tokens": 2, "separation": 2 }))
            .unwrap();
        let fit = |world: &mut World, nodes: &[usize], tokens: u32| {
            world.until("as many tokens as fit", |world| {
                nodes.iter().all(|&at| {
                    let status = world.status(at).expect("it runs");
                    let numbers = (status.tokens, status.tokens_wanted, status.members);
                    status.settled && numbers == (tokens, 2, nodes.len())
                })
            });
        };
        fit(&mut world, &[0, 1, 2, 3, 4], 2);
        // Bypassed, and back.
        world.kill(2);
        fit(&mut world, &[0, 1, 3, 4], 1);
        world.start(2);
        fit(&mut world, &[0, 1, 2, 3, 4], 2);
        // Removed, and added again.
        let answer = world.remove_member(0, "n4", false).unwrap();
        let tokens = ["tokens_before", "tokens", "tokens_wanted"].map(|key| answer[key].clone());
        assert_eq!(tokens, [2, 1, 2], "seed {seed}");
        fit(&mut world, &[0, 1, 2, 3], 1);
        let back = world.member(4);
        world.show_keys(4);
        world.start(4);
        let answer = world.add_member(1, back, true).unwrap();
        let tokens = ["tokens_before", "tokens"].map(|key| answer[key].clone());
        assert_eq!(tokens, [1, 2], "seed {seed}");
        fit(&mut world, &[0, 1, 2, 3, 4], 2);
    }
}

#[test]
fn adding_a_member_ends_no_command() {
    let mut working = 0;
    for seed in schedules(1500, 4, 40) {
        let mut world = World::new(seed, 5);
        world.run_for(ms(1000));
        // Not so long that a permit's time is over first.
        world.work = 200;
        world.until("somebody works", |world| {
            world.hosts.iter().any(|host| host.command.is_some())
        });
        working += 1;
        let member = world.member(5);
        world.show_keys(5);
        world.start(5);
        world.add_member(0, member, true).unwrap();
        world.until("six", |world| world.is_ring(&[0, 1, 2, 3, 4, 5], 2));
        assert_eq!(world.stops, 0, "seed {seed}");
    }
    assert!(working > 0);
}

/// A node stops within a command and stays away. Its permit is kept for it, as if its machine were
/// being rebooted: the others go on without it, and not before its permit is over.
#[test]
fn a_node_that_stops_within_a_command_is_waited_for_until_its_permit_is_over() {
    for (seed, removed) in schedules(1540, 4, 20).flat_map(|seed| [(seed, false), (seed, true)]) {
        let mut world = World::new(seed, 5);
        world.run_for(ms(1000));
        world.work = 290;
        world.until("n2 works", |world| world.hosts[2].command.is_some());
        // The neighbours have answered a moment before.
        let asked = world.now - ms(50);
        world.request(2, Request::Stop);
        world.run_for(ms(100));
        assert!(world.hosts[2].command.is_none(), "its command was told");
        world.kill(2);
        let before = world.all_runs();
        if removed {
            world.remove_member(0, "n2", false).unwrap();
        }
        world.until("the others go on", |world| world.all_runs() > before);
        let waited = world.now - asked;
        assert!(waited >= LONGEST_PERMIT, "seed {seed}: {waited:?}");
        world.works(&[0, 1, 3, 4]);
        let bypassed = world.status(0).expect("it runs").bypassed;
        assert_eq!(bypassed.len(), usize::from(!removed), "seed {seed}");
    }
}

/// Nothing of before is left anywhere: the world looks at the numbers.
#[test]
fn fences_never_fall() {
    for seed in schedules(1560, 3, 20) {
        let mut world = World::new(seed, NODES);
        world.run_for(ms(1500));
        let before: Vec<_> = world.fences.values().cloned().collect();
        for at in 0..NODES {
            world.kill(at);
        }
        world.flying.clear();
        for at in 0..NODES {
            world.hosts[at].kept = Kept::default();
            world.start(at);
        }
        world.works(&[0, 1, 2, 3, 4, 5]);
        let after = world.fences.values();
        assert!(after.zip(before).all(|(now, then)| now.0 > then.0.max(1)));
    }
}

/// What it had is gone, and the ring is in order again all the same. (Work takes no time here: two
/// permits may be too near until then, as `a_lost_state_may_lead_to_two_permits` shows.)
#[test]
fn killed_without_state_it_joins_again_and_the_ring_settles() {
    for seed in schedules(1580, 5, 60) {
        let mut world = World::new(seed, 5);
        world.run_for(ms(1000));
        world.work = 1;
        for at in [0, 3] {
            world.start_with(at, |_| {});
            world.until("in order", |world| world.is_ring(&[0, 1, 2, 3, 4], 1));
            world.works(&[0, 1, 2, 3, 4]);
        }
    }
}

#[test]
fn files_with_other_members_or_times_are_told_apart_and_nobody_works() {
    for seed in schedules(1600, 2, 10) {
        for other_times in [false, true] {
            let mut world = World::new(seed, 3);
            for at in 0..3 {
                world.start_with(at, |host| {
                    host.settings.membership.bypass = Bypass::Never;
                    match other_times {
                        _ if at != 1 => {}
                        true => host.settings.timing.max_hold = ms(3_000),
                        false => host.settings.ring.members.truncate(2),
                    }
                });
            }
            world.until("n0 says so", |world| {
                world.alarmed(0, "n1 was configured with other members, tokens or times")
            });
            world.run_for(ms(3_000));
            let status = world.status(0).expect("it runs");
            assert!(!status.settled && status.membership == 1, "seed {seed}");
            assert_eq!(world.all_runs(), 0, "seed {seed}");
        }
    }
}

/// Two tokens travel: machines of the default group use both, those of `few` one, on all nodes
/// together.
#[test]
fn a_group_has_its_own_number_of_slots() {
    for seed in schedules(1740, 1, 10) {
        let mut world = World::new(seed, NODES);
        for at in 0..NODES {
            world.start_with(at, |host| {
                let fleetlock = &mut host.settings.fleetlock;
                fleetlock.groups = ["default", "few"].map(String::from).to_vec();
                fleetlock.slots = [("few".to_owned(), NonZeroU32::MIN)].into();
            });
        }
        world.run_for(ms(1000));
        let terms = json!({ "tokens": 2, "separation": 2 });
        world.set_terms(0, &terms).unwrap();
        world.until("two tokens", |world| world.is_ring(&[0, 1, 2, 3, 4, 5], 2));
        for (group, slots) in [("default", 2), ("few", 1)] {
            let group = || group.to_owned();
            // Who has a slot since when; all want one, and each comes back once.
            let (mut have, mut back, mut most) = (BTreeMap::new(), BTreeSet::new(), 0);
            for _ in 0..2_000 {
                world.run_for(ms(10));
                let now = world.now;
                for at in (0..NODES).filter(|at| !back.contains(at)) {
                    let (group, id) = (group(), format!("machine-{at}"));
                    if world.ask(at, Request::Lock { group, id }).is_ok() {
                        have.entry(at).or_insert(now);
                    }
                }
                assert!(have.len() <= slots, "seed {seed}: {have:?}");
                most = most.max(have.len());
                let over = have.iter().filter(|(_, since)| now - **since > ms(100));
                for at in over.map(|(at, _)| *at).collect::<Vec<_>>() {
                    have.remove(&at);
                    let (group, id) = (group(), format!("machine-{at}"));
                    world.ask(at, Request::Unlock { group, id }).unwrap();
                    back.insert(at);
                }
                if back.len() == NODES {
                    break;
                }
            }
            assert_eq!((back.len(), most), (NODES, slots), "seed {seed}");
        }
    }
}
