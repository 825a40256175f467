//! Keys that change while the ring works.
//!
//! A node draws new key pairs, keeps them on disk beside the old ones, and then wants a
//! roster that has the new public keys; the change is signed with the old ones. Each
//! other member goes by the key that its own roster has, so the node speaks with both keys until
//! everybody has the new roster: that is when its ring has settled, and nobody is bypassed, or a
//! day later at the latest. Then it forgets the old ones.

use std::time::Duration;

use super::decision::Kind;
use super::poll::Wanted;
use super::{Effect, Membership, NodeKey};
use crate::agent::alarm::Alarm;
use crate::identity::{Identity, SignerKey};
use crate::request::{Refusal, RequestId};

/// How long two keys count at most: for members that are away.
const BOTH_FOR: Duration = Duration::from_secs(24 * 3600);

/// New key pairs that are not on disk yet.
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    request: RequestId,
    kind: Kind,
}

impl Membership {
    /// Somebody wants other key pairs for this node.
    pub(crate) fn rotate(&mut self, now: Duration, request: RequestId, next: Identity) {
        let unix = self.epoch.saturating_add(now).as_secs();
        let (ring, me) = (&self.settings.ring.name, &self.settings.node.name);
        let own = self.own_key();
        let identities = self.keyring.identities();
        let rotated = match own {
            _ if identities.list().len() > 1 => Err(Refusal::Rotating),
            Some(own) if identities.public() == own => {
                let old = identities.list()[0].signer().clone();
                let kind = Kind::rekey(ring, me, next.public(), &old);
                identities.push(next, unix + BOTH_FOR.as_secs());
                Ok((kind, identities.clone()))
            }
            _ => Err(Refusal::NoRoster),
        };
        match rotated {
            Ok((kind, identities)) => {
                self.unkept_key = Some(Rotation { request, kind });
                self.effects.push_back(Effect::KeepIdentity(identities));
            }
            Err(why) => self.refuse(Wanted::By(request), why),
        }
    }

    /// Somebody wants another key for the operator; the old one has signed it.
    pub(crate) fn rotate_operator(
        &mut self,
        request: RequestId,
        key: SignerKey,
        signature: String,
    ) {
        self.propose(Wanted::By(request), Kind::Operator { key, signature });
    }

    /// The key pairs are on disk, or cannot be kept.
    pub(crate) fn handle_identity_kept(&mut self, kept: &Result<(), String>) {
        let Some(Rotation { request, kind }) = self.unkept_key.take() else {
            return;
        };
        match kept {
            Ok(()) => self.propose(Wanted::Key(request), kind),
            Err(why) => {
                self.forget_new_key();
                let why = Refusal::Unkept(format!("cannot keep the new key: {why}"));
                self.refuse(Wanted::Key(request), why);
            }
        }
    }

    /// The new key was refused.
    pub(super) fn forget_new_key(&mut self) {
        if let Some(own) = self.own_key() {
            self.keep_only(&own);
        }
    }

    fn keep_only(&mut self, key: &NodeKey) {
        let identities = self.keyring.identities();
        if identities.keep_only(key) {
            let identities = identities.clone();
            self.effects.push_back(Effect::KeepIdentity(identities));
        }
    }

    /// Forgets keys that do not count any more.
    pub(super) fn tend_keys(&mut self, now: Duration) {
        let (unix, settled) = (self.epoch.saturating_add(now).as_secs(), self.settled);
        let (Some(own), Some(roster)) = (self.own_key(), &self.current) else {
            return;
        };
        let all = roster.bypassed.is_empty() && settled == roster.version;
        let identities = self.keyring.identities();
        let newest = identities.list().last().map(Identity::public) == Some(own);
        if identities.list().len() > 1 && (newest && all || unix >= identities.until) {
            tracing::info!("everybody has the new key of this node: forgets the old one");
            self.keep_only(&own);
        }
    }

    /// The roster may have another key for this node than this node has.
    pub(super) fn check_own_key(&mut self) {
        let wrong = self.own_key().filter(|own| !self.keyring.is_own(own));
        self.alarms.set(wrong.is_some(), Alarm::OtherKey);
    }
}
