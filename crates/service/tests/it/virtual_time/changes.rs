//! What somebody wants of a fleet, one change after the other: what is made of it, what is refused
//! and why, and what becomes of permits meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use headway_service::identity::{Identities, Identity, Purpose, Signer};
use headway_service::internal::control::{self, Message};
use headway_service::internal::roster::{Link, Mark, Member, Proved, vote};
use headway_service::internal::{Answer, Kept, Phase, Request, Word};
use headway_service::operator;
use headway_testkit::tier::pick;
use serde_json::{Value, json};

use super::keys::{n1, name_id};
use super::schedules;
use super::world::*;

/// `max_hold` and `stop_timeout` of these worlds.
const LONGEST_PERMIT: Duration = Duration::from_millis(400);

impl World {
    fn member(&self, at: usize) -> Member {
        Member {
            name: format!("n{at}"),
            address: address(at),
            key: Some(newest(&self.hosts[at].identities)),
            ..Member::default()
        }
    }

    fn remove_member(&mut self, by: usize, name: &str, gone: bool) -> Result<Value, String> {
        let name = name.into();
        self.change(by, Request::Remove { name, gone })
    }

    fn add_member(&mut self, by: usize, member: Member, force: bool) -> Result<Value, String> {
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

    fn set_terms(&mut self, by: usize, terms: &Value) -> Result<Value, String> {
        let terms = terms.as_object().expect("an object").clone();
        self.change(by, Request::Set(terms))
    }

    fn recover(&mut self, at: usize, gone: &[usize], word: Word) -> Result<Value, String> {
        let gone = gone.iter().map(|at| format!("n{at}")).collect();
        self.change(at, Request::Recover { gone, word })
    }

    /// These are settled on one ring of so many members, by this roster.
    fn is_ring(&self, nodes: &[usize], version: u64) -> bool {
        nodes.iter().all(|&at| {
            let status = self.status(at).expect("it runs");
            status.settled && (status.membership, status.members) == (version, nodes.len())
        })
    }

    fn alarmed(&self, at: usize, text: &str) -> bool {
        let alarms = self.status(at).expect("it runs").alarms;
        alarms.iter().any(|alarm| alarm.contains(text))
    }

    fn all_runs(&self) -> u64 {
        self.hosts.iter().map(|host| host.runs).sum()
    }

    /// All of these work.
    fn works(&mut self, nodes: &[usize]) {
        let before: Vec<u64> = self.hosts.iter().map(|host| host.runs).collect();
        self.until("all work", |world| {
            nodes
                .iter()
                .all(|&at| world.hosts[at].runs > before[at] + 2)
        });
    }

    /// Starts a node anew with other settings, as if it had never run.
    fn start_with(&mut self, at: usize, change: impl FnOnce(&mut Host)) {
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
/// being rebooted, and nobody knows when it was granted: the others go on without it, and not
/// before any permit of that time is over.
#[test]
fn a_node_that_stops_within_a_command_is_waited_for_until_its_permit_is_over() {
    for (seed, removed) in schedules(1540, 4, 20).flat_map(|seed| [(seed, false), (seed, true)]) {
        let mut world = World::new(seed, 5);
        world.run_for(ms(1000));
        world.work = 290;
        world.until("n2 works", |world| world.hosts[2].command.is_some());
        let stopped = world.now;
        world.request(2, Request::Stop);
        world.run_for(ms(100));
        assert!(world.hosts[2].command.is_none(), "its command was told");
        world.kill(2);
        let before = world.all_runs();
        if removed {
            world.remove_member(0, "n2", false).unwrap();
        }
        world.until("the others go on", |world| world.all_runs() > before);
        let waited = world.now - stopped;
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
                    host.settings.membership.bypass = false;
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

#[test]
fn a_node_with_another_key_is_a_stranger() {
    for seed in schedules(1620, 1, 10) {
        let mut world = World::new(seed, 3);
        world.start_with(2, |host| host.identities = Identities::new(identity(9)));
        for at in 0..2 {
            world.hosts[at].settings.membership.bypass = false;
            world.kill(at);
            world.start(at);
        }
        world.until("n2 is refused and missed", |world| {
            let status = world.status(0).expect("it runs");
            status.rejected.contains_key("control_unauthenticated") && status.silent == ["n2"]
        });
        assert_eq!(world.hosts[2].runs, 0, "seed {seed}");
    }
}

/// Three of five voters are gone for good: nothing is decided, the ring waits, and the others go on
/// on somebody's word. One that was not gone after all stays outside.
#[test]
fn a_lost_majority_of_voters_is_recovered_on_somebodys_word() {
    for seed in schedules(1660, 1, 6) {
        let mut world = World::new(seed, 5);
        world.run_for(ms(2000));
        let early = world.recover(0, &[2, 3], Word::Here).unwrap_err();
        assert!(early.contains("3 of 5 voters"), "{early}");
        for at in [2, 3, 4] {
            world.kill(at);
        }
        let refused = world.remove_member(0, "n2", false).unwrap_err();
        assert!(refused.contains("too few voters"), "{refused}");
        assert_eq!(world.status(0).expect("it runs").membership, 1);
        let gone = [2, 3, 4];
        let there = world.recover(0, &gone, Word::Here).unwrap();
        assert_eq!(there["version"], 1001);
        // n0's word is not n1's: without a recovery key, somebody says it there, too.
        world.until("n1 hears of it and does not believe it", |world| {
            world.alarmed(
                1,
                "n0 offers membership 1001, which too few voters have signed",
            )
        });
        assert_eq!(world.status(1).expect("it runs").membership, 1);
        let there = world.recover(1, &gone, Word::Here).unwrap();
        assert_eq!(there["version"], 1001);
        world.until("two are left", |world| world.is_ring(&[0, 1], 1001));
        // The two decide: a third member comes, and it is one that was not gone after all.
        world.start(2);
        world.until("n2 hears of it", |world| {
            world.alarmed(2, "membership 1001")
        });
        assert_eq!(world.status(2).expect("it runs").permits, 0);
        world.recover(2, &gone, Word::Here).unwrap();
        world.until("n2 is outside", |world| {
            world.status(2).expect("it runs").phase == Phase::Outside
        });
        let member = world.member(2);
        world.add_member(1, member, true).unwrap();
        world.until("three", |world| world.is_ring(&[0, 1, 2], 1002));
        world.works(&[0, 1, 2]);
    }
}

/// An operator's word counts for everybody; somebody else's does not.
#[test]
fn an_operators_word_counts_everywhere() {
    let [first, other, next] = [1, 2, 3].map(|number| Signer::new(&[number; 32]));
    let mut world = World::new(1680, 5);
    for at in 0..5 {
        world.start_with(at, |host| {
            host.settings.ring.recovery_key = Some(first.public());
        });
    }
    let roster = world.hosts[0].settings.first_roster().expect("members");
    world.rosters.insert(1, roster);
    world.run_for(ms(1000));
    // Another key for the operator, which the voters decide upon.
    let rotate = |world: &mut World, by: &Signer| {
        let signature = operator::sign_key("virtual", next.public(), by);
        let key = next.public();
        world.change(0, Request::RotateOperator { key, signature })
    };
    assert!(
        rotate(&mut world, &other)
            .unwrap_err()
            .contains("not signed")
    );
    assert_eq!(rotate(&mut world, &first).unwrap()["version"], 2);
    world.until("all know", |world| world.is_ring(&[0, 1, 2, 3, 4], 2));
    assert_eq!(world.stops, 0, "nobody was stopped for it");
    for at in [2, 3, 4] {
        world.kill(at);
    }
    let gone = [2, 3, 4];
    let names = gone.map(|at| format!("n{at}"));
    let unsigned = world.unsigned(0, &names);
    let sign = |by| {
        let signature = operator::sign_membership(&unsigned, "virtual", &names, by).unwrap();
        let bytes: Vec<u8> = (0..signature.len() / 2)
            .map(|at| u8::from_str_radix(&signature[2 * at..2 * at + 2], 16).unwrap())
            .collect();
        Word::Operator(Box::new(bytes.try_into().unwrap()))
    };
    for by in [&other, &first] {
        let refused = world.recover(0, &gone, sign(by)).unwrap_err();
        assert!(refused.contains("not signed"), "{refused}");
    }
    let more = ["n1".to_owned()];
    let wrong = operator::sign_membership(&unsigned, "virtual", &more, &next);
    assert_eq!(wrong, None, "somebody is in it who should not be");
    let there = world.recover(0, &gone, sign(&next)).unwrap();
    assert_eq!(there["version"], 1002);
    world.until("n1 believes it, too", |world| world.is_ring(&[0, 1], 1002));
}

/// One member is compromised: it has its own secrets and everybody's public keys. It speaks for
/// itself, and for nobody else. The same with the secrets of those whom it speaks for is the
/// counter-test: then everything is believed, so a node that took any key would be noticed.
#[test]
fn a_compromised_member_speaks_for_itself_only() {
    let mut world = World::new(1700, 5);
    world.run_for(ms(1000));
    let first = world.rosters[&1].clone();
    let mut evil = first.clone();
    (evil.version, evil.formed) = (2, 2);
    evil.members.truncate(2);
    let (first, evil) = (Proved::new(first), Proved::new(evil));
    let ballot = serde_json::from_value(json!({ "round": 1, "storage": 1 })).expect("a ballot");
    let forge = |signers: &[usize]| {
        let mark = first.mark();
        let signed = vote((mark.version, &mark.digest), ballot, &evil.mark());
        let sign = |at: &usize| (*at, identity(*at).signer().vouch(&signed).1);
        Link::voted(&first, &evil, ballot, signers.iter().map(sign))
    };
    // n4 is the one; what it says in anybody's name goes to n0.
    let to_n0 = identity(0).public();
    let say = |world: &mut World, name: usize, with: usize, mark: Mark, message: &Message| {
        let mut sender = n1();
        (sender.name, sender.address, sender.mark) = (format!("n{name}"), address(name), mark);
        let key =
            identity(with).key_with("virtual", Purpose::Control, &sender.name, ("n0", &to_n0));
        let bytes = control::write(name_id(), &sender, message, &key.expect("one"));
        world.deliver(0, bytes);
    };
    let refused = |world: &World| {
        let rejected = world.status(0).expect("it runs").rejected;
        rejected
            .get("control_unauthenticated")
            .copied()
            .unwrap_or(0)
    };
    let own = first.mark();
    let part = control::Part {
        number: 2,
        part: 0,
        parts: 1,
        bytes: vec![1],
    };
    let alive = control::Alive {
        disk: (1, 1),
        may_vote: true,
        asks: false,
        heard: None,
    };
    let echo = Message::Echo {
        nonce: 7,
        later: false,
    };
    for message in [
        Message::Offer,
        Message::Pong { nonce: 7 },
        echo,
        Message::Part(part),
        Message::Alive(alive),
        Message::Link(forge(&[4])),
    ] {
        let before = refused(&world);
        say(&mut world, 1, 4, own, &message);
        assert_eq!(refused(&world), before + 1, "{message:?}");
    }
    // As itself: a roster that it alone has signed is not taken, and n0 says so. Nor is one that it
    // has signed three times.
    for signers in [&[4][..], &[4, 4, 4]] {
        say(
            &mut world,
            4,
            4,
            evil.mark(),
            &Message::Link(forge(signers)),
        );
        world.run_for(ms(100));
        assert!(world.alarmed(
            0,
            "n4 offers membership 2, which too few voters have signed"
        ));
        let status = world.status(0).expect("it runs");
        assert_eq!((status.membership, status.settled), (1, true));
    }
    // With a majority's secrets it would have been taken: n4 serves what it offers.
    world.kill(4);
    say(
        &mut world,
        4,
        4,
        evil.mark(),
        &Message::Link(forge(&[2, 3, 4])),
    );
    for (chunk, bytes) in (0..).zip(evil.bytes().chunks(control::CHUNK_BYTES)) {
        let digest = evil.mark().digest;
        let bytes = bytes.to_vec();
        let piece = Message::Chunk {
            digest,
            chunk,
            bytes,
        };
        say(&mut world, 4, 4, evil.mark(), &piece);
    }
    assert_eq!(world.status(0).expect("it runs").membership, 2);
}

/// A compromised member says without end how far others are in a rollout, some of whom there are:
/// nobody believes it, everybody works on, and it can be removed meanwhile.
#[test]
fn a_member_that_makes_up_steps_stops_nobody_and_is_removed() {
    let mut world = World::new(1710, 5);
    for at in 0..5 {
        world.start_with(at, |host| {
            host.settings.rollout.allow = vec!["x".into()];
        });
    }
    world.run_for(ms(1000));
    let wanted = json!({ "name": "web", "command": ["x"], "canaries": ["n1"] });
    let wanted = serde_json::from_value(wanted).expect("wanted");
    // n1 does not begin, so nobody does.
    world.kill(1);
    world
        .ask(0, Request::StartRollout(wanted))
        .expect("started");
    let known: Value = serde_json::from_slice(&world.hosts[0].kept.rollouts).expect("JSON");
    let id = known[0]["Spec"][0].clone();
    let say = |world: &mut World, to: usize, names: &[String], attempt: u32| {
        let step = json!({
            "attempt": attempt, "phase": "done", "retry": 0, "began_ms": 1, "ended_ms": 2, "why": "",
            "signature": "AAAA",
        });
        let atoms = names.iter().map(|name| json!({ "Step": [id, name, step] }));
        let bytes = json!({ "Known": atoms.collect::<Vec<_>>() }).to_string();
        let message = Message::Rollouts {
            bytes: bytes.into_bytes(),
        };
        let mut sender = n1();
        (sender.name, sender.address) = ("n4".into(), address(4));
        let name = format!("n{to}");
        let other = (&*name, &identity(to).public());
        let key = identity(4).key_with("virtual", Purpose::Control, "n4", other);
        let bytes = control::write(name_id(), &sender, &message, &key.expect("one"));
        world.deliver(to, bytes);
    };
    let flood = |world: &mut World, seconds: u32| {
        for number in 0..seconds * pick(200, 2_000, 2_000) {
            for to in [0, 2, 3] {
                let names = ["n1".into(), format!("n{to}"), format!("made-up-{number}")];
                say(world, to, &names, number);
            }
            world.run_for(ms(5));
        }
    };
    world.start(1);
    flood(&mut world, 1);
    let before = world.all_runs();
    flood(&mut world, 2);
    assert!(world.all_runs() > before + 10, "all work on");
    world.remove_member(0, "n4", false).expect("it is removed");
    flood(&mut world, 1);
    world.until("one ring", |world| world.is_ring(&[0, 1, 2, 3], 2));
    let answer = world.ask(2, Request::Rollouts);
    let Ok(Answer::Rollouts(views)) = answer else {
        panic!("{answer:?}");
    };
    let view = serde_json::to_value(&views).expect("JSON")[0].take();
    let steps = view["steps"].as_array().expect("steps");
    let names: Vec<&str> = steps
        .iter()
        .filter_map(|step| step["name"].as_str())
        .collect();
    assert_eq!(names, ["n0", "n1", "n2", "n3", "n4"]);
    assert_eq!(view["done"], 0, "{view}");
}

/// On the ring a neighbour's datagrams are believed under its own key only.
#[test]
fn a_hop_under_another_members_key_is_refused() {
    use headway_node::Rule;
    use headway_node::wire::block::Told;
    use headway_node::wire::{Header, Layout};
    let mut world = World::new(1720, 5);
    world.run_for(ms(1000));
    let layout = Layout {
        tokens: 1,
        payload: 0,
        rule: Rule::MovingBlock,
        version: 1,
    };
    let header = Header {
        receiver: 0,
        sender: 1,
        ..Header::default()
    };
    // n1's own key is listened to, and what is wrong then is the ring.
    for (name, with, reason) in [("n4", 4, "unauthenticated"), ("n1", 1, "ring")] {
        let other = ("n0", &identity(0).public());
        let hop: &Identity = &identity(with);
        let hop = hop.key_with("virtual", Purpose::Hop, name, other);
        let mut bytes = vec![0; layout.bytes()];
        layout.write(
            &header,
            [(1, 5, &[][..])].into_iter(),
            Some((&Told::default(), &[0])),
            &hop.expect("one"),
            &mut bytes,
        );
        let rejected = |world: &World| {
            let rejected = world.status(0).expect("it runs").rejected;
            rejected.get(reason).copied().unwrap_or(0)
        };
        let before = rejected(&world);
        world.deliver(0, bytes);
        assert_eq!(rejected(&world), before + 1, "{name}");
    }
}

/// A compromised member's numbers could be the last ones that there are.
#[test]
fn a_fencing_number_of_centuries_ahead_is_refused() {
    use headway_node::Rule;
    use headway_node::wire::{self, Layout};
    let mut world = World::new(1730, 5);
    world.run_for(ms(1000));
    let layout = Layout {
        tokens: 1,
        payload: 0,
        rule: Rule::MovingBlock,
        version: 1,
    };
    let other = ("n0", &identity(0).public());
    let key = identity(1).key_with("virtual", Purpose::Hop, "n1", other);
    let key = key.expect("one");
    let mut said = None;
    while said.is_none() {
        world.run_for(ms(1));
        let mut flying = world.flying.iter().map(|datagram| &datagram.0);
        let hop = flying.find(|(_, _, to, bytes)| {
            *to == 0 && bytes.len() == layout.bytes() && wire::sender(bytes) == Some(1)
        });
        said = hop.map(|(.., bytes)| bytes.clone());
    }
    let said = said.expect("a hop of n1");
    let read = layout.read(&said, &key).expect("its own");
    let (value, own, _) = read.tokens().next().expect("a token");
    let (told, heard) = read.told().expect("a moving block");
    let heard: Vec<u32> = heard.collect();
    let rejected = |world: &World| {
        let rejected = world.status(0).expect("it runs").rejected;
        rejected.get("fence").copied().unwrap_or(0)
    };
    for (fence, refused) in [
        (own, 0),
        (own + (1 << 53), 1),
        (i64::MAX as u64 - 3, 1),
        (u64::MAX, 1),
    ] {
        let mut bytes = vec![0; layout.bytes()];
        let token = [(value, fence, &[][..])].into_iter();
        layout.write(&read.header, token, Some((&told, &heard)), &key, &mut bytes);
        let before = rejected(&world);
        world.deliver(0, bytes);
        // Counted, and told with the next thing that happens.
        world.run_for(ms(10));
        assert_eq!(rejected(&world), before + refused, "{fence}");
    }
    world.works(&[0, 1, 2, 3, 4]);
    world.run_for(ms(1_000));
    assert!(world.has_alarm(0, "a century ahead"));
    assert!(!world.has_alarm(1, "a century ahead"));
    world.run_for(ms(620_000));
    assert!(!world.has_alarm(0, "a century ahead"), "long ago");
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
