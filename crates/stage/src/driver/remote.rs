//! Commands to a node from other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use thiserror::Error;

use headway_node::Machine;
use headway_node::transport::Waker;

use super::MAX_COMMANDS;

/// Something that is done by a node's thread, at a time of its clock.
pub type Call = Box<dyn FnOnce(Duration, &mut Machine) + Send>;

/// Something for a node to do.
pub enum Command {
    /// A permit is no longer used: [`Machine::handle_work_done`].
    WorkDone {
        /// Which token.
        token: u32,
        /// Under which number it was granted.
        fence: u64,
        /// What the token is to carry from now on.
        payload: Option<Vec<u8>>,
    },
    /// Anything else, done by the node's thread.
    Call(Call),
    /// For experiments: the node is dead from now on, and what is sent to it is lost.
    Crash,
    /// For experiments: the node is another one from now on, and alive.
    Restart(Box<Machine>),
    /// The loop ends.
    Stop,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Command::WorkDone { token, fence, .. } => formatter
                .debug_struct("WorkDone")
                .field("token", token)
                .field("fence", fence)
                .finish_non_exhaustive(),
            Command::Call(_) => formatter.write_str("Call(..)"),
            Command::Crash => formatter.write_str("Crash"),
            Command::Restart(_) => formatter.write_str("Restart(..)"),
            Command::Stop => formatter.write_str("Stop"),
        }
    }
}

/// Why a command was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// [`MAX_COMMANDS`] wait already.
    #[error("the node is busy")]
    Busy,
    /// The node has stopped.
    #[error("the node has stopped")]
    Stopped,
}

/// Commands a node from other threads.
#[derive(Clone, Debug)]
pub struct Remote {
    commands: SyncSender<Command>,
    /// There are commands that were not obeyed yet.
    pub(super) pending: Arc<AtomicBool>,
    waker: Waker,
}

impl Remote {
    pub(super) fn new(waker: Waker) -> (Remote, Receiver<Command>) {
        let (commands, receiver) = sync_channel(MAX_COMMANDS);
        let pending = Arc::new(AtomicBool::new(false));
        let remote = Remote {
            commands,
            pending,
            waker,
        };
        (remote, receiver)
    }

    /// Hands over a command and wakes the node.
    ///
    /// # Errors
    ///
    /// When the node has too many commands waiting, or has stopped.
    pub fn send(&self, command: Command) -> Result<(), Refused> {
        self.commands
            .try_send(command)
            .map_err(|refused| match refused {
                TrySendError::Full(_) => Refused::Busy,
                TrySendError::Disconnected(_) => Refused::Stopped,
            })?;
        self.pending.store(true, Ordering::Release);
        self.waker.wake();
        Ok(())
    }

    /// A permit is no longer used.
    ///
    /// # Errors
    ///
    /// As [`Remote::send`].
    pub fn work_done(
        &self,
        token: u32,
        fence: u64,
        payload: Option<Vec<u8>>,
    ) -> Result<(), Refused> {
        self.send(Command::WorkDone {
            token,
            fence,
            payload,
        })
    }

    /// Does something with the machine, in the node's thread.
    ///
    /// # Errors
    ///
    /// As [`Remote::send`].
    pub fn call(
        &self,
        call: impl FnOnce(Duration, &mut Machine) + Send + 'static,
    ) -> Result<(), Refused> {
        self.send(Command::Call(Box::new(call)))
    }

    /// Ends the loop. What the node holds stays with it.
    ///
    /// # Errors
    ///
    /// As [`Remote::send`].
    pub fn stop(&self) -> Result<(), Refused> {
        self.send(Command::Stop)
    }
}
