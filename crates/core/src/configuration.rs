//! A global state.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::{Measuring, Process, ProcessIndex, Ring};

/// Most tokens where each carries a count.
pub const MAX_COUNTED_TOKENS: u64 = 1 << 24;

/// The variables of all processes: a global state.
///
/// Only a [`Ring`] gives it meaning; [`Ring::admits`] says whether it fits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// One local state per process.
    pub processes: Vec<Process>,
    /// The further variables of every process that measures.
    pub measuring: BTreeMap<ProcessIndex, Measuring>,
    /// The counts that tokens carry, as [`crate::ring::round_with_counts`] orders them:
    /// one for each token where a program reads them, none elsewhere.
    pub counts: Vec<u32>,
}

impl Configuration {
    /// No tokens, all counters run down, nothing measured; `tokens` and
    /// `limit` are the parameters of measuring processes.
    pub fn empty(ring: &Ring, tokens: u32, limit: u32) -> Configuration {
        Configuration {
            processes: vec![Process::default(); ring.len()],
            measuring: ring
                .measurers()
                .map(|process| (process, Measuring::new(tokens, limit)))
                .collect(),
            counts: Vec::new(),
        }
    }

    /// All tokens resting at one process, all counters run down. Measuring
    /// processes know the number of tokens and a limit of 2n.
    ///
    /// # Panics
    ///
    /// When `process` is not on the ring.
    pub fn piled(ring: &Ring, tokens: u32, process: ProcessIndex) -> Configuration {
        let mut piled = Configuration::empty(ring, tokens, Measuring::default_limit(ring.len()));
        piled.processes[process].resting = tokens;
        if ring.reads_counts() {
            piled.counts = vec![0; tokens as usize];
        }
        piled
    }

    /// m: all tokens, queued or resting.
    pub fn tokens(&self) -> u64 {
        self.processes.iter().map(|process| process.tokens()).sum()
    }

    /// Tokens that rest.
    pub fn resting(&self) -> u64 {
        self.processes
            .iter()
            .map(|process| u64::from(process.resting))
            .sum()
    }
}

impl From<Vec<Process>> for Configuration {
    /// A state of a ring where no process measures.
    fn from(processes: Vec<Process>) -> Configuration {
        Configuration {
            processes,
            measuring: BTreeMap::new(),
            counts: Vec::new(),
        }
    }
}
