#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "arrow")]
pub mod arrow;
mod cell;
mod chart;
pub mod figure;
mod formula;
pub mod journal;
pub mod model;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod report;
pub mod shipped;
mod spec;
pub mod sweep;
pub mod table;
mod tally;

pub use cell::{Cell, Value};
pub use spec::{Figure, FigureKind, SpecError, Statistic, Sweep};
pub use tally::{Summary, Tally};

/// The version that results are marked with.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
