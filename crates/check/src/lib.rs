#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod actions;
pub mod control;
pub mod export;
pub mod function;
pub mod guarded;
pub mod model;
pub mod ranking;
pub mod reach;
pub mod report;
pub mod schedule;
pub mod traits;

pub use control::{CheckError, Control, Limits};
pub use report::{Figure, Property, Report, Trace, Worst};
pub use schedule::Scheduler;
pub use traits::{Actions, Deterministic, Guarded, Model, Step};
