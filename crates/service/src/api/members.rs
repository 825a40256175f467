//! The roster, for operators.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::{ANSWER, App, problem};
use crate::membership::roster::Member;
use crate::request::{NotAnswering, Request};

/// A member to add.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Added {
    name: String,
    address: String,
    #[serde(default)]
    http: Option<String>,
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    force: bool,
}

pub(super) async fn list(State(app): State<Arc<App>>) -> Result<Response, NotAnswering> {
    let roster = app
        .handle
        .ask(ANSWER, |reply| Request::Roster { reply })
        .await?;
    Ok(match roster {
        Some(roster) => Json(roster).into_response(),
        None => problem(StatusCode::NOT_FOUND, "this node has no roster yet"),
    })
}

pub(super) async fn add(
    State(app): State<Arc<App>>,
    Json(added): Json<Added>,
) -> Result<Response, NotAnswering> {
    let member = Member {
        name: added.name,
        address: added.address,
        http: added.http,
    };
    let window = app.settings.borrow().membership.window;
    let request = |reply| Request::Add {
        member,
        after: added.after,
        force: added.force,
        reply,
    };
    changed(app.handle.ask(ANSWER + window, request).await?)
}

pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, NotAnswering> {
    let most = ANSWER + Duration::from_secs(1);
    changed(
        app.handle
            .ask(most, |reply| Request::Remove { name, reply })
            .await?,
    )
}

fn changed(result: Result<u64, String>) -> Result<Response, NotAnswering> {
    Ok(match result {
        Ok(version) => Json(json!({ "version": version })).into_response(),
        Err(message) => problem(StatusCode::CONFLICT, message),
    })
}
