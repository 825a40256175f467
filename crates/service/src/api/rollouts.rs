//! Rollouts: anybody may look; who may start and stop them is on the Unix socket.

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

use super::{Body, Said, Shared, problem};
use crate::request::{Reply, Request};
use crate::rollouts::{Ask, Wanted};

pub(super) async fn all(State(app): Shared) -> Reply {
    app.ask(Request::Rollouts).await
}

pub(super) async fn start(State(app): Shared, Body(wanted): Body<Wanted>) -> Reply {
    app.ask(Request::StartRollout(wanted)).await
}

/// How a rollout goes on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Resumed {
    #[serde(default)]
    retry: bool,
    #[serde(default)]
    max_failures: Option<u32>,
}

pub(super) async fn order(
    State(app): Shared,
    Said(Path((name, what))): Said<Path<(String, String)>>,
    Said(Query(Resumed {
        retry,
        max_failures,
    })): Said<Query<Resumed>>,
) -> Response {
    let ask = match &*what {
        "pause" => Ask::Pause,
        "resume" => Ask::Resume {
            retry,
            max_failures,
        },
        "abort" => Ask::Abort,
        _ => return problem(StatusCode::NOT_FOUND, "expected pause, resume or abort"),
    };
    app.ask(Request::OrderRollout { name, ask })
        .await
        .into_response()
}
