//! Changing rosters: what a node does from hearing of a new one until it takes part
//! in its ring.
//!
//! 1. It leaves the old ring at once and asks its permits back.
//! 2. When they have ended, and any node that the new roster leaves out has said
//!    that its have, or their time is over, it begins anew on the new ring.
//!
//! Two permits of an old and a new ring are never in use together: the new ring
//! cannot settle, and hence grants nothing, before all its members have begun on
//! it, and each begins only when its own old permits have ended. For those that are
//! no members any more, the members that were beside them wait.

use std::collections::BTreeMap;
use std::time::Duration;

use headway_node::{Key, Machine};

use super::{Agent, sign};
use crate::config::Settings;
use crate::membership::roster::{Roster, Signed};
use crate::reach::Reach;
use crate::store::Store;

/// How long a former neighbour is told of a new roster.
const TELL_FOR: Duration = Duration::from_secs(600);

/// The roster to begin with: the one that was kept, or the file's.
pub(super) fn known_roster(settings: &Settings, key: &Key, store: &Store) -> Option<Signed> {
    let first = settings.first_roster().map(|roster| sign(roster, key));
    let kept = store.roster().and_then(|bytes| {
        Signed::read(&bytes, &settings.ring.name, key)
            .inspect_err(|error| tracing::warn!(%error, "the kept roster is not used"))
            .ok()
    });
    match (kept, first) {
        (Some(kept), Some(first)) if kept.mark().version <= 1 => Some(first),
        (Some(kept), Some(first)) => {
            if kept.roster().members != first.roster().members {
                tracing::info!(
                    version = kept.roster().version,
                    "the roster has changed since ring.members was written; the latest is used"
                );
            }
            Some(kept)
        }
        (kept, first) => kept.or(first),
    }
}

impl Agent {
    /// At the start: goes on with the state that was kept, if it is of this ring.
    pub(super) fn resume(&mut self, now: Duration) {
        self.current = self.exchange.roster().map(|signed| signed.roster().clone());
        if let Some(signed) = self.exchange.roster() {
            self.store.save_roster(signed.bytes());
        }
        let restored = self.store.state().and_then(|saved| {
            let (config, _) = self.place()?.ok()?;
            Machine::restore(config, self.key.clone(), (self.random)(), now, &saved)
                .inspect_err(|error| tracing::info!(%error, "the kept state is not used"))
                .ok()
        });
        match restored {
            Some(machine) => {
                self.unheard =
                    [machine.config().predecessor(), machine.config().successor()].into();
                tracing::info!(round = machine.rounds(), "goes on from the kept state");
                self.machine = Some(machine);
            }
            None => self.desk.abandon(now),
        }
        self.start(now);
    }

    /// There is a new roster.
    pub(super) fn adopt(&mut self, now: Duration) {
        let Some(signed) = self.exchange.roster() else {
            return;
        };
        self.store.save_roster(signed.bytes());
        let new = signed.roster().clone();
        let me = &self.settings.node.name;
        tracing::info!(
            version = new.version,
            members = new.members.len(),
            bypassed = ?new.bypassed,
            "a new roster"
        );
        if let Some(old) = &self.current {
            let left = left_beside(old, &new, me);
            if !left.is_empty() {
                let names: Vec<&String> = left.keys().collect();
                tracing::info!(?names, "waits until they use no permit");
                self.leaving_until =
                    now + self.settings.timing.dwell_most + self.settings.timing.grace;
            }
            self.leaving.extend(left);
            if let Some((before, after)) = old.around(me) {
                for member in [before, after] {
                    self.previous
                        .insert(member.name.clone(), member.address.clone());
                }
                self.previous_until = now + TELL_FOR;
            }
        }
        // Whoever is on the new ring says for itself when it is ready.
        self.leaving.retain(|name, _| new.index(name).is_none());
        if let Some(machine) = self.machine.take() {
            self.counts.close(&machine);
            self.unsettled_since = self.unsettled_since.or(Some(now));
        }
        self.held_back.clear();
        self.unheard.clear();
        self.desk.abandon(now);
        self.poll = None;
        self.silent_since.clear();
        self.alarms
            .retain(|key, _| !key.starts_with("silent:") && key != "bypass" && key != "plan");
        self.current = Some(new);
        self.unwired = true;
        // The neighbours hear of it at once.
        self.next_offer = now;
    }

    /// Begins on the current ring when nothing is left to wait for.
    pub(super) fn start(&mut self, now: Duration) {
        if self.machine.is_some() || self.stopping.is_some() || self.desk.in_use(true) {
            return;
        }
        if !self.leaving.is_empty() && now < self.leaving_until {
            return;
        }
        self.leaving.clear();
        let started = match self.place() {
            None => return,
            Some(Err(problem)) => Err(problem),
            Some(Ok((config, _))) => Machine::new(config, self.key.clone(), (self.random)())
                .map_err(|error| error.to_string()),
        };
        match started {
            Ok(mut machine) => {
                machine.handle_timeout(now);
                tracing::info!(
                    index = machine.config().index,
                    nodes = machine.config().plan.nodes(),
                    "takes its place on the ring"
                );
                self.machine = Some(machine);
                self.unwired = true;
            }
            Err(problem) => self.alarm("plan", true, || problem),
        }
    }

    /// This node's place on the ring, if it has one.
    fn place(&self) -> Option<Result<(headway_node::Config, u32), String>> {
        let roster = self.current.as_ref()?;
        let index = roster.index(&self.settings.node.name)? as u32;
        let nodes = roster.active().count();
        let plan = self.settings.plan(nodes);
        Some(match plan {
            Ok(plan) => Ok((self.settings.machine(roster, index, plan), index)),
            Err(error) => Err(format!("roster {} cannot run: {error}", roster.version)),
        })
    }

    /// Tells the transport where the neighbours are. Whether all are known.
    pub(super) fn wire(&self, transport: &mut dyn Reach) -> bool {
        let Some(machine) = &self.machine else {
            return true;
        };
        let Some(roster) = &self.current else {
            return true;
        };
        let config = machine.config();
        let mut known = true;
        let beside: Vec<_> = [config.predecessor(), config.successor()]
            .into_iter()
            .filter_map(|node| Some((node, roster.active().nth(node as usize)?)))
            .collect();
        let names: Vec<(u32, &str)> = beside
            .iter()
            .map(|(node, member)| (*node, &*member.name))
            .collect();
        transport.beside(&names);
        for (node, member) in beside {
            if let Err(error) = transport.reach(node, &member.address) {
                tracing::warn!(member = %member.name, address = %member.address, %error, "no way to it");
                known = false;
            }
        }
        known
    }

    /// Tells whoever should know which roster this node has.
    pub(super) fn offer(&mut self, now: Duration) {
        let me = self.settings.node.name.clone();
        let mut to: BTreeMap<String, String> = self.leaving.clone();
        if now < self.previous_until {
            to.extend(self.previous.clone());
        }
        if let Some(roster) = &self.current {
            if let Some((before, after)) = roster.around(&me) {
                for member in [before, after] {
                    to.insert(member.name.clone(), member.address.clone());
                }
            }
            // One other in turn: news reach even those whose neighbours are gone.
            self.rotation = (self.rotation + 1) % roster.members.len().max(1);
            if let Some(member) = roster.members.get(self.rotation) {
                to.insert(member.name.clone(), member.address.clone());
            }
        }
        to.remove(&me);
        let taking_part = self.machine.is_some();
        let seeds = self.settings.ring.seeds.iter().filter(|_| !taking_part);
        let addresses: Vec<String> = to.into_values().chain(seeds.cloned()).collect();
        for address in addresses {
            self.exchange.offer(&address);
        }
        // Names may mean other addresses by now.
        self.unwired |= self
            .machine
            .as_ref()
            .is_some_and(|machine| machine.silent().next().is_some());
    }

    /// Makes a roster the ring's, from here.
    pub(super) fn propose(&mut self, now: Duration, roster: Roster) -> Result<u64, String> {
        roster.check().map_err(|error| error.to_string())?;
        let nodes = roster.active().count();
        self.settings
            .plan(nodes)
            .map_err(|error| error.to_string())?;
        let version = roster.version;
        if !self.exchange.propose(sign(roster, &self.key)) {
            return Err("the roster has just been changed by somebody else: try again".into());
        }
        self.act(now);
        Ok(version)
    }
}

/// The members that are no longer on the ring between `me` and the nearest members
/// that are, on either side.
fn left_beside(old: &Roster, new: &Roster, me: &str) -> BTreeMap<String, String> {
    let ring: Vec<_> = old.active().collect();
    let Some(at) = ring.iter().position(|member| member.name == me) else {
        return BTreeMap::new();
    };
    let after = (1..ring.len()).map(|far| ring[(at + far) % ring.len()]);
    let before = (1..ring.len()).map(|far| ring[(at + ring.len() - far) % ring.len()]);
    let gone = |member: &&crate::membership::roster::Member| new.index(&member.name).is_none();
    after
        .take_while(gone)
        .chain(before.take_while(gone))
        .map(|member| (member.name.clone(), member.address.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::roster::tests::roster;

    #[test]
    fn the_members_beside_those_who_left_wait_for_all_of_them() {
        let old = roster(&["a", "b", "c", "d", "e"]);
        let new = old.without("c").unwrap().without("d").unwrap();
        let waits = |me| -> Vec<String> { left_beside(&old, &new, me).into_keys().collect() };
        assert_eq!(waits("b"), ["c", "d"]);
        assert_eq!(waits("e"), ["c", "d"]);
        assert!(waits("a").is_empty());
        // Bypassed counts as gone, too.
        let new = old.bypassing("a", true).unwrap();
        let waits: Vec<String> = left_beside(&old, &new, "e").into_keys().collect();
        assert_eq!(waits, ["a"]);
    }
}
