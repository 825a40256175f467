//! What a node is told: a TOML file, variables and flags, read into [`Settings`], with every
//! mistake at its place.

use headway_node::{Config, Plan, RingId, Role, Timing};
use sha2::{Digest as _, Sha256};

use crate::membership::roster::Roster;

mod check;
mod explain;
mod key;
mod keys;
mod source;
mod value;

pub(crate) use check::plain_host;
pub use explain::explain;
pub use key::Key;
pub use keys::{
    ApiSettings, FleetlockSettings, HookSettings, LogSettings, MembershipSettings, NodeSettings,
    RingSettings, RolloutSettings, SerialSettings, Settings, TelemetrySettings, TimingSettings,
    ZenohSettings, example, keys,
};
pub use source::{Mistake, Place, Sources};
pub use value::{LogFormat, Transport, When, parse_duration};

impl Settings {
    /// The plan for so many members: moving blocks, or lock-step where there may be boards,
    /// which know nothing else.
    ///
    /// # Errors
    ///
    /// When the tokens do not fit.
    pub fn plan(&self, members: usize) -> Result<Plan, headway_node::PlanError> {
        let nodes = u32::try_from(members).unwrap_or(u32::MAX);
        let (tokens, separation) = (self.ring.tokens.get(), self.ring.separation.get());
        if self.is_fixed() {
            Plan::new(nodes, tokens, separation)
        } else {
            Plan::of_fleet(nodes, tokens, separation)
        }
    }

    /// The node's configuration as place `index` of a roster with this plan.
    pub fn machine(&self, roster: &Roster, index: u32, plan: Plan) -> Config {
        let ring = Config::identity(&roster.identity(), &plan, self.ring.payload_bytes);
        Config {
            role: Role::usual(index, plan.nodes()),
            payload: self.ring.payload_bytes,
            timing: Timing {
                dwell_most: roster.dwell_most(),
                grace: roster.grace(),
                ..self.timing.timing()
            },
            fence_floor: roster.version << 40,
            ..Config::new(ring, index, plan)
        }
    }

    /// Whether the roster is the file's forever: on serial lines there may be members that
    /// know of no other.
    pub fn is_fixed(&self) -> bool {
        self.node.transport == Transport::Serial
    }

    /// The roster that the file gives, unless it gives seeds.
    pub fn first_roster(&self) -> Option<Roster> {
        (!self.ring.members.is_empty()).then(|| Roster {
            version: 1,
            ring: self.ring.name.clone(),
            members: self.ring.members.clone(),
            dwell_most_ms: self.timing.dwell_most.as_millis() as u64,
            grace_ms: self.timing.grace.as_millis() as u64,
            etcd: !self.ring.etcd.is_empty(),
            ..Roster::default()
        })
    }
}

impl RingSettings {
    /// What every node has to be told the same, as it is sent.
    pub(crate) fn agreement(&self) -> [u8; 9] {
        let mut bytes = [0; 9];
        bytes[0..4].copy_from_slice(&self.tokens.get().to_be_bytes());
        bytes[4..8].copy_from_slice(&self.separation.get().to_be_bytes());
        bytes[8] = self.payload_bytes;
        bytes
    }

    /// The identity of a ring by name only, for control datagrams.
    pub(crate) fn name_id(&self) -> RingId {
        let digest = Sha256::digest([b"headway ring name 1", self.name.as_bytes()].concat());
        let mut id = RingId([0; 16]);
        id.0.copy_from_slice(&digest[..16]);
        id
    }
}

impl TimingSettings {
    /// The times that the protocol goes by.
    pub(crate) const fn timing(&self) -> Timing {
        Timing {
            refresh: self.refresh,
            silence: self.silence,
            tick: self.tick,
            dwell_least: self.dwell_least,
            dwell_most: self.dwell_most,
            grace: self.grace,
        }
    }
}

impl ZenohSettings {
    /// The certificates, if there are any.
    pub fn tls(&self) -> Option<headway_zenoh::Tls> {
        Some(headway_zenoh::Tls {
            authority: self.ca_file.clone()?,
            certificate: self.certificate_file.clone()?,
            key: self.key_file.clone()?,
        })
    }
}
