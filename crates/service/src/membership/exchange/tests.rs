use super::*;
use crate::identity::Identity;
use crate::membership::roster::Member;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

fn identity(at: usize) -> Identity {
    Identity::new(&[at as u8 + 1; 64])
}

fn roster(version: u64, members: usize, keys: bool) -> Signed {
    let members = (0..members).map(|at| Member {
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
