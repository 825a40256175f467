#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod asynchronous;
pub mod beliefs;
pub mod engine;
pub mod fault;
pub mod film;
#[cfg(feature = "clap")]
pub mod flags;
pub mod forecast;
pub mod moving_block;
pub mod number;
pub mod open_chain;
pub mod placement;
pub mod run;
pub mod seed;
pub mod settings;
pub mod start;
pub mod state_file;
pub mod token_rings;

pub use fault::Fault;
pub use film::Film;
pub use headway_core::desiderata::Outcome;
pub use run::{Run, run};
pub use settings::Settings;
pub use state_file::{StateFile, line_and_column};
