#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod options;
pub use options::{Options, Tls};

/// Whether Zenoh was built in.
pub const AVAILABLE: bool = cfg!(feature = "zenoh");

#[cfg(feature = "certificates")]
pub mod certificates;
#[cfg(feature = "zenoh")]
mod inbox;
#[cfg(feature = "zenoh")]
mod keeper;
#[cfg(feature = "zenoh")]
mod outbox;
#[cfg(feature = "zenoh")]
mod setup;
#[cfg(feature = "zenoh")]
mod transport;

#[cfg(feature = "zenoh")]
pub use transport::{LinkStatus, MAX_DATAGRAM_BYTES, ZenohTransport};
