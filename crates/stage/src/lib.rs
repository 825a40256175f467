#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod conformance;
pub mod driver;
pub mod faulty;
pub mod group;
pub mod live_ring;
pub mod memory;
pub mod observer;
mod scramble;
pub mod world;

pub use scramble::scramble;
