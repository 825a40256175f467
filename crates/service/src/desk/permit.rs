//! Permits, who uses them, and what is done about them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Who wishes for a permit, or uses one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// The configured command.
    Hook,
    /// A program, by its ticket.
    Program {
        /// Given when it asked.
        ticket: u64,
    },
    /// A FleetLock client.
    Fleet {
        /// Its group.
        group: String,
        /// Its name for itself.
        id: String,
    },
}

/// A permit in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    /// Under which number.
    pub fence: u64,
    /// By whom.
    pub who: Who,
    /// Since when.
    pub since: Duration,
    /// When it is withdrawn at the latest.
    pub deadline: Duration,
    /// Its holder knows that it has it.
    pub collected: bool,
    /// When it ends unless it is extended.
    pub lease: Option<Duration>,
    /// It was asked back, and ends then at the latest.
    pub ends: Option<Duration>,
}

/// Something to be done because of a permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The token may go on.
    Done {
        /// Which.
        token: u32,
        /// Under which number it was granted.
        fence: u64,
        /// What it carries from now on, if that changes.
        payload: Option<Vec<u8>>,
    },
    /// The command is to be run.
    StartHook {
        /// Which token.
        token: u32,
        /// Its number.
        fence: u64,
        /// How long there is.
        time: Duration,
    },
    /// The command has to stop.
    StopHook {
        /// Which token.
        token: u32,
        /// Its number.
        fence: u64,
    },
    /// A program has its permit.
    Given {
        /// Its ticket.
        ticket: u64,
        /// Which token.
        token: u32,
        /// Its number.
        fence: u64,
        /// How long there is.
        time: Duration,
    },
    /// A FleetLock client has its permit.
    Reserved {
        /// Its group.
        group: String,
        /// Its name.
        id: String,
    },
    /// A permit was not given back in time.
    Overrun {
        /// Which token.
        token: u32,
        /// Its number.
        fence: u64,
        /// Who still had it.
        who: Who,
    },
}

/// Times that the desk goes by.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// A permit is withdrawn after this long.
    pub dwell_most: Duration,
    /// It ends this long after it was asked back.
    pub grace: Duration,
    /// FleetLock wishes are forgotten after this long.
    pub patience: Duration,
    /// The command wishes for every permit.
    pub hook_every: bool,
}

/// What survives a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// FleetLock clients that wait, in order.
    pub waiting: Vec<Who>,
    /// Permits in use.
    pub using: Vec<Entry>,
}

/// A permit in use, as remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Which token.
    pub token: u32,
    /// Its number.
    pub fence: u64,
    /// By whom.
    pub who: Who,
    /// Its holder knows that it has it.
    #[serde(default)]
    pub collected: bool,
}

impl Permit {
    /// It has to end now.
    pub(super) fn over(&self, now: Duration) -> bool {
        self.ends.is_some_and(|ends| now >= ends) || self.lease.is_some_and(|lease| now >= lease)
    }
}
