//! One keeper: openraft with its files.
//!
//! A keeper has a number in the log. Those that the log began with have one from their name; all
//! others, and one whose files were damaged, draw it. What somebody with a number has promised
//! is therefore always on that one's disk; and a new number has a vote when the leader has
//! brought it up to date and a majority of the numbers before has agreed.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use openraft::error::{ClientWriteError, RaftError};
use openraft::{BasicNode, Config, Raft, RaftMetrics, SnapshotPolicy};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::post::{self, Answer, Post, Question};
use super::storage::Files;
use super::{Change, Decision, PATIENCE, Request, Roster, Setup, Tell};
use crate::membership::roster::short_digest;

openraft::declare_raft_types!(
    /// What openraft is told of this log.
    pub(super) Types: D = Change, R = Decision, NodeId = u64, Node = BasicNode
);

/// How often the leader is heard, and how long it may be silent, in milliseconds.
const HEARTBEAT: u64 = 300;
const ELECTION: [u64; 2] = [1_000, 2_000];

/// How often a keeper looks whether the right ones keep the log.
const TEND_EVERY: Duration = Duration::from_secs(1);

/// How long a new keeper may take to be brought up to date.
const LEARN_FOR: Duration = Duration::from_secs(10);

/// How long nobody may lead before that is an alarm.
const LEADERLESS: Duration = Duration::from_secs(6);

/// A keeper of the log.
pub(crate) struct Keeper {
    raft: Raft<Types>,
    own: u64,
    tasks: [JoinHandle<()>; 2],
}

/// The number of one that the log begins with.
pub(super) fn first_number(name: &str) -> u64 {
    short_digest(name.as_bytes())
}

impl Keeper {
    /// A keeper that goes on from its files, or begins, if the roster names it or has.
    ///
    /// # Errors
    ///
    /// When there can be no files, or openraft does not start.
    pub(super) async fn start(
        setup: &Setup,
        acts_by: watch::Receiver<Roster>,
        post: &Post,
        tell: &Tell,
    ) -> Result<Option<Keeper>, String> {
        let roster = &acts_by.borrow().clone();
        let folder = setup.folder.join(format!("log-{:016x}", roster.log()));
        let named = roster.keepers().any(|member| member.name == setup.name);
        if !named && !folder.exists() {
            return Ok(None);
        }
        // Only the log's first roster says who begins.
        let first = roster.origin.is_empty().then(|| first_number(&setup.name));
        let fresh = || first.unwrap_or_else(setup.random);
        let (files, damaged) = match Files::open(&folder, roster, fresh) {
            Ok(files) => (files, None),
            Err(why) => {
                tracing::error!(%why, "the log of rosters here is damaged: fetches it anew");
                let aside = set_aside(&folder);
                let files = aside.and_then(|()| Files::open(&folder, roster, setup.random));
                (files?, Some(why))
            }
        };
        let Files { own, log, rosters } = files;
        let news = rosters.news();
        let raft = Raft::new(own, config(roster)?, post.clone(), log, rosters);
        let raft = raft.await.map_err(|error| error.to_string())?;
        if first == Some(own) {
            let keepers = roster.keepers().map(|member| {
                let node = BasicNode::new(&member.address);
                (first_number(&member.name), node)
            });
            // All say the same, so it does not matter who is first; and it is refused where
            // there is a log already.
            let _ = raft.initialize(keepers.collect::<BTreeMap<_, _>>()).await;
        }
        let tending = Tending {
            raft: raft.clone(),
            own,
            name: setup.name.clone(),
            post: post.clone(),
            tell: tell.clone(),
            damaged,
            acts_by,
        };
        let tasks = [
            tokio::spawn(tell_of(news.clone(), tell.clone())),
            tokio::spawn(tending.run(news)),
        ];
        Ok(Some(Keeper { raft, own, tasks }))
    }

    /// Writes into the log if this one leads.
    pub(super) async fn write(&self, change: Change) -> Answer {
        match self.raft.client_write(change).await {
            Ok(written) => Ok(written.data),
            Err(RaftError::APIError(ClientWriteError::ForwardToLeader(forward))) => {
                Err(forward.leader_node.map(|node| node.addr))
            }
            Err(_) => Err(None),
        }
    }

    /// The answer to a question, if it is for this keeper.
    pub(super) async fn answer(&self, question: Question) -> Option<Vec<u8>> {
        let raft = &self.raft;
        let answer = match question {
            Question::Who => serde_json::to_vec(&self.own),
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

    /// Ends its tasks.
    pub(super) async fn stop(&self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        let _ = self.raft.shutdown().await;
    }
}

fn config(roster: &Roster) -> Result<Arc<Config>, String> {
    let config = Config {
        cluster_name: roster.ring.clone(),
        heartbeat_interval: HEARTBEAT,
        election_timeout_min: ELECTION[0],
        election_timeout_max: ELECTION[1],
        max_payload_entries: 4,
        snapshot_max_chunk_size: 4096,
        snapshot_policy: SnapshotPolicy::LogsSinceLast(64),
        max_in_snapshot_log_to_keep: 16,
        ..Config::default()
    };
    config
        .validate()
        .map(Arc::new)
        .map_err(|error| error.to_string())
}

/// Moves a damaged log out of the way; somebody may want to look at it.
fn set_aside(folder: &Path) -> Result<(), String> {
    let aside = folder.with_extension("damaged");
    let _ = std::fs::remove_dir_all(&aside);
    let moved = std::fs::rename(folder, &aside);
    moved.map_err(|error| format!("cannot move {}: {error}", folder.display()))
}

/// Tells the node of every roster.
async fn tell_of(mut news: watch::Receiver<Roster>, tell: Tell) {
    while news.changed().await.is_ok() {
        let roster = Box::new(news.borrow_and_update().clone());
        let _ = tell.send(Request::Decided(roster));
    }
}

/// Looks after who keeps the log.
struct Tending {
    raft: Raft<Types>,
    own: u64,
    name: String,
    post: Post,
    tell: Tell,
    damaged: Option<String>,
    /// The roster that the node acts by: one that was removed hears no more of the log.
    acts_by: watch::Receiver<Roster>,
}

impl Tending {
    async fn run(mut self, news: watch::Receiver<Roster>) {
        let mut told: Option<Option<String>> = None;
        let mut led = Instant::now();
        loop {
            tokio::time::sleep(TEND_EVERY).await;
            let metrics = self.raft.metrics().borrow().clone();
            let acknowledged = metrics.millis_since_quorum_ack;
            let leads = metrics.current_leader == Some(self.own);
            if metrics.current_leader.is_some()
                && !(leads && acknowledged.is_none_or(|ago| ago > ELECTION[1]))
            {
                led = Instant::now();
            }
            let wrong = self.wrong(&metrics, led);
            if told.as_ref() != Some(&wrong) {
                told = Some(wrong.clone());
                let _ = self.tell.send(Request::Keeping(wrong));
            }
            if leads {
                let roster = news.borrow().clone();
                self.tend(&metrics, &roster).await;
            }
        }
    }

    /// What somebody should know.
    fn wrong(&mut self, metrics: &RaftMetrics<u64, BasicNode>, led: Instant) -> Option<String> {
        let mut voters = metrics.membership_config.voter_ids();
        if voters.any(|voter| voter == self.own) {
            self.damaged = None;
        }
        let roster = self.acts_by.borrow();
        if !roster.keepers().any(|member| member.name == self.name) {
            return None;
        }
        if let Some(why) = &self.damaged {
            return Some(format!(
                "the log of rosters was damaged ({why}): fetches it from the other keepers"
            ));
        }
        if let Err(error) = &metrics.running_state {
            return Some(format!(
                "the log of rosters is not kept any more: {error}; restart the node when that is mended"
            ));
        }
        (led.elapsed() >= LEADERLESS).then(|| {
            "too few keepers of the roster hear each other: members cannot be added, removed or \
             bypassed; the ring goes on with those that it has"
                .into()
        })
    }

    /// The leader sees to it that those keep the log whom the roster names.
    async fn tend(&self, metrics: &RaftMetrics<u64, BasicNode>, roster: &Roster) {
        let membership = metrics.membership_config.membership();
        let voters: BTreeMap<u64, String> = membership
            .voter_ids()
            .filter_map(|id| Some((id, membership.get_node(&id)?.addr.clone())))
            .collect();
        let mut next = BTreeMap::new();
        for member in roster.keepers() {
            let known = voters
                .iter()
                .find(|(_, address)| **address == member.address);
            let known = known.map(|(id, _)| *id);
            let id = if member.name == self.name {
                Some(self.own)
            } else {
                let who = self.post.ask(&member.address, Question::Who, PATIENCE);
                who.await.or(known)
            };
            next.extend(id.map(|id| (id, member.address.clone())));
        }
        if next.is_empty() || next == voters {
            return;
        }
        for (id, address) in next.iter().filter(|(id, _)| !voters.contains_key(id)) {
            let learned = self.raft.add_learner(*id, BasicNode::new(address), true);
            if !matches!(tokio::time::timeout(LEARN_FOR, learned).await, Ok(Ok(_))) {
                return;
            }
        }
        let keepers: Vec<u64> = next.into_keys().collect();
        tracing::info!(?keepers, "others keep the log of rosters from now on");
        let changed = self.raft.change_membership(keepers, false);
        let _ = tokio::time::timeout(LEARN_FOR, changed).await;
    }
}
