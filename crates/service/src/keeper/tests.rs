//! Keepers on paused time, on a network that is cut this way and that, while keepers are
//! stopped and started: a version is one roster for all, and what was answered is true.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use tokio::task::LocalSet;

use super::*;
use crate::membership::roster::Member;

const KEEPERS: usize = 5;

/// How many schedules, unless `HEADWAY_SEEDS` says otherwise.
const SEEDS: u64 = 20;

fn first() -> Roster {
    let member = |at: usize| Member {
        name: format!("k{at}"),
        address: format!("10.0.0.{}:7400", at + 1),
        http: None,
    };
    Roster {
        version: 1,
        ring: "kept".into(),
        members: (0..KEEPERS).map(member).collect(),
        dwell_most_ms: 1000,
        grace_ms: 100,
        ..Roster::default()
    }
}

struct World {
    random: ChaCha8Rng,
    folder: tempfile::TempDir,
    keepers: Rc<RefCell<Vec<Option<Keeper>>>>,
    decided: Vec<watch::Receiver<Roster>>,
    /// Pairs that do not reach each other.
    cut: Rc<RefCell<Vec<(usize, usize)>>>,
    /// Every roster that anybody has had, by version.
    rosters: BTreeMap<u64, Roster>,
}

impl World {
    async fn new(seed: u64) -> World {
        let mut world = World {
            random: ChaCha8Rng::seed_from_u64(seed),
            folder: tempfile::tempdir_in("/dev/shm")
                .or_else(|_| tempfile::tempdir())
                .unwrap(),
            keepers: Rc::new(RefCell::new(vec![None; KEEPERS])),
            decided: (0..KEEPERS).map(|_| watch::channel(first()).1).collect(),
            cut: Rc::default(),
            rosters: BTreeMap::new(),
        };
        for at in 0..KEEPERS {
            world.start(at).await;
        }
        world
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit
    }

    async fn start(&mut self, at: usize) {
        if self.keepers.borrow()[at].is_some() {
            return;
        }
        let (outgoing, mut letters) = mpsc::unbounded_channel::<(u64, Letter)>();
        let (decided, news) = watch::channel(first());
        let folder = self.folder.path().join(at.to_string());
        std::fs::create_dir_all(&folder).unwrap();
        let name = format!("k{at}");
        let keeper = Keeper::start(&name, folder, first(), outgoing, decided)
            .await
            .unwrap();
        self.keepers.borrow_mut()[at] = Some(keeper);
        self.decided[at] = news;
        let (keepers, cut) = (Rc::clone(&self.keepers), Rc::clone(&self.cut));
        tokio::task::spawn_local(async move {
            while let Some((to, letter)) = letters.recv().await {
                let named = |to: &usize, address| address_of(&format!("k{to}")) == address;
                let Some(to) = (0..KEEPERS).find(|other| named(other, to)) else {
                    continue;
                };
                let parted = |&(one, other): &(usize, usize)| {
                    (one, other) == (at, to) || (one, other) == (to, at)
                };
                if cut.borrow().iter().any(parted) {
                    continue;
                }
                let keepers = Rc::clone(&keepers);
                tokio::task::spawn_local(async move {
                    tokio::time::sleep(Duration::from_millis(3)).await;
                    let keeper = keepers.borrow()[to].clone();
                    if let Some(keeper) = keeper {
                        keeper.handle(address_of(&format!("k{at}")), letter).await;
                    }
                });
            }
        });
    }

    async fn stop(&mut self, at: usize) {
        let keeper = self.keepers.borrow_mut()[at].take();
        if let Some(keeper) = keeper {
            keeper.stop().await;
        }
    }

    /// Lets time pass, and looks at every roster that there is.
    async fn run_for(&mut self, time: Duration) {
        let end = tokio::time::Instant::now() + time;
        while tokio::time::Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(50)).await;
            for news in &self.decided {
                let roster = news.borrow().clone();
                let known = self
                    .rosters
                    .entry(roster.version)
                    .or_insert_with(|| roster.clone());
                assert_eq!(*known, roster, "two rosters of one version");
            }
        }
    }

    /// Wants something of some keeper, and holds it to its answer.
    async fn propose(&mut self, at: usize, longest: Duration) -> Option<u64> {
        let keeper = self.keepers.borrow()[at].clone()?;
        let roster = self.decided[at].borrow().clone();
        let name = format!("k{}", self.below(KEEPERS as u64));
        let kind = match self.below(3) {
            0 => Kind::Settled,
            _ if roster.is_bypassed(&name) => Kind::TakeBack { name },
            _ => Kind::LeaveOut { name },
        };
        let change = Change {
            version: roster.version,
            kind,
        };
        let decision = keeper.propose(change.clone(), longest).await.ok()?;
        let changed = decision.refused.is_none() && change.kind != Kind::Settled;
        assert_eq!(
            decision.version > roster.version,
            changed
                || decision
                    .refused
                    .is_some_and(|why| why.contains("somebody else"))
        );
        Some(decision.version)
    }
}

fn on_paused_time(seed: u64, test: impl AsyncFnOnce(World)) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    runtime.block_on(LocalSet::new().run_until(async { test(World::new(seed).await).await }));
}

#[test]
fn a_version_is_one_roster_whatever_is_cut_and_whoever_stops() {
    let seeds = std::env::var("HEADWAY_SEEDS").ok();
    let seeds = seeds.map_or(SEEDS, |seeds| seeds.parse().expect("a number"));
    let mut decided = 0;
    for seed in 0..seeds {
        on_paused_time(seed, async |mut world| {
            world.run_for(Duration::from_secs(5)).await;
            for _ in 0..8 {
                match world.below(4) {
                    0 => {
                        // Any pairs, so that some reach both sides.
                        let pairs =
                            (0..KEEPERS).flat_map(|one| (0..one).map(move |other| (one, other)));
                        let cut = pairs.filter(|_| world.random.next_u64() % 2 == 0).collect();
                        *world.cut.borrow_mut() = cut;
                    }
                    1 => {
                        let at = world.below(KEEPERS as u64) as usize;
                        world.stop(at).await;
                        world.run_for(Duration::from_millis(500)).await;
                        world.start(at).await;
                    }
                    _ => {}
                }
                let at = world.below(KEEPERS as u64) as usize;
                decided += u64::from(world.propose(at, Duration::from_secs(4)).await.is_some());
                world.run_for(Duration::from_secs(1)).await;
            }
            world.cut.borrow_mut().clear();
            for at in 0..KEEPERS {
                world.start(at).await;
            }
            world.run_for(Duration::from_secs(20)).await;
            let latest = world.propose(0, Duration::from_secs(10)).await;
            assert!(
                latest.is_some(),
                "seed {seed}: nothing is decided although all are there"
            );
            world.run_for(Duration::from_secs(3)).await;
            let versions: Vec<u64> = world
                .decided
                .iter()
                .map(|news| news.borrow().version)
                .collect();
            assert!(
                versions.iter().all(|version| Some(*version) == latest),
                "seed {seed}: {versions:?}"
            );
        });
    }
    assert!(decided > seeds, "{decided} decisions in {seeds} schedules");
    println!("{seeds} schedules, {decided} decisions");
}

/// The schedule of the review: one member answers both sides of a cut.
#[test]
fn two_sides_of_a_cut_never_both_decide() {
    on_paused_time(1, async |mut world| {
        world.run_for(Duration::from_secs(5)).await;
        // {0, 1} and {2, 3} do not reach each other, and 4 reaches both.
        *world.cut.borrow_mut() = vec![(0, 2), (0, 3), (1, 2), (1, 3)];
        let leave = |name: &str| Change {
            version: 1,
            kind: Kind::LeaveOut { name: name.into() },
        };
        let keepers = world.keepers.borrow().clone();
        let [one, other] = [0, 2].map(|at: usize| keepers[at].clone().expect("it runs"));
        let longest = Duration::from_secs(30);
        let both = tokio::join!(
            one.propose(leave("k2"), longest),
            other.propose(leave("k0"), longest)
        );
        let yes = |answer: &Result<Decision, String>| {
            answer
                .as_ref()
                .is_ok_and(|decision| decision.refused.is_none())
        };
        assert!(yes(&both.0) != yes(&both.1), "{both:?}");
        world.run_for(Duration::from_secs(5)).await;
    });
}

#[test]
fn without_a_majority_nothing_is_decided_and_the_answer_says_so() {
    on_paused_time(2, async |mut world| {
        world.run_for(Duration::from_secs(5)).await;
        for at in [2, 3, 4] {
            world.stop(at).await;
        }
        assert_eq!(world.propose(0, Duration::from_secs(10)).await, None);
        world.start(2).await;
        world.run_for(Duration::from_secs(10)).await;
        assert!(world.propose(0, Duration::from_secs(10)).await.is_some());
    });
}
