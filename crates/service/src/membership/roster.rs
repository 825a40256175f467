//! Who is on the ring, in which order: a versioned list.
//!
//! A roster is written in one way only, so that equal rosters are equal bytes; the digest of what
//! concerns the ring goes into the ring's identity. Nodes of different rings therefore do
//! not listen to each other, and a ring cannot settle before all its members have
//! the same one.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use super::register::Storage;
use crate::identity::{NodeKey, SignerKey};
pub use proved::{Digest, Link, Mark, Proved, Signature, Trust, vote};
pub use terms::{Terms, TermsChange};

mod proved;
pub(crate) mod terms;

/// The most members: what a node is willing to keep and pass on.
pub const MAX_MEMBERS: usize = 4096;

/// The most voters: any majority of seven outlives three.
const MAX_VOTERS: usize = 7;

/// Changes that a roster remembers to have been made of, so that whoever wanted one knows.
pub(crate) const MAX_MADE: usize = 16;

/// One node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its name.
    #[serde(deserialize_with = "read_name")]
    pub name: String,
    /// Where it receives datagrams.
    #[serde(deserialize_with = "read_address")]
    pub address: String,
    /// Where its HTTP interface is, for people and dashboards.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub http: Option<String>,
    /// Its public keys. Every member of a roster has some.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<NodeKey>,
}

/// The members of a ring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roster {
    /// Grows by one with every change.
    pub version: u64,
    /// The ring's name.
    pub ring: String,
    /// Everybody, in the order of the ring.
    pub members: Vec<Member>,
    /// Members that are left out for now.
    pub bypassed: Vec<String>,
    /// What everybody goes by.
    pub terms: Terms,
    /// No permit of an earlier roster that may still be in use lasts longer, in milliseconds.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub longest_before_ms: u64,
    /// The last version that changed something about the ring: later ones go by that ring.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub formed: u64,
    /// The version with which everybody's disk was new, if it was recovered.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub recovered: u64,
    /// Members whose disk is another than they began with, and which.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub storages: BTreeMap<String, Storage>,
    /// The changes that it and those before were made by, the last one last.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub made: Vec<u64>,
    /// The ring that was the last to have settled when this roster was made, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub before: Vec<String>,
    /// Who of it has been left out since, for a while at least.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left: Vec<String>,
    /// What an operator signs with, if there is one whose word counts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub operator: Option<SignerKey>,
}

/// What becomes of a member that is bypassed or was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bypass {
    /// The ring closes without it.
    LeaveOut,
    /// It has its place again.
    TakeBack,
}

/// What is wrong with a roster.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RosterError {
    /// A name that cannot be one.
    #[error("`{0}` is no name: expected 1 to 64 letters, digits, `.`, `-` or `_`")]
    Name(String),
    /// An address that cannot be one.
    #[error("`{0}` is no address: expected HOST:PORT")]
    Address(String),
    /// Some have no key.
    #[error(
        "`{0}` has no key: give every member its own, as `headway node identity` prints it on its \
         machine"
    )]
    NoKey(String),
    /// Two members with the same secret.
    #[error(
        "`{0}` and `{1}` have the same key: each machine makes its own (`headway node identity`)"
    )]
    SameKey(String, String),
    /// Twice the same.
    #[error("{what} `{value}` is there twice")]
    Twice {
        /// Name or address.
        what: &'static str,
        /// Which.
        value: String,
    },
    /// Too many.
    #[error("a membership has at most {MAX_MEMBERS} members, not {0}")]
    TooMany(usize),
    /// A bypassed node that is not a member.
    #[error("`{0}` is bypassed and not a member")]
    Bypassed(String),
    /// Not there.
    #[error("there is no member `{0}`")]
    Unknown(String),
    /// Not a roster as this program writes it.
    #[error("not a membership")]
    Malformed,
    /// No tokens, no separation, or no wire format.
    #[error("tokens, separation and wire format are at least 1")]
    Terms,
    /// Another ring's.
    #[error("a membership of another ring, `{0}`")]
    OtherRing(String),
}

/// Whether this can be a name.
pub fn valid_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (1..=64).contains(&name.len()) && name.chars().all(letter)
}

/// Whether this can be an address. Whether anything is there is another question.
pub fn valid_address(address: &str) -> bool {
    let printable = address.bytes().all(|byte| byte.is_ascii_graphic());
    let port = address
        .rsplit_once(':')
        .filter(|(host, _)| !host.is_empty());
    let port = port.and_then(|(_, port)| port.parse::<u16>().ok());
    address.len() <= 128 && printable && port.is_some_and(|port| port > 0)
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn read_name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    if valid_name(&name) {
        return Ok(name);
    }
    Err(D::Error::custom(RosterError::Name(name)))
}

fn read_address<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let address = String::deserialize(from)?;
    if valid_address(&address) {
        return Ok(address);
    }
    Err(D::Error::custom(RosterError::Address(address)))
}

impl Member {
    /// Its name and address.
    pub(crate) fn entry(&self) -> (String, String) {
        (self.name.clone(), self.address.clone())
    }

    /// What is wrong with it, if anything.
    ///
    /// # Errors
    ///
    /// When its name or address cannot be one.
    pub fn check(&self) -> Result<(), RosterError> {
        if !valid_name(&self.name) {
            return Err(RosterError::Name(self.name.clone()));
        }
        let http = self.http.as_ref().filter(|address| !valid_address(address));
        let address = (!valid_address(&self.address)).then_some(&self.address);
        match address.or(http) {
            Some(address) => Err(RosterError::Address(address.clone())),
            None => Ok(()),
        }
    }
}

impl Roster {
    /// What is wrong with it, if anything.
    ///
    /// # Errors
    ///
    /// The first thing that is.
    pub fn check(&self) -> Result<(), RosterError> {
        if self.members.len() > MAX_MEMBERS {
            return Err(RosterError::TooMany(self.members.len()));
        }
        if !valid_name(&self.ring) {
            return Err(RosterError::Name(self.ring.clone()));
        }
        self.check_terms()?;
        let mut names = std::collections::BTreeSet::new();
        let mut addresses = std::collections::BTreeSet::new();
        for member in &self.members {
            member.check()?;
            for (what, value, seen) in [
                ("name", &member.name, &mut names),
                ("address", &member.address, &mut addresses),
            ] {
                if !seen.insert(value.clone()) {
                    let value = value.clone();
                    return Err(RosterError::Twice { what, value });
                }
            }
        }
        self.check_keys()?;
        let mut bypassed = std::collections::BTreeSet::new();
        for name in &self.bypassed {
            if !names.contains(name) || !bypassed.insert(name) {
                return Err(RosterError::Bypassed(name.clone()));
            }
        }
        Ok(())
    }

    fn check_keys(&self) -> Result<(), RosterError> {
        if let Some(without) = self.members.iter().find(|member| member.key.is_none()) {
            return Err(RosterError::NoKey(without.name.clone()));
        }
        let mut halves = BTreeMap::new();
        for member in &self.members {
            for half in member.key.iter().flat_map(NodeKey::halves) {
                let other = halves.insert(half, &member.name);
                if let Some(other) = other {
                    return Err(RosterError::SameKey(other.clone(), member.name.clone()));
                }
            }
        }
        Ok(())
    }

    /// The only way in which it is written.
    pub fn bytes(&self) -> Vec<u8> {
        // A struct of texts and numbers is always written.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// What the ring's identity is made of. A ring goes on when one of its voters has another disk.
    pub fn identity(&self) -> Vec<u8> {
        let ring = Roster {
            version: self.ring_version(),
            recovered: 0,
            storages: BTreeMap::new(),
            made: Vec::new(),
            ..self.clone()
        };
        let mut bytes = self.ring.as_bytes().to_vec();
        bytes.push(0);
        bytes.extend_from_slice(&Sha256::digest(ring.bytes()));
        bytes
    }

    /// The version that the ring is of.
    pub fn ring_version(&self) -> u64 {
        self.formed.max(1)
    }

    /// The members that are on the ring, in order.
    pub fn active(&self) -> impl Iterator<Item = &Member> + Clone {
        self.members
            .iter()
            .filter(|member| !self.is_bypassed(&member.name))
    }

    /// The members that decide on the next roster: the first seven, left out or not.
    pub fn voters(&self) -> impl Iterator<Item = &Member> + Clone {
        self.members.iter().take(MAX_VOTERS)
    }

    /// The disk that a member votes with. One that began with this ring, or with a recovered
    /// roster, needs no agreement on its number: it follows from the member's name and key.
    pub(crate) fn storage(&self, member: &Member) -> Storage {
        let listed = self.storages.get(&member.name).copied();
        listed.unwrap_or_else(|| self.first_storage(member))
    }

    /// The number of a disk that a member began with.
    pub(crate) fn first_storage(&self, member: &Member) -> Storage {
        let key = member.key.map(|key| key.bytes()).unwrap_or([0; 64]);
        let recovered = self.recovered.to_be_bytes();
        let digest = Sha256::digest([member.name.as_bytes(), &[0], &key, &recovered].concat());
        digest
            .first_chunk()
            .copied()
            .map_or(0, Storage::from_be_bytes)
    }

    /// Whether a member is left out.
    pub fn is_bypassed(&self, name: &str) -> bool {
        self.bypassed.iter().any(|bypassed| bypassed == name)
    }

    /// The member with this name.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// A member's place on the ring.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.active().position(|member| member.name == name)
    }

    /// The nearest active members before and after a member, whether it is active
    /// itself or not.
    pub fn around(&self, name: &str) -> Option<[&Member; 2]> {
        let at = self.members.iter().position(|member| member.name == name)?;
        let (before, after) = self.members.split_at(at);
        let active = |member: &&Member| !self.is_bypassed(&member.name) && member.name != name;
        let successor = after.iter().chain(before).find(active)?;
        let predecessor = before.iter().rev().chain(after.iter().rev()).find(active)?;
        Some([predecessor, successor])
    }

    /// When a permit is asked back.
    pub fn max_hold(&self) -> Duration {
        Duration::from_millis(self.terms.max_hold_ms)
    }

    /// How long it may take to end then.
    pub fn stop_timeout(&self) -> Duration {
        Duration::from_millis(self.terms.stop_timeout_ms)
    }

    /// No permit is in use for longer, of this roster or an earlier one.
    pub fn longest_permit(&self) -> Duration {
        let own = self.max_hold().saturating_add(self.stop_timeout());
        own.max(Duration::from_millis(self.longest_before_ms))
    }

    /// The next version with one more member, after `after` or at the end.
    ///
    /// # Errors
    ///
    /// When it is there already or cannot be one.
    pub fn with(&self, member: Member, after: Option<&str>) -> Result<Roster, RosterError> {
        let mut next = self.next();
        let at = match after {
            None => next.members.len(),
            Some(name) => {
                let at = next.members.iter().position(|member| member.name == name);
                at.ok_or_else(|| RosterError::Unknown(name.to_owned()))? + 1
            }
        };
        next.members.insert(at, member);
        next.check()?;
        Ok(next)
    }

    /// The next version without a member.
    ///
    /// # Errors
    ///
    /// When it is not there.
    pub fn without(&self, name: &str) -> Result<Roster, RosterError> {
        if self.member(name).is_none() {
            return Err(RosterError::Unknown(name.to_owned()));
        }
        let mut next = self.next();
        next.members.retain(|member| member.name != name);
        next.bypassed.retain(|bypassed| bypassed != name);
        next.storages.remove(name);
        Ok(next)
    }

    /// The next version with a member left out, or back in.
    ///
    /// # Errors
    ///
    /// When it is not there.
    pub fn bypassing(&self, name: &str, bypass: Bypass) -> Result<Roster, RosterError> {
        if self.member(name).is_none() {
            return Err(RosterError::Unknown(name.to_owned()));
        }
        let mut next = self.next();
        next.bypassed.retain(|bypassed| bypassed != name);
        if bypass == Bypass::LeaveOut {
            next.bypassed.push(name.to_owned());
            next.bypassed.sort();
        }
        Ok(next)
    }

    /// The next version with another key of a member.
    ///
    /// # Errors
    ///
    /// When it is not there, or somebody else has that key.
    pub(super) fn with_key(&self, name: &str, key: NodeKey) -> Result<Roster, RosterError> {
        let mut next = self.next();
        let mut members = next.members.iter_mut();
        let member = members.find(|member| member.name == name);
        let member = member.ok_or_else(|| RosterError::Unknown(name.to_owned()))?;
        // Its disk is the same.
        next.storages.insert(name.to_owned(), self.storage(member));
        member.key = Some(key);
        next.check()?;
        Ok(next)
    }

    /// The next version, with nothing changed yet.
    pub(super) fn next(&self) -> Roster {
        Roster {
            version: self.version.saturating_add(1),
            ..self.clone()
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
