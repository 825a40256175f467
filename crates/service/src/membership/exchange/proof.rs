//! Which rosters are believed: those that more than half of the keepers whom this node knows have
//! signed, or the operator (`Trust`). One member alone, whatever it signs, is not believed.
//!
//! If most keepers are others than those whom this node knows, because it was away, it asks for
//! the links between its roster and today's, and goes along them ([`Link`]).

use std::time::Duration;

use super::Exchange;
use crate::identity::{SignerKey, Vouch};
use crate::membership::control::{MAX_VOUCHES, Message, Sender};
use crate::membership::roster::{Link, Mark, Roster, Signed};

impl Exchange {
    /// The keeper here has decided upon a roster, and signs it. It counts when enough others
    /// have signed it, too. Others may need its signature although it does not count here: those
    /// who know the roster that made this node a keeper, which this node may have passed over.
    pub(crate) fn decide(&mut self, mut signed: Signed, own: impl FnOnce(&[u8]) -> Vec<Vouch>) {
        let mark = signed.mark();
        let known = self.decided.as_ref().map(Signed::mark);
        if known == Some(mark) {
            return;
        }
        let Some(trust) = &self.trust else {
            if mark.replaces(&self.mark()) {
                self.take(signed);
            }
            return;
        };
        let vouches = own(&mark.message());
        if let Some(have) = self.own.as_mut().filter(|have| have.mark() == mark) {
            for vouch in vouches {
                have.add(vouch);
            }
            return;
        }
        if !mark.replaces(&self.mark()) {
            return;
        }
        for (by, signature) in vouches {
            signed.add((by, signature));
            if trust.covers(&by) {
                self.vouches.insert(by, (mark, signature));
            }
        }
        self.decided = Some(signed);
        self.conclude();
    }

    /// A roster that was decided upon here and waits for others, and who has signed it.
    pub(crate) fn pending(&self) -> Option<(&Roster, Message)> {
        let decided = self.decided.as_ref()?;
        let mark = decided.mark();
        let own: Vec<Vouch> = decided.signatures().collect();
        let others = self.proof(&mark).filter(|vouch| !own.contains(vouch));
        let list = own.iter().copied().chain(others).take(MAX_VOUCHES);
        let list = list.collect();
        Some((decided.roster(), Message::Vouches { mark, list }))
    }

    /// Signatures of a roster that would replace this node's.
    pub(super) fn proof(&self, mark: &Mark) -> impl Iterator<Item = Vouch> {
        let vouches = self.vouches.iter();
        let of = *mark;
        let vouches = vouches.filter(move |(_, (mark, _))| *mark == of);
        vouches.map(|(by, (_, signature))| (*by, *signature))
    }

    pub(super) fn is_proven(&self, mark: &Mark) -> bool {
        let signers: Vec<SignerKey> = self.proof(mark).map(|(by, _)| by).collect();
        let trust = self.trust.as_ref();
        *mark == self.reached || trust.is_none_or(|trust| trust.is_enough(&signers))
    }

    fn conclude(&mut self) {
        let mark = self.decided.as_ref().map(Signed::mark);
        if mark.is_some_and(|mark| self.is_proven(&mark))
            && let Some(decided) = self.decided.take()
        {
            self.take(decided);
        }
    }

    /// Somebody tells who has signed a roster. What is not signed by somebody who is trusted
    /// is not even remembered.
    pub(super) fn hear(&mut self, now: Duration, sender: &Sender, mark: Mark, list: &[Vouch]) {
        let Some(trust) = &self.trust else { return };
        if let Some(own) = self.own.as_mut().filter(|own| own.mark() == mark) {
            // For others, who may trust others.
            for vouch in list {
                if trust.covers(&vouch.0) || self.past.covers(&vouch.0) {
                    own.add(*vouch);
                }
            }
            return;
        }
        if !mark.replaces(&self.mark()) {
            return;
        }
        let message = mark.message();
        for (by, signature) in list {
            let known = self.vouches.get(by);
            let known = known.is_some_and(|(known, _)| *known == mark || known.replaces(&mark));
            if trust.covers(by) && !known && by.verify(&message, signature) {
                self.vouches.insert(*by, (mark, *signature));
            }
        }
        self.conclude();
        match sender.mark == mark && mark.replaces(&self.mark()) {
            true if self.is_proven(&mark) => self.pursue(now, sender),
            true => self.unproven = Some((sender.name.clone(), mark.version)),
            false => {}
        }
    }

    /// Somebody asks for what proves the own roster: the next link, or, if there is none,
    /// signatures.
    pub(super) fn prove(&mut self, address: &str, after: u64) {
        let Some(own) = &self.own else { return };
        let mut links = own.links().iter();
        if let Some(link) = links.find(|link| link.mark.version > after) {
            let link = Message::Link(link.clone());
            return self.send(address, link);
        }
        let (mark, signatures) = (own.mark(), Vec::from_iter(own.signatures()));
        for list in signatures.chunks(MAX_VOUCHES) {
            let list = list.to_vec();
            self.send(address, Message::Vouches { mark, list });
        }
    }

    /// Somebody shows a link. One that does not follow from what this node believes is passed
    /// over: another one may, if somebody has jumped from roster to roster.
    pub(super) fn walk(&mut self, now: Duration, sender: &Sender, link: &Link) {
        let Some(trust) = &self.trust else { return };
        if link.mark.version <= self.reached.version {
            return;
        }
        if link.follows(trust) {
            self.trust = Some(link.trust.clone());
            self.reached = link.mark;
            self.walked.push(link.clone());
            self.conclude();
        }
        match sender.mark.replaces(&self.mark()) {
            true if self.is_proven(&sender.mark) => self.pursue(now, sender),
            true => {
                let after = link.mark.version;
                self.send(&sender.address, Message::Prove { after });
            }
            false => {}
        }
    }
}
