//! Whom a datagram is from, and which keys it goes by.

use std::time::Duration;

use headway_node::{Config, Key};

use super::control::{self, Message, Refused};
use super::poll::Poll;
use super::roster::{Member, Roster};
use super::{Membership, NodeKey};
use crate::agent::alarm::{Alarm, Reason};

/// How often something that nobody has authenticated is listened to, and how much at a time: a
/// stranger makes a node send no more than that, and only to members.
pub(super) const EACH: Duration = Duration::from_millis(20);
pub(super) const BURST: Duration = Duration::from_millis(20 * 16);

/// How somebody stands to this node's roster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peer {
    Member,
    /// It is about to become one, or was one: it may ask and be told, and no more.
    Guest,
}

impl Membership {
    /// A control datagram has arrived.
    pub(crate) fn handle_datagram(&mut self, now: Duration, datagram: &[u8]) {
        let name = control::sender(datagram).unwrap_or_default();
        let (keys, peer) = self.keys_from(name);
        let read = control::read(datagram, self.ring, &keys, self.newest);
        let (mut sender, message) = match read {
            Ok(read) => read,
            Err(reason) => {
                self.note_refused(reason);
                self.reject(Reason::Control(reason));
                return self.handle_unauthenticated(now, datagram);
            }
        };
        let is_for_members = matches!(
            &message,
            Message::Rollouts { .. }
                | Message::Reports { .. }
                | Message::Alive(_)
                | Message::Part(_)
        );
        match peer {
            Some((_, Peer::Guest)) if is_for_members => {
                return self.reject(Reason::Control(Refused::Stranger));
            }
            // Nobody is where it says it is if the roster says something else.
            Some((address, _)) => sender.address = address,
            None => {}
        }
        let is_listed = self.listed().any(|member| member.name == sender.name);
        if is_listed {
            let cloned = self.clones.hear(now, &sender.name, sender.boot);
            let alarm = Alarm::Cloned(sender.name.clone());
            self.alarms.set(cloned, alarm);
        }
        self.handle_message(now, &sender, &message);
    }

    /// While somebody was away, both it and whom it speaks to may have got other keys, so that
    /// neither can authenticate the other. What is said about rosters proves itself, and is
    /// listened to, slowly; an answer goes where the roster says that the other is, or was.
    fn handle_unauthenticated(&mut self, now: Duration, datagram: &[u8]) {
        let claims = control::read_claims(datagram, self.ring, self.newest);
        let Some((mut sender, message)) = claims.ok() else {
            return;
        };
        let about_rosters = match &message {
            Message::Offer
            | Message::Want { .. }
            | Message::Chunk { .. }
            | Message::Prove { .. }
            | Message::Link(_) => true,
            Message::Ping { .. }
            | Message::Pong { .. }
            | Message::Ask { .. }
            | Message::Echo { .. }
            | Message::Rollouts { .. }
            | Message::Reports { .. }
            | Message::Alive(_)
            | Message::Part(_) => false,
        };
        let late = self.unauthenticated.saturating_sub(now) > BURST;
        let news = sender.mark != self.exchange.mark();
        if !about_rosters || late || !news {
            return;
        }
        let Some(member) = self.known(|member| member.name == sender.name) else {
            return;
        };
        sender.address = member.address.clone();
        self.unauthenticated = self.unauthenticated.max(now) + EACH;
        let exchange = &mut self.exchange;
        exchange.handle_unauthenticated(now, &sender, &message);
        self.follow_exchange(now);
    }

    /// Somebody whom a roster names, or named.
    fn known(&self, is_it: impl Fn(&&Member) -> bool) -> Option<&Member> {
        let me = &self.settings.node.name;
        let left = || self.exchange.roster()?.left().iter().find(&is_it);
        let known = self.peer(&is_it).map(|(member, _)| member).or_else(left);
        known.filter(|member| member.name != *me)
    }

    /// The members, or, without a roster, those that the file lists.
    fn listed(&self) -> impl Iterator<Item = &Member> + Clone {
        let file = &self.settings.ring.members;
        let roster = self.current.as_ref().map(|roster| &roster.members);
        roster.unwrap_or(file).iter()
    }

    /// Those that are about to come, or have left.
    fn guests(&self) -> impl Iterator<Item = &Member> {
        let asked = self.poll.iter().flat_map(Poll::new_members);
        let proposed = self.proposals.values();
        let proposed = proposed.flat_map(|proposal| &proposal.next.members);
        let coming = asked.chain(self.invited_guests());
        coming.chain(proposed).chain(self.former.values())
    }

    /// Somebody whose key this node knows.
    fn peer(&self, is_it: impl Fn(&&Member) -> bool) -> Option<(&Member, Peer)> {
        let me = &self.settings.node.name;
        let member = self.listed().find(&is_it).map(|one| (one, Peer::Member));
        let guest = || self.guests().find(&is_it).map(|one| (one, Peer::Guest));
        // This node writes no letters to itself, and nobody else has its name.
        member.or_else(guest).filter(|(one, _)| one.name != *me)
    }

    /// The keys of whoever has this name, where it is and how it stands.
    fn keys_from(&mut self, name: &str) -> (Vec<Key>, Option<(String, Peer)>) {
        let known = self.peer(|member| member.name == name);
        let known = known.and_then(|(member, peer)| {
            let address = member.address.clone();
            Some((member.key?, (address, peer)))
        });
        let Some((key, peer)) = known else {
            return (Vec::new(), None);
        };
        (self.keyring.control(name, &key), Some(peer))
    }

    /// The keys for a datagram to an address: none if nobody is known there.
    pub(super) fn keys_to(&mut self, address: &str) -> Vec<Key> {
        let known = self.known(|member| member.address == address);
        let known = known.and_then(|member| Some((member.name.clone(), member.key?)));
        let Some((name, key)) = known else {
            return Vec::new();
        };
        self.keyring.control(&name, &key)
    }

    /// The keys of the links to both neighbours, before this node and after it.
    pub(crate) fn link_keys(&mut self, config: &Config) -> Option<[Key; 2]> {
        let own = self.own_key()?;
        let mut key = |node| {
            let member = self.member_at(node)?;
            let (name, key) = (member.name.clone(), member.key?);
            self.keyring.hop(&own, (&name, &key))
        };
        Some([key(config.predecessor())?, key(config.successor())?])
    }

    /// The key that the roster has for this node.
    pub(super) fn own_key(&self) -> Option<NodeKey> {
        let roster = self.current.as_ref()?;
        roster.member(&self.settings.node.name)?.key
    }

    /// There is a new roster: who has left it is still told so, for a while.
    pub(super) fn follow_peers(&mut self, old: Option<&Roster>, new: &Roster) {
        let left = old.iter().flat_map(|old| &old.members);
        let left = left.filter(|member| new.member(&member.name).is_none());
        let left = left.map(|member| (member.name.clone(), member.clone()));
        self.former.extend(left);
        self.former.retain(|name, _| new.member(name).is_none());
        self.clones.retain(|name| new.member(name).is_some());
    }
}
