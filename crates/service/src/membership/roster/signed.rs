//! Rosters with the signatures that prove them, and what they are known by.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::link::MAX_LINKS;
use super::{Link, Member, Roster, RosterError, Trust};
use crate::identity::{SignerKey, Vouch};

/// SHA-256.
pub type Digest = [u8; 32];

const SIGNED_AS: &[u8] = b"headway roster 3";

/// Members that have left and are remembered, so that they can be told.
const MAX_LEFT: usize = 64;

/// The digest of a roster: of those whom it lets one believe, and of that of its bytes. So the
/// first can be shown without the members.
pub(super) fn combine(trust: &Trust, body: &Digest) -> Digest {
    let trust = Sha256::digest(trust.bytes());
    Sha256::digest([&trust[..], body].concat()).into()
}

/// A roster, as it is passed on, and who has signed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    roster: Roster,
    bytes: Vec<u8>,
    digest: Digest,
    signatures: BTreeMap<SignerKey, [u8; 64]>,
    past: Past,
}

/// What a node remembers of the rosters before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Past {
    /// What proves this roster's keepers to those who know earlier ones only, in order.
    links: Vec<Link>,
    /// Who has left, the last one last.
    left: Vec<Member>,
}

impl Signed {
    /// A roster that nobody has signed.
    pub fn new(roster: Roster) -> Signed {
        let bytes = roster.bytes();
        let body = Sha256::digest(&bytes).into();
        Signed {
            digest: combine(&Trust::of(&roster), &body),
            bytes,
            roster,
            signatures: BTreeMap::new(),
            past: Past::default(),
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
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let mut signed = Signed::read(lines.next().unwrap_or_default(), ring)?;
        let malformed = |_| RosterError::Malformed;
        let kept = lines.next().unwrap_or_default();
        let kept: BTreeMap<SignerKey, String> = serde_json::from_slice(kept).map_err(malformed)?;
        if let Some(past) = lines.next() {
            signed.past = serde_json::from_slice(past).map_err(malformed)?;
        }
        for (by, signature) in kept {
            let mut bytes = [0; 64];
            let read = hex::decode_to_slice(signature, &mut bytes);
            read.map_err(|_| RosterError::Malformed)?;
            signed.signatures.insert(by, bytes);
        }
        Ok(signed)
    }

    /// The roster, its signatures and what is remembered of those before, to be kept.
    pub fn kept(&self) -> Vec<u8> {
        let signatures = self.signatures.iter();
        let signatures: BTreeMap<_, _> = signatures
            .map(|(by, signature)| (by, hex::encode(signature)))
            .collect();
        // Maps and lists of texts are always written.
        let signatures = serde_json::to_vec(&signatures).unwrap_or_default();
        let past = serde_json::to_vec(&self.past).unwrap_or_default();
        [&self.bytes[..], &signatures, &past].join(&b'\n')
    }

    /// It replaces another, for a node that believed these and was shown these links.
    pub(crate) fn replace(&mut self, before: Option<&Signed>, walked: Vec<Link>, trust: &Trust) {
        let mut past = before.map(|before| before.past.clone()).unwrap_or_default();
        past.links.extend(walked);
        let version = self.roster.version;
        past.links.retain(|link| link.mark.version <= version);
        let last = past.links.last().filter(|link| link.mark == self.mark());
        for vouch in last.iter().flat_map(|link| &link.signatures) {
            self.add(*vouch);
        }
        if *trust != Trust::of(&self.roster) {
            past.links.extend(Link::new(self, trust));
        }
        let left = before.iter().flat_map(|before| &before.roster.members);
        past.left.extend(left.cloned());
        let is_member = |member: &Member| self.roster.member(&member.name).is_some();
        past.left.retain(|member| !is_member(member));
        let (links, left) = (past.links.len(), past.left.len());
        past.links.drain(..links.saturating_sub(MAX_LINKS));
        past.left.drain(..left.saturating_sub(MAX_LEFT));
        self.past = past;
    }

    /// What proves this roster's keepers to those who know earlier ones only, in order.
    pub(crate) fn links(&self) -> &[Link] {
        &self.past.links
    }

    /// Members of earlier rosters, the last one last.
    pub(crate) fn left(&self) -> &[Member] {
        &self.past.left
    }

    /// The digest of its bytes.
    pub(super) fn body(&self) -> Digest {
        Sha256::digest(&self.bytes).into()
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

    /// Two that cannot both be right: files that say different things about the first roster, or
    /// two of one version that were both decided upon.
    pub fn contradicts(&self, other: &Mark) -> bool {
        self.version > 0 && self.version == other.version && self.digest != other.digest
    }

    /// What is signed. The digest says which ring it is of.
    pub fn message(&self) -> Vec<u8> {
        let (version, size) = (self.version.to_be_bytes(), self.size.to_be_bytes());
        [SIGNED_AS, &version, &self.digest, &size].concat()
    }
}
