//! A small HTTP client for a node's Unix socket, for the command line.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use thiserror::Error;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum ClientError {
    /// Nobody is there.
    #[error("no node answers at {socket}: {error}")]
    Unreachable {
        /// Where.
        socket: String,
        /// Why.
        error: io::Error,
    },
    /// The node says no.
    #[error("{0}")]
    Refused(String),
    /// Not what a node says.
    #[error("what answers is not a node")]
    Strange,
}

/// Asks a node, and gives what it answers.
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
    let answer =
        exchange(socket, method, path, body).map_err(|error| ClientError::Unreachable {
            socket: socket.display().to_string(),
            error,
        })?;
    let (head, text) = answer.split_once("\r\n\r\n").ok_or(ClientError::Strange)?;
    let status = head
        .split_whitespace()
        .nth(1)
        .and_then(|status| status.parse::<u16>().ok());
    let value: Value = serde_json::from_str(text).map_err(|_| ClientError::Strange)?;
    match status {
        Some(200) => Ok(value),
        Some(_) => {
            let message = value["error"].as_str().unwrap_or(text);
            Err(ClientError::Refused(message.to_owned()))
        }
        None => Err(ClientError::Strange),
    }
}

fn exchange(socket: &Path, method: &str, path: &str, body: Option<&Value>) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let body = body.map(Value::to_string).unwrap_or_default();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
