//! How a roster spreads: whoever hears of a later one asks for it, piece by piece,
//! and then tells its own neighbours.
//!
//! Without clock or socket: messages and times go in, messages come out. Every
//! message says which roster its sender has, so an offer is a message without
//! anything else.

use std::collections::VecDeque;
use std::time::Duration;

use headway_node::Key;

use crate::control::{CHUNK_BYTES, Message, Sender};
use crate::roster::{Mark, RosterError, Signed};

/// Larger than any roster can be.
const MOST_BYTES: u32 = 2 << 20;

/// Pieces asked for at a time.
const WINDOW: usize = 8;

/// A piece that has not come is asked for again after this long.
const AGAIN: Duration = Duration::from_millis(250);

/// A transfer without progress is given up after this long.
const GIVE_UP: Duration = Duration::from_secs(3);

/// Messages waiting to be sent at most; what is beyond is as good as lost.
const MOST_WAITING: usize = 64;

/// One node's part in spreading rosters.
#[derive(Debug)]
pub struct Exchange {
    ring: String,
    key: Key,
    own: Option<Signed>,
    fetch: Option<Fetch>,
    outbox: VecDeque<(String, Message)>,
    adopted: bool,
    answered: Duration,
    refused: Option<RosterError>,
}

/// A roster on its way.
#[derive(Debug)]
struct Fetch {
    mark: Mark,
    from: String,
    chunks: Vec<Option<Vec<u8>>>,
    asked: Duration,
    progress: Duration,
}

impl Exchange {
    /// A node with this roster, or none yet.
    pub fn new(ring: &str, key: Key, own: Option<Signed>) -> Exchange {
        Exchange {
            ring: ring.to_owned(),
            key,
            own,
            fetch: None,
            outbox: VecDeque::new(),
            adopted: false,
            answered: Duration::ZERO,
            refused: None,
        }
    }

    /// The latest roster that this node has.
    pub const fn roster(&self) -> Option<&Signed> {
        self.own.as_ref()
    }

    /// What it is known by.
    pub fn mark(&self) -> Mark {
        self.own.as_ref().map(Signed::mark).unwrap_or_default()
    }

    /// The key has changed.
    pub fn set_key(&mut self, key: Key) {
        self.key = key;
    }

    /// This node makes a roster itself. Whether it replaces the one that it has.
    pub fn propose(&mut self, signed: Signed) -> bool {
        let replaces = signed.mark().replaces(&self.mark());
        if replaces {
            self.take(signed);
        }
        replaces
    }

    /// Tells somebody which roster there is.
    pub fn offer(&mut self, address: &str) {
        self.send(address, Message::Offer);
    }

    /// A message has come.
    pub fn handle(&mut self, now: Duration, sender: &Sender, message: &Message) {
        let own = self.mark();
        if sender.mark.replaces(&own) {
            self.pursue(now, sender);
        } else if own.replaces(&sender.mark) && !matches!(message, Message::Want { .. }) {
            // Old messages may be repeated by anybody; answers are few.
            if now.saturating_sub(self.answered) >= Duration::from_millis(5)
                || self.answered.is_zero()
            {
                self.answered = now;
                self.send(&sender.address, Message::Offer);
            }
        }
        match message {
            Message::Want { chunk } => self.serve(&sender.address, *chunk),
            Message::Chunk {
                digest,
                chunk,
                bytes,
            } => self.receive(now, digest, *chunk, bytes),
            Message::Offer | Message::Ping { .. } | Message::Pong { .. } => {}
        }
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Duration) {
        let Some(fetch) = &self.fetch else { return };
        if now.saturating_sub(fetch.progress) >= GIVE_UP {
            self.fetch = None;
        } else if now.saturating_sub(fetch.asked) >= AGAIN {
            self.ask(now);
        }
    }

    /// When to call [`Exchange::handle_timeout`] at the latest.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.fetch.as_ref().map(|fetch| fetch.asked + AGAIN)
    }

    /// The next message to send, and to which address.
    pub fn poll_transmit(&mut self) -> Option<(String, Message)> {
        self.outbox.pop_front()
    }

    /// Whether there is a new roster since the last time it was asked.
    pub fn poll_adopted(&mut self) -> bool {
        std::mem::take(&mut self.adopted)
    }

    /// A roster that came whole and was not one, since the last time it was asked.
    pub fn poll_refused(&mut self) -> Option<RosterError> {
        self.refused.take()
    }

    fn pursue(&mut self, now: Duration, sender: &Sender) {
        let mark = sender.mark;
        let busy = self.fetch.as_ref().is_some_and(|fetch| {
            fetch.mark == mark && now.saturating_sub(fetch.progress) < 4 * AGAIN
                || fetch.mark.replaces(&mark)
        });
        if busy || mark.size > MOST_BYTES || mark.size == 0 {
            return;
        }
        // Pieces of the same roster are kept, whoever sent them.
        let chunks = match self.fetch.take() {
            Some(fetch) if fetch.mark == mark => fetch.chunks,
            _ => vec![None; (mark.size as usize).div_ceil(CHUNK_BYTES)],
        };
        self.fetch = Some(Fetch {
            mark,
            from: sender.address.clone(),
            chunks,
            asked: now,
            progress: now,
        });
        self.ask(now);
    }

    /// Asks for the first pieces that are missing.
    fn ask(&mut self, now: Duration) {
        let Some(fetch) = &mut self.fetch else { return };
        fetch.asked = now;
        let missing: Vec<u16> = fetch
            .chunks
            .iter()
            .enumerate()
            .filter(|(_, chunk)| chunk.is_none())
            .map(|(at, _)| at as u16)
            .take(WINDOW)
            .collect();
        let from = fetch.from.clone();
        for chunk in missing {
            self.send(&from, Message::Want { chunk });
        }
    }

    fn serve(&mut self, address: &str, chunk: u16) {
        let Some(own) = &self.own else { return };
        let Some(bytes) = own.bytes().chunks(CHUNK_BYTES).nth(chunk.into()) else {
            return;
        };
        let message = Message::Chunk {
            digest: own.mark().digest,
            chunk,
            bytes: bytes.to_vec(),
        };
        self.send(address, message);
    }

    fn receive(&mut self, now: Duration, digest: &[u8; 32], chunk: u16, bytes: &[u8]) {
        let Some(fetch) = &mut self.fetch else { return };
        let Some(place) = fetch.chunks.get_mut(usize::from(chunk)) else {
            return;
        };
        if fetch.mark.digest != *digest || place.is_some() || bytes.len() > CHUNK_BYTES {
            return;
        }
        *place = Some(bytes.to_vec());
        fetch.progress = now;
        let missing = fetch.chunks.iter().filter(|chunk| chunk.is_none()).count();
        if missing == 0 {
            self.complete();
        } else if (fetch.chunks.len() - missing).is_multiple_of(WINDOW) {
            self.ask(now);
        }
    }

    fn complete(&mut self) {
        let Some(fetch) = self.fetch.take() else {
            return;
        };
        let bytes: Vec<u8> = fetch.chunks.into_iter().flatten().flatten().collect();
        match Signed::read(&bytes, &self.ring, &self.key) {
            Ok(signed) if signed.mark() != fetch.mark => {
                self.refused = Some(RosterError::Malformed);
            }
            Ok(signed) if signed.mark().replaces(&self.mark()) => self.take(signed),
            Ok(_) => {}
            Err(error) => self.refused = Some(error),
        }
    }

    fn take(&mut self, signed: Signed) {
        self.own = Some(signed);
        self.fetch = None;
        self.adopted = true;
    }

    fn send(&mut self, address: &str, message: Message) {
        if self.outbox.len() < MOST_WAITING {
            self.outbox.push_back((address.to_owned(), message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::{Member, Roster};
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
            bypassed: Vec::new(),
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
            assert!(ring[at].propose(proposed));
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
                        agreement: [0; 9],
                        drained: true,
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
            agreement: [0; 9],
            drained: true,
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
}
