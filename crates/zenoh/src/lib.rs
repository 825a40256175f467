//! A ring over [Zenoh](https://zenoh.io): mutual TLS, access control, neighbours
//! connected directly.
//!
//! Zenoh is a large library, so it is behind the feature `zenoh`; without it this
//! crate has only [`Options`], and `AVAILABLE` is `false`.
//!
//! What Zenoh is used for, and what not:
//!
//! * Every node listens with one session, and reaches every other node that it has
//!   something to tell by a session of its own to that node's address. Zenoh's peers
//!   do not pass on what they hear, and here they need not. Scouting and gossip are
//!   off: nobody is found, everybody is listed.
//! * Sending never waits (congestion control `Drop`). What cannot go yet waits in a
//!   channel that keeps only the latest; so does what nobody has read.
//! * Zenoh is not self-stabilizing. A session to a neighbour that stays silent is
//!   closed and opened anew, and so is the listening one if all of them are.
//! * Liveliness tokens tell what a session believes. They are a hint for people and
//!   for when to look again; that a neighbour is there shows only in what it says.
//! * With certificates, only the two neighbours may put anything where this node
//!   reads the state of the ring, each only under the name in its certificate.

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
pub use transport::{LARGEST_DATAGRAM, LinkStatus, ZenohTransport};
