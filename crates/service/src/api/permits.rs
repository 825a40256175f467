//! Permits for programs.

use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::{App, Body, Said, Shared};
use crate::request::{Handle, Refusal, Reply, Request, Ticket};

/// The longest that a request waits.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(3600);

/// What a program asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Wanted {
    wait_ms: u64,
    lease_ms: Option<u64>,
}

impl Wanted {
    fn lease(&self, app: &App) -> Duration {
        let usual = app.settings.borrow().api.lease;
        self.lease_ms.map_or(usual, Duration::from_millis)
    }
}

/// Takes a request back when the program has gone away or waited long enough.
struct Waiting {
    ticket: Ticket,
    handle: Handle,
    given: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.given {
            let ticket = self.ticket;
            self.handle.tell(Request::Forget { ticket });
        }
    }
}

pub(super) async fn acquire(
    State(app): Shared,
    Body(wanted): Body<Wanted>,
) -> Result<Response, Refusal> {
    let _place = app.place()?;
    let ticket = app.ticket();
    let lease = wanted.lease(&app);
    let mut waiting = Waiting {
        ticket,
        handle: app.handle.clone(),
        given: false,
    };
    let wait = Duration::from_millis(wanted.wait_ms).min(MAX_WAIT);
    let request = Request::Acquire { ticket, lease };
    let answer = app.handle.ask(request, wait).await?;
    waiting.given = answer.is_some();
    let none = || StatusCode::NO_CONTENT.into_response();
    Ok(answer.map_or_else(none, IntoResponse::into_response))
}

pub(super) async fn look(State(app): Shared, Said(Path(ticket)): Said<Path<Ticket>>) -> Reply {
    app.ask(Request::Look { ticket }).await
}

pub(super) async fn extend(
    State(app): Shared,
    Said(Path(ticket)): Said<Path<Ticket>>,
    Body(wanted): Body<Wanted>,
) -> Reply {
    let lease = wanted.lease(&app);
    app.ask(Request::Extend { ticket, lease }).await
}

pub(super) async fn release(
    State(app): Shared,
    Said(Path(ticket)): Said<Path<Ticket>>,
    Body(_): Body<Wanted>,
) -> Reply {
    app.ask(Request::Release { ticket }).await
}
