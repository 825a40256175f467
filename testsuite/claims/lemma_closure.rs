//! Lemma 1 (closure): a round leads from a legitimate state to a legitimate state.
//!
//! True of the predicate that is meant. Read literally, clause (leg:1) asks that
//! tokdist > C where tokdist is the least Rdist_i over processes that have a token,
//! and Rdist_i is 0 wherever there is one: no state with a token is legitimate.
//! What is meant is the distance to the *next* token.
//!
//! The proof also has "from (leg:1) there is no token at p_{i-1}" and c_i = C-1,
//! which is so for C ≥ 1 only; with C = 0 the lemma holds all the same.
//!
//! Checked: all states of all rings up to 6 processes; 2000 random legitimate
//! states of rings up to 60, for two turns. Beyond the paper: clauses (leg:2) and
//! (leg:4) are not needed, the other three are closed by themselves.
//! Counter-tests: each of these three is needed, and a wrong protocol is caught.

use headway_core::{Clause, Configuration};
use headway_testsuite::space::{Case, Random, cases, each_state};

use super::{every_small, state_of};

fn legitimate(case: &Case, state: &Configuration) -> bool {
    let tokens = u64::from(case.tokens);
    case.ring.legitimate(state, tokens).is_ok()
}

#[test]
fn holds_for_every_legitimate_state_of_small_rings() {
    let mut found = 0;
    every_small(6, 1, |case, state| {
        if legitimate(case, state) {
            found += 1;
            let after = case.ring.after_round(state);
            assert!(legitimate(case, &after), "{case:?} {state:?}");
        }
    });
    assert!(found > 1000, "{found}");
}

#[test]
fn every_feasible_ring_has_a_legitimate_state() {
    for processes in 2..=6 {
        for case in cases(processes) {
            let mut any = false;
            each_state(&case, 1, &mut |state| any |= legitimate(&case, state));
            assert!(any, "{case:?}");
        }
    }
}

#[test]
fn holds_for_two_turns_on_random_rings() {
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let case = random.case(60);
        let mut state = random_legitimate(&case, &mut random);
        for round in 0..=2 * case.ring.len() {
            let verdict = case.ring.legitimate(&state, u64::from(case.tokens));
            assert_eq!(verdict, Ok(()), "seed {seed}, round {round}");
            case.ring.round(&mut state);
        }
    }
}

/// Tokens at random distances of at least d; a counter that may run does so as
/// often as not.
fn random_legitimate(case: &Case, random: &mut Random) -> Configuration {
    let (n, d) = (case.ring.len(), case.ring.separation().hops());
    let mut spare = n as u32 - case.tokens * d;
    let mut state = Configuration::empty(&case.ring, case.tokens, 1);
    let mut at = random.below(n as u32) as usize;
    for _ in 0..case.tokens {
        state.processes[at].queued = 1;
        let extra = random.below(spare + 1);
        spare -= extra;
        // The next token is behind: its distance to this one is d or more.
        let back = (d + extra) as usize;
        at = (at + 2 * n - back) % n;
    }
    for index in case.ring.delays() {
        let ahead = (0..n).find(|hops| state.processes[(index + hops) % n].queued > 0);
        let ahead = ahead.expect("a token") as i32;
        let running = (case.ring.separation().top() - ahead).max(0);
        let kept = ahead == 0 || random.below(2) == 0;
        state.processes[index].counter = if kept { running } else { 0 };
    }
    state
}

/// (leg:1) to the letter.
fn token_distance_as_printed(state: &Configuration) -> Option<usize> {
    let n = state.processes.len();
    let has_token = |i: usize| state.processes[i % n].tokens() > 0;
    let rdist = |i: usize| (0..n).find(|hops| has_token(i + hops));
    (0..n).filter(|&i| has_token(i)).filter_map(rdist).min()
}

#[test]
fn as_printed_no_state_is_legitimate() {
    every_small(5, 1, |case, state| {
        let distance = token_distance_as_printed(state).expect("tokens") as u64;
        assert!(distance <= case.top(), "leg:1 as printed holds nowhere");
    });
}

#[test]
fn as_printed_the_proof_leaves_out_c_of_0() {
    let case = Case::new(2, 2, 1, &[0, 1]);
    let full = state_of(&case, &[(1, 0, 0), (1, 0, 0)]);
    assert!(legitimate(&case, &full), "a token at p_{{i-1}} and at p_i");
    assert_eq!(case.ring.after_round(&full), full, "q_i stays 1");
}

/// Only clauses leg:0, leg:1 and leg:3, less the one left out.
fn without(case: &Case, state: &Configuration, left_out: Option<Clause>) -> bool {
    let n = case.ring.len();
    let processes = &state.processes;
    let leg0 = state.resting() == 0 && processes.iter().all(|process| process.queued <= 1);
    let queued = |i: usize| processes[i % n].queued > 0;
    let next = |i: usize| (1..=n).find(|hops| queued(i + hops)).unwrap_or(n) as u64;
    let leg1 = (0..n).filter(|&i| queued(i)).all(|i| next(i) > case.top());
    let ldist = |i: usize| (0..n).find(|hops| queued(i + n - hops)).unwrap_or(n) as i32;
    let mut idle = case.ring.delays().filter(|&i| !queued(i));
    let leg3 = idle.all(|i| ldist(i) > processes[i].counter);
    (leg0 || left_out == Some(Clause::Leg0))
        && (leg1 || left_out == Some(Clause::Leg1))
        && (leg3 || left_out == Some(Clause::Leg3))
}

#[test]
fn clauses_0_1_and_3_are_closed_by_themselves() {
    every_small(6, 1, |case, state| {
        if without(case, state, None) {
            assert!(
                without(case, &case.ring.after_round(state), None),
                "{case:?} {state:?}"
            );
        }
    });
}

#[test]
fn counter_test_each_of_clauses_0_1_and_3_is_needed() {
    for clause in [Clause::Leg0, Clause::Leg1, Clause::Leg3] {
        let mut leaves = false;
        every_small(5, 1, |case, state| {
            leaves |= without(case, state, Some(clause))
                && !without(case, &case.ring.after_round(state), Some(clause));
        });
        // Without leg:0, tokens that rest at a delay are not seen by leg:1 and
        // leg:3 until they leave.
        assert!(leaves, "{}", clause.name());
    }
}

#[test]
fn counter_test_a_protocol_with_longer_counters_is_caught() {
    let case = Case::new(6, 2, 3, &[0]);
    let mut state = random_legitimate(&case, &mut Random::new(1));
    let longer = case.with_separation(4);
    (0..6).for_each(|_| longer.ring.round(&mut state));
    assert!(!legitimate(&case, &state));
}
