//! A node with everything around it: started, reloaded and stopped by signals.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, SystemTime};

use headway_node::wire;
use sd_notify::NotifyState;
use thiserror::Error;
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot, watch};

use crate::agent::{Agent, Setup};
use crate::api::{App, admission};
use crate::clock::{epoch, since_boot};
use crate::config::{Mistake, Settings};
use crate::identity::Identities;
use crate::protocol::{Shell, World};
use crate::request::{Handle, MAX_REQUESTS, Request};
use crate::secret::{self, SecretError};
use crate::store::{Notes, Store, Sync};
use crate::transport::ByName;
use crate::{command, log};

/// Why a node did not start, or ended.
#[derive(Debug, Error)]
pub enum ServiceError {
    /// The key was not taken.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// Something could not be had from the system.
    #[error("{what}: {error}")]
    System {
        /// What.
        what: String,
        /// Why not.
        error: io::Error,
    },
    /// The protocol's thread has ended by itself.
    #[error("the protocol has stopped: {0}")]
    Protocol(String),
}

pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> ServiceError {
    let what = what.into();
    move |error| ServiceError::System { what, error }
}

/// How long a node may take to read its configuration again.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads the configuration again, as at the start.
pub type Reread<'r> = &'r dyn Fn() -> Result<Settings, Vec<Mistake>>;

/// By whom a node was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The system that started it (SIGTERM).
    Asked,
    /// A person (Ctrl-C).
    Interrupted,
}

/// Runs a node until it is told to stop.
///
/// # Errors
///
/// When it cannot start, or its transport breaks.
pub fn run(settings: &Settings, reread: Reread<'_>) -> Result<Stopped, ServiceError> {
    run_speaking(wire::VERSION, settings, reread)
}

/// The same as a program would whose newest version of the wire format is `wire`.
///
/// # Errors
///
/// As for [`run`].
pub fn run_speaking(
    wire: u8,
    settings: &Settings,
    reread: Reread<'_>,
) -> Result<Stopped, ServiceError> {
    let level = log::start(&settings.log);
    let identities = Identities::open(&settings.identity_file())?;
    let store = open_store(settings)?;
    let transport = ByName::open(settings)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .build()
        .map_err(system("cannot start"))?;
    let ran = runtime.block_on(run_on(
        wire, settings, reread, &level, identities, store, transport,
    ));
    // Nobody waits for what a resolver still looks for.
    runtime.shutdown_background();
    ran
}

/// The state's folder, when nothing of a command of before a restart lives any more.
fn open_store(settings: &Settings) -> Result<Store, ServiceError> {
    let folder = &settings.node.state_dir;
    let what = format!("cannot keep state in {} (node.state_dir)", folder.display());
    let sync = if settings.node.sync_state {
        Sync::Always
    } else {
        Sync::Never
    };
    let store = Store::open(folder, sync).map_err(system(what))?;
    match store.notes() {
        Ok(Notes { run: Some(run), .. }) => run.end(),
        Ok(_) => {}
        Err(_) => command::end_all(&settings.node.name, &settings.ring.name),
    }
    Ok(store)
}

async fn run_on(
    wire: u8,
    settings: &Settings,
    reread: Reread<'_>,
    level: &log::Level,
    identities: Identities,
    store: Store,
    transport: ByName,
) -> Result<Stopped, ServiceError> {
    let (requests, received) = sync_channel(MAX_REQUESTS);
    let handle = Handle::new(requests, transport.waker());
    let (orders, ordered) = mpsc::unbounded_channel();
    let (publish, published) = watch::channel(settings.clone());
    let token = settings.api.token_file.as_deref();
    let token = token.map(secret::token).transpose()?;
    let app = App::new(handle.clone(), published.clone(), token, random);
    let servers = listen(settings, &app).await?;
    let began = since_boot();
    let now = || since_boot().saturating_sub(began);
    let setup = Setup {
        settings: settings.clone(),
        identities,
        kept: store.kept(),
        session: command::session(),
        epoch: epoch(now()),
        wire,
        random,
    };
    let shell = Shell {
        agent: Agent::new(now(), setup),
        transport,
        store,
        identity_file: settings.identity_file(),
        commands: orders,
        began,
        world: World::default(),
    };
    let (ended, mut end) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("protocol".into())
        .spawn(move || {
            let _ = ended.send(shell.run(&received));
        })
        .map_err(system("cannot start a thread"))?;
    let commands = command::start(ordered, published, handle.clone())
        .map_err(system("cannot start a thread"))?;
    tracing::info!(
        name = %settings.node.name,
        ring = %settings.ring.name,
        listen = %settings.node.listen,
        "started"
    );
    // Before anybody is told that there is somebody to send them to.
    let on = |kind| signal(kind).map_err(system("cannot listen to signals"));
    let (mut terminate, mut interrupt) =
        (on(SignalKind::terminate())?, on(SignalKind::interrupt())?);
    let mut hangup = on(SignalKind::hangup())?;
    let _ = sd_notify::notify(&[NotifyState::Ready]);
    let mut stopped = Stopped::Asked;
    let result = loop {
        tokio::select! {
            ended = &mut end => break ended,
            _ = terminate.recv() => stop(&handle).await,
            _ = interrupt.recv() => {
                stopped = Stopped::Interrupted;
                stop(&handle).await;
            }
            _ = hangup.recv() => reload(reread, &handle, &publish, level).await,
        }
    };
    for server in servers {
        server.abort();
    }
    // The socket of a node that is gone would only confuse.
    let _ = std::fs::remove_file(&settings.api.socket);
    // Dropping what the protocol held has ended the orders.
    let _ = tokio::time::timeout(settings.timing.stop_timeout, commands).await;
    match result {
        Ok(Ok(())) => {
            let _ = thread.join();
            tracing::info!("stopped");
            Ok(stopped)
        }
        Ok(Err(error)) => Err(ServiceError::Protocol(error.to_string())),
        Err(_) => Err(ServiceError::Protocol("its thread has panicked".into())),
    }
}

async fn stop(handle: &Handle) {
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
    handle.insist(Request::Stop).await;
}

async fn reload(
    reread: Reread<'_>,
    handle: &Handle,
    publish: &watch::Sender<Settings>,
    level: &log::Level,
) {
    if let Ok(now) = NotifyState::monotonic_usec_now() {
        let _ = sd_notify::notify(&[NotifyState::Reloading, now]);
    }
    match reread() {
        Err(mistakes) => {
            for mistake in mistakes {
                tracing::error!(%mistake, "the configuration is not used");
            }
        }
        Ok(settings) => {
            level.set(settings.log.level);
            publish.send_replace(settings.clone());
            handle.insist(Request::Reload(Box::new(settings))).await;
            // Answered in turn, so afterwards it is done.
            let _ = handle.ask(Request::Status, PATIENCE).await;
        }
    }
    let _ = sd_notify::notify(&[NotifyState::Ready]);
}

type Server = tokio::task::JoinHandle<()>;

async fn listen(settings: &Settings, app: &Arc<App>) -> Result<Vec<Server>, ServiceError> {
    let socket = &settings.api.socket;
    let what = format!("cannot serve at {} (api.socket)", socket.display());
    let unix = bind_socket(socket).map_err(system(what))?;
    let mut servers = vec![tokio::spawn(admission::serve_local(unix, Arc::clone(app)))];
    if let Some(address) = &settings.api.http {
        let what = format!("cannot serve at {address} (api.http)");
        let tcp = TcpListener::bind(address).await.map_err(system(what))?;
        servers.push(tokio::spawn(admission::serve_http(tcp, Arc::clone(app))));
    }
    Ok(servers)
}

/// A socket that only this user can use. One that nobody serves any more is
/// replaced; one that somebody serves is not.
fn bind_socket(path: &Path) -> io::Result<UnixListener> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    if path.exists() {
        if std::os::unix::net::UnixStream::connect(path).is_ok() {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                "another node serves there",
            ));
        }
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// A number that nobody can guess. Without any randomness in the system, the time:
/// better than none.
fn random() -> u64 {
    getrandom::u64().unwrap_or_else(|_| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.map_or(1, |now| now.as_nanos() as u64)
    })
}
