//! Which ring, and why something was not done with it.

use std::io;
use std::time::Duration;

use headway_node::{ConfigError, Key, Plan, RestoreError, Timing};
use thiserror::Error;

use crate::driver::Refused;
use crate::faulty::SharedFaults;

/// Which ring, and how it runs.
#[derive(Clone, Debug)]
pub struct LiveSettings {
    /// Size, tokens, separation.
    pub plan: Plan,
    /// Over what.
    pub carrier: Carrier,
    /// How long applications use a permit.
    pub hold: Range,
    /// How long things take.
    pub timing: Timing,
    /// Bytes of payload per token. With 8 or more, a token counts its permits in it.
    pub payload: u8,
    /// The ring's key.
    pub key: Key,
    /// Of everything random but threads and sockets.
    pub seed: u64,
    /// What happens to datagrams.
    pub faults: SharedFaults,
    /// On how many threads; at least one.
    pub threads: u32,
}

/// Anything between two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// At least.
    pub min: Duration,
    /// At most.
    pub max: Duration,
}

/// What carries the datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// Memory.
    Memory,
    /// UDP sockets on the loopback interface, at free ports.
    Udp,
}

/// Why something was not done.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The ring cannot be configured.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The system has no more sockets or threads.
    #[error("{0}")]
    System(#[from] io::Error),
    /// No such node.
    #[error("there is no node {0}")]
    NoNode(u32),
    /// It is dead already.
    #[error("node {0} is dead already")]
    Dead(u32),
    /// It is alive.
    #[error("node {0} is alive")]
    Alive(u32),
    /// Its saved state is not usable.
    #[error("node {0}: {1}")]
    Restore(u32, RestoreError),
    /// The node's thread does not answer.
    #[error("node {0}: {1}")]
    Refused(u32, Refused),
}
