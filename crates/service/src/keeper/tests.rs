//! Keepers on paused time, on a network that is cut this way and that, while keepers are
//! stopped, started and lose their files: a version is one roster for all, and what was answered
//! is true.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use tokio::task::{JoinHandle, LocalSet};

use super::*;
use crate::membership::decision::{Decided, Kind};
use crate::membership::roster::Terms;

mod flaws;

/// Nodes that there are; the first five are on the first roster, and at most seven keepers.
const NODES: usize = 9;
const FIRST: usize = 5;

/// How many schedules, unless `HEADWAY_KEEPER_SEEDS` says otherwise.
const SEEDS: u64 = 1_000;

fn name(at: usize) -> String {
    format!("k{at}")
}

fn member(at: usize) -> Member {
    Member {
        name: name(at),
        address: format!("10.0.0.{}:7400", at + 1),
        ..Member::default()
    }
}

fn first() -> Roster {
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

fn random() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed)
}

/// A node without a ring.
struct Node {
    orders: mpsc::UnboundedSender<Order>,
    task: JoinHandle<()>,
    /// The roster that it acts by.
    roster: Roster,
    wrong: Option<String>,
    decisions: BTreeMap<u64, Result<Decision, String>>,
}

#[derive(Default)]
struct Net {
    nodes: Vec<Option<Node>>,
    /// Pairs that do not reach each other.
    cut: Vec<(usize, usize)>,
    /// What is wrong with the letters.
    flaw: Flaw,
    /// What was asked, by who asks and the question's number.
    asked: BTreeMap<(usize, u64), Value>,
    /// Proposals whose first answer is lost already.
    lost: Vec<u64>,
    /// There were two rosters of one version.
    contradicted: bool,
    /// Every roster that anybody has had, by version.
    rosters: BTreeMap<u64, Roster>,
}

impl Net {
    fn adopt(&mut self, at: usize, roster: Roster) {
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

    fn apart(&self, one: usize, other: usize) -> bool {
        self.cut.contains(&(one, other)) || self.cut.contains(&(other, one))
    }
}

/// Errors that the schedules have to find, built in from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Flaw {
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

struct World {
    random: ChaCha8Rng,
    folder: tempfile::TempDir,
    net: Rc<RefCell<Net>>,
    next: u64,
    wanted: BTreeMap<u64, Change>,
}

impl World {
    fn new(seed: u64, flaw: Flaw) -> World {
        let net = Net {
            nodes: (0..NODES).map(|_| None).collect(),
            flaw,
            ..Net::default()
        };
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

    fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit
    }

    fn any(&mut self) -> usize {
        self.below(NODES as u64) as usize
    }

    /// Starts a node with the first roster, as if it had kept no other.
    fn start(&mut self, at: usize) {
        if self.net.borrow().nodes[at].is_some() {
            return;
        }
        let (orders, ordered) = mpsc::unbounded_channel();
        let (tell, mut told) = mpsc::unbounded_channel();
        let setup = Setup {
            name: name(at),
            folder: self.folder.path().join(name(at)),
            etcd: Vec::new(),
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
                        let to = (0..NODES).find(|to| member(*to).address == address);
                        let to = to.expect("somebody's address");
                        let carried = here.carry(at, to, letter);
                        let net = Rc::clone(&net);
                        tokio::task::spawn_local(async move {
                            tokio::time::sleep(Duration::from_millis(3)).await;
                            let Some((from, to, letter)) = carried else {
                                return;
                            };
                            if let Some(node) = &net.borrow().nodes[to] {
                                let from = member(from).address;
                                let _ = node.orders.send(Order::Letter(from, letter));
                            }
                        });
                    }
                    _ => {}
                }
            }
        });
    }

    async fn stop(&mut self, at: usize) {
        let node = self.net.borrow_mut().nodes[at].take();
        if let Some(Node { orders, task, .. }) = node {
            drop(orders);
            let _ = task.await;
        }
    }

    /// One byte of a keeper's files is another.
    fn damage(&mut self, at: usize) {
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
    fn copy_of(&self, at: usize) -> Option<tempfile::TempDir> {
        let from = self.folder.path().join(name(at));
        let to = tempfile::tempdir_in(self.folder.path()).unwrap();
        copy(&from, to.path()).ok().map(|()| to)
    }

    /// A keeper's whole disk is what it was, or empty.
    fn put_back(&self, at: usize, before: Option<&tempfile::TempDir>) {
        let folder = self.folder.path().join(name(at));
        let _ = std::fs::remove_dir_all(&folder);
        if let Some(before) = before {
            copy(before.path(), &folder).unwrap();
        }
    }

    /// What was answered is true.
    fn check_answer(&self, seed: u64, at: usize, id: u64) {
        let (Some(Ok(answer)), change) = (self.decision(at, id), &self.wanted[&id]) else {
            return;
        };
        let rosters = &self.net.borrow().rosters;
        if answer.refused.is_none() {
            let is_there = rosters.contains_key(&answer.version);
            assert!(is_there, "seed {seed}: said to be decided and is not");
            return;
        }
        let alike = |other: &&Change| {
            let unlike = Change {
                id,
                ..(*other).clone()
            };
            unlike == *change
        };
        let unique = self.wanted.values().filter(alike).count() == 1;
        let made = rosters.get(&change.version).map(|roster| {
            let mut decided = Decided::new(roster.clone());
            decided.apply(change);
            decided.roster
        });
        let made = made.filter(|made| made.version > change.version);
        let was_made = made.is_some_and(|made| rosters.get(&made.version) == Some(&made));
        assert!(
            !(unique && was_made),
            "seed {seed}: said to be refused, and was made"
        );
    }

    /// Lets time pass; rosters spread as the machines spread them.
    async fn run_for(&mut self, time: Duration) {
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

    fn roster(&self, at: usize) -> Option<Roster> {
        let net = self.net.borrow();
        net.nodes[at].as_ref().map(|node| node.roster.clone())
    }

    /// Wants something of some node, which answers sooner or later.
    fn want(&mut self, at: usize, kind: Kind) -> u64 {
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
    fn any_kind(&mut self, at: usize) -> Option<Kind> {
        let (roster, about) = (self.roster(at)?, self.any());
        let name = name(about);
        let gone = false;
        Some(match roster.member(&name) {
            None => Kind::Add {
                member: member(about),
                after: None,
            },
            Some(_) if roster.is_bypassed(&name) => Kind::TakeBack { name },
            Some(_) if self.below(2) == 0 => Kind::LeaveOut { name },
            Some(_) if roster.members.len() > 4 => Kind::Remove { name, gone },
            Some(_) => return None,
        })
    }

    /// What was answered to whoever wanted this.
    fn decision(&self, at: usize, id: u64) -> Option<Result<Decision, String>> {
        let net = self.net.borrow();
        net.nodes[at].as_ref()?.decisions.get(&id).cloned()
    }

    /// Waits for the answer, which is no lie.
    async fn answered(&mut self, at: usize, id: u64) -> Option<u64> {
        // One that was stopped meanwhile has forgotten it.
        let end = tokio::time::Instant::now() + PROPOSE_FOR;
        while self.decision(at, id).is_none() && tokio::time::Instant::now() < end {
            self.run_for(Duration::from_millis(200)).await;
        }
        let decision = self.decision(at, id)?.ok()?;
        decision.refused.is_none().then_some(decision.version)
    }

    /// Everybody runs and reaches everybody.
    fn heal(&mut self) {
        self.net.borrow_mut().cut.clear();
        for at in 0..NODES {
            self.start(at);
        }
    }
}

fn on_paused_time(seed: u64, flaw: Flaw, test: impl AsyncFnOnce(&mut World)) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    runtime.block_on(LocalSet::new().run_until(async {
        let mut world = World::new(seed, flaw);
        test(&mut world).await;
        for at in 0..NODES {
            world.stop(at).await;
        }
    }));
}

fn copy(from: &std::path::Path, to: &std::path::Path) -> std::io::Result<()> {
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

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// How much there was to see.
#[derive(Default)]
struct Tally {
    decided: u64,
    wanted: u64,
    damaged: u64,
    /// Folders that were deleted or put back.
    younger: u64,
}

/// Some changes while links are cut, keepers are stopped and files damaged; in the end all is well
/// and nobody has lied.
async fn schedule(world: &mut World, seed: u64, tally: &mut Tally) {
    world.run_for(s(4)).await;
    // One keeper's files are damaged in some of them.
    let mut intact = seed.is_multiple_of(3);
    let mut answers = Vec::new();
    for _ in 0..8 {
        match world.below(5) {
            0 => {
                // Any pairs, so that some reach both sides.
                let pairs = (0..NODES).flat_map(|one| (0..one).map(move |two| (one, two)));
                let cut = pairs
                    .filter(|_| world.random.next_u64().is_multiple_of(3))
                    .collect();
                world.net.borrow_mut().cut = cut;
            }
            1 => {
                let at = world.any();
                let before = world.copy_of(at);
                world.run_for(Duration::from_millis(300)).await;
                world.stop(at).await;
                world.run_for(Duration::from_millis(500)).await;
                if intact && world.below(2) == 0 {
                    intact = false;
                    match world.below(3) {
                        0 => {
                            tally.younger += 1;
                            world.put_back(at, before.as_ref());
                        }
                        1 => {
                            tally.younger += 1;
                            world.put_back(at, None);
                        }
                        _ => {
                            tally.damaged += 1;
                            world.damage(at);
                        }
                    }
                }
                world.start(at);
            }
            _ => world.net.borrow_mut().cut.clear(),
        }
        let at = world.any();
        if let Some(kind) = world.any_kind(at) {
            answers.push((at, world.want(at, kind)));
            tally.wanted += 1;
        }
        let late = 500 + world.below(3000);
        world.run_for(Duration::from_millis(late)).await;
    }
    world.heal();
    world.run_for(s(20)).await;
    for (at, id) in answers {
        tally.decided += u64::from(world.answered(at, id).await.is_some());
        world.check_answer(seed, at, id);
    }
    // All are there, so it goes on.
    let mut latest = None;
    for _ in 0..4 {
        let roster = world.roster(0).expect("it runs");
        let back = roster.bypassed.first().cloned();
        let kind = back.map(|name| Kind::TakeBack { name });
        let name = roster.members[0].name.clone();
        let kind = kind.unwrap_or(Kind::LeaveOut { name });
        let id = world.want(0, kind);
        latest = world.answered(0, id).await;
        world.run_for(s(20)).await;
        if latest.is_some() {
            break;
        }
    }
    assert!(
        latest.is_some(),
        "seed {seed}: nothing is decided although all are there"
    );
    let versions: Vec<_> = (0..NODES)
        .map(|at| world.roster(at).map(|r| r.version))
        .collect();
    let all = versions.iter().all(|version| *version == latest);
    assert!(all, "seed {seed}: {versions:?}");
    let wrong: Vec<_> = (0..NODES)
        .filter_map(|at| world.net.borrow().nodes[at].as_ref()?.wrong.clone())
        .collect();
    assert!(wrong.is_empty(), "seed {seed}: {wrong:?}");
}

#[test]
fn a_version_is_one_roster_whatever_is_cut_and_whoever_stops() {
    let seeds = std::env::var("HEADWAY_KEEPER_SEEDS").ok();
    let seeds = seeds.map_or(SEEDS, |seeds| seeds.parse().expect("a number"));
    let mut tally = Tally::default();
    for seed in 0..seeds {
        on_paused_time(seed, Flaw::None, async |world| {
            schedule(world, seed, &mut tally).await;
        });
    }
    let Tally {
        decided,
        wanted,
        damaged,
        younger,
    } = tally;
    assert!(decided > seeds, "{decided} decisions in {seeds} schedules");
    assert!(damaged > 0 && younger > 0 || seeds < 20, "no log was lost");
    println!(
        "{seeds} schedules, {decided} of {wanted} changes made, {damaged} logs damaged, {younger} \
         deleted or put back"
    );
}

/// The schedule of the review: one member answers both sides of a cut.
#[test]
fn two_sides_of_a_cut_never_both_decide() {
    on_paused_time(1, Flaw::None, async |world| {
        world.run_for(s(5)).await;
        // {0, 1} and {2, 3} do not reach each other, and 4 reaches both.
        world.net.borrow_mut().cut = vec![(0, 2), (0, 3), (1, 2), (1, 3)];
        let leave = |at| Kind::LeaveOut { name: name(at) };
        let (one, other) = (world.want(0, leave(2)), world.want(2, leave(0)));
        let yes = [world.answered(0, one).await, world.answered(2, other).await];
        assert!(yes[0].is_none() || yes[1].is_none(), "{yes:?}");
        world.run_for(s(5)).await;
    });
}

#[test]
fn without_a_majority_nothing_is_decided_and_the_answer_says_so() {
    on_paused_time(2, Flaw::None, async |world| {
        world.run_for(s(5)).await;
        for at in [2, 3, 4] {
            world.stop(at).await;
        }
        let leave = || Kind::LeaveOut { name: name(4) };
        let id = world.want(0, leave());
        world.run_for(PROPOSE_FOR + s(1)).await;
        let answer = world.decision(0, id).expect("an answer");
        assert!(answer.is_err_and(|why| why.contains("too few keepers")));
        let wrong = world.net.borrow().nodes[0]
            .as_ref()
            .and_then(|node| node.wrong.clone());
        assert!(wrong.is_some_and(|why| why.contains("too few keepers")));
        world.start(2);
        world.run_for(s(10)).await;
        let id = world.want(0, leave());
        assert!(world.answered(0, id).await.is_some());
    });
}

/// A damaged log is noticed, moved out of the way, and fetched anew; its keeper then counts
/// again: with it and two others there is a majority of five.
#[test]
fn a_damaged_log_is_fetched_anew() {
    for seed in 0..9 {
        on_paused_time(seed, Flaw::None, async |world| {
            world.run_for(s(5)).await;
            let id = world.want(0, Kind::LeaveOut { name: name(1) });
            assert_eq!(world.answered(0, id).await, Some(2), "seed {seed}");
            world.stop(4).await;
            world.damage(4);
            world.start(4);
            world.run_for(s(15)).await;
            let aside = std::fs::read_dir(world.folder.path().join(name(4))).unwrap();
            let aside = aside.flatten().filter(|file| {
                let path = file.path();
                path.extension().is_some_and(|end| end == "damaged")
            });
            assert_eq!(aside.count(), 1, "seed {seed}");
            let wrong = world.net.borrow().nodes[4]
                .as_ref()
                .and_then(|node| node.wrong.clone());
            assert_eq!(wrong, None, "seed {seed}: it keeps the log again");
            for at in [0, 1] {
                world.stop(at).await;
            }
            world.run_for(s(10)).await;
            let id = world.want(4, Kind::TakeBack { name: name(1) });
            assert_eq!(world.answered(4, id).await, Some(3), "seed {seed}");
        });
    }
}

/// The keepers of a log that began with another roster are not listened to.
#[test]
fn files_with_other_members_have_another_log() {
    let mut other = first();
    other.members.truncate(3);
    assert_ne!(other.log(), first().log());
    let next = first().without("k0").unwrap();
    assert_eq!(next.log(), first().log());
    assert_eq!(next.without("k1").unwrap().log(), first().log());
}
