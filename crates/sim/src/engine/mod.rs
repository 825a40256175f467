//! Lock-step engines: two ways to the same run.
//!
//! Both hold the ring, its state and its tokens, and advance by whole rounds. A
//! property test in `tests/it/engines.rs` shows them equal round by round for all
//! programs.

use headway_core::tokens::Tokens;
use headway_core::{Configuration, Ring, Round};

mod dense;
mod sparse;

pub use dense::Dense;
pub use sparse::Sparse;

/// Something that advances a ring round by round.
pub trait Engine {
    /// The ring.
    fn ring(&self) -> &Ring;

    /// Rounds done since the start.
    fn rounds(&self) -> Round;

    /// One synchronous round.
    fn round(&mut self);

    /// Where the tokens are now, in first-in-first-out order.
    fn tokens(&self) -> &Tokens;

    /// The state now. O(n).
    fn configuration(&self) -> Configuration;

    /// Replaces the state, as a fault does; tokens are numbered anew. The round
    /// number stays.
    fn load(&mut self, configuration: Configuration);
}
