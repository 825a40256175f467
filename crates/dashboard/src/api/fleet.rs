//! The fleet of real nodes.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use headway_page::ApiError;

use super::events::{seat, stream};
use crate::error::Refused;
use crate::fleet::{Fleet, FleetView};
use crate::server::App;

/// What the nodes say
pub(super) async fn fleet(State(app): State<App>) -> Result<Json<FleetView>, Refused> {
    Ok(Json(watched(&app)?.view().await))
}

/// Watch the fleet: server-sent events, each what the nodes say
pub(super) async fn events(State(app): State<App>) -> Result<Response, Refused> {
    let fleet = watched(&app)?;
    let seat = seat(&app)?;
    Ok(stream(fleet.watch().await?, seat))
}

/// Pause, resume or abort a rollout, where the page may
pub(super) async fn order(
    State(app): State<App>,
    Path((name, what)): Path<(String, String)>,
) -> Result<StatusCode, Refused> {
    watched(&app)?.order(&name, &what).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Kill a node, or start those again that were killed: for demonstrations only
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
