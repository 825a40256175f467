use super::*;
use crate::identity::Identity;
use crate::membership::roster::{Member, Roster};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};

fn identity(at: usize) -> Identity {
    Identity::new(&[at as u8 + 1; 64])
}

fn roster(version: u64, members: usize, keys: bool) -> Signed {
    roster_of(version, 0..members, keys)
}

fn roster_of(version: u64, members: impl IntoIterator<Item = usize>, keys: bool) -> Signed {
    let members = members.into_iter().map(|at| Member {
        name: format!("node-{at}"),
        address: address(at),
        key: keys.then(|| identity(at).public()),
        ..Member::default()
    });
    let roster = Roster {
        version,
        ring: "web".into(),
        members: members.collect(),
        operator: keys.then(|| identity(200).signer().public()),
        ..Roster::default()
    };
    Signed::new(roster)
}

fn signed(mut roster: Signed, by: impl IntoIterator<Item = usize>) -> Signed {
    let message = roster.mark().message();
    for at in by {
        assert!(roster.add(identity(at).signer().vouch(&message)));
    }
    roster
}

fn node(own: Signed) -> Exchange {
    let keys = own.roster().has_keys();
    let trust = keys.then(|| Trust::of(own.roster()));
    Exchange::new("web", trust, Some(own))
}

fn sender(at: usize, mark: Mark) -> Sender {
    Sender {
        name: format!("node-{at}"),
        address: address(at),
        mark,
        wire: 1,
        newest: 1,
        boot: 0,
        drained: true,
        on_ring: false,
    }
}

fn address(at: usize) -> String {
    format!("127.0.0.1:{}", 1000 + at)
}

#[expect(
    clippy::needless_range_loop,
    reason = "a node sends to others of the same list"
)]
/// Rings of nodes that offer to their neighbours every second, with loss,
/// duplication and reordering from a seed. How long until all have the latest.
fn spread(seed: u64, nodes: usize, members: usize, loss: u64, proposals: &[usize]) -> Duration {
    // The one kind of ring and the other.
    let keys = seed.is_multiple_of(2) && members < 200;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut ring: Vec<Exchange> = (0..nodes).map(|_| node(roster(1, members, keys))).collect();
    let mut best = Mark::default();
    for (count, &at) in proposals.iter().enumerate() {
        let mut proposed = roster(2, members + 1 + count, keys);
        if keys {
            // A majority of the first seven, or the operator alone.
            proposed = signed(proposed, if count == 0 { 0..4 } else { 200..201 });
        }
        if proposed.mark().replaces(&best) {
            best = proposed.mark();
        }
        ring[at].take(proposed);
    }
    let mut flying: Vec<(Duration, usize, Sender, Message)> = Vec::new();
    for step in 0..20_000_u64 {
        let now = Duration::from_millis(5 * step);
        if ring.iter().all(|node| node.mark() == best) {
            return now;
        }
        for at in 0..nodes {
            let fresh = ring[at].poll_adopted();
            if fresh || (step + at as u64).is_multiple_of(200) {
                let (before, after) = ((at + nodes - 1) % nodes, (at + 1) % nodes);
                ring[at].offer(&address(before));
                ring[at].offer(&address(after));
            }
            ring[at].handle_timeout(now);
            while let Some((to, message)) = ring[at].poll_transmit() {
                let to: usize = to.rsplit(':').next().unwrap().parse::<usize>().unwrap() - 1000;
                let sender = sender(at, ring[at].mark());
                for _ in 0..2 {
                    if random.next_u64() % 100 >= loss {
                        let late = Duration::from_millis(random.next_u64() % 40);
                        flying.push((now + late, to, sender.clone(), message.clone()));
                    }
                    if random.next_u64() % 100 >= 20 {
                        break;
                    }
                }
            }
        }
        let mut later = Vec::new();
        for (due, to, sender, message) in std::mem::take(&mut flying) {
            if due <= now {
                ring[to].handle(now, &sender, &message);
            } else {
                later.push((due, to, sender, message));
            }
        }
        flying = later;
    }
    panic!("seed {seed}: not spread after 100 s");
}

#[test]
fn the_latest_reaches_all_under_loss_and_reordering() {
    for seed in 0..30 {
        spread(seed, 8, 8, 30, &[3]);
    }
}

#[test]
fn a_large_roster_comes_in_pieces() {
    for seed in 0..3 {
        spread(seed, 4, 300, 20, &[0]);
    }
}

#[test]
fn two_at_once_end_as_one() {
    for seed in 0..20 {
        spread(seed, 6, 6, 20, &[0, 3]);
    }
}

#[test]
fn without_loss_it_takes_no_longer_than_a_second_a_hop() {
    assert!(spread(1, 16, 16, 0, &[0]) < Duration::from_secs(10));
}

/// What somebody offers, with all its pieces and signatures.
fn offered(node: &mut Exchange, from: usize, offered: &Signed) {
    let sender = sender(from, offered.mark());
    let mut hear = |message| node.handle(Duration::ZERO, &sender, &message);
    hear(Message::Offer);
    hear(Message::Vouches {
        mark: offered.mark(),
        list: offered.signatures().collect(),
    });
    for (at, bytes) in offered.bytes().chunks(CHUNK_BYTES).enumerate() {
        hear(Message::Chunk {
            digest: offered.mark().digest,
            chunk: at as u16,
            bytes: bytes.to_vec(),
        });
    }
}

#[test]
fn a_roster_that_is_not_what_was_offered_is_not_taken() {
    let mut node = node(roster(1, 3, false));
    let other = roster(9, 4, false);
    let sender = sender(2, roster(9, 3, false).mark());
    node.handle(Duration::ZERO, &sender, &Message::Offer);
    let message = Message::Chunk {
        digest: sender.mark.digest,
        chunk: 0,
        bytes: other.bytes().to_vec(),
    };
    node.handle(Duration::ZERO, &sender, &message);
    assert_eq!(node.poll_refused(), Some(RosterError::Malformed));
    assert!(!node.poll_adopted() && node.mark().version == 1);
}

/// Five keepers: fewer than three of them prove nothing, however often and as whomever they
/// sign; three do, and so does the operator.
#[test]
fn a_roster_needs_a_majority_of_the_keepers_or_the_operator() {
    let first = || node(roster(1, 5, true));
    let forged = || roster(9, 4, true);
    for signers in [vec![], vec![4], vec![3, 4], vec![3, 4, 77, 78, 79]] {
        let mut node = first();
        offered(&mut node, 4, &signed(forged(), signers));
        assert!(!node.poll_adopted());
        assert_eq!(node.poll_unproven(), Some(("node-4".into(), 9)));
    }
    // Somebody else's signature of something else, and its name under one's own.
    let mut node = first();
    let message = forged().mark().message();
    let of_another = identity(0)
        .signer()
        .vouch(&roster(2, 5, true).mark().message());
    let own = identity(4).signer().vouch(&message).1;
    let list = vec![
        of_another,
        (identity(1).signer().public(), own),
        (identity(2).signer().public(), own),
        identity(4).signer().vouch(&message),
    ];
    let mark = forged().mark();
    node.handle(
        Duration::ZERO,
        &sender(4, mark),
        &Message::Vouches { mark, list },
    );
    assert!(node.poll_unproven().is_some());
    for signers in [vec![0, 1, 2], vec![2, 3, 4], vec![200]] {
        let mut node = first();
        offered(&mut node, 4, &signed(forged(), signers));
        assert!(node.poll_adopted(), "the same is noticed if it is proved");
    }
    // A ring with keys is not talked into sharing one.
    let mut node = first();
    offered(&mut node, 4, &signed(roster(9, 4, false), 0..3));
    assert!(!node.poll_adopted());
}

/// Keepers that have decided upon a roster tell each other, and none acts before a majority has.
#[test]
fn what_the_keeper_here_has_decided_counts_when_most_have() {
    let next = || roster(2, 6, true);
    let mut keepers: Vec<Exchange> = (0..5).map(|_| node(roster(1, 5, true))).collect();
    let mut adopted = Vec::new();
    for at in 0..3 {
        keepers[at].decide(next(), |message| vec![identity(at).signer().vouch(message)]);
        let (_, told) = keepers[at]
            .pending()
            .map_or((None, None), |(roster, message)| {
                (Some(roster.version), Some(message))
            });
        for (other, keeper) in keepers.iter_mut().enumerate() {
            let from = sender(at, roster(1, 5, true).mark());
            if let Some(message) = told.clone().filter(|_| other != at) {
                keeper.handle(Duration::ZERO, &from, &message);
            }
        }
        adopted.push(
            keepers
                .iter()
                .filter(|keeper| keeper.mark() == next().mark())
                .count(),
        );
    }
    // The third has heard of the two before.
    assert_eq!(adopted, [0, 0, 1]);
}

/// A keeper that has passed over the roster that made it one: its own signature does not count for
/// itself, and the others need it, because one of theirs is gone. Whichever hears of the decision
/// first, all end with it.
#[test]
fn a_new_keeper_signs_what_others_need_it_for() {
    let [first, second, third] = [
        roster_of(1, [0, 1, 3], true),
        roster_of(2, [0, 1, 3, 5], true),
        roster_of(3, [0, 1, 5], true),
    ];
    let vouch = |at: usize| move |message: &[u8]| vec![identity(at).signer().vouch(message)];
    for late in [false, true] {
        let [mut zero, mut one] = [0, 1].map(|_| node(second.clone()));
        let mut five = node(first.clone());
        zero.decide(third.clone(), vouch(0));
        one.decide(third.clone(), vouch(1));
        if !late {
            five.decide(third.clone(), vouch(5));
        }
        // Two of three are enough for the new one.
        for told in [&zero, &one].map(|keeper| keeper.pending().expect("too few").1) {
            five.handle(Duration::ZERO, &sender(0, second.mark()), &told);
        }
        if late {
            offered(&mut five, 0, &signed(third.clone(), [0, 1]));
            five.decide(third.clone(), vouch(5));
        }
        assert_eq!(five.mark(), third.mark());
        for keeper in [&mut zero, &mut one] {
            talk(&mut five, keeper);
            assert_eq!(keeper.mark(), third.mark(), "late: {late}");
        }
    }
}

/// Five keepers take other keys one by one: the rosters, each signed by three of those before.
fn rotations() -> Vec<Signed> {
    let with = |new: usize| (0..new).map(|at| at + 10).chain(new..5);
    let rosters = (1..=6).map(|version| {
        let new = version as usize - 1;
        let before = with(new.saturating_sub(1)).take(3);
        signed(roster_of(version, with(new), true), before)
    });
    rosters.collect()
}

/// Two tell each other what they have to say, until they have said it.
fn talk(one: &mut Exchange, two: &mut Exchange) {
    one.offer(&address(1));
    let (mut from, mut to) = (one, two);
    let mut silent = 0;
    while silent < 2 {
        silent += 1;
        while let Some((_, message)) = from.poll_transmit() {
            to.handle(Duration::ZERO, &sender(1, from.mark()), &message);
            silent = 0;
        }
        std::mem::swap(&mut from, &mut to);
    }
}

/// Whoever was away while all keepers took other keys goes along the links to today's, also if
/// those were kept on disk meanwhile; and whoever was there has them all.
#[test]
fn rosters_prove_each_other_in_a_chain() {
    let mut there = node(rotations().remove(0));
    for next in rotations().into_iter().skip(1) {
        offered(&mut there, 1, &next);
    }
    let today = there.roster().unwrap();
    assert_eq!((today.mark().version, today.links().len()), (6, 5));
    let kept = Signed::read_kept(&today.kept(), "web").unwrap();
    assert_eq!(&kept, today);
    let mut back = node(kept);
    for version in 1..=5 {
        let mut away = node(rotations().remove(version - 1));
        talk(&mut back, &mut away);
        assert!(away.poll_adopted() && away.poll_unproven().is_none());
        assert_eq!(away.mark().version, 6);
        // What it has gone along, it can show in turn.
        assert_eq!(away.roster().unwrap().links().len(), 6 - version);
    }
    // The same without its first link is no chain to whoever needs that one.
    let mut text = String::from_utf8(back.roster().unwrap().kept()).unwrap();
    let link = String::from(back.roster().unwrap().links()[0].clone());
    text = text.replace(&format!("\"{link}\","), "");
    let mut cut = node(Signed::read_kept(text.as_bytes(), "web").unwrap());
    for version in 1..=2 {
        let mut away = node(rotations().remove(version - 1));
        talk(&mut cut, &mut away);
        assert_eq!(away.poll_adopted(), version == 2);
        assert_eq!(away.poll_unproven().is_some(), version == 1);
    }
}

/// A link counts only if it follows from what is believed: none out of order, none of which a
/// bit was changed, none that one has signed three times, and none of strangers.
#[test]
fn links_that_do_not_follow_are_refused() {
    let rosters = rotations();
    let trust = |at: usize| Trust::of(rosters[at].roster());
    let links: Vec<Link> = (1..6)
        .map(|at| Link::new(&rosters[at], &trust(at - 1)).unwrap())
        .collect();
    let walked = |links: &[Link]| {
        let mut away = node(rotations().remove(0));
        for link in links {
            let sender = sender(1, rosters[5].mark());
            away.handle(Duration::ZERO, &sender, &Message::Link(link.clone()));
        }
        away.reached.version
    };
    assert_eq!(walked(&links), 6);
    assert_eq!(walked(&links[..3]), 4);
    // The first three keepers' signatures are not enough from the fourth link on.
    assert_eq!(walked(&links[3..]), 1);
    let backwards: Vec<Link> = links.iter().rev().cloned().collect();
    assert_eq!(walked(&backwards), 2, "only the one that is next");
    let bytes = links[0].bytes();
    assert_eq!(Link::read(&bytes).as_ref(), Some(&links[0]));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let changed = Link::read(&changed);
        assert!(changed.is_none_or(|link| walked(&[link]) == 1), "byte {at}");
        let cut = Link::read(&bytes[..at]);
        assert!(cut.is_none_or(|link| walked(&[link]) == 1), "byte {at}");
    }
    let (start, signatures) = bytes.split_at(bytes.len() - 3 * 96);
    let thrice = [start, &signatures[..96].repeat(3)].concat();
    assert_eq!(walked(&[Link::read(&thrice).unwrap()]), 1);
    let strangers = signed(roster_of(2, 50..55, true), 50..55);
    let link = Link::new(&strangers, &Trust::of(strangers.roster())).unwrap();
    assert_eq!(walked(&[link]), 1);
    assert_eq!(Link::new(&strangers, &trust(0)), None);
    // The operator alone is believed, as everywhere.
    let word = signed(roster_of(2, 50..55, true), [200]);
    assert_eq!(walked(&[Link::new(&word, &trust(0)).unwrap()]), 2);
}

/// As many links are kept as fit, the latest ones; who has left is remembered until it is back.
#[test]
fn what_is_kept_of_the_past_is_bounded() {
    let mut there = node(roster_of(1, 0..3, true));
    for version in 2..=100 {
        let next = signed(roster_of(version, [version as usize], true), [200]);
        offered(&mut there, 1, &next);
    }
    let own = there.roster().unwrap();
    assert_eq!((own.mark().version, own.links().len()), (100, 64));
    assert_eq!(own.links()[0].mark.version, 37);
    let left: Vec<&str> = own.left().iter().map(|left| &left.name[..]).collect();
    assert_eq!((left.len(), left[0], left[63]), (64, "node-36", "node-99"));
    offered(&mut there, 1, &signed(roster_of(101, [99], true), [200]));
    let own = there.roster().unwrap();
    assert_eq!(own.left().last().unwrap().name, "node-100");
    assert!(own.left().iter().all(|left| left.name != "node-99"));
}

/// Somebody who may be anybody, and knows the digest, sends a piece of something else first.
#[test]
fn a_strangers_piece_does_not_disturb_what_members_send() {
    let next = signed(roster(2, 3, true), 0..2);
    let piece = |bytes: &[u8]| Message::Chunk {
        digest: next.mark().digest,
        chunk: 0,
        bytes: bytes.to_vec(),
    };
    let from = sender(1, next.mark());
    let vouches = Message::Vouches {
        mark: next.mark(),
        list: next.signatures().collect(),
    };
    assert!(next.bytes().len() <= CHUNK_BYTES);
    for authentic in [true, false] {
        let mut node = node(roster(1, 3, true));
        let begin = |node: &mut Exchange| match authentic {
            true => node.handle(Duration::ZERO, &from, &vouches),
            false => node.handle_unauthenticated(Duration::ZERO, &from, &vouches),
        };
        begin(&mut node);
        node.handle_unauthenticated(Duration::ZERO, &from, &piece(b"nonsense"));
        assert_eq!(node.poll_refused().is_none(), authentic);
        // Who has to do without members begins again.
        begin(&mut node);
        node.handle(Duration::ZERO, &from, &piece(next.bytes()));
        assert!(node.poll_adopted());
    }
}
