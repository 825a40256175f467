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

use core::fmt;

use crate::{Measuring, Process, ProcessIndex, Program, Separation};

/// The clauses, by the equation labels of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Clause {
    /// (leg:0) m tokens, none resting, at most one queued per process.
    Leg0,
    /// (leg:1) successive tokens are more than C hops apart.
    Leg1,
    /// (leg:2) a running counter belongs to the token that just went by.
    Leg2,
    /// (leg:3) a counter has run down before the next token arrives.
    Leg3,
    /// (leg:4) a delay that just released a token has its counter at C.
    Leg4,
    /// Beyond the paper: a measuring process has found, and will find, ⌊n/m⌋.
    Measured,
}

impl Clause {
    /// `leg:0` to `leg:4`, or `measured`.
    pub const fn name(self) -> &'static str {
        match self {
            Clause::Leg0 => "leg:0",
            Clause::Leg1 => "leg:1",
            Clause::Leg2 => "leg:2",
            Clause::Leg3 => "leg:3",
            Clause::Leg4 => "leg:4",
            Clause::Measured => "measured",
        }
    }
}

/// The answer "no, because": the first clause that fails and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Illegitimate {
    /// (leg:0) The number of tokens is not m.
    Tokens {
        /// m.
        expected: u64,
        /// Tokens there are.
        found: u64,
    },
    /// (leg:0) Tokens rest here.
    Resting {
        /// Where.
        process: ProcessIndex,
        /// How many.
        resting: u32,
    },
    /// (leg:0) More than one token is queued here.
    Queued {
        /// Where.
        process: ProcessIndex,
        /// How many.
        queued: u32,
    },
    /// (leg:1) The next token ahead is too close.
    TooClose {
        /// The process of the token behind.
        process: ProcessIndex,
        /// Hops from it to the next token.
        distance: u64,
        /// d.
        required: u32,
    },
    /// (leg:2) The counter runs, but the token that should have set it is not
    /// where it should be by now.
    Astray {
        /// Where.
        process: ProcessIndex,
        /// c.
        counter: i32,
        /// Hops ahead to the nearest token (Rdist).
        ahead: u64,
    },
    /// (leg:3) The next token will arrive before the counter has run down.
    ///
    /// Never the first reason, because (leg:3) follows from the clauses before it:
    /// a running counter puts a token C - c ahead (leg:2), and one at most c behind
    /// would be within C of that one (leg:1). Kept because the paper has it.
    TooSoon {
        /// Where.
        process: ProcessIndex,
        /// c.
        counter: i32,
        /// Hops back to the nearest token (Ldist).
        behind: u64,
    },
    /// (leg:4) A token was just released, but the counter does not say so.
    NotSet {
        /// Where.
        process: ProcessIndex,
        /// c.
        counter: i32,
        /// C.
        top: i32,
    },
    /// A measuring process uses a wrong base, or is about to.
    Mismeasured {
        /// Where.
        process: ProcessIndex,
        /// The base it uses, or will use.
        base: i32,
        /// ⌊n/m⌋ - 1.
        expected: i32,
    },
}

impl Illegitimate {
    /// The clause that fails.
    pub const fn clause(self) -> Clause {
        match self {
            Illegitimate::Tokens { .. }
            | Illegitimate::Resting { .. }
            | Illegitimate::Queued { .. } => Clause::Leg0,
            Illegitimate::TooClose { .. } => Clause::Leg1,
            Illegitimate::Astray { .. } => Clause::Leg2,
            Illegitimate::TooSoon { .. } => Clause::Leg3,
            Illegitimate::NotSet { .. } => Clause::Leg4,
            Illegitimate::Mismeasured { .. } => Clause::Measured,
        }
    }

    /// The process at which it fails; `None` when it is the ring's total.
    pub const fn process(self) -> Option<ProcessIndex> {
        match self {
            Illegitimate::Tokens { .. } => None,
            Illegitimate::Resting { process, .. }
            | Illegitimate::Queued { process, .. }
            | Illegitimate::TooClose { process, .. }
            | Illegitimate::Astray { process, .. }
            | Illegitimate::TooSoon { process, .. }
            | Illegitimate::NotSet { process, .. }
            | Illegitimate::Mismeasured { process, .. } => Some(process),
        }
    }
}

impl fmt::Display for Illegitimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Illegitimate::Tokens { expected, found } => {
                write!(f, "there are {found} tokens, not {expected}")
            }
            Illegitimate::Resting { process, resting } => {
                write!(f, "process {process} has {resting} resting")
            }
            Illegitimate::Queued { process, queued } => {
                write!(f, "process {process} has {queued} queued at once")
            }
            Illegitimate::TooClose {
                process,
                distance,
                required,
            } => write!(
                f,
                "the token at process {process} is {distance} behind the next, not {required}"
            ),
            Illegitimate::Astray {
                process,
                counter,
                ahead,
            } => write!(
                f,
                "process {process} counts {counter}, but the token ahead is {ahead} away"
            ),
            Illegitimate::TooSoon {
                process,
                counter,
                behind,
            } => write!(
                f,
                "process {process} counts {counter}, but a token is only {behind} behind"
            ),
            Illegitimate::NotSet {
                process,
                counter,
                top,
            } => write!(
                f,
                "process {process} has just released a token, but counts {counter}, not {top}"
            ),
            Illegitimate::Mismeasured {
                process,
                base,
                expected,
            } => write!(
                f,
                "process {process} measures a separation of {}, not {}",
                i64::from(base) + 1,
                i64::from(expected) + 1
            ),
        }
    }
}

impl core::error::Error for Illegitimate {}

/// Whether the state is legitimate for `tokens` tokens.
///
/// Takes O(n) time and no memory. [`crate::Ring::legitimate`] is the same for a
/// ring and configuration.
///
/// # Errors
///
/// The first clause that fails, in the order of [`Clause`], at the first process
/// at which it does.
pub fn check(
    separation: Separation,
    programs: &[Program],
    processes: &[Process],
    measuring: &[Measuring],
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
            let counter = self.processes[process].counter;
            let top = self.top;
            if lifted == behind {
                if counter != top {
                    keep_first(
                        first,
                        Illegitimate::NotSet {
                            process,
                            counter,
                            top,
                        },
                    );
                }
                continue;
            }
            let (to_next, to_previous) = (ahead - lifted, lifted - behind);
            let due = i64::from(top) - i64::from(counter);
            // A negative counter (as printed) never runs down: no token sets it.
            if counter < 0 || (counter > 0 && to_next as i64 != due) {
                keep_first(
                    first,
                    Illegitimate::Astray {
                        process,
                        counter,
                        ahead: to_next,
                    },
                );
            }
            if to_previous as i64 <= i64::from(counter) {
                keep_first(
                    first,
                    Illegitimate::TooSoon {
                        process,
                        counter,
                        behind: to_previous,
                    },
                );
            }
        }
    }

    /// The clause [`Clause::Measured`], in a state where all others hold.
    fn measurements(&self, measuring: &[Measuring], top: i32) -> Result<(), Illegitimate> {
        let measurers = (0..self.programs.len()).filter(|&index| self.programs[index].measures());
        for (process, variables) in measurers.zip(measuring) {
            let right = |base: i32| {
                let expected = top;
                let wrong = Illegitimate::Mismeasured {
                    process,
                    base,
                    expected,
                };
                if base == top { Ok(()) } else { Err(wrong) }
            };
            right(variables.base)?;
            let printed = self.programs[process] == Program::MeasureAsPrinted;
            // As printed, the decrement comes before the test, and -1 is possible.
            let skipped = |ignore: i64| (ignore - i64::from(printed)).max(0) as u64;
            let base_in = |variables: &Measuring, rounds| match printed {
                true => variables.base_after(variables.elapsed_in(rounds)),
                false => variables.base_in(rounds),
            };
            if variables.timing {
                let arrival = self.rounds_to_arrival(process, skipped(variables.ignore.into()));
                arrival.map_or(Ok(()), |rounds| right(base_in(variables, rounds)))?;
            }
            // Later ones start at 0 with all other tokens to ignore, at any token.
            let elapsed = 0;
            let later = Measuring {
                elapsed,
                ..*variables
            };
            let others = skipped(i64::from(variables.tokens) - 1);
            for token in self.timed_tokens(others) {
                let arrival = self.rounds_to_arrival(token, others);
                arrival.map_or(Ok(()), |rounds| right(base_in(&later, rounds)))?;
            }
        }
        Ok(())
    }

    /// The tokens whose timing has to be looked at when `skipped` others are let
    /// pass: one suffices when that makes whole turns, whichever token it is.
    fn timed_tokens(&self, skipped: u64) -> impl Iterator<Item = ProcessIndex> + '_ {
        let all = (0..self.processes.len()).filter(|&index| self.has_token(index));
        let tokens = all.clone().count();
        let whole_turns = tokens > 0 && (skipped + 1).is_multiple_of(tokens as u64);
        all.take(if whole_turns { 1 } else { tokens })
    }

    /// Rounds until a token has arrived at `process` after `skipped` others, when
    /// every token moves in every round. `None` when there is no token.
    fn rounds_to_arrival(&self, process: ProcessIndex, skipped: u64) -> Option<u64> {
        let n = self.processes.len();
        let tokens = (0..n).filter(|&index| self.has_token(index)).count() as u64;
        if tokens == 0 {
            return None;
        }
        let (turns, mut left) = (skipped / tokens, skipped % tokens);
        for hops in 1..=n {
            if self.has_token((process + n - hops) % n) {
                if left == 0 {
                    return Some(turns * n as u64 + hops as u64);
                }
                left -= 1;
            }
        }
        None
    }
}
