//! Whose word about rosters counts.

use super::Roster;
use crate::identity::SignerKey;

/// Whose signatures prove a roster: more than half of some keepers', or the operator's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    pub(super) keepers: Vec<SignerKey>,
    pub(super) operator: Option<SignerKey>,
}

impl Trust {
    /// What a node with this roster goes by.
    pub fn of(roster: &Roster) -> Trust {
        let keys = roster.keepers().filter_map(|member| member.key.as_ref());
        Trust {
            keepers: keys.map(|key| *key.signer()).collect(),
            operator: roster.operator,
        }
    }

    /// Whether a signature of this one counts.
    pub(crate) fn covers(&self, by: &SignerKey) -> bool {
        self.keepers.contains(by) || self.operator.as_ref() == Some(by)
    }

    /// Whether signatures of these, each named once, prove a roster.
    pub(crate) fn is_enough(&self, signers: &[SignerKey]) -> bool {
        let keepers = signers.iter().filter(|by| self.keepers.contains(by));
        let operator = |by: &SignerKey| self.operator.as_ref() == Some(by);
        2 * keepers.count() > self.keepers.len() || signers.iter().any(operator)
    }

    /// The only way in which it is written: how many keepers and operators, then their keys.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let counts = [self.keepers.len() as u8, self.operator.iter().len() as u8];
        let keys = self.keepers.iter().chain(&self.operator);
        let keys = keys.flat_map(|key| key.bytes());
        counts.iter().chain(keys).copied().collect()
    }
}
