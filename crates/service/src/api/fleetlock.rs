//! FleetLock: clients such as Zincati ask for a slot before they reboot, and give it
//! back when they are up again.
//!
//! A request to lock asks for the next permit. The client is told no until its
//! permit is here; it asks again, as it would with any server, and is told yes. The
//! token then stays until the client is in steady state, also across the reboot,
//! or until its time is over.

use std::time::{Duration, Instant};

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::{App, Shared};
use crate::config::FleetlockSettings;
use crate::request::{Answer, Refusal, Request};

/// How often a waiting request looks whether its turn has come.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Longer than any real name.
const MAX_CHARACTERS: usize = 256;

/// Whether this can be a group.
pub(crate) fn valid_group(group: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    (1..=MAX_CHARACTERS).contains(&group.len()) && group.chars().all(letter)
}

impl FleetlockSettings {
    /// Whether a client with this id may ask here: its id, or the beginning of it and a `*`,
    /// is listed, or nothing is.
    fn speaks_for(&self, id: &str) -> bool {
        let fits = |listed: &String| match listed.strip_suffix('*') {
            Some(begin) => id.starts_with(begin),
            None => id == listed,
        };
        self.ids.is_empty() || self.ids.iter().any(fits)
    }
}

#[derive(Deserialize)]
struct Body {
    client_params: Client,
}

#[derive(Deserialize)]
struct Client {
    id: String,
    group: String,
}

/// A refusal: `kind` for programs, `value` for people.
pub(super) struct Problem(StatusCode, &'static str, String);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Problem(status, kind, value) = self;
        (status, Json(json!({ "kind": kind, "value": value }))).into_response()
    }
}

pub(super) async fn pre_reboot(
    State(app): Shared,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Answer, Problem> {
    let Client { id, group } = client(&app, &method, &headers, &body)?;
    let wait = app.settings.borrow().fleetlock.wait;
    let began = Instant::now();
    // Whoever finds no place is answered at once, and asks again. A node that is late once does
    // not end a long wait.
    let place = app.place();
    loop {
        let (group, id) = (group.clone(), id.clone());
        match app.ask(Request::Lock { group, id }).await {
            Err(Refusal::NotYet | Refusal::NotAnswering)
                if place.is_ok() && began.elapsed() < wait => {}
            reply => return Ok(reply?),
        }
        tokio::time::sleep(LOOK_EVERY.min(wait)).await;
    }
}

pub(super) async fn steady_state(
    State(app): Shared,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Answer, Problem> {
    let Client { id, group } = client(&app, &method, &headers, &body)?;
    Ok(app.ask(Request::Unlock { group, id }).await?)
}

/// Whether a path belongs to this protocol.
pub(super) fn serves(path: &str) -> bool {
    matches!(path, "/v1/pre-reboot" | "/v1/steady-state")
}

/// A client was not let in.
pub(super) fn refuse(status: StatusCode, value: String) -> Response {
    Problem(status, "refused", value).into_response()
}

/// A client says too much.
pub(super) fn too_long() -> Response {
    let value = "the body is too long".into();
    Problem(StatusCode::PAYLOAD_TOO_LARGE, "invalid_body", value).into_response()
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        let (status, kind) = match refusal {
            Refusal::NotYet => (StatusCode::CONFLICT, "failed_lock"),
            Refusal::Full => (StatusCode::TOO_MANY_REQUESTS, "too_many"),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        };
        Problem(status, kind, refusal.to_string())
    }
}

/// Who asks, if the request is as the protocol says.
fn client(app: &App, method: &Method, headers: &HeaderMap, body: &[u8]) -> Result<Client, Problem> {
    let wrong = |kind, value: &str| Problem(StatusCode::BAD_REQUEST, kind, value.into());
    let settings = app.settings.borrow();
    let fleetlock = &settings.fleetlock;
    if !fleetlock.enabled {
        let value = "FleetLock is not enabled here (fleetlock.enabled)".into();
        return Err(Problem(StatusCode::NOT_FOUND, "not_enabled", value));
    }
    if method != Method::POST {
        let value = "expected POST".into();
        return Err(Problem(
            StatusCode::METHOD_NOT_ALLOWED,
            "invalid_method",
            value,
        ));
    }
    let header = headers.get("fleet-lock-protocol");
    if header.is_none_or(|header| header != "true") {
        return Err(wrong(
            "invalid_header",
            "expected the header `fleet-lock-protocol: true`",
        ));
    }
    let Body { client_params } = serde_json::from_slice(body).map_err(|error| {
        let value = format!("expected {{\"client_params\": {{\"id\": …, \"group\": …}}}}: {error}");
        wrong("invalid_body", &value)
    })?;
    if !(1..=MAX_CHARACTERS).contains(&client_params.id.len()) {
        return Err(wrong(
            "invalid_id",
            "expected a non-empty `id` of at most 256 bytes",
        ));
    }
    if !valid_group(&client_params.group) {
        return Err(wrong(
            "invalid_group",
            "expected a `group` of letters, digits, `.` and `-`",
        ));
    }
    if !fleetlock.groups.contains(&client_params.group) {
        let value = format!("group `{}` is not served here", client_params.group);
        return Err(Problem(StatusCode::FORBIDDEN, "unknown_group", value));
    }
    if !fleetlock.speaks_for(&client_params.id) {
        let value = "this id is not served here (fleetlock.ids)".into();
        return Err(Problem(StatusCode::FORBIDDEN, "unknown_id", value));
    }
    Ok(client_params)
}
