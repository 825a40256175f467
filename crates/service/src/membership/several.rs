//! Many members that come and go, by one change.

use std::collections::BTreeMap;
use std::time::Duration;

use super::change::changed;
use super::decision::Kind;
use super::poll::{Purpose, Wanted};
use super::roster::{Member, RosterError};
use super::{Effect, Membership};
use crate::request::{Answer, Changed, Refusal, RequestId};

impl Membership {
    /// Adds and removes members, those to add once they have answered, all by one change.
    pub(crate) fn handle_follow(
        &mut self,
        now: Duration,
        request: RequestId,
        add: Vec<Member>,
        remove: Vec<String>,
    ) {
        if self.poll.is_some() {
            return self.refuse(Wanted::By(request), Refusal::Busy);
        }
        let missing: BTreeMap<_, _> = add.iter().map(Member::entry).collect();
        let nobody = missing.is_empty();
        let purpose = Purpose::Follow {
            request,
            add,
            remove,
        };
        self.ask(now, purpose, missing);
        if nobody {
            self.conclude(now);
        }
    }

    /// Proposes as many of these changes as can be made at once.
    pub(super) fn propose_several(
        &mut self,
        request: RequestId,
        add: Vec<Member>,
        remove: Vec<String>,
        missing: &BTreeMap<String, String>,
    ) {
        let mut refused = BTreeMap::new();
        let mut kinds = Vec::new();
        for member in add {
            let name = member.name.clone();
            match missing.get(&name) {
                Some(address) => {
                    let why = match member.key {
                        None => Refusal::Roster(RosterError::NoKey(name.clone())),
                        Some(_) => Refusal::Unreachable(name.clone(), address.clone()),
                    };
                    refused.insert(name, why.to_string());
                }
                None => {
                    let after = None;
                    kinds.push((name, Kind::Add { member, after }));
                }
            }
        }
        kinds.extend(remove.into_iter().map(|name| {
            let gone = false;
            (name.clone(), Kind::Remove { name, gone })
        }));
        let Some(roster) = &self.current else {
            return self.refuse(Wanted::By(request), Refusal::NoRoster);
        };
        let mut next = roster.clone();
        let mut kept = Vec::new();
        for (name, kind) in kinds {
            let change = self.change(kind.clone());
            let added = matches!(kind, Kind::Add { .. });
            if added && change.is_some_and(|change| roster.may_work(&name, &change)) {
                let why = Refusal::OldName(name.clone()).to_string();
                refused.insert(name, why);
                continue;
            }
            match next.changed(&kind) {
                Ok(changed) => {
                    next = changed;
                    kept.push((name, kind));
                }
                Err(why) => drop(refused.insert(name, why.to_string())),
            }
        }
        // Whoever would be gone with both its neighbours goes the next time.
        loop {
            let kinds = kept.iter().map(|(_, kind)| kind.clone()).collect();
            let several = self.change(Kind::Several(kinds));
            let next = several.ok_or(Refusal::NoRoster);
            let Err(Refusal::Segment(middle)) = next.and_then(|change| self.next(&change)) else {
                break;
            };
            let goes = |(_, kind): &(String, Kind)| matches!(kind, Kind::Remove { .. });
            let named = kept.iter().position(|one| goes(one) && one.0 == middle);
            let Some(at) = named.or_else(|| kept.iter().rposition(goes)) else {
                break;
            };
            let why = Refusal::Segment(middle).to_string();
            refused.insert(kept.remove(at).0, why);
        }
        let kinds: Vec<Kind> = kept.into_iter().map(|(_, kind)| kind).collect();
        if kinds.is_empty() {
            let tokens = self.current.as_ref().map(|now| changed(now, now.tokens()));
            let answer = Answer::Changed(Changed {
                refused,
                ..tokens.unwrap_or_default()
            });
            return self.effects.push_back(Effect::Reply(request, Ok(answer)));
        }
        self.propose_but(Wanted::By(request), Kind::Several(kinds), refused);
    }
}
