#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![allow(
    clippy::explicit_iter_loop,
    reason = "lists without a heap are no iterators by reference"
)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod advance;
mod auth;
mod block;
mod config;
mod event;
#[cfg(feature = "serial")]
pub mod frame;
mod join;
mod link;
#[cfg(feature = "alloc")]
mod local;
mod machine;
mod permit;
mod plan;
mod recovery;
mod release;
mod slots;
#[cfg(feature = "alloc")]
mod snapshot;
pub mod state;
mod status;
#[cfg(feature = "std")]
pub mod transport;
mod verdict;
pub mod wire;

pub use auth::{Key, MAC_BYTES};
pub use block::Summary;
pub use config::{Config, ConfigError, Grant, RingId, Role, Timing};
pub use event::Event;
#[cfg(feature = "alloc")]
pub use local::Local;
pub use machine::{Machine, Transmit};
pub use plan::{MAX_NODES, MAX_TOKENS, Plan, PlanError, Rule};
pub use recovery::{recovery_bound, recovery_rounds};
#[cfg(feature = "alloc")]
pub use snapshot::RestoreError;
pub use status::{Held, Neighbour};
pub use wire::Rejected;

/// Microseconds since the application's fixed moment.
type Micros = u64;

fn micros(duration: core::time::Duration) -> Micros {
    // Without 128 bits, which are dear on a small processor.
    let whole = duration.as_secs().saturating_mul(1_000_000);
    whole.saturating_add(duration.subsec_micros().into())
}
