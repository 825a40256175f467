//! Keepers, their disks, and the network between them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;
use tokio::task::{JoinHandle, LocalSet};

use super::super::*;
use crate::identity::Identity;
use crate::membership::decision::{Decided, Kind};
use crate::membership::roster::Terms;

/// Nodes that there are; the first five are on the first roster, and at most seven keepers.
pub(super) const NODES: usize = 9;
pub(super) const FIRST: usize = 5;

pub(super) fn name(at: usize) -> String {
    format!("k{at}")
}

pub(super) fn address(at: usize) -> String {
    format!("10.0.0.{}:7400", at + 1)
}

pub(super) fn member(at: usize) -> Member {
    Member {
        name: name(at),
        address: address(at),
        key: KEYS
            .get()
            .then(|| Identity::new(&[at as u8 + 1; 64]).public()),
        ..Member::default()
    }
}

pub(super) fn first() -> Roster {
    Roster {
        version: 1,
        ring: "kept".into(),
        members: (0..FIRST).map(member).collect(),
        terms: Terms {
            dwell_most_ms: 1000,
            grace_ms: 100,
            ..Terms::default()
        },
        ..Roster::default()
    }
}

thread_local! {
    static NEXT: Cell<u64> = const { Cell::new(1) };
    /// Whether members have keys.
    static KEYS: Cell<bool> = const { Cell::new(false) };
}

/// Never the same twice in a world.
pub(super) fn random() -> u64 {
    NEXT.replace(NEXT.get().wrapping_add(0x9E37_79B9_7F4A_7C15))
}

/// A node without a ring.
pub(super) struct Node {
    pub(super) orders: mpsc::UnboundedSender<Order>,
    pub(super) task: JoinHandle<()>,
    /// The roster that it acts by.
    pub(super) roster: Roster,
    pub(super) wrong: Option<String>,
    pub(super) decisions: BTreeMap<u64, Result<Decision, String>>,
}

#[derive(Default)]
pub(super) struct Net {
    pub(super) nodes: Vec<Option<Node>>,
    /// Pairs that do not reach each other.
    pub(super) cut: Vec<(usize, usize)>,
    /// What is wrong with the letters.
    pub(super) flaw: Flaw,
    /// What was asked, by who asks and the question's number.
    pub(super) asked: BTreeMap<(usize, u64), Value>,
    /// Proposals whose first answer is lost already.
    pub(super) lost: Vec<u64>,
    /// There were two rosters of one version.
    pub(super) contradicted: bool,
    /// Every roster that anybody has had, by version.
    pub(super) rosters: BTreeMap<u64, Roster>,
    /// Of all letters.
    pub(super) trace: DefaultHasher,
}

impl Net {
    pub(super) fn adopt(&mut self, at: usize, roster: Roster) {
        let known = self.rosters.entry(roster.version);
        let known = known.or_insert_with(|| roster.clone());
        // Not here: a panic in a task of its own would be lost.
        self.contradicted |= *known != roster;
        let Some(node) = &mut self.nodes[at] else {
            return;
        };
        if roster.version > node.roster.version {
            node.roster = roster.clone();
            let _ = node.orders.send(Order::Roster(roster));
        }
    }

    pub(super) fn apart(&self, one: usize, other: usize) -> bool {
        self.cut.contains(&(one, other)) || self.cut.contains(&(other, one))
    }
}

/// Errors that the schedules have to find, built in from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Flaw {
    #[default]
    None,
    /// No error: letters may be lost, and the first answer to every proposal is.
    LosesAnswers,
    /// The same, and every copy of a proposal counts as another one.
    Twice,
    /// Whoever cannot be reached is said to have written what it was sent.
    Written,
    /// Every vote that is refused is said to be given.
    Voted,
    /// No error: those from 3 on hear nothing of openraft.
    Deaf,
    /// No keeper says what it knows of another that starts.
    Forgetful,
}

pub(super) struct World {
    pub(super) random: ChaCha8Rng,
    pub(super) folder: tempfile::TempDir,
    pub(super) net: Rc<RefCell<Net>>,
    pub(super) next: u64,
    pub(super) wanted: BTreeMap<u64, Change>,
}

impl World {
    pub(super) fn new(seed: u64, flaw: Flaw) -> World {
        let net = Net {
            nodes: (0..NODES).map(|_| None).collect(),
            flaw,
            ..Net::default()
        };
        NEXT.set(seed);
        KEYS.set(seed % 2 == 1);
        let mut world = World {
            random: ChaCha8Rng::seed_from_u64(seed),
            folder: tempfile::tempdir_in("/dev/shm")
                .or_else(|_| tempfile::tempdir())
                .unwrap(),
            net: Rc::new(RefCell::new(net)),
            next: 0,
            wanted: BTreeMap::new(),
        };
        for at in 0..FIRST {
            world.start(at);
        }
        world
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit
    }

    pub(super) fn any(&mut self) -> usize {
        self.below(NODES as u64) as usize
    }

    /// Starts a node with the first roster, as if it had kept no other.
    pub(super) fn start(&mut self, at: usize) {
        if self.net.borrow().nodes[at].is_some() {
            return;
        }
        let (orders, ordered) = mpsc::unbounded_channel();
        let (tell, mut told) = mpsc::unbounded_channel();
        // One number only, so that openraft has nothing to draw.
        let election = ELECTION[0] + self.below(ELECTION[1] - ELECTION[0]);
        let setup = Setup {
            name: name(at),
            folder: self.folder.path().join(name(at)),
            election: [election, election + 1],
            random,
        };
        let task = tokio::task::spawn_local(run(setup, ordered, tell));
        let _ = orders.send(Order::Roster(first()));
        self.net.borrow_mut().nodes[at] = Some(Node {
            orders,
            task,
            roster: first(),
            wrong: None,
            decisions: BTreeMap::new(),
        });
        let net = Rc::clone(&self.net);
        tokio::task::spawn_local(async move {
            while let Some(request) = told.recv().await {
                let mut here = net.borrow_mut();
                let node = here.nodes[at].as_mut();
                match (request, node) {
                    (Request::Decided(roster), _) => here.adopt(at, *roster),
                    (Request::Keeping(wrong), Some(node)) => node.wrong = wrong,
                    (Request::Decision { id, decision }, Some(node)) => {
                        node.decisions.insert(id, decision);
                    }
                    (Request::Letter { address, letter }, Some(_)) => {
                        let to = (0..NODES).find(|to| self::address(*to) == address);
                        let to = to.expect("somebody's address");
                        (at, to, letter.number, &letter.bytes).hash(&mut here.trace);
                        let carried = here.carry(at, to, letter);
                        let net = Rc::clone(&net);
                        tokio::task::spawn_local(async move {
                            tokio::time::sleep(Duration::from_millis(3)).await;
                            let Some((from, to, letter)) = carried else {
                                return;
                            };
                            if let Some(node) = &net.borrow().nodes[to] {
                                let from = self::address(from);
                                let _ = node.orders.send(Order::Letter(from, letter));
                            }
                        });
                    }
                    _ => {}
                }
            }
        });
    }

    pub(super) async fn stop(&mut self, at: usize) {
        let node = self.net.borrow_mut().nodes[at].take();
        if let Some(Node { orders, task, .. }) = node {
            drop(orders);
            let _ = task.await;
        }
    }

    /// One byte of a keeper's files is another.
    pub(super) fn damage(&mut self, at: usize) {
        let folder = self.folder.path().join(name(at));
        let logs = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let is_log = |path: PathBuf| path.is_dir() && path.extension().is_none();
        for log in logs.filter(|log| is_log(log.path())) {
            let file = log
                .path()
                .join(["number", "log", "rosters"][self.below(3) as usize]);
            let mut bytes = std::fs::read(&file).expect("it has kept a log");
            let at = self.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1;
            std::fs::write(&file, bytes).expect("writable");
        }
    }

    /// What a keeper has on its disk.
    pub(super) fn copy_of(&self, at: usize) -> Option<tempfile::TempDir> {
        let from = self.folder.path().join(name(at));
        let to = tempfile::tempdir_in(self.folder.path()).unwrap();
        copy(&from, to.path()).ok().map(|()| to)
    }

    /// A keeper's whole disk is what it was, or empty.
    pub(super) fn put_back(&self, at: usize, before: Option<&tempfile::TempDir>) {
        let folder = self.folder.path().join(name(at));
        let _ = std::fs::remove_dir_all(&folder);
        if let Some(before) = before {
            copy(before.path(), &folder).unwrap();
        }
    }

    /// What was answered is true.
    pub(super) fn check_answer(&self, seed: u64, at: usize, id: u64) {
        let (Some(Ok(answer)), change) = (self.decision(at, id), &self.wanted[&id]) else {
            return;
        };
        let rosters = &self.net.borrow().rosters;
        if answer.refused.is_none() {
            let is_there = rosters.contains_key(&answer.version);
            assert!(is_there, "seed {seed}: said to be decided and is not");
            return;
        }
        let led_to = |change: &Change| {
            let mut decided = Decided::new(rosters.get(&change.version)?.clone());
            decided.apply(change);
            Some(decided.roster).filter(|made| made.version > change.version)
        };
        let made = led_to(change);
        // Two that want the same are not told apart.
        let alike = self.wanted.values().filter(|other| led_to(other) == made);
        let unique = alike.count() == 1;
        let was_made = made.is_some_and(|made| rosters.get(&made.version) == Some(&made));
        assert!(
            !(unique && was_made),
            "seed {seed}: said to be refused, and was made"
        );
    }

    /// Lets time pass; rosters spread as the machines spread them.
    pub(super) async fn run_for(&mut self, time: Duration) {
        let end = tokio::time::Instant::now() + time;
        while tokio::time::Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let (from, to) = (self.any(), self.any());
            let mut net = self.net.borrow_mut();
            assert!(!net.contradicted, "two rosters of one version");
            let told = net.nodes[from].as_ref().map(|node| node.roster.clone());
            if let Some(roster) = told.filter(|_| !net.apart(from, to)) {
                net.adopt(to, roster);
            }
        }
    }

    pub(super) fn roster(&self, at: usize) -> Option<Roster> {
        let net = self.net.borrow();
        net.nodes[at].as_ref().map(|node| node.roster.clone())
    }

    /// Wants something of some node, which answers sooner or later.
    pub(super) fn want(&mut self, at: usize, kind: Kind) -> u64 {
        self.next += 1;
        let version = self.roster(at).map_or(0, |roster| roster.version);
        let change = Change {
            id: self.next,
            version,
            settled: true,
            kind,
        };
        self.wanted.insert(self.next, change.clone());
        if let Some(node) = &self.net.borrow().nodes[at] {
            let _ = node.orders.send(Order::Propose(change));
        }
        self.next
    }

    /// Something that makes sense, for the roster that a node has.
    pub(super) fn any_kind(&mut self, at: usize) -> Option<Kind> {
        let (roster, about) = (self.roster(at)?, self.any());
        let name = name(about);
        let gone = false;
        Some(match roster.member(&name) {
            None => Kind::Add {
                member: member(about),
                // Some keepers are none any more if it is among the first.
                after: roster
                    .members
                    .get(self.below(16) as usize)
                    .map(|at| at.name.clone()),
            },
            Some(_) if roster.is_bypassed(&name) => Kind::TakeBack { name },
            Some(_) if self.below(2) == 0 => Kind::LeaveOut { name },
            Some(_) if roster.members.len() > 4 => Kind::Remove { name, gone },
            Some(_) => return None,
        })
    }

    /// What was answered to whoever wanted this.
    pub(super) fn decision(&self, at: usize, id: u64) -> Option<Result<Decision, String>> {
        let net = self.net.borrow();
        net.nodes[at].as_ref()?.decisions.get(&id).cloned()
    }

    /// Waits for the answer, which is no lie.
    pub(super) async fn answered(&mut self, at: usize, id: u64) -> Option<u64> {
        // One that was stopped meanwhile has forgotten it.
        let end = tokio::time::Instant::now() + PROPOSE_FOR;
        while self.decision(at, id).is_none() && tokio::time::Instant::now() < end {
            self.run_for(Duration::from_millis(200)).await;
        }
        let decision = self.decision(at, id)?.ok()?;
        decision.refused.is_none().then_some(decision.version)
    }

    /// Everybody runs and reaches everybody.
    pub(super) fn heal(&mut self) {
        self.net.borrow_mut().cut.clear();
        for at in 0..NODES {
            self.start(at);
        }
    }
}

/// Says what all letters of it were, in one number.
pub(super) fn on_paused_time(seed: u64, flaw: Flaw, test: impl AsyncFnOnce(&mut World)) -> u64 {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    runtime.block_on(LocalSet::new().run_until(async {
        let mut world = World::new(seed, flaw);
        test(&mut world).await;
        for at in 0..NODES {
            world.stop(at).await;
        }
        world.net.borrow().trace.finish()
    }))
}

pub(super) fn copy(from: &std::path::Path, to: &std::path::Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let (entry, to) = (entry?.path(), to.to_owned());
        let to = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &to)?;
        } else {
            std::fs::copy(&entry, &to)?;
        }
    }
    Ok(())
}

pub(super) const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
