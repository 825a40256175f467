//! The next membership: one register per version, chosen by the voters of the version before.
//!
//! This is single-decree Paxos in which the accept is a signature. A voter promises a ballot,
//! accepts a change under it and signs what the change makes; signatures of more than half of the
//! voters for the same ballot and the same result are the decision, and prove it to everybody.
//!
//! | message | rule |
//! |---|---|
//! | [`Message::Prepare`] | a ballot above the promised one is promised; a lower one is rejected |
//! | [`Message::Promise`] | from a majority: the accepted change with the highest ballot is asked for, unmodified; only if there is none, the own one |
//! | [`Message::Accept`] | a ballot not below the promised one: accepted, and voted for |
//! | [`Message::Accepted`] | a majority for one ballot and one result decides |
//!
//! Whoever has lost its disk has another storage id. It votes again when a membership lists that,
//! so what it has promised and forgotten counts for nobody.
//!
//! Nothing leaves before it is on the disk: what a call leads to is held until the write that
//! [`Output::Keep`] asks for has succeeded ([`Register::handle_kept`]), and forgotten if it has not.
//!
//! There is no clock here: when to campaign, and whom to ask, is the caller's business.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;

use serde::{Deserialize, Serialize};

/// A ballot's round is at most so far above the promised one, so that no message uses up all that
/// there are.
const MAX_JUMP: u64 = 1 << 20;

/// Ballots whose votes are remembered, the highest.
const MAX_BALLOTS: usize = 16;

/// A random number that a disk draws when it is new.
pub type Storage = u64;

/// What the register has to know of a membership.
pub(crate) trait Electorate: Clone {
    /// What a membership is known by: its version and its digest.
    type Slot: Copy + Ord + Debug;
    /// What makes a membership of another.
    type Change: Clone + Eq + Debug;

    /// What this one is known by.
    fn slot(&self) -> Self::Slot;

    /// Who votes on the next one, by the storages that it lists.
    fn voters(&self) -> Vec<Storage>;

    /// The membership that a change makes of this one, if it can be made.
    fn next(&self, change: &Self::Change) -> Option<Self::Slot>;
}

/// Under which a change is asked for. No two voters have the same.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Ballot {
    /// Grows with every attempt.
    pub round: u64,
    /// The disk of whoever asks.
    pub storage: Storage,
}

/// What a voter has promised and accepted about the version after its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Vote<C> {
    pub(crate) promised: Ballot,
    pub(crate) accepted: Option<(Ballot, C)>,
}

impl<C> Default for Vote<C> {
    fn default() -> Vote<C> {
        Vote {
            promised: Ballot::default(),
            accepted: None,
        }
    }
}

/// What voters tell each other about the version after one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Message<S, C> {
    Prepare {
        ballot: Ballot,
    },
    Promise {
        ballot: Ballot,
        accepted: Option<(Ballot, C)>,
    },
    Rejected {
        promised: Ballot,
    },
    Accept {
        ballot: Ballot,
        change: C,
    },
    /// Has been signed by whoever sends it.
    Accepted {
        ballot: Ballot,
        next: S,
    },
}

type MessageOf<M> = Message<<M as Electorate>::Slot, <M as Electorate>::Change>;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Output<S, C> {
    /// Keep [`Register::vote`] on the disk; [`Register::handle_kept`] is to follow.
    Keep,
    /// Tell the voter at this place.
    Send(usize, Message<S, C>),
    /// Tell all other voters.
    Broadcast(Message<S, C>),
    /// Sign this, count it here, and tell all other voters ([`Message::Accepted`]).
    Vote { ballot: Ballot, next: S },
}

type OutputOf<M> = Output<<M as Electorate>::Slot, <M as Electorate>::Change>;

/// A ballot of this voter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Campaign<C> {
    ballot: Ballot,
    /// What it asks for if nothing has been accepted.
    wanted: Option<C>,
    /// Who has promised it, and what they had accepted.
    promises: BTreeMap<usize, Option<(Ballot, C)>>,
}

/// One voter, or a member that is none.
#[derive(Clone, Debug)]
pub(crate) struct Register<M: Electorate> {
    electorate: M,
    storage: Storage,
    /// What is on the disk is known to be the latest: a disk that was put back votes for nothing.
    is_sure: bool,
    vote: Vote<M::Change>,
    /// The highest round that this voter was rejected for.
    seen: u64,
    campaign: Option<Campaign<M::Change>>,
    /// The vote is not as it is on the disk.
    dirty: bool,
    /// A write is on its way, and so many of those that are held rely on it.
    writing: Option<usize>,
    /// The last write has failed: until one succeeds, nothing is said.
    is_mute: bool,
    held: VecDeque<OutputOf<M>>,
    ready: VecDeque<OutputOf<M>>,
}

impl<M: Electorate> Register<M> {
    /// Goes on with what the disk has.
    pub(crate) const fn new(electorate: M, storage: Storage, vote: Vote<M::Change>) -> Register<M> {
        Register {
            electorate,
            storage,
            is_sure: false,
            vote,
            seen: 0,
            campaign: None,
            dirty: false,
            writing: None,
            is_mute: false,
            held: VecDeque::new(),
            ready: VecDeque::new(),
        }
    }

    /// The membership whose voters decide on the next one.
    pub(crate) const fn electorate(&self) -> &M {
        &self.electorate
    }

    /// This disk's number.
    pub(crate) const fn storage(&self) -> Storage {
        self.storage
    }

    /// What is to be on the disk.
    pub(crate) const fn vote(&self) -> &Vote<M::Change> {
        &self.vote
    }

    /// This voter's place among the voters, if its storage is listed.
    pub(crate) fn place(&self) -> Option<usize> {
        let mut voters = self.electorate.voters().into_iter();
        voters.position(|voter| voter == self.storage)
    }

    /// Whether it may vote.
    pub(crate) fn may_vote(&self) -> bool {
        self.is_sure && self.place().is_some()
    }

    /// Whether what is on the disk is known to be the latest.
    pub(crate) const fn is_sure(&self) -> bool {
        self.is_sure
    }

    /// What is on the disk is the latest, as others have said.
    pub(crate) const fn make_sure(&mut self) {
        self.is_sure = true;
    }

    /// What is on the disk is not the latest, or its number counts no more: it has another number
    /// from now on, under which nothing was promised. Whether it is sure follows from what that
    /// number is: one that was drawn has no past.
    pub(crate) fn renew(&mut self, storage: Storage, is_sure: bool) {
        (self.storage, self.is_sure) = (storage, is_sure);
        self.forget();
    }

    /// There is a later membership, and it is proved.
    pub(crate) fn adopt(&mut self, electorate: M) {
        self.electorate = electorate;
        self.forget();
    }

    /// What was about to be said was about another version, or by another disk: it is not said any
    /// more, because it would be taken for a word about this one.
    fn forget(&mut self) {
        self.vote = Vote::default();
        (self.seen, self.campaign) = (0, None);
        self.held.clear();
        self.ready.clear();
        self.writing = self.writing.map(|_| 0);
        self.dirty = true;
    }

    /// Something else that goes with the vote has changed, or the last write has failed.
    pub(crate) const fn touch(&mut self) {
        self.dirty = true;
    }

    /// Asks the voters, for `wanted` or for what one of them has accepted. Whether it may.
    pub(crate) fn campaign(&mut self, wanted: Option<M::Change>) -> bool {
        let Some(me) = self.place().filter(|_| self.is_sure) else {
            return false;
        };
        let round = self.vote.promised.round.max(self.seen) + 1;
        let ballot = Ballot {
            round,
            storage: self.storage,
        };
        self.vote.promised = ballot;
        self.dirty = true;
        self.campaign = Some(Campaign {
            ballot,
            wanted,
            promises: BTreeMap::from([(me, self.vote.accepted.clone())]),
        });
        self.output(Output::Broadcast(Message::Prepare { ballot }));
        self.ask_for_acceptance();
        true
    }

    /// A voter of that membership has said something: `from` is its place there.
    pub(crate) fn handle(&mut self, from: usize, slot: M::Slot, message: MessageOf<M>) {
        let voters = self.electorate.voters();
        let Some(storage) = voters.get(from).copied() else {
            return;
        };
        if slot != self.electorate.slot() || !self.may_vote() {
            return;
        }
        let limit = self.vote.promised.round.saturating_add(MAX_JUMP);
        match message {
            Message::Prepare { ballot } | Message::Accept { ballot, .. }
                if ballot.storage != storage || ballot.round > limit => {}
            Message::Prepare { ballot } | Message::Accept { ballot, .. }
                if ballot < self.vote.promised =>
            {
                let promised = self.vote.promised;
                self.output(Output::Send(from, Message::Rejected { promised }));
            }
            Message::Prepare { ballot } => {
                self.promise(ballot);
                let accepted = self.vote.accepted.clone();
                self.output(Output::Send(from, Message::Promise { ballot, accepted }));
            }
            Message::Promise { ballot, accepted } => {
                let campaign = self.campaign.as_mut();
                if let Some(campaign) = campaign.filter(|own| own.ballot == ballot) {
                    campaign.promises.insert(from, accepted);
                    self.ask_for_acceptance();
                }
            }
            Message::Rejected { promised } => {
                if promised.round <= limit && self.vote.promised < promised {
                    self.seen = self.seen.max(promised.round);
                    self.campaign = None;
                }
            }
            Message::Accept { ballot, change } => self.accept(ballot, change),
            // They are counted where signatures are checked.
            Message::Accepted { .. } => {}
        }
    }

    fn promise(&mut self, ballot: Ballot) {
        if ballot > self.vote.promised {
            self.vote.promised = ballot;
            self.dirty = true;
            self.campaign = None;
        }
    }

    /// Asks for a change if a majority has promised to let it: theirs if they have accepted one,
    /// so that what may have been decided stays so.
    fn ask_for_acceptance(&mut self) {
        let majority = self.electorate.voters().len() / 2 + 1;
        let promised = |own: &mut Campaign<_>| own.promises.len() >= majority;
        // Never two changes under one ballot: it is over when it has been asked for.
        let Some(campaign) = self.campaign.take_if(promised) else {
            return;
        };
        let accepted = campaign.promises.into_values().flatten();
        let accepted = accepted.max_by_key(|(ballot, _)| *ballot);
        let change = accepted.map(|(_, change)| change).or(campaign.wanted);
        if let Some(change) = change {
            let ballot = campaign.ballot;
            self.output(Output::Broadcast(Message::Accept {
                ballot,
                change: change.clone(),
            }));
            self.accept(ballot, change);
        }
    }

    fn accept(&mut self, ballot: Ballot, change: M::Change) {
        // What does not fit was made by another version of this program, and is not repeated.
        let Some(next) = self.electorate.next(&change) else {
            return;
        };
        self.promise(ballot);
        match &self.vote.accepted {
            Some((known, other)) if *known == ballot && *other != change => return,
            Some((known, _)) if *known == ballot => {}
            _ => {
                self.vote.accepted = Some((ballot, change));
                self.dirty = true;
            }
        }
        self.output(Output::Vote { ballot, next });
    }

    fn output(&mut self, output: OutputOf<M>) {
        if self.dirty || self.writing.is_some() {
            self.held.push_back(output);
        } else if !self.is_mute {
            self.ready.push_back(output);
        }
    }

    /// The next thing to do. There is nothing while a write is on its way that it relies on.
    pub(crate) fn poll(&mut self) -> Option<OutputOf<M>> {
        if self.dirty && self.writing.is_none() {
            (self.dirty, self.writing) = (false, Some(self.held.len()));
            return Some(Output::Keep);
        }
        self.ready.pop_front()
    }

    /// The vote is on the disk as it was when that was asked for, or it is not: then nothing of it
    /// was ever said.
    pub(crate) fn handle_kept(&mut self, kept: bool) {
        let Some(relying) = self.writing.take() else {
            return;
        };
        // What has changed since then waits for the next write.
        let relying = if self.dirty { relying } else { self.held.len() };
        let released = self.held.drain(..relying);
        if kept {
            self.ready.extend(released);
        } else {
            drop(released);
            self.campaign = None;
        }
        self.is_mute = !kept;
    }
}

/// Who has signed what, of the votes on one version.
#[derive(Clone, Debug)]
pub(crate) struct Count<S, P>(BTreeMap<(Ballot, S), BTreeMap<usize, P>>);

impl<S, P> Default for Count<S, P> {
    fn default() -> Count<S, P> {
        Count(BTreeMap::new())
    }
}

impl<S: Copy + Ord, P: Clone> Count<S, P> {
    /// The voter at this place has signed that. All signatures for it, with their places, if a
    /// majority of so many voters has.
    pub(crate) fn add(
        &mut self,
        from: usize,
        (ballot, next): (Ballot, S),
        proof: P,
        voters: usize,
    ) -> Option<Vec<(usize, P)>> {
        let votes = self.0.entry((ballot, next)).or_default();
        votes.insert(from, proof);
        let decided = (votes.len() > voters / 2).then(|| votes.clone().into_iter().collect());
        if self.0.len() > MAX_BALLOTS {
            self.0.pop_first();
        }
        decided
    }
}

#[cfg(test)]
mod tests;
