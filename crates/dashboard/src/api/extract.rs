//! Bodies and queries, with errors that name the field.

use std::time::Duration;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use crate::error::ApiError;
use crate::server::App;

/// How long a body may take, so that nobody holds a connection forever.
const PATIENCE: Duration = Duration::from_secs(30);

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

/// A query string.
pub(crate) struct Params<T>(pub(crate) T);

/// A body as it is, with its content type.
pub(crate) struct Raw {
    pub(crate) kind: String,
    pub(crate) bytes: axum::body::Bytes,
}

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Body<T>, ApiError> {
        let Raw { kind, bytes } = Raw::from_request(request, app).await?;
        if kind != "application/json" {
            // Other sites can send some kinds without asking first, but not this one.
            let message = "expected a body with Content-Type: application/json";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(ApiError::new(status, "invalid_json", message));
        }
        // Fields could also be given as a list, in an order that nobody should rely on.
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            let message = "expected a JSON object";
            return Err(ApiError::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "invalid",
                message,
            ));
        }
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            let wrong = invalid_json(error.inner());
            if matches!(path.as_str(), "." | "?") {
                wrong
            } else {
                wrong.at(&path)
            }
        })?;
        reader.end().map_err(|error| invalid_json(&error))?;
        Ok(Body(value))
    }
}

fn invalid_json(error: &serde_json::Error) -> ApiError {
    let code = if error.is_data() {
        "invalid"
    } else {
        "invalid_json"
    };
    let status = if error.is_data() {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::BAD_REQUEST
    };
    ApiError::new(status, code, error.to_string())
}

impl FromRequest<App> for Raw {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Raw, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
        let kind = kind.split(';').next().unwrap_or("").trim();
        let kind = kind.to_ascii_lowercase();
        let bytes = axum::body::Bytes::from_request(request, app);
        let in_time = tokio::time::timeout(PATIENCE, bytes).await;
        let bytes = in_time.map_err(|_| {
            let message = format!("the body did not come within {} s", PATIENCE.as_secs());
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "too_slow", message)
        })?;
        let bytes = bytes.map_err(|rejection| {
            if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
                let most = app.limits.body_bytes;
                let message = format!("the body is longer than {most} bytes");
                ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
            } else {
                ApiError::new(StatusCode::BAD_REQUEST, "invalid", "the body broke off")
            }
        })?;
        Ok(Raw { kind, bytes })
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Params<T>, ApiError> {
        let query = axum::extract::Query::<T>::from_request_parts(parts, app).await;
        query.map(|query| Params(query.0)).map_err(|rejection| {
            // "Failed to deserialize query string: processes: invalid digit ..."
            let text = rejection.body_text();
            let text = text
                .split_once(": ")
                .map_or(text.as_str(), |(_, rest)| rest);
            let field = text.split_once(": ").map(|(field, _)| field);
            let error = ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", text);
            match field {
                Some(field) => error.at(field),
                None => error,
            }
        })
    }
}
