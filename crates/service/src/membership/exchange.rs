//! How a roster spreads: whoever hears of a later one asks for it, piece by piece,
//! and then tells its own neighbours.
//!
//! Without clock or socket: messages and times go in, messages come out. Every
//! message says which roster its sender has, so an offer is a message without
//! anything else.
//!
//! Whoever offers a roster has to prove it first: that more than half of the voters whom this node
//! knows have decided upon it, or the operator. If most voters are others than those whom this node
//! knows, because it was away, it asks for the links between its roster and today's, and goes along
//! them ([`Link`]).

use std::collections::VecDeque;
use std::time::Duration;

use crate::membership::control::{CHUNK_BYTES, Message, Sender};
use crate::membership::roster::{Link, Mark, Proved, RosterError, Trust};

/// Larger than any roster can be.
const MAX_BYTES: u32 = 2 << 20;

/// Pieces asked for at a time.
const WINDOW: usize = 8;

/// A piece that has not come is asked for again after this long.
const AGAIN: Duration = Duration::from_millis(250);

/// A transfer without progress is given up after this long.
const GIVE_UP: Duration = Duration::from_secs(3);

/// Messages waiting to be sent at most; what is beyond is as good as lost.
const MAX_WAITING: usize = 64;

/// One node's part in spreading rosters.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    ring: String,
    own: Option<Proved>,
    /// The file's, of a node that has lost its own: it counts if somebody else has the same.
    first: Option<Proved>,
    /// By whom this node lets itself be told of a later one: by the own roster's voters, or by
    /// those at the end of links from it.
    trust: Trust,
    /// The roster that says so.
    reached: Mark,
    walked: Vec<Link>,
    fetch: Option<Fetch>,
    outbox: VecDeque<(String, Message)>,
    /// Whether what is being handled is.
    authentic: bool,
    adopted: bool,
    answered: Duration,
    refused: Option<RosterError>,
    /// Who has offered a roster that it cannot prove, and its version.
    unproven: Option<(String, u64)>,
}

/// A roster on its way.
#[derive(Clone, Debug)]
struct Fetch {
    mark: Mark,
    from: String,
    chunks: Vec<Option<Vec<u8>>>,
    /// Whether all of them come from members.
    authentic: bool,
    asked: Duration,
    progress: Duration,
}

impl Exchange {
    /// A node with this roster, or with none yet and whom it believes.
    pub(crate) fn new(ring: &str, trust: Trust, own: Option<Proved>) -> Exchange {
        let known = own.as_ref().map(|own| Trust::of(own.roster()));
        Exchange {
            ring: ring.to_owned(),
            reached: own.as_ref().map(Proved::mark).unwrap_or_default(),
            walked: Vec::new(),
            own,
            first: None,
            trust: known.unwrap_or(trust),
            fetch: None,
            outbox: VecDeque::new(),
            authentic: true,
            adopted: false,
            answered: Duration::ZERO,
            refused: None,
            unproven: None,
        }
    }

    /// The roster that this node had is lost, and this is the one that its file gives.
    pub(crate) fn with_first(mut self, first: Option<Proved>) -> Exchange {
        self.first = first;
        self
    }

    /// The latest roster that this node has.
    pub(crate) const fn roster(&self) -> Option<&Proved> {
        self.own.as_ref()
    }

    /// What it is known by.
    pub(crate) fn mark(&self) -> Mark {
        self.own.as_ref().map(Proved::mark).unwrap_or_default()
    }

    /// Tells somebody which roster there is.
    pub(crate) fn offer(&mut self, address: &str) {
        self.send(address, Message::Offer);
    }

    /// A message has come.
    pub(crate) fn handle(&mut self, now: Duration, sender: &Sender, message: &Message) {
        let own = self.mark();
        if sender.mark.replaces(&own) {
            // What brings a proof is not asked for it again.
            if !matches!(message, Message::Link(_)) {
                self.pursue(now, sender);
            }
        } else if own.replaces(&sender.mark)
            && !matches!(message, Message::Want { .. } | Message::Prove { .. })
        {
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
            Message::Prove { after } => self.prove(&sender.address, *after),
            Message::Link(link) => self.walk(now, sender, link),
            Message::Offer
            | Message::Ping { .. }
            | Message::Pong { .. }
            | Message::Ask { .. }
            | Message::Echo { .. }
            | Message::Rollouts { .. }
            | Message::Reports { .. }
            | Message::Alive(_)
            | Message::Part(_) => {}
        }
    }

    /// A message has come that may be anybody's. It cannot disturb what members send, nor make
    /// anybody suspect one.
    pub(crate) fn handle_unauthenticated(
        &mut self,
        now: Duration,
        sender: &Sender,
        message: &Message,
    ) {
        self.authentic = false;
        self.handle(now, sender, message);
        (self.authentic, self.unproven) = (true, None);
    }

    /// Time has passed.
    pub(crate) fn handle_timeout(&mut self, now: Duration) {
        let Some(fetch) = &self.fetch else { return };
        if now.saturating_sub(fetch.progress) >= GIVE_UP {
            self.fetch = None;
        } else if now.saturating_sub(fetch.asked) >= AGAIN {
            self.ask(now);
        }
    }

    /// When to call [`Exchange::handle_timeout`] at the latest.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        self.fetch.as_ref().map(|fetch| fetch.asked + AGAIN)
    }

    /// The next message to send, and to which address.
    pub(crate) fn poll_transmit(&mut self) -> Option<(String, Message)> {
        self.outbox.pop_front()
    }

    /// Whether there is a new roster since the last time it was asked.
    pub(crate) fn poll_adopted(&mut self) -> bool {
        std::mem::take(&mut self.adopted)
    }

    /// A roster that came whole and was not one, since the last time it was asked.
    pub(crate) fn poll_refused(&mut self) -> Option<RosterError> {
        self.refused.take()
    }

    /// Somebody has offered a roster that it cannot prove, and which version, since the
    /// last time it was asked.
    pub(crate) fn poll_unproven(&mut self) -> Option<(String, u64)> {
        self.unproven.take()
    }

    fn pursue(&mut self, now: Duration, sender: &Sender) {
        let mark = sender.mark;
        let is_first = |first: &mut Proved| first.mark() == mark;
        if self.own.is_none()
            && self.authentic
            && let Some(first) = self.first.take_if(is_first)
        {
            return self.take(first);
        }
        if mark != self.reached {
            let after = self.reached.version;
            return self.send(&sender.address, Message::Prove { after });
        }
        let busy = self.fetch.as_ref().is_some_and(|fetch| {
            let busy = fetch.mark == mark && now.saturating_sub(fetch.progress) < 4 * AGAIN;
            (busy || fetch.mark.replaces(&mark)) && fetch.authentic >= self.authentic
        });
        if busy || mark.size > MAX_BYTES || mark.size == 0 {
            return;
        }
        // Pieces of the same roster are kept, whoever sent them.
        let chunks = match self.fetch.take() {
            Some(fetch) if fetch.mark == mark && fetch.authentic >= self.authentic => fetch.chunks,
            _ => vec![None; (mark.size as usize).div_ceil(CHUNK_BYTES)],
        };
        self.fetch = Some(Fetch {
            mark,
            from: sender.address.clone(),
            chunks,
            authentic: self.authentic,
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
        let unwanted = place.is_some() || (fetch.authentic && !self.authentic);
        if fetch.mark.digest != *digest || unwanted || bytes.len() > CHUNK_BYTES {
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
        match Proved::read(&bytes, &self.ring) {
            Ok(roster) if roster.mark() != fetch.mark => {
                self.refused = Some(RosterError::Malformed);
            }
            Ok(roster) if roster.mark() == self.reached => self.take(roster),
            Ok(_) => {}
            Err(error) => self.refused = Some(error),
        }
    }

    /// The voters of the own roster have decided upon this one, or somebody's word begins with it.
    pub(crate) fn decide(&mut self, roster: Proved, link: Link) {
        self.walked = vec![link];
        self.take(roster);
    }

    /// This is the roster from now on.
    fn take(&mut self, mut roster: Proved) {
        roster.replace(self.own.as_ref(), std::mem::take(&mut self.walked));
        (self.reached, self.trust) = (roster.mark(), Trust::of(roster.roster()));
        self.own = Some(roster);
        self.fetch = None;
        self.adopted = true;
    }

    /// Somebody asks for what proves the own roster: the next link.
    fn prove(&mut self, address: &str, after: u64) {
        let mut links = self.own.iter().flat_map(Proved::links);
        if let Some(link) = links.find(|link| link.mark.version > after) {
            let link = Message::Link(link.clone());
            self.send(address, link);
        }
    }

    /// Somebody shows a link. One that does not follow from what this node believes is passed
    /// over: another one may, if somebody has jumped from roster to roster.
    fn walk(&mut self, now: Duration, sender: &Sender, link: &Link) {
        if link.mark.version > self.reached.version && link.follows(&self.trust) {
            self.trust = link.trust.clone();
            self.reached = link.mark;
            self.walked.push(link.clone());
        }
        if !sender.mark.replaces(&self.mark()) {
            return;
        }
        let after = link.mark.version.max(self.reached.version);
        match sender.mark {
            mark if mark == self.reached => self.pursue(now, sender),
            mark if mark.version > after => {
                self.send(&sender.address, Message::Prove { after });
            }
            mark => self.unproven = Some((sender.name.clone(), mark.version)),
        }
    }

    fn send(&mut self, address: &str, message: Message) {
        if self.outbox.len() < MAX_WAITING {
            self.outbox.push_back((address.to_owned(), message));
        }
    }
}

#[cfg(test)]
mod tests;
