//! What is in the log, and what it means: changes of the roster, each refused or not.

use serde::{Deserialize, Serialize};

use crate::membership::roster::{Bypass, Member, Roster};

/// Somebody wants another roster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Change {
    /// The version that it is about: another one came first if there is a later one.
    pub(crate) version: u64,
    pub(crate) kind: Kind,
}

/// What is to be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Add {
        member: Member,
        after: Option<String>,
    },
    /// With `gone`, somebody says that its machine is off.
    Remove {
        name: String,
        gone: bool,
    },
    LeaveOut {
        name: String,
    },
    TakeBack {
        name: String,
    },
    /// The ring of this version has settled: everybody on it has left all earlier ones.
    Settled,
}

/// What was decided: the version that there is now, or why there is no other one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decision {
    pub(crate) version: u64,
    pub(crate) refused: Option<String>,
}

/// What the log has led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decided {
    pub(crate) roster: Roster,
    /// The last one whose ring has settled.
    settled: Roster,
    /// Who has been on all rosters since.
    stayed: Vec<String>,
}

impl Decided {
    /// Nothing yet: the first roster's ring is the only one there ever was.
    pub(crate) fn new(first: Roster) -> Decided {
        Decided {
            stayed: names(&first),
            settled: first.clone(),
            roster: first,
        }
    }

    /// Carries out a change, or does not. The same everywhere.
    pub(crate) fn apply(&mut self, change: &Change) -> Decision {
        let refused = self.try_apply(change).err();
        Decision {
            version: self.roster.version,
            refused,
        }
    }

    fn try_apply(&mut self, Change { version, kind }: &Change) -> Result<(), String> {
        if *version != self.roster.version {
            return Err("the roster has just been changed by somebody else: try again".into());
        }
        let roster = &self.roster;
        let next = match kind {
            Kind::Add { member, after } => roster.with(member.clone(), after.as_deref()),
            Kind::Remove { name, .. } => roster.without(name),
            Kind::LeaveOut { name } => roster.bypassing(name, Bypass::LeaveOut),
            Kind::TakeBack { name } => roster.bypassing(name, Bypass::TakeBack),
            Kind::Settled => {
                *self = Decided::new(self.roster.clone());
                return Ok(());
            }
        };
        let next = next.map_err(|error| error.to_string())?;
        let mut stayed = names(&next);
        stayed.retain(|name| self.stayed.contains(name));
        let gone = matches!(kind, Kind::Remove { gone: true, .. });
        let alone = self.settled.active().find(|member| {
            let mut beside = self.settled.around(&member.name).into_iter().flatten();
            !stayed.contains(&member.name) && !beside.any(|beside| stayed.contains(&beside.name))
        });
        if let Some(member) = alone.filter(|_| !gone) {
            return Err(format!(
                "{} and both its neighbours would be gone",
                member.name
            ));
        }
        (self.roster, self.stayed) = (next, stayed);
        Ok(())
    }
}

fn names(roster: &Roster) -> Vec<String> {
    roster.active().map(|member| member.name.clone()).collect()
}
