//! Asking whether somebody is there, before a silent member is bypassed, before a bypassed one
//! returns, before a new one is added; and what is wanted then.
//!
//! An answer is a sign of life and no more. What becomes of the roster its voters decide
//! ([`voting`](super::voting)), and of two parts of a ring that cannot reach each other at most one
//! has a majority of them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::change::changed;
use super::control::{Message, Sender};
use super::decision::{Change, Kind};
use super::roster::{MAX_MADE, Member, Roster};
use super::voting::{PATIENCE, PROPOSE_FOR};
use super::{Effect, Membership};
use crate::agent::alarm::Alarm;
use crate::config::Bypass;
use crate::request::{Answer, Changed, Refusal, RequestId};

const TOO_FEW: &str = "too few voters of the membership answer: more than half of its first seven \
     members are needed. It is not known whether the change will be made: `headway node list` will \
     say. If most voters are gone for good: `headway node recover --help`";

/// A question that is out.
#[derive(Clone, Debug)]
pub(super) struct Poll {
    nonce: u64,
    purpose: Purpose,
    ends: Duration,
    again: Duration,
    /// Who has not answered, by name, and where they are.
    missing: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
pub(super) enum Purpose {
    /// A neighbour has been silent for long.
    Bypass(String),
    /// This node was bypassed and is back.
    Return,
    /// Somebody wants to add a member.
    Add {
        request: RequestId,
        member: Member,
        after: Option<String>,
    },
    /// Somebody wants these to come, and those to go.
    Follow {
        request: RequestId,
        add: Vec<Member>,
        remove: Vec<String>,
    },
}

/// Who wants a change.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// Somebody who waits for an answer.
    By(RequestId),
    /// Somebody who waits, for another key of this node.
    Key(RequestId),
    /// This node itself: the one that it is about comes or goes.
    For(String),
    /// This node itself: all members speak the next version of the wire format.
    Upgrade,
    /// This node itself: it has another disk.
    Disk,
}

/// A change that is not decided yet, and the roster that it would make.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    wanted: Wanted,
    change: Change,
    pub(super) next: Roster,
    tokens_before: u32,
    /// Of several changes, whom it leaves out, and why.
    refused: BTreeMap<String, String>,
    /// Which voter is asked next and when, and when it is given up; not asked yet if there is none.
    turn: usize,
    times: Option<(Duration, Duration)>,
}

impl Poll {
    pub(super) fn timeout(&self) -> Duration {
        self.ends.min(self.again)
    }

    /// Whom somebody wants to add.
    pub(super) fn new_members(&self) -> &[Member] {
        match &self.purpose {
            Purpose::Add { member, .. } => std::slice::from_ref(member),
            Purpose::Follow { add, .. } => add,
            Purpose::Bypass(_) | Purpose::Return => &[],
        }
    }

    /// Whether it says nothing any more when there is another roster.
    pub(super) const fn is_about_roster(&self) -> bool {
        !matches!(self.purpose, Purpose::Add { .. } | Purpose::Follow { .. })
    }
}

impl Membership {
    /// Looks whether there is something to ask, or an answer.
    pub(super) fn watch(&mut self, now: Duration) {
        match &self.poll {
            Some(poll) if now >= poll.ends => self.conclude(now),
            Some(poll) if now >= poll.again => self.ping(now),
            Some(_) => {}
            None if now >= self.poll_again => self.consider(now),
            None => {}
        }
    }

    fn consider(&mut self, now: Duration) {
        let Some(roster) = &self.current else { return };
        let for_itself = |proposal: &Proposal| !matches!(proposal.wanted, Wanted::By(_));
        if self.standing.stopping || self.proposals.values().any(for_itself) {
            return;
        }
        let me = &self.settings.node.name;
        if let Some(storage) = self.voting.unlisted(me) {
            let name = me.clone();
            let kind = Kind::Storage { name, storage };
            self.poll_again = now + 2 * self.settings.membership.window;
            return self.propose(Wanted::Disk, kind);
        }
        if roster.is_bypassed(me) {
            let beside = roster.around(me).into_iter().flatten();
            let beside = beside.map(Member::entry).collect();
            return self.ask(now, Purpose::Return, beside);
        }
        if let Some(terms) = self.upgrade(roster) {
            return self.propose(Wanted::Upgrade, Kind::Set(terms));
        }
        let membership = &self.settings.membership;
        if membership.bypass == Bypass::Never || !self.standing.taking_part {
            return;
        }
        let (after, longest) = (membership.bypass_after, roster.longest_permit());
        // Not before its permit is over: the ring would wait for that without it, too, and it
        // may be a machine that its command reboots.
        let due = |(name, since): &(&String, &Duration)| {
            let over = self.witness.over(name, longest);
            now >= over.unwrap_or(**since + longest).max(**since + after)
        };
        let silent = self.silent_since.iter().find(due);
        if let Some(member) = silent.and_then(|(name, _)| roster.member(name)) {
            let member = member.entry();
            self.ask(now, Purpose::Bypass(member.0.clone()), [member].into());
        }
    }

    /// Adds a member once it has answered.
    pub(super) fn ask_new_member(
        &mut self,
        now: Duration,
        request: RequestId,
        member: Member,
        after: Option<String>,
    ) {
        let entry = member.entry();
        let purpose = Purpose::Add {
            request,
            member,
            after,
        };
        self.ask(now, purpose, [entry].into());
    }

    pub(super) fn ask(
        &mut self,
        now: Duration,
        purpose: Purpose,
        missing: BTreeMap<String, String>,
    ) {
        self.poll = Some(Poll {
            nonce: (self.random)(),
            purpose,
            ends: now + self.settings.membership.window,
            again: now,
            missing,
        });
        self.ping(now);
    }

    fn ping(&mut self, now: Duration) {
        let Some(poll) = &mut self.poll else { return };
        poll.again = now + self.settings.membership.window / 4;
        let nonce = poll.nonce;
        let pings = poll.missing.values().cloned();
        let pings = pings.map(|address| (address, Message::Ping { nonce }));
        self.outbox.extend(pings);
    }

    /// Somebody has answered.
    pub(super) fn handle_pong(&mut self, now: Duration, nonce: u64, sender: &Sender) {
        let Some(poll) = self.poll.as_mut().filter(|poll| poll.nonce == nonce) else {
            return;
        };
        poll.missing.remove(&sender.name);
        if poll.missing.is_empty() {
            self.conclude(now);
        }
    }

    pub(super) fn conclude(&mut self, now: Duration) {
        let Some(poll) = self.poll.take() else { return };
        self.poll_again = now + 2 * self.settings.membership.window;
        let answered = poll.missing.is_empty();
        let me = self.settings.node.name.clone();
        match poll.purpose {
            Purpose::Add {
                request,
                member: Member { name, address, .. },
                ..
            } if !answered => {
                let refusal = Refusal::Unreachable(name, address);
                self.refuse(Wanted::By(request), refusal);
            }
            Purpose::Add {
                request,
                member,
                after,
            } => self.propose(Wanted::By(request), Kind::Add { member, after }),
            Purpose::Follow {
                request,
                add,
                remove,
            } => {
                self.propose_several(request, add, remove, &poll.missing);
            }
            Purpose::Bypass(name) if answered => {
                if self.said.may(now, &name) {
                    tracing::warn!(%name, "is silent on the ring but answers: not bypassed");
                }
            }
            Purpose::Bypass(name) => {
                self.propose(Wanted::For(name.clone()), Kind::LeaveOut { name });
            }
            Purpose::Return if answered => {
                self.propose(Wanted::For(me.clone()), Kind::TakeBack { name: me });
            }
            Purpose::Return => {}
        }
    }

    /// Wants a change of the roster, unless it makes no sense.
    pub(super) fn propose(&mut self, wanted: Wanted, kind: Kind) {
        self.propose_but(wanted, kind, BTreeMap::new());
    }

    pub(super) fn propose_but(
        &mut self,
        wanted: Wanted,
        kind: Kind,
        refused: BTreeMap<String, String>,
    ) {
        let change = self.change(kind);
        match change.ok_or(Refusal::NoRoster).and_then(|change| {
            let next = self.next(&change)?;
            Ok((change, next))
        }) {
            Ok((change, next)) => {
                let proposal = Proposal {
                    wanted,
                    change,
                    next,
                    tokens_before: self.current.as_ref().map_or(0, Roster::tokens),
                    refused,
                    turn: 0,
                    times: None,
                };
                self.proposals.insert(proposal.change.id, proposal);
            }
            Err(why) => {
                if let Wanted::Key(_) = wanted {
                    self.forget_new_key();
                }
                self.refuse(wanted, why);
            }
        }
    }

    pub(super) fn change(&self, kind: Kind) -> Option<Change> {
        self.current.as_ref().map(|roster| Change {
            id: (self.random)(),
            version: roster.version,
            settled: self.settled == roster.version,
            kind,
        })
    }

    /// The roster after a change, unless the ring could not run by it.
    pub(super) fn next(&self, change: &Change) -> Result<Roster, Refusal> {
        let roster = self.current.as_ref().ok_or(Refusal::NoRoster)?;
        roster.decide(change)
    }

    /// When a voter is asked for a change, or it is given up.
    pub(super) fn proposal_timeout(&self) -> Option<Duration> {
        let times = self.proposals.values().map(|proposal| proposal.times);
        let next =
            times.map(|times| times.map_or(Duration::ZERO, |(again, until)| again.min(until)));
        next.min()
    }

    /// Asks one voter after the other for what is not decided yet: this one first.
    pub(super) fn advance_proposals(&mut self, now: Duration) {
        let due = |proposal: &Proposal| {
            let times = proposal.times;
            times.is_none_or(|(again, until)| now >= again || now >= until)
        };
        let ids = self.proposals.iter().filter(|(_, one)| due(one));
        for id in ids.map(|(id, _)| *id).collect::<Vec<_>>() {
            let Some(proposal) = self.proposals.get_mut(&id) else {
                continue;
            };
            let (_, until) = proposal.times.unwrap_or((now, now + PROPOSE_FOR));
            if now >= until {
                self.end_proposal(id, Err(Refusal::Undecided(TOO_FEW.to_owned())));
                continue;
            }
            proposal.times = Some((now + PATIENCE, until));
            let (turn, change) = (proposal.turn, proposal.change.clone());
            proposal.turn += 1;
            // The next time another one, too: it may reach those that this one does not.
            if self.campaign_for(now, change.clone()) && turn == 0 {
                continue;
            }
            let asked = {
                let me = &self.settings.node.name;
                let voters = self.current.iter().flat_map(Roster::voters);
                let mut others = voters.filter(|voter| voter.name != *me);
                let all = others.clone().count().max(1);
                others.nth(turn % all).map(|voter| voter.address.clone())
            };
            if let Some(address) = asked {
                self.wish(&address, &change);
            }
        }
    }

    /// There is another roster: whoever wanted a change hears what has become of it.
    pub(super) fn answer_proposals(&mut self) {
        let Some(roster) = &self.current else { return };
        let over = self.proposals.iter();
        let over = over.filter(|(_, proposal)| proposal.change.version < roster.version);
        let over = over.map(|(id, proposal)| {
            let passed = roster.version - proposal.change.version;
            (*id, roster.made.contains(id), passed > MAX_MADE as u64)
        });
        for (id, made, forgotten) in over.collect::<Vec<_>>() {
            let result = match (made, forgotten) {
                (true, _) => Ok(()),
                (false, true) => Err(Refusal::Undecided(TOO_FEW.to_owned())),
                (false, false) => Err(Refusal::Superseded),
            };
            self.end_proposal(id, result);
        }
    }

    fn end_proposal(&mut self, id: u64, result: Result<(), Refusal>) {
        let Some(proposal) = self.proposals.remove(&id) else {
            return;
        };
        let Proposal {
            wanted,
            next,
            tokens_before,
            refused,
            ..
        } = proposal;
        match (result, wanted) {
            (Ok(()), Wanted::By(request) | Wanted::Key(request)) => {
                let changed = Changed {
                    refused,
                    ..changed(&next, tokens_before)
                };
                let reply = Ok(Answer::Changed(changed));
                self.effects.push_back(Effect::Reply(request, reply));
            }
            (Ok(()), _) => {}
            // What this node wanted for itself it wants again if need be.
            (Err(Refusal::Superseded), Wanted::For(_) | Wanted::Upgrade | Wanted::Disk) => {}
            (Err(why), wanted) => {
                match (&wanted, &why) {
                    (Wanted::For(_), Refusal::Undecided(_)) => {
                        self.effects.push_back(Effect::NoMajority);
                    }
                    (Wanted::Key(_), Refusal::Superseded) => self.forget_new_key(),
                    _ => {}
                }
                self.refuse(wanted, why);
            }
        }
    }

    pub(super) fn refuse(&mut self, wanted: Wanted, why: Refusal) {
        match wanted {
            Wanted::By(request) | Wanted::Key(request) => {
                self.effects.push_back(Effect::Reply(request, Err(why)));
            }
            Wanted::Disk => {}
            Wanted::Upgrade => tracing::warn!(%why, "the next wire format has to wait"),
            Wanted::For(name) => {
                let alarm = Alarm::NoBypass { name, why };
                self.alarms
                    .clear(|old| matches!(old, Alarm::NoBypass { .. }) && *old != alarm);
                self.alarms.raise(alarm);
            }
        }
    }
}
