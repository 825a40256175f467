//! Who is on the ring: one node's part in keeping the roster, spreading it and changing it.
//!
//! Without clock, socket or disk: control datagrams, times, requests and news of the
//! neighbours go in; [`Effect`]s and datagrams come out.
//!
//! From hearing of a new roster until it takes part in its ring, a node goes two steps:
//!
//! 1. It leaves the old ring at once ([`Effect::Adopted`]); permits in use are not asked back
//!    and last as long as they would have.
//! 2. When they have ended, and any node that the new roster leaves out has said
//!    that its have, or their time is over ([`Membership::is_free`]), it begins on the new ring.
//!
//! Two permits of an old and a new ring are never in use together: the new ring
//! cannot settle, and hence grants nothing, before all its members have begun on
//! it, and each begins only when its own old permits have ended. For those that are
//! no members any more, the members that were beside them wait; and a node that does not
//! know yet that it was left out cannot begin to use one ([`challenge`]).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use headway_node::RingId;

use crate::agent::alarm::{Alarm, Alarms, Reason, Seldom};
use crate::config::Settings;
use crate::identity::{Identities, NodeKey};
use crate::reports::Reports;
use crate::request::{Refusal, RequestId};
use challenge::Challenge;
use change::TELL_FOR;
pub use change::Word;
use clones::Clones;
use control::{Message, Sender};
use decision::Kind;
pub(crate) use effect::{Effect, Standing};
use exchange::Exchange;
use keyring::Keyring;
use poll::{Poll, Proposal, Wanted};
use roster::{Member, Proved, Roster, Trust};
pub(crate) use voting::PROPOSE_FOR;
use voting::{OnDisk, Voting};
use witness::Witness;

mod challenge;
mod change;
mod clones;
pub mod control;
pub mod decision;
mod effect;
pub(crate) mod exchange;
pub(crate) mod invite;
pub(crate) mod keyring;
mod news;
mod peers;
mod place;
mod poll;
pub mod register;
pub mod roster;
mod rotation;
mod several;
mod voting;
mod wire;
mod witness;

/// How often a node tells its neighbours which roster it has.
const OFFER_EVERY: Duration = Duration::from_secs(1);

/// One node's view of who is on the ring.
#[derive(Clone)]
pub(crate) struct Membership {
    settings: Arc<Settings>,
    keyring: Keyring,
    ring: RingId,
    /// The newest version of the wire format that this program speaks; and the members' programs,
    /// as they say.
    newest: u8,
    speaks: BTreeMap<String, u8>,
    /// Drawn at the start, so that others notice two of this node.
    boot: u64,
    random: fn() -> u64,
    /// Since 1970, when this node's time began.
    epoch: Duration,
    exchange: Exchange,
    voting: Voting,
    /// The roster that this node acts by.
    current: Option<Roster>,
    /// The version of the last one whose ring has settled.
    settled: u64,
    /// Instead of a roster: where to ask for it.
    seeds: Vec<String>,
    challenges: Vec<Challenge>,
    witness: Witness,
    standing: Standing,
    /// This node's address by the last roster that had it.
    was_listed: Option<String>,
    /// Nodes that have left and may still use a permit, by name, and until when at most.
    leaving: BTreeMap<String, String>,
    leaving_until: Duration,
    /// Neighbours by the roster before, to be told of this one.
    previous: BTreeMap<String, String>,
    previous_until: Duration,
    /// When somebody had another roster of this version.
    contradicted: Duration,
    /// Members that have left: as long, they are still told that they have.
    former: BTreeMap<String, Member>,
    clones: Clones,
    /// When what nobody has authenticated is listened to again ([`peers`]).
    unauthenticated: Duration,
    /// A change of this node's key pairs that is on its way to the disk.
    unkept_key: Option<rotation::Rotation>,
    poll: Option<Poll>,
    /// Changes that are not decided yet, by their numbers.
    proposals: BTreeMap<u64, Proposal>,
    poll_again: Duration,
    silent_since: BTreeMap<String, Duration>,
    reports: Reports,
    invitations: Vec<invite::Invitation>,
    next_offer: Duration,
    rotation: usize,
    outbox: VecDeque<(String, Message)>,
    /// Written already.
    ready: VecDeque<(String, Vec<u8>)>,
    alarms: Alarms,
    said: Seldom,
    effects: VecDeque<Effect>,
}

impl Membership {
    /// Begins with the roster that was kept, or with the file's; what was kept may have been lost
    /// (`Err`). `leaving` was noted before a restart, and `random` gives numbers that nobody can
    /// guess.
    pub(crate) fn new(
        now: Duration,
        settings: Arc<Settings>,
        identities: Identities,
        kept: Result<Option<&[u8]>, ()>,
        leaving: Vec<(String, String)>,
        newest: u8,
        (random, epoch): (fn() -> u64, Duration),
    ) -> Membership {
        let keyring = Keyring::new(identities, &settings.ring.name, &settings.node.name);
        let read = |bytes| {
            OnDisk::read(bytes, &settings.ring.name)
                .map_err(|error| tracing::error!(%error, "the kept membership is not used"))
        };
        let kept = kept.and_then(|kept| kept.map(read).transpose());
        // A disk that has lost what it was keeps no promise that it gave.
        let lost = kept.is_err().then(random);
        let kept = kept.unwrap_or_default();
        let first = settings.first_roster().map(Proved::new);
        let (own, first) = match lost {
            None => (known_roster(kept.as_ref(), first), None),
            Some(_) => (None, first),
        };
        let mut alarms = Alarms::default();
        if lost.is_some() {
            alarms.raise(Alarm::NoRosterKept);
        }
        let listed = settings.ring.members.iter();
        let seeds = listed.map(|member| member.address.clone()).collect();
        let longest = own.as_ref().map(|own| own.roster().longest_permit());
        let name = &settings.node.name;
        let voting = Voting::new(now, name, own.as_ref(), kept, lost, random());
        // Without a roster, those that the file lists are believed.
        let trust = Trust::of(&settings.listed());
        let mut membership = Membership {
            ring: settings.ring.name_id(),
            newest,
            speaks: BTreeMap::new(),
            boot: random(),
            random,
            epoch,
            current: own.as_ref().map(|own| own.roster().clone()),
            exchange: Exchange::new(&settings.ring.name, trust, own).with_first(first),
            voting,
            former: BTreeMap::new(),
            clones: Clones::default(),
            unauthenticated: now,
            unkept_key: None,
            ready: VecDeque::new(),
            standing: Standing::default(),
            was_listed: None,
            leaving: leaving.into_iter().collect(),
            leaving_until: now + longest.unwrap_or_default(),
            seeds,
            settled: 0,
            challenges: Vec::new(),
            witness: Witness::new(now),
            previous: BTreeMap::new(),
            previous_until: now,
            contradicted: now,
            poll: None,
            proposals: BTreeMap::new(),
            poll_again: now,
            silent_since: BTreeMap::new(),
            reports: Reports::default(),
            invitations: Vec::new(),
            next_offer: now,
            rotation: 0,
            outbox: VecDeque::new(),
            alarms,
            said: Seldom::default(),
            effects: VecDeque::new(),
            settings,
            keyring,
        };
        membership.check_own_key();
        membership.report_differences();
        membership.carry_votes(now);
        membership
    }

    /// The settings have changed.
    pub(crate) fn set(&mut self, settings: Arc<Settings>) {
        self.settings = settings;
        self.report_differences();
    }

    /// How the node stands to the ring from now on.
    pub(crate) fn set_standing(&mut self, standing: Standing) {
        self.standing = standing;
        if standing.on_ring
            && standing.settled
            && let Some(roster) = &self.current
            && self.settled != roster.version
        {
            self.settled = roster.version;
            self.witness
                .handle_settled(roster, &self.settings.node.name);
        }
    }

    fn handle_message(&mut self, now: Duration, sender: &Sender, message: &Message) {
        let own = self.exchange.mark();
        self.exchange.handle(now, sender, message);
        let name = &sender.name;
        if self
            .current
            .as_ref()
            .is_some_and(|roster| roster.member(name).is_some())
        {
            self.witness.handle_word(now, name);
        }
        let (contradicts, agrees) = (sender.mark.contradicts(&own), sender.mark == own);
        let is_first = own.version == 1;
        self.alarms
            .set(contradicts && is_first, Alarm::OtherMembers(name.clone()));
        // Not over when one of the two rings has made its next roster.
        if agrees || contradicts && !is_first {
            self.alarms.set(!agrees, Alarm::TwoRings(name.clone()));
        }
        if contradicts {
            self.contradicted = now;
        }
        self.note_wire(sender);
        // A node that has this roster or a later one, and uses nothing of an earlier
        // one any more, need not be waited for.
        let knows = agrees || sender.mark.replaces(&own);
        if knows {
            self.previous.remove(name);
        }
        if knows && sender.drained && self.leaving.contains_key(name) {
            self.leaving.remove(name);
            tracing::info!(member = %name, "has left and uses no permit");
        }
        match message {
            Message::Ping { nonce } => {
                let pong = Message::Pong { nonce: *nonce };
                self.outbox.push_back((sender.address.clone(), pong));
            }
            Message::Pong { nonce } => self.handle_pong(now, *nonce, sender),
            &Message::Ask { nonce, grant } => {
                self.witness.handle_question(now, name);
                let address = sender.address.clone();
                let asked = Effect::Asked {
                    address,
                    nonce,
                    grant,
                };
                self.effects.push_back(asked);
            }
            &Message::Echo { nonce, later } => self.handle_echo(now, nonce, later, sender),
            Message::Rollouts { bytes } => {
                let (name, address) = (name.clone(), sender.address.clone());
                let news = Effect::Rollouts(name, address, bytes.clone());
                self.effects.push_back(news);
            }
            Message::Reports { bytes } => {
                if let Ok(report) = serde_json::from_slice(bytes) {
                    self.handle_report(now, report);
                }
            }
            &Message::Alive(alive) => self.handle_alive(now, sender, alive),
            Message::Part(part) => self.handle_part(now, sender, part),
            Message::Offer
            | Message::Want { .. }
            | Message::Chunk { .. }
            | Message::Prove { .. }
            | Message::Link(_) => {}
        }
        self.pass_on();
        self.follow_exchange(now);
        self.admit(now, name);
    }

    /// Somebody wants one more member.
    pub(crate) fn handle_add(
        &mut self,
        now: Duration,
        request: RequestId,
        member: Member,
        after: Option<String>,
        force: bool,
    ) {
        let roster = self.current.as_ref().filter(|_| !force);
        let next = roster.map(|roster| roster.with(member.clone(), after.as_deref()));
        match next {
            Some(Ok(_)) if self.poll.is_none() => {
                self.ask_new_member(now, request, member, after);
            }
            Some(Ok(_)) => {
                let reply = Err(Refusal::Busy);
                self.effects.push_back(Effect::Reply(request, reply));
            }
            _ => self.propose(Wanted::By(request), Kind::Add { member, after }),
        }
    }

    /// Somebody wants one member less, and may know that its machine is off.
    pub(crate) fn handle_remove(
        &mut self,
        now: Duration,
        request: RequestId,
        name: String,
        gone: bool,
    ) {
        if gone && self.hears(now, &name) {
            return self.refuse(Wanted::By(request), Refusal::Heard(name));
        }
        self.propose(Wanted::By(request), Kind::Remove { name, gone });
    }

    /// A neighbour on the ring is silent, or is heard again.
    pub(crate) fn handle_neighbour(&mut self, now: Duration, node: u32, silent: bool) {
        let name = self.name_of(node);
        if silent {
            tracing::warn!(neighbour = %name, "silent: tokens stop behind it");
            self.silent_since.insert(name.clone(), now);
        } else {
            tracing::info!(neighbour = %name, "heard again");
            self.silent_since.remove(&name);
        }
        self.alarms.set(silent, Alarm::Silent(name));
    }

    /// Time has passed. Whether it was time to tell others, which happens every second.
    pub(crate) fn handle_timeout(&mut self, now: Duration) -> bool {
        self.exchange.handle_timeout(now);
        self.ask_neighbours(now);
        self.advance_votes(now);
        self.advance_proposals(now);
        let offers = now >= self.next_offer;
        if offers {
            self.next_offer = now + OFFER_EVERY;
            self.offer(now);
            self.tend_keys(now);
            // The other ring is gone.
            if now >= self.contradicted + TELL_FOR {
                let is_it = |alarm: &Alarm| matches!(alarm, Alarm::TwoRings(_));
                self.alarms.clear(is_it);
            }
        }
        self.watch(now);
        offers
    }

    /// When to call [`Membership::handle_timeout`] at the latest.
    pub(crate) fn poll_timeout(&self) -> Duration {
        let poll = self.poll.as_ref().map(Poll::timeout);
        let others = self.exchange.poll_timeout().into_iter().chain(poll);
        let others = others.chain(self.challenge_timeout());
        let others = others.chain(self.vote_timeout());
        let others = others.chain(self.proposal_timeout());
        others.fold(self.next_offer, Duration::min)
    }

    /// What there is to do.
    pub(crate) fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// The next datagram, and to which address.
    pub(crate) fn poll_transmit(&mut self) -> Option<(String, Vec<u8>)> {
        while self.ready.is_empty() {
            let next = self.outbox.pop_front();
            let (address, message) = next.or_else(|| self.exchange.poll_transmit())?;
            let sender = self.sender();
            for key in self.keys_to(&address) {
                let bytes = control::write(self.ring, &sender, &message, &key);
                self.ready.push_back((address.clone(), bytes));
            }
        }
        self.ready.pop_front()
    }

    fn sender(&self) -> Sender {
        Sender {
            name: self.settings.node.name.clone(),
            address: self.own_address().to_owned(),
            mark: self.exchange.mark(),
            wire: self.writes(),
            newest: self.newest,
            boot: self.boot,
            drained: self.standing.taking_part || self.standing.idle,
            on_ring: self.standing.on_ring,
        }
    }

    /// Alarms about members.
    pub(crate) const fn alarms(&self) -> &Alarms {
        &self.alarms
    }

    fn reject(&mut self, reason: Reason) {
        self.effects.push_back(Effect::Rejected(reason));
    }
}

/// The roster to begin with: the one that was kept, or the file's if none was.
fn known_roster(kept: Option<&OnDisk>, first: Option<Proved>) -> Option<Proved> {
    let kept = kept.map(|kept| kept.roster.clone());
    match (kept, first) {
        (Some(kept), Some(first)) if kept.mark().version <= 1 => Some(first),
        (Some(kept), Some(first)) => {
            if kept.roster().members != first.roster().members {
                tracing::info!(
                    version = kept.roster().version,
                    "the membership has changed since ring.members was written; the latest is used"
                );
            }
            Some(kept)
        }
        (kept, first) => kept.or(first),
    }
}
