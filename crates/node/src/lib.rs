//! Headway on a real network: one node of a ring, as a machine without input or
//! output of its own, its wire format, and (feature `std`) transports.
//!
//! m tokens travel round a ring of n nodes, at least d hops apart, and are permits
//! to whoever holds one. Nothing is central, and the ring gets back to order from
//! any state of any node's memory.
//!
//! Layers, each a file, bottom up:
//!
//! * [`wire`]: a node's state as a datagram, and its authentication;
//! * `link`: the latest state of each neighbour, whatever the network does;
//! * the phase clock of [`headway_core::phase_clock`], which keeps neighbours
//!   within one tick, so that logical rounds are exactly synchronous;
//! * `rings`: m token rings, whose tokens cannot be lost;
//! * `release`: the paper's `delay`, `relay` and `measure`, which decide when a
//!   held token goes on;
//! * `permit`, `verdict`: what that means to the application.
//!
//! [`Machine`] ties them together; [`Plan`] turns a wanted true separation into the
//! protocol's parameters.

#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

/// The example of the README runs.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// So do those of the guide for embedded engineers.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../../../docs/guides/embedded.md")]
struct Guide;

mod advance;
mod auth;
mod config;
#[cfg(feature = "std")]
pub mod crew;
#[cfg(feature = "std")]
pub mod driver;
mod event;
mod flaw;
#[cfg(feature = "udp")]
pub mod fleet;
mod join;
mod link;
mod local;
mod machine;
#[cfg(feature = "std")]
pub mod observer;
mod permit;
mod plan;
mod recovery;
mod release;
mod rings;
mod scramble;
mod snapshot;
mod status;
#[cfg(feature = "std")]
pub mod transport;
mod verdict;
pub mod wire;
#[cfg(feature = "std")]
pub mod world;

pub use auth::{Key, MAC_BYTES};
pub use config::{Config, ConfigError, Grant, RingId, Role, Timing};
pub use event::Event;
#[cfg(feature = "flaws")]
pub use flaw::Flaw;
#[cfg(not(feature = "flaws"))]
use flaw::Flaw;
pub use local::Local;
pub use machine::{Machine, Transmit};
pub use plan::{MOST_NODES, MOST_TOKENS, Plan, PlanError};
pub use recovery::{recovery_bound, recovery_rounds};
pub use snapshot::RestoreError;
pub use status::{Held, Neighbour};
pub use wire::Rejected;

/// Microseconds since the application's fixed moment.
type Micros = u64;

fn micros(duration: core::time::Duration) -> Micros {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
