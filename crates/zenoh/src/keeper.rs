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

/// It looks after everything this often, and when it is rung for.
const EVERY: Duration = Duration::from_millis(250);

/// A session to somebody who is no neighbour is closed when it was not used for
/// this long.
const IDLE: Duration = Duration::from_secs(5);

/// Nor is it kept for longer than this, because nobody tells whether it still works.
const KEPT: Duration = Duration::from_secs(8);

/// Sessions to others than the neighbours at most.
const MOST_OTHERS: usize = 64;

/// Reopening what does not help is done less and less often, down to this.
const LONGEST_PATIENCE: Duration = Duration::from_secs(60);

/// After a session could not be opened.
const AGAIN: Duration = Duration::from_secs(1);

/// Rings for the keeper.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl Bell {
    pub(crate) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.heard.notify_one();
    }

    fn wait(&self, most: Duration) {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.heard.wait_timeout_while(rung, most, |rung| !*rung);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}

/// What the transport wants.
#[derive(Default)]
pub(crate) struct Wishes {
    pub(crate) outboxes: BTreeMap<String, Arc<Outbox>>,
    /// Addresses of neighbours, by name.
    pub(crate) neighbours: BTreeMap<String, String>,
    /// Names of those who may tell the ring's state.
    pub(crate) allowed: BTreeSet<String>,
    pub(crate) stop: bool,
}

/// Shared by the transport and its keeper.
#[derive(Default)]
pub(crate) struct Desk {
    wishes: Mutex<Wishes>,
    pub(crate) bell: Arc<Bell>,
}

impl Desk {
    pub(crate) fn wishes(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Keeper {
    options: Options,
    keys: Keys,
    mailbox: Arc<Mailbox>,
    desk: Arc<Desk>,
    inbox: Option<Inbox>,
    /// Not before then.
    next_open: BTreeMap<String, Instant>,
    next_inbox: Option<Instant>,
    /// When somebody was last heard while what it is told was read, by address.
    well: BTreeMap<String, Instant>,
    /// How often sessions were reopened in vain, by address.
    vain: BTreeMap<String, u32>,
    inbox_vain: u32,
}

impl Keeper {
    pub(crate) fn new(
        options: Options,
        keys: Keys,
        mailbox: Arc<Mailbox>,
        desk: Arc<Desk>,
        inbox: Inbox,
    ) -> Keeper {
        Keeper {
            options,
            keys,
            mailbox,
            desk,
            inbox: Some(inbox),
            next_open: BTreeMap::new(),
            next_inbox: None,
            well: BTreeMap::new(),
            vain: BTreeMap::new(),
            inbox_vain: 0,
        }
    }

    /// Until it is told to stop; then everything is closed.
    pub(crate) fn run(mut self) {
        loop {
            let (outboxes, neighbours, allowed) = {
                let mut wishes = self.desk.wishes();
                if wishes.stop {
                    break;
                }
                // Nobody sends there any more.
                wishes.outboxes.retain(|_, outbox| {
                    Arc::strong_count(outbox) > 1 || outbox.condition().is_some()
                });
                (
                    wishes.outboxes.clone(),
                    wishes.neighbours.clone(),
                    wishes.allowed.clone(),
                )
            };
            let now = Instant::now();
            self.tend_inbox(now, &allowed);
            self.tend_outboxes(now, &outboxes, &neighbours);
            drop(outboxes);
            self.desk.bell.wait(EVERY);
        }
        let outboxes = std::mem::take(&mut self.desk.wishes().outboxes);
        for outbox in outboxes.into_values() {
            if let Some(session) = outbox.shut() {
                close(session);
            }
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
                    self.inbox_vain = 0;
                }
                let since = heard.map_or(inbox.opened, |heard| heard.max(inbox.opened));
                let patience = patience(2 * self.options.reopen_after, self.inbox_vain);
                let silent =
                    !allowed.is_empty() && now.saturating_duration_since(since) >= patience;
                if silent {
                    self.inbox_vain = self.inbox_vain.saturating_add(1);
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

    fn tend_outboxes(
        &mut self,
        now: Instant,
        outboxes: &BTreeMap<String, Arc<Outbox>>,
        neighbours: &BTreeMap<String, String>,
    ) {
        let names: BTreeMap<&String, &String> = neighbours
            .iter()
            .map(|(name, address)| (address, name))
            .collect();
        self.next_open
            .retain(|address, _| outboxes.contains_key(address));
        self.vain
            .retain(|address, _| outboxes.contains_key(address));
        self.well
            .retain(|address, _| outboxes.contains_key(address));
        let mut others = Vec::new();
        for (address, outbox) in outboxes {
            let (used, waits) = outbox.used();
            let condition = outbox.condition();
            let name = names.get(address);
            let idle = now.saturating_duration_since(used) >= IDLE;
            let wanted = name.is_some() || waits && !idle;
            match condition {
                None if wanted => self.open(now, outbox),
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
        let beyond = others.len().saturating_sub(MOST_OTHERS);
        for (_, outbox) in &others[..beyond] {
            outbox.shut().into_iter().for_each(close);
        }
    }

    /// Whether a neighbour was not heard, or nobody read what it is told, for so long
    /// that its session may be to blame; or it complains that it hears nothing.
    fn stuck(&mut self, now: Instant, name: &str, outbox: &Outbox, condition: Condition) -> bool {
        let Condition {
            opened,
            matched,
            alive,
        } = condition;
        let heard = self.mailbox.heard(name);
        let address = &outbox.address;
        if let Some(heard) = heard.filter(|heard| matched && *heard > opened) {
            self.well.insert(address.clone(), heard);
            self.vain.remove(address);
        }
        let well = self.well.get(address).copied();
        let since = well.map_or(opened, |well| well.max(opened));
        let vain = self.vain.get(address).copied().unwrap_or(0);
        // If Zenoh itself says that the node is gone, a new session helps less.
        let first = self.options.reopen_after * if alive { 1 } else { 2 };
        if now.saturating_duration_since(since) >= patience(first, vain) {
            self.vain.insert(address.clone(), vain.saturating_add(1));
            // It may hear this node and believe that it is heard: only it can open the
            // session that is to blame then.
            outbox.send(Channel::Unheard, &[]);
            return true;
        }
        // Not one that is too young to be the one that the complaint is about.
        let young = now.saturating_duration_since(opened) < self.options.reopen_after / 2;
        self.mailbox.complains(name) && !young
    }

    fn open(&mut self, now: Instant, outbox: &Outbox) {
        let address = &outbox.address;
        if self.next_open.get(address).is_some_and(|next| now < *next) {
            return;
        }
        match outbox.open(&self.options, &self.keys, &self.desk.bell) {
            Ok(old) => old.into_iter().for_each(close),
            Err(error) => {
                tracing::warn!(%address, %error, "no session");
                self.next_open.insert(address.clone(), now + AGAIN);
            }
        }
    }
}

fn patience(first: Duration, vain: u32) -> Duration {
    (first * 2u32.saturating_pow(vain.min(16))).min(LONGEST_PATIENCE.max(first))
}

/// In a thread of its own: closing waits for the other side, which may be gone.
fn close(session: Session) {
    let closing = move || {
        let _ = session.close().wait();
    };
    // If there is no thread to be had, it was dropped, which closes it as well.
    let _ = std::thread::Builder::new().spawn(closing);
}
