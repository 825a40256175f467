//! Changes of the roster, and what each makes of it, the same everywhere.

use serde::{Deserialize, Serialize};

use super::register::Storage;
use super::roster::{Bypass, MAX_MADE, Member, Roster, Terms};
use crate::identity::{NodeKey, Signer, SignerKey};
use crate::membership::roster::RosterError;
use crate::request::Refusal;

/// Somebody wants another roster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Never the same twice, so that whoever wanted it knows whether it was made.
    pub id: u64,
    /// The version that it is about: if there is a later one, somebody else came first.
    pub version: u64,
    /// The ring of that version has settled: everybody on it has left all earlier ones.
    pub settled: bool,
    /// What is to be changed.
    pub kind: Kind,
}

/// What is to be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Kind {
    Add {
        member: Member,
        after: Option<String>,
    },
    /// With `gone`, somebody says that its machine is off.
    Remove { name: String, gone: bool },
    /// It is silent.
    LeaveOut { name: String },
    /// It is back.
    TakeBack { name: String },
    /// The members stay, and go by something else.
    Set(Terms),
    /// All of these.
    Several(Vec<Kind>),
    /// It has another key from now on, says its old one.
    Rekey {
        name: String,
        key: NodeKey,
        signature: String,
    },
    /// So has the operator.
    Operator { key: SignerKey, signature: String },
    /// It has another disk, and votes with that from now on.
    Storage { name: String, storage: Storage },
}

impl Kind {
    /// Whose machines somebody says are off, by name.
    pub(super) fn said_off(&self) -> Vec<&str> {
        match self {
            Kind::Remove { name, gone: true } => vec![name],
            Kind::Several(all) => all.iter().flat_map(Kind::said_off).collect(),
            _ => Vec::new(),
        }
    }

    /// Who is added, by name.
    pub(super) fn added(&self) -> impl Iterator<Item = &str> {
        let all = match self {
            Kind::Several(all) => all,
            one => std::slice::from_ref(one),
        };
        all.iter().filter_map(|kind| match kind {
            Kind::Add { member, .. } => Some(&*member.name),
            _ => None,
        })
    }

    /// Another key for a member, signed with the one that it has.
    pub(crate) fn rekey(ring: &str, name: &str, key: NodeKey, old: &Signer) -> Kind {
        let (_, signature) = old.vouch(&rekey_message(ring, name, &key));
        Kind::Rekey {
            name: name.to_owned(),
            key,
            signature: hex::encode(signature),
        }
    }
}

fn rekey_message(ring: &str, name: &str, key: &NodeKey) -> Vec<u8> {
    let texts = ["headway key of a node 1", ring, name].join("\0");
    [texts.as_bytes(), &[0], &key.bytes()].concat()
}

/// What the operator's old key signs under another one.
pub(crate) fn operator_message(ring: &str, key: &SignerKey) -> Vec<u8> {
    let texts = ["headway key of an operator 1", ring].join("\0");
    [texts.as_bytes(), &[0], key.bytes()].concat()
}

/// Whether a signature, in hexadecimal digits, is somebody's.
fn signed(by: Option<&SignerKey>, message: &[u8], signature: &str) -> Result<(), Refusal> {
    let mut bytes = [0; 64];
    let read = hex::decode_to_slice(signature, &mut bytes).is_ok();
    let right = read && by.is_some_and(|by| by.verify(message, &bytes));
    right.then_some(()).ok_or(Refusal::NotSigned)
}

impl Roster {
    /// The roster after a change.
    ///
    /// # Errors
    ///
    /// When another change came first, the change makes no sense, or too few members would be
    /// left. Nobody is left out together with both its neighbours, except on somebody's word: a
    /// member that has not heard of it asks its neighbours before it works, and one of them has
    /// to know.
    pub(super) fn decide(&self, change: &Change) -> Result<Roster, Refusal> {
        if change.version != self.version {
            return Err(Refusal::Superseded);
        }
        if let Some(name) = change.kind.added().find(|name| self.may_work(name, change)) {
            return Err(Refusal::OldName(name.to_owned()));
        }
        let mut next = Roster {
            version: self.version.saturating_add(1),
            ..self.changed(&change.kind)?
        };
        next.made.push(change.id);
        next.made.drain(..next.made.len().saturating_sub(MAX_MADE));
        if let Kind::Storage { .. } = change.kind {
            // The ring is the same.
            return Ok(next);
        }
        next.formed = next.version;
        next.plan()?;
        next.check()?;
        // Whoever is on a ring that has settled uses no permit of an earlier one.
        let longest = match change.settled {
            true => self.max_hold().saturating_add(self.stop_timeout()),
            false => self.longest_permit(),
        };
        next.longest_before_ms = longest.as_millis() as u64;
        if change.settled || self.before.is_empty() {
            next.before = self.active().map(|member| member.name.clone()).collect();
            next.left = Vec::new();
        }
        let left = next.before.iter();
        let left = left.filter(|name| next.left.contains(name) || next.index(name).is_none());
        next.left = left.cloned().collect();
        let gone = |name: &String| next.left.contains(name);
        let (ring, all) = (&next.before, next.before.len());
        let alone = (0..all).find(|at| {
            let around = [at + all - 1, *at, at + 1];
            around.iter().all(|at| gone(&ring[at % all]))
        });
        match alone.filter(|_| change.kind.said_off().is_empty()) {
            Some(at) => Err(Refusal::Segment(ring[at].clone())),
            None => Ok(next),
        }
    }

    /// Whether a machine that was removed under this name may still use a permit: the ring has
    /// not settled since. Those who wait for it go by its name.
    pub(super) fn may_work(&self, name: &str, change: &Change) -> bool {
        let left = self.left.iter().any(|left| left == name);
        left && self.member(name).is_none() && !change.settled
    }

    /// A later version, changed.
    pub(super) fn changed(&self, kind: &Kind) -> Result<Roster, Refusal> {
        Ok(match kind {
            Kind::Add { member, after } => self.with(member.clone(), after.as_deref())?,
            Kind::Remove { name, .. } => self.without(name)?,
            Kind::LeaveOut { name } => self.bypassing(name, Bypass::LeaveOut)?,
            Kind::TakeBack { name } => self.bypassing(name, Bypass::TakeBack)?,
            Kind::Set(terms) => self.under(*terms)?,
            Kind::Rekey {
                name,
                key,
                signature,
            } => {
                let old = self.member(name).and_then(|member| member.key.as_ref());
                let message = rekey_message(&self.ring, name, key);
                signed(old.map(NodeKey::signer), &message, signature)?;
                self.with_key(name, *key)?
            }
            Kind::Operator { key, signature } => {
                let message = operator_message(&self.ring, key);
                signed(self.operator.as_ref(), &message, signature)?;
                Roster {
                    operator: Some(*key),
                    ..self.next()
                }
            }
            Kind::Storage { name, storage } if self.member(name).is_some() => {
                let mut next = self.next();
                next.storages.insert(name.clone(), *storage);
                next
            }
            Kind::Storage { name, .. } => Err(RosterError::Unknown(name.clone()))?,
            Kind::Several(all) => {
                let mut next = self.clone();
                for kind in all {
                    next = next.changed(kind)?;
                }
                next
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use crate::membership::roster::tests::roster;
    use crate::operator::sign_key;

    /// A roster, and what changes have made of it.
    struct Decided {
        roster: Roster,
    }

    impl Decided {
        fn new(roster: Roster) -> Decided {
            Decided { roster }
        }

        /// Why not, or nothing if it was made.
        fn apply(&mut self, change: &Change) -> Option<String> {
            match self.roster.decide(change) {
                Ok(next) => self.roster = next,
                Err(why) => return Some(why.to_string()),
            }
            None
        }
    }

    fn remove(id: u64, roster: &Roster, name: &str, settled: bool) -> Change {
        Change {
            id,
            version: roster.version,
            settled,
            kind: Kind::Remove {
                name: name.into(),
                gone: false,
            },
        }
    }

    #[test]
    fn what_comes_twice_is_carried_out_once_and_what_comes_late_is_refused() {
        let mut decided = Decided::new(roster(&["a", "b", "c", "d"]));
        let change = remove(7, &decided.roster, "a", false);
        let late = remove(8, &decided.roster, "b", false);
        assert_eq!(decided.apply(&change), None);
        assert_eq!(
            (decided.roster.version, &decided.roster.made),
            (2, &vec![7])
        );
        for late in [change, late] {
            let why = decided.apply(&late);
            assert!(why.is_some_and(|why| why.contains("try again")));
        }
        assert_eq!(decided.roster.members.len(), 3);
    }

    /// Whoever waits until a machine that was removed uses no permit goes by its name.
    #[test]
    fn a_name_is_taken_again_when_the_ring_has_settled_without_it() {
        let again = |decided: &Decided, id, settled| Change {
            id,
            version: decided.roster.version,
            settled,
            kind: Kind::Several(vec![Kind::Add {
                member: Member {
                    name: "b".into(),
                    address: "elsewhere:1".into(),
                    key: Some(Identity::new(&[77; 64]).public()),
                    ..Member::default()
                },
                after: None,
            }]),
        };
        let mut decided = Decided::new(roster(&["a", "b", "c", "d"]));
        let removed = remove(1, &decided.roster, "b", true);
        assert_eq!(decided.apply(&removed), None);
        let early = decided.apply(&again(&decided, 2, false));
        assert!(early.is_some_and(|why| why.contains("wait until")));
        // Another change in between says nothing of it.
        let other = remove(3, &decided.roster, "d", false);
        assert_eq!(decided.apply(&other), None);
        assert!(decided.apply(&again(&decided, 4, false)).is_some());
        assert_eq!(decided.apply(&again(&decided, 5, true)), None);
        assert!(decided.roster.member("b").is_some());
    }

    #[test]
    fn three_neighbours_go_only_if_the_ring_has_settled_in_between() {
        let first = roster(&["a", "b", "c", "d", "e", "f"]);
        for settled in [false, true] {
            let mut decided = Decided::new(first.clone());
            for (id, name) in ["b", "c"].into_iter().enumerate() {
                let change = remove(id as u64, &decided.roster, name, false);
                assert_eq!(decided.apply(&change), None);
            }
            let last = decided.apply(&remove(9, &decided.roster, "d", settled));
            let refused = last.is_some_and(|why| why.starts_with("c and both"));
            assert_eq!(refused, !settled);
        }
    }

    /// A permit of a ring that was left lasts as long as it would have.
    #[test]
    fn shorter_permits_count_when_a_ring_has_settled_with_them() {
        let mut decided = Decided::new(roster(&["a", "b", "c", "d"]));
        let long = decided.roster.longest_permit();
        let terms = Terms {
            max_hold_ms: 1000,
            stop_timeout_ms: 100,
            ..decided.roster.terms
        };
        let mut change = |id, settled, kind| {
            let version = decided.roster.version;
            let change = Change {
                id,
                version,
                settled,
                kind,
            };
            assert_eq!(decided.apply(&change), None);
            decided.roster.longest_permit()
        };
        let tick = |tick_ms| Kind::Set(Terms { tick_ms, ..terms });
        assert_eq!(change(1, true, Kind::Set(terms)), long);
        assert_eq!(
            change(2, false, tick(1)),
            long,
            "no ring has settled with it"
        );
        assert!(change(3, true, tick(2)) < long);
    }

    /// All or nothing, by one version.
    #[test]
    fn several_changes_are_one() {
        let mut decided = Decided::new(roster(&["a", "b", "c", "d"]));
        let several = |version, names: &[&str]| Change {
            id: version,
            version,
            settled: false,
            kind: Kind::Several(
                names
                    .iter()
                    .map(|name| remove(0, &roster(&["a"]), name, false).kind)
                    .collect(),
            ),
        };
        let refused = decided.apply(&several(1, &["a", "x"]));
        assert!(refused.is_some_and(|why| why.contains("no member `x`")));
        assert_eq!(decided.roster.members.len(), 4);
        assert_eq!(decided.apply(&several(1, &["a", "c"])), None);
        assert_eq!(
            (decided.roster.version, decided.roster.members.len()),
            (2, 2)
        );
        let refused = decided.apply(&several(2, &["b", "d"]));
        assert!(refused.is_some_and(|why| why.contains("a ring has 2 to")));
    }

    /// A key is changed by whoever has the one before, and by nobody else.
    #[test]
    fn a_key_is_changed_by_its_owner_only() {
        let [a, b, new] = [1, 2, 3].map(|number| Identity::new(&[number; 64]));
        let mut first = roster(&["a", "b"]);
        for (member, key) in first.members.iter_mut().zip([&a, &b]) {
            member.key = Some(key.public());
        }
        first.operator = Some(a.signer().public());
        let mut id = 0;
        let mut decide = |roster: &Roster, kind| {
            id += 1;
            let version = roster.version;
            let settled = true;
            roster.decide(&Change {
                id,
                version,
                settled,
                kind,
            })
        };
        let stolen = Kind::rekey("web", "a", new.public(), b.signer());
        assert_eq!(decide(&first, stolen), Err(Refusal::NotSigned));
        let elsewhere = Kind::rekey("mail", "a", new.public(), a.signer());
        assert_eq!(decide(&first, elsewhere), Err(Refusal::NotSigned));
        let own = Kind::rekey("web", "a", new.public(), a.signer());
        let second = decide(&first, own.clone()).unwrap();
        assert_eq!(second.members[0].key, Some(new.public()));
        assert_eq!(decide(&second, own), Err(Refusal::NotSigned), "not twice");
        let key = b.signer().public();
        let operator = |by: &Identity| Kind::Operator {
            key,
            signature: sign_key("web", key, by.signer()),
        };
        assert_eq!(decide(&second, operator(&b)), Err(Refusal::NotSigned));
        let third = decide(&second, operator(&a)).unwrap();
        assert_eq!((third.version, third.operator), (3, Some(key)));
    }

    /// A voter with another disk changes nothing about the ring, and votes with that from now on.
    #[test]
    fn another_disk_is_another_version_of_the_same_ring() {
        let first = roster(&["a", "b", "c"]);
        let own = |roster: &Roster| roster.storage(&roster.members[0]);
        let change = Change {
            id: 1,
            version: 1,
            settled: false,
            kind: Kind::Storage {
                name: "a".into(),
                storage: 7,
            },
        };
        let second = first.decide(&change).unwrap();
        assert_eq!((second.version, second.identity()), (2, first.identity()));
        assert_eq!(own(&second), 7);
        assert_ne!(own(&first), first.storage(&first.members[1]));
        // Another key is the same disk.
        let key = Identity::new(&[9; 64]).public();
        let third = first.with_key("a", key).unwrap();
        assert_eq!(own(&third), own(&first));
        assert_ne!(third.first_storage(&third.members[0]), own(&first));
        let gone = second.without("a").unwrap();
        assert!(gone.storages.is_empty());
    }
}
