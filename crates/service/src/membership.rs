//! Who is on the ring, and how that spreads.

pub mod control;
pub mod exchange;
pub mod roster;
