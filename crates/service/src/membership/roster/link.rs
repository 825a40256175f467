//! How rosters prove each other in a chain.
//!
//! Whoever was away knows the keepers of its own roster only, and today's may all be others. So
//! every node keeps, for each change of the keepers' or the operator's keys, the keys that it led
//! to, with the signatures of those before. Whoever believes those before can believe these, and
//! go on from link to link until it comes to today's. A link has no members, only what the
//! roster's digest was made from, so it fits into a datagram however large the roster is.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::signed::{Digest, Mark, Signed, combine};
use super::{MAX_KEEPERS, RosterError, Trust};
use crate::identity::{SignerKey, Vouch};
use crate::membership::control::{read_mark, take, write_mark};

/// Links that are kept; whoever has an older roster than the first of them has to be helped.
pub(crate) const MAX_LINKS: usize = 64;

/// A roster that is to be believed by others than the one before, without its members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Link {
    pub(crate) mark: Mark,
    /// Of the roster's bytes.
    body: Digest,
    pub(crate) trust: Trust,
    pub(super) signatures: Vec<Vouch>,
}

impl Link {
    /// The link from those before to a roster, unless too few of them have signed it.
    pub fn new(signed: &Signed, before: &Trust) -> Option<Link> {
        let signatures = signed.signatures().filter(|(by, _)| before.covers(by));
        let link = Link {
            mark: signed.mark(),
            body: signed.body(),
            trust: Trust::of(signed.roster()),
            signatures: signatures.collect(),
        };
        link.follows(before).then_some(link)
    }

    /// Whether enough of those before have signed it, and it is what they have signed.
    pub(crate) fn follows(&self, before: &Trust) -> bool {
        let message = self.mark.message();
        let signed = |(by, bytes): &&Vouch| before.covers(by) && by.verify(&message, bytes);
        let signers = self.signatures.iter().filter(signed).map(|(by, _)| *by);
        let signers: BTreeSet<SignerKey> = signers.collect();
        combine(&self.trust, &self.body) == self.mark.digest
            && before.is_enough(&Vec::from_iter(signers))
    }

    /// As datagrams and the disk have it.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let signatures = self.signatures.iter();
        let signatures = signatures.flat_map(|(by, bytes)| by.bytes().iter().chain(bytes));
        let start = [&write_mark(&self.mark)[..], &self.body, &self.trust.bytes()].concat();
        start.iter().chain(signatures).copied().collect()
    }

    /// Reads all of `bytes`, whether it proves anything or not.
    pub(crate) fn read(mut bytes: &[u8]) -> Option<Link> {
        let rest = &mut bytes;
        let (mark, body) = (read_mark(rest)?, take(rest)?);
        let [keepers, operators] = take(rest)?;
        if usize::from(keepers) > MAX_KEEPERS || operators > 1 {
            return None;
        }
        let mut key = || take(rest).map(SignerKey::from_bytes);
        let trust = Trust {
            keepers: (0..keepers).map(|_| key()).collect::<Option<_>>()?,
            operator: if operators > 0 { Some(key()?) } else { None },
        };
        let mut signatures = Vec::new();
        while !rest.is_empty() && signatures.len() <= MAX_KEEPERS {
            signatures.push((SignerKey::from_bytes(take(rest)?), take(rest)?));
        }
        rest.is_empty().then_some(Link {
            mark,
            body,
            trust,
            signatures,
        })
    }
}

impl TryFrom<String> for Link {
    type Error = RosterError;

    fn try_from(text: String) -> Result<Link, RosterError> {
        let bytes = hex::decode(text).map_err(|_| RosterError::Malformed)?;
        Link::read(&bytes).ok_or(RosterError::Malformed)
    }
}

impl From<Link> for String {
    fn from(link: Link) -> String {
        hex::encode(link.bytes())
    }
}
