//! The moving block against the functions of `proof/MovingRing.v`: the rules of the core
//! for all values, and rings under random schedules, action by action.

use headway_core::moving_block::Ahead;
use headway_sim::moving_block::{Action, MovingBlockRing};
use headway_testkit::tier::pick;
use headway_testsuite::space::Random;

use super::{Ask, differences, oracle};

/// What `rules` asks: a separation, what is known of the way ahead, and news.
struct Rules {
    separation: u32,
    ahead: Ahead,
    holds: bool,
    news: u32,
    all_received: bool,
}

impl Rules {
    fn answer(&self, tells: fn(Ahead, bool, u32) -> u32) -> String {
        format!(
            "{};{};{}",
            u8::from(self.ahead.lets_go(self.separation)),
            tells(self.ahead, self.holds, self.separation),
            word(Ahead::heard(self.news, self.all_received))
        )
    }
}

impl Ask for Rules {
    fn line(&self) -> String {
        let (ahead, holds) = (word(self.ahead), u8::from(self.holds));
        let (news, all) = (self.news, u8::from(self.all_received));
        format!("rules {} {ahead} {holds} {news} {all}", self.separation)
    }
}

fn word(ahead: Ahead) -> String {
    match ahead {
        Ahead::Unknown => "-".to_owned(),
        Ahead::Free(hops) => hops.to_string(),
    }
}

/// All values up to one more than the largest separation. News is at most d; what is
/// heard is kept as it is.
fn all_rules() -> Vec<Rules> {
    let known = (0..=6).map(Ahead::Free).chain([Ahead::Unknown]);
    let mut rules = Vec::new();
    for ahead in known {
        for number in 0..5 * 7 * 4 {
            rules.push(Rules {
                separation: 1 + number % 5,
                ahead,
                holds: number / 35 % 2 == 1,
                news: number / 5 % 7,
                all_received: number / 70 == 1,
            });
        }
    }
    rules
}

#[test]
fn the_rules_of_the_core() {
    let Some(oracle) = oracle() else { return };
    let rules = all_rules();
    let compared =
        |tells: fn(Ahead, bool, u32) -> u32| differences(oracle, &rules, |r| r.answer(tells));
    assert_eq!(compared(Ahead::tells), (0, None));
    let mutants: [fn(Ahead, bool, u32) -> u32; 2] = [
        |ahead, _, separation| ahead.tells(false, separation),
        |ahead, holds, separation| ahead.tells(holds, separation + 1),
    ];
    for tells in mutants {
        assert!(compared(tells).0 > 0, "a wrong rule is noticed");
    }
}

/// A ring from its start on: who is asked for what.
struct Schedule {
    processes: usize,
    separation: u32,
    places: Vec<usize>,
    actions: Vec<(Action, usize)>,
}

impl Schedule {
    fn random(seed: u64) -> Schedule {
        let mut random = Random::new(seed);
        let processes = 2 + random.below(11) as usize;
        let tokens = 1 + random.below(4) as usize;
        let places = (0..tokens).map(|_| random.below(processes as u32) as usize);
        let mut places: Vec<usize> = places.collect();
        places.sort_unstable();
        // Some processes act much more often than others.
        let quick = random.below(processes as u32) as usize;
        let actions = (0..80 * processes).map(|_| {
            let action = [Action::Receive, Action::Tell, Action::Hear, Action::Give];
            let process = match random.below(4) {
                0 => quick,
                _ => random.below(processes as u32) as usize,
            };
            (action[random.below(4) as usize], process)
        });
        Schedule {
            processes,
            separation: 1 + seed as u32 % 3,
            actions: actions.collect(),
            places,
        }
    }

    /// What each action did, and where tokens were received last.
    fn answer(&self, separation: u32) -> String {
        let mut ring = MovingBlockRing::new(self.processes, self.places.len(), separation);
        ring.place(&self.places);
        let did = self
            .actions
            .iter()
            .map(|&(action, process)| match ring.act(process, action) {
                true => '1',
                false => '0',
            });
        let did: String = did.collect();
        format!("{did};{}", joined(ring.positions()))
    }
}

impl Ask for Schedule {
    fn line(&self) -> String {
        let letter = |action| match action {
            Action::Receive => 'R',
            Action::Tell => 'T',
            Action::Hear => 'H',
            Action::Give => 'G',
            other => panic!("no action of a moving block: {other:?}"),
        };
        let actions = self.actions.iter();
        let actions = actions.map(|&(action, process)| format!("{}{process}", letter(action)));
        let actions: Vec<String> = actions.collect();
        let (n, d, places) = (self.processes, self.separation, joined(&self.places));
        format!("moving {n} {d} {places} {}", actions.join(" "))
    }
}

fn joined(places: &[usize]) -> String {
    let places = places.iter().map(usize::to_string);
    places.collect::<Vec<_>>().join(",")
}

#[test]
fn rings_under_random_schedules() {
    let Some(oracle) = oracle() else { return };
    let schedules: Vec<Schedule> = (0..pick(300, 3_000, 30_000))
        .map(Schedule::random)
        .collect();
    let agreement = differences(oracle, &schedules, |s| s.answer(s.separation));
    assert_eq!(agreement, (0, None));
    let moved = |s: &&Schedule| {
        !s.answer(s.separation)
            .ends_with(&format!(";{}", joined(&s.places)))
    };
    assert!(schedules.iter().filter(moved).count() > schedules.len() / 2);
    let (differ, _) = differences(oracle, &schedules, |s| s.answer(s.separation + 1));
    assert!(
        differ > schedules.len() / 2,
        "another separation is noticed"
    );
}
