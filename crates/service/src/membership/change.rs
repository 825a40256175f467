//! Changing rosters: from hearing of a new one to having left the old.

use std::collections::BTreeMap;
use std::time::Duration;

use super::roster::{Link, Member, Proved, Roster};
use super::{Effect, Membership};
use crate::agent::alarm::{Alarm, Reason};
use crate::request::{Answer, Changed, Refusal, Reply};

/// On whose word a membership is recovered.
#[derive(Clone, Debug)]
pub enum Word {
    /// Nobody's yet: what would have to be signed?
    Asked,
    /// That of whoever asks on this machine.
    Here,
    /// The operator's, who has signed the roster.
    Operator(Box<[u8; 64]>),
}

/// How long a former neighbour is told of a new roster.
pub(super) const TELL_FOR: Duration = Duration::from_secs(600);

/// A recovered roster's version is so much later: the old voters may have decided what nobody here
/// has heard of.
const RECOVERED: u64 = 1_000;

impl Membership {
    pub(super) fn follow_exchange(&mut self, now: Duration) {
        if self.exchange.poll_adopted() {
            self.adopt(now);
        }
        if let Some(error) = self.exchange.poll_refused() {
            tracing::warn!(%error, "a membership was refused");
            self.reject(Reason::Roster);
        }
        if let Some((name, version)) = self.exchange.poll_unproven() {
            self.alarms.raise(Alarm::Unproven(name, version));
            self.reject(Reason::Roster);
        }
    }

    /// There is a new roster.
    fn adopt(&mut self, now: Duration) {
        let Some(new) = self.exchange.roster().map(|own| own.roster().clone()) else {
            return;
        };
        self.follow_votes(now);
        let old = self.current.as_ref();
        if old.is_some_and(|old| old.identity() == new.identity()) {
            return self.renew(now, new);
        }
        self.effects.push_back(Effect::Adopted);
        let me = &self.settings.node.name;
        tracing::info!(
            version = new.version,
            members = new.members.len(),
            bypassed = new.bypassed.join(", "),
            tokens = new.tokens(),
            separation = new.terms.separation,
            wire = new.terms.wire,
            "a new membership"
        );
        self.previous_until = now + TELL_FOR;
        if new.tokens() < new.terms.tokens {
            tracing::warn!(
                tokens = new.tokens(),
                wanted = new.terms.tokens,
                members = new.active().count(),
                "fewer tokens travel than are wanted: no more fit on these members"
            );
        }
        if let Some(old) = &self.current {
            let listed = old.member(me).map(|member| member.address.clone());
            self.was_listed = listed.or(self.was_listed.take());
            let left = left_beside(old, &new, me);
            if !left.is_empty() {
                let longest = old.longest_permit();
                let over = |name| self.witness.over(name, longest).unwrap_or(now + longest);
                let over = left.keys().map(|name| over(name)).fold(now, Duration::max);
                self.leaving_until = match self.leaving.is_empty() {
                    true => over,
                    false => over.max(self.leaving_until),
                };
                let (names, seconds) = (left.keys(), (over - now).as_secs());
                tracing::info!(?names, seconds, "waits until they use no permit, at most");
            }
            self.leaving.extend(left);
            if let Some(beside) = old.around(me) {
                self.previous.extend(beside.map(Member::entry));
            }
        }
        // Whoever is on the new ring says for itself when it is ready.
        self.leaving.retain(|name, _| new.index(name).is_none());
        // What was asked about the last roster does not matter any more.
        self.poll = self.poll.take().filter(|poll| !poll.is_about_roster());
        self.witness.handle_roster(&new, me);
        self.drop_challenges();
        self.silent_since.clear();
        self.alarms.clear(|alarm| {
            use Alarm::{Cloned, OtherMembers, TwoRings};
            !matches!(alarm, OtherMembers(_) | TwoRings(_) | Cloned(_))
        });
        self.speaks.retain(|name, _| new.member(name).is_some());
        let old = self.current.replace(new.clone());
        self.follow_peers(old.as_ref(), &new);
        self.follow_guests(&new);
        self.check_own_key();
        self.answer_proposals();
        // The neighbours hear of it at once.
        self.next_offer = now;
    }

    /// There is a new roster of the same ring: a voter has another disk.
    fn renew(&mut self, now: Duration, new: Roster) {
        tracing::info!(version = new.version, "a voter has another disk");
        let old = self.current.replace(new);
        if old.is_some_and(|old| old.version == self.settled) {
            self.settled = self.current.as_ref().map_or(0, |new| new.version);
        }
        self.answer_proposals();
        self.next_offer = now;
    }

    /// Goes on without the voters that decide, on somebody's word that most of them are gone for
    /// good: on that of an operator whom the roster names, and then all members believe it; or of
    /// somebody on this machine, and then only this node does.
    pub(crate) fn recover(&mut self, now: Duration, gone: &[String], word: Word) -> Reply {
        let roster = self.current.as_ref().ok_or(Refusal::NoRoster)?;
        let mut next = roster.clone();
        for name in gone {
            next = next.without(name)?;
        }
        let me = &self.settings.node.name;
        let lost = |voter: &Member| match voter.name == *me {
            true => self.voting.unlisted(me).is_some(),
            false => self.voting.is_mute(roster, voter),
        };
        let left = roster.voters();
        let left = left.filter(|voter| !gone.contains(&voter.name) && !lost(voter));
        let (left, all) = (left.count(), roster.voters().count());
        if 2 * left > all {
            return Err(Refusal::Majority(left, all));
        }
        if next.members.len() < 2 {
            return Err(Refusal::Alone);
        }
        next.plan()?;
        next.version = roster.version.saturating_add(RECOVERED);
        next.longest_before_ms = roster.longest_permit().as_millis() as u64;
        (next.formed, next.recovered) = (next.version, next.version);
        (next.storages, next.made) = Default::default();
        (next.before, next.left) = Default::default();
        let changed = changed(&next, roster.tokens());
        let operator = next.operator;
        let next = Proved::new(next);
        let signature = match word {
            Word::Asked => {
                let text = String::from_utf8_lossy(next.bytes());
                return Ok(Answer::Unsigned(text.into_owned()));
            }
            Word::Operator(signature) => {
                let by = operator.ok_or(Refusal::NoOperator)?;
                if !by.verify(&next.mark().recovery(), &signature) {
                    return Err(Refusal::NotSigned);
                }
                Some(*signature)
            }
            Word::Here => None,
        };
        let link = Link::recovered(&next, signature);
        self.exchange.decide(next, link);
        self.follow_exchange(now);
        Ok(Answer::Changed(changed))
    }

    /// Tells whoever should know which roster this node has.
    pub(super) fn offer(&mut self, now: Duration) {
        let me = &self.settings.node.name;
        let mut to = self.leaving.clone();
        if now < self.previous_until {
            to.extend(self.previous.clone());
        } else {
            self.former.clear();
        }
        if let Some(roster) = &self.current {
            to.extend(roster.around(me).into_iter().flatten().map(Member::entry));
            // One other in turn: news reach even those whose neighbours are gone.
            self.rotation = (self.rotation + 1) % roster.members.len().max(1);
            to.extend(roster.members.get(self.rotation).map(Member::entry));
        }
        to.remove(me);
        for address in to.values() {
            self.exchange.offer(address);
        }
        if !self.standing.taking_part {
            for address in &self.seeds {
                self.exchange.offer(address);
            }
        }
    }
}

/// What somebody is told of a new roster.
pub(super) fn changed(roster: &Roster, tokens_before: u32) -> Changed {
    Changed {
        version: roster.version,
        tokens: roster.tokens(),
        tokens_before,
        tokens_wanted: roster.terms.tokens,
        separation: roster.terms.separation,
        members: roster.active().count(),
        ..Changed::default()
    }
}

/// The members that are no longer on the ring between `me` and the nearest members
/// that are, on either side.
fn left_beside(old: &Roster, new: &Roster, me: &str) -> BTreeMap<String, String> {
    let ring: Vec<&Member> = old.active().collect();
    let Some(at) = ring.iter().position(|member| member.name == me) else {
        return BTreeMap::new();
    };
    let after = (1..ring.len()).map(|far| ring[(at + far) % ring.len()]);
    let before = (1..ring.len()).map(|far| ring[(at + ring.len() - far) % ring.len()]);
    let gone = |member: &&Member| new.index(&member.name).is_none();
    let gone = after.take_while(gone).chain(before.take_while(gone));
    gone.map(Member::entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::roster::Bypass;
    use crate::membership::roster::tests::roster;

    #[test]
    fn the_members_beside_those_who_left_wait_for_all_of_them() {
        let old = roster(&["a", "b", "c", "d", "e"]);
        let new = old.without("c").unwrap().without("d").unwrap();
        let waits = |me| -> Vec<String> { left_beside(&old, &new, me).into_keys().collect() };
        assert_eq!(waits("b"), ["c", "d"]);
        assert_eq!(waits("e"), ["c", "d"]);
        assert!(waits("a").is_empty());
        // Bypassed counts as gone, too.
        let new = old.bypassing("a", Bypass::LeaveOut).unwrap();
        let waits: Vec<String> = left_beside(&old, &new, "e").into_keys().collect();
        assert_eq!(waits, ["a"]);
    }
}
