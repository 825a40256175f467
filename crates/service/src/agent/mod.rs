//! One node of a fleet, without clock, socket or thread: the protocol's machine,
//! the roster and its spread, and the desk that hands permits out.
//!
//! Datagrams, requests and times go in; [`Agent::flush`] sends, and what the world
//! has to do (run a command, answer a program) goes out through channels.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use headway_node::{Key, Machine, RingId};
use tokio::sync::{mpsc, oneshot};

use crate::config::{Settings, ring_name_id};
use crate::control::{self, Message, Sender};
use crate::desk::{Desk, Rules};
use crate::exchange::Exchange;
use crate::hook::{Hold, Order};
use crate::metrics::Counts;
use crate::request::{Given, Request};
use crate::roster::{Roster, Signed};
use crate::store::{Notes, Store};
use crate::telemetry::Teller;

mod act;
mod alarm;
mod change;
mod episodes;
mod poll;
mod requests;
mod send;
mod status;

pub use status::{Beside, Holding, Status};

/// Control datagrams go to nodes with numbers from here on.
const CONTROL: u32 = 1 << 31;

/// Addresses remembered at most before all are forgotten.
const MOST_ADDRESSES: usize = 2 * crate::roster::MOST_MEMBERS;

/// How often a node tells its neighbours which roster it has.
const OFFER_EVERY: Duration = Duration::from_secs(1);

/// A node.
pub struct Agent {
    settings: Settings,
    key: Key,
    ring_name: RingId,
    exchange: Exchange,
    desk: Desk,
    store: Store,
    /// The roster that this node acts by.
    current: Option<Roster>,
    machine: Option<Machine>,
    /// Neighbours that have not spoken since the machine was restored: until they
    /// have, the ring may have gone on without this node.
    unheard: BTreeSet<u32>,
    held_back: Vec<(u32, u64)>,
    /// Nodes that have left and may still use a permit, and until when at most.
    leaving: BTreeMap<String, String>,
    leaving_until: Duration,
    /// Neighbours by the roster before, to be told of this one.
    previous: BTreeMap<String, String>,
    previous_until: Duration,
    poll: Option<poll::Poll>,
    poll_again: Duration,
    silent_since: BTreeMap<String, Duration>,
    next_offer: Duration,
    rotation: usize,
    addresses: BTreeMap<String, u32>,
    /// Members whose addresses the transport has not been told.
    unwired: bool,
    outbox: Vec<(String, Message)>,
    tickets: BTreeMap<u64, (Duration, oneshot::Sender<Given>)>,
    hooks: mpsc::UnboundedSender<Order>,
    /// The command that runs.
    hold: Option<Hold>,
    /// What the notes on disk were made from.
    noted: Option<Noted>,
    status_wanted: Vec<(Duration, oneshot::Sender<Box<Status>>)>,
    alarms: BTreeMap<String, String>,
    complained: BTreeMap<&'static str, Duration>,
    counts: Counts,
    episodes: episodes::Episodes,
    unsettled_since: Option<Duration>,
    stopping: Option<Duration>,
    random: fn() -> u64,
    saved: Vec<u8>,
    /// The state that the store has.
    kept: Vec<u8>,
    /// Something has happened since the latest flush.
    stirred: bool,
    buffer: Vec<u8>,
}

/// What the notes depend on: changes at the desk, nodes that leave, the command.
type Noted = (u64, usize, Option<Hold>);

impl Agent {
    /// A node that goes on where its store says it was, or begins.
    ///
    /// `random` gives numbers that nobody can guess.
    pub fn new(
        now: Duration,
        settings: Settings,
        key: Key,
        store: Store,
        hooks: mpsc::UnboundedSender<Order>,
        counts: Counts,
        random: fn() -> u64,
    ) -> Agent {
        let notes = store.notes();
        let own = change::known_roster(&settings, &key, &store);
        let mut agent = Agent {
            ring_name: ring_name_id(&settings.ring.name),
            exchange: Exchange::new(&settings.ring.name, key.clone(), own),
            desk: Desk::new(rules(&settings), notes.desk),
            store,
            current: None,
            machine: None,
            unheard: BTreeSet::new(),
            held_back: Vec::new(),
            leaving: notes.leaving.into_iter().collect(),
            leaving_until: now + settings.timing.dwell_most + settings.timing.grace,
            previous: BTreeMap::new(),
            previous_until: now,
            poll: None,
            poll_again: now,
            silent_since: BTreeMap::new(),
            next_offer: now,
            rotation: 0,
            addresses: BTreeMap::new(),
            unwired: true,
            outbox: Vec::new(),
            tickets: BTreeMap::new(),
            hooks,
            hold: None,
            noted: None,
            status_wanted: Vec::new(),
            alarms: BTreeMap::new(),
            complained: BTreeMap::new(),
            counts,
            episodes: episodes::Episodes::default(),
            unsettled_since: Some(now),
            stopping: None,
            random,
            saved: Vec::new(),
            kept: Vec::new(),
            stirred: true,
            buffer: vec![0; 2048],
            settings,
            key,
        };
        agent.resume(now);
        agent
    }

    /// From now on what is over is told there.
    pub fn tell_episodes(&mut self, teller: Option<Teller>) {
        self.episodes.teller = teller;
    }

    /// A datagram has arrived.
    pub fn handle_datagram(&mut self, now: Duration, datagram: &[u8]) {
        if control::is_control(datagram) {
            match control::read(datagram, self.ring_name, &self.key) {
                Ok((sender, message)) => self.handle_control(now, &sender, &message),
                Err(reason) => self.refused(now, reason.name(), 1),
            }
            return;
        }
        let Some(machine) = &mut self.machine else {
            self.refused(now, "no_ring", 1);
            return;
        };
        if machine.handle_datagram(now, datagram).is_ok() && !self.unheard.is_empty() {
            let sender = headway_node::wire::sender(datagram);
            self.unheard.remove(&sender.unwrap_or(u32::MAX));
        }
        self.act(now);
    }

    fn handle_control(&mut self, now: Duration, sender: &Sender, message: &Message) {
        let own = self.exchange.mark();
        self.exchange.handle(now, sender, message);
        let name = &sender.name;
        let contradicts = sender.mark.contradicts(&own);
        self.alarm(&format!("contradiction:{name}"), contradicts, || {
            format!("{name} was configured with other members: make ring.members the same")
        });
        let disagrees = sender.agreement != self.settings.agreement();
        self.alarm(&format!("disagreement:{name}"), disagrees, || {
            format!("{name} was told other tokens, separation or payload: make [ring] the same")
        });
        // A node that has this roster or a later one, and uses nothing of an earlier
        // one any more, need not be waited for.
        let knows = sender.mark == own || sender.mark.replaces(&own);
        if knows {
            self.previous.remove(name);
        }
        if knows && sender.drained && self.leaving.remove(name).is_some() {
            tracing::info!(member = %name, "has left and uses no permit");
        }
        match message {
            Message::Ping { nonce } => {
                let pong = Message::Pong { nonce: *nonce };
                self.outbox.push((sender.address.clone(), pong));
            }
            Message::Pong { nonce } => self.pong(now, *nonce, sender),
            Message::Offer | Message::Want { .. } | Message::Chunk { .. } => {}
        }
        self.act(now);
    }

    /// Somebody asks for something.
    pub fn handle(&mut self, now: Duration, request: Request) {
        self.handle_request(now, request);
        self.act(now);
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Duration) {
        if let Some(machine) = &mut self.machine
            && now >= machine.poll_timeout()
        {
            machine.handle_timeout(now);
        }
        self.desk.handle_timeout(now);
        self.exchange.handle_timeout(now);
        if now >= self.next_offer {
            self.next_offer = now + OFFER_EVERY;
            self.offer(now);
            // What could not be kept is tried again.
            if self.store.trouble().is_some() {
                self.noted = None;
            }
        }
        self.watch(now);
        self.act(now);
    }

    /// When to call [`Agent::handle_timeout`] at the latest.
    pub fn poll_timeout(&self) -> Duration {
        let times = [
            self.machine.as_ref().map(Machine::poll_timeout),
            self.desk.poll_timeout(),
            self.exchange.poll_timeout(),
            self.poll.as_ref().map(poll::Poll::timeout),
        ];
        let soonest = times.into_iter().flatten().min();
        soonest.unwrap_or(self.next_offer).min(self.next_offer)
    }

    fn payload(&self, token: u32) -> Vec<u8> {
        self.machine
            .as_ref()
            .map_or_else(Vec::new, |machine| machine.payload(token).to_vec())
    }

    fn name_of(&self, node: u32) -> String {
        let mut active = self.current.iter().flat_map(Roster::active);
        let member = active.nth(node as usize);
        member.map_or_else(|| format!("#{node}"), |member| member.name.clone())
    }

    fn save_notes(&mut self) {
        let state = (self.desk.changes(), self.leaving.len(), self.hold);
        if self.noted == Some(state) {
            return;
        }
        self.noted = Some(state);
        let leaving = self
            .leaving
            .iter()
            .map(|(name, address)| (name.clone(), address.clone()));
        let notes = Notes {
            desk: self.desk.ledger(),
            leaving: leaving.collect(),
            hold: self.hold,
        };
        self.store.save_notes(&notes);
    }

    /// The node has been asked to stop and has nothing to wait for any more.
    pub fn finished(&self, now: Duration) -> bool {
        let Some(since) = self.stopping else {
            return false;
        };
        let passed = now.saturating_sub(since);
        let mut held = self.machine.iter().flat_map(Machine::held);
        let fleet = |token| self.desk.permits().any(|(held, _)| held == token);
        let waits = held.any(|held| !fleet(held.token)) && passed < Duration::from_secs(1);
        let using = self.desk.in_use(false) && passed < self.settings.timing.grace + OFFER_EVERY;
        !using && !waits
    }
}

fn rules(settings: &Settings) -> Rules {
    Rules {
        dwell_most: settings.timing.dwell_most,
        grace: settings.timing.grace,
        patience: settings.fleetlock.patience,
        hook_every: settings.hook.as_ref().is_some_and(|hook| hook.every),
    }
}

/// The signature of a roster made here.
fn sign(roster: Roster, key: &Key) -> Signed {
    Signed::new(roster, key)
}
