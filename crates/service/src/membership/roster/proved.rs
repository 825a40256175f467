//! What proves a roster, and what it is known by.
//!
//! A roster's voters sign the next one by voting for it ([`crate::membership::register`]). Whoever
//! was away knows the voters of its own roster only, and today's may all be others. So every node
//! keeps, for each change of the voters' or the recovery keys, the keys that it led to, with the
//! votes of those before: whoever believes those before can believe these, and go on from link to
//! link until it comes to today's, as with the root metadata of The Update Framework. A link has no
//! members, only what the roster's digest was made from, so it fits into a datagram however large
//! the roster is.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{MAX_VOTERS, Member, Roster, RosterError};
use crate::identity::SignerKey;
use crate::membership::control::take;
use crate::membership::register::Ballot;

/// SHA-256.
pub type Digest = [u8; 32];

/// A signature.
pub type Signature = [u8; 64];

const VOTED_AS: &[u8] = b"headway vote 1";
const RECOVERED_AS: &[u8] = b"headway recovery 1";

/// Links that are kept; whoever has an older roster than the first of them has to be helped.
pub(crate) const MAX_LINKS: usize = 64;

/// Members that have left and are remembered, so that they can be told.
const MAX_LEFT: usize = 64;

/// Whose word about rosters counts: more than half of some voters, or the operator's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    voters: Vec<SignerKey>,
    operator: Option<SignerKey>,
}

impl Trust {
    /// What a node with this roster goes by.
    pub fn of(roster: &Roster) -> Trust {
        let keys = roster.voters().filter_map(|member| member.key.as_ref());
        Trust {
            voters: keys.map(|key| *key.signer()).collect(),
            operator: roster.operator,
        }
    }

    /// The only way in which it is written: how many voters and operators, then their keys.
    fn bytes(&self) -> Vec<u8> {
        let counts = [self.voters.len() as u8, self.operator.iter().len() as u8];
        let keys = self.voters.iter().chain(&self.operator);
        let keys = keys.flat_map(|key| key.bytes());
        counts.iter().chain(keys).copied().collect()
    }

    fn read(rest: &mut &[u8]) -> Option<Trust> {
        let [voters, operators] = take(rest)?;
        if usize::from(voters) > MAX_VOTERS || operators > 1 {
            return None;
        }
        let mut key = || take(rest).map(SignerKey::from_bytes);
        Some(Trust {
            voters: (0..voters).map(|_| key()).collect::<Option<_>>()?,
            operator: if operators > 0 { Some(key()?) } else { None },
        })
    }

    /// The digest of a roster by which this is believed: of this, and of its bytes. So the first
    /// can be shown without the members.
    fn digest(&self, body: &Digest) -> Digest {
        let trust = Sha256::digest(self.bytes());
        Sha256::digest([&trust[..], body].concat()).into()
    }
}

/// What a roster is known by without its members.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Mark {
    /// Its version; 0 for none at all.
    pub version: u64,
    /// Its digest.
    #[serde(with = "hex_digest")]
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
    /// two of one version that were recovered apart.
    pub fn contradicts(&self, other: &Mark) -> bool {
        self.version > 0 && self.version == other.version && self.digest != other.digest
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (version, size) = (self.version.to_be_bytes(), self.size.to_be_bytes());
        [&version[..], &self.digest, &size].concat()
    }

    pub(crate) fn read(rest: &mut &[u8]) -> Option<Mark> {
        Some(Mark {
            version: u64::from_be_bytes(take(rest)?),
            digest: take(rest)?,
            size: u32::from_be_bytes(take(rest)?),
        })
    }

    /// What an operator signs under a roster that is recovered. The digest says of which ring.
    pub(crate) fn recovery(&self) -> Vec<u8> {
        [RECOVERED_AS, &self.bytes()].concat()
    }
}

/// What a voter signs: that under this ballot it votes for `next` after the roster with this
/// version and digest.
pub fn vote(before: (u64, &Digest), ballot: Ballot, next: &Mark) -> Vec<u8> {
    let numbers = [before.0, ballot.round, ballot.storage].map(u64::to_be_bytes);
    [VOTED_AS, numbers.as_flattened(), before.1, &next.bytes()].concat()
}

mod hex_digest {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(digest: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex::encode(digest))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
        let (text, mut digest) = (String::deserialize(from)?, [0; 32]);
        hex::decode_to_slice(text, &mut digest).map_err(D::Error::custom)?;
        Ok(digest)
    }
}

/// On whose word a roster counts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Authority {
    /// Of voters of a roster with this version and digest of its bytes, by their places.
    Voters {
        version: u64,
        body: Digest,
        ballot: Ballot,
        votes: Vec<(u8, Signature)>,
    },
    Operator(Signature),
    /// Somebody's on one machine, which nobody else believes.
    Here,
}

/// A roster that is to be believed, without its members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Link {
    pub(crate) mark: Mark,
    /// Of the roster's bytes.
    body: Digest,
    pub(crate) trust: Trust,
    authority: Authority,
}

impl Link {
    fn new(roster: &Proved, authority: Authority) -> Link {
        Link {
            mark: roster.mark(),
            body: roster.body(),
            trust: Trust::of(&roster.roster),
            authority,
        }
    }

    /// What the voters of a roster have decided upon. As few votes as are needed.
    pub fn voted(
        before: &Proved,
        next: &Proved,
        ballot: Ballot,
        votes: impl IntoIterator<Item = (usize, Signature)>,
    ) -> Link {
        let voters = before.roster.voters().count();
        let votes = votes.into_iter().take(voters / 2 + 1);
        let votes = votes.map(|(place, signature)| (place as u8, signature));
        let authority = Authority::Voters {
            version: before.roster.version,
            body: before.body(),
            ballot,
            votes: votes.collect(),
        };
        Link::new(next, authority)
    }

    /// What an operator has signed, or somebody wants here.
    pub fn recovered(next: &Proved, operator: Option<Signature>) -> Link {
        Link::new(next, operator.map_or(Authority::Here, Authority::Operator))
    }

    /// Whether enough of those who are believed have signed it, and it is what they have signed.
    pub(crate) fn follows(&self, believed: &Trust) -> bool {
        let is_right = match &self.authority {
            Authority::Voters {
                version,
                body,
                ballot,
                votes,
            } => {
                let before = believed.digest(body);
                let message = vote((*version, &before), *ballot, &self.mark);
                let voters = &believed.voters;
                let signed = |(place, signature): &&(u8, Signature)| {
                    let voter = voters.get(usize::from(*place));
                    voter.is_some_and(|voter| voter.verify(&message, signature))
                };
                let places = votes.iter().filter(signed).map(|(place, _)| *place);
                let places: BTreeSet<u8> = places.collect();
                // The roster after this one, and no later.
                *version + 1 == self.mark.version && 2 * places.len() > voters.len()
            }
            Authority::Operator(signature) => {
                let operator = believed.operator.as_ref();
                let message = self.mark.recovery();
                operator.is_some_and(|operator| operator.verify(&message, signature))
            }
            Authority::Here => false,
        };
        is_right && self.trust.digest(&self.body) == self.mark.digest
    }

    /// As datagrams and the disk have it.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = [&self.mark.bytes()[..], &self.body, &self.trust.bytes()].concat();
        match &self.authority {
            Authority::Here => bytes.push(0),
            Authority::Operator(signature) => {
                bytes.push(1);
                bytes.extend_from_slice(signature);
            }
            Authority::Voters {
                version,
                body,
                ballot,
                votes,
            } => {
                bytes.push(2);
                let numbers = [*version, ballot.round, ballot.storage].map(u64::to_be_bytes);
                bytes.extend_from_slice(numbers.as_flattened());
                bytes.extend_from_slice(body);
                for (place, signature) in votes {
                    bytes.push(*place);
                    bytes.extend_from_slice(signature);
                }
            }
        }
        bytes
    }

    /// Reads all of `bytes`, whether it proves anything or not.
    pub(crate) fn read(mut bytes: &[u8]) -> Option<Link> {
        let rest = &mut bytes;
        let (mark, body, trust) = (Mark::read(rest)?, take(rest)?, Trust::read(rest)?);
        let authority = match take(rest)? {
            [0] => Authority::Here,
            [1] => Authority::Operator(take(rest)?),
            [2] => {
                let mut number = || take(rest).map(u64::from_be_bytes);
                let (version, round, storage) = (number()?, number()?, number()?);
                let (body, mut votes) = (take(rest)?, Vec::new());
                while !rest.is_empty() && votes.len() < MAX_VOTERS {
                    let [place] = take(rest)?;
                    votes.push((place, take(rest)?));
                }
                Authority::Voters {
                    version,
                    body,
                    ballot: Ballot { round, storage },
                    votes,
                }
            }
            _ => return None,
        };
        rest.is_empty().then_some(Link {
            mark,
            body,
            trust,
            authority,
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

/// A roster, as it is passed on, and what proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Proved {
    roster: Roster,
    bytes: Vec<u8>,
    digest: Digest,
    /// What proves it to those who know earlier ones only, in order; nothing proves a first one.
    links: Vec<Link>,
    /// Who has left, the last one last.
    left: Vec<Member>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    roster: Roster,
    links: Vec<Link>,
    left: Vec<Member>,
}

impl From<Written> for Proved {
    fn from(written: Written) -> Proved {
        let Written {
            roster,
            links,
            left,
        } = written;
        Proved {
            links,
            left,
            ..Proved::new(roster)
        }
    }
}

impl From<Proved> for Written {
    fn from(proved: Proved) -> Written {
        Written {
            roster: proved.roster,
            links: proved.links,
            left: proved.left,
        }
    }
}

impl Proved {
    /// A roster that nothing proves.
    pub fn new(roster: Roster) -> Proved {
        let bytes = roster.bytes();
        let body = Sha256::digest(&bytes).into();
        Proved {
            digest: Trust::of(&roster).digest(&body),
            bytes,
            roster,
            links: Vec::new(),
            left: Vec::new(),
        }
    }

    /// A roster as it is passed on: whether it makes sense, and is of this ring.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(bytes: &[u8], ring: &str) -> Result<Proved, RosterError> {
        let roster: Roster = serde_json::from_slice(bytes).map_err(|_| RosterError::Malformed)?;
        if roster.bytes() != bytes {
            return Err(RosterError::Malformed);
        }
        Proved::new(roster).checked(ring)
    }

    /// The same, if it makes sense, and is of this ring.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn checked(self, ring: &str) -> Result<Proved, RosterError> {
        self.roster.check()?;
        if self.roster.ring != ring {
            return Err(RosterError::OtherRing(self.roster.ring));
        }
        Ok(self)
    }

    /// It replaces another, for a node that was shown these links, the last one to this.
    pub(crate) fn replace(&mut self, before: Option<&Proved>, shown: Vec<Link>) {
        let known = before
            .map(|before| before.links.clone())
            .unwrap_or_default();
        let mut links: Vec<Link> = Vec::new();
        for link in known.into_iter().chain(shown) {
            // One that has led to the same keys again is needed by nobody any more.
            if let [.., one, other] = &links[..]
                && one.trust == other.trust
            {
                links.pop();
            }
            links.push(link);
        }
        links.drain(..links.len().saturating_sub(MAX_LINKS));
        let mut left = before.map(|before| before.left.clone()).unwrap_or_default();
        left.extend(
            before
                .iter()
                .flat_map(|before| before.roster.members.clone()),
        );
        left.retain(|member| self.roster.member(&member.name).is_none());
        left.drain(..left.len().saturating_sub(MAX_LEFT));
        (self.links, self.left) = (links, left);
    }

    /// What proves it to those who know earlier ones only, in order.
    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    /// Members of earlier rosters, the last one last.
    pub(crate) fn left(&self) -> &[Member] {
        &self.left
    }

    /// The digest of its bytes.
    fn body(&self) -> Digest {
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
}
