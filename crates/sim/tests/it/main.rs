//! Engines, starts, faults, state files and the forecast, against lock-step and against formulas.

mod damaged_state_file;
mod engines;
mod forecast;
mod moving_block;
mod starts;
