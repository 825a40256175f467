//! The log of rosters: a replicated log, kept by openraft in the members that the roster names.
//!
//! openraft owns tasks and timers, so this is part of the shell: a task that takes [`Order`]s
//! and answers by [`Request`]s, as anybody else asks something of the node. The machine of
//! `membership` wants changes and takes what was decided. A change counts when a majority of
//! the keepers has it on disk, and whoever wants it is told then and not before.
//!
//! The ring recovers from any corruption; the log does not. A damaged one is noticed by its
//! checksum and fetched anew from the other keepers; while no majority of them is there, nothing
//! is decided, and the ring goes on with the roster that it has.
//!
//! openraft is there with the feature `keepers` only. A node without it is no keeper, and still
//! asks those that are.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use crate::membership::control::Letter;
use crate::membership::decision::{Change, Decision};
use crate::membership::roster::{Member, Roster};
use crate::request::Request;
#[cfg(feature = "keepers")]
use engine::Keeper;
#[cfg(not(feature = "keepers"))]
use none::Keeper;
use post::{Post, Question};

#[cfg(feature = "keepers")]
mod engine;
#[cfg(feature = "keepers")]
mod network;
#[cfg(not(feature = "keepers"))]
mod none;
#[cfg(feature = "keepers")]
mod pen;
mod post;
#[cfg(feature = "keepers")]
#[expect(clippy::result_large_err, reason = "openraft's own error")]
mod storage;
#[cfg(feature = "keepers")]
mod tending;

/// How long a change may take to be decided.
pub(crate) const PROPOSE_FOR: Duration = Duration::from_secs(10);

#[cfg(feature = "keepers")]
const TOO_FEW: &str = "too few keepers of the roster answer: more than half of its first seven \
     members are needed. It is not known whether the change will be made: `headway node list` will \
     say. If most keepers are gone for good: `headway node recover --help`";
#[cfg(not(feature = "keepers"))]
const TOO_FEW: &str = "too few keepers of the roster answer: more than half of its first seven \
     members are needed, and this program is none: `cargo build --release --features keepers`. It \
     is not known whether the change will be made: `headway node list` will say";

/// How long one keeper is waited for before the next is asked.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long to wait when nobody leads.
const AGAIN: Duration = Duration::from_millis(300);

/// How long a leader may be silent, in milliseconds.
pub(crate) const ELECTION: [u64; 2] = [1_000, 2_000];

/// What the node wants of its log.
#[derive(Debug)]
pub enum Order {
    /// The node acts by this roster.
    Roster(Roster),
    /// A letter has come from this address.
    Letter(String, Letter),
    /// A change is wanted.
    Propose(Change),
}

/// Whose log it is.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The node's name.
    pub name: String,
    /// For one folder per log.
    pub folder: PathBuf,
    /// How long a leader may be silent, in milliseconds: openraft draws a number from this one up to
    /// the other, and does so by no seed.
    pub election: [u64; 2],
    /// Gives numbers that nobody can guess.
    pub random: fn() -> u64,
}

/// Where answers go.
type Tell = mpsc::UnboundedSender<Request>;

/// Why a keeper has to end.
#[cfg_attr(not(feature = "keepers"), expect(dead_code, reason = "there is none"))]
enum Over {
    /// Its files are not the last ones: it begins anew.
    Doubted(String),
    /// It was removed.
    Left,
}

/// Where a keeper says so, and of which log.
type Leave = mpsc::UnboundedSender<(u64, Over)>;

/// Takes orders until there are none any more.
pub async fn run(setup: Setup, mut orders: mpsc::UnboundedReceiver<Order>, tell: Tell) {
    let mut desk: Option<Desk> = None;
    let (leave, mut left) = mpsc::unbounded_channel();
    loop {
        let order = tokio::select! {
            order = orders.recv() => order,
            Some((log, over)) = left.recv() => {
                if let Some(desk) = desk.as_mut().filter(|desk| desk.post.log() == log) {
                    desk.end(over, &setup, &tell, &leave).await;
                }
                continue;
            }
        };
        let Some(order) = order else { break };
        match (order, &mut desk) {
            (Order::Roster(roster), Some(desk)) if desk.post.log() == roster.log() => {
                desk.roster.send_replace(roster);
                desk.start(&setup, &tell, (&leave, None)).await;
            }
            (Order::Roster(roster), old) => {
                if let Some(old) = old {
                    old.stop().await;
                }
                let post = Post::new(roster.log(), tell.clone(), (setup.random)());
                let mut new = Desk {
                    post,
                    keeper: None,
                    roster: watch::channel(roster).0,
                };
                new.start(&setup, &tell, (&leave, None)).await;
                desk = Some(new);
            }
            (Order::Letter(from, letter), Some(desk)) => desk.handle(from, letter),
            (Order::Propose(change), Some(desk)) => desk.propose(&setup.name, change, &tell),
            (Order::Letter(..) | Order::Propose(_), None) => {}
        }
    }
    if let Some(desk) = desk {
        desk.stop().await;
    }
}

/// A node's part in one log.
struct Desk {
    post: Post,
    keeper: Option<Arc<Keeper>>,
    /// The roster that the node acts by.
    roster: watch::Sender<Roster>,
}

impl Desk {
    /// Begins to keep the log if the roster says so.
    async fn start(&mut self, setup: &Setup, tell: &Tell, leave: (&Leave, Option<String>)) {
        if self.keeper.is_some() {
            return;
        }
        match Keeper::start(setup, self.roster.subscribe(), &self.post, tell, leave).await {
            Ok(keeper) => self.keeper = keeper.map(Arc::new),
            Err(why) => {
                let why = format!(
                    "cannot keep the log of rosters: {why}; restart the node when that is mended"
                );
                let _ = tell.send(Request::Keeping(Some(why)));
            }
        }
    }

    /// Its keeper has to end, and perhaps to begin anew.
    async fn end(&mut self, over: Over, setup: &Setup, tell: &Tell, leave: &Leave) {
        self.stop().await;
        self.keeper = None;
        match over {
            Over::Doubted(why) => self.start(setup, tell, (leave, Some(why))).await,
            Over::Left => {
                tracing::info!("keeps the log of rosters no more: others do");
                Keeper::forget(setup, self.post.log());
            }
        }
    }

    async fn stop(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.stop().await;
        }
    }

    fn handle(&self, from: String, letter: Letter) {
        let Some((number, question)) = self.post.receive(&from, letter) else {
            return;
        };
        let (Some(keeper), post) = (self.keeper.clone(), self.post.clone()) else {
            return;
        };
        // It may wait for other keepers.
        tokio::spawn(async move {
            if let Some(answer) = keeper.answer(&from, question).await {
                post.answer(&from, number, &answer);
            }
        });
    }

    fn propose(&self, name: &str, change: Change, tell: &Tell) {
        let roster = self.roster.borrow();
        let me = roster.member(name).map(|me| me.address.clone());
        let keepers = roster.keepers().map(Member::entry);
        let keepers = keepers.map(|(_, address)| address).collect();
        let (post, keeper) = (self.post.clone(), self.keeper.clone());
        let tell = tell.clone();
        tokio::spawn(async move {
            let id = change.id;
            let decision = decide(&post, keeper.as_deref(), me, keepers, change);
            let decision = tokio::time::timeout(PROPOSE_FOR, decision).await;
            let decision = decision.map_err(|_| TOO_FEW.to_owned());
            let _ = tell.send(Request::Decision { id, decision });
        });
    }
}

/// Asks one keeper after the other until one that leads has decided.
async fn decide(
    post: &Post,
    keeper: Option<&Keeper>,
    me: Option<String>,
    mut keepers: Vec<String>,
    change: Change,
) -> Decision {
    // This one first: it knows who leads.
    if let Some(at) = keepers
        .iter()
        .position(|keeper| Some(keeper) == me.as_ref())
    {
        keepers.swap(0, at);
    }
    let (mut turn, mut next) = (0, None);
    loop {
        let to = next
            .take()
            .or_else(|| keepers.get(turn % keepers.len().max(1)).cloned());
        let answer = match keeper.filter(|_| to == me) {
            Some(keeper) => {
                let written = tokio::time::timeout(PATIENCE, keeper.write(change.clone()));
                written.await.unwrap_or(Err(None))
            }
            None => {
                let to = to.unwrap_or_default();
                let answer = post.ask(&to, Question::Propose(change.clone()), PATIENCE);
                answer.await.unwrap_or(Err(None))
            }
        };
        match answer {
            Ok(decision) => return decision,
            Err(Some(leader)) => next = Some(leader),
            Err(None) => {}
        }
        turn += 1;
        tokio::time::sleep(AGAIN).await;
    }
}

#[cfg(all(test, feature = "keepers"))]
mod tests;
