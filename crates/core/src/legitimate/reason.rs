//! The clauses, and why a state is not legitimate.

use core::fmt;

use crate::ProcessIndex;

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
    /// Where every delay has the counter of a token that went by, this is never the
    /// first reason: a running counter puts a token C - c ahead (leg:2), and one at
    /// most c behind would be within C of that one (leg:1). Only `shortest-lap`, of
    /// which less is asked, can fail here.
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
