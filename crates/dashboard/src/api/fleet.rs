//! The fleet of real nodes.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use super::events::{seat, stream};
use super::extract::Body;
use crate::error::{ApiError, ErrorBody};
use crate::fleet::{Fleet, FleetView};
use crate::server::App;

/// What the nodes say
#[utoipa::path(get, path = "/api/fleet", tag = "fleet", responses(
    (status = 200, body = FleetView), (status = 404, description = "no fleet", body = ErrorBody),
))]
pub(super) async fn fleet(State(app): State<App>) -> Result<Json<FleetView>, ApiError> {
    Ok(Json(watched(&app)?.view().await))
}

/// Watch the fleet: server-sent events, each what the nodes say
#[utoipa::path(get, path = "/api/fleet/events", tag = "fleet", responses(
    (status = 200, description = "text/event-stream: `fleet` with a FleetView, `gone` at the end"),
    (status = 404, description = "no fleet", body = ErrorBody),
))]
pub(super) async fn events(State(app): State<App>) -> Result<Response, ApiError> {
    let fleet = watched(&app)?;
    let seat = seat(&app)?;
    Ok(stream(fleet.watch().await?, seat))
}

/// Which node.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Release {
    /// Its name or address.
    node: String,
}

/// Tell a node to release what it holds; only with --control
#[utoipa::path(post, path = "/api/fleet/release", tag = "fleet", request_body = Release, responses(
    (status = 204), (status = 403, body = ErrorBody), (status = 502, body = ErrorBody),
))]
pub(super) async fn release(
    State(app): State<App>,
    Body(which): Body<Release>,
) -> Result<StatusCode, ApiError> {
    watched(&app)?.release(&which.node).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn watched(app: &App) -> Result<&Fleet, ApiError> {
    app.fleet.as_deref().ok_or_else(|| {
        let message = "no fleet is watched; start with --fleet URL,...";
        ApiError::not_found("no_fleet", message)
    })
}
