//! The protocol against its paper, its history and its closed forms.

mod admits;
mod bounds;
mod chain;
mod common;
mod legitimate;
mod measure;
mod monitor;
mod names_and_limits;
mod phase_clock;
mod splits;
mod token_ring;
mod tokens;
