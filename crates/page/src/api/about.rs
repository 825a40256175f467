//! What the server is.

use schemars::JsonSchema;
use serde::Serialize;

use crate::desk::Desk;
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
    /// Where other machines reach it: `http://192.0.2.7:7007`; null where only this one does.
    address: Option<String>,
    /// Whether Parquet files can be opened as charts.
    parquet: bool,
}

/// What the server is and how much it takes on
pub(crate) fn about(desk: &Desk) -> About {
    About {
        version: env!("CARGO_PKG_VERSION"),
        limits: desk.limits.clone(),
        fleet: desk.fleet,
        address: desk.address.clone(),
        parquet: cfg!(feature = "parquet"),
    }
}
