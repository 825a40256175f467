//! The real log of rosters in the virtual world: every host runs the keeper of the service, which
//! is openraft, beside its agent. What the agent wants of the log are the keeper's orders, what the
//! keeper wants are requests of the agent, and letters between keepers travel as the other
//! datagrams do. A schedule is the same as with the model.
//!
//! Each host has a runtime of its own on paused time, which goes on when the world does. So a host
//! that is killed loses all tasks of its keeper at once, between any two of their steps, and keeps
//! its folder. One that is paused does not run at all: letters wait in its socket with the other
//! datagrams, and afterwards all that was due meanwhile is late, as after SIGSTOP.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use headway_service::internal::control::Letter;
use headway_service::internal::decision::Decided;
use headway_service::internal::keeper::{self, Order};
use headway_service::internal::roster::Roster;
use headway_service::internal::{Agent, Request};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::world::*;

/// It takes seconds until others lead, and a change that nobody leads waits for that.
pub(crate) const PACE: u32 = 3;

/// A keeper goes on when there is an order, and so often without one.
const STEP: Duration = Duration::from_millis(5);

/// The keepers of all hosts.
pub(crate) struct Keepers {
    folder: TempDir,
    running: BTreeMap<usize, Keeper>,
    /// No keeper's folder was put back yet. If most keepers lose what they have promised, nothing
    /// is decided any more, as it should be.
    intact: bool,
}

/// The keeper of a host that runs.
struct Keeper {
    runtime: Runtime,
    orders: UnboundedSender<Order>,
    requests: UnboundedReceiver<Request>,
    /// When it began, by its own time and by the world's.
    began: (Instant, Duration),
    /// How far it is, by the world's.
    reached: Duration,
    /// There is an order that it has not seen.
    is_ordered: bool,
}

impl Keepers {
    pub(crate) fn new() -> Keepers {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Keepers {
            folder: folder.expect("a folder"),
            running: BTreeMap::new(),
            intact: true,
        }
    }

    fn folder(&self, at: usize) -> PathBuf {
        self.folder.path().join(format!("n{at}"))
    }
}

impl Keeper {
    fn start(name: String, folder: PathBuf, now: Duration) -> Keeper {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let (orders, ordered) = unbounded_channel();
        let (tell, requests) = unbounded_channel();
        // One number only, so that openraft has nothing to draw.
        let election = 1_000 + (random() >> 32) % 1_000;
        let setup = keeper::Setup {
            name,
            folder,
            election: [election, election + 1],
            random,
        };
        runtime.spawn(keeper::run(setup, ordered, tell));
        Keeper {
            began: (runtime.block_on(async { Instant::now() }), now),
            reached: now,
            is_ordered: false,
            runtime,
            orders,
            requests,
        }
    }

    /// Goes on until now, and says what it wants.
    fn turn(&mut self, now: Duration) -> Vec<Request> {
        let passed = now - self.reached;
        if !std::mem::take(&mut self.is_ordered) && passed < STEP {
            return Vec::new();
        }
        let paused = passed.saturating_sub(STEP);
        let until = self.began.0 + (now - self.began.1);
        self.runtime.block_on(async {
            if !paused.is_zero() {
                tokio::time::advance(paused).await;
            }
            // Whoever has something to do does it first.
            tokio::time::sleep_until(until).await;
        });
        self.reached = now;
        std::iter::from_fn(|| self.requests.try_recv().ok()).collect()
    }
}

impl World {
    /// A ring whose members keep their log themselves.
    pub(crate) fn with_keepers(seed: u64, members: usize, keys: bool) -> World {
        World::with_log(seed, members, keys, Some(Keepers::new()))
    }

    pub(crate) fn start_keeper(&mut self, at: usize) {
        if let Some(keepers) = &mut self.keepers {
            let keeper = Keeper::start(format!("n{at}"), keepers.folder(at), self.now);
            keepers.running.insert(at, keeper);
        }
    }

    pub(crate) fn kill_keeper(&mut self, at: usize) {
        if let Some(keepers) = &mut self.keepers {
            keepers.running.remove(&at);
        }
    }

    pub(crate) fn order(&mut self, at: usize, order: Order) {
        let keepers = self.keepers.as_mut().expect("nobody writes letters here");
        if let Some(keeper) = keepers.running.get_mut(&at) {
            let _ = keeper.orders.send(order);
            keeper.is_ordered = true;
        }
    }

    /// The node acts by another roster, or has more signatures of it.
    pub(crate) fn tell_keeper(&mut self, at: usize) {
        let agent = self.hosts[at].agent.as_ref();
        let roster = agent.and_then(Agent::roster).cloned();
        if let Some(roster) = roster.filter(|_| self.keepers.is_some()) {
            self.see(roster.clone());
            self.order(at, Order::Roster(roster));
        }
    }

    /// A version is one roster, whoever acts by it or has decided upon it.
    fn see(&mut self, roster: Roster) {
        // What a file lists was not decided.
        if roster.version == 1 {
            return;
        }
        let known = self.log.rosters.entry(roster.version);
        let known = known.or_insert_with(|| roster.clone());
        assert_eq!(*known, roster, "seed {}: two of one version", self.seed);
        let latest = self.log.decided.as_ref().map(|log| log.roster.version);
        if latest < Some(roster.version) {
            self.log.decided = Some(Decided::new(roster));
        }
    }

    /// Lets keepers go on, and their agents hear what they want.
    pub(crate) fn turn_keepers(&mut self) {
        let now = self.now;
        for at in 0..NODES {
            if !self.runs(at) {
                continue;
            }
            let keepers = self.keepers.as_mut();
            let keeper = keepers.and_then(|keepers| keepers.running.get_mut(&at));
            for request in keeper.map(|keeper| keeper.turn(now)).into_iter().flatten() {
                match &request {
                    Request::Decided(roster) => self.see((**roster).clone()),
                    Request::Letter { address, letter } => self.lie(at, address, letter),
                    _ => {}
                }
                self.request(at, request);
            }
        }
    }

    /// An error that the schedules have to find: whoever cannot be reached is said to have agreed.
    fn lie(&mut self, at: usize, address: &str, letter: &Letter) {
        let to = (0..NODES).find(|to| super::world::address(*to) == address);
        let reached = to.is_some_and(|to| self.runs(to) && !self.apart(at, to));
        if !self.log.says_yes || reached || letter.is_answer {
            return;
        }
        let text = String::from_utf8_lossy(&letter.bytes);
        let asked: Value = serde_json::from_str(&text).unwrap_or_default();
        let vote = &asked["Raft"][1]["Vote"]["vote"];
        let answer = if vote.is_object() {
            json!({ "Ok": { "vote": vote, "vote_granted": true, "last_log_id": null } })
        } else if letter.part == 0 && text.contains("\"Append\"") {
            json!({ "Ok": "Success" })
        } else {
            return;
        };
        let answer = Letter {
            is_answer: true,
            part: 0,
            parts: 1,
            bytes: answer.to_string().into_bytes(),
            ..letter.clone()
        };
        self.order(at, Order::Letter(address.to_owned(), answer));
    }

    /// What a keeper has on its disk.
    pub(crate) fn copy_log(&self, at: usize) -> Option<TempDir> {
        let keepers = self.keepers.as_ref()?;
        let to = tempfile::tempdir_in(keepers.folder.path()).expect("a folder");
        copy(&keepers.folder(at), to.path()).ok().map(|()| to)
    }

    /// It is what it was again.
    pub(crate) fn put_log_back(&mut self, at: usize, old: Option<&TempDir>) {
        let Some(keepers) = self.keepers.as_mut() else {
            return;
        };
        if std::mem::take(&mut keepers.intact) {
            let folder = keepers.folder(at);
            let _ = std::fs::remove_dir_all(&folder);
            if let Some(old) = old {
                copy(old.path(), &folder).expect("room for it");
            }
        }
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to)?;
        } else {
            std::fs::copy(&from, &to)?;
        }
    }
    Ok(())
}
