//! Every initial state of a uniform ring at once, by the piles its tokens start in.
//!
//! For a feasible ring on which all processes delay, the distribution of the time to
//! legitimacy is a sum over sequences, and a sum over sequences is a matter of dynamic
//! programming: nothing is followed round by round, and 24 processes with 6 tokens cost
//! little more than 12 with 3. The reductions of [`reduced`](super::reduced) stay in
//! force (arrivals merged, rotation); what is new is this.
//!
//! **Release times.** Number the tokens so that token k + 1 is the next behind token k,
//! and let p(k) be its process, unrolled so that p(k + m) = p(k) - n. Token k is the
//! first to meet the processes of its *stretch* S(k) = [p(k), p(k-1) - 1], which is
//! empty when k is not the first of its pile. Let Y(x, k) be the round in which x
//! releases k and D(k, x) = Y(x, k) - x. The program says D(k, x) = max(D(k, x-1),
//! D(k-1, x) + d), and c(x) + 1 - x in place of the second term on its own stretch. With
//! F(l, x) the largest c(z) + 1 - z over z ≤ x in S(l), and A(l) the largest in all of
//! S(l), this unfolds for x in S(k-j) to
//!
//! ```text
//! D(k, x) = max( A(k), A(k-1) + d, …, A(k-j+1) + (j-1)·d, F(k-j, x) + j·d )
//! ```
//!
//! so token k = l + j rests at x in S(l) exactly if F(l, ·) has a *record* at x, that is
//! F(l, x) > F(l, x-1), and no token l + i with 1 ≤ i ≤ j *blocks* it: A(l+i) - i·d <
//! F(l, x). After a whole turn (j = m) the own stretch adds nothing, because m·d ≤ n.
//!
//! **Settled.** By theorem 2 of docs/research/worst-case.md, the state after round t ≥ 1 is
//! legitimate exactly if nobody rests any more and every running counter fits the token
//! ahead of it. A counter that was set at x-1 before the rest at x fits until then and
//! misfits until round Y(x-1, k) + d - 1. So from round d - 1 on, when no initial counter
//! is left, a record at x with J followers that are not blocked asks for
//!
//! ```text
//! t ≥ x + J·d + max( f, max(F(l, x-1), A(l+1) - d, …, A(l+J) - J·d) + d - 2 )
//! ```
//!
//! with f = F(l, x) (the second term only if the token came from somewhere). As a
//! counter is at most d - 1, records lie within the first d - 1 places of a stretch: the
//! other counters do not matter and are a power of d.
//!
//! **Sequences.** Let W(k) = A(k) - k·d, so W(k + m) = W(k) + n - m·d. The token K for
//! which W(k) - k·(n - m·d)/m is largest blocks every record of every token before it: the
//! ring can be cut there and built token by token from K on, against the order of travel.
//! What later records need to know of the tokens placed is only which of them can still
//! be the first to block: those with W above all that were placed after them, the
//! *profile*, back to the first that is certain to block. Equal profiles are merged, with the number of ways to each for every t. A
//! ring with R tokens that could be K is found R times, and each sequence stands for n
//! rings; so it counts n/R times.
//!
//! **Before round d - 1** (`early`) nobody can have waited for another, so a state is
//! legitimate exactly if each token and the one ahead of it agree: a cyclic product of
//! small matrices. **In round 0** gaps are independent: see `gaps`.
//!
//! The sum over all t must be the number of states, which has a formula of its own; it is
//! compared on every run. The tests compare the whole distribution with that of the cases.

use headway_core::{Configuration, Process};
use num_bigint::BigUint;
use rayon::prelude::*;

use super::Instance;
use super::reduced::{Count, ReducedAnswer};
use crate::control::Control;
use crate::error::Result;
use crate::placements;

mod cut;
mod early;
mod gaps;
mod stretch;

use cut::Cut;
use stretch::Until;

/// What the reduction is called in reports.
pub const REDUCTION: &str =
    "piles: release times are max-plus sums, so rings are counted pile by pile";

/// Whether the reduction applies: all processes delay, and m·d ≤ n.
pub fn applies(instance: &Instance) -> bool {
    instance.tokens() > 0
        && instance.feasible()
        && instance.ring().delays().count() == instance.processes()
}

/// Settles every initial state of a feasible ring on which all processes delay.
///
/// # Errors
///
/// [`CheckError::TooLarge`](crate::CheckError::TooLarge) when the profiles outgrow the memory allowed,
/// [`CheckError::Interrupted`](crate::CheckError::Interrupted) when stopped.
///
/// # Panics
///
/// Unless [`applies`].
pub fn explore(instance: &Instance, control: &Control) -> Result<ReducedAnswer> {
    assert!(applies(instance), "a feasible ring of delays");
    let sizes = Sizes::new(instance);
    // All rings in units of the counters that no record reads.
    let all = placements::count(2 * sizes.n, sizes.m)
        * BigUint::from(sizes.d).pow((sizes.m * sizes.width) as u32);
    if all.bits() < 128 {
        explore_counting::<u128>(instance, sizes, control)
    } else {
        explore_counting::<BigUint>(instance, sizes, control)
    }
}

/// The numbers of an instance.
#[derive(Clone, Copy)]
struct Sizes {
    n: usize,
    m: usize,
    d: usize,
    /// Places of a stretch at which there can be a record.
    width: usize,
    /// The first time that is asked about.
    first: usize,
    /// How many times are asked about.
    times: usize,
}

impl Sizes {
    fn new(instance: &Instance) -> Sizes {
        let (n, m, d) = (
            instance.processes(),
            instance.tokens(),
            instance.separation() as usize,
        );
        let first = (d - 1).max(1);
        // A record needs at most (d-1) + (m-1)·d + (d-1) + (d-2) rounds.
        let last = (m + 2) * d;
        Sizes {
            n,
            m,
            d,
            width: (d - 1).max(1),
            first,
            times: last - first + 1,
        }
    }
}

fn explore_counting<C: Count>(
    instance: &Instance,
    sizes: Sizes,
    control: &Control,
) -> Result<ReducedAnswer> {
    let states = instance.states();
    let by_gaps = gaps::check(instance);
    let settled = count::<C>(sizes, Until::Legitimate, control)?;
    let at_rest = count::<C>(sizes, Until::Moving, control)?;
    for found in [&settled, &at_rest] {
        assert_eq!(
            found.by_time.last(),
            Some(&states),
            "all states are legitimate in the end: {instance}"
        );
    }
    let mut by_time = vec![by_gaps.legitimate.clone()];
    by_time.extend((1..sizes.first).map(|t| early::legitimate_by(sizes, t)));
    by_time.extend(settled.by_time);
    let mut distances = vec![by_time[0].clone()];
    distances.extend(by_time.windows(2).map(|pair| &pair[1] - &pair[0]));
    while distances.last() == Some(&BigUint::ZERO) {
        distances.pop();
    }
    let last_move = at_rest.by_time.partition_point(|found| *found < states);
    let worst = distances.len() as u64 - 1;
    let last_rest = (sizes.first + last_move - 1) as u64;
    Ok(ReducedAnswer {
        legitimate: by_gaps.legitimate,
        closure_violation: by_gaps.closure_violation,
        tokens_move: by_gaps.tokens_move,
        conserved: gaps::conserved(instance),
        one_queued: gaps::one_queued(instance),
        distances,
        never: BigUint::ZERO,
        worst: example(instance, |rounds, _| rounds == worst).map(|state| (worst, state)),
        worst_last_rest: example(instance, |_, rest| rest == last_rest)
            .map(|state| (last_rest, state)),
        diverging: None,
        placements: 0,
        cases: settled.profiles,
        states,
    })
}

/// A state that is as slow as wanted: all tokens in one pile, by the theorems; which
/// counters, by running the ring.
fn example(instance: &Instance, wanted: impl Fn(u64, u64) -> bool) -> Option<Vec<Process>> {
    let (n, d) = (instance.processes(), instance.separation() as i32);
    (0..d * d).find_map(|counters| {
        let mut start = vec![Process::default(); n];
        start[0].resting = instance.tokens() as u32;
        start[1 % n].counter = counters / d;
        start[0].counter = counters % d;
        let ring = instance.ring();
        let mut state = Configuration::from(start.clone());
        let (mut rounds, mut rest) = (0, 0);
        while ring.legitimate(&state, instance.tokens() as u64).is_err() {
            if state.resting() > 0 {
                rest = rounds;
            }
            ring.round(&mut state);
            rounds += 1;
        }
        wanted(rounds, rest).then_some(start)
    })
}

/// How many states are done by each time, the first of [`Sizes`] first.
struct Counted {
    by_time: Vec<BigUint>,
    profiles: u64,
}

fn count<C: Count>(sizes: Sizes, until: Until, control: &Control) -> Result<Counted> {
    let cuts: Vec<(usize, usize)> = (1..=sizes.width)
        .flat_map(|length| (1..=sizes.d).map(move |height| (length, height)))
        .collect();
    control.begin(cuts.len() as u64 * sizes.m as u64);
    let found = cuts
        .par_iter()
        .map(|&(length, height)| Cut::<C>::new(sizes, until, length, height).run(control))
        .collect::<Result<Vec<_>>>()?;
    let factor = BigUint::from(sizes.d).pow((sizes.n - sizes.m * sizes.width) as u32) * sizes.n;
    let mut by_time = vec![BigUint::ZERO; sizes.times];
    // The sum over all cuts is divided, not each: only that is a number of rings.
    for ties in 1..=sizes.m {
        for (time, total) in by_time.iter_mut().enumerate() {
            let ways: BigUint = found
                .iter()
                .map(|(by_ties, _)| by_ties[ties][time].clone().into())
                .sum();
            *total += ways * &factor / ties;
        }
    }
    let profiles = found.iter().map(|(_, profiles)| profiles).sum();
    Ok(Counted { by_time, profiles })
}
