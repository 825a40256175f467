//! Nodes with keys of their own: they take others, come back and know none of today's, or are two
//! with the same.

use std::time::Duration;

use headway_node::RingId;
use headway_service::identity::{Identities, Purpose};
use headway_service::internal::Phase;
use headway_service::internal::control::{self, Message, Sender};
use headway_service::internal::roster::Mark;
use sha2::{Digest as _, Sha256};

use super::schedules;
use super::world::*;

/// One of those that take other keys at the same moment wins; the others hear of it, and take
/// theirs the next time they are asked.
#[test]
fn of_all_that_take_other_keys_at_once_nobody_is_stuck() {
    for seed in schedules(404, 1, 4) {
        let mut world = World::with_keys(seed, 4, true);
        world.run_for(ms(1000));
        let mut first: Vec<_> = (0..4).map(|at| (at, world.rotate(at))).collect();
        for _ in 0..4 {
            world.run_for(ms(5000));
            let decided = world.log.decided.as_ref().expect("a log");
            let has = |(at, new): &(usize, _)| {
                let member = decided.roster.member(&format!("n{at}"));
                member.and_then(|member| member.key.as_ref()) == Some(new)
            };
            let stuck: Vec<usize> = (first.iter().filter(|one| !has(one)))
                .map(|(at, _)| *at)
                .collect();
            first = stuck.into_iter().map(|at| (at, world.rotate(at))).collect();
        }
        assert_eq!(first.len(), 0, "seed {seed}");
        world.recovers();
    }
}

/// All nodes take other keys, one after the other, while the ring works: nothing stops for longer
/// than a change of members takes, fencing numbers grow, and in the end nobody listens to an old
/// key.
#[test]
fn all_nodes_take_other_keys_while_the_ring_works() {
    for seed in schedules(400, 1, 4) {
        let mut world = World::with_keys(seed, 5, true);
        world.run_for(ms(1000));
        world.loss = 5;
        for at in 0..5 {
            let before: u64 = world.hosts.iter().map(|host| host.runs).sum();
            let new = world.rotate(at);
            for _ in 0..100 {
                world.run_for(ms(100));
                let identities = world.hosts[at].identities.as_ref().expect("some");
                let settled = |at| world.status(at).is_some_and(|status| status.settled);
                if (0..5).all(settled) && identities.list().len() == 1 && newest(identities) == new
                {
                    break;
                }
            }
            let identities = world.hosts[at].identities.as_ref().expect("some");
            assert_eq!(
                (identities.list().len(), newest(identities)),
                (1, new),
                "seed {seed}"
            );
            world.run_for(ms(1000));
            let after: u64 = world.hosts.iter().map(|host| host.runs).sum();
            assert!(after > before, "seed {seed}: nobody works");
        }
        // Somebody who has an old key of n1 says something to n0.
        let told = world.hosts[0]
            .identities
            .as_ref()
            .map(newest)
            .expect("a key");
        let own = world.hosts[1].identities.clone().expect("some");
        for (old, heard) in [(identity(1), false), (own.list()[0].clone(), true)] {
            let key = old.key_with("virtual", Purpose::Control, "n1", ("n0", &told));
            let rejected = |world: &World| {
                let status = world.status(0).expect("it runs");
                status.rejected.get("control_unauthenticated").copied()
            };
            let before = rejected(&world);
            let bytes = control::write(name_id(), &n1(), &Message::Offer, &key.expect("one"));
            world.deliver(0, bytes);
            assert_eq!(rejected(&world) == before, heard, "seed {seed}");
        }
        world.recovers();
    }
}

/// A member is away while all others take other keys and forget the old ones. It may have been
/// removed meanwhile. Nobody can authenticate what the other says. The links are taken from the
/// others' disks, or are left.
fn back_among_strangers(seed: u64, removed: bool, links: bool) -> World {
    let mut world = World::with_keys(seed, 5, true);
    world.run_for(ms(1000));
    world.loss = 5;
    let away = (seed % 5) as usize;
    world.kill(away);
    world.run_for(ms(2500));
    if removed {
        world.remove((away + 1) % 5, away);
        world.run_for(ms(1500));
    }
    for at in (0..5).filter(|at| *at != away) {
        let new = world.rotate(at);
        world.run_for(ms(2500));
        let last = world.hosts[at].identities.as_ref().expect("some").list();
        let last = last.last().expect("one").clone();
        assert_eq!(last.public(), new, "seed {seed}");
        world.kill(at);
        world.hosts[at].identities = Some(Identities::new(last));
        world.start(at);
        world.run_for(ms(1500));
    }
    for at in (0..5).filter(|at| *at != away && !links) {
        world.kill(at);
        let kept = world.hosts[at].kept.roster.as_mut().expect("a roster");
        let end = kept.iter().rposition(|byte| *byte == b'\n');
        kept.truncate(end.expect("three lines") + 1);
        kept.extend_from_slice(b"{\"links\":[],\"left\":[]}");
        world.start(at);
    }
    world.start(away);
    world.run_for(ms(5000));
    world
}

#[test]
fn whoever_was_away_while_all_took_other_keys_comes_back_or_hears_that_it_was_removed() {
    for (seed, removed) in schedules(600, 1, 4).flat_map(|seed| [(seed, false), (seed, true)]) {
        let mut world = back_among_strangers(seed, removed, true);
        let away = (seed % 5) as usize;
        let [status, other] = [away, (away + 1) % 5].map(|at| world.status(at).expect("it runs"));
        assert_eq!(status.roster, other.roster, "seed {seed}");
        assert_eq!(status.phase == Phase::Outside, removed, "seed {seed}");
        assert!(status.alarms.is_empty(), "{:?}", status.alarms);
        world.recovers();
        // Without the links it cannot know.
        let world = back_among_strangers(seed, removed, false);
        let status = world.status(away).expect("it runs");
        assert_eq!(status.roster, 1, "seed {seed}");
    }
}

impl World {
    /// What is sent instead of a neighbour's answer, if such answers are wrong here.
    pub(crate) fn echo(&mut self, datagram: &[u8]) -> Option<Vec<u8>> {
        let echoes = self.echoes.as_mut()?;
        let (sender, message) = control::read(datagram, name_id(), &[key()], 2).ok()?;
        match message {
            Message::Ask { nonce, .. } => {
                echoes.insert(nonce, sender.mark);
                None
            }
            Message::Echo { nonce, .. } => {
                let mark = *echoes.get(&nonce)?;
                let sender = Sender { mark, ..sender };
                // Nor does it say what it knows of the token.
                let message = Message::Echo {
                    nonce,
                    later: false,
                };
                Some(control::write(name_id(), &sender, &message, &key()))
            }
            _ => None,
        }
    }
}

/// What somebody says of itself who speaks as n1.
pub(crate) fn n1() -> Sender {
    Sender {
        name: "n1".into(),
        address: address(1),
        mark: Mark::default(),
        wire: 1,
        newest: 1,
        boot: 1,
        drained: true,
        on_ring: true,
    }
}

/// What control datagrams of these rings are known by.
pub(crate) fn name_id() -> RingId {
    let digest = Sha256::digest(b"headway ring name 1virtual");
    let mut id = RingId([0; 16]);
    id.0.copy_from_slice(&digest[..16]);
    id
}

/// A machine is copied with its disk, and both run: whoever hears both says so, and until then
/// nobody does. The ring is unharmed.
#[test]
fn two_machines_with_one_identity_are_an_alarm() {
    for seed in schedules(500, 1, 4) {
        let mut world = World::new(seed, 4);
        world.run_for(ms(1000));
        let alarmed = |world: &World| {
            (0..4).any(|at| {
                let alarms = world.status(at).expect("it runs").alarms;
                alarms
                    .iter()
                    .any(|alarm| alarm.contains("two machines speak as n2"))
            })
        };
        // A restart is none.
        world.kill(2);
        world.start(2);
        world.run_for(ms(3000));
        assert!(!alarmed(&world), "seed {seed}");
        let host = &world.hosts[2];
        world.hosts.push(Host {
            settings: host.settings.clone(),
            agent: None,
            kept: host.kept.clone(),
            identities: host.identities.clone(),
            beside: Vec::new(),
            wire: 1,
            command: None,
            ended: None,
            restarted: true,
            paused: None,
            writes: 0,
            full: 0..0,
            lent: None,
            ran: 0,
            told: 0,
            runs: 0,
            due: Duration::ZERO,
        });
        world.start(NODES);
        world.run_for(ms(8000));
        assert!(alarmed(&world), "seed {seed}");
        world.kill(NODES);
        world.recovers();
    }
}
