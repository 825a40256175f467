use super::*;
use crate::membership::roster::{Member, Roster};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

fn key() -> Key {
    Key::new(b"a key for tests only").unwrap()
}

fn roster(version: u64, members: usize) -> Signed {
    let members = (0..members).map(|at| Member {
        name: format!("node-{at}"),
        address: address(at),
        http: None,
    });
    let roster = Roster {
        version,
        ring: "web".into(),
        members: members.collect(),
        ..Roster::default()
    };
    Signed::new(roster, &key())
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
    let mut ring: Vec<Exchange> = (0..nodes)
        .map(|_| Exchange::new("web", key(), Some(roster(1, members))))
        .collect();
    let mut best = Mark::default();
    for (count, &at) in proposals.iter().enumerate() {
        let proposed = roster(2, members + 1 + count);
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
                let sender = Sender {
                    name: format!("node-{at}"),
                    address: address(at),
                    mark: ring[at].mark(),
                    wire: 1,
                    newest: 1,
                    drained: true,
                    on_ring: false,
                };
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

#[test]
fn a_roster_that_is_not_what_was_offered_is_not_taken() {
    let mut node = Exchange::new("web", key(), Some(roster(1, 3)));
    let forged = Signed::new(
        roster(9, 3).roster().clone(),
        &Key::new(b"some other key entirely").unwrap(),
    );
    let sender = Sender {
        name: "x".into(),
        address: address(7),
        mark: forged.mark(),
        wire: 1,
        newest: 1,
        drained: true,
        on_ring: false,
    };
    node.handle(Duration::ZERO, &sender, &Message::Offer);
    for (at, bytes) in forged.bytes().chunks(CHUNK_BYTES).enumerate() {
        let message = Message::Chunk {
            digest: forged.mark().digest,
            chunk: at as u16,
            bytes: bytes.to_vec(),
        };
        node.handle(Duration::ZERO, &sender, &message);
    }
    assert_eq!(node.poll_refused(), Some(RosterError::Unsigned));
    assert!(!node.poll_adopted() && node.mark().version == 1);
}
