//! Who may ask: which hosts, origins and callers are let in, and for how long they may take.
//!
//! A page on another site can make a browser send requests to a server on this machine. Its
//! `Origin` gives it away; if it has its own name resolved to this machine, the `Host` does.
//! What changes something over HTTP needs the token of `api.token_file`, as a bearer token or
//! as the password of basic authentication, which FleetLock clients can send. On the Unix
//! socket the caller's user counts.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use subtle::ConstantTimeEq as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

use super::{App, MAX_BODY_BYTES, fleetlock, permits, problem};

/// Connections at a time, of each kind.
const MAX_CONNECTIONS: usize = 64;

/// How many of all of them wait for a permit: whoever has one finds room to extend it and to give
/// it back.
pub(super) const MAX_WAITING: usize = MAX_CONNECTIONS * 3 / 4;

/// How long a request may take to arrive, and, unless its caller has shown who it is, the
/// whole exchange.
const MAX_TIME: Duration = Duration::from_secs(10);

/// How long a caller may be there without showing who it is when there is no room for others:
/// long enough for a request that follows its connection, and so short that whoever has a token
/// comes in before its lease is over, with a thousand connections of strangers before it.
const TIME_TO_SHOW: Duration = Duration::from_millis(50);

/// How long after a failure to accept the next try is made.
const PAUSE: Duration = Duration::from_millis(20);

/// Set when a caller has shown who it is, and may wait for a permit.
#[derive(Clone, Debug, Default)]
struct Known(Arc<AtomicBool>);

impl Known {
    fn is_shown(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Somebody who is answered.
struct Guest {
    known: Known,
    since: Instant,
    task: AbortHandle,
}

/// Answers on an HTTP address until it is aborted.
pub(crate) async fn serve_http(listener: TcpListener, app: Arc<App>) {
    let router = super::routes(Arc::clone(&app)).layer(from_fn(whole));
    let guard = from_fn_with_state(app, admit);
    let accept = |context: &mut Context<'_>| listener.poll_accept(context).map_ok(|new| new.0);
    serve(accept, router.layer(guard), |_| Some(Known::default())).await;
}

/// Answers on the Unix socket until it is aborted. Only root and the node's own user are
/// let in, whatever has become of the file's permissions.
pub(crate) async fn serve_local(listener: UnixListener, app: Arc<App>) {
    let accept = |context: &mut Context<'_>| listener.poll_accept(context).map_ok(|new| new.0);
    let router = super::local_routes(app).layer(from_fn(whole));
    serve(accept, router, |stream: &UnixStream| {
        let own = nix::unistd::geteuid().as_raw();
        let user = stream.peer_cred().map(|peer| peer.uid());
        if matches!(user, Ok(user) if user == 0 || user == own) {
            return Some(Known(Arc::new(AtomicBool::new(true))));
        }
        tracing::warn!(?user, "another user was refused at the socket");
        None
    })
    .await;
}

/// Answers whoever is let in, so many at a time. Where there is no room for a while, whoever has
/// been there longest without showing who it is has to go: strangers that are slow keep nobody out.
async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    accept: impl Fn(&mut Context<'_>) -> Poll<io::Result<S>>,
    router: axum::Router,
    let_in: impl Fn(&S) -> Option<Known>,
) {
    let limit = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut inside: VecDeque<Guest> = VecDeque::new();
    loop {
        let Ok(stream) = poll_fn(&accept).await else {
            // Out of file descriptors, say: others may come free.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Some(known) = let_in(&stream) else {
            continue;
        };
        let room = loop {
            inside.retain(|guest| !guest.task.is_finished());
            let room = || Arc::clone(&limit).acquire_owned();
            let mut guests = inside.iter();
            let Some(at) = guests.position(|guest| !guest.known.is_shown()) else {
                break room().await;
            };
            match timeout_at(inside[at].since + TIME_TO_SHOW, room()).await {
                Ok(room) => break room,
                Err(_) if inside[at].known.is_shown() => {}
                Err(_) => {
                    inside[at].task.abort();
                    break room().await;
                }
            }
        };
        let Ok(room) = room else { return };
        let (router, caller) = (router.clone(), known.clone());
        let task = tokio::spawn(async move {
            answer(stream, router, caller).await;
            drop(room);
        });
        inside.push_back(Guest {
            known,
            since: Instant::now(),
            task: task.abort_handle(),
        });
    }
}

/// One request and its answer.
async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: axum::Router,
    known: Known,
) {
    let router = router.layer(axum::Extension(known.clone()));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(MAX_TIME)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    tokio::pin!(connection);
    let most = 2 * MAX_TIME;
    if tokio::time::timeout(most, connection.as_mut())
        .await
        .is_err()
        && known.is_shown()
    {
        let _ = tokio::time::timeout(permits::MAX_WAIT + most, connection).await;
    }
}

/// Waits until the whole body is here.
async fn whole(request: Request, next: Next) -> Response {
    match arrived(request).await {
        Ok(request) => next.run(request).await,
        Err(refused) => refused,
    }
}

/// A request with its body, which may not take long, nor be a long one.
async fn arrived(request: Request) -> Result<Request, Response> {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, MAX_BODY_BYTES);
    match tokio::time::timeout(MAX_TIME, body).await {
        Ok(Ok(body)) => Ok(Request::from_parts(head, Body::from(body))),
        Ok(Err(_)) if fleetlock::serves(head.uri.path()) => Err(fleetlock::too_long()),
        Ok(Err(_)) => Err(problem(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the body is too long, or cut",
        )),
        Err(_) => Err(problem(
            StatusCode::REQUEST_TIMEOUT,
            "the body takes too long",
        )),
    }
}

/// Lets a request through that came over HTTP, or says why not.
async fn admit(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let checked = check_host(headers, &app.settings.borrow().api.hosts)
        .and_then(|host| check_origin(headers, &host));
    let changes = !request.method().is_safe();
    let checked = checked.and_then(|()| match changes {
        true => check_token(headers, app.token.as_deref()),
        false => Ok(()),
    });
    let Err((status, message)) = checked else {
        if changes && let Some(known) = request.extensions().get::<Known>() {
            known.0.store(true, Ordering::Relaxed);
        }
        return next.run(request).await;
    };
    // Who still sends may not hear an answer.
    let request = match arrived(request).await {
        Ok(request) => request,
        Err(refused) => return refused,
    };
    if fleetlock::serves(request.uri().path()) {
        return fleetlock::refuse(status, message);
    }
    let refused = problem(status, message);
    match status {
        StatusCode::UNAUTHORIZED => {
            ([(header::WWW_AUTHENTICATE, "Bearer")], refused).into_response()
        }
        _ => refused,
    }
}

type Checked<T> = Result<T, (StatusCode, String)>;

fn check_host(headers: &HeaderMap, names: &[String]) -> Checked<Authority> {
    let refuse = |message: String| (StatusCode::MISDIRECTED_REQUEST, message);
    let host = headers.get(header::HOST);
    let host = host.and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let host = host.ok_or_else(|| refuse("the request has no Host that can be read".into()))?;
    let name = host.host();
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    // Nobody can have redirected an address.
    let known = bare.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || names.iter().any(|known| known.eq_ignore_ascii_case(name));
    if known {
        return Ok(host);
    }
    let advice = "use the node's address, or list the name in api.hosts";
    Err(refuse(format!(
        "this node does not answer for the host {name}: {advice}"
    )))
}

/// Programs that are no browsers send neither header.
fn check_origin(headers: &HeaderMap, host: &Authority) -> Checked<()> {
    let own = |origin: &HeaderValue| {
        ["http", "https"]
            .iter()
            .any(|scheme| origin.as_bytes() == format!("{scheme}://{host}").as_bytes())
    };
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let same = matches!(site, None | Some(b"same-origin" | b"none"));
    if same && headers.get(header::ORIGIN).is_none_or(own) {
        return Ok(());
    }
    let message = "a page of another site may not ask this node";
    Err((StatusCode::FORBIDDEN, message.into()))
}

fn check_token(headers: &HeaderMap, token: Option<&str>) -> Checked<()> {
    let refuse = |message: &str| Err((StatusCode::UNAUTHORIZED, message.to_owned()));
    let Some(token) = token else {
        return refuse("over HTTP this node only answers questions: set api.token_file");
    };
    // Unequal lengths are told apart at once; that much a stranger may learn.
    let is = |shown: &[u8]| bool::from(token.as_bytes().ct_eq(shown));
    let shown = headers.get(header::AUTHORIZATION);
    let shown = shown
        .and_then(|shown| shown.to_str().ok())
        .unwrap_or_default();
    let right = match shown.split_once(' ') {
        Some((kind, shown)) if kind.eq_ignore_ascii_case("bearer") => is(shown.trim().as_bytes()),
        Some((kind, shown)) if kind.eq_ignore_ascii_case("basic") => {
            let pair = base64::engine::general_purpose::STANDARD.decode(shown.trim());
            let pair = pair.unwrap_or_default();
            let colon = pair.iter().position(|&byte| byte == b':');
            colon.is_some_and(|colon| is(&pair[colon + 1..]))
        }
        _ => false,
    };
    if right {
        return Ok(());
    }
    refuse("this node wants its token: send Authorization: Bearer TOKEN (api.token_file)")
}

#[cfg(test)]
mod tests;
