//! What an operator signs, away from any node.

use crate::identity::{Signer, SignerKey};
use crate::membership::decision::operator_message;
use crate::membership::roster::{Proved, Roster};

/// The signature under a roster that is recovered (`POST /v1/recover`), in hexadecimal
/// digits. Nothing if it is no roster of that ring, or somebody is in it who should not be.
pub fn sign_membership(text: &str, ring: &str, gone: &[String], by: &Signer) -> Option<String> {
    let roster = Proved::read(text.as_bytes(), ring).ok()?;
    let left = |roster: &Roster| gone.iter().all(|name| roster.member(name).is_none());
    let (_, signature) = by.vouch(&roster.mark().recovery());
    left(roster.roster()).then(|| hex::encode(signature))
}

/// The signature of the old key under a new one (`POST /v1/recovery-key`), in hexadecimal digits.
pub fn sign_key(ring: &str, new: SignerKey, old: &Signer) -> String {
    hex::encode(old.vouch(&operator_message(ring, &new)).1)
}
