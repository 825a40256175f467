//! What is refused, as it is sent.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use headway_page::{Answer, ApiError};

/// An error on its way to the client.
#[derive(Debug)]
pub(crate) struct Refused(ApiError);

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Refused {
        Refused(error)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        sent(self.0.into())
    }
}

/// An answer as it goes over the wire.
pub(crate) fn sent(answer: Answer) -> Response {
    let mut response = (answer.status, answer.body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.kind));
    if let Some(seconds) = answer.retry_after_s {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    let file = answer
        .file_name
        .map(|name| format!("attachment; filename=\"{name}\""));
    if let Some(Ok(file)) = file.map(HeaderValue::try_from) {
        headers.insert(header::CONTENT_DISPOSITION, file);
    }
    response
}
