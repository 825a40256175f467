#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod bound;
pub mod circuit;
pub mod dot;
pub mod graph;
pub mod invariant;
pub mod markings;
pub mod maxplus;
pub mod net;
pub mod play;
pub mod pnml;
pub mod ring;
pub mod semiflow;
pub mod separate;
pub mod siphon;
pub mod structure;
pub mod svg;
pub mod tina;
pub mod transient;

pub use graph::EventGraph;
pub use net::{Marking, Net};
