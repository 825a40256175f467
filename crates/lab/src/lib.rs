//! Experiments with circulating tokens.
//!
//! * [`spec`]: a [`Sweep`], declared in a TOML file: grids of [cells](cell),
//!   samples, measures, figures;
//! * [`model`]: what can be swept;
//! * [`mod@sweep`]: running it on all cores, part by part, resumable;
//! * [`tally`]: exact statistics, the same for any number of threads;
//! * [`journal`]: finished cells on disk; [`table`]: results as CSV;
//! * [`figure`]: pictures; [`report`]: the paper's statements judged by data;
//! * [`shipped`]: the experiments that come with Headway.
//!
//! ```
//! use headway_lab::{Sweep, sweep};
//! let sweep = Sweep::parse(r#"
//!     name = "few"
//!     samples = 50
//!     measure = ["legitimate_at"]
//!     [[grid]]
//!     processes = 50
//!     tokens = 10
//!     delays = [1, 50]
//! "#).unwrap();
//! let results = sweep::run_all(&sweep, 2).unwrap();
//! let mean = |cell: usize| results[cell].summaries[0].mean().unwrap();
//! assert!(mean(0) > mean(1), "more delays, sooner legitimate");
//! ```
#![forbid(unsafe_code)]

pub mod cell;
pub mod figure;
pub mod formula;
pub mod journal;
pub mod model;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod report;
pub mod shipped;
pub mod spec;
pub mod sweep;
pub mod table;
pub mod tally;

pub use cell::{Cell, Value};
pub use spec::{SpecError, Sweep};

/// The version that results are marked with.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
