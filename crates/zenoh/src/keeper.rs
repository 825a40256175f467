//! The thread that opens, reopens and closes sessions, so that the node never waits
//! for any of that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zenoh::{Session, Wait as _};

use crate::inbox::{Inbox, Mailbox};
use crate::options::Options;
use crate::outbox::{Channel, Condition, Outbox};
use crate::setup::Keys;

/// It checks all sessions this often, and when it is signalled.
const EVERY: Duration = Duration::from_millis(250);

/// A session to a node that is not a neighbour is closed when it is unused for this long.
const IDLE: Duration = Duration::from_secs(5);

/// Nor is it kept for longer than this, because nothing shows whether it still works.
const KEPT: Duration = Duration::from_secs(8);

/// How many sessions there are to nodes that are not neighbours.
const MAX_OTHERS: usize = 64;

/// If reopening does not help, the pause between two attempts doubles up to this.
const MAX_PATIENCE: Duration = Duration::from_secs(60);

/// After a session could not be opened.
const AGAIN: Duration = Duration::from_secs(1);

/// Wakes the keeper.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    raised: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    pub(crate) fn raise(&self) {
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }

    fn wait(&self, limit: Duration) {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(raised, limit, |raised| !*raised);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}

/// What the transport wants.
#[derive(Clone, Default)]
pub(crate) struct Wanted {
    pub(crate) outboxes: BTreeMap<String, Arc<Outbox>>,
    /// Addresses of neighbours, by name.
    pub(crate) neighbours: BTreeMap<String, String>,
    /// Names of those who may tell the ring's state.
    pub(crate) allowed: BTreeSet<String>,
    pub(crate) stop: bool,
}

/// Shared by the transport and its keeper.
#[derive(Default)]
pub(crate) struct Shared {
    wanted: Mutex<Wanted>,
    pub(crate) signal: Arc<Signal>,
}

impl Shared {
    pub(crate) fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Keeper {
    options: Options,
    keys: Keys,
    mailbox: Arc<Mailbox>,
    shared: Arc<Shared>,
    inbox: Option<Inbox>,
    /// Not before then.
    next_inbox: Option<Instant>,
    inbox_attempts: u32,
    /// By address.
    records: BTreeMap<String, Record>,
}

/// How it went with one address.
#[derive(Default)]
struct Record {
    /// A session is not opened before then.
    next_open: Option<Instant>,
    /// When the neighbour there was last heard while it read what it is told.
    well: Option<Instant>,
    /// How often its session was reopened in vain.
    attempts: u32,
}

impl Keeper {
    pub(crate) fn new(
        options: Options,
        keys: Keys,
        mailbox: Arc<Mailbox>,
        shared: Arc<Shared>,
        inbox: Inbox,
    ) -> Keeper {
        Keeper {
            options,
            keys,
            mailbox,
            shared,
            inbox: Some(inbox),
            next_inbox: None,
            inbox_attempts: 0,
            records: BTreeMap::new(),
        }
    }

    /// Until it is told to stop; then it closes everything.
    pub(crate) fn run(mut self) {
        loop {
            let mut wanted = self.shared.wanted();
            if wanted.stop {
                break;
            }
            // Nobody sends there any more.
            wanted
                .outboxes
                .retain(|_, outbox| Arc::strong_count(outbox) > 1 || outbox.condition().is_some());
            let now_wanted = wanted.clone();
            drop(wanted);
            let now = Instant::now();
            self.tend_inbox(now, &now_wanted.allowed);
            self.tend_outboxes(now, &now_wanted);
            drop(now_wanted);
            self.shared.signal.wait(EVERY);
        }
        let outboxes = std::mem::take(&mut self.shared.wanted().outboxes);
        for outbox in outboxes.into_values() {
            outbox.shut().into_iter().for_each(close);
        }
        if let Some(inbox) = self.inbox.take() {
            inbox.close();
        }
    }

    fn tend_inbox(&mut self, now: Instant, allowed: &BTreeSet<String>) {
        let reopen = match &self.inbox {
            None => true,
            // Access control is read when a session opens.
            Some(inbox) if self.options.tls.is_some() && inbox.neighbours != *allowed => true,
            Some(inbox) => {
                let heard = allowed
                    .iter()
                    .filter_map(|name| self.mailbox.heard(name))
                    .max();
                if heard.is_some_and(|heard| heard > inbox.opened) {
                    self.inbox_attempts = 0;
                }
                let since = heard.map_or(inbox.opened, |heard| heard.max(inbox.opened));
                let patience = patience(2 * self.options.reopen_after, self.inbox_attempts);
                let silent =
                    !allowed.is_empty() && now.saturating_duration_since(since) >= patience;
                if silent {
                    self.inbox_attempts = self.inbox_attempts.saturating_add(1);
                    tracing::info!("no neighbour is heard: listening anew");
                }
                silent
            }
        };
        if !reopen || self.next_inbox.is_some_and(|next| now < next) {
            return;
        }
        if let Some(inbox) = self.inbox.take() {
            inbox.close();
        }
        match Inbox::open(&self.options, &self.keys, allowed, &self.mailbox) {
            Ok(inbox) => {
                self.inbox = Some(inbox);
                self.next_inbox = None;
            }
            Err(error) => {
                tracing::error!(%error, "this node hears nothing");
                self.next_inbox = Some(now + AGAIN);
            }
        }
    }

    fn tend_outboxes(&mut self, now: Instant, wanted: &Wanted) {
        let outboxes = &wanted.outboxes;
        let names = wanted.neighbours.iter();
        let names: BTreeMap<_, _> = names.map(|(name, address)| (address, name)).collect();
        self.records
            .retain(|address, _| outboxes.contains_key(address));
        let mut others = Vec::new();
        for (address, outbox) in outboxes {
            let (used, waits) = outbox.used();
            let condition = outbox.condition();
            let name = names.get(address);
            let idle = now.saturating_duration_since(used) >= IDLE;
            let needed = name.is_some() || waits && !idle;
            match condition {
                None if needed => self.open(now, outbox),
                None => {}
                Some(Condition { opened, .. })
                    if name.is_none()
                        && (idle || now.saturating_duration_since(opened) >= KEPT) =>
                {
                    outbox.shut().into_iter().for_each(close);
                }
                Some(condition) => {
                    outbox.flush();
                    match name {
                        None => others.push((used, outbox)),
                        Some(name) if self.stuck(now, name, outbox, condition) => {
                            tracing::info!(%name, %address, "silent or deaf: its session is opened anew");
                            self.open(now, outbox);
                        }
                        Some(_) => {}
                    }
                }
            }
        }
        others.sort_by_key(|(used, _)| *used);
        let beyond = others.len().saturating_sub(MAX_OTHERS);
        for (_, outbox) in &others[..beyond] {
            outbox.shut().into_iter().for_each(close);
        }
    }

    /// Whether a neighbour was silent, or nobody read what it is told, for so long that its
    /// session may be to blame; or it complains that it hears nothing.
    fn stuck(&mut self, now: Instant, name: &str, outbox: &Outbox, condition: Condition) -> bool {
        let Condition {
            opened,
            matched,
            alive,
        } = condition;
        let heard = self.mailbox.heard(name);
        let record = self.records.entry(outbox.address.clone()).or_default();
        if let Some(heard) = heard.filter(|heard| matched && *heard > opened) {
            record.well = Some(heard);
            record.attempts = 0;
        }
        let since = record.well.map_or(opened, |well| well.max(opened));
        // If Zenoh itself says that the node is gone, a new session helps less.
        let first = self.options.reopen_after * if alive { 1 } else { 2 };
        if now.saturating_duration_since(since) >= patience(first, record.attempts) {
            record.attempts = record.attempts.saturating_add(1);
            // It may hear this node and believe that it is heard: then only it can open
            // the session that is to blame.
            outbox.send(Channel::Unheard, &[]);
            return true;
        }
        // Not one that is too young to be the one that the complaint is about.
        let young = now.saturating_duration_since(opened) < self.options.reopen_after / 2;
        self.mailbox.complains(name) && !young
    }

    fn open(&mut self, now: Instant, outbox: &Outbox) {
        let address = &outbox.address;
        let record = self.records.entry(address.clone()).or_default();
        if record.next_open.is_some_and(|next| now < next) {
            return;
        }
        match outbox.open(&self.options, &self.keys, &self.shared.signal) {
            Ok(old) => old.into_iter().for_each(close),
            Err(error) => {
                tracing::warn!(%address, %error, "no session");
                record.next_open = Some(now + AGAIN);
            }
        }
    }
}

fn patience(first: Duration, attempts: u32) -> Duration {
    (first * 2u32.saturating_pow(attempts.min(16))).min(MAX_PATIENCE.max(first))
}

/// In a thread of its own: closing waits for the other side, which may be gone.
fn close(session: Session) {
    let closing = move || {
        let _ = session.close().wait();
    };
    // Without a thread it was dropped, which closes it as well.
    let _ = std::thread::Builder::new().spawn(closing);
}
