#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod bound;
pub mod conflicts;
pub mod distance;
pub mod exact;
pub mod fairness;
pub mod file;
pub mod formation;
pub mod formats;
pub mod generators;
pub mod hamiltonian;
pub mod kept;
pub mod layout;
pub mod network;
mod orbit;
pub mod order;
mod random;
mod refine;
pub mod rings;
pub mod search;
mod stop;
pub mod svg;
pub mod tour;
pub mod walk;

pub use network::{Network, Node};
pub use stop::NEVER;
pub use walk::Walk;
