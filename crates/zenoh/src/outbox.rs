//! The way to one address: a session, and what waits until it is connected.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::sample::SampleKind;
use zenoh::{Session, Wait as _};

use crate::keeper::Signal;
use crate::options::Options;
use crate::setup::{Keys, connecting, failed};

/// What is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Channel {
    /// The state of the ring: the latest wins.
    Ring = 0,
    /// Everything else.
    Control = 1,
    /// That nothing is heard from there.
    Unheard = 2,
}

const CHANNELS: usize = 3;

/// How many datagrams wait for a connection, by channel.
const MAX_WAITING: [usize; CHANNELS] = [1, 8, 1];

/// The way to one address.
pub(crate) struct Outbox {
    pub(crate) address: String,
    state: Mutex<State>,
    reopened: AtomicU64,
}

struct State {
    open: Option<Open>,
    waiting: [VecDeque<Vec<u8>>; CHANNELS],
    used: Instant,
}

struct Open {
    session: Session,
    publishers: [Publisher<'static>; CHANNELS],
    facts: Arc<Facts>,
    opened: Instant,
    _liveliness: Subscriber<()>,
}

/// What Zenoh tells of a session, from its own threads.
#[derive(Default)]
struct Facts {
    /// Somebody at the other end reads this channel.
    matched: [AtomicBool; CHANNELS],
    /// The other end says that it lives.
    alive: AtomicBool,
}

/// What is known of an open session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub(crate) opened: Instant,
    pub(crate) matched: bool,
    pub(crate) alive: bool,
}

impl Outbox {
    pub(crate) fn new(address: &str) -> Outbox {
        Outbox {
            address: address.to_owned(),
            state: Mutex::new(State {
                open: None,
                waiting: Default::default(),
                used: Instant::now(),
            }),
            reopened: AtomicU64::new(0),
        }
    }

    /// Sends if somebody reads there, else keeps the latest. Whether a session has
    /// to be opened for it.
    pub(crate) fn send(&self, channel: Channel, datagram: &[u8]) -> bool {
        let at = channel as usize;
        let mut state = self.lock();
        state.used = Instant::now();
        if let Some(open) = &state.open
            && open.facts.matched[at].load(Ordering::Acquire)
        {
            // What Zenoh does not take is lost.
            let _ = open.publishers[at].put(datagram).wait();
            return false;
        }
        let waiting = &mut state.waiting[at];
        if waiting.len() >= MAX_WAITING[at] {
            waiting.pop_front();
        }
        waiting.push_back(datagram.to_vec());
        state.open.is_none()
    }

    /// Sends what has waited for a connection that is there now.
    pub(crate) fn flush(&self) {
        let mut guard = self.lock();
        let state = &mut *guard;
        let Some(open) = &state.open else { return };
        for (at, waiting) in state.waiting.iter_mut().enumerate() {
            if open.facts.matched[at].load(Ordering::Acquire) {
                for datagram in waiting.drain(..) {
                    let _ = open.publishers[at].put(datagram).wait();
                }
            }
        }
    }

    /// Opens a session in place of the one that there is, which comes back.
    pub(crate) fn open(
        &self,
        options: &Options,
        keys: &Keys,
        signal: &Arc<Signal>,
    ) -> io::Result<Option<Session>> {
        let open = Open::new(options, keys, &self.address, signal)?;
        // Everything that may take time was done before.
        let old = self.lock().open.replace(open);
        if old.is_some() {
            self.reopened.fetch_add(1, Ordering::Relaxed);
        }
        Ok(old.map(|open| open.session))
    }

    /// Takes the session away, to be closed.
    pub(crate) fn shut(&self) -> Option<Session> {
        self.lock().open.take().map(|open| open.session)
    }

    /// When something was last sent, and whether something waits.
    pub(crate) fn used(&self) -> (Instant, bool) {
        let state = self.lock();
        (
            state.used,
            state.waiting.iter().any(|waiting| !waiting.is_empty()),
        )
    }

    /// Of the session, if one is open.
    pub(crate) fn condition(&self) -> Option<Condition> {
        self.lock().open.as_ref().map(|open| Condition {
            opened: open.opened,
            matched: open.facts.matched[0].load(Ordering::Acquire),
            alive: open.facts.alive.load(Ordering::Acquire),
        })
    }

    /// How often a session was replaced.
    pub(crate) fn reopened(&self) -> u64 {
        self.reopened.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn new(
        options: &Options,
        keys: &Keys,
        address: &str,
        signal: &Arc<Signal>,
    ) -> io::Result<Open> {
        let session = zenoh::open(connecting(options, address)?)
            .wait()
            .map_err(|error| failed(&format!("no session to {address}"), error))?;
        let facts = Arc::new(Facts::default());
        let publishers = [
            publisher(&session, keys.ring(&options.name), 0, &facts, signal)?,
            publisher(&session, keys.control(&options.name), 1, &facts, signal)?,
            publisher(&session, keys.unheard(&options.name), 2, &facts, signal)?,
        ];
        let told = Arc::clone(&facts);
        let liveliness = session
            .liveliness()
            .declare_subscriber(keys.all_alive())
            .history(true)
            .callback(move |sample| {
                let alive = sample.kind() == SampleKind::Put;
                told.alive.store(alive, Ordering::Release);
            })
            .wait()
            .map_err(|error| failed("cannot ask who lives", error))?;
        Ok(Open {
            session,
            publishers,
            facts,
            opened: Instant::now(),
            _liveliness: liveliness,
        })
    }
}

fn publisher(
    session: &Session,
    key: String,
    at: usize,
    facts: &Arc<Facts>,
    signal: &Arc<Signal>,
) -> io::Result<Publisher<'static>> {
    let publisher = session
        .declare_publisher(key)
        .congestion_control(CongestionControl::Drop)
        .priority(if at == 0 {
            Priority::RealTime
        } else {
            Priority::Data
        })
        // Never held back to go with others.
        .express(true)
        .wait()
        .map_err(|error| failed("cannot publish", error))?;
    let (told, signalled) = (Arc::clone(facts), Arc::clone(signal));
    publisher
        .matching_listener()
        .callback(move |status| {
            told.matched[at].store(status.matching(), Ordering::Release);
            signalled.raise();
        })
        .background()
        .wait()
        .map_err(|error| failed("cannot ask who reads", error))?;
    // The listener tells only of changes.
    if let Ok(status) = publisher.matching_status().wait()
        && status.matching()
    {
        facts.matched[at].store(true, Ordering::Release);
        signal.raise();
    }
    Ok(publisher)
}
