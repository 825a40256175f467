//! Nodes with keys of their own: they take others, come back and know none of today's, or are two
//! with the same.

use std::time::Duration;

use headway_node::{Key, RingId};
use headway_service::identity::{Identities, Purpose};
use headway_service::internal::Phase;
use headway_service::internal::control::{self, Message, Sender};
use headway_service::internal::roster::{Mark, vote};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::schedules;
use super::world::*;

/// One of those that take other keys at the same moment wins; the others hear of it, and take
/// theirs the next time they are asked.
#[test]
fn of_all_that_take_other_keys_at_once_nobody_is_stuck() {
    for seed in schedules(404, 1, 4) {
        let mut world = World::new(seed, 4);
        world.run_for(ms(1000));
        let mut first: Vec<_> = (0..4).map(|at| (at, world.rotate(at))).collect();
        for _ in 0..4 {
            world.run_for(ms(5000));
            let latest = world.latest();
            let has = |(at, new): &(usize, _)| {
                let member = latest.member(&format!("n{at}"));
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
        let mut world = World::new(seed, 5);
        world.run_for(ms(1000));
        world.loss = 5;
        for at in 0..5 {
            let before: u64 = world.hosts.iter().map(|host| host.runs).sum();
            let new = world.rotate(at);
            for _ in 0..100 {
                world.run_for(ms(100));
                let identities = &world.hosts[at].identities;
                let settled = |at| world.status(at).is_some_and(|status| status.settled);
                if (0..5).all(settled) && identities.list().len() == 1 && newest(identities) == new
                {
                    break;
                }
            }
            let identities = &world.hosts[at].identities;
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
        let told = newest(&world.hosts[0].identities);
        let own = world.hosts[1].identities.clone();
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
    let mut world = World::new(seed, 5);
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
        let last = world.hosts[at].identities.list();
        let last = last.last().expect("one").clone();
        assert_eq!(last.public(), new, "seed {seed}");
        world.kill(at);
        world.hosts[at].identities = Identities::new(last);
        world.start(at);
        world.run_for(ms(1500));
    }
    for at in (0..5).filter(|at| *at != away && !links) {
        world.kill(at);
        let kept = world.hosts[at].kept.roster.as_mut().expect("a membership");
        let mut file: Value = serde_json::from_slice(kept).expect("JSON");
        let links = file["roster"]["links"].as_array_mut().expect("links");
        links.drain(..links.len() - 1);
        *kept = file.to_string().into_bytes();
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
        assert_eq!(status.membership, other.membership, "seed {seed}");
        assert_eq!(status.phase == Phase::Outside, removed, "seed {seed}");
        assert!(status.alarms.is_empty(), "{:?}", status.alarms);
        world.recovers();
        // Without the links it cannot know.
        let world = back_among_strangers(seed, removed, false);
        let status = world.status(away).expect("it runs");
        assert_eq!(status.membership, 1, "seed {seed}");
    }
}

impl World {
    /// The key between two hosts, for control datagrams.
    fn pair(&self, one: usize, other: usize) -> Option<Key> {
        let [a, b] = [one, other].map(|at| &self.hosts[at].identities);
        let own = a.list().last().expect("one");
        let (me, name) = (format!("n{one}"), format!("n{other}"));
        own.key_with("virtual", Purpose::Control, &me, (&name, &newest(b)))
    }

    /// What one host says to another, if it is about who is on the ring.
    fn overheard(&self, from: usize, to: usize, datagram: &[u8]) -> Option<(Sender, Message, Key)> {
        let key = self.pair(from, to)?;
        let read = control::read(datagram, name_id(), std::slice::from_ref(&key), 2);
        let (sender, message) = read.ok()?;
        Some((sender, message, key))
    }

    /// Whether a vote does not wait for a node that is paused: it would hear of a roster by that.
    pub(crate) fn is_missed(&self, from: usize, to: usize, datagram: &[u8]) -> bool {
        let paused = self.echoes.is_some() && self.hosts[to].paused.is_some();
        let said = paused.then(|| self.overheard(from, to, datagram)).flatten();
        matches!(said, Some((_, Message::Part(_), _)))
    }

    /// What is sent instead of a neighbour's answer, if such answers are wrong here.
    pub(crate) fn echo(&mut self, from: usize, to: usize, datagram: &[u8]) -> Option<Vec<u8>> {
        self.echoes.as_ref()?;
        let (sender, message, key) = self.overheard(from, to, datagram)?;
        let echoes = self.echoes.as_mut()?;
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
                Some(control::write(name_id(), &sender, &message, &key))
            }
            _ => None,
        }
    }

    /// An error that the schedules have to find: whoever cannot be reached is said to have agreed.
    pub(crate) fn say_yes(&mut self, from: usize, to: usize, datagram: &[u8]) {
        if !self.says_yes {
            return;
        }
        let Some((sender, Message::Part(part), key)) = self.overheard(from, to, datagram) else {
            return;
        };
        let Ok(mut paper) = serde_json::from_slice::<Value>(&part.bytes) else {
            return;
        };
        let about = paper["About"].take();
        let (slot, message) = (&about[0], &about[1]);
        let answers = match message {
            _ if message["Prepare"].is_object() => {
                let ballot = &message["Prepare"]["ballot"];
                vec![(
                    json!({ "Promise": { "ballot": ballot, "accepted": null } }),
                    None,
                )]
            }
            // Once it has said what its change makes.
            _ if message["Accepted"].is_object() => {
                let read =
                    |value: &Value| serde_json::from_value(value.clone()).expect("as written");
                let (before, next): (Mark, Mark) = (read(slot), read(&message["Accepted"]["next"]));
                let ballot = serde_json::from_value(message["Accepted"]["ballot"].clone());
                let signed = vote(
                    (before.version, &before.digest),
                    ballot.expect("one"),
                    &next,
                );
                let own = self.hosts[to].identities.list().last().expect("one");
                let (_, signature) = own.signer().vouch(&signed);
                let text: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
                vec![(message.clone(), Some(text))]
            }
            _ => Vec::new(),
        };
        for (message, signature) in answers {
            let bytes = json!({ "About": [slot, message, signature] }).to_string();
            let part = control::Part {
                bytes: bytes.into_bytes(),
                part: 0,
                parts: 1,
                ..part.clone()
            };
            let sender = Sender {
                name: format!("n{to}"),
                address: address(to),
                ..sender.clone()
            };
            let bytes = control::write(name_id(), &sender, &Message::Part(part), &key);
            let due = self.now + ms(5);
            self.count += 1;
            self.flying
                .push(std::cmp::Reverse((due, self.count, from, bytes)));
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
