//! delay/relay: every initial state of a ring with given programs.
//!
//! Two ways to one answer. [`Explicit`] visits every state, one byte each.
//! [`reduced::explore`] follows sets of states that share a fate; the
//! reductions are proved in its documentation and compared with the explicit
//! answer by the tests.

mod explicit;
pub mod reduced;
mod report;

pub use explicit::Explicit;
pub use report::{all_placements, check};

use headway_core::bound::widest_gap;
use headway_core::{Process, Program, Ring, Separation};

use crate::CheckError;
use crate::ranking::Multisets;

/// Rings up to this size are explored; larger ones have too many states anyway.
pub const LARGEST_RING: usize = 64;

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
    /// When a process measures, the ring is larger than [`LARGEST_RING`], or there
    /// are more than 255 tokens.
    pub fn new(ring: Ring, tokens: usize) -> Result<Instance, CheckError> {
        if ring.programs().iter().any(|program| program.measures()) {
            return Err(CheckError::instance(
                "delay-relay: no process may measure; use the model measure",
            ));
        }
        if ring.len() > LARGEST_RING {
            return Err(CheckError::TooLarge {
                what: format!("{} processes", ring.len()),
                need: "more states than can be followed".into(),
                fits: format!("{LARGEST_RING} processes"),
            });
        }
        if tokens > 255 {
            return Err(CheckError::TooLarge {
                what: format!("{tokens} tokens"),
                need: "more states than can be followed".into(),
                fits: "255 tokens".into(),
            });
        }
        Ok(Instance { ring, tokens })
    }

    /// A ring on which every process delays.
    ///
    /// # Errors
    ///
    /// As [`Instance::new`]; also for 0 processes.
    pub fn uniform(
        processes: usize,
        tokens: usize,
        separation: u32,
    ) -> Result<Instance, CheckError> {
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
    ) -> Result<Instance, CheckError> {
        let separation = Separation::new(separation)
            .ok_or_else(|| CheckError::instance("the separation has to be at least 1"))?;
        let ring = Ring::with_delays(separation, processes, delays)
            .map_err(|error| CheckError::instance(error.to_string()))?;
        Instance::new(ring, tokens)
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
    /// process), times d for every delay's counter. Saturates.
    pub fn states(&self) -> u128 {
        let placements = Multisets::new(2 * self.processes(), self.tokens).count();
        let d = u128::from(self.separation());
        self.ring
            .delays()
            .fold(placements, |product, _| product.saturating_mul(d))
    }

    /// The clockwise turns, from 0, that map every program to an equal one.
    pub(crate) fn rotations(&self) -> Vec<usize> {
        let programs = self.ring.programs();
        let n = programs.len();
        (0..n)
            .filter(|&turn| (0..n).all(|i| programs[i] == programs[(i + turn) % n]))
            .collect()
    }

    /// In words: "9 processes, 3 tokens, separation 3, all delay".
    pub fn describe(&self) -> String {
        let delays: Vec<String> = self.ring.delays().map(|delay| delay.to_string()).collect();
        let placement = match delays.len() {
            0 => "no delay".to_owned(),
            all if all == self.processes() => "all delay".to_owned(),
            1 => format!("delay at {}", delays[0]),
            _ => format!("delays at {}", delays.join(",")),
        };
        format!(
            "{} processes, {} tokens, separation {}, {placement}",
            self.processes(),
            self.tokens,
            self.separation()
        )
    }

    fn delays_at(&self, process: usize) -> bool {
        self.ring.programs()[process] == Program::Delay
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
