//! Machines with a key that is not the right one, and members that say what is not true.

use headway_node::Rule;
use headway_node::wire::Layout;
use headway_service::config::Bypass;
use headway_service::identity::{Identities, Identity, Purpose};
use headway_service::internal::control::Message;
use headway_service::internal::roster::{Link, Mark, Proved, vote};
use headway_service::internal::{Answer, Request, control};
use headway_testkit::tier::pick;
use serde_json::{Value, json};

use super::keys::{n1, name_id};
use super::schedules;
use super::world::*;

/// Of what neighbours tell each other on the rings of these worlds.
const HOPS: Layout = Layout {
    tokens: 1,
    payload: 0,
    rule: Rule::MovingBlock,
    version: 1,
};

#[test]
fn a_node_with_another_key_is_a_stranger() {
    for seed in schedules(1620, 1, 10) {
        let mut world = World::new(seed, 3);
        world.start_with(2, |host| host.identities = Identities::new(identity(9)));
        for at in 0..2 {
            world.hosts[at].settings.membership.bypass = Bypass::Never;
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

/// A compromised member says of others that their machines are off, which would leave them out with
/// both their neighbours: no voter that hears them believes it.
#[test]
fn a_member_that_is_heard_is_not_gone_whoever_says_so() {
    let mut world = World::new(1705, NODES);
    world.run_for(ms(2000));
    let gone = ["n1", "n2", "n3"].map(|name| json!({ "Remove": { "name": name, "gone": true } }));
    let change = json!({ "id": 7, "version": 1, "settled": true, "kind": { "Several": gone } });
    let wish = Message::Part(control::Part {
        number: 1,
        part: 0,
        parts: 1,
        bytes: json!({ "Wish": change }).to_string().into_bytes(),
    });
    let mut sender = n1();
    (sender.name, sender.address) = ("n4".into(), address(4));
    for to in [0, 5] {
        let name = format!("n{to}");
        let other = (&*name, &identity(to).public());
        let key = identity(4).key_with("virtual", Purpose::Control, "n4", other);
        let bytes = control::write(name_id(), &sender, &wish, &key.expect("one"));
        world.deliver(to, bytes);
    }
    world.run_for(ms(3_000));
    assert_eq!(world.status(0).expect("it runs").membership, 1);
    world.works(&[0, 1, 2, 3, 4, 5]);
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
    use headway_node::wire::Header;
    use headway_node::wire::block::Told;
    let mut world = World::new(1720, 5);
    world.run_for(ms(1000));
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
        let mut bytes = vec![0; HOPS.bytes()];
        HOPS.write(
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
    use headway_node::wire;
    let mut world = World::new(1730, 5);
    world.run_for(ms(1000));
    let other = ("n0", &identity(0).public());
    let key = identity(1).key_with("virtual", Purpose::Hop, "n1", other);
    let key = key.expect("one");
    let mut said = None;
    while said.is_none() {
        world.run_for(ms(1));
        let mut flying = world.flying.iter().map(|datagram| &datagram.0);
        let hop = flying.find(|(_, _, to, bytes)| {
            *to == 0 && bytes.len() == HOPS.bytes() && wire::sender(bytes) == Some(1)
        });
        said = hop.map(|(.., bytes)| bytes.clone());
    }
    let said = said.expect("a hop of n1");
    let read = HOPS.read(&said, &key).expect("its own");
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
        let mut bytes = vec![0; HOPS.bytes()];
        let token = [(value, fence, &[][..])].into_iter();
        HOPS.write(&read.header, token, Some((&told, &heard)), &key, &mut bytes);
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
