//! The node's HTTP interface: on its Unix socket everything, on an HTTP address
//! everything but what changes the ring.
//!
//! | what | answer |
//! |---|---|
//! | `GET /v1/status` | [`Status`] |
//! | `POST /v1/permits` `{"wait_ms", "lease_ms"}` | 200 with a permit, or 204 when none came in time |
//! | `GET /v1/permits/ID` | how long it lasts, and whether it is asked back |
//! | `POST /v1/permits/ID/extend` `{"lease_ms"}` | how long it lasts now |
//! | `POST /v1/permits/ID/release` `{"payload"}` | it is given back |
//! | `POST /v1/hook` | the command runs at the next permit |
//! | `POST /v1/pre-reboot`, `POST /v1/steady-state` | FleetLock |
//! | `GET /healthz`, `GET /readyz`, `GET /metrics` | for machines that watch |
//! | `GET /v1/roster`, `POST /v1/members`, `DELETE /v1/members/NAME` | the ring; changes on the socket only |

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, delete, get, post};
use axum::{Json, Router};
use serde_json::json;
use tokio::sync::watch;

use crate::agent::Status;
use crate::config::Settings;
use crate::request::{Handle, NotAnswering, Request};

pub mod fleetlock;
mod members;
mod permits;

/// How long the protocol's thread may take to answer.
pub(crate) const ANSWER: Duration = Duration::from_secs(2);

/// Larger than any body that makes sense.
const MOST_BODY_BYTES: usize = 16 << 10;

/// What all answers are made from.
pub struct App {
    handle: Handle,
    settings: watch::Receiver<Settings>,
    tickets: AtomicU64,
}

impl App {
    /// Tickets are counted from `first`, which nobody should guess.
    pub fn new(handle: Handle, settings: watch::Receiver<Settings>, first: u64) -> Arc<App> {
        let tickets = AtomicU64::new(first >> 1);
        Arc::new(App {
            handle,
            settings,
            tickets,
        })
    }

    fn ticket(&self) -> u64 {
        self.tickets.fetch_add(1, Ordering::Relaxed)
    }

    async fn status(&self) -> Result<Box<Status>, NotAnswering> {
        self.handle
            .ask(ANSWER, |reply| Request::Status { reply })
            .await
    }
}

/// For the Unix socket.
pub fn local(app: Arc<App>) -> Router {
    routes()
        .route("/v1/members", post(members::add))
        .route("/v1/members/{name}", delete(members::remove))
        .route("/v1/hook", post(permits::ask_hook))
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES))
        .with_state(app)
}

/// For an HTTP address.
pub fn public(app: Arc<App>) -> Router {
    routes()
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES))
        .with_state(app)
}

fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/status", get(status))
        .route("/v1/permits", post(permits::acquire))
        .route("/v1/permits/{id}", get(permits::look))
        .route("/v1/permits/{id}/extend", post(permits::extend))
        .route("/v1/permits/{id}/release", post(permits::release))
        .route("/v1/roster", get(members::list))
        .route("/v1/pre-reboot", any(fleetlock::pre_reboot))
        .route("/v1/steady-state", any(fleetlock::steady_state))
        .route("/healthz", get(health))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .fallback(|| async { problem(StatusCode::NOT_FOUND, "there is nothing here") })
}

/// An error for people and programs.
fn problem(status: StatusCode, message: impl Into<String>) -> Response {
    (status, Json(json!({ "error": message.into() }))).into_response()
}

impl IntoResponse for NotAnswering {
    fn into_response(self) -> Response {
        problem(StatusCode::SERVICE_UNAVAILABLE, self.to_string())
    }
}

async fn status(State(app): State<Arc<App>>) -> Result<Json<Status>, NotAnswering> {
    Ok(Json(*app.status().await?))
}

/// The protocol's thread answers.
async fn health(State(app): State<Arc<App>>) -> Result<&'static str, NotAnswering> {
    app.status().await.map(|_| "ok\n")
}

/// The node takes part in a ring that is legitimate as far as it sees.
async fn ready(State(app): State<Arc<App>>) -> Result<Response, NotAnswering> {
    let status = app.status().await?;
    Ok(if status.settled && status.silent.is_empty() {
        "ready\n".into_response()
    } else {
        let why = format!(
            "{}; silent: {:?}; alarms: {:?}",
            status.phase, status.silent, status.alarms
        );
        problem(StatusCode::SERVICE_UNAVAILABLE, why)
    })
}

async fn metrics(State(app): State<Arc<App>>) -> Result<Response, NotAnswering> {
    let text = crate::metrics::text(&*app.status().await?);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
