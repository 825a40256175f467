//! Datagrams that have arrived and were not read yet, and the session they arrive by.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::sample::Sample;
use zenoh::{Session, Wait as _};

use crate::options::Options;
use crate::setup::{Keys, chunk, failed, listening};
use crate::transport::MAX_DATAGRAM_BYTES;

/// Kept of each neighbour: its latest state, and on a ring of two, where one node is
/// both neighbours, both of them, told twice.
const MAX_OF_A_NEIGHBOUR: usize = 4;

/// Kept of all control datagrams together.
const MAX_CONTROL: usize = 64;

/// Where datagrams wait to be read. Bounded: of too many from one source, the oldest
/// is dropped.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    mail: Mutex<Mail>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Mail {
    /// In the order in which they came.
    waiting: VecDeque<(Source, Vec<u8>)>,
    /// Neighbours, by their names as they are in keys.
    neighbours: BTreeMap<String, Neighbour>,
    woken: bool,
    refused: u64,
}

#[derive(Debug, Default)]
struct Neighbour {
    heard: Option<Instant>,
    /// It has said that it does not hear this node.
    complains: bool,
}

/// What a subscriber reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ring,
    Control,
    Complaint,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    Control,
    Neighbour(String),
}

impl Mailbox {
    /// From now on only these are listened to on the ring.
    pub(crate) fn set_neighbours(&self, names: &BTreeSet<String>) {
        let names: BTreeSet<String> = names.iter().map(|name| chunk(name)).collect();
        let mut mail = self.lock();
        mail.neighbours.retain(|name, _| names.contains(name));
        for name in names {
            mail.neighbours.entry(name).or_default();
        }
    }

    /// When a neighbour was last heard.
    pub(crate) fn heard(&self, name: &str) -> Option<Instant> {
        self.lock().neighbours.get(&chunk(name))?.heard
    }

    /// Whether a neighbour has said, since the last time it was asked, that it does not
    /// hear this node.
    pub(crate) fn complains(&self, name: &str) -> bool {
        let mut mail = self.lock();
        let neighbour = mail.neighbours.get_mut(&chunk(name));
        neighbour.is_some_and(|neighbour| std::mem::take(&mut neighbour.complains))
    }

    /// How many datagrams were from nobody who may speak, or too long.
    pub(crate) fn refused(&self) -> u64 {
        self.lock().refused
    }

    pub(crate) fn wake(&self) {
        self.lock().woken = true;
        self.changed.notify_all();
    }

    /// As [`headway_node::transport::Transport::receive`].
    pub(crate) fn take(&self, buffer: &mut [u8], wait: Duration) -> Option<usize> {
        let mut mail = self.lock();
        // Only looked at when there is something to wait for.
        let mut until = None;
        loop {
            while let Some((_, datagram)) = mail.waiting.pop_front() {
                if let Some(place) = buffer.get_mut(..datagram.len()) {
                    place.copy_from_slice(&datagram);
                    return Some(datagram.len());
                }
            }
            if wait.is_zero() || std::mem::take(&mut mail.woken) {
                return None;
            }
            let now = Instant::now();
            let until = *until.get_or_insert(now + wait.min(Duration::from_secs(86_400)));
            let left = until.saturating_duration_since(now);
            if left.is_zero() {
                return None;
            }
            let waited = self.changed.wait_timeout(mail, left);
            mail = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn put(&self, sample: &Sample, kind: Kind) {
        let payload = sample.payload();
        let mut mail = self.lock();
        let key = sample.key_expr().as_str();
        let sender = key.rsplit('/').next().unwrap_or_default();
        let (source, limit) = match (kind, mail.neighbours.get_mut(sender)) {
            _ if payload.len() > MAX_DATAGRAM_BYTES => {
                mail.refused = mail.refused.saturating_add(1);
                return;
            }
            (Kind::Control, _) => (Source::Control, MAX_CONTROL),
            (Kind::Ring, Some(neighbour)) => {
                neighbour.heard = Some(Instant::now());
                (Source::Neighbour(sender.to_owned()), MAX_OF_A_NEIGHBOUR)
            }
            (Kind::Complaint, Some(neighbour)) => {
                neighbour.complains = true;
                return;
            }
            (Kind::Ring | Kind::Complaint, None) => {
                mail.refused = mail.refused.saturating_add(1);
                return;
            }
        };
        let same = |(other, _): &(Source, _)| *other == source;
        if mail.waiting.iter().filter(|waiting| same(waiting)).count() >= limit
            && let Some(oldest) = mail.waiting.iter().position(same)
        {
            mail.waiting.remove(oldest);
        }
        let datagram = payload.to_bytes().into_owned();
        mail.waiting.push_back((source, datagram));
        drop(mail);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The session that listens.
pub(crate) struct Inbox {
    session: Session,
    pub(crate) opened: Instant,
    /// Who may put on the ring's keys.
    pub(crate) neighbours: BTreeSet<String>,
    _subscribers: [Subscriber<()>; 3],
    _alive: LivelinessToken,
}

impl Inbox {
    /// Listens.
    pub(crate) fn open(
        options: &Options,
        keys: &Keys,
        neighbours: &BTreeSet<String>,
        mailbox: &Arc<Mailbox>,
    ) -> io::Result<Inbox> {
        let config = listening(options, keys, neighbours)?;
        let session = zenoh::open(config)
            .wait()
            .map_err(|error| failed(&format!("cannot listen at {}", options.listen), error))?;
        let subscribe = |key: String, kind| {
            let mailbox = Arc::clone(mailbox);
            session
                .declare_subscriber(key)
                .callback(move |sample| mailbox.put(&sample, kind))
                .wait()
                .map_err(|error| failed("cannot read from Zenoh", error))
        };
        let subscribers = [
            subscribe(keys.all_ring(), Kind::Ring)?,
            subscribe(keys.all_control(), Kind::Control)?,
            subscribe(keys.all_unheard(), Kind::Complaint)?,
        ];
        let alive = session
            .liveliness()
            .declare_token(keys.alive(&options.name))
            .wait()
            .map_err(|error| failed("cannot say that this node lives", error))?;
        Ok(Inbox {
            session,
            opened: Instant::now(),
            neighbours: neighbours.clone(),
            _subscribers: subscribers,
            _alive: alive,
        })
    }

    /// Listens no more; the address is free when this returns.
    pub(crate) fn close(self) {
        // A session that cannot be closed in good order is closed by being dropped.
        let _ = self.session.close().wait();
    }
}
