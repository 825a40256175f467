//! How keepers speak: letters with a number, and answers with the same number. Whoever carries
//! them may lose, repeat and delay them.

use std::collections::HashMap;
use std::fmt::Display;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openraft::BasicNode;
use openraft::error::{InstallSnapshotError, RPCError, RaftError, Unreachable};
use openraft::network::{RPCOption, RaftNetwork, RaftNetworkFactory};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, InstallSnapshotRequest, InstallSnapshotResponse,
    VoteRequest, VoteResponse,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::{Change, Decision, Keeper, Types};

/// What one keeper sends to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Letter {
    /// Whose answer it is, or what the answer is to have.
    pub(crate) number: u64,
    pub(crate) is_answer: bool,
    pub(crate) bytes: Vec<u8>,
}

/// Everything that is asked.
#[derive(Serialize, Deserialize)]
enum Question {
    Append(AppendEntriesRequest<Types>),
    Vote(VoteRequest<u64>),
    Snapshot(InstallSnapshotRequest<Types>),
    Propose(Change),
}

/// Sends letters, and knows who waits for an answer.
#[derive(Clone)]
pub(crate) struct Post {
    outgoing: mpsc::UnboundedSender<(u64, Letter)>,
    waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Vec<u8>>>>>,
    next: Arc<AtomicU64>,
}

impl Post {
    pub(super) fn new(outgoing: mpsc::UnboundedSender<(u64, Letter)>) -> Post {
        Post {
            outgoing,
            waiting: Arc::default(),
            next: Arc::default(),
        }
    }

    /// Asks, and waits for the answer; nothing if none comes in time that can be read.
    async fn ask<A: DeserializeOwned>(
        &self,
        to: u64,
        question: &Question,
        longest: Duration,
    ) -> Option<A> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (answered, answer) = oneshot::channel();
        self.waiting(|waiting| waiting.insert(number, answered));
        let letter = Letter {
            number,
            is_answer: false,
            bytes: serde_json::to_vec(question).ok()?,
        };
        let sent = self.outgoing.send((to, letter));
        let bytes = tokio::time::timeout(longest, answer).await;
        self.waiting(|waiting| waiting.remove(&number));
        sent.ok()?;
        serde_json::from_slice(&bytes.ok()?.ok()?).ok()
    }

    fn waiting<R>(&self, with: impl FnOnce(&mut HashMap<u64, oneshot::Sender<Vec<u8>>>) -> R) -> R {
        with(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Asks a keeper that leads to write a change.
    pub(super) async fn propose(
        &self,
        to: u64,
        change: &Change,
        longest: Duration,
    ) -> Option<Decision> {
        let question = Question::Propose(change.clone());
        let answer: Option<Option<Decision>> = self.ask(to, &question, longest).await;
        answer.flatten()
    }

    /// A letter has come: an answer that somebody waits for, or a question.
    pub(super) async fn handle(&self, keeper: &Keeper, from: u64, letter: Letter) {
        if letter.is_answer {
            let waiting = self.waiting(|waiting| waiting.remove(&letter.number));
            if let Some(waiting) = waiting {
                let _ = waiting.send(letter.bytes);
            }
            return;
        }
        // What cannot be read was not sent by a keeper of this log.
        let Ok(question) = serde_json::from_slice(&letter.bytes) else {
            return;
        };
        let raft = &keeper.raft;
        let bytes = match question {
            Question::Append(asked) => serde_json::to_vec(&raft.append_entries(asked).await),
            Question::Vote(asked) => serde_json::to_vec(&raft.vote(asked).await),
            Question::Snapshot(asked) => serde_json::to_vec(&raft.install_snapshot(asked).await),
            Question::Propose(change) => serde_json::to_vec(&keeper.write(change).await.ok()),
        };
        if let Ok(bytes) = bytes {
            let answer = Letter {
                number: letter.number,
                is_answer: true,
                bytes,
            };
            let _ = self.outgoing.send((from, answer));
        }
    }
}

impl RaftNetworkFactory<Types> for Post {
    type Network = Way;

    async fn new_client(&mut self, to: u64, _: &BasicNode) -> Way {
        Way {
            post: self.clone(),
            to,
        }
    }
}

/// The way to one keeper.
pub(crate) struct Way {
    post: Post,
    to: u64,
}

type Answer<A, E> = Result<A, RPCError<u64, BasicNode, E>>;

impl Way {
    async fn ask<A, E>(&self, question: Question, option: &RPCOption) -> Answer<A, E>
    where
        A: DeserializeOwned,
        E: DeserializeOwned + Display + std::error::Error,
    {
        let answer = self.post.ask(self.to, &question, option.hard_ttl()).await;
        let answer: Option<Result<A, E>> = answer;
        // Whatever the other one has against it: it is as if it were not there for now.
        answer.and_then(Result::ok).ok_or_else(|| {
            let silent = io::Error::from(io::ErrorKind::TimedOut);
            RPCError::Unreachable(Unreachable::new(&silent))
        })
    }
}

impl RaftNetwork<Types> for Way {
    async fn append_entries(
        &mut self,
        asked: AppendEntriesRequest<Types>,
        option: RPCOption,
    ) -> Answer<AppendEntriesResponse<u64>, RaftError<u64>> {
        self.ask(Question::Append(asked), &option).await
    }

    async fn install_snapshot(
        &mut self,
        asked: InstallSnapshotRequest<Types>,
        option: RPCOption,
    ) -> Answer<InstallSnapshotResponse<u64>, RaftError<u64, InstallSnapshotError>> {
        self.ask(Question::Snapshot(asked), &option).await
    }

    async fn vote(
        &mut self,
        asked: VoteRequest<u64>,
        option: RPCOption,
    ) -> Answer<VoteResponse<u64>, RaftError<u64>> {
        self.ask(Question::Vote(asked), &option).await
    }
}
