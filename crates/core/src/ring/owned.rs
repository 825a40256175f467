//! A ring with memory of its own.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::bound::{self, WorstCase};
use crate::legitimate::{self, Illegitimate};
use crate::{Configuration, ProcessIndex, Program, Separation};

/// Which process runs what, and the separation d. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    separation: Separation,
    programs: Vec<Program>,
}

impl Ring {
    /// A ring of the given programs.
    ///
    /// # Errors
    ///
    /// [`RingError::Empty`] without processes, [`RingError::TooLarge`] with
    /// more than 2^32.
    pub fn new(separation: Separation, programs: Vec<Program>) -> Result<Ring, RingError> {
        if programs.is_empty() {
            return Err(RingError::Empty);
        }
        if programs.len() as u64 > 1 << 32 {
            return Err(RingError::TooLarge);
        }
        Ok(Ring {
            separation,
            programs,
        })
    }

    /// A ring of `processes` relays, except for delays at the given places.
    ///
    /// # Errors
    ///
    /// As [`Ring::new`]; [`RingError::OutOfRange`] when a place is not on the
    /// ring.
    pub fn with_delays(
        separation: Separation,
        processes: usize,
        delays: impl IntoIterator<Item = ProcessIndex>,
    ) -> Result<Ring, RingError> {
        let mut programs = vec![Program::Relay; processes];
        for index in delays {
            *programs.get_mut(index).ok_or(RingError::OutOfRange)? = Program::Delay;
        }
        Ring::new(separation, programs)
    }

    /// n, never 0.
    #[expect(clippy::len_without_is_empty, reason = "a ring is never empty")]
    pub fn len(&self) -> usize {
        self.programs.len()
    }

    /// d.
    pub fn separation(&self) -> Separation {
        self.separation
    }

    /// What each process runs.
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// The processes that delay (measuring ones included), ascending.
    pub fn delays(&self) -> impl Iterator<Item = ProcessIndex> + Clone + '_ {
        (0..self.len()).filter(|&index| self.programs[index].delays())
    }

    /// How many processes delay. O(n).
    pub fn delay_count(&self) -> usize {
        self.delays().count()
    }

    /// The name of the program that its delays run; `mixed` where they differ.
    pub fn program_name(&self) -> &'static str {
        let mut programs = self.delays().map(|at| self.programs[at]);
        let first = programs.next().unwrap_or(Program::Relay);
        match programs.all(|program| program == first) {
            true => first.name(),
            false => "mixed",
        }
    }

    /// The processes that measure, ascending.
    pub fn measurers(&self) -> impl Iterator<Item = ProcessIndex> + '_ {
        (0..self.len()).filter(|&index| self.programs[index].measures())
    }

    /// Whether any process measures. O(n).
    pub fn measures(&self) -> bool {
        self.measurers().next().is_some()
    }

    /// Whether tokens carry counts, because some process reads them. O(n).
    pub fn reads_counts(&self) -> bool {
        self.programs.iter().any(|program| program.reads_counts())
    }

    /// Whether `tokens` can be kept apart on this ring: m·d ≤ n.
    pub fn fits(&self, tokens: u64) -> bool {
        self.separation.fits(self.len() as u64, tokens)
    }

    /// L: the largest clockwise distance from one delay to the next; `None` when
    /// no process delays.
    pub fn widest_gap(&self) -> Option<u64> {
        bound::widest_gap(self.delays().map(|at| at as u64), self.len() as u64)
    }

    /// The proved worst case over all initial states with `tokens` tokens. `None`
    /// where no closed form applies: without tokens or delays, with more tokens
    /// than fit, and where a process measures.
    ///
    /// ```
    /// use headway_core::{Ring, Separation};
    /// let ring = Ring::with_delays(Separation::new(5).unwrap(), 24, [0]).unwrap();
    /// assert_eq!(ring.worst_case(4).unwrap().last_rest, 38);
    /// assert_eq!(ring.worst_case(5), None, "25 processes are needed");
    /// ```
    pub fn worst_case(&self, tokens: u64) -> Option<WorstCase> {
        if self.measures() || !self.fits(tokens) {
            return None;
        }
        let (n, d) = (self.len() as u64, self.separation.hops());
        let gaps = bound::gaps(self.delays().map(|at| at as u64), n);
        Some(WorstCase {
            last_rest: bound::worst_last_rest(tokens, d, self.widest_gap()?)?,
            legitimate_at: bound::worst_legitimate_at(tokens, d, gaps)?,
        })
    }

    /// One synchronous round, in place.
    pub fn round(&self, configuration: &mut Configuration) {
        let Configuration {
            processes,
            measuring,
            counts,
        } = configuration;
        let (d, programs, measuring) = (self.separation, &self.programs, measuring.values_mut());
        match counts.is_empty() {
            true => super::round(d, programs, processes, measuring),
            false => super::round_with_counts(d, programs, processes, measuring, counts),
        }
    }

    /// The state after one round: the round as a pure function.
    #[must_use]
    pub fn after_round(&self, configuration: &Configuration) -> Configuration {
        let mut after = configuration.clone();
        self.round(&mut after);
        after
    }

    /// Whether the state is legitimate for `tokens` tokens; if not, the first
    /// clause that fails and where.
    ///
    /// # Errors
    ///
    /// The [`Illegitimate`] is the answer "no, because".
    pub fn legitimate(
        &self,
        configuration: &Configuration,
        tokens: u64,
    ) -> Result<(), Illegitimate> {
        legitimate::check_with_counts(
            self.separation,
            &self.programs,
            &configuration.processes,
            configuration.measuring.values(),
            &configuration.counts,
            tokens,
        )
    }
}

/// Why there is no such ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingError {
    /// A ring needs at least one process.
    Empty,
    /// A ring has at most 2^32 processes.
    TooLarge,
    /// A place named is not on the ring.
    OutOfRange,
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RingError::Empty => "a ring needs at least one process",
            RingError::TooLarge => "a ring has at most 2^32 processes",
            RingError::OutOfRange => "a process named is not on the ring",
        })
    }
}

impl core::error::Error for RingError {}
