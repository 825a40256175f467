//! The open system of the paper's motivating example (section 3, figure 2).
//!
//! Tokens come from outside to the first process, which is a delay; all others
//! are relays; the last one lets tokens out. With d ≥ 2 tokens end up at least d apart
//! from the second process on, from any state and for any arrivals. With d = 1 a pile at
//! the second process stays as long as a token arrives in every round.

use alloc::vec;
use alloc::vec::Vec;

use crate::program::{delay, relay};
use crate::{Process, ProcessIndex, Separation};

/// An open chain. Process 0 is the paper's p1.
///
/// ```
/// use headway_core::{chain::Chain, Separation};
/// let mut chain = Chain::new(Separation::new(3).unwrap(), 8).unwrap();
/// for round in 1..=20 {
///     chain.round(if round <= 5 { 1 } else { 0 });
///     assert!(chain.min_distance().is_none_or(|hops| hops >= 3));
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    separation: Separation,
    processes: Vec<Process>,
}

impl Chain {
    /// An empty chain; `None` without processes.
    pub fn new(separation: Separation, processes: usize) -> Option<Chain> {
        (processes > 0).then(|| Chain {
            separation,
            processes: vec![Process::default(); processes],
        })
    }

    /// d.
    pub fn separation(&self) -> Separation {
        self.separation
    }

    /// The local states, p1 first.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// The local states, to set up any initial state; the first counter has to
    /// stay below d, all others 0.
    pub fn processes_mut(&mut self) -> &mut [Process] {
        &mut self.processes
    }

    /// One round in which `arriving` tokens come to p1 from outside. Returns how
    /// many leave the chain's end: those the last process had queued.
    pub fn round(&mut self, arriving: u32) -> u32 {
        let top = self.separation.top();
        let mut coming = arriving;
        for (index, process) in self.processes.iter_mut().enumerate() {
            let leaving = process.queued;
            *process = if index == 0 {
                delay::round(*process, coming, top)
            } else {
                relay::round(*process, coming)
            };
            coming = leaving;
        }
        coming
    }

    /// All tokens in the chain.
    pub fn tokens(&self) -> u64 {
        self.processes.iter().map(|process| process.tokens()).sum()
    }

    /// The smallest distance between two tokens from p2 on; `None` when there are
    /// fewer than two.
    pub fn min_distance(&self) -> Option<u64> {
        let mut smallest = None;
        let mut last: Option<ProcessIndex> = None;
        for (index, process) in self.processes.iter().enumerate().skip(1) {
            if process.tokens() == 0 {
                continue;
            }
            let gap = if process.tokens() > 1 {
                Some(0)
            } else {
                last.map(|last| (index - last) as u64)
            };
            smallest = match (smallest, gap) {
                (Some(old), Some(new)) => Some(new.min(old)),
                (old, new) => old.or(new),
            };
            last = Some(index);
        }
        smallest
    }

    /// Whether tokens from p2 on are at least d apart and none rests there.
    pub fn separated(&self) -> bool {
        let required = u64::from(self.separation.hops());
        self.min_distance().is_none_or(|hops| hops >= required)
            && self.processes[1..]
                .iter()
                .all(|process| process.resting == 0)
    }
}
