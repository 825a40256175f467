//! The answers: those that need no network come from a [`Desk`], the others are here.

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::FromRequest;
use axum::http::{StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use headway_page::{ApiError, Desk, Request};
use tokio::sync::Semaphore;

mod docs;
mod events;
mod fleet;

use crate::error::{Refused, sent};
use crate::server::App;

pub(crate) fn router() -> Router<App> {
    let router = Router::new()
        .route("/api/runs/{id}/events", get(events::events))
        .route("/api/fleet", get(fleet::fleet))
        .route("/api/fleet/events", get(fleet::events))
        .route("/api/fleet/rollouts/{name}/{what}", post(fleet::order))
        .route("/api/fleet/nodes/{name}/{what}", post(fleet::demonstrate));
    docs::add(router)
}

/// How long a body may take, so that nobody holds a connection forever.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the desk answers; `None` if it knows nothing of that path.
pub(crate) async fn ask(
    app: &App,
    request: axum::extract::Request,
) -> Result<Option<Response>, Refused> {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim();
    let asked = Request {
        method: method.as_str().to_owned(),
        path: uri.path().to_owned(),
        query: uri.query().unwrap_or("").to_owned(),
        kind: kind.to_ascii_lowercase(),
        body: body(app, request).await?,
    };
    // What can take seconds waits for others of its kind, and does not keep runs waiting.
    let places = if Desk::price(&asked.path) > 1.0 {
        &app.long_work
    } else {
        &app.work
    };
    let desk = app.clone();
    let answer = work(places, move || desk.desk.answer(&asked)).await?;
    Ok(answer.map(sent))
}

async fn body(app: &App, request: axum::extract::Request) -> Result<Bytes, ApiError> {
    let bytes = tokio::time::timeout(PATIENCE, Bytes::from_request(request, app));
    let bytes = bytes.await.map_err(|_| {
        let message = format!("the body did not come within {} s", PATIENCE.as_secs());
        ApiError::new(StatusCode::REQUEST_TIMEOUT, "too_slow", message)
    })?;
    bytes.map_err(|rejection| {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            let most = app.limits.body_bytes;
            let message = format!("the body is longer than {most} bytes");
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
        } else {
            ApiError::new(StatusCode::BAD_REQUEST, "invalid", "the body broke off")
        }
    })
}

/// Works something out where it does not keep connections waiting.
async fn work<T: Send + 'static>(
    places: &Semaphore,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    let _place = places.acquire().await.map_err(|_| ApiError::internal())?;
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| ApiError::internal())
}
