//! Legitimate states, gap by gap.
//!
//! The predicate says of a gap, from a token to the next one ahead: it is d hops long or
//! more, the token behind has just set its counter, and each counter inside fits the token
//! ahead and lets the one behind pass. None of this looks beyond the gap; nor does a round
//! that starts in a legitimate state, in which each token moves a hop. So the legitimate
//! states of a uniform ring are the sequences of m legitimate gaps, and legitimacy is
//! closed on it exactly if it is on the rings that consist of a single gap, one for each
//! length: what is found there is found here.

use headway_core::{Configuration, Process};
use num_bigint::BigUint;

use super::Instance;

/// What is known about the legitimate states.
pub(super) struct ByGaps {
    pub(super) legitimate: BigUint,
    pub(super) closure_violation: Option<Vec<Process>>,
    pub(super) tokens_move: bool,
}

pub(super) fn check(instance: &Instance) -> ByGaps {
    let (n, m, d) = (
        instance.processes(),
        instance.tokens(),
        instance.separation() as usize,
    );
    let mut found = ByGaps {
        legitimate: BigUint::ZERO,
        closure_violation: None,
        tokens_move: true,
    };
    let longest = n - (m - 1) * d;
    // By length: the legitimate gaps.
    let mut ways = vec![BigUint::ZERO; n + 1];
    for (length, ways) in ways.iter_mut().enumerate().take(longest + 1).skip(d) {
        *ways = one(instance, length, &mut found).into();
    }
    // Sequences of m gaps, by length so far.
    let mut sequences = vec![BigUint::ZERO; n + 1];
    sequences[0] = 1_u32.into();
    for _ in 0..m {
        let next = (0..=n).map(|all| {
            (0..=all)
                .map(|last| &sequences[all - last] * &ways[last])
                .sum()
        });
        sequences = next.collect();
    }
    found.legitimate = &sequences[n] * n / m;
    found
}

/// The legitimate states of a ring of one gap, with its token at process 0.
fn one(instance: &Instance, length: usize, found: &mut ByGaps) -> u64 {
    let d = instance.separation();
    let ring = Instance::uniform(length, 1, d).expect("shorter than the ring");
    let ring = ring.ring();
    let legitimate = |state: &Configuration| ring.legitimate(state, 1).is_ok();
    let mut start = vec![Process::default(); length];
    start[0].queued = 1;
    start[0].counter = d as i32 - 1;
    let mut states = vec![Configuration::from(start)];
    if !legitimate(&states[0]) {
        return 0;
    }
    // A clause is about one counter, and 0 satisfies it; so the counters that fit are a
    // product, which is built from process to process.
    for process in 1..length {
        let mut more = Vec::new();
        for state in &states {
            for counter in 1..d as i32 {
                let mut tried = state.clone();
                tried.processes[process].counter = counter;
                if legitimate(&tried) {
                    more.push(tried);
                }
            }
        }
        states.extend(more);
    }
    for state in &states {
        let mut after = state.clone();
        ring.round(&mut after);
        if !legitimate(&after) {
            let whole = || whole(instance, &state.processes);
            found.closure_violation.get_or_insert_with(whole);
        }
        found.tokens_move &= after.processes[1 % length].queued == 1;
    }
    states.len() as u64
}

/// A legitimate state of the whole ring that has the gap; the counters in its other gaps
/// are 0.
fn whole(instance: &Instance, gap: &[Process]) -> Vec<Process> {
    let mut state = gap.to_vec();
    state.resize(instance.processes(), Process::default());
    for token in 0..instance.tokens() - 1 {
        state[gap.len() + token * instance.separation() as usize] = gap[0];
    }
    state
}

/// One round of one process, for every number of tokens it can hold and every counter.
fn each_process(instance: &Instance, holds: impl Fn(u64, &Process) -> bool) -> bool {
    let alone = Instance::uniform(1, 1, instance.separation()).expect("a ring of one");
    (0..=instance.tokens() as u32).all(|held| {
        (0..instance.separation() as i32).all(|counter| {
            let mut state = Configuration::from(vec![Process {
                queued: 0,
                resting: held,
                counter,
            }]);
            alone.ring().round(&mut state);
            holds(u64::from(held), &state.processes[0])
        })
    })
}

/// No process changes the number of the tokens it holds, so no round changes it.
pub(super) fn conserved(instance: &Instance) -> bool {
    each_process(instance, |held, after| after.tokens() == held)
}

/// No process has more than one token queued after a round.
pub(super) fn one_queued(instance: &Instance) -> bool {
    each_process(instance, |_, after| after.queued <= 1)
}
