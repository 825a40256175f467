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
//! **Settled.** By theorem 2 of docs/worst-case.md, the state after round t ≥ 1 is
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

use std::collections::HashMap;

use headway_core::{Configuration, Process};
use num_bigint::BigUint;
use rayon::prelude::*;

use super::Instance;
use super::reduced::{Count, ReducedAnswer};
use crate::control::{Control, Limits};
use crate::error::{CheckError, Result, TooLarge};
use crate::placements;

mod early;
mod gaps;
mod stretch;

use stretch::{Seen, Stretches, Until};

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
/// [`CheckError::TooLarge`] when the profiles outgrow the memory allowed,
/// [`CheckError::Interrupted`] when stopped.
///
/// # Panics
///
/// Unless [`applies`].
pub fn explore(instance: &Instance, limits: Limits, control: &Control) -> Result<ReducedAnswer> {
    assert!(applies(instance), "a feasible ring of delays");
    let sizes = Sizes::new(instance);
    // All rings in units of the counters that no record reads.
    let all = placements::count(2 * sizes.n, sizes.m)
        * BigUint::from(sizes.d).pow((sizes.m * sizes.width) as u32);
    if all.bits() < 128 {
        explore_counting::<u128>(instance, sizes, limits, control)
    } else {
        explore_counting::<BigUint>(instance, sizes, limits, control)
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
    limits: Limits,
    control: &Control,
) -> Result<ReducedAnswer> {
    let states = instance.states();
    let by_gaps = gaps::check(instance);
    let settled = count::<C>(sizes, Until::Legitimate, limits, control)?;
    let at_rest = count::<C>(sizes, Until::Moving, limits, control)?;
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

/// A token that can still block: its number, counted from K on, and its W.
type Blocker = (u8, i16);

/// What records of tokens to come need to know, newest token last.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Profile {
    blockers: Vec<Blocker>,
    /// Tokens so far that could be K.
    ties: u8,
}

/// By processes used and time: numbers of ways. Those in `longer` are ways for any number
/// of processes from there on.
struct Ways<C> {
    exact: Vec<C>,
    longer: Vec<C>,
}

impl<C: Count> Ways<C> {
    fn new(sizes: Sizes) -> Ways<C> {
        let cells = (sizes.n + 1) * sizes.times;
        Ways {
            exact: vec![C::default(); cells],
            longer: vec![C::default(); cells],
        }
    }

    /// With `longer` counted in.
    fn summed(mut self, times: usize) -> Vec<C> {
        for cell in times..self.exact.len() {
            let (before, rest) = self.longer.split_at_mut(cell);
            rest[0] += &before[cell - times];
        }
        for (exact, longer) in self.exact.iter_mut().zip(&self.longer) {
            *exact += longer;
        }
        self.exact
    }
}

/// A token whose level stays above every record to come, however many tokens are added to
/// the `used` processes, blocks them all: how far above does not matter, nor does who is
/// behind it.
fn forget(sizes: Sizes, blockers: &mut Vec<Blocker>, used: usize) {
    let all = ((sizes.m + 1) * sizes.d) as i64 - used as i64;
    let blocks_all = |&(_, w): &Blocker| i64::from(w) >= all;
    if let Some(nearest) = blockers.iter().rposition(blocks_all) {
        blockers.drain(..nearest);
        blockers[0].1 = i16::MAX;
    }
}

fn count<C: Count>(
    sizes: Sizes,
    until: Until,
    limits: Limits,
    control: &Control,
) -> Result<Counted> {
    let cuts: Vec<(usize, usize)> = (1..=sizes.width)
        .flat_map(|length| (1..=sizes.d).map(move |height| (length, height)))
        .collect();
    control.begin(cuts.len() as u64 * sizes.m as u64);
    let found = cuts
        .par_iter()
        .map(|&(length, height)| Cut::<C>::new(sizes, until, length, height).run(limits, control))
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

/// The rings whose K has a stretch of a given length (at least that, if it is `width`)
/// whose last record is of a given height.
struct Cut<C> {
    sizes: Sizes,
    length: usize,
    height: usize,
    stretches: Stretches<C>,
    /// Powers of d.
    powers: Vec<C>,
}

impl<C: Count> Cut<C> {
    fn new(sizes: Sizes, until: Until, length: usize, height: usize) -> Cut<C> {
        let mut powers = vec![C::from(1)];
        for power in 0..sizes.m * sizes.width {
            powers.push(powers[power].clone() * C::from(sizes.d as u64));
        }
        Cut {
            sizes,
            length,
            height,
            stretches: Stretches::new(sizes, until),
            powers,
        }
    }

    /// By ties and time, how many sequences there are; and the profiles met.
    fn run(mut self, limits: Limits, control: &Control) -> Result<(Vec<Vec<C>>, u64)> {
        let Sizes {
            n, m, width, times, ..
        } = self.sizes;
        let mut done = vec![vec![C::default(); times]; m + 1];
        // By tokens placed behind K.
        let mut levels: Vec<HashMap<Profile, Ways<C>>> = (0..m).map(|_| HashMap::new()).collect();
        let mut ways = Ways::new(self.sizes);
        for time in 0..times {
            let start = if self.length < width {
                &mut ways.exact
            } else {
                &mut ways.longer
            };
            start[self.length.min(n) * times + time] = C::from(1);
        }
        let blockers = vec![(0, self.height as i16)];
        levels[0].insert(Profile { blockers, ties: 1 }, ways);
        let mut profiles = 0;
        let cell_bytes = 2 * (n as u64 + 1) * times as u64 * size_of::<C>() as u64;
        for placed in 0..m {
            for (profile, ways) in std::mem::take(&mut levels[placed]) {
                if control.stopped() {
                    let known = format!("{profiles} profiles of piles followed, no answer yet");
                    return Err(CheckError::interrupted(control, known));
                }
                profiles += 1;
                let held: usize = levels.iter().map(HashMap::len).sum();
                let fits = limits.memory_bytes / cell_bytes / rayon::current_num_threads() as u64;
                TooLarge::bound("profiles of piles", held, fits)?;
                let ways = ways.summed(times);
                self.close(placed, &profile, &ways, &mut done);
                for pile in 1..m - placed {
                    self.extend(placed, pile, &profile, &ways, &mut levels[placed + pile]);
                }
            }
            control.advance(1);
        }
        Ok((done, profiles))
    }

    /// Puts a pile, and the stretch ahead of it, in front of what was placed.
    fn extend(
        &mut self,
        placed: usize,
        pile: usize,
        profile: &Profile,
        ways: &[C],
        next: &mut HashMap<Profile, Ways<C>>,
    ) {
        let Sizes {
            n,
            m,
            d,
            width,
            times,
            ..
        } = self.sizes;
        let tokens = placed + pile;
        for used in 1..n {
            let here = &ways[used * times..][..times];
            if *here.last().expect("a time") == C::default() {
                continue;
            }
            let seen = Seen::new(self.sizes, &profile.blockers, used, tokens);
            let stretches = self.stretches.of(&seen);
            let level = self.height as i64 + used as i64 - (tokens * d) as i64;
            for height in 1..=d {
                // K must stay the largest: m·(W(K) - W(k)) ≥ (K - k)·(n - m·d).
                let ahead = m as i64 * (level - height as i64);
                let least = (tokens * (n - m * d)) as i64;
                if ahead < least {
                    break;
                }
                let w = (height + tokens * d) as i16 - used as i16;
                let mut blockers = profile.blockers.clone();
                // Whoever is behind and not above can no longer be the first to block.
                while blockers.last().is_some_and(|&(_, other)| other <= w) {
                    blockers.pop();
                }
                blockers.push((tokens as u8, w));
                forget(self.sizes, &mut blockers, used);
                let ties = profile.ties + u8::from(ahead == least);
                let key = Profile { blockers, ties };
                let target = next.entry(key).or_insert_with(|| Ways::new(self.sizes));
                for length in 1..=width.min(n - used) {
                    let weight =
                        C::from(pile as u64 + 1) * self.powers[pile * width - length].clone();
                    let found = &stretches[(length - 1) * d + height - 1];
                    let to = if length < width {
                        &mut target.exact
                    } else {
                        &mut target.longer
                    };
                    let to = &mut to[(used + length) * times..][..times];
                    for ((to, here), found) in to.iter_mut().zip(here).zip(found) {
                        if *found != C::default() {
                            *to += &(here.clone() * found.clone() * weight.clone());
                        }
                    }
                }
            }
        }
    }

    /// Closes the ring with K's own pile and stretch.
    fn close(&mut self, placed: usize, profile: &Profile, ways: &[C], done: &mut [Vec<C>]) {
        let Sizes {
            n,
            m,
            d,
            width,
            times,
            ..
        } = self.sizes;
        let seen = Seen::new(self.sizes, &profile.blockers, n, m);
        let found = &self.stretches.of(&seen)[(self.length - 1) * d + self.height - 1];
        let pile = m - placed;
        let weight = C::from(pile as u64 + 1) * self.powers[pile * width - self.length].clone();
        let here = &ways[n * times..];
        let done = &mut done[usize::from(profile.ties)];
        for ((done, here), found) in done.iter_mut().zip(here).zip(found) {
            *done += &(here.clone() * found.clone() * weight.clone());
        }
    }
}
