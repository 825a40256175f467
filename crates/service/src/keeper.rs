//! The log of rosters: a replicated log, kept by openraft in the members that the roster names.
//!
//! openraft owns tasks and timers, so this is part of the shell: it lives on the runtime, speaks
//! through [`Letter`]s that somebody else carries, and tells of every roster that was decided.
//! The machine of `membership` takes those as inputs. A change counts when a majority of the
//! keepers has it on disk, and [`Keeper::propose`] answers then and not before.
//!
//! The ring recovers from any corruption; the log does not. A damaged one is noticed by its
//! checksum and fetched anew from the other keepers; while no majority of them is there, nothing
//! is decided, and the ring goes on with the roster that it has.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use openraft::error::{ClientWriteError, RaftError};
use openraft::{BasicNode, Config, Raft, SnapshotPolicy};
use sha2::{Digest as _, Sha256};
use tokio::sync::{mpsc, watch};

use crate::membership::roster::Roster;
pub(crate) use decision::{Change, Decision, Kind};
pub(crate) use post::{Letter, Post};
use storage::{Log, Rosters};

mod decision;
mod post;
mod storage;

openraft::declare_raft_types!(
    /// What openraft is told of this log.
    pub(crate) Types: D = Change, R = Decision, NodeId = u64, Node = BasicNode
);

/// How often the leader is heard, and how long it may be silent.
const HEARTBEAT: u64 = 300;
const ELECTION: [u64; 2] = [1_000, 2_000];

/// How long a keeper that is not there is waited for before the next is asked.
const PATIENCE: Duration = Duration::from_secs(1);

/// One keeper of the log.
#[derive(Clone)]
pub(crate) struct Keeper {
    raft: Raft<Types>,
    post: Post,
    own: u64,
}

/// Where a member's letters go: a number from its name.
pub(crate) fn address_of(name: &str) -> u64 {
    let digest = Sha256::digest(name);
    digest
        .first_chunk()
        .map_or(0, |first| u64::from_be_bytes(*first))
}

impl Keeper {
    /// A keeper that goes on from its files, or begins with the first roster. Letters go into
    /// `outgoing`; `decided` has the latest roster.
    ///
    /// # Errors
    ///
    /// When openraft does not start.
    pub(crate) async fn start(
        name: &str,
        folder: PathBuf,
        first: Roster,
        outgoing: mpsc::UnboundedSender<(u64, Letter)>,
        decided: watch::Sender<Roster>,
    ) -> Result<Keeper, String> {
        let config = Config {
            cluster_name: first.ring.clone(),
            heartbeat_interval: HEARTBEAT,
            election_timeout_min: ELECTION[0],
            election_timeout_max: ELECTION[1],
            // A letter is a datagram.
            max_payload_entries: 1,
            snapshot_max_chunk_size: 256,
            snapshot_policy: SnapshotPolicy::LogsSinceLast(64),
            max_in_snapshot_log_to_keep: 16,
            ..Config::default()
        };
        let config = config.validate().map_err(|error| error.to_string())?;
        let own = address_of(name);
        let post = Post::new(outgoing);
        let log = Log::open(folder.clone())?;
        let rosters = Rosters::open(folder, first.clone(), decided)?;
        let raft = Raft::new(own, Arc::new(config), post.clone(), log, rosters);
        let raft = raft.await.map_err(|error| error.to_string())?;
        let keepers = first.keepers().map(|member| {
            let node = BasicNode::new(&member.address);
            (address_of(&member.name), node)
        });
        let keepers: BTreeMap<u64, BasicNode> = keepers.collect();
        if keepers.contains_key(&own) {
            // All keepers of the first roster say the same, so it does not matter who is first;
            // and it is refused where there is a log already.
            let _ = raft.initialize(keepers).await;
        }
        Ok(Keeper { raft, post, own })
    }

    /// Wants a change, and waits until it is decided upon, for `longest` at most.
    ///
    /// # Errors
    ///
    /// When it is not decided in time: it may be later, and the roster then says so.
    pub(crate) async fn propose(
        &self,
        change: Change,
        longest: Duration,
    ) -> Result<Decision, String> {
        let no_majority = "too few keepers of the roster answer: it was not decided in time";
        let decided = tokio::time::timeout(longest, async {
            loop {
                match self.write(change.clone()).await {
                    Ok(decision) => return decision,
                    Err(Some(leader)) if leader != self.own => {
                        let asked = self.post.propose(leader, &change, PATIENCE).await;
                        if let Some(decision) = asked {
                            return decision;
                        }
                    }
                    Err(_) => {}
                }
                tokio::time::sleep(Duration::from_millis(HEARTBEAT)).await;
            }
        });
        decided.await.map_err(|_| no_majority.to_owned())
    }

    /// Writes into the log if this one leads; else who does, if that is known.
    async fn write(&self, change: Change) -> Result<Decision, Option<u64>> {
        match self.raft.client_write(change).await {
            Ok(written) => Ok(written.data),
            Err(RaftError::APIError(ClientWriteError::ForwardToLeader(forward))) => {
                Err(forward.leader_id)
            }
            Err(_) => Err(None),
        }
    }

    /// A letter has come.
    pub(crate) async fn handle(&self, from: u64, letter: Letter) {
        self.post.handle(self, from, letter).await;
    }

    /// Ends its tasks.
    pub(crate) async fn stop(&self) {
        let _ = self.raft.shutdown().await;
    }
}

#[cfg(test)]
mod tests;
