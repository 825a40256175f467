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

use super::decision::Change;
use super::register::{Count, Electorate, Output, Register, Storage, Vote};
use super::roster::{Mark, Member, Proved, Roster, RosterError, Signature};
use super::{Effect, Membership};
use alive::ALIVE_FOR;
use parts::Parts;

mod alive;
mod ballots;
mod parts;

/// How long a change may take to be decided.
pub(crate) const PROPOSE_FOR: Duration = Duration::from_secs(10);

/// How long one voter is waited for before the next is asked.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// How often a voter says that it is there, and how often one that is not sure of its disk asks.
const ALIVE_EVERY: Duration = Duration::from_secs(1);
const ASK_EVERY: Duration = Duration::from_millis(300);

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
    /// When enough voters could vote last; at the start, as if they had just been heard.
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
            could_vote: now + ALIVE_FOR,
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
                self.voting.could_vote = now + ALIVE_FOR;
            }
            let asks = self.voting.register.as_ref();
            let asks = asks.is_some_and(|register| !register.is_sure());
            // There is nobody who could know a later state than the only voter's.
            if self.voting.seat(&self.settings.node.name).is_some()
                && self.other_voters().is_empty()
            {
                let register = self.voting.register.iter_mut();
                register.for_each(Register::make_sure);
            }
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
