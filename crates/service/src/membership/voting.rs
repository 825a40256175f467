//! A node's part in deciding on the next roster ([`register`](super::register)): when it campaigns,
//! whom it asks for a change, what it tells other voters, and what it keeps on the disk.
//!
//! Voters say every second that they are there, whether they may vote, and how old their disks are.
//! So everybody knows whether anything can be decided, and a voter whose disk was lost or put back
//! hears of it: when it starts it asks the others first, and votes when half of them have answered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::control::{Alive, Message, Part, Sender};
use super::decision::{Change, Kind};
use super::register::{self, Ballot, Count, Electorate, Output, Register, Storage, Vote};
use super::roster::{Link, Mark, Member, Proved, Roster, RosterError, Signature, vote};
use super::{Effect, Membership};
use crate::agent::alarm::Alarm;
use parts::Parts;

mod parts;

/// How long a change may take to be decided.
pub(crate) const PROPOSE_FOR: Duration = Duration::from_secs(10);

/// How long one voter is waited for before the next is asked.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// How often a voter says that it is there, and how often one that is not sure of its disk asks.
const ALIVE_EVERY: Duration = Duration::from_secs(1);
const ASK_EVERY: Duration = Duration::from_millis(300);

/// A voter that was not heard for so long may be gone.
const ALIVE_FOR: Duration = Duration::from_millis(3_500);

/// How long too few may vote before that is an alarm.
const ALARM_AFTER: Duration = Duration::from_secs(6);

/// How long a ballot may take, in milliseconds: from this to twice as long, and twice that with
/// every attempt, up to so many.
const BALLOT_MS: u64 = 200;
const MAX_DOUBLINGS: u32 = 4;

/// Disks of one member whose ages are remembered.
const MAX_DISKS: usize = 4;

/// What all voters know of a roster.
#[derive(Clone, Debug)]
pub(super) struct Electors(Arc<Proved>);

impl Electorate for Electors {
    type Slot = Mark;
    type Change = Change;

    fn slot(&self) -> Mark {
        self.0.mark()
    }

    fn voters(&self) -> Vec<Storage> {
        let roster = self.0.roster();
        roster.voters().map(|voter| roster.storage(voter)).collect()
    }

    fn next(&self, change: &Change) -> Option<Mark> {
        let next = self.0.roster().decide(change).ok()?;
        Some(Proved::new(next).mark())
    }
}

/// How old the disks of other voters are, by name.
type Ages = BTreeMap<String, BTreeMap<Storage, u64>>;

/// What is on the disk: all of it in one file, so that a vote and the roster that it is about go
/// together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OnDisk {
    /// How often this was changed.
    age: u64,
    storage: Storage,
    vote: Vote<Change>,
    ages: Ages,
    pub(super) roster: Proved,
}

impl OnDisk {
    pub(super) fn read(bytes: &[u8], ring: &str) -> Result<OnDisk, RosterError> {
        let mut read: OnDisk = serde_json::from_slice(bytes).map_err(|_| RosterError::Malformed)?;
        read.roster = read.roster.checked(ring)?;
        Ok(read)
    }
}

/// Something between voters, or to them.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Paper {
    /// About the roster after this one; a vote is signed.
    About(Mark, register::Message<Mark, Change>, Option<String>),
    /// Somebody wants a change.
    Wish(Change),
}

/// When another voter was heard last.
#[derive(Clone, Copy, Debug)]
struct Heard {
    at: Duration,
    boot: u64,
    storage: Storage,
    may_vote: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Voting {
    /// Nothing as long as there is no roster.
    register: Option<Register<Electors>>,
    count: Count<Mark, Signature>,
    age: u64,
    /// What that is the age of.
    aged: Option<(Mark, Storage, Vote<Change>)>,
    ages: Ages,
    heard: BTreeMap<String, Heard>,
    /// Voters that have said that they know of no later state of this disk.
    sure_of: BTreeSet<String>,
    next_alive: Duration,
    /// When enough voters could vote last.
    could_vote: Duration,
    /// What was on the disk is not relied on; and the number of the new one, where there was a file.
    doubt: Option<&'static str>,
    lost: Option<Storage>,
    /// What this voter campaigns for, and until when.
    wanted: Option<(Change, Duration)>,
    /// Who has asked for it, by address.
    wishers: BTreeSet<String>,
    campaign_at: Option<Duration>,
    attempts: u32,
    parts: Parts,
}

impl Voting {
    /// Goes on with what was kept; without it, what there was may have been lost.
    pub(super) fn new(
        now: Duration,
        name: &str,
        own: Option<&Proved>,
        kept: Option<OnDisk>,
        lost: Option<Storage>,
        number: u64,
    ) -> Voting {
        let (age, ages) = kept
            .as_ref()
            .map_or_else(Default::default, |kept| (kept.age, kept.ages.clone()));
        let register = own.map(|own| {
            let electors = Electors(Arc::new(own.clone()));
            let first = first_storage(own.roster(), name);
            let (storage, vote) = match kept {
                None => (first, Vote::default()),
                Some(kept) if kept.roster.mark() == own.mark() => (kept.storage, kept.vote),
                // Another first roster, from the file: the disk is the same.
                Some(kept) => {
                    let is_first = kept.storage == first_storage(kept.roster.roster(), name);
                    let storage = if is_first { first } else { kept.storage };
                    (storage, Vote::default())
                }
            };
            let mut register = Register::new(electors, storage, vote);
            register.touch();
            register
        });
        let aged = register.as_ref().map(aged).filter(|_| age > 0);
        Voting {
            register,
            count: Count::default(),
            age,
            aged,
            ages,
            heard: BTreeMap::new(),
            sure_of: BTreeSet::new(),
            next_alive: now,
            could_vote: now,
            doubt: lost.map(|_| "its file is damaged, was deleted or was put back"),
            lost,
            wanted: None,
            wishers: BTreeSet::new(),
            campaign_at: None,
            attempts: 0,
            parts: Parts::new(number),
        }
    }

    /// There is a later roster.
    fn adopt(&mut self, name: &str, roster: &Proved) {
        let electors = Electors(Arc::new(roster.clone()));
        let first = first_storage(roster.roster(), name);
        match &mut self.register {
            Some(register) => {
                let recovered = |electors: &Electors| electors.0.roster().recovered;
                let was_recovered = recovered(register.electorate());
                register.adopt(electors);
                let is_new = register.storage() == 0 && first != 0;
                if is_new || was_recovered != roster.roster().recovered {
                    register.renew(first, false);
                    self.sure_of.clear();
                }
            }
            None => {
                let storage = self.lost.unwrap_or(first);
                let mut register = Register::new(electors, storage, Vote::default());
                // A disk with a new number has no past.
                if self.lost.is_some() {
                    register.make_sure();
                }
                register.touch();
                self.register = Some(register);
            }
        }
        self.count = Count::default();
        (self.wanted, self.campaign_at, self.attempts) = (None, None, 0);
        self.wishers.clear();
        let is_member = |name: &String| roster.roster().member(name).is_some();
        self.heard.retain(|name, _| is_member(name));
        self.ages.retain(|name, _| is_member(name));
    }

    /// What is to be on the disk.
    fn on_disk(&mut self) -> Option<Vec<u8>> {
        let register = self.register.as_ref()?;
        let state = aged(register);
        if self.aged.as_ref() != Some(&state) {
            self.age += 1;
            self.aged = Some(state);
        }
        let kept = OnDisk {
            age: self.age,
            storage: register.storage(),
            vote: register.vote().clone(),
            ages: self.ages.clone(),
            roster: (*register.electorate().0).clone(),
        };
        // Maps, texts and numbers are always written.
        Some(serde_json::to_vec(&kept).unwrap_or_default())
    }

    /// The roster, if this node is one of its voters, and its place among them.
    fn seat(&self, name: &str) -> Option<(&Roster, usize)> {
        let roster = self.register.as_ref()?.electorate().0.roster();
        let place = roster.voters().position(|voter| voter.name == name)?;
        Some((roster, place))
    }

    /// The disk of this voter, if the roster lists another one of it.
    pub(super) fn unlisted(&self, name: &str) -> Option<Storage> {
        let (roster, place) = self.seat(name)?;
        let storage = self.register.as_ref()?.storage();
        let listed = roster.storage(&roster.members[place]);
        (listed != storage).then_some(storage)
    }

    /// Of these voters, those that are there with another disk than the roster lists.
    pub(super) fn is_mute(&self, roster: &Roster, voter: &Member) -> bool {
        let heard = self.heard.get(&voter.name);
        heard.is_some_and(|heard| heard.storage != roster.storage(voter))
    }

    fn timeout(&self) -> Option<Duration> {
        let alive = self.register.is_some().then_some(self.next_alive);
        alive.into_iter().chain(self.campaign_at).min()
    }
}

/// The number of the disk that a member began with, if the roster names it.
fn first_storage(roster: &Roster, name: &str) -> Storage {
    roster.member(name).map_or(0, |me| roster.first_storage(me))
}

fn aged(register: &Register<Electors>) -> (Mark, Storage, Vote<Change>) {
    let mark = register.electorate().slot();
    (mark, register.storage(), register.vote().clone())
}

impl Membership {
    /// When [`Membership::advance_votes`] has something to do.
    pub(super) fn vote_timeout(&self) -> Option<Duration> {
        self.voting.timeout()
    }

    /// Time has passed.
    pub(super) fn advance_votes(&mut self, now: Duration) {
        if now >= self.voting.next_alive {
            // Whoever was paused has heard nobody meanwhile, and knows nothing by that.
            if now >= self.voting.next_alive + ALIVE_FOR {
                self.voting.could_vote = now;
            }
            let asks = self.voting.register.as_ref();
            let asks = asks.is_some_and(|register| !register.is_sure());
            self.voting.next_alive = now + if asks { ASK_EVERY } else { ALIVE_EVERY };
            self.say_alive();
            self.watch_votes(now);
            self.finish_soon(now);
        }
        if self.voting.campaign_at.is_some_and(|at| now >= at) {
            self.campaign(now);
        }
        self.carry_votes(now);
    }

    /// The other voters of the roster.
    fn other_voters(&self) -> Vec<Member> {
        let me = &self.settings.node.name;
        let seat = self.voting.seat(me);
        let others = seat.iter().flat_map(|(roster, _)| roster.voters());
        others.filter(|voter| voter.name != *me).cloned().collect()
    }

    fn say_alive(&mut self) {
        for Member { name, address, .. } in self.other_voters() {
            self.say_alive_to(&name, address, true);
        }
    }

    fn say_alive_to(&mut self, name: &str, address: String, may_ask: bool) {
        let Some(register) = &self.voting.register else {
            return;
        };
        let heard = self.voting.heard.get(name).map(|heard| {
            let ages = self.voting.ages.get(name);
            let age = ages.and_then(|ages| ages.get(&heard.storage));
            (heard.boot, heard.storage, age.copied().unwrap_or(0))
        });
        let alive = Alive {
            disk: (register.storage(), self.voting.age),
            may_vote: register.may_vote(),
            asks: may_ask && !register.is_sure(),
            heard,
        };
        self.outbox.push_back((address, Message::Alive(alive)));
    }

    /// A voter is there.
    pub(super) fn handle_alive(&mut self, now: Duration, sender: &Sender, alive: Alive) {
        let others = self.other_voters();
        if !others.iter().any(|voter| voter.name == sender.name) {
            return;
        }
        let (storage, age) = alive.disk;
        let heard = Heard {
            at: now,
            boot: sender.boot,
            storage,
            may_vote: alive.may_vote,
        };
        let voting = &mut self.voting;
        voting.heard.insert(sender.name.clone(), heard);
        let ages = voting.ages.entry(sender.name.clone()).or_default();
        if ages.get(&storage).is_none_or(|known| *known < age) && age > 0 {
            if ages.len() >= MAX_DISKS && !ages.contains_key(&storage) {
                ages.clear();
            }
            ages.insert(storage, age);
            voting.register.iter_mut().for_each(Register::touch);
        }
        if alive.asks {
            let address = sender.address.clone();
            self.say_alive_to(&sender.name, address, false);
        }
        if let Some((boot, storage, age)) = alive.heard
            && boot == self.boot
        {
            self.make_sure(&sender.name, storage, age, others.len());
        }
    }

    /// Another voter says how old it knows this one's disk to be.
    fn make_sure(&mut self, name: &str, storage: Storage, age: u64, others: usize) {
        let voting = &mut self.voting;
        let Some(register) = &mut voting.register else {
            return;
        };
        if register.storage() != storage || register.is_sure() {
            return;
        }
        if age > voting.age {
            voting.doubt = Some("others know a later state of it, as if it had been put back");
            voting.sure_of.clear();
            register.renew((self.random)(), true);
            return;
        }
        voting.sure_of.insert(name.to_owned());
        if voting.sure_of.len() >= others.div_ceil(2) {
            register.make_sure();
        }
    }

    /// What somebody should know.
    fn watch_votes(&mut self, now: Duration) {
        let me = &self.settings.node.name;
        let voting = &mut self.voting;
        let unlisted = voting.unlisted(me).is_some();
        let own = voting.register.as_ref().is_some_and(Register::may_vote);
        let mut alarm = voting.doubt.filter(|_| unlisted).map(|why| {
            format!(
                "what this voter had on its disk is not relied on ({why}): it votes again when the \
                 other voters have agreed to its new disk"
            )
        });
        let can = |voter: &&Member| {
            let heard = voting.heard.get(&voter.name);
            let heard = heard.filter(|heard| now < heard.at + ALIVE_FOR);
            heard.is_some_and(|heard| heard.may_vote) || voter.name == *me && own
        };
        let enough = voting.seat(me).is_none_or(|(roster, _)| {
            2 * roster.voters().filter(can).count() > roster.voters().count()
        });
        if enough {
            voting.could_vote = now;
        } else if now >= voting.could_vote + ALARM_AFTER {
            alarm.get_or_insert_with(|| {
                "too few voters of the membership hear each other: members cannot be added, \
                 removed or bypassed; the ring goes on with those that it has"
                    .into()
            });
        }
        let alarm = alarm.map(Alarm::Voting);
        self.alarms
            .clear(|old| matches!(old, Alarm::Voting(_)) && Some(old) != alarm.as_ref());
        if let Some(alarm) = alarm {
            self.alarms.raise(alarm);
        }
    }

    /// Has the next roster decided, if this node may vote. Whether it may.
    pub(super) fn campaign_for(&mut self, now: Duration, change: Change) -> bool {
        let Some(register) = self.voting.register.as_ref() else {
            return false;
        };
        if !register.may_vote() {
            return false;
        }
        if self.voting.wanted.is_none() && register.electorate().next(&change).is_some() {
            self.voting.wanted = Some((change, now + PROPOSE_FOR));
            self.campaign(now);
            self.carry_votes(now);
        }
        true
    }

    /// One more ballot. What was accepted is gone on with until it is decided: it may have been.
    fn campaign(&mut self, now: Duration) {
        let random = (self.random)();
        let voting = &mut self.voting;
        voting.wanted.take_if(|(_, until)| now >= *until);
        voting.campaign_at = None;
        let Some(register) = &mut voting.register else {
            return;
        };
        let wanted = voting.wanted.as_ref().map(|(change, _)| change.clone());
        let has_something = wanted.is_some() || register.vote().accepted.is_some();
        if has_something && register.campaign(wanted) {
            let longest = BALLOT_MS << voting.attempts.min(MAX_DOUBLINGS);
            let wait = Duration::from_millis(longest + (random >> 32) % longest);
            voting.campaign_at = Some(now + wait);
            voting.attempts += 1;
        }
    }

    /// A voter has said something, or somebody wants a change.
    pub(super) fn handle_part(&mut self, now: Duration, sender: &Sender, part: &Part) {
        let Some(bytes) = self.voting.parts.join(&sender.name, part) else {
            return;
        };
        // What cannot be read was not written by a program of this release.
        match serde_json::from_slice(&bytes) {
            Ok(Paper::Wish(change)) => self.handle_wish(now, sender, change),
            Ok(Paper::About(slot, message, signature)) => {
                self.handle_vote(now, sender, slot, message, signature.as_deref());
            }
            Err(_) => {}
        }
    }

    fn handle_wish(&mut self, now: Duration, sender: &Sender, mut change: Change) {
        if let Kind::Storage { name, .. } = &change.kind
            && *name != sender.name
        {
            return;
        }
        // Whoever decides goes by what it has seen itself.
        change.settled &= self.settled == change.version;
        if self.campaign_for(now, change) {
            self.voting.wishers.insert(sender.address.clone());
        }
    }

    fn handle_vote(
        &mut self,
        now: Duration,
        sender: &Sender,
        slot: Mark,
        message: register::Message<Mark, Change>,
        signature: Option<&str>,
    ) {
        let Some((_, place)) = self.voting.seat(&sender.name) else {
            return;
        };
        if let register::Message::Accepted { ballot, next } = message {
            return self.handle_accepted(now, (sender, place), slot, (ballot, next), signature);
        }
        let Some(register) = &mut self.voting.register else {
            return;
        };
        register.handle(place, slot, message);
        self.finish_soon(now);
        self.carry_votes(now);
    }

    /// What was accepted is decided in the end, if not by whoever has asked for it: it would come as
    /// a surprise later.
    fn finish_soon(&mut self, now: Duration) {
        let register = self.voting.register.as_ref();
        let register = register.filter(|register| register.may_vote());
        let has_accepted = register.is_some_and(|own| own.vote().accepted.is_some());
        if has_accepted && self.voting.campaign_at.is_none() {
            let wait = 2 * BALLOT_MS + ((self.random)() >> 32) % (4 * BALLOT_MS);
            self.voting.campaign_at = Some(now + Duration::from_millis(wait));
        }
    }

    /// A voter has voted, if the signature is its own.
    fn handle_accepted(
        &mut self,
        now: Duration,
        (sender, place): (&Sender, usize),
        slot: Mark,
        (ballot, next): (Ballot, Mark),
        signature: Option<&str>,
    ) {
        let Some(register) = &self.voting.register else {
            return;
        };
        let electors = register.electorate();
        let mut bytes = [0; 64];
        let read = signature.map(|text| hex::decode_to_slice(text, &mut bytes));
        let signed = vote((slot.version, &slot.digest), ballot, &next);
        let key = electors.0.roster().members[place].key;
        let is_right = key.is_some_and(|key| key.signer().verify(&signed, &bytes));
        if slot != electors.slot() || read != Some(Ok(())) || !is_right {
            return;
        }
        let accepted = register.vote().accepted.as_ref();
        let accepted = accepted.filter(|(known, _)| *known == ballot);
        let own = accepted.and_then(|(_, change)| electors.next(change));
        if own.is_some_and(|own| own != next) {
            self.alarms.raise(Alarm::OtherProgram(sender.name.clone()));
        }
        self.count_vote(now, place, (ballot, next), bytes);
    }

    fn count_vote(
        &mut self,
        now: Duration,
        place: usize,
        (ballot, next): (Ballot, Mark),
        signature: Signature,
    ) {
        let voting = &mut self.voting;
        let Some(register) = &voting.register else {
            return;
        };
        let electors = register.electorate();
        let all = electors.0.roster().voters().count();
        let Some(votes) = voting.count.add(place, (ballot, next), signature, all) else {
            return;
        };
        // Whoever has not heard what it is hears of it from those who have.
        let Some((_, change)) = &register.vote().accepted else {
            return;
        };
        let made = electors.0.roster().decide(change).ok().map(Proved::new);
        let Some(made) = made.filter(|made| made.mark() == next) else {
            return;
        };
        let link = Link::voted(&electors.0, &made, ballot, votes);
        let mut told = std::mem::take(&mut voting.wishers);
        let voters = electors.0.roster().voters().chain(made.roster().voters());
        told.extend(voters.map(|voter| voter.address.clone()));
        self.exchange.decide(made, link);
        self.follow_exchange(now);
        for address in told {
            self.exchange.offer(&address);
        }
    }

    /// Carries out what the register wants.
    pub(super) fn carry_votes(&mut self, now: Duration) {
        while let Some(register) = &mut self.voting.register {
            let slot = register.electorate().slot();
            let Some(output) = register.poll() else { break };
            match output {
                Output::Keep => {
                    let bytes = self.voting.on_disk();
                    self.effects.extend(bytes.map(Effect::Keep));
                }
                Output::Send(place, message) => self.tell(slot, Some(place), message, None),
                Output::Broadcast(message) => self.tell(slot, None, message, None),
                Output::Vote { ballot, next } => self.cast_vote(now, slot, ballot, next),
            }
        }
    }

    fn cast_vote(&mut self, now: Duration, slot: Mark, ballot: Ballot, next: Mark) {
        let me = self.settings.node.name.clone();
        let place = self.voting.seat(&me).map(|(_, place)| place);
        let signed = vote((slot.version, &slot.digest), ballot, &next);
        let own = self.own_key();
        let signature = own.and_then(|own| self.keyring.sign_with(&own, &signed));
        let (Some(place), Some(signature)) = (place, signature) else {
            return;
        };
        let message = register::Message::Accepted { ballot, next };
        self.tell(slot, None, message, Some(hex::encode(signature)));
        self.count_vote(now, place, (ballot, next), signature);
    }

    /// Tells the voter at a place of the roster, or all others.
    fn tell(
        &mut self,
        slot: Mark,
        place: Option<usize>,
        message: register::Message<Mark, Change>,
        signature: Option<String>,
    ) {
        let Some(register) = &self.voting.register else {
            return;
        };
        let electors = register.electorate();
        if electors.slot() != slot {
            return;
        }
        let me = &self.settings.node.name;
        let voters = electors.0.roster().voters().enumerate();
        let told = voters
            .filter(|(at, voter)| voter.name != *me && place.is_none_or(|place| place == *at));
        let told: Vec<String> = told.map(|(_, voter)| voter.address.clone()).collect();
        let paper = Paper::About(slot, message, signature);
        for address in told {
            self.send_paper(&address, &paper);
        }
    }

    /// Asks a voter for a change.
    pub(super) fn wish(&mut self, address: &str, change: &Change) {
        self.send_paper(address, &Paper::Wish(change.clone()));
    }

    fn send_paper(&mut self, address: &str, paper: &Paper) {
        // Texts and numbers are always written.
        let bytes = serde_json::to_vec(paper).unwrap_or_default();
        let parts = self.voting.parts.split(&bytes);
        let parts = parts.into_iter().map(Message::Part);
        let parts = parts.map(|part| (address.to_owned(), part));
        self.outbox.extend(parts);
    }

    /// What [`Effect::Keep`] asked for is on the disk, or is not.
    pub(crate) fn handle_kept(&mut self, now: Duration, kept: bool) {
        if let Some(register) = &mut self.voting.register {
            register.handle_kept(kept);
        }
        self.carry_votes(now);
    }

    /// It could not be kept: tries again.
    pub(crate) fn keep_again(&mut self, now: Duration) {
        self.voting.register.iter_mut().for_each(Register::touch);
        self.carry_votes(now);
    }

    /// The voters decide from now on on what comes after another roster.
    pub(super) fn follow_votes(&mut self, now: Duration) {
        if let Some(roster) = self.exchange.roster() {
            self.voting.adopt(&self.settings.node.name, roster);
        }
        self.voting.next_alive = now;
        self.carry_votes(now);
    }
}
