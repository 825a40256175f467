//! Sweeps, their files and figures, against the same numbers counted in another way.

mod damaged_sweeps;
mod findings;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;
mod specs;
