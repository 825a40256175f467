//! Whose word about rosters counts.

use crate::identity::SignerKey;
use crate::membership::roster::Roster;

/// Whose signatures prove a roster: more than half of some keepers', or the operator's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trust {
    keepers: Vec<SignerKey>,
    operator: Option<SignerKey>,
}

impl Trust {
    /// What a node with this roster goes by.
    pub(crate) fn of(roster: &Roster) -> Trust {
        let keys = roster.keepers().filter_map(|member| member.key.as_ref());
        Trust {
            keepers: keys.map(|key| *key.signer()).collect(),
            operator: roster.operator,
        }
    }

    /// Whether a signature of this one counts.
    pub(super) fn covers(&self, by: &SignerKey) -> bool {
        self.keepers.contains(by) || self.operator.as_ref() == Some(by)
    }

    /// Whether signatures of these prove a roster.
    pub(super) fn is_enough(&self, signers: &[SignerKey]) -> bool {
        let keepers = signers.iter().filter(|by| self.keepers.contains(by));
        let operator = |by: &SignerKey| self.operator.as_ref() == Some(by);
        2 * keepers.count() > self.keepers.len() || signers.iter().any(operator)
    }
}
