//! Asks a node over its Unix socket, for the command line.

pub use run::{Ran, RunError, run};

mod run;

use std::path::Path;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use thiserror::Error;
use tokio::net::UnixStream;

/// How long a node may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Longer than any answer.
const MAX_BYTES: usize = 16 << 20;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum ClientError {
    /// Nobody is there.
    #[error("no node answers at {socket}: {error}")]
    Unreachable {
        /// Where.
        socket: String,
        /// Why.
        error: Error,
    },
    /// The node says no.
    #[error("{0}")]
    Refused(String),
    /// What is asked about is not there, or not any more.
    #[error("{0}")]
    Missing(String),
    /// Too many ask already: later there may be room.
    #[error("{0}")]
    Full(String),
    /// The node cannot say whether it has been done, or will be.
    #[error("{0}")]
    Undecided(String),
    /// Not what a node says.
    #[error("what answers is not a node")]
    Strange,
}

/// Asks a node, and gives what it answers; null if it has nothing to say. Not from asynchronous
/// code, which would stand still.
///
/// # Errors
///
/// When nobody is there, or the node refuses.
pub fn ask(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, ClientError> {
    ask_within(socket, method, path, body, Duration::ZERO)
}

/// The same, for something that the node may take `longest` for.
///
/// # Errors
///
/// When nobody is there, or the node refuses.
pub fn ask_within(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
    longest: Duration,
) -> Result<Value, ClientError> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build();
    let runtime = runtime.map_err(|error| unreachable(socket, error.into()))?;
    runtime.block_on(ask_for(socket, method, path, body, longest))
}

async fn ask_for(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
    longest: Duration,
) -> Result<Value, ClientError> {
    let answer = async {
        let stream = UnixStream::connect(socket).await?;
        exchange(stream, method, path, body).await
    };
    let answer = tokio::time::timeout(longest + PATIENCE, answer).await;
    let answer = answer.unwrap_or_else(|_| Err("it takes too long".into()));
    let (status, text) = answer.map_err(|error| unreachable(socket, error))?;
    if status == StatusCode::NO_CONTENT {
        return Ok(Value::Null);
    }
    let value: Value = serde_json::from_slice(&text).map_err(|_| ClientError::Strange)?;
    let Some(error) = value["error"].as_str().filter(|_| status != StatusCode::OK) else {
        return match status {
            StatusCode::OK => Ok(value),
            _ => Err(ClientError::Refused(value.to_string())),
        };
    };
    let kind = match status {
        StatusCode::NOT_FOUND => ClientError::Missing,
        StatusCode::TOO_MANY_REQUESTS => ClientError::Full,
        StatusCode::GATEWAY_TIMEOUT => ClientError::Undecided,
        _ => ClientError::Refused,
    };
    Err(kind(error.to_owned()))
}

/// A name as one segment of a path: `a b` is `a%20b`.
#[must_use]
pub fn segment(name: &str) -> String {
    let escaped = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(escaped).collect()
}

fn unreachable(socket: &Path, error: Error) -> ClientError {
    ClientError::Unreachable {
        socket: socket.display().to_string(),
        error,
    }
}

type Error = Box<dyn std::error::Error + Send + Sync>;

/// One request over a connection, and what is answered.
async fn exchange(
    stream: UnixStream,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<(StatusCode, Vec<u8>), Error> {
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "node");
    // Without a body there is no JSON to be read.
    if body.is_some() {
        request = request.header("content-type", "application/json");
    }
    let request = request.body(Body::from(body.map(Value::to_string).unwrap_or_default()))?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_BYTES)
        .collect()
        .await?;
    Ok((status, body.to_bytes().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::segment;

    #[test]
    fn a_name_is_one_segment_whatever_is_in_it() {
        assert_eq!(segment("web-4_b"), "web-4_b");
        assert_eq!(segment("a b/..?gone=true"), "a%20b%2F%2E%2E%3Fgone%3Dtrue");
        assert_eq!(segment("ä\n"), "%C3%A4%0A");
    }
}
