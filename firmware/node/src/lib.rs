//! A sensor on a ring: it samples only while it holds a permit, and sleeps in between.
//!
//! What a board has to have is in traits: two serial lines to its neighbours and one to
//! whoever watches ([`embedded_io`]), a pin that switches the sensor on ([`embedded_hal`]),
//! a clock. [`Sensor`] does the rest, without a heap.
#![no_std]
#![forbid(unsafe_code)]

pub mod page;
pub mod report;
mod scramble;
mod sensor;

pub use sensor::{Orders, Reading, Sensor, Supplies};

use headway_node::Rule;
use headway_node::frame::frame_bytes;
use headway_node::wire::{Layout, VERSION};

/// The most tokens of a ring that a board has room for.
pub const MAX_TOKENS: u32 = 4;

/// The longest datagram: tokens without payload.
pub const DATAGRAM_BYTES: usize = Layout {
    tokens: MAX_TOKENS,
    payload: 0,
    rule: Rule::LockStep,
    version: VERSION,
}
.bytes();

/// The longest frame on a line to a neighbour.
pub const FRAME_BYTES: usize = frame_bytes(DATAGRAM_BYTES);
