//! What the rest of the program asks of the thread that runs the protocol.

use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use headway_node::Key;
use headway_node::transport::Waker;
use thiserror::Error;
use tokio::sync::oneshot;

use crate::agent::Status;
use crate::config::Settings;
use crate::membership::roster::{Member, Roster};

/// How many requests wait at most.
pub const MOST_REQUESTS: usize = 256;

/// A permit that a program was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// What it is known by.
    pub ticket: u64,
    /// Which token.
    pub token: u32,
    /// Its fencing number.
    pub fence: u64,
    /// How long it lasts unless extended.
    pub lease: Duration,
    /// How long it can be extended to.
    pub time: Duration,
    /// What the token carries.
    pub payload: Vec<u8>,
}

/// A program's permit, looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitView {
    /// Which token.
    pub token: u32,
    /// Its fencing number.
    pub fence: u64,
    /// How long it lasts unless extended.
    pub left: Duration,
    /// It has to be given back now.
    pub asked_back: bool,
}

/// Something to do.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Request {
    /// A program wants a permit.
    Acquire {
        ticket: u64,
        lease: Duration,
        reply: oneshot::Sender<Given>,
    },
    /// It does not wait any more.
    Forget { ticket: u64 },
    /// It needs longer. How long it has, if there is a permit.
    Extend {
        ticket: u64,
        lease: Duration,
        reply: oneshot::Sender<Option<Duration>>,
    },
    /// It is done.
    Release {
        ticket: u64,
        payload: Option<Vec<u8>>,
        reply: oneshot::Sender<bool>,
    },
    /// It wants to know.
    Look {
        ticket: u64,
        reply: oneshot::Sender<Option<PermitView>>,
    },
    /// The command is to run at the next permit.
    AskHook { reply: oneshot::Sender<bool> },
    /// A FleetLock client wants a slot.
    Lock {
        group: String,
        id: String,
        reply: oneshot::Sender<bool>,
    },
    /// It has come back.
    Unlock {
        group: String,
        id: String,
        reply: oneshot::Sender<()>,
    },
    /// The command runs as this process, started at that time.
    HookStarted { process: (i32, u64) },
    /// The command has ended.
    HookEnded {
        token: u32,
        fence: u64,
        payload: Option<Vec<u8>>,
        failed: bool,
        took: Duration,
    },
    /// What the node is doing.
    Status { reply: oneshot::Sender<Box<Status>> },
    /// Who is on the ring.
    Roster {
        reply: oneshot::Sender<Option<Roster>>,
    },
    /// One more member.
    Add {
        member: Member,
        after: Option<String>,
        force: bool,
        reply: oneshot::Sender<Result<u64, String>>,
    },
    /// One member less.
    Remove {
        name: String,
        reply: oneshot::Sender<Result<u64, String>>,
    },
    /// New settings.
    Reload { settings: Box<Settings>, key: Key },
    /// The node is to stop.
    Stop,
}

/// The protocol's thread does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the node is not answering")]
pub struct NotAnswering;

/// Asks the protocol's thread.
#[derive(Clone, Debug)]
pub struct Handle {
    requests: SyncSender<Request>,
    waker: Waker,
}

impl Handle {
    /// Requests go into `requests`; `waker` makes the thread look.
    pub fn new(requests: SyncSender<Request>, waker: Waker) -> Handle {
        Handle { requests, waker }
    }

    /// Hands over a request.
    ///
    /// # Errors
    ///
    /// When the thread is gone or far behind.
    pub fn send(&self, request: Request) -> Result<(), NotAnswering> {
        match self.requests.try_send(request) {
            Ok(()) => {
                self.waker.wake();
                Ok(())
            }
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => Err(NotAnswering),
        }
    }

    /// Hands over a request that must not be lost, and tries until there is room.
    pub async fn insist(&self, mut request: Request) {
        loop {
            match self.requests.try_send(request) {
                Ok(()) => return self.waker.wake(),
                Err(TrySendError::Full(back)) => request = back,
                Err(TrySendError::Disconnected(_)) => return,
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    ///
    /// When none comes within `most`.
    pub async fn ask<T>(
        &self,
        most: Duration,
        request: impl FnOnce(oneshot::Sender<T>) -> Request,
    ) -> Result<T, NotAnswering> {
        let (reply, answer) = oneshot::channel();
        self.send(request(reply))?;
        match tokio::time::timeout(most, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) | Err(_) => Err(NotAnswering),
        }
    }
}
