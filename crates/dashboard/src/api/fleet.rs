//! The fleet of real nodes.

use axum::Json;
use axum::extract::State;
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

fn watched(app: &App) -> Result<&Fleet, ApiError> {
    app.fleet.as_deref().ok_or_else(|| {
        let message = "no fleet is watched; start with --fleet URL,...";
        ApiError::not_found("no_fleet", message)
    })
}
