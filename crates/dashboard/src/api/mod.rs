//! The answers: those that need no network come from a [`Desk`], the others are here.

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::FromRequest;
use axum::http::{StatusCode, header};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use headway_page::document::{Document, Operation, PRESENTER};
use headway_page::runs::Frame;
use headway_page::{ApiError, Desk, Request};
use tokio::sync::Semaphore;

mod docs;
mod events;
mod fleet;

use crate::error::{Refused, sent};
use crate::fleet::FleetView;
use crate::server::App;

/// What is answered here and not at a desk.
fn table() -> [(Operation<'static>, MethodRouter<App>); 5] {
    const NO_FLEET: (u16, &str) = (404, "no fleet is watched");
    [
        (
            Operation {
                method: "GET",
                path: "/api/runs/{id}/events",
                about: "Watch a run: a frame at once and whenever it moves or changes. At most \
                        `frames_per_second`, fewer when frames are large (4 MB a second); above \
                        that rounds are left out. A slow reader gets fewer frames, never late \
                        ones. A comment every 15 s keeps the connection",
                parameters: PRESENTER,
                answer: |document| document.events::<Frame>("frame"),
                refusals: &[
                    (404, "there is no such run"),
                    (503, "too many are watching"),
                ],
            },
            get(events::events),
        ),
        (
            Operation {
                method: "GET",
                path: "/api/fleet",
                about: "What the nodes say",
                parameters: &[],
                answer: Document::answer::<FleetView>,
                refusals: &[NO_FLEET],
            },
            get(fleet::fleet),
        ),
        (
            Operation {
                method: "GET",
                path: "/api/fleet/events",
                about: "Watch the fleet",
                parameters: &[],
                answer: |document| document.events::<FleetView>("fleet"),
                refusals: &[NO_FLEET],
            },
            get(fleet::events),
        ),
        (
            Operation {
                method: "POST",
                path: "/api/fleet/rollouts/{name}/{what}",
                about: "Pause, resume or abort a rollout",
                parameters: &[],
                answer: Document::done,
                refusals: &[
                    (403, "started without --node-socket"),
                    NO_FLEET,
                    (502, "the node says no"),
                ],
            },
            post(fleet::order),
        ),
        (
            Operation {
                method: "POST",
                path: "/api/fleet/nodes/{name}/{what}",
                about: "Kill a node of a demonstration, or start those again that were killed",
                parameters: &[],
                answer: Document::done,
                refusals: &[(403, "no demonstration"), NO_FLEET],
            },
            post(fleet::demonstrate),
        ),
    ]
}

pub(crate) fn router() -> Router<App> {
    let routes = table().into_iter();
    docs::add(routes.fold(Router::new(), |router, (operation, handler)| {
        router.route(operation.path, handler)
    }))
}

/// The whole interface described, as an OpenAPI document.
pub fn document() -> serde_json::Value {
    let mut document = Document::new();
    for (operation, _) in &table() {
        document.add(operation);
    }
    document.finish()
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
