//! Whether this node is still on the ring, asked anew before every permit is used.
//!
//! A node that was paused, suspended or cut off finds old datagrams when it goes on, and may
//! take a token from them that has long been elsewhere, because the ring has closed without
//! it. So it asks both neighbours first, with a number that nobody can guess, and waits until
//! both repeat it and still have the same roster. From then on they wait for its permit
//! before they begin on another roster ([`Membership::is_free`]), for as long as a permit
//! lasts at most; its time is counted from the question.

use std::collections::BTreeSet;
use std::time::Duration;

use super::control::{Message, Sender};
use super::roster::Member;
use super::{Effect, Membership};
use crate::permits::Grant;

/// A permit that waits for the neighbours.
#[derive(Debug)]
pub(super) struct Challenge {
    grant: Grant,
    nonce: u64,
    since: Duration,
    again: Duration,
    /// Neighbours that have not answered.
    missing: BTreeSet<String>,
}

impl Membership {
    /// Asks the neighbours whether a permit may be used: [`Effect::Confirmed`] is the answer.
    pub(crate) fn challenge(&mut self, now: Duration, grant: Grant) {
        let me = &self.settings.node.name;
        let beside = self.current.as_ref().and_then(|roster| roster.around(me));
        let names = beside.into_iter().flatten();
        let missing = names.map(|member| member.name.clone()).collect();
        self.challenges.push(Challenge {
            grant,
            nonce: (self.random)(),
            since: now,
            again: now,
            missing,
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

    /// Permits that wait for an answer.
    pub(crate) fn challenged(&self) -> Vec<Grant> {
        self.challenges.iter().map(|asked| asked.grant).collect()
    }

    /// Asks those again that have not answered.
    pub(super) fn ask_neighbours(&mut self, now: Duration) {
        let Some(roster) = &self.current else { return };
        for asked in &mut self.challenges {
            if now < asked.again {
                continue;
            }
            asked.again = now + self.settings.timing.refresh;
            let nonce = asked.nonce;
            let members = asked.missing.iter().filter_map(|name| roster.member(name));
            let addresses = members.map(|Member { address, .. }| address.clone());
            let pings = addresses.map(|address| (address, Message::Ping { nonce }));
            self.outbox.extend(pings);
        }
    }

    /// A neighbour has answered; with another roster, it will tell, or be told.
    pub(super) fn handle_echo(&mut self, nonce: u64, sender: &Sender) {
        if sender.mark != self.exchange.mark() {
            return;
        }
        for asked in self
            .challenges
            .iter_mut()
            .filter(|asked| asked.nonce == nonce)
        {
            asked.missing.remove(&sender.name);
        }
        let effects = &mut self.effects;
        self.challenges.retain(|asked| {
            if asked.missing.is_empty() {
                let (grant, since) = (asked.grant, asked.since);
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
