#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod actions;
pub mod chance;
mod control;
mod domains;
mod error;
pub mod function;
pub mod guarded;
mod listed;
pub mod model;
mod parallel;
mod placements;
pub mod protocol;
pub mod reach;
mod report;
mod schedule;
pub mod settings;
mod traits;

/// Whether this build can explore by decision diagrams (feature `symbolic`).
pub const HAS_DIAGRAMS: bool = cfg!(feature = "symbolic");

pub use control::{Control, Limits};
pub use domains::Domains;
pub use error::{CheckError, Result, TooLarge};
pub use model::{MODELS, NamedModel};
pub use num_bigint::BigUint;
pub use report::{Figures, Lasso, Property, Report, Trace, Worst};
pub use schedule::{Scheduler, UnknownScheduler};
pub use traits::{Action, Actions, Deterministic, Fairness, Guarded, Model, Moves, Step};
