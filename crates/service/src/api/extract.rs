//! What a request says, and what is wrong with it, told as every other error is.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use serde::de::DeserializeOwned;

use super::{MAX_BODY_BYTES, problem};

/// The body of a request as JSON, whatever type it says it has; an empty one is `{}`.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Response;

    async fn from_request(request: axum::extract::Request, app: &S) -> Result<Self, Response> {
        let sent = Bytes::from_request(request, app).await;
        let sent = sent.map_err(|error| problem(error.status(), error.body_text()))?;
        let text = if sent.is_empty() { b"{}" } else { &sent[..] };
        serde_json::from_slice(text).map(Body).map_err(|error| {
            let status = match error.is_data() {
                true => StatusCode::UNPROCESSABLE_ENTITY,
                false => StatusCode::BAD_REQUEST,
            };
            problem(status, format!("body: {error}"))
        })
    }
}

/// What a path or a query says; what is wrong with it is told as everything else is.
pub(super) struct Said<T>(pub(super) T);

impl<T: FromRequestParts<S>, S: Send + Sync> FromRequestParts<S> for Said<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &S) -> Result<Self, Response> {
        let error = match T::from_request_parts(parts, app).await {
            Ok(said) => return Ok(Said(said)),
            Err(error) => error.into_response(),
        };
        let status = error.status();
        let text = axum::body::to_bytes(error.into_body(), MAX_BODY_BYTES).await;
        let text = text.unwrap_or_default();
        Err(problem(status, String::from_utf8_lossy(&text)))
    }
}
