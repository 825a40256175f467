//! The command that is run when a permit comes.
//!
//! No shell, an environment of its own, a process group of its own. When the permit
//! is asked back, the group gets SIGTERM, and SIGKILL before the stop timeout is over. What
//! is left of the group when the command has ended is killed as well: nothing works
//! on without a permit.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::Signal;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::{mpsc, oneshot, watch};

use crate::config::Settings;
use crate::permits::{CommandPermit, Grant, Outcome};
use crate::request::{Handle, Request};
use crate::supervise::Supervised;

pub use run::Run;
pub(crate) use run::{end_all, session};

mod run;
mod step;

/// Lines of output that are logged of one run.
const MAX_LINES: usize = 1000;

/// Bytes of a line that are read at a time, and kept at most twice.
const PIECE_BYTES: u64 = 16 << 10;

/// Characters of a line that are logged.
const MAX_CHARACTERS: usize = 2000;

/// What the protocol wants done with the command.
#[derive(Debug)]
pub(crate) enum Order {
    /// It may run.
    Start(CommandPermit),
    /// It has to stop.
    Stop(Grant),
}

/// Whether a variable may be given to the command.
///
/// # Errors
///
/// Why not.
pub(crate) fn may_set(name: &str, value: &str) -> Result<(), String> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !begins || !name.chars().all(letter) {
        return Err(format!(
            "`{name}` is no name of a variable: expected letters, digits and `_`"
        ));
    }
    if name.starts_with("HEADWAY_") {
        return Err(format!("`{name}` is set by Headway itself"));
    }
    if name.starts_with("LD_") || matches!(name, "BASH_ENV" | "ENV" | "IFS") {
        return Err(format!(
            "`{name}` changes what programs run, and is not passed on"
        ));
    }
    if value.contains('\0') {
        return Err(format!("the value of `{name}` contains a NUL"));
    }
    Ok(())
}

/// Runs the command whenever it is ordered to, on a thread that does nothing else: a command whose
/// permit is over is killed in time, whatever keeps the rest of the program busy. What is returned
/// is answered when the orders have ended.
///
/// # Errors
///
/// When there is no thread to be had.
pub(crate) fn start(
    orders: mpsc::UnboundedReceiver<Order>,
    settings: watch::Receiver<Settings>,
    handle: Handle,
) -> io::Result<oneshot::Receiver<()>> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build()?;
    let (end, ended) = oneshot::channel();
    let thread = std::thread::Builder::new().name("commands".into());
    thread.spawn(move || {
        runtime.block_on(run(orders, settings, handle));
        let _ = end.send(());
    })?;
    Ok(ended)
}

/// Runs the command whenever it is ordered to, one at a time.
async fn run(
    mut orders: mpsc::UnboundedReceiver<Order>,
    settings: watch::Receiver<Settings>,
    handle: Handle,
) {
    while let Some(order) = orders.recv().await {
        let Order::Start(permit) = order else {
            continue;
        };
        let began = Instant::now();
        let now = settings.borrow().clone();
        let grant = permit.grant;
        let ended = if let Some(task) = &permit.task {
            let result = permit.run_step(task, &now, &mut orders, &handle).await;
            let took = began.elapsed();
            Request::StepEnded {
                grant,
                result,
                took,
            }
        } else {
            let result = match now.command.run.as_deref() {
                Some([program, arguments @ ..]) => {
                    let command = permit.command(program, arguments, &now);
                    permit.run(command, &mut orders, &handle).await.result
                }
                _ => Ok(()),
            };
            let took = began.elapsed();
            let outcome = if result.is_ok() {
                Outcome::Succeeded
            } else {
                Outcome::Failed
            };
            Request::CommandEnded {
                grant,
                outcome,
                took,
            }
        };
        handle.insist(ended).await;
    }
}

/// How a command ended.
struct Ended {
    /// An error says what went wrong.
    result: Result<(), String>,
    /// It was told to end, because its permit was over or its node stops, whatever it then did.
    stopped: bool,
}

impl Ended {
    /// It has not even begun.
    fn failed(why: String) -> Ended {
        Ended {
            result: Err(why),
            stopped: false,
        }
    }
}

impl CommandPermit {
    async fn run(
        &self,
        mut command: Command,
        orders: &mut mpsc::UnboundedReceiver<Order>,
        handle: &Handle,
    ) -> Ended {
        let Grant { token, fence } = self.grant;
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                let program = command.as_std().get_program();
                tracing::error!(token, fence, ?program, %error, "the command cannot be run");
                return Ended::failed(format!("cannot be run: {error}"));
            }
        };
        let out = tokio::spawn(log(child.stdout.take(), "stdout", token, fence));
        let err = tokio::spawn(log(child.stderr.take(), "stderr", token, fence));
        let command = Supervised::new(child, true);
        let process = command.process();
        let (handle, started) = (handle.clone(), run::started(process));
        // Beside it: whoever notes it may have to wait for the disk.
        let noted = tokio::spawn(async move {
            let process = (process, started);
            handle.insist(Request::CommandStarted { process }).await;
        });
        tracing::info!(token, fence, process, "the command runs");
        let tell = |text: &str| tracing::warn!(token, process, "{text}");
        let over = async {
            // The protocol asks the permit back in time; this is in case it cannot.
            let _ = tokio::time::timeout(self.time, self.asked_back(orders)).await;
            self.stop_timeout
        };
        let (_none, mut signals) = mpsc::unbounded_channel();
        let ended = command.supervise(over, &mut signals, tell).await;
        let _ = noted.await;
        for task in [out, err] {
            let abort = task.abort_handle();
            // Somebody who left the group may keep the pipe open.
            if tokio::time::timeout(Duration::from_millis(200), task)
                .await
                .is_err()
            {
                abort.abort();
            }
        }
        let (status, stopped) = match ended {
            Ok(ended) => (ended.status, ended.stopped),
            Err(error) => return Ended::failed(format!("has ended strangely: {error}")),
        };
        let result = match (status.code(), status.signal()) {
            (Some(0), _) => {
                tracing::info!(token, fence, status = 0, "the command has ended");
                Ok(())
            }
            (Some(status), _) => {
                tracing::error!(token, fence, status, "the command has failed");
                Err(format!("exit code {status}"))
            }
            (None, signal) => {
                let signal = signal.and_then(|signal| Signal::try_from(signal).ok());
                let signal = signal.map_or("a signal", Signal::as_str);
                tracing::error!(token, fence, signal, "the command was ended");
                Err(format!("ended by {signal}"))
            }
        };
        Ended { result, stopped }
    }

    /// Waits until the permit is asked back, or the node is gone.
    async fn asked_back(&self, orders: &mut mpsc::UnboundedReceiver<Order>) {
        while let Some(order) = orders.recv().await {
            if matches!(order, Order::Stop(grant) if grant == self.grant) {
                return;
            }
        }
    }

    fn command(&self, program: &str, arguments: &[String], settings: &Settings) -> Command {
        let deadline = SystemTime::now() + self.time;
        let deadline = deadline.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env(
                "PATH",
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            )
            .envs(&settings.command.environment)
            .env("HEADWAY_RING", &settings.ring.name)
            .env("HEADWAY_NODE", &settings.node.name)
            .env("HEADWAY_TOKEN", self.grant.token.to_string())
            .env("HEADWAY_FENCE", self.grant.fence.to_string())
            .env(run::VARIABLE, self.run.to_string())
            .env("HEADWAY_DEADLINE", deadline.as_secs().to_string())
            .env("HEADWAY_SECONDS", self.time.as_secs().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
    }
}

async fn log(pipe: Option<impl AsyncRead + Unpin>, stream: &'static str, token: u32, fence: u64) {
    let Some(pipe) = pipe else { return };
    let mut pipe = BufReader::new(pipe);
    let (mut line, mut count) = (Vec::new(), 0);
    // A line without end is read in pieces, and what is beyond is not kept.
    while let Ok(read @ 1..) = (&mut pipe)
        .take(PIECE_BYTES)
        .read_until(b'\n', &mut line)
        .await
    {
        let ends = line.last() == Some(&b'\n');
        if !ends && read as u64 == PIECE_BYTES {
            line.truncate(PIECE_BYTES as usize);
            continue;
        }
        count += 1;
        if count <= MAX_LINES {
            let text = String::from_utf8_lossy(&line[..line.len() - usize::from(ends)]);
            let text: String = text.chars().take(MAX_CHARACTERS).collect();
            tracing::info!(token, fence, stream, "{}", text.escape_debug());
        }
        line.clear();
    }
    if count > MAX_LINES {
        tracing::warn!(token, stream, lines = count, "more output than is logged");
    }
}

#[cfg(test)]
mod tests;
