#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod advance;
mod auth;
mod config;
mod event;
mod join;
mod link;
mod local;
mod machine;
mod permit;
mod plan;
mod recovery;
mod release;
mod snapshot;
pub mod state;
mod status;
#[cfg(feature = "std")]
pub mod transport;
mod verdict;
pub mod wire;

pub use auth::{Key, MAC_BYTES};
pub use config::{Config, ConfigError, Grant, RingId, Role, Timing};
pub use event::Event;
pub use local::Local;
pub use machine::{Machine, Transmit};
pub use plan::{MAX_NODES, MAX_TOKENS, Plan, PlanError};
pub use recovery::{recovery_bound, recovery_rounds};
pub use snapshot::RestoreError;
pub use status::{Held, Neighbour};
pub use wire::Rejected;

/// Microseconds since the application's fixed moment.
type Micros = u64;

fn micros(duration: core::time::Duration) -> Micros {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
