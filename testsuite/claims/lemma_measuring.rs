//! Lemma 3 (section 6): with figure 6 at one process and relays elsewhere, the ring
//! stabilizes to C = ⌊n/m⌋ - 1.
//!
//! **False as printed**, for two reasons, each shown below: the timing ends one
//! token early (lines 3-4 decrement `ignore` before they test it), so that the ring
//! settles at too small a separation; and line 6 can compute ClockBase = -1, after
//! which nothing is ever released. The proof's "ClockBase_k > 1 is calculated in
//! each execution of line 6" is false even of the corrected program: where
//! n < 3m, ⌊n/m⌋ - 1 itself is at most 1.
//!
//! With both put right (`headway_core::program::measure`) it holds. Checked: every
//! state of the bounded domain (elapsed up to 2n) for (n, m) = (4,2), (5,2), (6,2)
//! and (6,3), any queues; every legitimate state of these leads to a legitimate
//! one, the clause on measurements included; 2000 random rings up to 40.
//! Counter-tests: the printed program, a limit below n, and a wrong m.

use std::collections::BTreeSet;

use headway_core::tokens::Tokens;
use headway_core::{Clause, Configuration, Measuring, Program, Ring, Round, Separation};
use headway_testsuite::space::{Case, Random, each_state};

/// One measuring process, at 0, and relays; the separation asked for is ⌊n/m⌋.
fn ring(processes: usize, tokens: u32, program: Program) -> Case {
    let separation = Separation::new(processes as u32 / tokens).expect("m ≤ n");
    let mut programs = vec![Program::Relay; processes];
    programs[0] = program;
    let ring = Ring::new(separation, programs).expect("never empty");
    Case { ring, tokens }
}

/// Calls `visit` with every state of the corrected program's bounded domain.
fn each_measuring_state(case: &Case, visit: &mut impl FnMut(&Configuration)) {
    let limit = Measuring::default_limit(case.ring.len());
    let largest = Measuring::new(case.tokens, limit).largest_base();
    let relays = Case::new(case.ring.len(), case.tokens, 1, &[]);
    each_state(&relays, u32::MAX, &mut |tokens| {
        let mut state = Configuration::empty(&case.ring, case.tokens, limit);
        state.processes.clone_from(&tokens.processes);
        for counter in 0..=largest {
            state.processes[0].counter = counter;
            each_measurement(case.tokens, limit, |measuring| {
                state.measuring.insert(0, measuring);
                visit(&state);
            });
        }
    });
}

fn each_measurement(tokens: u32, limit: u32, mut visit: impl FnMut(Measuring)) {
    let new = Measuring::new(tokens, limit);
    for timing in [false, true] {
        for elapsed in 0..=limit {
            for ignore in 0..tokens as i32 {
                for base in 0..=new.largest_base() {
                    visit(Measuring {
                        timing,
                        elapsed,
                        ignore,
                        base,
                        ..new
                    });
                }
            }
        }
    }
}

fn legitimate_at(case: &Case, initial: &Configuration, within: Round) -> Option<Round> {
    let mut state = initial.clone();
    (0..=within).find(|_| {
        let found = case.ring.legitimate(&state, u64::from(case.tokens)).is_ok();
        case.ring.round(&mut state);
        found
    })
}

/// n, m; and as found by the test below: states of the domain, and the most rounds
/// that one of them takes to become legitimate.
const RINGS: [(usize, u32, u64, Round); 4] = [
    (4, 2, 20_736, 19),
    (5, 2, 60_500, 24),
    (6, 2, 146_016, 30),
    (6, 3, 454_272, 32),
];

/// Rounds that suffice: a wrong measurement ends, a right one is made, the tokens
/// part. Each takes at most about two turns and all tokens' waits under a base
/// that is at most 2n/m - 1.
fn bound(case: &Case) -> Round {
    10 * case.ring.len() as u64
}

#[test]
fn corrected_it_holds_from_every_state() {
    for (processes, tokens, expected_states, expected_worst) in RINGS {
        let case = ring(processes, tokens, Program::Measure);
        let (mut states, mut worst) = (0_u64, 0);
        each_measuring_state(&case, &mut |state| {
            debug_assert_eq!(case.ring.admits(state), Ok(()));
            let found = legitimate_at(&case, state, bound(&case));
            states += 1;
            worst = worst.max(found.unwrap_or_else(|| panic!("{state:?}")));
        });
        assert_eq!((states, worst), (expected_states, expected_worst));
    }
}

#[test]
fn corrected_legitimacy_is_closed() {
    for (processes, tokens, _, _) in RINGS {
        let case = ring(processes, tokens, Program::Measure);
        let m = u64::from(tokens);
        let mut found = 0;
        each_measuring_state(&case, &mut |state| {
            if case.ring.legitimate(state, m).is_ok() {
                found += 1;
                let after = case.ring.after_round(state);
                assert_eq!(case.ring.legitimate(&after, m), Ok(()), "{state:?}");
            }
        });
        assert!(found > 0);
    }
}

/// Counter-test: without the clause on measurements, legitimacy is not closed.
#[test]
fn counter_test_the_clause_on_measurements_is_needed() {
    let case = ring(6, 2, Program::Measure);
    let ok = |state: &Configuration| {
        let verdict = case.ring.legitimate(state, 2);
        verdict.map_or_else(|why| why.clause() == Clause::Measured, |()| true)
    };
    let mut leaves = false;
    each_measuring_state(&case, &mut |state| {
        leaves |= ok(state) && !ok(&case.ring.after_round(state));
    });
    assert!(leaves);
}

#[test]
fn corrected_it_holds_on_random_rings() {
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let processes = 2 + random.below(39) as usize;
        let tokens = 1 + random.below((processes as u32).min(8));
        let case = ring(processes, tokens, Program::Measure);
        let mut state = random.state(&case, u32::MAX);
        let measuring = state.measuring.get_mut(&0).unwrap();
        measuring.timing = random.below(2) == 0;
        measuring.elapsed = random.below(measuring.limit + 1);
        measuring.ignore = random.below(tokens) as i32;
        measuring.base = random.below(measuring.largest_base() as u32 + 1) as i32;
        let largest = measuring.largest_base() as u32;
        state.processes[0].counter = random.below(largest + 1) as i32;
        assert_eq!(case.ring.admits(&state), Ok(()), "seed {seed}");
        let found = legitimate_at(&case, &state, bound(&case));
        assert!(found.is_some(), "seed {seed}");
    }
}

/// Figure 6, lines 3-4: two tokens on neighbouring processes of a ring of 6 settle
/// at 2 instead of 3.
#[test]
fn as_printed_it_settles_too_close() {
    let settled = |program| {
        let case = ring(6, 2, program);
        let mut state = Configuration::empty(&case.ring, 2, 12);
        (state.processes[4].resting, state.processes[5].queued) = (1, 1);
        (0..500).for_each(|_| case.ring.round(&mut state));
        let distances = (0..60).filter_map(|_| {
            case.ring.round(&mut state);
            Tokens::new(&state).min_distance()
        });
        distances.collect::<BTreeSet<_>>()
    };
    assert_eq!(settled(Program::MeasureAsPrinted), BTreeSet::from([2]));
    assert_eq!(settled(Program::Measure), BTreeSet::from([3]));
}

/// Figure 6, line 6: ClockBase = -1, and no token moves again.
#[test]
fn as_printed_it_deadlocks() {
    let case = ring(4, 2, Program::MeasureAsPrinted);
    let mut state = Configuration::empty(&case.ring, 2, 8);
    state.processes[3].queued = 2;
    state.measuring.get_mut(&0).unwrap().timing = true;
    let (mut dead, mut live) = (state.clone(), state.clone());
    case.ring.round(&mut dead);
    assert_eq!(
        (dead.measuring[&0].base, dead.processes[0].counter),
        (-1, -1)
    );
    // The one token that was released comes round to rest as well.
    (0..4).for_each(|_| case.ring.round(&mut dead));
    assert_eq!(dead.processes[0].resting, 2);
    let processes = dead.processes.clone();
    for _ in 0..100 {
        case.ring.round(&mut dead);
        assert_eq!(dead.processes, processes);
    }
    let corrected = ring(4, 2, Program::Measure);
    assert!(legitimate_at(&corrected, &live, bound(&corrected)).is_some());
    corrected.ring.round(&mut live);
    assert_eq!(live.measuring[&0].base, 0);
}

/// The proof: ClockBase_k > 1 in each execution of line 6.
#[test]
fn as_printed_the_proof_wants_too_large_a_base() {
    let case = ring(4, 2, Program::Measure);
    let mut state = Configuration::piled(&case.ring, 2, 0);
    for _ in 0..100 {
        case.ring.round(&mut state);
        assert!(state.measuring[&0].base <= 1);
    }
    assert_eq!(case.ring.legitimate(&state, 2), Ok(()), "and rightly so");
}

/// It takes no corrupted variable: two tokens resting at the predecessor, nothing
/// being timed. The second arrives one round after the first and ends its timing.
#[test]
fn as_printed_it_deadlocks_from_a_clean_start() {
    let case = ring(6, 2, Program::MeasureAsPrinted);
    let clean = Configuration::piled(&case.ring, 2, 5);
    assert!(deadlocks(&case, &clean));
    assert!(!deadlocks(&ring(6, 2, Program::Measure), &clean));
}

fn deadlocks(case: &Case, initial: &Configuration) -> bool {
    let mut state = initial.clone();
    (0..200).for_each(|_| case.ring.round(&mut state));
    case.ring.after_round(&state).processes == state.processes
}

/// Not one state of the domain stabilizes under the printed program, and most of
/// them deadlock. (With ClockBase -1, as the program itself can set it, there are
/// more states than these.)
#[test]
fn as_printed_no_state_stabilizes() {
    let case = ring(6, 2, Program::MeasureAsPrinted);
    let (mut states, mut deadlocked) = (0, 0);
    each_measuring_state(&case, &mut |state| {
        states += 1;
        if deadlocks(&case, state) {
            deadlocked += 1;
            return;
        }
        let mut later = state.clone();
        (0..200).for_each(|_| case.ring.round(&mut later));
        let stays = (0..24).all(|_| {
            case.ring.round(&mut later);
            case.ring.legitimate(&later, 2).is_ok()
        });
        assert!(!stays, "{state:?}");
    });
    assert_eq!((states, deadlocked), (146_016, 81_938));
}

/// Counter-test: `elapsed` has to be able to count to n.
#[test]
fn counter_test_a_limit_below_n() {
    let case = ring(6, 2, Program::Measure);
    let mut state = Configuration::piled(&case.ring, 2, 0);
    state.measuring.get_mut(&0).unwrap().limit = 5;
    assert_eq!(legitimate_at(&case, &state, 1000), None);
}

/// Counter-test: it has to know the right m. (With 3 or 4 for 2 it happens to find
/// the right separation on this ring: the timed token has gone round more than
/// once.)
#[test]
fn counter_test_a_wrong_number_of_tokens() {
    let case = ring(6, 2, Program::Measure);
    for wrong in [1, 5] {
        let mut state = Configuration::piled(&case.ring, 2, 0);
        state.measuring.get_mut(&0).unwrap().tokens = wrong;
        assert_eq!(legitimate_at(&case, &state, 1000), None);
    }
}

/// Legitimacy is closed for the printed program as well. It holds only where every
/// later measurement comes out right all the same: with one token there is none
/// ahead of the timed one, and on a ring of 5 with 3, 5 - 1 and 5 - 2 rounds make
/// the same ⌊t/3⌋ as 5.
#[test]
fn as_printed_legitimacy_is_closed_too() {
    let mut found = Vec::new();
    for (processes, tokens) in [(3, 1), (3, 2), (4, 2), (4, 3), (5, 2), (5, 3), (6, 2)] {
        let case = ring(processes, tokens, Program::MeasureAsPrinted);
        let m = u64::from(tokens);
        let mut count = 0;
        each_measuring_state(&case, &mut |state| {
            if case.ring.legitimate(state, m).is_ok() {
                count += 1;
                let after = case.ring.after_round(state);
                assert_eq!(case.ring.legitimate(&after, m), Ok(()), "{state:?}");
            }
        });
        if count > 0 {
            found.push((processes, tokens));
        }
    }
    assert_eq!(found, [(3, 1), (5, 3)]);
}
