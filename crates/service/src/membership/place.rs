//! The roster that this node acts by, and the node's place in it.

use std::collections::BTreeMap;
use std::time::Duration;

use headway_node::Config;

use super::Membership;
use super::roster::{Member, Roster};
use crate::agent::alarm::Alarm;

impl Membership {
    /// The roster that this node acts by.
    pub(crate) const fn roster(&self) -> Option<&Roster> {
        self.current.as_ref()
    }

    /// The member at a place of the ring.
    pub(crate) fn member_at(&self, node: u32) -> Option<&Member> {
        self.current.as_ref()?.active().nth(node as usize)
    }

    /// Its name.
    pub(crate) fn name_of(&self, node: u32) -> String {
        let member = self.member_at(node);
        member.map_or_else(|| format!("#{node}"), |member| member.name.clone())
    }

    /// This node's place on the ring, if it has one and the ring can run.
    pub(crate) fn place(&mut self) -> Option<Config> {
        let roster = self.current.as_ref()?;
        let index = roster.index(&self.settings.node.name)? as u32;
        if let Some(alarm) = self.other_wire(roster) {
            self.alarms.raise(alarm);
            return None;
        }
        if let [_] = roster.members[..] {
            self.alarms.raise(Alarm::Alone);
            return None;
        }
        match roster.plan() {
            Ok(plan) => Some(roster.place(index, plan)),
            Err(error) => {
                let version = roster.version;
                self.alarms.raise(Alarm::NoPlan { version, error });
                None
            }
        }
    }

    /// The position on the ring could not be taken.
    pub(crate) fn handle_no_place(&mut self, error: headway_node::ConfigError) {
        self.alarms.raise(Alarm::NoPlace(error));
    }

    /// Nodes that have left and may still use a permit, with their addresses.
    pub(crate) const fn leaving(&self) -> &BTreeMap<String, String> {
        &self.leaving
    }

    /// Whether a member was heard a moment ago.
    pub(super) fn hears(&self, now: Duration, name: &str) -> bool {
        let members = self.current.iter().flat_map(|roster| &roster.members);
        self.witness.hears(now, name, members.count())
    }

    /// This node, or what it had kept, is older than what its neighbours know.
    pub(crate) fn handle_rolled_back(&mut self, now: Duration) {
        self.witness.handle_doubt(now);
    }

    /// Nobody who has left has to be waited for.
    pub(crate) fn is_free(&mut self, now: Duration) -> bool {
        if now >= self.leaving_until {
            self.leaving.clear();
        }
        self.leaving.is_empty()
    }

    pub(super) fn own_address(&self) -> &str {
        let node = &self.settings.node;
        let listed = self.current.as_ref();
        let listed = listed.and_then(|roster| roster.member(&node.name));
        let listed = listed.map(|member| &member.address);
        let listed = listed.or(self.was_listed.as_ref());
        listed.or(node.advertise.as_ref()).unwrap_or(&node.listen)
    }
}
