//! What members tell each other beside rosters: who is silent, who works, how rollouts stand.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::Membership;
use super::control::Message;
use super::roster::Member;
use crate::reports::{Report, Unheard, Working};
use crate::rollouts::Members as _;

impl Membership {
    /// Says who is silent here and what works; the node's time began at `epoch`, since 1970.
    pub(crate) fn say(&mut self, now: Duration, epoch: Duration, works: Vec<(String, u64)>) {
        let unix_ms = |at: Duration| epoch.saturating_add(at).as_millis() as u64;
        let silent = self.silent_since.iter();
        let silent: Vec<(String, u64)> = silent
            .map(|(name, since)| (name.clone(), unix_ms(*since)))
            .collect();
        let me = &self.settings.node.name;
        self.reports.say(now, unix_ms(now), me, silent, works);
        self.pass_on();
    }

    /// Somebody passes on what a member says. Each speaks for itself only; and whoever makes up
    /// names would fill everybody's memory.
    pub(super) fn handle_report(&mut self, now: Duration, report: Report) {
        let (by, me) = (&*report.by, &*self.settings.node.name);
        if by != me
            && self.has(by)
            && self.reports.is_new(&report)
            && self.has_signed(by, &report.message(), &report.signature)
        {
            self.reports.learn(now, report);
        }
    }

    pub(super) fn pass_on(&mut self) {
        while let Some(mut report) = self.reports.poll_news() {
            if report.by == self.settings.node.name {
                report.signature = self.sign(&report.message());
            }
            let bytes = serde_json::to_vec(&report).unwrap_or_default();
            for address in self.peers().0 {
                let bytes = bytes.clone();
                self.outbox.push_back((address, Message::Reports { bytes }));
            }
        }
    }

    /// Members that somebody does not hear, and those that use a permit.
    pub(crate) fn reports(&self, unix_ms: u64) -> (Vec<Unheard>, Vec<Working>) {
        let roster = self.current.as_ref();
        let listed = |name: &str| roster.is_some_and(|roster| roster.index(name).is_some());
        let mut unheard = self.reports.unheard(unix_ms);
        unheard.retain(|one| listed(&one.name));
        let mut working = self.reports.working(unix_ms);
        working.retain(|one| listed(&one.name));
        (unheard, working)
    }

    fn of_ring(&self, message: &[u8]) -> Vec<u8> {
        [self.settings.ring.name.as_bytes(), &[0], message].concat()
    }

    /// This node's signature with the key that the roster has of it, as text.
    pub(crate) fn sign_for_ring(&self, message: &[u8]) -> Option<String> {
        let signature = self
            .keyring
            .sign_with(&self.own_key()?, &self.of_ring(message))?;
        Some(URL_SAFE_NO_PAD.encode(signature))
    }

    /// Whether a member has signed something with its own.
    pub(crate) fn is_signed_for_ring(&self, name: &str, message: &[u8], signature: &str) -> bool {
        let member = self.current.as_ref().and_then(|roster| roster.member(name));
        let key = member.and_then(|member| member.key);
        let signature = URL_SAFE_NO_PAD.decode(signature).ok();
        let signature = signature.and_then(|bytes| <[u8; 64]>::try_from(bytes).ok());
        let message = self.of_ring(message);
        key.zip(signature)
            .is_some_and(|(key, signature)| key.signer().verify(&message, &signature))
    }

    /// Sends something about rollouts.
    pub(crate) fn send_news(&mut self, address: String, bytes: Vec<u8>) {
        let news = Message::Rollouts { bytes };
        self.outbox.push_back((address, news));
    }

    /// Where both neighbours are, and one other, in turn.
    pub(crate) fn peers(&self) -> (Vec<String>, Option<String>) {
        let me = &self.settings.node.name;
        let Some(roster) = &self.current else {
            return (Vec::new(), None);
        };
        let address = |member: &Member| member.address.clone();
        let mut beside: Vec<String> = roster
            .around(me)
            .into_iter()
            .flatten()
            .map(address)
            .collect();
        beside.dedup();
        let other = roster
            .members
            .get(self.rotation)
            .filter(|member| member.name != *me);
        (beside, other.map(address))
    }
}
