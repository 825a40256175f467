//! Stations under any schedule: what docs/research/stations.md says.

use std::ops::ControlFlow;

use headway_core::stations::Work;
use headway_sim::moving_block::{
    MovingBlockError, MovingBlockRing, MovingBlockRun, STATION_ACTIONS,
};
use headway_sim::seed::{Purpose, Random};
use headway_sim::settings::Start;
use headway_testkit::tier::properties;
use proptest::prelude::*;

/// Stations that m tokens d apart have room in.
fn stations() -> impl Strategy<Value = (Vec<usize>, usize, u32, u64)> {
    (1..=3_usize, 1..=2_u32, 1..=2_usize).prop_flat_map(|(m, d, slack)| {
        let sizes = prop::collection::vec(1..=5_usize, m * d as usize + slack);
        (sizes, Just(m), Just(d), any::<u64>())
    })
}

/// One action of any process.
fn step(ring: &mut MovingBlockRing, random: &mut Random) {
    let process = random.index(ring.processes());
    let action = STATION_ACTIONS[random.index(STATION_ACTIONS.len())];
    ring.act(process, action);
}

proptest! {
    #![proptest_config(properties(64))]

    /// From any state the ring becomes legitimate. From then on works are apart and it is
    /// legitimate at every step, and every token goes round.
    #[test]
    fn every_start_settles_for_good((sizes, m, d, seed) in stations()) {
        let mut random = Random::new(seed, Purpose::Other(0));
        let mut ring = MovingBlockRing::of_stations(&sizes, m, d);
        ring.scramble(seed);
        let n = ring.processes();
        let mut steps = 0;
        while !ring.legitimate() {
            step(&mut ring, &mut random);
            steps += 1;
            prop_assert!(steps < 3000 * n, "not legitimate");
        }
        let before = ring.positions().to_vec();
        let gone = |ring: &MovingBlockRing| {
            let mut tokens = before.iter().zip(ring.positions());
            tokens.all(|(before, now)| now - before >= n)
        };
        steps = 0;
        while !gone(&ring) {
            step(&mut ring, &mut random);
            prop_assert!(ring.works_apart() && ring.legitimate());
            steps += 1;
            prop_assert!(steps < 3000 * n * sizes.len(), "a token stands");
        }
    }

    /// The same by rounds, in the run that `headway run` shows.
    #[test]
    fn a_run_settles_and_ends((sizes, m, d, seed) in stations()) {
        let faults = vec!["scramble@3".parse().unwrap(), "pile:0@60".parse().unwrap()];
        let run = MovingBlockRun { seed, faults, ..MovingBlockRun::of_stations(&sizes, m, d).unwrap() };
        let mut legitimate = false;
        let outcome = run.run(|frame| {
            assert!(frame.legitimate || !legitimate || frame.fault.is_some());
            assert!(!frame.legitimate || frame.ring.works_apart());
            legitimate = frame.legitimate;
            ControlFlow::Continue(())
        }).unwrap();
        prop_assert!(outcome.legitimate);
        // Far from where a run is given up.
        let last = outcome.recoveries.last().and_then(|recovery| recovery.rounds());
        prop_assert!(last.is_some_and(|rounds| 2 * rounds < run.patience()), "{last:?}");
    }
}

/// All of a station work at once, and no two stations do.
#[test]
fn whole_stations_work_at_once() {
    let run = MovingBlockRun {
        start: Start::Spaced,
        rounds: Some(2000),
        ..MovingBlockRun::of_stations(&[4, 4, 4], 1, 2).unwrap()
    };
    let mut most = [0; 3];
    let outcome = run.run(|frame| {
        let at_work = |station: usize| {
            let members = 4 * station..4 * station + 4;
            members
                .filter(|&member| frame.ring.is_working(member))
                .count()
        };
        let at_work: Vec<usize> = (0..3).map(at_work).collect();
        assert!(at_work.iter().filter(|&&works| works > 0).count() <= 1);
        for (most, works) in most.iter_mut().zip(at_work) {
            *most = works.max(*most);
        }
        ControlFlow::Continue(())
    });
    assert!(outcome.unwrap().legitimate);
    assert_eq!(most, [4; 3]);
}

/// A state in which only works, or what is told of them, is wrong, is not legitimate; some of
/// these do come too close.
#[test]
fn legitimate_is_more_than_apart() {
    let (mut apart_only, mut broken) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed, Purpose::Other(1));
        let mut ring = MovingBlockRing::of_stations(&[3, 2], 1, 1);
        ring.scramble(seed);
        if ring.legitimate() || !ring.works_apart() {
            continue;
        }
        apart_only += 1;
        let mut comes_close = false;
        for _ in 0..300 {
            step(&mut ring, &mut random);
            comes_close |= !ring.works_apart();
        }
        broken += u32::from(comes_close);
    }
    assert!(apart_only > 100 && broken > 10, "{apart_only} {broken}");
}

/// With one process in every station and work that ends at once, tokens go as in a moving
/// block.
#[test]
fn one_process_a_station_is_a_moving_block() {
    let mut random = Random::new(1, Purpose::Other(2));
    let mut block = MovingBlockRing::new(9, 2, 3);
    let mut stations = MovingBlockRing::of_stations(&[1; 9], 2, 3);
    for _ in 0..20_000 {
        let (process, action) = (random.index(9), random.index(4));
        let action = STATION_ACTIONS[action];
        assert_eq!(block.act(process, action), stations.act(process, action));
        while !stations.member(process).work.is_over() {
            stations.act(process, STATION_ACTIONS[6]);
        }
        assert_eq!(
            stations.member(process).work == Work::Working,
            stations.is_working(process)
        );
        assert_eq!(block.positions(), stations.positions());
        assert_eq!(block.closest(), stations.closest());
        assert_eq!(block.legitimate(), stations.legitimate());
    }
    assert!(block.positions()[0] > 9);
}

#[test]
fn what_is_no_ring_of_stations() {
    let refused = |sizes: &[usize]| MovingBlockRun::of_stations(sizes, 1, 1).err();
    assert_eq!(refused(&[2, 0, 1]), Some(MovingBlockError::EmptyStation(2)));
    assert_eq!(refused(&[5]), Some(MovingBlockError::OneStation));
    assert_eq!(refused(&[2, 1]), None);
    assert!(
        !MovingBlockRun::of_stations(&[3; 4], 2, 2)
            .unwrap()
            .feasible()
    );
    assert!(
        MovingBlockRun::of_stations(&[3; 5], 2, 2)
            .unwrap()
            .feasible()
    );
}
