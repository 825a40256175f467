//! Whether this node is still on the ring, asked anew before every permit is used.
//!
//! A node that was paused, suspended or cut off finds old datagrams when it goes on, and may
//! take a token from them that has long been elsewhere, because the ring has closed without
//! it. So it asks both neighbours first, with a number that nobody can guess, and waits until
//! both repeat it, still have the same roster, and know of no later fencing number of its
//! token: a machine that was restored with its memory has the same roster, too. From then on they wait for its permit
//! before they begin on another roster ([`Membership::is_free`]), for as long as a permit
//! lasts at most; its time is counted from the question.

use std::collections::BTreeSet;
use std::time::Duration;

use super::control::{Message, Sender};
use super::roster::Member;
use super::{Effect, Membership};
use crate::permits::Grant;

/// A permit that waits for the neighbours.
#[derive(Clone, Debug)]
pub(super) struct Challenge {
    grant: Grant,
    nonce: u64,
    since: Option<Duration>,
    again: Duration,
    /// Neighbours that have not answered.
    missing: BTreeSet<String>,
}

impl Membership {
    /// Asks the neighbours whether a permit may be used: [`Effect::Confirmed`] is the answer.
    pub(crate) fn challenge(&mut self, now: Duration, grant: Grant) {
        if self.challenges.iter().any(|asked| asked.grant == grant) {
            return;
        }
        self.challenges.push(Challenge {
            grant,
            nonce: 0,
            // Not asked yet, as if it had been long ago.
            since: None,
            again: now,
            missing: BTreeSet::new(),
        });
        self.ask_neighbours(now);
    }

    /// A permit is not to be used any more. Whether it still waited for an answer.
    pub(crate) fn drop_challenge(&mut self, grant: Grant) -> bool {
        let at = self
            .challenges
            .iter()
            .position(|asked| asked.grant == grant);
        at.map(|at| self.challenges.remove(at)).is_some()
    }

    /// No permit of before is to be used any more.
    pub(crate) fn drop_challenges(&mut self) {
        self.challenges.clear();
    }

    /// Permits that wait for an answer.
    pub(crate) fn challenged(&self) -> Vec<Grant> {
        self.challenges.iter().map(|asked| asked.grant).collect()
    }

    /// Asks those that have not answered. Answers to a question of long ago say nothing of
    /// now, also if this node was paused and finds them only now: then all are asked anew.
    pub(super) fn ask_neighbours(&mut self, now: Duration) {
        let Some(roster) = &self.current else { return };
        let timing = roster.terms.timing();
        let fresh_for = timing.heartbeat_timeout.min(roster.max_hold());
        let beside = roster.around(&self.settings.node.name);
        for asked in &mut self.challenges {
            if asked.since.is_none_or(|since| now >= since + fresh_for) {
                asked.nonce = (self.random)();
                (asked.since, asked.again) = (Some(now), now);
                let names = beside
                    .into_iter()
                    .flatten()
                    .map(|member| member.name.clone());
                asked.missing = names.collect();
            }
            if now < asked.again {
                continue;
            }
            asked.again = now + timing.refresh;
            let (nonce, grant) = (asked.nonce, asked.grant);
            let members = asked.missing.iter().filter_map(|name| roster.member(name));
            let addresses = members.map(|Member { address, .. }| address.clone());
            let questions = addresses.map(|address| (address, Message::Ask { nonce, grant }));
            self.outbox.extend(questions);
        }
    }

    /// Answers whoever asks about a permit: whether its token has gone on since.
    pub(crate) fn answer(&mut self, address: String, nonce: u64, later: bool) {
        self.outbox
            .push_back((address, Message::Echo { nonce, later }));
    }

    /// A neighbour has answered; with another roster, it will tell, or be told. One that does
    /// not hear its own neighbours may have been left out as well.
    pub(super) fn handle_echo(&mut self, now: Duration, nonce: u64, later: bool, sender: &Sender) {
        self.ask_neighbours(now);
        if sender.mark != self.exchange.mark() || !sender.on_ring {
            return;
        }
        for asked in self
            .challenges
            .iter_mut()
            .filter(|asked| asked.nonce == nonce)
        {
            match later {
                true if asked.missing.contains(&sender.name) => {
                    self.effects.push_back(Effect::Overtaken);
                }
                true => {}
                false => drop(asked.missing.remove(&sender.name)),
            }
        }
        let effects = &mut self.effects;
        self.challenges.retain(|asked| {
            let (grant, since) = (asked.grant, asked.since.unwrap_or(now));
            if asked.missing.is_empty() {
                effects.push_back(Effect::Confirmed { grant, since });
            }
            !asked.missing.is_empty()
        });
    }

    /// When the neighbours are asked again.
    pub(super) fn challenge_timeout(&self) -> Option<Duration> {
        self.challenges.iter().map(|asked| asked.again).min()
    }
}
