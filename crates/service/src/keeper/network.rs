//! Letters as openraft wants to see them.

use std::fmt::Display;
use std::io;

use openraft::BasicNode;
use openraft::error::{InstallSnapshotError, RPCError, RaftError, Unreachable};
use openraft::network::{RPCOption, RaftNetwork, RaftNetworkFactory};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, InstallSnapshotRequest, InstallSnapshotResponse,
    VoteRequest, VoteResponse,
};
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use super::Roster;
use super::engine::Types;
use super::post::{Post, Question, Raft};

/// The ways to all keepers.
pub(super) struct Ways {
    pub(super) post: Post,
    /// The roster that the node acts by.
    pub(super) acts_by: watch::Receiver<Roster>,
}

impl RaftNetworkFactory<Types> for Ways {
    type Network = Way;

    async fn new_client(&mut self, to: u64, node: &BasicNode) -> Way {
        Way {
            post: self.post.clone(),
            acts_by: self.acts_by.clone(),
            to,
            address: node.addr.clone(),
        }
    }
}

/// The way to one keeper.
pub(super) struct Way {
    post: Post,
    acts_by: watch::Receiver<Roster>,
    to: u64,
    address: String,
}

type Answer<A, E> = Result<A, RPCError<u64, BasicNode, E>>;

impl Way {
    async fn ask<A, E>(&self, question: Raft, option: &RPCOption) -> Answer<A, E>
    where
        A: DeserializeOwned,
        E: DeserializeOwned + Display + std::error::Error,
    {
        let question = Question::Raft(self.to, question);
        let answer = self.post.ask(&self.address, question, option.hard_ttl());
        let answer: Option<Result<A, E>> = answer.await;
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
        self.ask(Raft::Append(asked), &option).await
    }

    async fn install_snapshot(
        &mut self,
        asked: InstallSnapshotRequest<Types>,
        option: RPCOption,
    ) -> Answer<InstallSnapshotResponse<u64>, RaftError<u64, InstallSnapshotError>> {
        self.ask(Raft::Snapshot(asked), &option).await
    }

    async fn vote(
        &mut self,
        asked: VoteRequest<u64>,
        option: RPCOption,
    ) -> Answer<VoteResponse<u64>, RaftError<u64>> {
        let mut answer: VoteResponse<u64> = self.ask(Raft::Vote(asked), &option).await?;
        // One that was removed is asked because its vote may be needed. That it has more of the
        // log would make all others wait, and nobody would hear it if it led.
        if !self.acts_by.borrow().hears(&self.address) {
            answer.last_log_id = None;
        }
        Ok(answer)
    }
}
