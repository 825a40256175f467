//! The fleet of real nodes.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use headway_page::{ApiError, ErrorBody};

use super::events::{seat, stream};
use crate::error::Refused;
use crate::fleet::{Fleet, FleetView};
use crate::server::App;

/// What the nodes say
#[utoipa::path(get, path = "/api/fleet", tag = "fleet", responses(
    (status = 200, body = FleetView), (status = 404, description = "no fleet", body = ErrorBody),
))]
pub(super) async fn fleet(State(app): State<App>) -> Result<Json<FleetView>, Refused> {
    Ok(Json(watched(&app)?.view().await))
}

/// Watch the fleet: server-sent events, each what the nodes say
#[utoipa::path(get, path = "/api/fleet/events", tag = "fleet", responses(
    (status = 200, description = "text/event-stream: `fleet` with a FleetView, `gone` at the end"),
    (status = 404, description = "no fleet", body = ErrorBody),
))]
pub(super) async fn events(State(app): State<App>) -> Result<Response, Refused> {
    let fleet = watched(&app)?;
    let seat = seat(&app)?;
    Ok(stream(fleet.watch().await?, seat))
}

/// Pause, resume or abort a roll-out, where the page may
#[utoipa::path(post, path = "/api/fleet/rollouts/{name}/{what}", tag = "fleet",
    params(("name" = String, Path), ("what" = String, Path)), responses(
    (status = 204), (status = 403, description = "the page may not", body = ErrorBody),
    (status = 404, description = "no fleet", body = ErrorBody),
    (status = 502, description = "the node says no", body = ErrorBody),
))]
pub(super) async fn order(
    State(app): State<App>,
    Path((name, what)): Path<(String, String)>,
) -> Result<StatusCode, Refused> {
    watched(&app)?.order(&name, &what).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Kill a node, or start those again that were killed: for demonstrations only
#[utoipa::path(post, path = "/api/fleet/nodes/{name}/{what}", tag = "fleet",
    params(("name" = String, Path), ("what" = String, Path)), responses(
    (status = 204), (status = 403, description = "no demonstration", body = ErrorBody),
    (status = 404, description = "no fleet", body = ErrorBody),
))]
pub(super) async fn demonstrate(
    State(app): State<App>,
    Path((name, what)): Path<(String, String)>,
) -> Result<StatusCode, Refused> {
    watched(&app)?.demonstrate(&name, &what)?;
    Ok(StatusCode::NO_CONTENT)
}

fn watched(app: &App) -> Result<&Fleet, ApiError> {
    app.fleet.as_deref().ok_or_else(|| {
        let message = "no fleet is watched; start with --fleet URL,...";
        ApiError::not_found("no_fleet", message)
    })
}
