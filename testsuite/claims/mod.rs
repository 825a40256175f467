//! The paper's claims, one file each, in the paper's order and with its numbers
//! (LaTeX counts them: claim 1 is labelled convX0, claim 2 conv0, … claim 8
//! conv6).
//!
//! Each file says what the claim says, checks it exactly as stated, over every
//! initial state of small rings and over seeded random larger ones, and breaks
//! the premise or the protocol to see that the check notices. Where a claim is
//! false as printed, the file exhibits a smallest counterexample and then states
//! and checks what is true; PAPER.md lists these as errata.

mod claim1_tokens_are_conserved;
mod claim2_at_most_one_queued;
mod claim3_counters_run_for_ever;
mod claim4_releases_are_apart;
mod claim5_arrivals_are_apart;
mod claim6_resting_bounds_hold;
mod claim7_resting_bound_of_zero;
mod claim8_variant_decreases;
mod lemma_closure;
mod lemma_convergence;
mod lemma_measuring;
mod open_question;
mod theorem;

use headway_core::Configuration;
use headway_testsuite::space::{Case, Random, cases, each_state};

/// Calls `check` with every state of every feasible ring of 2 to `largest`
/// processes; no queue is longer than `longest_queue`. Returns how many.
fn every_small(
    largest: usize,
    longest_queue: u32,
    mut check: impl FnMut(&Case, &Configuration),
) -> u64 {
    let mut states = 0;
    for processes in 2..=largest {
        for case in cases(processes) {
            each_state(&case, longest_queue, &mut |state| {
                states += 1;
                check(&case, state);
            });
        }
    }
    states
}

/// Calls `check` with seeded random rings of up to 60 processes. A failing
/// assertion should name the seed: `Random::new(seed)` gives the same again.
fn random_large(seeds: u64, longest_queue: u32, mut check: impl FnMut(&Case, &Configuration, u64)) {
    for seed in 0..seeds {
        let mut random = Random::new(seed);
        let case = random.case(60);
        let state = random.state(&case, longest_queue);
        check(&case, &state, seed);
    }
}

/// The first state for which `fails`, over the given rings in their order.
fn first_failing(
    cases: impl IntoIterator<Item = Case>,
    fails: impl Fn(&Case, &Configuration) -> bool,
) -> Option<(Case, Configuration)> {
    cases.into_iter().find_map(|case| {
        let mut found = None;
        each_state(&case, 1, &mut |state| {
            if found.is_none() && fails(&case, state) {
                found = Some(state.clone());
            }
        });
        found.map(|state| (case, state))
    })
}

/// Rings of 2 to `largest` processes with at least 3 tokens and a separation of
/// at least 2, by n, then m, d and placement.
///
/// Where claims are false as printed, two tokens have to catch up with a third
/// one, and with d = 1 there is nothing to keep apart.
fn crowded(largest: usize) -> impl Iterator<Item = Case> {
    (2..=largest)
        .flat_map(cases)
        .filter(|case| case.tokens >= 3 && case.top() > 0)
}

/// (queued, resting, counter) of every process: a state in one line.
fn row(state: &Configuration) -> Vec<(u32, u32, i32)> {
    let triple = |p: &headway_core::Process| (p.queued, p.resting, p.counter);
    state.processes.iter().map(triple).collect()
}

/// A state from such a row.
fn state_of(case: &Case, row: &[(u32, u32, i32)]) -> Configuration {
    let mut state = Configuration::empty(&case.ring, case.tokens, 1);
    for (process, &(queued, resting, counter)) in state.processes.iter_mut().zip(row) {
        (process.queued, process.resting, process.counter) = (queued, resting, counter);
    }
    assert_eq!(case.ring.admits(&state), Ok(()));
    assert_eq!(state.tokens(), u64::from(case.tokens));
    state
}
