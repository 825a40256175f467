//! The command that is run when a permit comes.
//!
//! No shell, an environment of its own, a process group of its own. When the permit
//! is asked back, the group gets SIGTERM, and SIGKILL before the grace is over. What
//! is left of the group when the command has ended is killed as well: nothing works
//! on without a permit.

use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::{mpsc, oneshot, watch};

use crate::config::Settings;
use crate::permits::{CommandPermit, Grant, Outcome};
use crate::request::{Handle, Request};

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

/// Runs the command whenever it is ordered to, one at a time.
pub(crate) async fn run(
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
            let result = match now.hook.command.as_deref() {
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
        let Some(process) = child.id().and_then(|id| i32::try_from(id).ok()) else {
            return Ended::failed("has no process".into());
        };
        handle
            .insist(Request::CommandStarted {
                process: (process, run::started(process)),
            })
            .await;
        tracing::info!(token, fence, process, "the command runs");
        let out = tokio::spawn(log(child.stdout.take(), "stdout", token, fence));
        let err = tokio::spawn(log(child.stderr.take(), "stderr", token, fence));
        let (ended, stopped) = self.supervise(process, self.grace, orders).await;
        // Before the process is collected, so that the number is still its own.
        let _ = killpg(Pid::from_raw(process), Signal::SIGKILL);
        let _ = child.wait().await;
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
        let result = match ended {
            Some(WaitStatus::Exited(_, 0)) => {
                tracing::info!(token, fence, status = 0, "the command has ended");
                Ok(())
            }
            Some(WaitStatus::Exited(_, status)) => {
                tracing::error!(token, fence, status, "the command has failed");
                Err(format!("exit code {status}"))
            }
            Some(WaitStatus::Signaled(_, signal, _)) => {
                tracing::error!(
                    token,
                    fence,
                    signal = signal.as_str(),
                    "the command was ended"
                );
                Err(format!("ended by {}", signal.as_str()))
            }
            other => {
                tracing::error!(token, fence, status = ?other, "the command has ended strangely");
                Err("ended strangely".into())
            }
        };
        Ended { result, stopped }
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
            .envs(&settings.hook.environment)
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

    /// Waits for the command to end, and makes it end when it has to: how it ended, and whether
    /// it had to.
    async fn supervise(
        &self,
        process: i32,
        grace: Duration,
        orders: &mut mpsc::UnboundedReceiver<Order>,
    ) -> (Option<WaitStatus>, bool) {
        let pid = Pid::from_raw(process);
        let mut ended = end_of(pid);
        // The protocol asks the permit back in time; this is in case it cannot.
        let mut stop_at = Instant::now() + self.time;
        let mut kill_at = None;
        loop {
            let next = kill_at.unwrap_or(stop_at);
            tokio::select! {
                ended = &mut ended => return (ended.ok().flatten(), kill_at.is_some()),
                // Nothing is left to be ordered when it has been told to stop.
                order = orders.recv(), if kill_at.is_none() => match order {
                    Some(Order::Stop(grant)) if grant == self.grant => {
                        stop_at = Instant::now();
                    }
                    Some(_) => {}
                    // The node is gone.
                    None => stop_at = Instant::now(),
                },
                () = tokio::time::sleep_until(next.into()) => {}
            }
            let now = Instant::now();
            match kill_at {
                None if now >= stop_at => {
                    tracing::warn!(token = self.grant.token, process, "SIGTERM to the command");
                    let _ = killpg(pid, Signal::SIGTERM);
                    // Before the grace is over: then the token has gone on.
                    kill_at = Some(now + grace * 3 / 4);
                }
                Some(at) if now >= at => {
                    tracing::error!(token = self.grant.token, process, "SIGKILL to the command");
                    let _ = killpg(pid, Signal::SIGKILL);
                    return (ended.await.ok().flatten(), true);
                }
                _ => {}
            }
        }
    }
}

/// How a process ends, when it does; it is not collected. On a thread of its own, which
/// nothing else can keep busy.
fn end_of(pid: Pid) -> oneshot::Receiver<Option<WaitStatus>> {
    let (tell, ended) = oneshot::channel();
    let wait = move || {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        let _ = tell.send(waitid(Id::Pid(pid), flags).ok());
    };
    let thread = std::thread::Builder::new().name("command".into());
    if let Err(error) = thread.spawn(wait) {
        // Then nobody waits, and the command is ended.
        tracing::error!(%error, "cannot wait for the command");
    }
    ended
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
