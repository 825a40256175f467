//! The moving block under any schedule: what docs/research/moving-block.md proves.

use std::ops::ControlFlow;

use headway_sim::moving_block::{ACTIONS, Action, MovingBlockRing, MovingBlockRun};
use headway_sim::seed::{Purpose, Random};
use headway_sim::settings::Start;
use headway_testkit::tier::properties;
use proptest::prelude::*;

mod patrolled;
mod stations;

use patrolled::PatrolledRing;

/// In which order the actions of a round happen.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// Any, drawn anew for each round.
    Random,
    /// With the tokens and against the news: everything is heard late.
    Slow,
    /// Against the tokens: the news travels round within a round.
    Quick,
}

fn round(ring: &mut MovingBlockRing, n: usize, order: Order, random: &mut Random) {
    let all = |process: usize, kinds: [Action; 4]| kinds.map(|action| (process, action));
    let actions: Vec<(usize, Action)> = match order {
        Order::Random => {
            let mut all: Vec<_> = (0..n).flat_map(|process| all(process, ACTIONS)).collect();
            for last in (1..all.len()).rev() {
                all.swap(last, random.index(last + 1));
            }
            all
        }
        Order::Slow => {
            let late = [Action::Give, Action::Hear, Action::Receive, Action::Tell];
            let by_kind = late.into_iter();
            by_kind
                .flat_map(|kind| (0..n).map(move |process| (process, kind)))
                .collect()
        }
        Order::Quick => (0..n)
            .rev()
            .flat_map(|process| all(process, ACTIONS))
            .collect(),
    };
    for (process, action) in actions {
        ring.act(process, action);
    }
}

fn rings() -> impl Strategy<Value = (usize, usize, u32, u64, Order)> {
    let orders = prop_oneof![Just(Order::Random), Just(Order::Slow), Just(Order::Quick)];
    (1..=4_usize, 1..=4_u32, 1..=6_usize, any::<u64>(), orders)
        .prop_map(|(m, d, slack, seed, order)| (m * d as usize + slack, m, d, seed, order))
}

proptest! {

    #![proptest_config(properties(256))]

    /// From any state the tokens are apart after the proved number of rounds, stay apart
    /// at every single step, and each advances as quickly as is proved.
    #[test]
    fn settles_and_advances_within_the_bounds((n, m, d, seed, order) in rings()) {
        let mut random = Random::new(seed, Purpose::Other(0));
        let mut ring = MovingBlockRing::new(n, m, d);
        ring.scramble(seed);
        for _ in 0..ring.worst_settled() {
            round(&mut ring, n, order, &mut random);
        }
        prop_assert!(ring.closest() >= i64::from(d), "not apart: {:?}", ring.positions());
        let before = ring.positions().to_vec();
        for _ in 0..ring.worst_advance(n) {
            round(&mut ring, n, order, &mut random);
            prop_assert!(ring.closest() >= i64::from(d), "too close: {:?}", ring.positions());
        }
        for (before, after) in before.iter().zip(ring.positions()) {
            prop_assert!(after - before >= n, "a token is slow");
        }
    }

    /// Apart at every step, not only after every round, under single random actions.
    #[test]
    fn keeps_apart_at_every_step((n, m, d, seed, _) in rings()) {
        let mut random = Random::new(seed, Purpose::Other(1));
        let mut ring = MovingBlockRing::new(n, m, d);
        let places: Vec<usize> = (0..m).map(|token| token * d as usize).collect();
        ring.place(&places);
        for _ in 0..2000 {
            ring.act(random.index(n), ACTIONS[random.index(4)]);
            prop_assert!(ring.closest() >= i64::from(d));
        }
    }
}

/// What the bound is made of: without the slack of one process nothing moves.
#[test]
fn without_slack_tokens_stand() {
    let mut ring = MovingBlockRing::new(6, 2, 3);
    ring.place(&[0, 3]);
    let mut random = Random::new(1, Purpose::Other(0));
    for _ in 0..200 {
        round(&mut ring, 6, Order::Random, &mut random);
    }
    assert_eq!(ring.positions(), [0, 3]);
}

/// Random rounds: every action of every process once, in any order, some of them again.
fn patrolled_round(ring: &mut PatrolledRing, n: usize, random: &mut Random) {
    let mut all: Vec<(usize, patrolled::Action)> = (0..n)
        .flat_map(|process| patrolled::ACTIONS.map(|action| (process, action)))
        .collect();
    for last in (1..all.len()).rev() {
        all.swap(last, random.index(last + 1));
    }
    for (process, action) in all {
        ring.act(process, action);
        if random.chance(1, 4) {
            ring.act(random.index(n), patrolled::ACTIONS[random.index(4)]);
        }
    }
}

proptest! {
    #![proptest_config(properties(64))]

    /// From any memory there are m tokens, apart, for good; no gate opens any more, and
    /// every process is visited.
    #[test]
    fn a_patrolled_ring_settles((n, m, d, seed, _) in rings()) {
        let mut random = Random::new(seed, Purpose::Other(2));
        let mut ring = PatrolledRing::random(n.max(2), m, d, seed);
        let n = n.max(2);
        let mut rounds = 0;
        let (mut since, mut openings) = (0, 0);
        // Settled when nothing was wrong for so long that a patrol has come round often.
        while rounds - since < 20 * n {
            patrolled_round(&mut ring, n, &mut random);
            rounds += 1;
            if !ring.apart() || ring.openings != openings {
                since = rounds;
                openings = ring.openings;
            }
            prop_assert!(rounds < 100 * m * n * n, "{n} {m} {d} {seed}");
        }
        let before = ring.releases.clone();
        for _ in 0..20 * m * n {
            patrolled_round(&mut ring, n, &mut random);
            prop_assert!(ring.apart());
        }
        prop_assert_eq!(ring.openings, openings);
        for (before, after) in before.iter().zip(&ring.releases) {
            prop_assert!(after > before, "a process is not visited");
        }
    }
}

/// With copies of its neighbours' variables one calm lap is not enough: gates open in a
/// ring that has settled.
#[test]
fn a_hasty_patrol_opens_gates_in_settled_rings() {
    let late_openings = |hasty: bool| {
        let mut late = 0;
        for seed in 0..20 {
            let mut random = Random::new(seed, Purpose::Other(3));
            let mut ring = PatrolledRing::random(2, 1, 1, seed);
            ring.hasty = hasty;
            for _ in 0..100 {
                patrolled_round(&mut ring, 2, &mut random);
            }
            let before = ring.openings;
            for _ in 0..2000 {
                ring.act(random.index(2), patrolled::ACTIONS[random.index(4)]);
            }
            late += ring.openings - before;
        }
        late
    };
    assert_eq!(late_openings(false), 0);
    assert!(late_openings(true) > 0);
}

proptest! {
    #![proptest_config(properties(64))]

    /// A run says that it is legitimate no later than is proved, stays so, and ends after
    /// a turn; in lock-step words D1, D2, D4 and D5 hold.
    #[test]
    fn a_run_settles_and_ends((n, m, d, seed, _) in rings()) {
        let fault = "scramble@3".parse().unwrap();
        let run = MovingBlockRun { seed, faults: vec![fault], ..MovingBlockRun::new(n, m, d) };
        let mut legitimate = false;
        let outcome = run.run(|frame| {
            // Only a fault ends it.
            assert!(frame.legitimate || !legitimate || frame.fault.is_some());
            legitimate = frame.legitimate;
            ControlFlow::Continue(())
        }).unwrap();
        let worst = MovingBlockRing::new(n, m, d).worst_settled() as u64;
        prop_assert!(outcome.recoveries[1].rounds().unwrap() <= worst);
        for (verdict, holds) in outcome.desiderata.iter().zip([true, true, false, true, true]) {
            prop_assert!(verdict.holds == Some(true) || !holds, "{verdict:?}");
        }
    }
}

/// Legitimate is what never becomes too close: a state that is apart, with news that is
/// false, is not; and of a run without slack none is, because nothing moves.
#[test]
fn legitimate_is_more_than_apart() {
    let mut apart_only = 0;
    for seed in 0..400 {
        let mut random = Random::new(seed, Purpose::Other(4));
        let mut ring = MovingBlockRing::new(9, 2, 3);
        ring.scramble(seed);
        let (legitimate, mut closest) = (ring.legitimate(), ring.closest());
        apart_only += u32::from(closest >= 3 && !legitimate);
        for _ in 0..100 {
            round(&mut ring, 9, Order::Random, &mut random);
            closest = closest.min(ring.closest());
        }
        assert!(!legitimate || closest >= 3, "seed {seed}");
    }
    assert!(apart_only > 0, "the test would show nothing");
    let stuck = MovingBlockRun {
        start: Start::Spaced,
        ..MovingBlockRun::new(6, 2, 3)
    };
    let outcome = stuck.run(|_| ControlFlow::Continue(())).unwrap();
    let holds = outcome.desiderata.map(|verdict| verdict.holds);
    assert_eq!(holds, [Some(true), None, None, None, Some(false)]);
    assert!(!outcome.legitimate);
}

#[test]
fn what_a_run_refuses() {
    let mut run = MovingBlockRun::new(9, 2, 3);
    for (fault, admitted) in [
        ("scramble@1", true),
        ("pile:8@1", true),
        ("pile:9@1", false),
        ("scramble:25%@1", false),
        ("move:1:2@1", false),
        ("counter:1:0@1", false),
    ] {
        assert_eq!(
            run.admits(&fault.parse().unwrap()).is_ok(),
            admitted,
            "{fault}"
        );
    }
    run.start = Start::Worst;
    assert!(run.run(|_| ControlFlow::Continue(())).is_err());
}
