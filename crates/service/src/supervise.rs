//! A command that runs under a permit, for a node and for `headway node run`: told to end when its
//! permit is over, killed before the token goes on, and with it what it has left in its group.

use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use tokio::process::Child;
use tokio::sync::{mpsc, oneshot};

/// A command that runs.
pub(crate) struct Supervised {
    child: Child,
    pid: Pid,
    own_group: bool,
}

/// How it ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// It was told to end, whatever it then did.
    pub(crate) stopped: bool,
}

impl Supervised {
    /// Whose child has just been started, in a process group of its own or in this one.
    pub(crate) fn new(child: Child, own_group: bool) -> Supervised {
        let pid = child.id().and_then(|id| i32::try_from(id).ok());
        Supervised {
            pid: Pid::from_raw(pid.unwrap_or(0)),
            child,
            own_group,
        }
    }

    /// Its first process.
    pub(crate) const fn process(&self) -> i32 {
        self.pid.as_raw()
    }

    fn signal(&self, signal: Signal) {
        // Gone by now: then there is nobody to tell.
        let _ = match self.own_group {
            true => killpg(self.pid, signal),
            false => kill(self.pid, signal),
        };
    }

    /// Waits for its end, and passes signals on. When its permit is `over`, which says how long it
    /// may take to end then, it gets SIGTERM, and SIGKILL after three quarters of that.
    ///
    /// # Errors
    ///
    /// When the system does not say how it ended.
    pub(crate) async fn supervise(
        mut self,
        over: impl Future<Output = Duration>,
        signals: &mut mpsc::UnboundedReceiver<Signal>,
        tell: impl Fn(&str),
    ) -> io::Result<Ended> {
        let mut ended = end_of(self.pid);
        tokio::pin!(over);
        let mut kill_at: Option<Instant> = None;
        loop {
            let killed = async {
                match kill_at {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = &mut ended => break,
                Some(signal) = signals.recv() => {
                    // A terminal has told the command already.
                    let typed = matches!(signal, Signal::SIGINT | Signal::SIGQUIT);
                    if self.own_group || !typed {
                        self.signal(signal);
                    }
                }
                within = &mut over, if kill_at.is_none() => {
                    tell("the permit is over: SIGTERM to the command, and SIGKILL if it does not end");
                    self.signal(Signal::SIGTERM);
                    // Before the token has gone on.
                    kill_at = Some(Instant::now() + within * 3 / 4);
                }
                () = killed => {
                    tell("SIGKILL to the command, which has not ended");
                    self.signal(Signal::SIGKILL);
                    break;
                }
            }
        }
        // Before the process is collected, so that the number is still its own.
        if self.own_group {
            self.signal(Signal::SIGKILL);
        }
        let status = self.child.wait().await?;
        let stopped = kill_at.is_some();
        Ok(Ended { status, stopped })
    }
}

/// Is answered when a process has ended; it is not collected. On a thread of its own, which nothing
/// else can keep busy.
fn end_of(pid: Pid) -> oneshot::Receiver<()> {
    let (tell, ended) = oneshot::channel();
    let wait = move || {
        let _ = waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT);
        let _ = tell.send(());
    };
    let thread = std::thread::Builder::new().name("command".into());
    if let Err(error) = thread.spawn(wait) {
        // Then nobody waits, and the command is ended.
        tracing::error!(%error, "cannot wait for the command");
    }
    ended
}
