//! Rosters with their signatures, and what they are known by.

use headway_node::{Key, MAC_BYTES};
use sha2::{Digest as _, Sha256};

use super::{Roster, RosterError};

/// SHA-256 of a roster's bytes.
pub type Digest = [u8; 32];

const SIGNED_AS: &[u8] = b"headway roster 1";

/// A roster with its signature, as it is kept and passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    roster: Roster,
    bytes: Vec<u8>,
    digest: Digest,
}

impl Signed {
    /// Signs a roster.
    pub fn new(roster: Roster, key: &Key) -> Signed {
        let mut bytes = roster.bytes();
        let digest = Sha256::digest(&bytes).into();
        let mac = key.sign(&[SIGNED_AS, &bytes].concat());
        bytes.extend_from_slice(&mac);
        Signed {
            roster,
            bytes,
            digest,
        }
    }

    /// A roster that this node has kept itself, signed anew if it was with another key.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read_kept(bytes: &[u8], ring: &str, key: &Key) -> Result<Signed, RosterError> {
        let body = &bytes[..bytes.len().saturating_sub(MAC_BYTES)];
        Ok(Signed::new(read_body(body, ring)?, key))
    }

    /// Checks a signature, and that the roster makes sense and is of this ring.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(bytes: &[u8], ring: &str, key: &Key) -> Result<Signed, RosterError> {
        let at = bytes
            .len()
            .checked_sub(MAC_BYTES)
            .ok_or(RosterError::Malformed)?;
        let (body, mac) = bytes.split_at(at);
        if !key.verify(&[SIGNED_AS, body].concat(), mac) {
            return Err(RosterError::Unsigned);
        }
        Ok(Signed {
            roster: read_body(body, ring)?,
            digest: Sha256::digest(body).into(),
            bytes: bytes.to_vec(),
        })
    }

    /// The roster.
    pub const fn roster(&self) -> &Roster {
        &self.roster
    }

    /// The roster and its signature, as bytes.
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
}

fn read_body(body: &[u8], ring: &str) -> Result<Roster, RosterError> {
    let roster: Roster = serde_json::from_slice(body).map_err(|_| RosterError::Malformed)?;
    if roster.bytes() != body {
        return Err(RosterError::Malformed);
    }
    roster.check()?;
    if roster.ring != ring {
        return Err(RosterError::OtherRing(roster.ring));
    }
    Ok(roster)
}

/// What a roster is known by without its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Its version; 0 for none at all.
    pub version: u64,
    /// Its digest.
    pub digest: Digest,
    /// How many bytes it has, signature included.
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
}
