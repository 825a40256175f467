//! What the server is.

use schemars::JsonSchema;
use serde::Serialize;

use crate::limits::Limits;

/// What the server is.
#[derive(Serialize, JsonSchema)]
pub(crate) struct About {
    /// Of Headway.
    version: &'static str,
    /// How much it takes on.
    limits: Limits,
    /// Whether it watches real nodes.
    fleet: bool,
    /// Whether Parquet files can be opened as charts.
    parquet: bool,
}

/// What the server is and how much it takes on
pub(crate) fn about(limits: &Limits, fleet: bool) -> About {
    About {
        version: env!("CARGO_PKG_VERSION"),
        limits: limits.clone(),
        fleet,
        parquet: cfg!(feature = "parquet"),
    }
}
