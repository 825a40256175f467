use super::*;
use crate::identity::Identity;
use crate::membership::register::Ballot;
use crate::membership::roster::{Member, Roster, vote};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};

fn identity(at: usize) -> Identity {
    let mut secret = [1; 64];
    for half in [0, 32] {
        secret[half..half + 8].copy_from_slice(&(at as u64).to_be_bytes());
    }
    Identity::new(&secret)
}

fn roster(version: u64, members: usize) -> Proved {
    roster_of(version, 0..members)
}

fn roster_of(version: u64, members: impl IntoIterator<Item = usize>) -> Proved {
    let members = members.into_iter().map(|at| Member {
        name: format!("node-{at}"),
        address: address(at),
        key: Some(identity(at).public()),
        ..Member::default()
    });
    Proved::new(Roster {
        version,
        ring: "web".into(),
        members: members.collect(),
        operator: Some(identity(200).signer().public()),
        ..Roster::default()
    })
}

const BALLOT: Ballot = Ballot {
    round: 3,
    storage: 7,
};

/// What these sign, at the places that they have among the voters.
fn voted(before: &Proved, next: &Proved, by: impl IntoIterator<Item = usize>) -> Link {
    let mark = before.mark();
    let message = vote((mark.version, &mark.digest), BALLOT, &next.mark());
    let votes = by.into_iter().map(|at| {
        let key = Some(identity(at).public());
        let place = before.roster().voters().position(|voter| voter.key == key);
        (place.unwrap_or(at), identity(at).signer().vouch(&message).1)
    });
    Link::voted(before, next, BALLOT, votes)
}

fn recovered(next: &Proved) -> Link {
    let (_, signature) = identity(200).signer().vouch(&next.mark().recovery());
    Link::recovered(next, Some(signature))
}

fn node(own: Proved) -> Exchange {
    Exchange::new("web", Trust::default(), Some(own))
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
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut ring: Vec<Exchange> = (0..nodes).map(|_| node(roster(1, members))).collect();
    let mut best = Mark::default();
    for (count, &at) in proposals.iter().enumerate() {
        // One is decided upon, and another recovered meanwhile.
        let version = if count == 0 { 2 } else { 1_001 };
        let proposed = roster(version, members + 1 + count);
        let link = match count {
            0 => voted(&roster(1, members), &proposed, 0..4),
            _ => recovered(&proposed),
        };
        if proposed.mark().replaces(&best) {
            best = proposed.mark();
        }
        ring[at].decide(proposed, link);
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

/// What somebody offers, with all its pieces and what proves it.
fn offered(node: &mut Exchange, from: usize, offered: &Proved, link: Link) {
    let sender = sender(from, offered.mark());
    let mut hear = |message| node.handle(Duration::ZERO, &sender, &message);
    hear(Message::Offer);
    hear(Message::Link(link));
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
    let (first, next, other) = (roster(1, 3), roster(2, 3), roster(2, 4));
    let mut node = node(first.clone());
    let sender = sender(2, next.mark());
    let link = voted(&first, &next, 0..2);
    node.handle(Duration::ZERO, &sender, &Message::Link(link));
    for bytes in other.bytes().chunks(CHUNK_BYTES).enumerate() {
        let message = Message::Chunk {
            digest: sender.mark.digest,
            chunk: bytes.0 as u16,
            bytes: bytes.1.to_vec(),
        };
        node.handle(Duration::ZERO, &sender, &message);
    }
    assert!(!node.poll_adopted() && node.mark().version == 1);
}

/// Five voters: fewer than three of them prove nothing, however often and as whomever they
/// sign; three do, and so does the operator.
#[test]
fn a_roster_needs_a_majority_of_the_voters_or_the_operator() {
    let (first, next) = (roster(1, 5), roster(2, 4));
    for signers in [
        vec![],
        vec![4],
        vec![3, 4],
        vec![3, 4, 4, 4],
        vec![4, 7, 8, 9],
    ] {
        let mut node = node(first.clone());
        offered(&mut node, 4, &next, voted(&first, &next, signers));
        assert!(!node.poll_adopted());
        assert_eq!(node.poll_unproven(), Some(("node-4".into(), 2)));
    }
    // Votes for something else, after something else, and the word of whoever is at the machine.
    let (other, later) = (roster(2, 5), roster(3, 4));
    for link in [
        voted(&first, &other, 0..3),
        voted(&other, &later, 0..3),
        Link::recovered(&next, None),
    ] {
        let mut node = node(first.clone());
        offered(&mut node, 4, &next, link);
        assert!(!node.poll_adopted() && node.mark() == first.mark());
    }
    for link in [
        voted(&first, &next, [0, 1, 2]),
        voted(&first, &next, [2, 3, 4]),
        recovered(&next),
    ] {
        let mut node = node(first.clone());
        offered(&mut node, 4, &next, link);
        assert!(node.poll_adopted(), "the same is noticed if it is proved");
    }
}

/// Votes under different ballots decide nothing together.
#[test]
fn votes_of_several_ballots_prove_nothing() {
    let (first, next) = (roster(1, 5), roster(2, 4));
    let sign = |at: usize| {
        let ballot = Ballot {
            storage: at as u64 % 2,
            ..BALLOT
        };
        let mark = first.mark();
        let message = vote((mark.version, &mark.digest), ballot, &next.mark());
        (at, identity(at).signer().vouch(&message).1)
    };
    let ballot = Ballot {
        storage: 1,
        ..BALLOT
    };
    for (voters, enough) in [([0, 1, 2], false), ([1, 2, 3], false), ([1, 3, 1], false)] {
        let link = Link::voted(&first, &next, ballot, voters.map(sign));
        assert_eq!(link.follows(&Trust::of(first.roster())), enough);
    }
}

/// Five voters take other keys one by one: the rosters, each with what three of those before have
/// signed.
fn rotations() -> Vec<(Proved, Link)> {
    let with = |new: usize| (0..new).map(|at| at + 10).chain(new..5);
    let roster = |version: u64| roster_of(version, with(version as usize - 1));
    let step = |version: u64| {
        let (before, next) = (roster(version - 1), roster(version));
        let link = voted(&before, &next, with(version as usize - 2).take(3));
        (next, link)
    };
    (2..=6).map(step).collect()
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

fn with_links(own: &Proved, from: usize) -> Proved {
    let mut file = serde_json::to_value(own).unwrap();
    file["links"].as_array_mut().unwrap().drain(..from);
    serde_json::from_value(file).unwrap()
}

/// Whoever was away while all voters took other keys goes along the links to today's, also if
/// those were kept on disk meanwhile; and whoever was there has them all.
#[test]
fn rosters_prove_each_other_in_a_chain() {
    let first = || roster_of(1, 0..5);
    let old = |version: usize| match version {
        1 => first(),
        _ => rotations().swap_remove(version - 2).0,
    };
    let mut there = node(first());
    for (next, link) in rotations() {
        offered(&mut there, 1, &next, link);
    }
    let today = there.roster().unwrap();
    assert_eq!((today.mark().version, today.links().len()), (6, 5));
    let kept = with_links(today, 0);
    assert_eq!(&kept, today);
    let mut back = node(kept);
    for version in 1..=5 {
        let mut away = node(old(version));
        talk(&mut back, &mut away);
        assert!(away.poll_adopted() && away.poll_unproven().is_none());
        assert_eq!(away.mark().version, 6);
        // What it has gone along, it can show in turn.
        assert_eq!(away.roster().unwrap().links().len(), 6 - version);
    }
    // The same without its first link is no chain to whoever needs that one.
    let mut cut = node(with_links(back.roster().unwrap(), 1));
    for version in 1..=2 {
        let mut away = node(old(version));
        talk(&mut cut, &mut away);
        assert_eq!(away.poll_adopted(), version == 2);
        assert_eq!(away.poll_unproven().is_some(), version == 1);
    }
}

/// Where the same voters decide, one after the other, the last decision proves itself.
#[test]
fn links_that_lead_to_the_same_keys_are_not_kept() {
    let mut there = node(roster(1, 5));
    for version in 2..=9 {
        let mut before = roster(version - 1, 5).roster().clone();
        before.version = version - 1;
        let (before, next) = (Proved::new(before), roster(version, 5));
        offered(&mut there, 1, &next, voted(&before, &next, 0..3));
    }
    let own = there.roster().unwrap();
    assert_eq!((own.mark().version, own.links().len()), (9, 2));
    for version in [1, 5, 8] {
        let mut away = node(roster(version, 5));
        talk(&mut there, &mut away);
        assert_eq!(away.mark().version, 9);
    }
}

/// A link counts only if it follows from what is believed: none out of order, none of which a
/// bit was changed, and none of strangers.
#[test]
fn links_that_do_not_follow_are_refused() {
    let first = roster_of(1, 0..5);
    let links: Vec<Link> = rotations().into_iter().map(|(_, link)| link).collect();
    let last = rotations()[4].0.mark();
    let walked = |links: &[Link]| {
        let mut away = node(first.clone());
        for link in links {
            let sender = sender(1, last);
            away.handle(Duration::ZERO, &sender, &Message::Link(link.clone()));
        }
        away.reached.version
    };
    assert_eq!(walked(&links), 6);
    assert_eq!(walked(&links[..3]), 4);
    assert_eq!(walked(&links[1..]), 1);
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
    let (start, votes) = bytes.split_at(bytes.len() - 3 * 65);
    let thrice = [start, &votes[..65].repeat(3)].concat();
    assert_eq!(walked(&[Link::read(&thrice).unwrap()]), 1);
    let strangers = [roster_of(1, 50..55), roster_of(2, 50..55)];
    let link = voted(&strangers[0], &strangers[1], 50..53);
    assert_eq!(walked(&[link]), 1);
    // The operator alone is believed, as everywhere.
    assert_eq!(walked(&[recovered(&strangers[1])]), 2);
}

/// As many links are kept as fit, the latest ones; who has left is remembered until it is back.
#[test]
fn what_is_kept_of_the_past_is_bounded() {
    let mut there = node(roster_of(1, 0..3));
    for version in 2..=100 {
        let next = roster_of(version, [version as usize]);
        offered(&mut there, 1, &next, recovered(&next));
    }
    let own = there.roster().unwrap();
    assert_eq!((own.mark().version, own.links().len()), (100, 64));
    assert_eq!(own.links()[0].mark.version, 37);
    let left: Vec<&str> = own.left().iter().map(|left| &left.name[..]).collect();
    assert_eq!((left.len(), left[0], left[63]), (64, "node-36", "node-99"));
    let next = roster_of(101, [99]);
    offered(&mut there, 1, &next, recovered(&next));
    let own = there.roster().unwrap();
    assert_eq!(own.left().last().unwrap().name, "node-100");
    assert!(own.left().iter().all(|left| left.name != "node-99"));
}

/// Somebody who may be anybody, and knows the digest, sends a piece of something else first.
#[test]
fn a_strangers_piece_does_not_disturb_what_members_send() {
    let (first, next) = (roster(1, 3), roster(2, 3));
    let piece = |bytes: &[u8]| Message::Chunk {
        digest: next.mark().digest,
        chunk: 0,
        bytes: bytes.to_vec(),
    };
    let from = sender(1, next.mark());
    let link = Message::Link(voted(&first, &next, 0..2));
    assert!(next.bytes().len() <= CHUNK_BYTES);
    for authentic in [true, false] {
        let mut node = node(first.clone());
        let begin = |node: &mut Exchange| match authentic {
            true => node.handle(Duration::ZERO, &from, &link),
            false => node.handle_unauthenticated(Duration::ZERO, &from, &link),
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
