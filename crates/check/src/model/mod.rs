//! The models that ship.

pub mod delay_relay;
pub mod k_state;
pub mod phase_clock;
