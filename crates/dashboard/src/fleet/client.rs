//! Asking a node: plain HTTP, short answers.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use axum::body::Bytes;
use axum::http::{Uri, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Longer answers are not read.
const MAX_BYTES: usize = 1 << 20;

/// Where a node is: `http://HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeUrl {
    host: String,
    port: u16,
}

/// The text is no place of a node.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{text:?}: expected http://HOST:PORT{hint}")]
pub struct NodeUrlError {
    text: String,
    hint: &'static str,
}

impl FromStr for NodeUrl {
    type Err = NodeUrlError;

    fn from_str(text: &str) -> Result<NodeUrl, NodeUrlError> {
        let wrong = |hint| NodeUrlError {
            text: text.to_owned(),
            hint,
        };
        let uri: Uri = text.parse().map_err(|_| wrong(""))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(wrong(" (reach nodes behind TLS through a local proxy)")),
            _ => return Err(wrong("")),
        }
        let plain = matches!(uri.path(), "" | "/") && uri.query().is_none();
        let authority = uri.authority().filter(|_| plain).ok_or_else(|| wrong(""))?;
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(wrong(""));
        }
        Ok(NodeUrl {
            host: authority.host().to_owned(),
            port: authority.port_u16().unwrap_or(80),
        })
    }
}

impl fmt::Display for NodeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}:{}", self.host, self.port)
    }
}

/// Sends a request without a body; the status and body of the answer, or why there is
/// none.
pub(super) async fn ask(url: &NodeUrl, method: &str, path: &str) -> Result<(u16, Bytes), String> {
    let address = format!("{}:{}", url.host, url.port);
    let stream = TcpStream::connect(&address)
        .await
        .map_err(|error| error.to_string())?;
    ask_over(stream, &address, method, path).await
}

/// The same over a Unix socket of this machine.
#[cfg(unix)]
pub(super) async fn ask_socket(
    socket: &Path,
    method: &str,
    path: &str,
) -> Result<(u16, Bytes), String> {
    let stream = tokio::net::UnixStream::connect(socket)
        .await
        .map_err(|error| error.to_string())?;
    ask_over(stream, "localhost", method, path).await
}

/// There are none.
#[cfg(not(unix))]
pub(super) async fn ask_socket(_: &Path, _: &str, _: &str) -> Result<(u16, Bytes), String> {
    Err("this system has no such sockets".to_owned())
}

async fn ask_over(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    host: &str,
    method: &str,
    path: &str,
) -> Result<(u16, Bytes), String> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    let request = hyper::Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, host)
        .header(header::CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let answer = async {
        let response = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), MAX_BYTES);
        let body = body.collect().await?.to_bytes();
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>((status, body))
    };
    tokio::pin!(answer);
    // The connection has to be driven while the answer comes, and dies with it.
    tokio::select! {
        answer = &mut answer => return answer.map_err(|error| error.to_string()),
        _ = connection => {}
    }
    answer.await.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_nodes() {
        for (text, shown) in [
            ("http://10.0.0.1:7020", "http://10.0.0.1:7020"),
            ("http://node-a.example:7020/", "http://node-a.example:7020"),
            ("http://[::1]:7020", "http://[::1]:7020"),
            ("http://node", "http://node:80"),
        ] {
            assert_eq!(text.parse::<NodeUrl>().unwrap().to_string(), shown);
        }
        for text in [
            "",
            "10.0.0.1:7020",
            "https://a:1",
            "http://",
            "http://a:1/x",
            "http://u@a:1",
        ] {
            assert!(text.parse::<NodeUrl>().is_err(), "{text}");
        }
    }
}
