//! What a keeper looks after: whether its files are the last ones, whether the right ones keep the
//! log, and what somebody should know.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openraft::{BasicNode, Raft, RaftMetrics};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::engine::Types;
use super::pen::{Pen, Standing};
use super::post::{Post, Question};
use super::storage::Log;
use super::{AGAIN, ELECTION, Leave, Over, PATIENCE, Request, Roster, Tell};

/// How often it looks.
const TEND_EVERY: Duration = Duration::from_secs(1);

/// How long a new keeper may take to be brought up to date.
const LEARN_FOR: Duration = Duration::from_secs(10);

/// How long nobody may lead before that is an alarm.
const LEADERLESS: Duration = Duration::from_secs(6);

/// Looks after who keeps the log.
pub(super) struct Tending {
    pub(super) raft: Raft<Types>,
    pub(super) own: u64,
    /// Whom the log begins with, if this is one of them.
    pub(super) begins: Option<BTreeMap<u64, BasicNode>>,
    pub(super) standing: Standing,
    pub(super) pen: Pen,
    pub(super) post: Post,
    pub(super) tell: Tell,
    pub(super) leave: Leave,
    pub(super) log: Log,
    pub(super) is_sure: Arc<AtomicBool>,
    /// Which age of this log the keepers at those addresses know.
    pub(super) told: Arc<Mutex<BTreeMap<String, u64>>>,
    pub(super) damaged: Option<String>,
}

impl Tending {
    pub(super) async fn run(mut self) {
        let mut told: Option<Option<String>> = None;
        let mut led = Instant::now();
        loop {
            if !self.is_sure.load(Ordering::Relaxed)
                && let Err(doubt) = self.make_sure().await
            {
                return self.end(Over::Doubted(doubt));
            }
            let sure = self.is_sure.load(Ordering::Relaxed);
            self.raft
                .runtime_config()
                .elect(sure && self.standing.may_lead());
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
            let is_over = if leads && self.standing.may_lead() {
                let roster = self.standing.decided.borrow().clone();
                self.tend(&metrics, &roster).await;
                !self.standing.is_named() && self.has_made_way(&metrics)
            } else {
                self.has_left(&metrics).await
            };
            if is_over {
                return self.end(Over::Left);
            }
        }
    }

    fn end(&self, over: Over) {
        let _ = self.leave.send((self.post.log(), over));
    }

    /// Where the other keepers are.
    fn others(&self) -> Vec<String> {
        let roster = self.standing.acts_by.borrow();
        let others = roster.keepers();
        let others = others.filter(|member| member.name != self.standing.name);
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
        self.raft.runtime_config().elect(self.standing.may_lead());
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
        if self.standing.is_named() {
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

    /// Whether the log goes on without it, as it knows if it leads: openraft would let it lead on.
    fn has_made_way(&self, metrics: &RaftMetrics<u64, BasicNode>) -> bool {
        let keepers = &metrics.membership_config;
        let written = keepers.log_id().map(|at| at.index);
        let is_known = written <= metrics.last_applied.map(|at| at.index);
        is_known && !keepers.voter_ids().any(|voter| voter == self.own)
    }

    /// What somebody should know.
    fn wrong(&mut self, metrics: &RaftMetrics<u64, BasicNode>, led: Instant) -> Option<String> {
        let mut voters = metrics.membership_config.voter_ids();
        if voters.any(|voter| voter == self.own) {
            self.damaged = None;
        }
        if !self.standing.is_named() {
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
            let id = if member.name == self.standing.name {
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
            let (raft, id, node) = (self.raft.clone(), *id, BasicNode::new(address));
            let learned = async move { raft.add_learner(id, node, true).await };
            let learned = self.pen.write(false, learned);
            let learned = tokio::time::timeout(LEARN_FOR, learned).await;
            if !matches!(learned, Ok(Some(Ok(_)))) {
                return;
            }
        }
        let keepers: Vec<u64> = next.into_keys().collect();
        tracing::info!(?keepers, "others keep the log of rosters from now on");
        let raft = self.raft.clone();
        let changed = async move { raft.change_membership(keepers, false).await };
        let changed = self.pen.write(false, changed);
        let _ = tokio::time::timeout(LEARN_FOR, changed).await;
    }
}
