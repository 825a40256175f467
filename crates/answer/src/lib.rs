#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod check;
pub mod failure;
pub mod forecast;
pub mod instance;
pub mod json;
mod memory;
pub mod petri;
pub mod run;
pub mod sweep;
pub mod walk;
pub mod worst;

pub use failure::Failure;
pub use instance::Instance;
