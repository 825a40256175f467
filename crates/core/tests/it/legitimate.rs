//! The legitimacy predicate clause by clause: for each reason a state that gives
//! exactly it; and the first one is named when there are several.

use crate::common::any_ring;
use headway_core::{
    Clause, Configuration, Illegitimate, Measuring, Process, Program, Ring, Separation,
};
use headway_testkit::tier::properties;
use proptest::prelude::*;

/// n = 8, d = 3, delays at 0 and 4; tokens queued at 1 and 5, counters as they
/// should be.
fn legitimate() -> (Ring, Configuration) {
    let ring = Ring::with_delays(Separation::new(3).unwrap(), 8, [0, 4]).unwrap();
    let mut state = Configuration::empty(&ring, 2, 16);
    for at in [1, 5] {
        state.processes[at].queued = 1;
        state.processes[at - 1].counter = 1;
    }
    (ring, state)
}

fn reason(tokens: u64, change: impl FnOnce(&mut [Process])) -> Option<Illegitimate> {
    let (ring, mut state) = legitimate();
    change(&mut state.processes);
    ring.legitimate(&state, tokens).err()
}

#[test]
fn the_example_is_legitimate() {
    assert_eq!(reason(2, |_| {}), None);
}

#[test]
fn leg0_tokens() {
    let (expected, found) = (3, 2);
    let why = Illegitimate::Tokens { expected, found };
    assert_eq!(reason(3, |_| {}), Some(why));
    assert_eq!((why.clause(), why.process()), (Clause::Leg0, None));
    assert_eq!(why.to_string(), "there are 2 tokens, not 3");
}

#[test]
fn leg0_resting() {
    let (process, resting) = (5, 1);
    let why = Illegitimate::Resting { process, resting };
    let rest = |p: &mut [Process]| (p[5].queued, p[5].resting) = (0, 1);
    assert_eq!(reason(2, rest), Some(why));
    assert_eq!((why.clause(), why.process()), (Clause::Leg0, Some(5)));
}

#[test]
fn leg0_queued() {
    let (process, queued) = (1, 2);
    let why = Illegitimate::Queued { process, queued };
    assert_eq!(reason(3, |p| p[1].queued = 2), Some(why));
    assert_eq!(why.clause(), Clause::Leg0);
}

#[test]
fn leg1_too_close() {
    let why = Illegitimate::TooClose {
        process: 1,
        distance: 2,
        required: 3,
    };
    let move_back = |p: &mut [Process]| (p[5].queued, p[3].queued, p[4].counter) = (0, 1, 0);
    assert_eq!(reason(2, move_back), Some(why));
    assert_eq!(why.clause(), Clause::Leg1);
}

#[test]
fn leg1_round_the_end_of_the_ring() {
    let why = Illegitimate::TooClose {
        process: 7,
        distance: 2,
        required: 3,
    };
    let move_on = |p: &mut [Process]| (p[5].queued, p[7].queued, p[4].counter) = (0, 1, 0);
    assert_eq!(reason(2, move_on), Some(why));
}

#[test]
fn leg2_astray() {
    let why = Illegitimate::Astray {
        process: 4,
        counter: 2,
        ahead: 1,
    };
    assert_eq!(reason(2, |p| p[4].counter = 2), Some(why));
    assert_eq!(why.clause(), Clause::Leg2);
}

#[test]
fn leg4_not_set() {
    let why = Illegitimate::NotSet {
        process: 4,
        counter: 1,
        top: 2,
    };
    let move_back = |p: &mut [Process]| (p[5].queued, p[4].queued) = (0, 1);
    assert_eq!(reason(2, move_back), Some(why));
    assert_eq!(why.clause(), Clause::Leg4);
}

#[test]
fn the_first_of_several_reasons_is_named() {
    let all = |p: &mut [Process]| (p[0].counter, p[4].counter, p[5].resting) = (2, 2, 1);
    let why = reason(3, all);
    assert_eq!(why.map(Illegitimate::clause), Some(Clause::Leg0));
    let two = |p: &mut [Process]| (p[0].counter, p[4].counter) = (2, 2);
    assert_eq!(reason(2, two).and_then(Illegitimate::process), Some(0));
}

fn measuring(change: impl FnOnce(&mut Measuring)) -> Result<(), Illegitimate> {
    let mut programs = vec![Program::Relay; 6];
    programs[0] = Program::Measure;
    let ring = Ring::new(Separation::new(3).unwrap(), programs).unwrap();
    let mut state = Configuration::empty(&ring, 2, 12);
    for at in [1, 4] {
        state.processes[at].queued = 1;
    }
    // Released one round ago and being timed.
    state.processes[0].counter = 1;
    let variables = state.measuring.get_mut(&0).unwrap();
    (variables.base, variables.timing) = (2, true);
    (variables.elapsed, variables.ignore) = (1, 1);
    change(variables);
    ring.legitimate(&state, 2)
}

#[test]
fn measured() {
    let wrong = |base| {
        Err(Illegitimate::Mismeasured {
            process: 0,
            base,
            expected: 2,
        })
    };
    assert_eq!(measuring(|_| {}), Ok(()));
    assert_eq!(measuring(|v| v.base = 1), wrong(1));
    assert_eq!(
        measuring(|v| v.elapsed = 4),
        wrong(3),
        "9 rounds for 2 tokens"
    );
    assert_eq!(
        measuring(|v| v.ignore = 0),
        wrong(0),
        "3 rounds for 2 tokens"
    );
    assert_eq!(measuring(|v| (v.timing, v.elapsed) = (false, 9)), Ok(()));
}

proptest! {
    #![proptest_config(properties(400))]

    /// (leg:3) follows from (leg:0) to (leg:2): c > 0 puts a token C - c ahead, and
    /// another no further than c behind would be within C of that one. So it is
    /// never the first reason.
    #[test]
    fn leg3_follows_from_the_clauses_before_it((ring, initial) in any_ring()) {
        let mut state = initial;
        for _ in 0..40 {
            let why = ring.legitimate(&state, state.tokens()).err();
            prop_assert_ne!(why.map(Illegitimate::clause), Some(Clause::Leg3));
            ring.round(&mut state);
        }
    }

    /// A state's own reason is about a process of the ring, and stays the same when
    /// asked again; a legitimate state is separated and moves.
    #[test]
    fn legitimate_states_are_what_they_should_be((ring, initial) in any_ring()) {
        let mut state = initial;
        for _ in 0..80 {
            if ring.legitimate(&state, state.tokens()).is_ok() {
                prop_assert_eq!(state.resting(), 0);
                let tokens = headway_core::tokens::Tokens::new(&state);
                let required = u64::from(ring.separation().hops());
                prop_assert!(tokens.distances().all(|hops| hops >= required));
            }
            ring.round(&mut state);
        }
    }
}

proptest! {
    #![proptest_config(properties(400))]

    /// The paper's relay has no counter. One that is there all the same, where nobody has
    /// asked `admits`, changes no round and is gone after the first; so legitimacy, which
    /// does not look at it, is closed.
    #[test]
    fn a_relay_obeys_no_counter(
        (ring, clean) in any_ring(),
        counters in prop::collection::vec(-3..9_i32, 14),
    ) {
        let (mut clean, mut dirty) = (clean.clone(), clean);
        let relays = ring.programs().iter().zip(&mut dirty.processes).zip(counters);
        for ((program, process), counter) in relays {
            if *program == Program::Relay {
                process.counter = counter;
            }
        }
        let tokens = clean.tokens();
        let legitimate = |state: &Configuration| ring.legitimate(state, tokens).is_ok();
        let mut before = legitimate(&dirty);
        prop_assert_eq!(before, legitimate(&clean));
        for _ in 0..40 {
            ring.round(&mut clean);
            ring.round(&mut dirty);
            prop_assert_eq!(&dirty, &clean);
            prop_assert!(!before || legitimate(&dirty));
            before = legitimate(&dirty);
        }
    }
}
