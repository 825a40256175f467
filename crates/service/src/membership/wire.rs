//! What all members go by, where this node was told otherwise, and which version of the wire format
//! everybody speaks.
//!
//! A program speaks its own version and the one before, and writes the roster's. When every member
//! has said that it speaks the next one, the first member proposes that. Whatever a version adds
//! (messages, fields of rosters, kinds of entries in their log) is written only where the roster
//! has that version: programs of the one before read all of it.

use headway_node::wire::oldest;

use super::Membership;
use super::control::{Refused, Sender};
use super::decision::Kind;
use super::poll::Wanted;
use super::roster::{Roster, Terms, TermsChange};
use crate::agent::alarm::Alarm;
use crate::request::{Refusal, RequestId};

impl Membership {
    /// The roster counts, whatever the file says.
    pub(super) fn report_differences(&self) {
        let unlike = self.differences();
        if !unlike.is_empty() {
            tracing::warn!(
                ?unlike,
                "the ring goes by its membership, not by this file: `headway node set` changes it"
            );
        }
    }

    /// What the file says otherwise than the roster.
    pub(crate) fn differences(&self) -> Vec<String> {
        let roster = self.current.as_ref();
        let unlike = roster.map(|roster| self.settings.terms().differences(&roster.terms));
        unlike.unwrap_or_default()
    }

    /// Somebody wants other terms.
    pub(crate) fn handle_set(&mut self, request: RequestId, change: &TermsChange) {
        match &self.current {
            Some(roster) => {
                let terms = roster.terms.with(change);
                self.propose(Wanted::By(request), Kind::Set(terms));
            }
            None => self.refuse(Wanted::By(request), Refusal::NoRoster),
        }
    }

    /// What a sender speaks.
    pub(super) fn note_wire(&mut self, sender: &Sender) {
        let Some(roster) = &self.current else { return };
        let name = &sender.name;
        if roster.member(name).is_some() {
            let wire = roster.terms.wire;
            self.speaks.insert(name.clone(), sender.newest);
            let alarm = Alarm::TooOld(name.clone(), wire);
            self.alarms.set(sender.newest < wire, alarm);
        }
    }

    /// A node that takes no part should know that others speak otherwise.
    pub(super) fn note_refused(&mut self, reason: Refused) {
        if let Refused::Wire(theirs) = reason
            && !self.standing.taking_part
        {
            let newest = self.newest;
            self.alarms.raise(Alarm::OtherWire { theirs, newest });
        }
    }

    /// Why this program cannot take part in a roster's ring, if it does not speak its version.
    pub(super) fn other_wire(&self, roster: &Roster) -> Option<Alarm> {
        let (wire, newest) = (roster.terms.wire, self.newest);
        let speaks = (oldest(newest)..=newest).contains(&wire);
        (!speaks).then_some(Alarm::NoWire { wire, newest })
    }

    /// The terms with the next version, if it is this node's turn to propose them: one does it
    /// for all, when nobody is on the way from ring to ring.
    pub(super) fn upgrade(&self, roster: &Roster) -> Option<Terms> {
        let first = roster.active().next()?;
        let turn = first.name == self.settings.node.name && self.settled == roster.version;
        let speaks = self.newest > roster.terms.wire;
        (turn && speaks && self.wire().1.is_empty()).then(|| Terms {
            wire: roster.terms.wire + 1,
            ..roster.terms
        })
    }

    /// The version of the wire format that control datagrams are written in.
    pub(super) fn writes(&self) -> u8 {
        let roster = self.current.as_ref();
        let wire = roster.map_or(0, |roster| roster.terms.wire);
        wire.clamp(oldest(self.newest), self.newest)
    }

    /// The newest version of the wire format that this program speaks, and the members that have
    /// not said that they speak the one that comes after the roster's.
    pub(crate) fn wire(&self) -> (u8, Vec<String>) {
        let Some(roster) = &self.current else {
            return (self.newest, Vec::new());
        };
        let (me, next) = (
            &self.settings.node.name,
            roster.terms.wire.saturating_add(1),
        );
        let speaks = |name: &String| match name == me {
            true => Some(&self.newest),
            false => self.speaks.get(name),
        };
        let members = roster.members.iter().map(|member| &member.name);
        let behind = members.filter(|name| speaks(name).is_none_or(|newest| *newest < next));
        (self.newest, behind.cloned().collect())
    }
}
