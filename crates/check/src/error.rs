//! Why there is no answer.

use num_bigint::BigUint;

use crate::Control;
use crate::protocol::ProtocolError;

/// An answer, or why there is none.
pub type Result<T, E = CheckError> = std::result::Result<T, E>;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The settings make no sense; the message says which and why.
    #[error("{0}")]
    Settings(String),
    /// A setting cannot be had, or not this value of it.
    #[error("{}: {why}", said(name, given.as_deref()))]
    Setting {
        /// Its name, with `_` between words.
        name: String,
        /// What was given for it; nothing where it makes no sense with any value.
        given: Option<String>,
        /// What is wrong.
        why: String,
    },
    /// A protocol file is wrong in a way that only its states, or the scheduler, show.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// Refused before anything was explored.
    #[error("too large: {0}")]
    TooLarge(#[from] TooLarge),
    /// Stopped through [`Control::stop`].
    #[error("stopped{}: {known}", after(*done, *total))]
    Interrupted {
        /// Units of work done.
        done: u64,
        /// Units of work in all.
        total: u64,
        /// What is known so far, as a sentence.
        known: String,
    },
}

/// What an instance exceeds, and what would fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    /// A table over all states does not fit in memory.
    #[error(
        "{states} states need {} bytes of memory at {bytes_per_state} B a state; at most \
         {fits} states fit", states * bytes_per_state
    )]
    Memory {
        /// The states of the instance.
        states: BigUint,
        /// What a state takes.
        bytes_per_state: u64,
        /// The most states that would fit.
        fits: u64,
    },
    /// It would take too long.
    #[error(
        "{steps} steps take up to {} hours on one core; the limit is {limit} steps",
        steps / 3_600_000_000_u64 + 1_u32
    )]
    Work {
        /// The steps to follow.
        steps: BigUint,
        /// [`Limits::work`](crate::Limits::work).
        limit: u64,
    },
    /// The reductions leave too many cases.
    #[error(
        "{states} states in about {} cases; the limit is {limit} cases{}",
        rounded(cases),
        hint(smaller)
    )]
    Cases {
        /// The states of the instance.
        states: BigUint,
        /// The cases expected.
        cases: BigUint,
        /// [`Limits::work`](crate::Limits::work).
        limit: u64,
        /// Similar instances that would fit, such as "3 tokens".
        smaller: Vec<String>,
    },
    /// More than the checker is made for.
    #[error("{given} {what}; the limit is {limit} {what}")]
    Bound {
        /// What there is too much of, in the plural.
        what: &'static str,
        /// How much of it.
        given: BigUint,
        /// The most that can be checked.
        limit: u64,
    },
}

fn said(name: &str, given: Option<&str>) -> String {
    given.map_or(name.to_owned(), |given| format!("{name} {given}"))
}

/// How far it came, where that is known.
fn after(done: u64, total: u64) -> String {
    if total == 0 {
        return String::new();
    }
    format!(" after {done} of {total} units of work")
}

impl CheckError {
    pub(crate) fn settings(message: impl Into<String>) -> CheckError {
        CheckError::Settings(message.into())
    }

    pub(crate) fn meaningless(name: &str, why: String) -> CheckError {
        CheckError::Setting {
            name: name.to_owned(),
            given: None,
            why,
        }
    }

    pub(crate) fn interrupted(control: &Control, known: impl Into<String>) -> CheckError {
        let (done, total) = control.progress();
        CheckError::Interrupted {
            done,
            total,
            known: known.into(),
        }
    }
}

impl TooLarge {
    /// Refuses more than `limit` of something.
    pub(crate) fn bound(
        what: &'static str,
        given: impl Into<BigUint>,
        limit: u64,
    ) -> Result<(), TooLarge> {
        let given = given.into();
        if given > BigUint::from(limit) {
            return Err(TooLarge::Bound { what, given, limit });
        }
        Ok(())
    }
}

/// A number of a few digits in full, a longer one as 2.9·10^22.
fn rounded(number: &BigUint) -> String {
    let digits = number.to_string();
    match digits.len() {
        ..=12 => digits,
        length => {
            let leading: f64 = digits[..3].parse().unwrap_or(0.0);
            format!("{:.1}·10^{}", leading / 100.0, length - 1)
        }
    }
}

fn hint(smaller: &[String]) -> String {
    match smaller {
        [] => "; a smaller ring may fit".to_owned(),
        some => format!("; on this ring {} fit", some.join(" or ")),
    }
}
