//! The server: what it is started with, its connections, its end.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use headway_page::{ApiError, Desk, Limits};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::api;
use crate::assets::Assets;
use crate::error::Refused;
use crate::fleet::{Fleet, NodeUrl, Powers};
use crate::guard::{self, Embedder, Guard, Peer, Secret};
use crate::rates::Rates;

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Without one, only `listen` addresses of this machine itself are taken.
    pub secret: Option<Secret>,
    /// Names under which the server may be reached, beside its addresses.
    pub names: Vec<String>,
    /// Sites that may show the page in a frame.
    pub embedders: Vec<Embedder>,
    /// Take the page from this folder instead of from the binary.
    pub page: Option<PathBuf>,
    /// Real nodes to watch; none: no fleet.
    pub fleet: Vec<NodeUrl>,
    /// What the page may do to them.
    pub powers: Powers,
    /// How much to take on.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: SocketAddr::from(([127, 0, 0, 1], 7007)),
            secret: None,
            names: Vec::new(),
            embedders: Vec::new(),
            page: None,
            fleet: Vec::new(),
            powers: Powers::default(),
            limits: Limits::default(),
        }
    }
}

/// Everything that answers share.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

pub(crate) struct Shared {
    pub(crate) limits: Limits,
    pub(crate) guard: Guard,
    pub(crate) rates: Mutex<Rates>,
    pub(crate) desk: Desk,
    pub(crate) fleet: Option<Arc<Fleet>>,
    pub(crate) viewers: Arc<Semaphore>,
    /// How much is worked out at one time.
    pub(crate) work: Semaphore,
    /// The same for what can take seconds.
    pub(crate) long_work: Semaphore,
    assets: Assets,
}

/// A server that listens, and has not answered yet.
pub struct Server {
    listener: TcpListener,
    app: App,
}

/// How many bytes wait in a connection for a slow reader: what is beyond stays
/// unmade, so that it gets the latest frame next and not a late one.
const SEND_BUFFER_BYTES: u32 = 64 << 10;

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// When the address cannot be had, or is not of this machine only and there is
    /// no secret.
    pub fn bind(options: Options) -> io::Result<Server> {
        let loopback = options.listen.ip().is_loopback();
        if !loopback && options.secret.is_none() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "others could reach this address, so a secret is needed",
            ));
        }
        let socket = if options.listen.is_ipv4() {
            TcpSocket::new_v4()?
        } else {
            TcpSocket::new_v6()?
        };
        socket.set_reuseaddr(true)?;
        socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
        socket.bind(options.listen)?;
        let listener = socket.listen(1024)?;
        let mut desk = Desk::new(&options.limits, !options.fleet.is_empty());
        desk.address = address_for_others(listener.local_addr()?, &options.names);
        let guard = Guard {
            loopback,
            names: options.names,
            secret: options.secret,
            policy: guard::policy(&options.embedders),
            embedded: !options.embedders.is_empty(),
        };
        let app = App(Arc::new(Shared {
            rates: Mutex::new(Rates::new(&options.limits)),
            desk,
            fleet: (!options.fleet.is_empty())
                .then(|| Arc::new(Fleet::new(options.fleet, options.powers))),
            viewers: Arc::new(Semaphore::new(options.limits.viewers)),
            work: Semaphore::new(parallel_work()),
            long_work: Semaphore::new(1),
            limits: options.limits,
            guard,
            assets: Assets::new(options.page),
        }));
        Ok(Server { listener, app })
    }

    /// The address, with the port that was chosen when 0 was asked for.
    ///
    /// # Errors
    ///
    /// When the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `stop` is done; then ends all streams, gives what is under way
    /// two seconds, and returns.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let service = TowerToHyperService::new(router(self.app.clone()));
        let limit = Arc::new(Semaphore::new(self.app.limits.connections));
        let (stopping, stopped) = watch::channel(());
        let mut connections = JoinSet::new();
        if let Some(fleet) = &self.app.fleet {
            connections.spawn(Arc::clone(fleet).poll(stopped.clone()));
        }
        let mut cleaning = tokio::time::interval(Duration::from_secs(60));
        tokio::pin!(stop);
        loop {
            let permit = tokio::select! {
                () = &mut stop => break,
                permit = limit.clone().acquire_owned() => permit,
            };
            let accepted = tokio::select! {
                () = &mut stop => break,
                _ = cleaning.tick() => {
                    self.app.desk.runs().drop_idle();
                    continue;
                }
                accepted = self.listener.accept() => accepted,
            };
            let (Ok(permit), Ok((stream, peer))) = (permit, accepted) else {
                // Out of file descriptors, say: others may come free.
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            };
            while connections.try_join_next().is_some() {}
            let _ = stream.set_nodelay(true);
            let service = WithPeer {
                inner: service.clone(),
                peer: Peer(peer),
            };
            let mut stopped = stopped.clone();
            connections.spawn(async move {
                let _permit = permit;
                let connection = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(Duration::from_secs(20))
                    .max_buf_size(SEND_BUFFER_BYTES as usize)
                    .serve_connection(TokioIo::new(stream), service);
                tokio::pin!(connection);
                tokio::select! {
                    _ = connection.as_mut() => {}
                    _ = stopped.changed() => {
                        connection.as_mut().graceful_shutdown();
                        let _ = connection.await;
                    }
                }
            });
        }
        drop(stopping);
        self.app.stop();
        let rest = async { while connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(Duration::from_millis(500), rest).await;
    }
}

impl App {
    /// Ends what would go on by itself.
    fn stop(&self) {
        self.desk.runs().clear();
    }
}

/// Working out an answer keeps a core busy.
fn parallel_work() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// Tells the service where its requests come from.
#[derive(Clone)]
struct WithPeer<S> {
    inner: S,
    peer: Peer,
}

impl<S, B> hyper::service::Service<hyper::Request<B>> for WithPeer<S>
where
    S: hyper::service::Service<hyper::Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, mut request: hyper::Request<B>) -> S::Future {
        request.extensions_mut().insert(self.peer);
        self.inner.call(request)
    }
}

fn router(app: App) -> Router {
    let limit = DefaultBodyLimit::max(app.limits.body_bytes);
    let checks = axum::middleware::from_fn_with_state(app.clone(), guard::guard);
    Router::new()
        .merge(api::router())
        .fallback(page)
        .method_not_allowed_fallback(wrong_method)
        .layer(limit)
        .layer(checks)
        .with_state(app)
}

async fn page(State(app): State<App>, request: Request) -> Response {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let headers = request.headers().clone();
    if uri.path().starts_with("/api/") {
        match api::ask(&app, request).await {
            Ok(None) => {}
            Ok(Some(answer)) => return answer,
            Err(refused) => return refused.into_response(),
        }
    }
    if method != Method::GET && method != Method::HEAD {
        return wrong_method().await.into_response();
    }
    app.assets.answer(uri.path(), &headers)
}

async fn wrong_method() -> Refused {
    ApiError::wrong_method().into()
}

/// Where other machines find the server: by its name if it has one, else by the address that
/// this machine speaks to others from.
fn address_for_others(listens: SocketAddr, names: &[String]) -> Option<String> {
    if listens.ip().is_loopback() {
        return None;
    }
    if let Some(name) = names.first() {
        return Some(format!("http://{name}:{}", listens.port()));
    }
    let mut here = listens;
    if listens.ip().is_unspecified() {
        // Nothing is sent: the system only chooses a way to an address of the documentation.
        let socket = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
        here.set_ip(socket.local_addr().ok()?.ip());
    }
    Some(format!("http://{here}"))
}

#[cfg(test)]
mod tests {
    use super::address_for_others;

    #[test]
    fn others_find_it_by_name_or_address_and_not_at_this_machine_alone() {
        let of = |listens: &str, names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            address_for_others(listens.parse().expect("an address"), &names)
        };
        assert_eq!(of("127.0.0.1:7007", &["ring.example"]), None);
        let named = of("0.0.0.0:7007", &["ring.example"]);
        assert_eq!(named.as_deref(), Some("http://ring.example:7007"));
        let bound = of("192.0.2.7:7007", &[]);
        assert_eq!(bound.as_deref(), Some("http://192.0.2.7:7007"));
    }
}
