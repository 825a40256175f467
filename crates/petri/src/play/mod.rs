//! Running a net.
//!
//! * [`Synchronous`]: maximal steps. In a round every transition fires as often
//!   as the tokens at the start of the round allow; tokens put down in a round
//!   are usable in the next. Holding times play no part.
//! * [`Timed`]: earliest firing. A token is usable a holding time after it was
//!   put down; whatever can fire does so at once. With all holding times 1 the
//!   two agree round by round.
//!
//! Tokens of the initial marking count as put down in round 0. Where transitions
//! compete for a token, the one that comes first in the file gets it, so that a
//! run is reproducible; event graphs have no such conflicts.

mod synchronous;
mod timed;

use thiserror::Error;

use crate::net::TransitionIndex;

pub use synchronous::Synchronous;
pub use timed::{Instant, Timed};

/// Why a net cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotPlayable {
    /// A transition without input places would fire without end in one round.
    #[error(
        "transition number {transition} has no input place, so nothing limits how often it fires \
         in a round; give it a loop of one place with one token"
    )]
    Source {
        /// Which.
        transition: TransitionIndex,
    },
    /// Counting further would be wrong.
    #[error("place number {place} would get more than 2^64-1 tokens, or one after round 2^64-1")]
    Overflow {
        /// Which.
        place: usize,
    },
    /// A circuit that takes no time could fire without end in one instant.
    #[error("place number {place} is on a circuit whose holding times are all 0")]
    NoTime {
        /// A place of the circuit.
        place: usize,
    },
}

/// Transitions that fired together, ascending, and how often each.
pub type Fired = Vec<(u32, u64)>;
