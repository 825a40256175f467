//! One keeper: openraft with its files.
//!
//! A keeper has a number in the log. Those that the log began with have one from their name; all
//! others, and one whose files were damaged, draw it. What somebody with a number has promised
//! is therefore always on that one's disk; and a new number has a vote when the leader has
//! brought it up to date and a majority of the numbers before has agreed.
//!
//! For the same reason a keeper takes part only when enough of the others have told it that they
//! know of no later state of it: one whose disk was lost or put back draws a new number.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openraft::error::{ClientWriteError, RaftError};
use openraft::{BasicNode, Config, Raft, RaftMetrics, SnapshotPolicy};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use super::post::{self, Answer, Post, Question};
use super::storage::{self, Files, Log, Others, Rosters};
use super::{AGAIN, Change, Decision, Leave, Member, Over, PATIENCE, Request, Roster, Setup, Tell};
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
    rosters: Rosters,
    others: Others,
    /// Its files are the last ones.
    is_sure: Arc<AtomicBool>,
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
        let named = roster.keepers().any(|member| member.name == setup.name);
        if !named && !folder.exists() {
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
        let news = rosters.news();
        let raft = Raft::new(
            own,
            config(roster)?,
            post.clone(),
            log.clone(),
            rosters.clone(),
        );
        let raft = raft.await.map_err(|error| error.to_string())?;
        let is_sure = Arc::new(AtomicBool::new(false));
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
            name: setup.name.clone(),
            post: post.clone(),
            tell: tell.clone(),
            leave: leave.clone(),
            log,
            is_sure: Arc::clone(&is_sure),
            told: Arc::default(),
            damaged,
            acts_by,
        };
        let tasks = [
            tokio::spawn(tell_of(news.clone(), tell.clone())),
            tokio::spawn(tending.run(news)),
        ];
        Ok(Some(Keeper {
            raft,
            own,
            rosters,
            others,
            is_sure,
            tasks,
        }))
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
            Question::Age(by, age) => serde_json::to_vec(&self.others.hear(by, age).await.ok()?),
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

fn config(roster: &Roster) -> Result<Arc<Config>, String> {
    let config = Config {
        cluster_name: roster.ring.clone(),
        heartbeat_interval: HEARTBEAT,
        election_timeout_min: ELECTION[0],
        election_timeout_max: ELECTION[1],
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

/// Looks after who keeps the log.
struct Tending {
    raft: Raft<Types>,
    own: u64,
    /// Whom the log begins with, if this is one of them.
    begins: Option<BTreeMap<u64, BasicNode>>,
    name: String,
    post: Post,
    tell: Tell,
    leave: Leave,
    log: Log,
    is_sure: Arc<AtomicBool>,
    /// Which age of this log the keepers at those addresses know.
    told: Arc<Mutex<BTreeMap<String, u64>>>,
    damaged: Option<String>,
    /// The roster that the node acts by: one that was removed hears no more of the log.
    acts_by: watch::Receiver<Roster>,
}

impl Tending {
    async fn run(mut self, news: watch::Receiver<Roster>) {
        let mut told: Option<Option<String>> = None;
        let mut led = Instant::now();
        loop {
            if !self.is_sure.load(Ordering::Relaxed)
                && let Err(doubt) = self.make_sure().await
            {
                return self.end(Over::Doubted(doubt));
            }
            let sure = self.is_sure.load(Ordering::Relaxed);
            tokio::time::sleep(if sure { TEND_EVERY } else { AGAIN }).await;
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
            self.tell_age().await;
            if leads {
                let roster = news.borrow().clone();
                self.tend(&metrics, &roster).await;
            } else if self.has_left(&metrics).await {
                return self.end(Over::Left);
            }
        }
    }

    fn end(&self, over: Over) {
        let _ = self.leave.send((self.post.log(), over));
    }

    fn is_named(&self) -> bool {
        let roster = self.acts_by.borrow();
        roster.keepers().any(|member| member.name == self.name)
    }

    /// Where the other keepers are.
    fn others(&self) -> Vec<String> {
        let roster = self.acts_by.borrow();
        let others = roster.keepers().filter(|member| member.name != self.name);
        others.map(|member| member.address.clone()).collect()
    }

    /// Asks the others what they know of this keeper, and takes part if a majority, with itself,
    /// knows of no later state than its files have.
    async fn make_sure(&mut self) -> Result<(), String> {
        let age = self.log.age().await;
        let others = self.others();
        let needed = others.len().div_ceil(2);
        let mut asked = JoinSet::new();
        for address in others {
            let (post, question) = (self.post.clone(), Question::Age(self.own, age));
            asked.spawn(async move { post.ask::<u64>(&address, question, PATIENCE).await });
        }
        let answers: Vec<u64> = asked.join_all().await.into_iter().flatten().collect();
        if answers.iter().any(|known| *known > age) {
            return Err("its folder was deleted or put back, as other keepers know".into());
        }
        if answers.len() < needed {
            return Ok(());
        }
        self.is_sure.store(true, Ordering::Relaxed);
        self.raft.runtime_config().elect(true);
        if let Some(keepers) = self.begins.take() {
            // All say the same, so it does not matter who is first; and it is refused where
            // there is a log already.
            let _ = self.raft.initialize(keepers).await;
        }
        Ok(())
    }

    /// The others know how old this log is, so that an older one is not taken for it.
    async fn tell_age(&self) {
        let age = self.log.age().await;
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let told = told.clone();
        let known = |address: &String| told.get(address) == Some(&age);
        for address in self.others().into_iter().filter(|to| !known(to)) {
            let (post, told) = (self.post.clone(), Arc::clone(&self.told));
            let question = Question::Age(self.own, age);
            tokio::spawn(async move {
                if post
                    .ask::<u64>(&address, question, PATIENCE)
                    .await
                    .is_some()
                {
                    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                    told.insert(address, age);
                }
            });
        }
    }

    /// Whether the roster does not name it, and the log goes on without it, as a keeper knows: one
    /// that was removed may not hear of that itself.
    async fn has_left(&self, metrics: &RaftMetrics<u64, BasicNode>) -> bool {
        if self.is_named() {
            return false;
        }
        let since = metrics.membership_config.log_id().map_or(0, |at| at.index);
        for address in self.others() {
            let question = Question::Without(self.own, since);
            if self.post.ask(&address, question, PATIENCE).await == Some(true) {
                return true;
            }
        }
        false
    }

    /// What somebody should know.
    fn wrong(&mut self, metrics: &RaftMetrics<u64, BasicNode>, led: Instant) -> Option<String> {
        let mut voters = metrics.membership_config.voter_ids();
        if voters.any(|voter| voter == self.own) {
            self.damaged = None;
        }
        if !self.is_named() {
            return None;
        }
        if let Some(why) = &self.damaged {
            return Some(format!(
                "the log of rosters is not relied on ({why}): fetches it from the other keepers"
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
