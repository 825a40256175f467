//! What can be asked of a node, without changing it.

use core::time::Duration;

use crate::permit::Stage;
use crate::wire::Rejected;
use crate::{Config, Machine};

/// A token that is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Which one.
    pub token: u32,
    /// Its fencing number.
    pub fence: u64,
    /// Whether the application may work, or has been asked to stop and has not said
    /// that it did.
    pub permit: bool,
}

/// A node beside this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its index.
    pub node: u32,
    /// When it was last listened to, if ever, by the clock that the machine is told.
    pub heard: Option<Duration>,
    /// It has not been heard for too long.
    pub silent: bool,
}

impl Machine {
    /// Whether everything that this node saw for a whole turn was legitimate.
    pub fn settled(&self) -> bool {
        self.verdict.settled(&self.config)
    }

    /// The tokens that are here.
    pub fn held(&self) -> impl Iterator<Item = Held> {
        let stays = self.stays.iter().enumerate();
        stays
            .filter(|(_, stay)| stay.rounds > 0)
            .map(|(token, stay)| Held {
                token: token as u32,
                fence: self.rings.fences[token],
                permit: matches!(stay.stage, Stage::Working | Stage::Stopping),
            })
    }

    /// What a token carried when it was last here, or carries if it is here.
    pub fn payload(&self, token: u32) -> &[u8] {
        if token < self.config.plan.tokens() {
            self.rings.payloads.get(token as usize)
        } else {
            &[]
        }
    }

    /// Rounds that this node has executed.
    pub const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Tokens that this node has passed on.
    pub const fn hops(&self) -> u64 {
        self.hops
    }

    /// Datagrams that it has written since it started.
    pub const fn datagrams(&self) -> u64 {
        self.sequence
    }

    /// How often its clock was reset.
    pub const fn resets(&self) -> u64 {
        self.resets
    }

    /// Its clock's phase; below 0 while it recovers.
    pub const fn phase(&self) -> i32 {
        self.phase
    }

    /// Whether it has a state, of its own or taken from its neighbours.
    pub const fn joined(&self) -> bool {
        self.joined
    }

    /// The neighbours that have not been heard for too long.
    pub fn silent(&self) -> impl Iterator<Item = u32> {
        let links = self.links.iter();
        links.filter(|link| link.silent).map(|link| link.node)
    }

    /// The neighbours: the predecessor first, and only once if both are the same.
    pub fn neighbours(&self) -> impl Iterator<Item = Neighbour> {
        self.links.iter().map(|link| Neighbour {
            node: link.node,
            heard: (link.known || link.joining).then(|| Duration::from_micros(link.heard)),
            silent: link.silent,
        })
    }

    /// How many datagrams were not listened to, for each reason.
    pub fn rejected(&self) -> impl Iterator<Item = (Rejected, u64)> {
        Rejected::ALL.into_iter().zip(self.rejected)
    }

    /// The separation in logical time that this node keeps: the plan's, or what a
    /// measuring node has found.
    pub fn separation(&self) -> u32 {
        self.rule.separation(&self.config)
    }

    /// Its configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }
}
