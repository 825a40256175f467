//! What nodes tell each other of rollouts, and what of it counts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::state::{Atom, Id, Order, Spec, Step};
use super::{MAX_WHY, Members, Rollouts};
use crate::membership::control::CHUNK_BYTES;
use crate::membership::roster::{MAX_MEMBERS, valid_name};

/// How often neighbours compare what they know.
const COMPARE_EVERY: Duration = Duration::from_secs(1);

/// Datagrams that one comparison leads to at most; the next goes on from there.
const MAX_DATAGRAMS: usize = 32;

/// A rollout's number is at most the time of day, this much later.
const NUMBERS_AHEAD: Duration = Duration::from_secs(86_400);

/// No permit lasts that long.
const LONGEST_SETTLE: Duration = Duration::from_secs(366 * 86_400);

/// What one member may say anew in a second, and how much of what it may not.
pub(super) const MAX_SAID: u32 = 32;
pub(super) const MAX_WRONG: u32 = 256;

/// What fits into a datagram beside the brackets.
pub(super) const MAX_NEWS_BYTES: usize = CHUNK_BYTES - 20;

/// What nodes tell each other.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum News {
    /// Something is known.
    Known(Vec<Atom>),
    /// So much is known, as digests.
    Digests(Vec<(Id, u64)>),
}

impl Rollouts {
    /// A member at `address` says something.
    pub(crate) fn handle_news(
        &mut self,
        members: &impl Members,
        unix_ms: u64,
        (sender, address): (&str, &str),
        bytes: &[u8],
    ) {
        let wrong = self.wrong.get(sender).copied().unwrap_or(0);
        if !members.has(sender) || wrong >= MAX_WRONG {
            return;
        }
        match serde_json::from_slice(bytes) {
            Ok(News::Known(atoms)) => {
                let mut atoms = atoms.into_iter();
                if !atoms.all(|atom| self.hear(members, unix_ms, sender, atom)) {
                    *self.wrong.entry(sender.to_owned()).or_default() += 1;
                    if wrong + 1 == MAX_WRONG {
                        tracing::warn!(
                            member = sender,
                            "says of rollouts what it may not say: not listened to for a second"
                        );
                    }
                }
            }
            Ok(News::Digests(theirs)) => {
                let mine = self.digests(members).to_vec();
                let differ = mine.into_iter().filter(|digest| !theirs.contains(digest));
                let atoms = differ.flat_map(|(id, _)| self.state.atoms(id));
                let datagrams = pack(atoms.map(|atom| self.signed(members, atom)).collect());
                let all = datagrams.len().max(1);
                self.cursor %= all;
                let turned = datagrams
                    .iter()
                    .cycle()
                    .skip(self.cursor)
                    .take(all.min(MAX_DATAGRAMS));
                let turned = turned.map(|bytes| (address.to_owned(), bytes.clone()));
                self.outbox.extend(turned.take(datagrams.len()));
                self.cursor += MAX_DATAGRAMS;
            }
            Err(_) => {}
        }
    }

    /// Takes in what a member has passed on, if it is new and may be said. Whether it may.
    fn hear(&mut self, members: &impl Members, unix_ms: u64, sender: &str, atom: Atom) -> bool {
        let latest = unix_ms.saturating_add(NUMBERS_AHEAD.as_millis() as u64);
        if !is_plausible(&atom) || atom.id().0 > latest {
            return false;
        }
        let rollout = self.state.0.get(&atom.id());
        let spec = rollout.and_then(|rollout| rollout.spec.as_ref());
        // The rest comes again when it is known what it is about.
        if spec.is_none() && !matches!(atom, Atom::Spec(..)) || !self.state.is_new(&atom) {
            return true;
        }
        let author = match &atom {
            Atom::Spec(..) | Atom::Order(..) => sender,
            Atom::Step(_, name, step) if *step == Step::default() => {
                // Whoever is no member any more has left; that is so for as many as took part.
                let steps = rollout.map_or(0, |rollout| rollout.steps.len());
                let room = spec.is_some_and(|spec| steps < spec.total as usize);
                if members.has(name) || room {
                    self.learn(atom);
                }
                return true;
            }
            Atom::Step(_, name, _) if !members.has(name) => return true,
            Atom::Step(id, name, step) => {
                if !members.has_signed(name, &step.message(*id, name), &step.signature) {
                    return false;
                }
                name
            }
        };
        let said = self.said.entry(author.to_owned()).or_default();
        *said += 1;
        if *said <= MAX_SAID {
            self.learn(atom);
        }
        true
    }

    /// With this node's signature, if it says how far that is.
    fn signed(&self, members: &impl Members, atom: Atom) -> Atom {
        match atom {
            Atom::Step(id, name, step) if name == self.me && step != Step::default() => {
                let signature = members.sign(&step.message(id, &name));
                Atom::Step(id, name, Step { signature, ..step })
            }
            other => other,
        }
    }

    fn digests(&mut self, members: &impl Members) -> &[(Id, u64)] {
        if self.digests.is_empty() {
            self.digests = self.state.digests(|name| members.has(name));
        }
        &self.digests
    }

    /// Time has passed; every second it is time to compare what is known with `others`.
    pub(crate) fn handle_timeout(
        &mut self,
        now: Duration,
        members: &impl Members,
        others: &[String],
    ) {
        if now < self.next {
            return;
        }
        self.next = now + COMPARE_EVERY;
        self.said.clear();
        self.wrong.clear();
        // A window may have opened or closed.
        self.stale = true;
        self.urgent |= self.unkept;
        // Whoever knows nothing says so, and is told.
        let digests = serde_json::to_vec(&News::Digests(self.digests(members).to_vec()));
        let digests = digests.unwrap_or_default();
        let to = others
            .iter()
            .map(|address| (address.clone(), digests.clone()));
        self.outbox.extend(to);
    }

    /// When to call [`Rollouts::handle_timeout`] at the latest.
    pub(crate) const fn poll_timeout(&self) -> Duration {
        self.next
    }

    /// Whether there is a message to send.
    pub(crate) fn has_news(&self) -> bool {
        !(self.news.is_empty() && self.outbox.is_empty())
    }

    /// The next message, and to which address; `neighbours` are told all news.
    pub(crate) fn poll_transmit(
        &mut self,
        members: &impl Members,
        neighbours: &[String],
    ) -> Option<(String, Vec<u8>)> {
        let news = std::mem::take(&mut self.news).into_iter();
        for bytes in pack(news.map(|atom| self.signed(members, atom)).collect()) {
            for address in neighbours {
                self.outbox.push_back((address.clone(), bytes.clone()));
            }
        }
        self.outbox.pop_front()
    }
}

/// Whether an atom may be, whoever says it.
pub(super) fn is_plausible(atom: &Atom) -> bool {
    match atom {
        Atom::Spec(_, spec) => {
            let Spec { name, by, .. } = spec;
            let names = spec.canaries.iter().chain([name, by]);
            names.into_iter().all(|name| valid_name(name))
                && (1..=MAX_MEMBERS).contains(&(spec.total as usize))
                && Duration::from_millis(spec.settle_ms) <= LONGEST_SETTLE
                && !spec.command.is_empty()
        }
        Atom::Order(
            _,
            Order {
                by, max_failures, ..
            },
        ) => valid_name(by) && *max_failures > 0,
        Atom::Step(_, name, step) => valid_name(name) && step.why.chars().count() <= MAX_WHY,
    }
}

/// Atoms as datagrams, as many in each as fit.
fn pack(atoms: Vec<Atom>) -> Vec<Vec<u8>> {
    let mut datagrams = Vec::new();
    let (mut batch, mut bytes) = (Vec::new(), 0);
    let write = |batch: Vec<Atom>| serde_json::to_vec(&News::Known(batch)).unwrap_or_default();
    for atom in atoms {
        let size = serde_json::to_vec(&atom).map_or(0, |text| text.len()) + 1;
        if !batch.is_empty() && bytes + size > MAX_NEWS_BYTES {
            datagrams.push(write(std::mem::take(&mut batch)));
            bytes = 0;
        }
        batch.push(atom);
        bytes += size;
    }
    if !batch.is_empty() {
        datagrams.push(write(batch));
    }
    datagrams
}
