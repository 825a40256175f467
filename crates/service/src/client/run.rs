//! Runs a command under a permit: waits for one, keeps it while the command lives, and gives
//! it back.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::signal::Signal;
use serde::Deserialize;
use serde_json::json;
use thiserror::Error;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::{ClientError, ask_for};
use crate::supervise::Supervised;

/// The longest that a node lets a request wait.
const MAX_WAIT: Duration = Duration::from_secs(3600);

/// How often a permit is asked for, or extended, at most.
const MIN_PAUSE: Duration = Duration::from_millis(10);

/// How long after too many waited already a permit is asked for again.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// The command's exit code, or 128 and the signal that ended it.
    Ended(u8),
    /// No permit came in time, and the command was not run.
    NoPermit,
    /// A signal came first, and the command was not run.
    Interrupted,
}

/// Why the command was not run.
#[derive(Debug, Error)]
pub enum RunError {
    /// The node gives no permit.
    #[error(transparent)]
    Node(#[from] ClientError),
    /// It cannot be started.
    #[error("cannot run {program}: {error}")]
    Command {
        /// What.
        program: String,
        /// Why not.
        error: io::Error,
    },
}

/// What a node says when it gives a permit.
#[derive(Debug, Deserialize)]
struct Permit {
    permit: String,
    token: u32,
    fencing: u64,
    lease_ms: u64,
    most_ms: u64,
    stop_timeout_ms: u64,
}

/// Runs a command when the node at `socket` gives a permit for it, `within` a time if one is
/// given. What somebody should know meanwhile goes to `tell`.
///
/// On a terminal the command has it as if it had been started there. Otherwise it gets a
/// process group of its own, and what it leaves there ends with it: nothing works on without a
/// permit.
///
/// # Errors
///
/// When there is no node, or no such command.
pub fn run(
    socket: &Path,
    command: &[OsString],
    within: Option<Duration>,
    tell: &dyn Fn(&str),
) -> Result<Ran, RunError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let (program, arguments) = command.split_first().ok_or_else(|| no_command("", None))?;
    let failed = |error| no_command(&program.to_string_lossy(), Some(error));
    let runtime = runtime.map_err(failed)?;
    let ran = runtime.block_on(async {
        let mut signals = signals().map_err(failed)?;
        let permit = tokio::select! {
            permit = acquire(socket, within) => permit?,
            _ = signals.recv() => return Ok(Ran::Interrupted),
        };
        let Some(permit) = permit else {
            return Ok(Ran::NoPermit);
        };
        let given = Instant::now();
        let mut command = Command::new(program);
        command.args(arguments);
        let own_group = !io::stdin().is_terminal();
        let started = permit.start(command, own_group);
        let ended = match started {
            Ok(child) => {
                let command = Supervised::new(child, own_group);
                let over = permit.keep(given, async || permit.extend(socket).await);
                let ended = command.supervise(over, &mut signals, tell).await;
                ended.map(|ended| code(ended.status)).map_err(failed)
            }
            Err(error) => Err(failed(error)),
        };
        let path = format!("/v1/permits/{}/release", permit.permit);
        let released = ask_for(socket, "POST", &path, None, Duration::ZERO).await;
        if let Err(error) = released {
            tell(&format!(
                "the permit is not given back and ends with its lease: {error}"
            ));
        }
        ended.map(Ran::Ended)
    });
    // A thread may still wait for a command that does not end.
    runtime.shutdown_background();
    ran
}

fn no_command(program: &str, error: Option<io::Error>) -> RunError {
    RunError::Command {
        program: program.to_owned(),
        error: error.unwrap_or_else(|| io::Error::other("there is none")),
    }
}

/// Signals that end programs, or that programs wait for.
fn signals() -> io::Result<mpsc::UnboundedReceiver<Signal>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    for kind in [
        Signal::SIGINT,
        Signal::SIGTERM,
        Signal::SIGHUP,
        Signal::SIGQUIT,
        Signal::SIGUSR1,
        Signal::SIGUSR2,
    ] {
        let mut signals = signal(SignalKind::from_raw(kind as i32))?;
        let sender = sender.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() && sender.send(kind).is_ok() {}
        });
    }
    Ok(receiver)
}

/// Waits for a permit.
async fn acquire(socket: &Path, within: Option<Duration>) -> Result<Option<Permit>, ClientError> {
    let ends = within.map(|within| Instant::now() + within);
    loop {
        let left = ends.map(|ends| ends.saturating_duration_since(Instant::now()));
        let wait = left.unwrap_or(MAX_WAIT).min(MAX_WAIT);
        let body = json!({ "wait_ms": wait.as_millis() as u64 });
        match ask_for(socket, "POST", "/v1/permits", Some(&body), wait).await {
            Ok(given) if given.is_null() => {}
            Ok(given) => {
                let permit = serde_json::from_value(given);
                return permit.map(Some).map_err(|_| ClientError::Strange);
            }
            // Others are served meanwhile.
            Err(ClientError::Full(_)) => {
                tokio::time::sleep(ASK_AGAIN.min(wait.max(MIN_PAUSE))).await;
            }
            Err(error) => return Err(error),
        }
        if ends.is_some_and(|ends| Instant::now() >= ends) {
            return Ok(None);
        }
    }
}

impl Permit {
    fn start(&self, mut command: Command, own_group: bool) -> io::Result<Child> {
        let most = Duration::from_millis(self.most_ms);
        let deadline = (SystemTime::now() + most).duration_since(UNIX_EPOCH);
        if own_group {
            command.process_group(0);
        }
        command
            .env("HEADWAY_TOKEN", self.token.to_string())
            .env("HEADWAY_FENCE", self.fencing.to_string())
            .env(
                "HEADWAY_DEADLINE",
                deadline.unwrap_or_default().as_secs().to_string(),
            )
            .env("HEADWAY_SECONDS", most.as_secs().to_string())
            .spawn()
    }

    /// Extends the permit, which came at `given`, until it is over or will be soon: how long the
    /// command may take to end then.
    ///
    /// A node that has heard nothing for a whole lease gives the permit to somebody else at once.
    /// One that does not run keeps it, and the lease begins anew when it is back.
    async fn keep(&self, given: Instant, extend: impl AsyncFn() -> Extended) -> Duration {
        let lease = Duration::from_millis(self.lease_ms);
        let stop_timeout = Duration::from_millis(self.stop_timeout_ms);
        let until = given + Duration::from_millis(self.most_ms);
        let pause = (lease / 3).max(MIN_PAUSE);
        let short = stop_timeout.min(lease / 3);
        let (mut heard, mut next) = (given, given + pause);
        loop {
            let lapses = heard + lease - short;
            let asked = async {
                sleep_until(next).await;
                let asked = Instant::now();
                let extended = timeout(pause, extend()).await;
                (asked, extended.unwrap_or(Extended::Unknown))
            };
            match timeout_at(until.min(lapses), asked).await {
                Err(_) if until <= lapses => return stop_timeout,
                Err(_) => return short,
                Ok((_, Extended::No)) => return stop_timeout,
                Ok((asked, Extended::Yes)) => (heard, next) = (asked, asked + pause),
                Ok((_, Extended::Unknown)) => next = Instant::now() + (pause / 4).max(MIN_PAUSE),
            }
        }
    }

    async fn extend(&self, socket: &Path) -> Extended {
        let path = format!("/v1/permits/{}/extend", self.permit);
        let body = json!({ "lease_ms": self.lease_ms });
        match ask_for(socket, "POST", &path, Some(&body), Duration::ZERO).await {
            Ok(_) => Extended::Yes,
            Err(ClientError::Missing(_)) => Extended::No,
            Err(ClientError::Unreachable { error, .. }) if runs_not(&*error) => Extended::Yes,
            Err(_) => Extended::Unknown,
        }
    }
}

/// What is known of a permit after it was to be extended.
enum Extended {
    /// It lasts for a whole lease from then on.
    Yes,
    /// It is over.
    No,
    /// The node will know.
    Unknown,
}

/// Whether nobody is at a socket: what serves it is not slow, it does not run.
fn runs_not(error: &(dyn std::error::Error + 'static)) -> bool {
    use io::ErrorKind::{ConnectionRefused, NotFound};
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| matches!(error.kind(), ConnectionRefused | NotFound))
}

/// As shells say it.
fn code(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|signal| 128 + signal);
    let code = status.code().or(signal);
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests;
