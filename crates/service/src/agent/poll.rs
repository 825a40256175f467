//! Asking around: who is there, before a silent member is bypassed, before a
//! bypassed one returns, before a new one is added.
//!
//! A bypass needs more than half of all members, bypassed ones included, to answer,
//! with the same roster. Of two parts of a ring that cannot reach each other at most
//! one has that many, so that at most one ever closes without the other.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::oneshot;

use super::Agent;
use crate::membership::control::{Message, Sender};
use crate::membership::roster::Member;

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
    /// Somebody is to be added.
    Add(Member, Option<String>, oneshot::Sender<Result<u64, String>>),
}

impl Poll {
    pub(super) fn timeout(&self) -> Duration {
        self.ends.min(self.again)
    }
}

impl Agent {
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
        let membership = &self.settings.membership;
        let Some(roster) = &self.current else { return };
        if self.stopping.is_some() {
            return;
        }
        if roster.is_bypassed(&self.settings.node.name) {
            self.ask(now, Purpose::Return);
            return;
        }
        if !membership.bypass || self.machine.is_none() {
            return;
        }
        let after = membership.bypass_after;
        let silent = self.silent_since.iter();
        let mut long = silent.filter(|(_, since)| now.saturating_sub(**since) >= after);
        if let Some(name) = long.next().map(|(name, _)| name.clone()) {
            self.ask(now, Purpose::Bypass(name));
        }
    }

    /// Adds a member once it has answered.
    pub(super) fn ask_to_add(
        &mut self,
        now: Duration,
        member: Member,
        after: Option<String>,
        reply: oneshot::Sender<Result<u64, String>>,
    ) {
        if self.poll.is_some() {
            let busy = "another change is under way: try again in a moment";
            let _ = reply.send(Err(busy.into()));
            return;
        }
        self.ask(now, Purpose::Add(member, after, reply));
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
        if let Purpose::Add(member, ..) = &poll.purpose {
            self.outbox.push((member.address.clone(), message));
            return;
        }
        for member in &roster.members {
            if member.name != self.settings.node.name && !poll.answered.contains(&member.name) {
                self.outbox.push((member.address.clone(), message.clone()));
            }
        }
    }

    /// Somebody has answered.
    pub(super) fn pong(&mut self, now: Duration, nonce: u64, sender: &Sender) {
        let own = self.exchange.mark();
        let Some(poll) = self.poll.as_mut().filter(|poll| poll.nonce == nonce) else {
            return;
        };
        match &poll.purpose {
            Purpose::Add(member, ..) => {
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
        let Some(poll) = self.poll.take() else { return };
        let Some(roster) = self.current.clone() else {
            return;
        };
        self.poll_again = now + 2 * self.settings.membership.window;
        let members = poll
            .answered
            .iter()
            .filter(|name| roster.member(name).is_some());
        let reached = members.count() + 1;
        let (needed, all) = (roster.majority(), roster.members.len());
        match poll.purpose {
            Purpose::Add(member, after, reply) => {
                let result = if poll.answered.contains(&member.name) {
                    match roster.with(member, after.as_deref()) {
                        Ok(next) => self.propose(now, next),
                        Err(error) => Err(error.to_string()),
                    }
                } else {
                    Err(format!(
                        "{} does not answer at {}: start it first, with this ring's key and \
                         ring.seeds",
                        member.name, member.address
                    ))
                };
                let _ = reply.send(result);
            }
            Purpose::Bypass(name) => {
                if poll.answered.contains(&name) {
                    tracing::warn!(%name, "is silent on the ring but answers: not bypassed");
                } else if reached < needed {
                    self.counts.bypass_refused += 1;
                    let text = format!(
                        "{name} is silent and not bypassed: {reached} of {all} members are \
                         reached, and {needed} are needed"
                    );
                    self.alarms.remove("bypass");
                    self.alarm("bypass", true, || text);
                } else {
                    tracing::warn!(%name, reached, all, "bypassed after long silence");
                    self.bypass(now, &name, true);
                }
            }
            Purpose::Return => {
                let me = self.settings.node.name.clone();
                let Some((before, after)) = roster.around(&me) else {
                    return;
                };
                let beside = [&before.name, &after.name].into_iter();
                if reached >= needed && beside.clone().all(|name| poll.answered.contains(name)) {
                    tracing::info!("comes back to the ring");
                    self.bypass(now, &me, false);
                }
            }
        }
    }

    fn bypass(&mut self, now: Duration, name: &str, bypass: bool) {
        let Some(roster) = &self.current else { return };
        let next = roster
            .bypassing(name, bypass)
            .map_err(|error| error.to_string());
        if let Err(problem) = next.and_then(|next| self.propose(now, next)) {
            self.alarms.remove("bypass");
            self.alarm("bypass", true, || {
                format!("{name} cannot be bypassed: {problem}")
            });
        }
    }
}
