//! The models that ship.

pub mod delay_relay;
