//! One keeper: openraft with its files.
//!
//! A keeper has a number in the log. Those that the log began with have one from their name; all
//! others, and one whose files were damaged, draw it. What somebody with a number has promised
//! is therefore always on that one's disk; and a new number has a vote when the leader has
//! brought it up to date and a majority of the numbers before has agreed.
//!
//! For the same reason a keeper takes part only when enough of the others have told it that they
//! know of no later state of it: one whose disk was lost or put back draws a new number.

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use openraft::error::{CheckIsLeaderError, ClientWriteError, RaftError};
use openraft::{BasicNode, Config, Raft, SnapshotPolicy};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::network::Ways;
use super::pen::{Pen, Standing};
use super::post::{self, Answer, Post, Question};
use super::storage::{self, Files, Others, Rosters};
use super::tending::Tending;
use super::{Change, Decision, Leave, Member, PATIENCE, Request, Roster, Setup, Tell};
use crate::membership::roster::short_digest;

openraft::declare_raft_types!(
    /// What openraft is told of this log.
    pub(super) Types: D = Change, R = Decision, NodeId = u64, Node = BasicNode
);

/// How often the leader is heard, in milliseconds.
const HEARTBEAT: u64 = 300;

/// A keeper of the log.
pub(crate) struct Keeper {
    raft: Raft<Types>,
    own: u64,
    standing: Standing,
    rosters: Rosters,
    others: Others,
    /// Its files are the last ones.
    is_sure: Arc<AtomicBool>,
    pen: Pen,
    tasks: [JoinHandle<()>; 2],
}

/// The number of one that the log begins with.
pub(super) fn first_number(name: &str) -> u64 {
    short_digest(name.as_bytes())
}

impl Keeper {
    /// A keeper that goes on from its files, or begins, if the roster names it or has; with a
    /// doubt, it begins anew. It says by `leave` that it has to end.
    ///
    /// # Errors
    ///
    /// When there can be no files, or openraft does not start.
    pub(super) async fn start(
        setup: &Setup,
        acts_by: watch::Receiver<Roster>,
        post: &Post,
        tell: &Tell,
        (leave, doubt): (&Leave, Option<String>),
    ) -> Result<Option<Keeper>, String> {
        let roster = &acts_by.borrow().clone();
        let folder = folder(setup, roster.log());
        if !roster.has_keeper(&setup.name) && !folder.exists() {
            return Ok(None);
        }
        // Only the log's first roster says who begins; one that has begun before does not.
        let first = roster.origin.is_empty() && !storage::aside(&folder).exists();
        let first = first.then(|| first_number(&setup.name));
        let fresh = || first.unwrap_or_else(setup.random);
        let opened = match doubt {
            None => Files::open(&folder, roster, fresh),
            Some(doubt) => Err(doubt),
        };
        let (files, damaged) = match opened {
            Ok(files) => (files, None),
            Err(why) => {
                tracing::error!(%why, "the log of rosters here is not relied on: fetches it anew");
                let aside = storage::set_aside(&folder);
                let files = aside.and_then(|()| Files::open(&folder, roster, setup.random));
                (files?, Some(why))
            }
        };
        let Files {
            own,
            log,
            rosters,
            others,
        } = files;
        let standing = Standing {
            name: setup.name.clone(),
            acts_by: acts_by.clone(),
            decided: rosters.news(),
        };
        let raft = Raft::new(
            own,
            config(roster, setup.election)?,
            Ways {
                post: post.clone(),
                acts_by,
            },
            log.clone(),
            rosters.clone(),
        );
        let raft = raft.await.map_err(|error| error.to_string())?;
        let is_sure = Arc::new(AtomicBool::new(false));
        let pen = Pen::new(&raft, own, &standing);
        let tending = Tending {
            raft: raft.clone(),
            own,
            begins: (first == Some(own)).then(|| {
                let number = |member: &Member| first_number(&member.name);
                let node = |member: &Member| BasicNode::new(&member.address);
                let keepers = roster.keepers();
                keepers
                    .map(|member| (number(member), node(member)))
                    .collect()
            }),
            standing: standing.clone(),
            pen: pen.clone(),
            post: post.clone(),
            tell: tell.clone(),
            leave: leave.clone(),
            log,
            is_sure: Arc::clone(&is_sure),
            told: Arc::default(),
            damaged,
        };
        let tasks = [
            tokio::spawn(tell_of(rosters.news(), tell.clone())),
            tokio::spawn(tending.run()),
        ];
        Ok(Some(Keeper {
            raft,
            own,
            standing,
            rosters,
            others,
            is_sure,
            pen,
            tasks,
        }))
    }

    /// Writes into the log if this one leads, and says what has come of it if that is known here.
    pub(super) async fn write(&self, change: Change) -> Answer {
        if let Some(decision) = self.rosters.made(&change).await {
            return Ok(decision);
        }
        // All that was written before is carried out here.
        let ready = tokio::time::timeout(PATIENCE, self.raft.ensure_linearizable());
        match ready.await {
            Ok(Ok(_)) => {}
            Ok(Err(RaftError::APIError(CheckIsLeaderError::ForwardToLeader(forward)))) => {
                return Err(forward.leader_node.map(|node| node.addr));
            }
            Ok(Err(_)) | Err(_) => return Err(None),
        }
        let name = &self.standing.name;
        let Some(is_last) = self.rosters.would_remove(name, &change).await else {
            return Err(None);
        };
        let (raft, wanted) = (self.raft.clone(), change.clone());
        let written = async move { raft.client_write(wanted).await };
        match self.pen.write(is_last, written).await {
            Some(Ok(_)) if !self.rosters.knows(&change).await => Err(None),
            Some(Ok(written)) => Ok(written.data),
            Some(Err(RaftError::APIError(ClientWriteError::ForwardToLeader(forward)))) => {
                Err(forward.leader_node.map(|node| node.addr))
            }
            Some(Err(_)) | None => Err(None),
        }
    }

    /// Whether whoever is at this address may speak for a keeper: as the log knows it, or, if it
    /// does not yet, any keeper for itself.
    fn speaks_for(&self, from: &str, keeper: Option<u64>) -> bool {
        let metrics = self.raft.metrics().borrow().clone();
        let known = metrics.membership_config.membership();
        let known = keeper.and_then(|keeper| known.get_node(&keeper).map(|node| node.addr == from));
        known.unwrap_or_else(|| {
            let roster = self.standing.acts_by.borrow();
            let mut keepers = roster.keepers();
            // Where all share one key, addresses prove nothing.
            !roster.has_keys() || keepers.any(|keeper| keeper.address == from)
        })
    }

    /// Whether whoever is at this address is the keeper with that number: as the log knows it, or
    /// as those who begin it are numbered. One that is neither yet tells again when it is.
    fn is_keeper(&self, from: &str, number: u64) -> bool {
        let metrics = self.raft.metrics().borrow().clone();
        let known = metrics.membership_config.membership().get_node(&number);
        known.map_or_else(
            || {
                let roster = self.standing.acts_by.borrow();
                let own = |keeper: &Member| {
                    keeper.address == from && first_number(&keeper.name) == number
                };
                roster.keepers().any(own)
            },
            |node| node.addr == from,
        )
    }

    /// The answer to a question from that address, if it is for this keeper.
    pub(super) async fn answer(&self, from: &str, question: Question) -> Option<Vec<u8>> {
        let raft = &self.raft;
        // One that was removed may ask for nothing else.
        let may_ask = self.standing.acts_by.borrow().hears(from);
        if !may_ask && !matches!(question, Question::Without(..)) {
            return None;
        }
        if let Question::Raft(_, question) = &question {
            let vote = match question {
                post::Raft::Append(asked) => &asked.vote,
                post::Raft::Vote(asked) => &asked.vote,
                post::Raft::Snapshot(asked) => &asked.vote,
            };
            if !self.speaks_for(from, vote.leader_id().voted_for()) {
                return None;
            }
        }
        let answer = match question {
            Question::Age(by, age) => {
                let age = self.is_keeper(from, by).then_some(age);
                serde_json::to_vec(&self.others.hear(by, age).await.ok()?)
            }
            // It may have promised what it does not know of.
            _ if !self.is_sure.load(Ordering::Relaxed) => return None,
            Question::Who => serde_json::to_vec(&self.own),
            Question::Without(number, since) => {
                serde_json::to_vec(&self.rosters.is_without(number, since).await)
            }
            Question::Propose(change) => serde_json::to_vec(&self.write(change).await),
            Question::Raft(to, _) if to != self.own => return None,
            Question::Raft(_, question) => match question {
                post::Raft::Append(asked) => serde_json::to_vec(&raft.append_entries(asked).await),
                post::Raft::Vote(asked) => serde_json::to_vec(&raft.vote(asked).await),
                post::Raft::Snapshot(asked) => {
                    serde_json::to_vec(&raft.install_snapshot(asked).await)
                }
            },
        };
        answer.ok()
    }

    /// Deletes what a keeper that has left has kept: it has no vote that anybody could need.
    pub(super) fn forget(setup: &Setup, log: u64) {
        storage::remove(&folder(setup, log));
    }

    /// Ends its tasks.
    pub(super) async fn stop(&self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        let _ = self.raft.shutdown().await;
    }
}

fn folder(setup: &Setup, log: u64) -> PathBuf {
    setup.folder.join(format!("log-{log:016x}"))
}

fn config(roster: &Roster, election: [u64; 2]) -> Result<Arc<Config>, String> {
    let config = Config {
        cluster_name: roster.ring.clone(),
        heartbeat_interval: HEARTBEAT,
        election_timeout_min: election[0],
        election_timeout_max: election[1],
        max_payload_entries: 4,
        snapshot_max_chunk_size: 4096,
        // Not before it is sure of its files.
        enable_elect: false,
        snapshot_policy: SnapshotPolicy::LogsSinceLast(64),
        max_in_snapshot_log_to_keep: 16,
        ..Config::default()
    };
    config
        .validate()
        .map(Arc::new)
        .map_err(|error| error.to_string())
}

/// Tells the node of every roster.
async fn tell_of(mut news: watch::Receiver<Roster>, tell: Tell) {
    while news.changed().await.is_ok() {
        let roster = Box::new(news.borrow_and_update().clone());
        let _ = tell.send(Request::Decided(roster));
    }
}
