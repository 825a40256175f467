//! delay/relay: every initial state of a ring with given programs.
//!
//! Three ways to one answer. [`Explicit`] visits every state, one byte each.
//! [`reduced::explore`] follows sets of states that share a fate, and [`piles::explore`]
//! counts the states of a uniform ring without following any; the reductions are proved
//! in their documentation and compared by the tests.

mod all_placements;
mod explicit;
pub mod piles;
pub mod reduced;
mod report;

pub use explicit::Explicit;
pub(super) use report::file;
pub use report::{check, check_by_cases, check_every_state};

use std::fmt;

use headway_core::bound::widest_gap;
use headway_core::{Process, Program, Ring, Separation};
use headway_sim::placement::Delays;
use num_bigint::BigUint;

use crate::error::{CheckError, Result, TooLarge};
use crate::placements;
use crate::settings::{Tokens, places, separation, settings};

/// Rings up to this size are explored; larger ones have too many states anyway.
pub const MAX_PROCESSES: usize = 64;
const MAX_TOKENS: usize = 255;

settings! {
    /// A ring of delays and relays, or all of one size.
    Settings {
        /// Number of processes
        processes: usize = 12, "N";
        /// Number of tokens
        tokens: Tokens = Tokens::UpTo(3), "M";
        /// Hops to keep between successive tokens [default: N/M]
        separation: Option<u32> = None, "D";
        /// Which processes delay: all, every:K or at:0,5,9
        delays: Delays = Delays::All, "WHICH";
        /// Check every placement of delays, one per rotation
        all_placements: bool = false, "", not delays;
        /// Visit every single state, without the reductions
        unreduced: bool = false, "";
    }
}

/// A ring of delays and relays, and how many tokens circulate on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    ring: Ring,
    tokens: usize,
}

impl Instance {
    /// `ring` with `tokens` tokens.
    ///
    /// # Errors
    ///
    /// When a process measures, the ring is larger than [`MAX_PROCESSES`], or there
    /// are more than 255 tokens.
    pub fn new(ring: Ring, tokens: usize) -> Result<Instance> {
        if ring.programs().iter().any(|program| program.measures()) {
            return Err(CheckError::settings(
                "delay-relay: no process may measure; use the model measure",
            ));
        }
        TooLarge::bound("processes", ring.len(), MAX_PROCESSES as u64)?;
        TooLarge::bound("tokens", tokens, MAX_TOKENS as u64)?;
        Ok(Instance { ring, tokens })
    }

    /// A ring on which every process delays.
    ///
    /// # Errors
    ///
    /// As [`Instance::new`]; also for 0 processes.
    pub fn uniform(processes: usize, tokens: usize, separation: u32) -> Result<Instance> {
        Instance::with_delays(processes, tokens, separation, 0..processes)
    }

    /// A ring with delays at the given places.
    ///
    /// # Errors
    ///
    /// As [`Instance::new`]; also for 0 processes, a separation of 0 or a place
    /// that is not on the ring.
    pub fn with_delays(
        processes: usize,
        tokens: usize,
        separation: u32,
        delays: impl IntoIterator<Item = usize>,
    ) -> Result<Instance> {
        TooLarge::bound("processes", processes, MAX_PROCESSES as u64)?;
        let separation = Separation::new(separation)
            .ok_or_else(|| CheckError::settings("the separation must be from 1 to 2147483648"))?;
        let ring = Ring::with_delays(separation, processes, delays)
            .map_err(|error| CheckError::settings(error.to_string()))?;
        Instance::new(ring, tokens)
    }

    /// The ring that settings describe.
    pub(crate) fn of(
        processes: usize,
        tokens: Tokens,
        given: Option<u32>,
        delays: &Delays,
    ) -> Result<Instance> {
        let tokens = tokens.on(processes);
        let separation = separation(given, processes, tokens);
        // Refused, before its delays are listed.
        TooLarge::bound("processes", processes, MAX_PROCESSES as u64)?;
        Instance::with_delays(processes, tokens, separation, places(delays, processes)?)
    }

    /// The ring.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// m.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// n.
    pub fn processes(&self) -> usize {
        self.ring.len()
    }

    /// d.
    pub fn separation(&self) -> u32 {
        self.ring.separation().hops()
    }

    /// m·d ≤ n and some process delays: what the paper's theorem asks.
    pub fn feasible(&self) -> bool {
        let fits = self
            .ring
            .separation()
            .fits(self.processes() as u64, self.tokens as u64);
        fits && self.ring.delays().next().is_some()
    }

    /// L, the largest distance from one delay to the next; `None` without delays.
    pub fn widest_gap(&self) -> Option<u64> {
        let delays = self.ring.delays().map(|delay| delay as u64);
        widest_gap(delays, self.processes() as u64)
    }

    /// All states: placements of m tokens on 2n slots (queued or resting at each
    /// process), times d for every delay's counter.
    pub fn states(&self) -> BigUint {
        let counters = BigUint::from(self.separation()).pow(self.ring.delay_count() as u32);
        placements::count(2 * self.processes(), self.tokens) * counters
    }

    /// The clockwise turns, from 0, that map every program to an equal one.
    pub(crate) fn rotations(&self) -> Vec<usize> {
        let programs = self.ring.programs();
        let n = programs.len();
        (0..n)
            .filter(|&turn| (0..n).all(|i| programs[i] == programs[(i + turn) % n]))
            .collect()
    }

    fn delays_at(&self, process: usize) -> bool {
        self.ring.programs()[process] == Program::Delay
    }
}

/// In words: "9 processes, 3 tokens, separation 3, all delay".
impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, m, d) = (self.processes(), self.tokens, self.separation());
        write!(f, "{n} processes, {m} tokens, separation {d}, ")?;
        let delays: Vec<String> = self.ring.delays().map(|delay| delay.to_string()).collect();
        match &delays[..] {
            [] => f.write_str("no delay"),
            all if all.len() == n => f.write_str("all delay"),
            [one] => write!(f, "delay at {one}"),
            some => write!(f, "delays at {}", some.join(",")),
        }
    }
}

/// The local states on one line: queues, resting tokens, counters.
pub(crate) fn show(processes: &[Process], ring: &Ring) -> String {
    let row = |value: &dyn Fn(usize) -> String| -> String {
        let cells: Vec<String> = (0..processes.len()).map(value).collect();
        cells.join(" ")
    };
    format!(
        "queued {}  resting {}  counter {}",
        row(&|i| processes[i].queued.to_string()),
        row(&|i| processes[i].resting.to_string()),
        row(&|i| if ring.programs()[i].delays() {
            processes[i].counter.to_string()
        } else {
            "-".to_owned()
        }),
    )
}
