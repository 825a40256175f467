//! Ballots: campaigns, votes, and what voters say about the next roster.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::PROPOSE_FOR;
use crate::agent::alarm::Alarm;
use crate::membership::Membership;
use crate::membership::control::{Message, Part, Sender};
use crate::membership::decision::{Change, Kind};
use crate::membership::register::{self, Ballot, Electorate};
use crate::membership::roster::{Link, Mark, Proved, Signature, vote};

/// How long a ballot may take, in milliseconds: from this to twice as long, and twice that with
/// every attempt, up to so many.
const BALLOT_MS: u64 = 200;
const MAX_DOUBLINGS: u32 = 4;

/// Something between voters, or to them.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Paper {
    /// About the roster after this one; a vote is signed.
    About(Mark, register::Message<Mark, Change>, Option<String>),
    /// Somebody wants a change.
    Wish(Change),
}

impl Membership {
    /// Has the next roster decided, if this node may vote. Whether it may.
    pub(in crate::membership) fn campaign_for(&mut self, now: Duration, change: Change) -> bool {
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
    pub(super) fn campaign(&mut self, now: Duration) {
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
    pub(in crate::membership) fn handle_part(
        &mut self,
        now: Duration,
        sender: &Sender,
        part: &Part,
    ) {
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
        let said_off = change.kind.said_off();
        if said_off.iter().any(|name| self.hears(now, name)) {
            return;
        }
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
    pub(super) fn finish_soon(&mut self, now: Duration) {
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

    pub(super) fn cast_vote(&mut self, now: Duration, slot: Mark, ballot: Ballot, next: Mark) {
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
    pub(super) fn tell(
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
    pub(in crate::membership) fn wish(&mut self, address: &str, change: &Change) {
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
}
