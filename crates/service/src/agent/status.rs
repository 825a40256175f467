//! What a node tells about itself.

use std::collections::BTreeMap;
use std::time::Duration;

use headway_node::{Machine, Neighbour};
use serde::Serialize;

use super::Agent;
use crate::membership::roster::Roster;
use crate::reach::{Reach, Session};

/// A node at one moment, as `/v1/status` gives it.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Its name.
    pub name: String,
    /// Its place on the ring, if it has one.
    pub index: Option<u32>,
    /// How many nodes the ring has.
    pub members: usize,
    /// The ring's name.
    pub ring: String,
    /// Whether what it has seen for a whole turn was legitimate.
    pub settled: bool,
    /// What it is doing: `settled`, `settling`, `joining`, `changing`, `bypassed`
    /// or `outside`.
    pub phase: &'static str,
    /// Rounds that it has executed.
    pub round: u64,
    /// Tokens that are here.
    pub holding: Vec<Holding>,
    /// Neighbours that are silent.
    pub silent: Vec<String>,
    /// What datagrams go by: `udp` or `zenoh`.
    pub transport: &'static str,
    /// The members beside it, while it is on the ring.
    pub neighbours: Vec<Beside>,
    /// The true separation that is kept, in hops.
    pub separation: u32,
    /// Tokens of the ring.
    pub tokens: u32,
    /// Tokens that it has passed on.
    pub hops: u64,
    /// Permits that it was granted.
    pub permits: u64,
    /// Datagrams that were not listened to, by reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// The roster's version.
    pub roster: u64,
    /// Members that are left out.
    pub bypassed: Vec<String>,
    /// Programs and FleetLock clients that wait.
    pub waiting: usize,
    /// What somebody should look at.
    pub alarms: Vec<String>,
    /// Counts for the metrics.
    #[serde(skip)]
    pub counts: crate::metrics::Counts,
    /// How often the state could not be kept.
    #[serde(skip)]
    pub store_failures: u64,
}

/// A member beside this one.
#[derive(Clone, Debug, Serialize)]
pub struct Beside {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub address: String,
    /// How long ago it was last listened to; null if never since this node took its
    /// place on this ring.
    pub heard_ms: Option<u64>,
    /// For too long.
    pub silent: bool,
    /// The connection to it, where the transport has such a thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
}

/// A token that is here.
#[derive(Clone, Debug, Serialize)]
pub struct Holding {
    /// Which.
    pub token: u32,
    /// Its fencing number.
    pub fencing: u64,
    /// For how long somebody has been using it; 0 while it only passes.
    pub since_ms: u64,
}

impl Agent {
    /// Answers who has asked, with what the transport knows.
    pub(super) fn tell_status(&mut self, transport: &dyn Reach) {
        for (now, reply) in std::mem::take(&mut self.status_wanted) {
            let mut status = self.status(now);
            status.transport = transport.name();
            for (name, session) in transport.sessions() {
                let mut neighbours = status.neighbours.iter_mut();
                if let Some(neighbour) = neighbours.find(|neighbour| neighbour.name == name) {
                    neighbour.session = Some(session);
                }
            }
            let refused = transport.refused();
            if refused > 0 {
                status.rejected.insert("transport", refused);
            }
            // Whoever has gone away does not need it.
            let _ = reply.send(Box::new(status));
        }
    }

    /// What there is to tell, but for what only the transport knows.
    pub fn status(&self, now: Duration) -> Status {
        let machine = self.machine.as_ref();
        let roster = self.current.as_ref();
        let me = &self.settings.node.name;
        let settled = machine.is_some_and(Machine::settled);
        let phase = match (machine, roster) {
            (Some(_), _) if settled => "settled",
            (Some(machine), _) if machine.joined() => "settling",
            (Some(_), _) => "joining",
            (None, Some(roster)) if roster.is_bypassed(me) => "bypassed",
            (None, Some(roster)) if roster.index(me).is_some() => "changing",
            _ => "outside",
        };
        let since = |token| {
            let mut permits = self.desk.permits();
            let permit = permits
                .find(|(held, _)| *held == token)
                .map(|(_, permit)| permit.since);
            permit.map_or(0, |since| now.saturating_sub(since).as_millis() as u64)
        };
        let held = machine
            .into_iter()
            .flat_map(Machine::held)
            .filter(|held| held.permit);
        Status {
            name: me.clone(),
            index: machine.map(|machine| machine.config().index),
            members: roster.map_or(0, |roster| roster.active().count()),
            ring: self.settings.ring.name.clone(),
            settled,
            phase,
            round: self.counts.rounds + machine.map_or(0, Machine::rounds),
            holding: held
                .map(|held| Holding {
                    token: held.token,
                    fencing: held.fence,
                    since_ms: since(held.token),
                })
                .collect(),
            silent: machine
                .into_iter()
                .flat_map(Machine::silent)
                .map(|node| self.name_of(node))
                .collect(),
            transport: "",
            neighbours: machine
                .into_iter()
                .flat_map(Machine::neighbours)
                .map(|neighbour| self.beside(now, &neighbour))
                .collect(),
            separation: machine.map_or(self.settings.ring.separation.get(), |machine| {
                machine.config().plan.true_separation()
            }),
            tokens: self.settings.ring.tokens.get(),
            hops: self.counts.hops + machine.map_or(0, Machine::hops),
            permits: self.counts.permits,
            rejected: self.counts.rejected.clone(),
            roster: roster.map_or(0, |roster| roster.version),
            bypassed: roster.map_or_else(Vec::new, |roster: &Roster| roster.bypassed.clone()),
            waiting: self.desk.waiting(),
            alarms: self.alarms.values().cloned().collect(),
            counts: self.counts.clone(),
            store_failures: self.store.failures,
        }
    }

    fn beside(&self, now: Duration, neighbour: &Neighbour) -> Beside {
        let mut active = self.current.iter().flat_map(Roster::active);
        let member = active.nth(neighbour.node as usize);
        let age = |heard| now.saturating_sub(heard).as_millis() as u64;
        Beside {
            name: self.name_of(neighbour.node),
            address: member.map_or_else(String::new, |member| member.address.clone()),
            heard_ms: neighbour.heard.map(age),
            silent: neighbour.silent,
            session: None,
        }
    }
}
