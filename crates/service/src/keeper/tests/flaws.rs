//! Errors that are built in from outside, into letters and disks: each is caught by the schedules
//! that the real keepers pass.

use headway_testkit::tier::{Tier, tier};

use super::*;

impl Net {
    /// A letter on its way: from whom it comes, to whom it goes, and what is in it then.
    pub(super) fn carry(
        &mut self,
        from: usize,
        to: usize,
        mut letter: Letter,
    ) -> Option<(usize, usize, Letter)> {
        let value: Option<Value> = serde_json::from_slice(&letter.bytes).ok();
        if let Some(question) = value.clone().filter(|_| !letter.is_answer) {
            self.asked.insert((from, letter.number), question);
        }
        let by = if letter.is_answer { to } else { from };
        let asked = self.asked.get(&(by, letter.number)).cloned();
        let asked = asked.unwrap_or_default();
        let raft = &asked["Raft"][1];
        let apart = self.apart(from, to);
        match self.flaw {
            Flaw::Written if apart && !letter.is_answer && raft["Append"].is_object() => {
                letter.is_answer = true;
                letter.bytes = br#"{"Ok":"Success"}"#.to_vec();
                return Some((to, from, letter));
            }
            Flaw::Voted if letter.is_answer && raft["Vote"].is_object() => {
                let vote = json!({ "vote": raft["Vote"]["vote"], "vote_granted": true,
                    "last_log_id": null });
                letter.bytes = json!({ "Ok": vote }).to_string().into_bytes();
            }
            Flaw::LosesAnswers | Flaw::Twice => {
                if let Some(id) = asked["Propose"]["id"].as_u64() {
                    if letter.is_answer && !self.lost.contains(&id) {
                        self.lost.push(id);
                        return None;
                    }
                    if !letter.is_answer && self.flaw == Flaw::Twice {
                        let mut other = asked;
                        other["Propose"]["id"] = json!(random());
                        letter.bytes = other.to_string().into_bytes();
                    }
                }
            }
            Flaw::Deaf if raft.is_object() && (from >= 3 || to >= 3) => return None,
            Flaw::Forgetful if letter.is_answer && asked["Age"].is_array() => {
                letter.bytes = b"0".to_vec();
            }
            _ => {}
        }
        (!apart).then_some((from, to, letter))
    }
}

/// An error is noticed by some schedule, soon: in the small tier nothing more is tried; else in at
/// least `least` of all. What they say is not printed.
fn is_caught(seeds: std::ops::Range<u64>, least: usize, run: impl Fn(u64)) {
    let fails = |seed: &u64| {
        let run = std::panic::AssertUnwindSafe(|| run(*seed));
        std::panic::catch_unwind(run).is_err()
    };
    let first = seeds.clone().position(|seed| fails(&seed));
    println!("noticed by schedule {first:?} of {seeds:?}");
    assert!(first.is_some(), "not noticed in {seeds:?}");
    if tier() != Tier::Small {
        let (all, caught) = (seeds.clone().count(), seeds.filter(fails).count());
        assert!(caught >= least, "noticed in {caught} of {all}");
    }
}

fn any_schedule(seed: u64, flaw: Flaw) {
    on_paused_time(seed, flaw, async |world| {
        schedule(world, seed, &mut Tally::default()).await;
    });
}

/// Two sides of a cut want different things.
fn both_sides(seed: u64, flaw: Flaw) {
    on_paused_time(seed, flaw, async |world| {
        world.run_for(s(5)).await;
        let sides = (0..2).flat_map(|one| (2..NODES).map(move |two| (one, two)));
        world.net.borrow_mut().cut = sides.collect();
        let leave = |at| Kind::LeaveOut { name: name(at) };
        world.want(0, leave(2));
        world.want(1, leave(2));
        world.run_for(s(5)).await;
        world.want(2, leave(0));
        world.run_for(s(20)).await;
        world.heal();
        world.run_for(s(20)).await;
    });
}

/// {0, 1, 2} decide something while 3 and 4 hear nothing of openraft; then 0 and 1 are gone, and
/// the disk of 2 is what it was before, with or without the copy of the log's age. Whoever asks the
/// three that are there is told no.
fn one_disk_is_put_back(seed: u64, flaw: Flaw, with_copy: bool) {
    on_paused_time(seed, Flaw::Deaf, async |world| {
        world.run_for(s(5)).await;
        let before = world.copy_of(2);
        let leave = |at| Kind::LeaveOut { name: name(at) };
        let id = world.want(0, leave(3));
        assert_eq!(world.answered(0, id).await, Some(2));
        world.run_for(s(5)).await;
        for at in 0..5 {
            world.stop(at).await;
        }
        let copy = world.copy_of(2).filter(|_| !with_copy);
        world.put_back(2, before.as_ref());
        let files = copy.iter().flat_map(|copy| std::fs::read_dir(copy.path()));
        for file in files.flatten().flatten() {
            let own = world.folder.path().join(name(2)).join(file.file_name());
            if file.file_name().to_string_lossy().starts_with("age-of-") {
                std::fs::copy(file.path(), own).unwrap();
            }
        }
        world.net.borrow_mut().flaw = flaw;
        for at in 2..5 {
            world.start(at);
        }
        world.run_for(s(10)).await;
        let id = world.want(2, leave(0));
        assert_eq!(world.answered(2, id).await, None, "decided by forgetting");
    });
}

#[test]
fn errors_of_letters_and_of_the_log_are_caught() {
    for seed in 0..pick(2, 10, 10) {
        any_schedule(seed, Flaw::LosesAnswers);
        both_sides(seed, Flaw::None);
    }
    is_caught(0..10, 5, |seed| any_schedule(seed, Flaw::Twice));
    is_caught(0..10, 5, |seed| both_sides(seed, Flaw::Written));
    // It takes a candidate that has missed something to make a difference.
    is_caught(0..20, 3, |seed| any_schedule(seed, Flaw::Voted));
}

#[test]
fn a_disk_that_is_put_back_is_noticed_because_the_others_know() {
    for seed in 0..pick(2, 10, 10) {
        one_disk_is_put_back(seed, Flaw::None, true);
    }
    is_caught(0..10, 5, |seed| {
        one_disk_is_put_back(seed, Flaw::Forgetful, true);
    });
}

/// A folder that is put back without what is beside it is noticed though nobody else knows.
#[test]
fn a_folder_that_is_put_back_is_noticed_by_the_copy_of_its_age() {
    for seed in 0..pick(2, 10, 10) {
        one_disk_is_put_back(seed, Flaw::Forgetful, false);
    }
}

/// A keeper that is none any more ends, and keeps nothing.
#[test]
fn a_keeper_that_was_removed_ends() {
    // With and without keys.
    for seed in [3, 4] {
        removed_and_back(seed);
    }
}

fn removed_and_back(seed: u64) {
    on_paused_time(seed, Flaw::None, async |world| {
        world.run_for(s(5)).await;
        let logs = |world: &World| {
            let folder = std::fs::read_dir(world.folder.path().join(name(4)));
            folder.map_or(0, |folder| folder.flatten().count())
        };
        assert!(logs(world) > 0);
        let gone = false;
        let id = world.want(
            0,
            Kind::Remove {
                name: name(4),
                gone,
            },
        );
        assert!(world.answered(0, id).await.is_some());
        world.run_for(s(20)).await;
        assert_eq!(logs(world), 0);
        // It may come back, as anybody new.
        let after = None;
        let id = world.want(
            0,
            Kind::Add {
                member: member(4),
                after,
            },
        );
        assert!(world.answered(0, id).await.is_some());
        world.run_for(s(20)).await;
        assert!(logs(world) > 0);
        for at in [1, 2] {
            world.stop(at).await;
        }
        let id = world.want(4, Kind::LeaveOut { name: name(1) });
        assert!(world.answered(4, id).await.is_some(), "it counts again");
    });
}
