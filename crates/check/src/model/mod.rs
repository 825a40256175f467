//! The models that ship.

pub mod asynchronous;
pub mod definitional;
pub mod delay_relay;
pub mod handover;
pub mod k_state;
pub mod measure;
pub mod monitor;
pub mod phase_clock;
