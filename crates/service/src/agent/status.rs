//! What a node tells about itself.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use headway_node::{Neighbour, Plan};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use super::Agent;
use crate::membership::roster::Terms;
use crate::metrics::Counts;
use crate::permits::Holder;
use crate::reports::{Unheard, Working};

/// A node at one moment, as `/v1/status` gives it. Of a node of another version, what it does
/// not say is empty.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(!default))]
pub struct Status {
    /// A name.
    pub name: String,
    /// Its place on the ring; null: it has none.
    pub index: Option<u32>,
    /// How many members the ring has.
    pub members: usize,
    /// The name of the ring.
    pub ring: String,
    /// Whether what nodes have seen for a whole turn was legitimate.
    pub settled: bool,
    /// What the node is doing.
    #[serde(deserialize_with = "known")]
    pub phase: Phase,
    /// How often the patrol came by; on a ring with boards, rounds executed.
    pub laps: u64,
    /// Tokens that are here.
    pub holding: Vec<Holding>,
    /// Neighbours not heard for too long.
    pub silent: Vec<String>,
    /// Members that somebody does not hear, as any node knows it: tokens stop there.
    pub unheard: Vec<Unheard>,
    /// Members that use a permit and have for two seconds or more, as any node knows it.
    pub working: Vec<Working>,
    /// The members beside it.
    pub neighbours: Vec<NeighbourStatus>,
    /// d, the hops that tokens are to keep apart: what was asked for, what a ring that measures
    /// found, or what conflicts need.
    pub separation: u32,
    /// m, a number of tokens.
    pub tokens: u32,
    /// How many tokens the ring is to have; as many travel as fit.
    pub tokens_wanted: u32,
    /// What all members go by, as the membership says; null if there is none yet; its tokens are
    /// those that are wanted.
    #[serde(deserialize_with = "known")]
    pub ring_settings: Option<Terms>,
    /// Where a node's configuration says otherwise than the membership, which counts.
    pub file_differs: Vec<String>,
    /// The newest version of the wire format that this program speaks; it also speaks the one
    /// before.
    pub newest_wire: u8,
    /// Members that have not said that they speak the version after the ring's, if this node
    /// does.
    pub behind: Vec<String>,
    /// The most tokens that fit on this ring, at this separation.
    pub max_tokens: u32,
    /// How many members can be removed before the ring's tokens do not fit any more.
    pub spare_members: u32,
    /// Tokens passed on.
    pub hops: u64,
    /// Permits granted.
    pub permits: u64,
    /// Datagrams that were not listened to, by reason.
    pub rejected: BTreeMap<Cow<'static, str>, u64>,
    /// The version of the membership.
    pub membership: u64,
    /// Members left out.
    pub bypassed: Vec<String>,
    /// Programs and FleetLock clients that wait for a permit.
    pub waiting: usize,
    /// What somebody should look at.
    pub alarms: Vec<String>,
    /// Counts for the metrics.
    #[serde(skip)]
    pub(crate) counts: Counts,
}

impl Status {
    /// Whether this node takes part in a ring that is legitimate as far as it sees, and tokens
    /// travel: neither it nor two others miss a member. One alone may lie.
    pub fn is_ready(&self) -> bool {
        let unheard = self.unheard.iter();
        let by: BTreeSet<&String> = unheard.flat_map(|one| &one.silent_by).collect();
        self.settled && by.len() < 2 && !by.contains(&self.name)
    }
}

/// What a node is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum Phase {
    /// It takes part, and all is well.
    Settled,
    /// It takes part, and has not seen a whole legitimate turn yet.
    Settling,
    /// It has a place and asks its neighbours for the state.
    Joining,
    /// It waits until permits of the last membership have ended.
    Changing,
    /// Its ring has closed without it.
    Bypassed,
    /// It is no member of a ring.
    #[default]
    Outside,
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// A member beside this one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NeighbourStatus {
    /// A name.
    pub name: String,
    /// Where it receives datagrams.
    pub address: String,
    /// Milliseconds since it was last heard; null: not yet.
    pub heard_ms: Option<u64>,
    /// Not heard for too long.
    pub is_silent: bool,
}

/// A token that is here.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(!default))]
pub struct Holding {
    /// A token, from 0.
    pub token: u32,
    /// Its fencing number.
    pub fencing: u64,
    /// For how long somebody has been using it, in milliseconds; 0 while it only passes.
    pub since_ms: u64,
}

/// What is known here of it: a newer node may say more, or another word.
fn known<'de, D, T>(reader: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = serde_json::Value::deserialize(reader)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// Work that is over sooner is not worth telling everybody.
const WORTH_TELLING: Duration = Duration::from_secs(2);

impl Agent {
    /// Who uses permits here, since which times of day.
    pub(super) fn works(&self, now: Duration) -> Vec<(String, u64)> {
        let long = |since| now.saturating_sub(since) >= WORTH_TELLING;
        let permits = self.permits.permits().filter(|permit| long(permit.since));
        let text = |holder: &Holder| match holder {
            Holder::Command => "its command".to_owned(),
            Holder::Step => "a rollout".to_owned(),
            Holder::Program { .. } => "a program".to_owned(),
            // A name from outside.
            Holder::FleetLock { group, id } => {
                format!("FleetLock client {} of {group}", id.escape_debug())
            }
        };
        permits
            .map(|permit| (text(&permit.holder), self.unix_ms(permit.since)))
            .collect()
    }

    /// What there is to tell.
    pub fn status(&self, now: Duration) -> Status {
        let machine = self.position.machine();
        let roster = self.membership.roster();
        let settings = &self.settings;
        let totals = self.position.totals();
        let held = self.position.held().filter(|held| held.permit);
        let neighbours = || self.position.neighbours();
        let phase = self.phase();
        let (unheard, working) = self.membership.reports(self.unix_ms(now));
        let members = roster.map_or(0, |roster| roster.active().count());
        let plan = roster.and_then(|roster| roster.plan().ok());
        let terms = roster.map(|roster| roster.terms);
        let separation = terms.map_or(1, |terms| terms.separation);
        let (newest_wire, behind) = self.membership.wire();
        let older = terms.is_some_and(|terms| newest_wire > terms.wire);
        let tokens = plan.map_or(0, |plan| plan.tokens());
        let fits = |left: &u32| Plan::of_fleet(*left, tokens, separation).is_ok();
        Status {
            name: settings.node.name.clone(),
            index: machine.map(|machine| machine.config().index),
            members,
            ring: settings.ring.name.clone(),
            settled: phase == Phase::Settled,
            phase,
            laps: totals.laps,
            holding: held
                .map(|held| Holding {
                    token: held.token,
                    fencing: held.fence,
                    since_ms: self.used_for(now, held.token),
                })
                .collect(),
            silent: neighbours()
                .filter(|neighbour| neighbour.silent)
                .map(|neighbour| self.membership.name_of(neighbour.node))
                .collect(),
            unheard,
            working,
            neighbours: neighbours()
                .map(|neighbour| self.neighbour(now, &neighbour))
                .collect(),
            separation,
            tokens,
            tokens_wanted: terms.map_or(0, |terms| terms.tokens),
            ring_settings: terms,
            file_differs: self.membership.differences(),
            newest_wire,
            behind: if older { behind } else { Vec::new() },
            max_tokens: plan.map_or(0, |plan| plan.capacity()),
            spare_members: (0..members as u32).rev().take_while(fits).count() as u32,
            hops: totals.hops,
            permits: self.counts.permits,
            rejected: (self.rejections.counts.iter())
                .map(|(&reason, &count)| (reason.into(), count))
                .collect(),
            membership: roster.map_or(0, |roster| roster.version),
            bypassed: roster.map_or_else(Vec::new, |roster| roster.bypassed.clone()),
            waiting: self.permits.waiting(),
            alarms: self
                .membership
                .alarms()
                .texts()
                .chain(self.alarms.texts())
                .chain(self.rollouts.alarms().texts())
                .chain(self.doubts.texts())
                .collect(),
            counts: self.counts.clone(),
        }
    }

    fn phase(&self) -> Phase {
        let me = &self.settings.node.name;
        match (self.position.machine(), self.membership.roster()) {
            (Some(machine), _) if machine.settled() => Phase::Settled,
            (Some(machine), _) if machine.joined() => Phase::Settling,
            (Some(_), _) => Phase::Joining,
            (None, Some(roster)) if roster.is_bypassed(me) => Phase::Bypassed,
            (None, Some(roster)) if roster.index(me).is_some() => Phase::Changing,
            _ => Phase::Outside,
        }
    }

    fn used_for(&self, now: Duration, token: u32) -> u64 {
        let mut permits = self.permits.permits();
        let permit = permits.find(|permit| permit.grant.token == token);
        permit.map_or(0, |permit| {
            now.saturating_sub(permit.since).as_millis() as u64
        })
    }

    fn neighbour(&self, now: Duration, neighbour: &Neighbour) -> NeighbourStatus {
        let member = self.membership.member_at(neighbour.node);
        let age = |heard| now.saturating_sub(heard).as_millis() as u64;
        NeighbourStatus {
            name: self.membership.name_of(neighbour.node),
            address: member.map_or_else(String::new, |member| member.address.clone()),
            heard_ms: neighbour.heard.map(age),
            is_silent: neighbour.silent,
        }
    }
}
