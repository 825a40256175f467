//! Episodes as OpenTelemetry spans, to a collector by OTLP over HTTP.
//!
//! Three threads are in between: the protocol's hands episodes over, one here makes spans
//! of them, and the SDK's own sends them in batches; the sockets are the runtime's. A
//! collector that cannot be reached costs the spans, a count and a line in the log.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::Uri;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use opentelemetry::KeyValue;
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _, TracerProvider as _};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, SpanData};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use super::{Episode, EpisodeSender, MAX_EPISODES, Outcome, Past, Tally};
use crate::config::Settings;
use crate::permits::Holder;
use crate::secret;

/// How long a collector may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Longer than any answer of a collector.
const MAX_BYTES: usize = 64 * 1024;

/// How long a node that stops waits for its collector.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Sends episodes until it is dropped.
pub(crate) struct Exporter {
    sender: Option<EpisodeSender>,
    thread: Option<JoinHandle<()>>,
    provider: SdkTracerProvider,
}

impl Exporter {
    /// Begins to send to the collector of `settings`, if there is one, on the runtime that
    /// calls. Times of episodes count from `epoch`.
    ///
    /// # Errors
    ///
    /// When the file with headers is not to be had, or the system has no more threads.
    pub(crate) fn start(settings: &Settings, epoch: Instant) -> io::Result<Option<Exporter>> {
        let Some(endpoint) = &settings.telemetry.endpoint else {
            return Ok(None);
        };
        let headers = match &settings.telemetry.headers_file {
            Some(path) => headers(path)?,
            None => HashMap::new(),
        };
        let tally = Arc::new(Tally::default());
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Client(Handle::current()))
            .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
            .with_timeout(TIMEOUT)
            .with_headers(headers)
            .build()
            .map_err(io::Error::other)?;
        let resource = Resource::builder()
            .with_service_name("headway")
            .with_attribute(KeyValue::new(
                "service.instance.id",
                settings.node.name.clone(),
            ))
            .with_attribute(KeyValue::new("headway.ring", settings.ring.name.clone()))
            .with_attribute(KeyValue::new("headway.node", settings.node.name.clone()))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(Counted {
                inner: exporter,
                tally: Arc::clone(&tally),
                complained: AtomicBool::new(false),
            })
            .with_resource(resource)
            .build();
        let (sender, episodes) = sync_channel(MAX_EPISODES);
        let tracer = provider.tracer("headway");
        let thread = std::thread::Builder::new()
            .name("telemetry".into())
            .spawn(move || spans(&episodes, &tracer, epoch))?;
        Ok(Some(Exporter {
            sender: Some(EpisodeSender::new(sender, tally)),
            thread: Some(thread),
            provider,
        }))
    }

    /// Where episodes go. All copies have to be gone before [`Exporter::finish`] ends.
    pub(crate) fn sender(&self) -> Option<EpisodeSender> {
        self.sender.clone()
    }

    /// Sends what is left.
    pub(crate) async fn finish(mut self) {
        self.sender = None;
        // It blocks, and needs this thread for its sockets.
        let finished = tokio::task::spawn_blocking(move || {
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
            // Whatever is not sent by now is lost, and it has been said why.
            let _ = self.provider.shutdown_with_timeout(LAST_WORDS);
        });
        let _ = finished.await;
    }
}

/// Lines of `NAME: VALUE`, from a file that only this user can read.
fn headers(path: &Path) -> io::Result<HashMap<String, String>> {
    let file = secret::private(path).map_err(io::Error::other)?;
    let text = io::read_to_string(file)?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            // What is on the line stays there: it may be secret.
            let wrong = || {
                let (path, line) = (path.display(), at + 1);
                io::Error::other(format!("{path}:{line}: expected NAME: VALUE"))
            };
            let (name, value) = line.split_once(':').ok_or_else(wrong)?;
            let name: hyper::header::HeaderName = name.trim().parse().map_err(|_| wrong())?;
            let value: hyper::header::HeaderValue = value.trim().parse().map_err(|_| wrong())?;
            let value = value.to_str().map_err(|_| wrong())?;
            Ok((name.to_string(), value.to_owned()))
        })
        .collect()
}

/// Makes spans until nobody can tell of an episode any more.
fn spans(episodes: &Receiver<Episode>, tracer: &SdkTracer, epoch: Instant) {
    for episode in episodes {
        // The wall clock may have been set since; what is over is over by today's.
        let (now, passed) = (SystemTime::now(), epoch.elapsed());
        let time = |at: Duration| now.checked_sub(passed.saturating_sub(at)).unwrap_or(now);
        let (name, attributes, status) = described(&episode.past);
        let mut span = tracer
            .span_builder(name)
            .with_kind(SpanKind::Internal)
            .with_start_time(time(episode.began))
            .with_attributes(attributes)
            .start(tracer);
        span.set_status(status);
        span.end_with_timestamp(time(episode.ended));
    }
}

fn described(past: &Past) -> (&'static str, Vec<KeyValue>, Status) {
    let Past::Permit {
        grant,
        holder,
        outcome,
    } = past
    else {
        return ("settling", Vec::new(), Status::Unset);
    };
    let (used_by, client) = match holder {
        Holder::Command => ("command", None),
        Holder::Step => ("rollout", None),
        Holder::Program { .. } => ("program", None),
        Holder::FleetLock { group, id } => ("fleetlock", Some(format!("{group}/{id}"))),
    };
    let mut attributes = vec![
        KeyValue::new("headway.token", i64::from(grant.token)),
        // OpenTelemetry's numbers are signed.
        KeyValue::new(
            "headway.fence",
            i64::try_from(grant.fence).unwrap_or(i64::MAX),
        ),
        KeyValue::new("headway.used_by", used_by),
        KeyValue::new("headway.outcome", outcome.name()),
    ];
    attributes.extend(client.map(|client| KeyValue::new("headway.client", client)));
    let status = match outcome {
        Outcome::Failed | Outcome::Overrun => Status::error(outcome.name()),
        Outcome::Succeeded | Outcome::Released | Outcome::Expired => Status::Unset,
    };
    ("permit", attributes, status)
}

/// Counts what is sent and what is not.
#[derive(Debug)]
struct Counted {
    inner: SpanExporter,
    tally: Arc<Tally>,
    complained: AtomicBool,
}

impl opentelemetry_sdk::trace::SpanExporter for Counted {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len() as u64;
        let result = self.inner.export(batch).await;
        match &result {
            Ok(()) => {
                self.tally.sent.fetch_add(spans, Ordering::Relaxed);
                if self.complained.swap(false, Ordering::Relaxed) {
                    tracing::info!("the collector takes spans again");
                }
            }
            Err(error) => {
                self.tally.failed.fetch_add(spans, Ordering::Relaxed);
                if !self.complained.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "spans are lost (telemetry.endpoint); the node goes on");
                }
            }
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> Result<(), OTelSdkError> {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

/// HTTP/1.1 on the service's own runtime: a connection for every batch.
struct Client(Handle);

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Client(..)")
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // The caller is a thread without a runtime: even the timeout is made there.
        let exchanged = async move { tokio::time::timeout(TIMEOUT, exchange(request)).await };
        self.0.spawn(exchanged).await??
    }
}

async fn exchange(request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let uri = request.uri().clone();
    let host = uri.host().ok_or("no host in telemetry.endpoint")?;
    // An address of IPv6 is in brackets there.
    let name = host.trim_start_matches('[').trim_end_matches(']');
    let port = uri.port_u16().unwrap_or(80);
    let stream = TcpStream::connect((name, port)).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let (mut head, body) = request.into_parts();
    head.headers
        .insert("host", format!("{host}:{port}").parse()?);
    head.uri = uri
        .path_and_query()
        .map_or_else(|| Uri::from_static("/"), |path| Uri::from(path.clone()));
    let response = sender
        .send_request(Request::from_parts(head, Full::new(body)))
        .await?;
    let (head, body): (_, Incoming) = response.into_parts();
    let body = Limited::new(body, MAX_BYTES).collect().await?.to_bytes();
    drop(sender);
    connection.abort();
    Ok(Response::from_parts(head, body))
}
