#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod network;
pub mod plan;
mod random;
mod read;
mod stop;
pub mod walk;

pub use network::{Network, Node};
pub use read::ReadError;
pub use stop::NEVER;
pub use walk::Walk;
