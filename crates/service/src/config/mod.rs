//! What a node is told: a TOML file and variables, read into [`Settings`], with every
//! mistake at its place.

use std::path::PathBuf;
use std::time::Duration;

use headway_node::RingId;
use sha2::{Digest as _, Sha256};

use crate::membership::roster::Roster;
pub use crate::membership::roster::{Terms, TermsChange};

mod check;
mod explain;
mod former;
mod key;
mod keys;
mod source;
mod value;

pub use explain::{duration, explain, ring};
pub use former::{FORMER, former};
pub use key::Key;
pub use keys::{
    ApiSettings, CommandSettings, FleetlockSettings, LogSettings, MembershipSettings, NodeSettings,
    RingSettings, RolloutSettings, Settings, TimingSettings, example, file_with, keys,
};
pub(crate) use source::place;
pub use source::{Mistake, Place, Sources};
pub use value::{Bypass, LogFormat, When, parse_duration};

impl Settings {
    /// What the first roster's members go by.
    pub fn terms(&self) -> Terms {
        let ms = |time: Duration| time.as_millis() as u64;
        let timing = &self.timing;
        Terms {
            tokens: self.ring.tokens.get(),
            separation: self.ring.separation.get(),
            refresh_ms: ms(timing.refresh),
            heartbeat_timeout_ms: ms(timing.heartbeat_timeout),
            tick_ms: ms(timing.tick),
            min_hold_ms: ms(timing.min_hold),
            max_hold_ms: ms(timing.max_hold),
            stop_timeout_ms: ms(timing.stop_timeout),
            ..Terms::default()
        }
    }

    /// The roster that the file gives, unless it gives only whom to ask for it.
    pub fn first_roster(&self) -> Option<Roster> {
        (!self.is_guest()).then(|| self.listed())
    }

    /// A roster of the members that the file lists, whether this node is one of them or not.
    pub(crate) fn listed(&self) -> Roster {
        Roster {
            version: 1,
            ring: self.ring.name.clone(),
            members: self.ring.members.clone(),
            terms: self.terms(),
            operator: self.ring.recovery_key,
            ..Roster::default()
        }
    }

    /// Whether this node asks those that the file lists, with their keys, for the roster: it is
    /// not among them.
    pub(crate) fn is_guest(&self) -> bool {
        let mut members = self.ring.members.iter();
        !members.any(|member| member.name == self.node.name)
    }

    /// Where this node's key pairs are.
    pub fn identity_file(&self) -> PathBuf {
        let given = self.node.identity_file.clone();
        given.unwrap_or_else(|| self.node.state_dir.join("identity"))
    }
}

impl RingSettings {
    /// The identity of a ring by name only, for control datagrams.
    pub(crate) fn name_id(&self) -> RingId {
        let digest = Sha256::digest([b"headway ring name 1", self.name.as_bytes()].concat());
        let mut id = RingId([0; 16]);
        id.0.copy_from_slice(&digest[..16]);
        id
    }
}
