//! The dense and the sparse engine are the same run, round by round.

use headway_core::{Program, Ring, Separation};
use headway_sim::engine::{Dense, Engine, Sparse};
use headway_sim::fault::{Fault, FaultKind, Struck};
use headway_sim::seed::{Purpose, Random};
use headway_sim::start;
use headway_testkit::tier::properties;
use proptest::prelude::*;

/// Any programs, any separation, feasible or not.
fn rings() -> impl Strategy<Value = (Ring, u32, u64)> {
    let programs = prop::sample::select(Program::ALL.to_vec());
    (
        1..8u32,
        prop::collection::vec(programs, 1..24),
        1..9u32,
        any::<u64>(),
    )
        .prop_map(|(d, programs, tokens, seed)| {
            let ring = Ring::new(Separation::new(d).unwrap(), programs).unwrap();
            (ring, tokens, seed)
        })
}

proptest! {
    #![proptest_config(properties(4000))]

    #[test]
    fn dense_and_sparse_agree_round_by_round((ring, tokens, seed) in rings()) {
        let start = start::random(&ring, tokens, seed);
        prop_assert_eq!(ring.admits(&start), Ok(()));
        let mut dense = Dense::new(ring.clone(), start.clone());
        let mut sparse = Sparse::new(ring.clone(), start);
        for round in 0..60 {
            prop_assert_eq!(dense.configuration(), sparse.configuration(), "round {}", round);
            prop_assert_eq!(dense.tokens(), sparse.tokens(), "round {}", round);
            prop_assert_eq!(ring.admits(&dense.configuration()).is_ok(), true);
            if round == 30 {
                let scramble = Fault { kind: FaultKind::Scramble(Struck::Percent(50)), after_round: 30 };
                let mut state = dense.configuration();
                scramble.strike(&ring, &mut state, &mut Random::new(seed, Purpose::Fault(0))).unwrap();
                prop_assert_eq!(ring.admits(&state), Ok(()));
                prop_assert_eq!(state.tokens(), u64::from(tokens));
                dense.load(state.clone());
                sparse.load(state);
            }
            dense.round();
            sparse.round();
        }
    }

    /// Counter-test: a sparse engine that starts one counter one too high differs.
    #[test]
    fn a_wrong_counter_would_be_noticed(n in 4..12usize, seed in any::<u64>()) {
        let ring = Ring::new(Separation::new(3).unwrap(), vec![Program::Delay; n]).unwrap();
        let mut start = start::random(&ring, 1, seed);
        for process in &mut start.processes {
            process.counter = 0;
        }
        let mut wrong = start.clone();
        for process in &mut wrong.processes {
            process.counter = 1;
        }
        let mut dense = Dense::new(ring.clone(), start);
        let mut sparse = Sparse::new(ring, wrong);
        dense.round();
        sparse.round();
        prop_assert_ne!(dense.configuration(), sparse.configuration());
    }
}
