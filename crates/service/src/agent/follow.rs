//! What one of the machines says is passed on to the others, or to the outside.

use std::time::Duration;

use super::alarm::{Alarm, Reason};
use super::{Agent, Effect, rules};
use crate::membership::{self, Standing};
use crate::permits;
use crate::position;
use crate::request::Answer;

/// How many steps one call leads to at most; the rest follows with the next call.
const MAX_STEPS: usize = 256;

impl Agent {
    /// Passes on what one call has brought until nothing is left. A new roster comes first:
    /// nothing more is granted by the old one.
    pub(super) fn follow_up(&mut self, now: Duration) {
        self.unsent = true;
        for _ in 0..MAX_STEPS {
            self.follow_rollouts(now);
            if let Some(effect) = self.membership.poll_effect() {
                self.follow_membership(now, effect);
            } else if let Some(effect) = self.permits.poll_effect() {
                self.follow_permits(now, effect);
            } else if let Some(effect) = self.position.poll_effect(now) {
                self.follow_position(now, effect);
            } else if !self.take_position(now) {
                break;
            }
        }
        self.membership.set_standing(Standing {
            taking_part: self.position.machine().is_some(),
            on_ring: self.position.is_on_ring(),
            settled: self.position.is_settled(),
            idle: self.permits.permits().next().is_none(),
            stopping: self.stopping.is_some(),
        });
    }

    fn follow_position(&mut self, now: Duration, effect: position::Effect) {
        match effect {
            position::Effect::Granted(grant) => {
                self.counts.permits += 1;
                if self.permits.wants(grant) {
                    self.membership.challenge(now, grant);
                } else {
                    self.grant(now, grant, now);
                }
            }
            position::Effect::Withdrawn(grant) => {
                if self.membership.drop_challenge(grant) {
                    self.position.handle_done(now, grant);
                } else {
                    self.permits.handle_withdrawn(now, grant);
                }
            }
            position::Effect::RolledBack => self.put_back(now),
            position::Effect::Settled { since } => {
                self.doubts.clear(|_| true);
                let took = since.map(|since| now.saturating_sub(since));
                self.counts.settled(took);
                let after_ms = took.map(|took| took.as_millis() as u64);
                tracing::info!(after_ms, "settled");
            }
            position::Effect::Unsettled => {
                tracing::warn!("not settled: no new permits until the ring is legitimate again");
            }
            position::Effect::Silent { node } => self.membership.handle_neighbour(now, node, true),
            position::Effect::Heard { node } => self.membership.handle_neighbour(now, node, false),
            position::Effect::Rejected { reason, count } => {
                self.rejections.add(now, Reason::Ring(reason), count);
            }
        }
    }

    /// The others have heard of later hand-overs of this node than it knows of.
    fn put_back(&mut self, now: Duration) {
        self.doubts.raise(Alarm::RolledBack);
        self.membership.handle_rolled_back(now);
        self.bar(now);
        self.leave(now);
    }

    fn follow_permits(&mut self, now: Duration, effect: permits::Effect) {
        match effect {
            permits::Effect::Done(grant) => self.position.handle_done(now, grant),
            permits::Effect::Wanted(grant) => self.position.handle_wanted(now, grant),
            permits::Effect::StartCommand(permit) => self.tell(Effect::StartCommand(permit)),
            permits::Effect::StartStep(permit) => self.start_step(now, permit),
            permits::Effect::StopCommand(grant) => self.tell(Effect::StopCommand(grant)),
            permits::Effect::Given(id, given) => {
                self.tell(Effect::Reply(id, Ok(Answer::Permit(given))));
            }
            permits::Effect::CommandEnded(id, outcome) => {
                self.tell(Effect::Reply(id, Ok(Answer::CommandEnded(outcome))));
            }
            permits::Effect::Refused(id, why) => self.tell(Effect::Reply(id, Err(why))),
            permits::Effect::Ended(used) => self.counts.permit_ended(&used),
        }
    }

    fn follow_membership(&mut self, now: Duration, effect: membership::Effect) {
        match effect {
            membership::Effect::Keep(roster) => {
                self.effects.push_back(Effect::KeepRoster(roster));
            }
            membership::Effect::Adopted => {
                self.leave(now);
                self.rollouts.handle_roster();
                let rules = rules(&self.settings, self.membership.roster());
                self.permits.set_rules(now, rules);
            }
            membership::Effect::KeepIdentity(identities) => {
                self.effects.push_back(Effect::KeepIdentity(identities));
            }
            membership::Effect::Confirmed { grant, since } => {
                let mut used = self.permits.permits().map(|permit| permit.grant);
                let is_used = used.any(|used| used == grant);
                drop(used);
                if self.position.handle_begun(grant, since) {
                    self.grant(now, grant, since);
                } else if !is_used {
                    // It was asked back meanwhile, and nobody has used it.
                    self.position.handle_done(now, grant);
                }
            }
            membership::Effect::Asked {
                address,
                nonce,
                grant,
            } => {
                let later = self.position.knows_later(grant);
                self.membership.answer(address, nonce, later);
            }
            membership::Effect::Overtaken => self.put_back(now),
            membership::Effect::Reply(id, reply) => self.tell(Effect::Reply(id, reply)),
            membership::Effect::Rejected(reason) => self.rejections.add(now, reason, 1),
            membership::Effect::NoMajority => self.counts.bypass_refused += 1,
            membership::Effect::Rollouts(name, address, bytes) => {
                let (unix_ms, from) = (self.unix_ms(now), (&*name, &*address));
                self.rollouts
                    .handle_news(&self.membership, unix_ms, from, &bytes);
            }
        }
    }
}
