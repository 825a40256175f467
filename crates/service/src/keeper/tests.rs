//! Keepers on paused time, on a network that is cut this way and that, while keepers are
//! stopped, started and lose their files: a version is one roster for all, and what was answered
//! is true.

use chacha20::rand_core::Rng as _;
use headway_testkit::tier::pick;
use serde_json::{Value, json};

use super::*;
use crate::membership::decision::Kind;

mod flaws;
mod world;

use world::*;

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
        let newest = world.net.borrow().rosters.values().next_back().cloned();
        let newest = newest.expect("the first one");
        let by = (0..NODES).find(|at| newest.member(&name(*at)).is_some());
        let by = by.expect("a member");
        let roster = world.roster(by).expect("it runs");
        let back = roster.bypassed.first().cloned();
        let kind = back.map(|name| Kind::TakeBack { name });
        let name = roster.members[0].name.clone();
        let kind = kind.unwrap_or(Kind::LeaveOut { name });
        let id = world.want(by, kind);
        latest = world.answered(by, id).await;
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
    let seeds = pick(60, 1_000, 20_000);
    let mut tally = Tally::default();
    let one = std::env::var("HEADWAY_SEED").ok();
    if let Some(seed) = one.map(|seed| seed.parse().expect("HEADWAY_SEED is a number")) {
        on_paused_time(seed, Flaw::None, async |world| {
            schedule(world, seed, &mut tally).await;
        });
        return;
    }
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
    assert!(damaged > 0 && younger > 0, "no log was lost");
    println!(
        "{seeds} schedules, {decided} of {wanted} changes made, {damaged} logs damaged, {younger} \
         deleted or put back"
    );
}

/// The same again, in another thread: every letter is the same.
#[test]
fn a_schedule_of_keepers_is_a_function_of_its_seed() {
    let letters = |seed| {
        on_paused_time(seed, Flaw::None, async |world| {
            schedule(world, seed, &mut Tally::default()).await;
        })
    };
    let seeds = 0..pick(2, 8, 8);
    let once: Vec<u64> = seeds.clone().map(letters).collect();
    let again = std::thread::spawn(move || seeds.map(letters).collect::<Vec<u64>>());
    assert_eq!(once, again.join().expect("it works"));
    assert_ne!(once[0], once[1], "something was compared");
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
    for seed in 0..pick(3, 9, 9) {
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

/// One keeper tells the others that their logs are older than they can be, and those of keepers that
/// there are not. Then all start again.
#[test]
fn how_old_a_log_is_its_keeper_says_itself() {
    for seed in 0..pick(1, 4, 4) {
        on_paused_time(seed, Flaw::None, async |world| {
            world.run_for(s(5)).await;
            for to in 0..4 {
                let others = (0..4).map(|at| engine::first_number(&name(at)));
                for (number, by) in (1..).zip(others.chain([7, 8, 9])) {
                    let letter = Letter {
                        log: first().log(),
                        number,
                        is_answer: false,
                        part: 0,
                        parts: 1,
                        bytes: json!({ "Age": [by, u64::MAX] }).to_string().into_bytes(),
                    };
                    if let Some(node) = &world.net.borrow().nodes[to] {
                        let _ = node.orders.send(Order::Letter(address(4), letter));
                    }
                }
            }
            world.run_for(s(1)).await;
            for at in 0..5 {
                world.stop(at).await;
                let log = format!("log-{:016x}/others", first().log());
                let others = world.folder.path().join(name(at)).join(log);
                let others = std::fs::read_to_string(others).unwrap_or_default();
                assert!(!others.contains(&u64::MAX.to_string()), "{others}");
            }
            for at in 0..5 {
                world.start(at);
            }
            world.run_for(s(15)).await;
            let id = world.want(0, Kind::LeaveOut { name: name(1) });
            assert_eq!(world.answered(0, id).await, Some(2), "seed {seed}");
        });
    }
}
