//! Rosters with the signatures that prove them, and what they are known by.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::{Roster, RosterError};
use crate::identity::{SignerKey, Vouch};

/// SHA-256 of a roster's bytes.
pub type Digest = [u8; 32];

const SIGNED_AS: &[u8] = b"headway roster 2";

/// A roster, as it is passed on, and who has signed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    roster: Roster,
    bytes: Vec<u8>,
    digest: Digest,
    signatures: BTreeMap<SignerKey, [u8; 64]>,
}

impl Signed {
    /// A roster that nobody has signed.
    pub fn new(roster: Roster) -> Signed {
        let bytes = roster.bytes();
        Signed {
            digest: Sha256::digest(&bytes).into(),
            bytes,
            roster,
            signatures: BTreeMap::new(),
        }
    }

    /// A roster as it is passed on: whether it makes sense, and is of this ring.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(bytes: &[u8], ring: &str) -> Result<Signed, RosterError> {
        let roster: Roster = serde_json::from_slice(bytes).map_err(|_| RosterError::Malformed)?;
        if roster.bytes() != bytes {
            return Err(RosterError::Malformed);
        }
        roster.check()?;
        if roster.ring != ring {
            return Err(RosterError::OtherRing(roster.ring));
        }
        Ok(Signed::new(roster))
    }

    /// A roster that this node has kept itself.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read_kept(bytes: &[u8], ring: &str) -> Result<Signed, RosterError> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (body, rest) = bytes.split_at(end.ok_or(RosterError::Malformed)?);
        let mut signed = Signed::read(body, ring)?;
        let kept: BTreeMap<SignerKey, String> =
            serde_json::from_slice(rest).map_err(|_| RosterError::Malformed)?;
        for (by, signature) in kept {
            let mut bytes = [0; 64];
            let read = hex::decode_to_slice(signature, &mut bytes);
            read.map_err(|_| RosterError::Malformed)?;
            signed.signatures.insert(by, bytes);
        }
        Ok(signed)
    }

    /// The roster and its signatures, to be kept.
    pub fn kept(&self) -> Vec<u8> {
        let signatures = self.signatures.iter();
        let signatures: BTreeMap<_, _> = signatures
            .map(|(by, signature)| (by, hex::encode(signature)))
            .collect();
        let mut bytes = [&self.bytes[..], b"\n"].concat();
        // A map of texts is always written.
        bytes.extend(serde_json::to_vec(&signatures).unwrap_or_default());
        bytes
    }

    /// The roster.
    pub const fn roster(&self) -> &Roster {
        &self.roster
    }

    /// The roster as bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What it is known by.
    pub const fn mark(&self) -> Mark {
        Mark {
            version: self.roster.version,
            digest: self.digest,
            size: self.bytes.len() as u32,
        }
    }

    /// Who has signed it.
    pub fn signatures(&self) -> impl Iterator<Item = Vouch> {
        self.signatures.iter().map(|(by, bytes)| (*by, *bytes))
    }

    /// One more signature, if it is new and right. Whether it was.
    pub fn add(&mut self, (by, signature): Vouch) -> bool {
        let new = !self.signatures.contains_key(&by);
        let right = new && by.verify(&self.mark().message(), &signature);
        if right {
            self.signatures.insert(by, signature);
        }
        right
    }
}

/// What a roster is known by without its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Its version; 0 for none at all.
    pub version: u64,
    /// Its digest.
    pub digest: Digest,
    /// How many bytes it has.
    pub size: u32,
}

impl Mark {
    /// Whether it replaces another: the later version, then the larger digest. First
    /// rosters come from files, not from a decision, and do not replace each other.
    pub fn replaces(&self, other: &Mark) -> bool {
        self.version > other.version
            || (self.version == other.version && self.version > 1 && self.digest > other.digest)
    }

    /// Two files that say different things about the first roster.
    pub fn contradicts(&self, other: &Mark) -> bool {
        self.version == 1 && other.version == 1 && self.digest != other.digest
    }

    /// What is signed. The digest says which ring it is of.
    pub fn message(&self) -> Vec<u8> {
        let (version, size) = (self.version.to_be_bytes(), self.size.to_be_bytes());
        [SIGNED_AS, &version, &self.digest, &size].concat()
    }
}
