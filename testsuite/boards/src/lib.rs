//! Rings of boards in QEMU, and what is done to them.
//!
//! * [`image`]: the programs, compiled;
//! * [`board`]: one board, its page of flash and its emulator;
//! * [`numbers`]: what the programs need;
//! * [`setup`]: how a ring is set up;
//! * [`wire`]: serial lines that lose, delay, repeat and change bytes;
//! * [`yard`]: boards, lines and the observer of their permits, in one loop;
//! * [`drill`]: what `make firmware` does with them, and what it checks.

pub mod board;
pub mod drill;
pub mod image;
pub mod numbers;
mod settle;
pub mod setup;
pub mod wire;
pub mod yard;

pub use headway_firmware as firmware;
