//! Asking around: who is there, before a silent member is bypassed, before a
//! bypassed one returns, before a new one is added.
//!
//! A bypass needs more than half of all members, bypassed ones included, to answer,
//! with the same roster. Of two parts of a ring that cannot reach each other at most
//! one has that many, so that at most one ever closes without the other.

use std::collections::BTreeSet;
use std::time::Duration;

use super::control::{Message, Sender};
use super::roster::{Bypass, Member, Roster};
use super::{Effect, Membership};
use crate::agent::alarm::Alarm;
use crate::request::{Refusal, RequestId};

/// A question that is out.
#[derive(Debug)]
pub(super) struct Poll {
    nonce: u64,
    purpose: Purpose,
    ends: Duration,
    again: Duration,
    answered: BTreeSet<String>,
}

#[derive(Debug)]
enum Purpose {
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
}

impl Poll {
    pub(super) fn timeout(&self) -> Duration {
        self.ends.min(self.again)
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
        if self.standing.stopping {
            return;
        }
        if roster.is_bypassed(&self.settings.node.name) {
            return self.ask(now, Purpose::Return);
        }
        let membership = &self.settings.membership;
        if !membership.bypass || !self.standing.taking_part {
            return;
        }
        // Never before its permit is over, whatever the file says.
        let after = membership.bypass_after.max(roster.longest_permit());
        let long = |since: Duration| now.saturating_sub(since) >= after;
        let mut silent = self.silent_since.iter();
        if let Some((name, _)) = silent.find(|(_, since)| long(**since)) {
            self.ask(now, Purpose::Bypass(name.clone()));
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
        let purpose = Purpose::Add {
            request,
            member,
            after,
        };
        self.ask(now, purpose);
    }

    fn ask(&mut self, now: Duration, purpose: Purpose) {
        self.poll = Some(Poll {
            nonce: (self.random)(),
            purpose,
            ends: now + self.settings.membership.window,
            again: now,
            answered: BTreeSet::new(),
        });
        self.ping(now);
    }

    fn ping(&mut self, now: Duration) {
        let (Some(poll), Some(roster)) = (&mut self.poll, &self.current) else {
            return;
        };
        poll.again = now + self.settings.membership.window / 4;
        let message = Message::Ping { nonce: poll.nonce };
        if let Purpose::Add { member, .. } = &poll.purpose {
            self.outbox.push_back((member.address.clone(), message));
            return;
        }
        for member in &roster.members {
            if member.name != self.settings.node.name && !poll.answered.contains(&member.name) {
                self.outbox
                    .push_back((member.address.clone(), message.clone()));
            }
        }
    }

    /// Somebody has answered.
    pub(super) fn handle_pong(&mut self, now: Duration, nonce: u64, sender: &Sender) {
        let own = self.exchange.mark();
        let Some(poll) = self.poll.as_mut().filter(|poll| poll.nonce == nonce) else {
            return;
        };
        match &poll.purpose {
            Purpose::Add { member, .. } => {
                if member.name == sender.name {
                    poll.answered.insert(sender.name.clone());
                    self.conclude(now);
                }
            }
            Purpose::Bypass(_) | Purpose::Return => {
                // Somebody with another roster will be told, or will tell.
                if sender.mark == own {
                    poll.answered.insert(sender.name.clone());
                }
            }
        }
    }

    fn conclude(&mut self, now: Duration) {
        let (Some(poll), Some(roster)) = (self.poll.take(), &self.current) else {
            return;
        };
        self.poll_again = now + 2 * self.settings.membership.window;
        let answered = |name: &String| poll.answered.contains(name);
        let members = poll.answered.iter();
        let members = members.filter(|name| roster.member(name).is_some());
        let reached = members.count() + 1;
        let (needed, all) = (roster.majority(), roster.members.len());
        match poll.purpose {
            Purpose::Add {
                request,
                member: Member { name, address, .. },
                ..
            } if !answered(&name) => {
                let refusal = Refusal::Unreachable(name, address);
                self.effects.push_back(Effect::Reply(request, Err(refusal)));
            }
            Purpose::Add {
                request,
                member,
                after,
            } => {
                let next = self.next(|roster| roster.with(member, after.as_deref()));
                let reply = next.and_then(|next| self.propose(now, next));
                self.effects.push_back(Effect::Reply(request, reply));
            }
            Purpose::Bypass(name) if answered(&name) => {
                tracing::warn!(%name, "is silent on the ring but answers: not bypassed");
            }
            Purpose::Bypass(name) if reached < needed => {
                self.effects.push_back(Effect::NoMajority);
                self.no_bypass(Alarm::NoMajority {
                    name,
                    reached,
                    all,
                    needed,
                });
            }
            Purpose::Bypass(name) => {
                tracing::warn!(%name, reached, all, "bypassed after long silence");
                self.bypass(now, &name, Bypass::LeaveOut);
            }
            Purpose::Return => {
                let me = self.settings.node.name.clone();
                let beside = roster.around(&me);
                let heard = |beside: [&Member; 2]| beside.iter().all(|m| answered(&m.name));
                if reached >= needed && beside.is_some_and(heard) {
                    tracing::info!("comes back to the ring");
                    self.bypass(now, &me, Bypass::TakeBack);
                }
            }
        }
    }

    /// There is another roster: what was asked about the last one does not matter any more.
    pub(super) fn drop_poll(&mut self) {
        let poll = self.poll.take();
        if let Some(Purpose::Add { request, .. }) = poll.map(|poll| poll.purpose) {
            let reply = Err(Refusal::Superseded);
            self.effects.push_back(Effect::Reply(request, reply));
        }
    }

    fn bypass(&mut self, now: Duration, name: &str, bypass: Bypass) {
        let next = self.next(|roster: &Roster| roster.bypassing(name, bypass));
        let next = next.and_then(|next| self.keeps_neighbours(next));
        if let Err(why) = next.and_then(|next| self.propose(now, next)) {
            let name = name.to_owned();
            self.no_bypass(Alarm::NoBypass { name, why });
        }
    }

    /// Logged every time.
    fn no_bypass(&mut self, alarm: Alarm) {
        self.alarms
            .clear(|old| matches!(old, Alarm::NoMajority { .. } | Alarm::NoBypass { .. }));
        self.alarms.raise(alarm);
    }
}
