//! What is refused, as it is sent.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use headway_draw::escape::xml;
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

/// A refusal: as a page where a person opens an address in a browser, else as JSON.
pub(crate) fn refused(error: &ApiError, path: &str, headers: &HeaderMap) -> Response {
    let taken = headers
        .get(header::ACCEPT)
        .and_then(|kinds| kinds.to_str().ok());
    let answer = Answer::from(error.clone());
    if path.starts_with("/api/") || !taken.is_some_and(|kinds| kinds.contains("text/html")) {
        return sent(answer);
    }
    let page = format!(
        r#"<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Headway</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/style/palette.css">
<link rel="stylesheet" href="/style/docs.css"><main><h1>Headway</h1><p>Sorry: {}.</p><p><a href="/">To the page</a></p></main></html>
"#,
        xml(error.message())
    );
    sent(Answer {
        kind: "text/html; charset=utf-8",
        body: page.into_bytes(),
        ..answer
    })
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
