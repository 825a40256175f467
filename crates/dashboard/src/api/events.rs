//! Frames as they come, as server-sent events. Whoever reads slowly gets fewer of
//! them, and the latest one next.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use headway_page::runs::Watch;
use headway_page::{ApiError, key};
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::work;
use crate::error::Refused;
use crate::server::App;

/// Watch a run: server-sent events, each a frame
pub(super) async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refused> {
    let run = app.desk.runs().get(&id)?;
    let seat = seat(&app)?;
    let key = query.and_then(|query| key(&query));
    let Watch { frames, presenter } = work(&app.work, move || run.watch(key.as_deref())).await??;
    Ok(stream(frames, (seat, presenter)))
}

/// A place among the viewers.
pub(super) fn seat(app: &App) -> Result<OwnedSemaphorePermit, ApiError> {
    app.viewers.clone().try_acquire_owned().map_err(|_| {
        let message = format!("{} viewers are watching; try later", app.limits.viewers);
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_viewers", message)
            .retry_after_s(30)
    })
}

/// A browser that has lost the stream comes back after so many milliseconds.
const RETRY: &[u8] = b"retry: 500\n\n";

/// After so much silence something is sent, so that a broken connection shows.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The latest of what is sent, again and again, until there is no more.
/// `held` is let go when the reader has gone.
pub(super) fn stream(
    mut latest: watch::Receiver<Option<Bytes>>,
    held: impl Send + 'static,
) -> Response {
    latest.mark_changed();
    let first = stream::once(async { Ok(Bytes::from_static(RETRY)) });
    let chunks = stream::unfold(Some((latest, held)), |watching| async move {
        let (mut latest, held) = watching?;
        let chunk = match tokio::time::timeout(KEEP_ALIVE, latest.changed()).await {
            Err(_) => Some(Bytes::from_static(b": still here\n\n")),
            Ok(Err(_)) => None,
            Ok(Ok(())) => latest.borrow_and_update().clone(),
        };
        match chunk {
            Some(chunk) => Some((
                Ok::<_, std::convert::Infallible>(chunk),
                Some((latest, held)),
            )),
            None => Some((Ok(Bytes::from_static(b"event: gone\ndata: {}\n\n")), None)),
        }
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, Body::from_stream(first.chain(chunks))).into_response()
}
