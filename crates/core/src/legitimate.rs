//! The legitimacy predicate, clause by clause (paper, section 5.3).
//!
//! The paper writes clause (leg:1) as `tokdist > C` with tokdist the minimum of
//! Rdist over the processes that have a token. But Rdist is 0 wherever there is a
//! token, so that clause would never hold; what is meant, and checked here, is
//! the distance to the *next* token (m = 1: once round, to itself).
//!
//! A ring that measures has one clause more, without which legitimacy would not
//! be closed: the base in use is the right one, and the measurement under way and
//! all later ones will find it again.

mod measured;
mod reason;

pub use reason::{Clause, Illegitimate};

use crate::{Measuring, Process, ProcessIndex, Program, Separation};

/// Whether the state is legitimate for `tokens` tokens.
///
/// Takes O(n) time and no memory. [`crate::Ring::legitimate`] is the same for a
/// ring and configuration.
///
/// # Errors
///
/// The first clause that fails, in the order of [`Clause`], at the first process
/// at which it does.
pub fn check<'a>(
    separation: Separation,
    programs: &[Program],
    processes: &[Process],
    measuring: impl IntoIterator<Item = &'a Measuring>,
    tokens: u64,
) -> Result<(), Illegitimate> {
    check_with_counts(separation, programs, processes, measuring, &[], tokens)
}

/// The same on a ring whose tokens carry counts, in the order of
/// [`crate::ring::round_with_counts`].
///
/// # Errors
///
/// As [`check`].
pub fn check_with_counts<'a>(
    separation: Separation,
    programs: &[Program],
    processes: &[Process],
    measuring: impl IntoIterator<Item = &'a Measuring>,
    counts: &[u32],
    tokens: u64,
) -> Result<(), Illegitimate> {
    let found = processes.iter().map(|process| process.tokens()).sum();
    if found != tokens {
        return Err(Illegitimate::Tokens {
            expected: tokens,
            found,
        });
    }
    for (process, state) in processes.iter().enumerate() {
        if state.resting > 0 {
            let resting = state.resting;
            return Err(Illegitimate::Resting { process, resting });
        }
        if state.queued > 1 {
            let queued = state.queued;
            return Err(Illegitimate::Queued { process, queued });
        }
    }
    let top = separation.top();
    let view = View {
        programs,
        processes,
        counts,
        top,
    };
    let mut first: Option<Illegitimate> = None;
    view.each_gap(|behind, ahead| {
        if ahead - behind < u64::from(separation.hops()) {
            keep_first(
                &mut first,
                Illegitimate::TooClose {
                    process: view.wrap(behind),
                    distance: ahead - behind,
                    required: separation.hops(),
                },
            );
        }
    });
    if first.is_none() {
        view.each_gap(|behind, ahead| view.counters(behind, ahead, &mut first));
    }
    if let Some(illegitimate) = first {
        return Err(illegitimate);
    }
    view.measurements(measuring, top)
}

/// Keeps the earlier in (clause, process) order.
fn keep_first(first: &mut Option<Illegitimate>, other: Illegitimate) {
    let key = |illegitimate: Illegitimate| (illegitimate.clause(), illegitimate.process());
    if first.is_none_or(|kept| key(other) < key(kept)) {
        *first = Some(other);
    }
}

struct View<'a> {
    programs: &'a [Program],
    processes: &'a [Process],
    counts: &'a [u32],
    top: i32,
}

impl View<'_> {
    fn wrap(&self, lifted: u64) -> ProcessIndex {
        (lifted % self.processes.len() as u64) as ProcessIndex
    }

    fn has_token(&self, index: ProcessIndex) -> bool {
        self.processes[index].tokens() > 0
    }

    /// Calls `f` with every token's position and the next one's ahead of it,
    /// which is lifted past n where the gap spans process 0.
    fn each_gap(&self, mut f: impl FnMut(u64, u64)) {
        let n = self.processes.len();
        let Some(first) = (0..n).find(|&index| self.has_token(index)) else {
            return;
        };
        let mut behind = first;
        for index in first + 1..n {
            if self.has_token(index) {
                f(behind as u64, index as u64);
                behind = index;
            }
        }
        f(behind as u64, (n + first) as u64);
    }

    /// Clauses leg:2 to leg:4 from the token at `behind` up to just before the
    /// next one at `ahead`.
    fn counters(&self, behind: u64, ahead: u64, first: &mut Option<Illegitimate>) {
        let n = self.processes.len() as u64;
        for lifted in behind..ahead {
            let process = if lifted < n { lifted } else { lifted - n } as ProcessIndex;
            if !self.programs[process].delays() {
                continue;
            }
            let (counter, top) = (self.processes[process].counter, self.top);
            let (to_next, to_previous) = (ahead - lifted, lifted - behind);
            // What `shortest-lap` believes in may be less than the separation that is
            // kept: its counter runs down in time, and no more is asked of it.
            let exact = self.programs[process] != Program::ShortestLap;
            let due = i64::from(top) - i64::from(counter);
            let fails = if lifted == behind {
                (counter > top || exact && counter != top).then_some(Illegitimate::NotSet {
                    process,
                    counter,
                    top,
                })
            // A negative counter (as printed) never runs down: no token sets it.
            } else if counter < 0 || (exact && counter > 0 && to_next as i64 != due) {
                Some(Illegitimate::Astray {
                    process,
                    counter,
                    ahead: to_next,
                })
            } else {
                (to_previous as i64 <= i64::from(counter)).then_some(Illegitimate::TooSoon {
                    process,
                    counter,
                    behind: to_previous,
                })
            };
            if let Some(illegitimate) = fails {
                keep_first(first, illegitimate);
            }
        }
    }
}
