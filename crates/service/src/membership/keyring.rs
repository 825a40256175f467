//! The keys of datagrams: one for each pair of members, derived once.

use std::collections::BTreeMap;

use headway_node::Key;

use super::roster::MAX_MEMBERS;
use crate::identity::{Identities, Identity, NodeKey, Purpose};

/// Derived keys that are remembered at most.
const MAX_KEYS: usize = 4 * MAX_MEMBERS;

#[derive(Clone)]
pub(crate) struct Keyring {
    identities: Identities,
    ring: String,
    name: String,
    /// By the own public key, the other's, its name, and what for.
    derived: BTreeMap<(NodeKey, NodeKey, String, Purpose), Key>,
}

impl Keyring {
    pub(crate) fn new(identities: Identities, ring: &str, name: &str) -> Keyring {
        Keyring {
            identities,
            ring: ring.to_owned(),
            name: name.to_owned(),
            derived: BTreeMap::new(),
        }
    }

    /// The node's own key pairs.
    pub(crate) const fn identities(&mut self) -> &mut Identities {
        &mut self.identities
    }

    fn list(&self) -> &[Identity] {
        self.identities.list()
    }

    /// Its signature with one of its key pairs.
    pub(crate) fn sign_with(&self, own: &NodeKey, message: &[u8]) -> Option<[u8; 64]> {
        let mut list = self.list().iter();
        let identity = list.find(|identity| identity.public() == *own)?;
        Some(identity.signer().vouch(message).1)
    }

    /// Whether it has this key pair.
    pub(crate) fn is_own(&self, key: &NodeKey) -> bool {
        self.list().iter().any(|identity| identity.public() == *key)
    }

    /// The keys for control datagrams from and to another: one for each of this node's key
    /// pairs, which are two only while it changes from one to the other.
    pub(crate) fn control(&mut self, name: &str, other: &NodeKey) -> Vec<Key> {
        let own: Vec<NodeKey> = self.list().iter().map(Identity::public).collect();
        let keys = own.iter();
        keys.filter_map(|own| self.key(own, (name, other), Purpose::Control))
            .collect()
    }

    /// The key for a neighbour on a ring whose roster has this key of the node itself.
    pub(crate) fn hop(&mut self, own: &NodeKey, other: (&str, &NodeKey)) -> Option<Key> {
        self.key(own, other, Purpose::Hop)
    }

    fn key(&mut self, own: &NodeKey, other: (&str, &NodeKey), purpose: Purpose) -> Option<Key> {
        let at = (*own, *other.1, other.0.to_owned(), purpose);
        if let Some(key) = self.derived.get(&at) {
            return Some(key.clone());
        }
        let mut list = self.list().iter();
        let identity = list.find(|identity| identity.public() == *own)?;
        let key = identity.key_with(&self.ring, purpose, &self.name, other)?;
        if self.derived.len() >= MAX_KEYS {
            self.derived.clear();
        }
        self.derived.insert(at, key.clone());
        Some(key)
    }
}
