//! What the server is.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::limits::Limits;
use crate::server::App;

/// What the server is.
#[derive(Serialize, ToSchema)]
pub(super) struct About {
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
#[utoipa::path(get, path = "/api/about", tag = "about", responses((status = 200, body = About)))]
pub(super) async fn about(State(app): State<App>) -> Json<About> {
    Json(About {
        version: env!("CARGO_PKG_VERSION"),
        limits: app.limits.clone(),
        fleet: app.fleet.is_some(),
        parquet: cfg!(feature = "parquet"),
    })
}
