//! Permits for programs.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::oneshot;

use super::{ANSWER, App, problem};
use crate::request::{Handle, NotAnswering, Request};
use crate::store::{from_hex, to_hex};

/// The longest that a request waits.
const MOST_WAIT: Duration = Duration::from_secs(3600);

/// What a program asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Wanted {
    wait_ms: u64,
    lease_ms: Option<u64>,
    payload: Option<String>,
}

impl Wanted {
    fn lease(&self, app: &App) -> Duration {
        let usual = app.settings.borrow().api.lease;
        self.lease_ms.map_or(usual, Duration::from_millis)
    }
}

/// Takes a wish back when the program has gone away or waited long enough.
struct Waiting {
    ticket: u64,
    handle: Handle,
    given: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.given {
            let ticket = self.ticket;
            let _ = self.handle.send(Request::Forget { ticket });
        }
    }
}

pub(super) async fn acquire(
    State(app): State<Arc<App>>,
    wanted: Option<Json<Wanted>>,
) -> Result<Response, NotAnswering> {
    let wanted = wanted.map(|Json(wanted)| wanted).unwrap_or_default();
    let (reply, answer) = oneshot::channel();
    let ticket = app.ticket();
    let lease = wanted.lease(&app);
    let mut waiting = Waiting {
        ticket,
        handle: app.handle.clone(),
        given: false,
    };
    app.handle.send(Request::Acquire {
        ticket,
        lease,
        reply,
    })?;
    let wait = Duration::from_millis(wanted.wait_ms).min(MOST_WAIT);
    match tokio::time::timeout(wait, answer).await {
        Err(_) => Ok(StatusCode::NO_CONTENT.into_response()),
        Ok(Err(_)) => Err(NotAnswering),
        Ok(Ok(given)) => {
            waiting.given = true;
            let body = json!({
                "permit": given.ticket.to_string(),
                "token": given.token,
                "fencing": given.fence,
                "lease_ms": given.lease.as_millis() as u64,
                "most_ms": given.time.as_millis() as u64,
                "payload": to_hex(&given.payload),
            });
            Ok(Json(body).into_response())
        }
    }
}

fn no_permit() -> Response {
    let message = "there is no such permit: it was given back, withdrawn or has lapsed";
    problem(StatusCode::NOT_FOUND, message)
}

pub(super) async fn look(
    State(app): State<Arc<App>>,
    Path(ticket): Path<u64>,
) -> Result<Response, NotAnswering> {
    let view = app
        .handle
        .ask(ANSWER, |reply| Request::Look { ticket, reply })
        .await?;
    Ok(view.map_or_else(no_permit, |view| {
        let body = json!({
            "permit": ticket.to_string(),
            "token": view.token,
            "fencing": view.fence,
            "lease_ms": view.left.as_millis() as u64,
            "asked_back": view.asked_back,
        });
        Json(body).into_response()
    }))
}

pub(super) async fn extend(
    State(app): State<Arc<App>>,
    Path(ticket): Path<u64>,
    wanted: Option<Json<Wanted>>,
) -> Result<Response, NotAnswering> {
    let lease = wanted
        .map(|Json(wanted)| wanted)
        .unwrap_or_default()
        .lease(&app);
    let request = |reply| Request::Extend {
        ticket,
        lease,
        reply,
    };
    let lasts = app.handle.ask(ANSWER, request).await?;
    Ok(lasts.map_or_else(no_permit, |lasts| {
        Json(json!({ "lease_ms": lasts.as_millis() as u64 })).into_response()
    }))
}

pub(super) async fn release(
    State(app): State<Arc<App>>,
    Path(ticket): Path<u64>,
    wanted: Option<Json<Wanted>>,
) -> Result<Response, NotAnswering> {
    let wanted = wanted.map(|Json(wanted)| wanted).unwrap_or_default();
    let payload = match wanted.payload.as_deref().map(from_hex) {
        Some(None) => {
            let message = "payload: expected hexadecimal digits";
            return Ok(problem(StatusCode::BAD_REQUEST, message));
        }
        payload => payload.flatten(),
    };
    let request = |reply| Request::Release {
        ticket,
        payload,
        reply,
    };
    let released = app.handle.ask(ANSWER, request).await?;
    Ok(if released {
        Json(json!({ "released": true })).into_response()
    } else {
        no_permit()
    })
}

pub(super) async fn ask_hook(State(app): State<Arc<App>>) -> Result<Response, NotAnswering> {
    let asked = app
        .handle
        .ask(ANSWER, |reply| Request::AskHook { reply })
        .await?;
    Ok(if asked {
        Json(json!({ "asked": true })).into_response()
    } else {
        problem(
            StatusCode::CONFLICT,
            "there is no command: set hook.command",
        )
    })
}
