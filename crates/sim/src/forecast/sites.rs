//! Where tokens start and where delays are: the initial state as the forecast
//! reads it, from whole arrays or from lists.
//!
//! The ring is unrolled so that its last position is a delay: with e the last
//! delay, process e+1 is position 0 and e is position n-1. A stretch of relays
//! then always ends at a delay, and none wraps.

use headway_core::{Configuration, Process, ProcessIndex, Program, Ring, bound};
use thiserror::Error;

/// An initial state given by its tokens and delays only, for rings too large to
/// hold. Costs depend on the lengths of the two lists, not on `processes`.
///
/// ```
/// use headway_sim::forecast::{Forecast, SparseRing, TokensAt};
/// let ring = SparseRing {
///     processes: 1_000_000_000_000,
///     separation: 5,
///     tokens: vec![TokensAt { process: 7, queued: 0, resting: 3 }],
///     delays: vec![(9, 2), (500_000_000_000, 0)],
/// };
/// let forecast = Forecast::of_sparse(&ring).unwrap();
/// assert_eq!(forecast.last_rest(), Some(12));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SparseRing {
    /// n, at most 2^61.
    pub processes: u64,
    /// d, at least 1, at most 2^31.
    pub separation: u32,
    /// Processes with tokens, ascending.
    pub tokens: Vec<TokensAt>,
    /// Delays and their counters, ascending; all other processes relay.
    pub delays: Vec<(u64, u32)>,
}

/// Tokens at one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokensAt {
    /// Where.
    pub process: u64,
    /// On their way to the successor.
    pub queued: u32,
    /// Resting.
    pub resting: u32,
}

/// Why there is no forecast.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForecastError {
    /// The closed form is for delays and relays.
    #[error("process {process} measures; a forecast is for rings of delays and relays")]
    Measures {
        /// The first process that measures.
        process: ProcessIndex,
    },
    /// The state does not fit the ring.
    #[error("the state does not fit the ring")]
    Misfit,
    /// m·d is beyond 2^61.
    #[error("tokens times separation is more than 2^61")]
    TooLarge,
    /// A list of a [`SparseRing`] is wrong.
    #[error("{0}")]
    Sparse(&'static str),
}

/// The initial state, dense or sparse.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sites<'a> {
    Dense {
        programs: &'a [Program],
        processes: &'a [Process],
    },
    Sparse(&'a SparseRing),
}

/// Processes that are looked at for [`Sites::starts_hint`].
const SAMPLE: usize = 10_000;

/// What a scan meets, in ascending positions: tokens at a position come before
/// the delay there.
pub(super) trait Visitor {
    /// `resting` tokens rest here and `arriving` are queued one before.
    fn tokens(&mut self, at: u64, resting: u32, arriving: u32);
    /// A delay with its counter.
    fn delay(&mut self, at: u64, counter: u32);
    /// Delays next to one another without tokens; most of a large ring.
    fn delays(&mut self, at: u64, run: &[Process]) {
        for (at, process) in (at..).zip(run) {
            self.delay(at, process.counter as u32);
        }
    }
}

impl<'a> Sites<'a> {
    pub(super) fn dense(ring: &'a Ring, state: &'a Configuration) -> Result<Self, ForecastError> {
        if let Some(process) = ring.measurers().next() {
            return Err(ForecastError::Measures { process });
        }
        if state.processes.len() != ring.len() {
            return Err(ForecastError::Misfit);
        }
        Ok(Sites::Dense {
            programs: ring.programs(),
            processes: &state.processes,
        })
    }

    pub(super) fn sparse(ring: &'a SparseRing) -> Result<Self, ForecastError> {
        let wrong = |reason| Err(ForecastError::Sparse(reason));
        if ring.processes == 0 || ring.processes > 1 << 61 {
            return wrong("a ring has 1 to 2^61 processes");
        }
        if ring.separation == 0 || ring.separation > 1 << 31 {
            return wrong("the separation is 1 to 2^31");
        }
        if !ascending(ring.tokens.iter().map(|t| t.process), ring.processes) {
            return wrong("tokens have to be in ascending order of processes on the ring");
        }
        if !ascending(ring.delays.iter().map(|d| d.0), ring.processes) {
            return wrong("delays have to be in ascending order of processes on the ring");
        }
        if ring.delays.iter().any(|d| d.1 >= ring.separation) {
            return wrong("a counter has to be below the separation");
        }
        Ok(Sites::Sparse(ring))
    }

    /// n.
    pub(super) fn len(self) -> u64 {
        match self {
            Sites::Dense { processes, .. } => processes.len() as u64,
            Sites::Sparse(ring) => ring.processes,
        }
    }

    /// About how many places tokens start at, so that lists need not grow: exact
    /// for a list, from a sample for a large ring.
    pub(super) fn starts_hint(self) -> usize {
        match self {
            Sites::Dense { processes, .. } => {
                let step = processes.len().div_ceil(SAMPLE);
                let sample = processes.iter().step_by(step);
                let with_tokens = sample.filter(|process| process.tokens() > 0).count();
                (with_tokens * step + with_tokens * step / 8).min(processes.len())
            }
            Sites::Sparse(ring) => ring.tokens.len(),
        }
    }

    /// The last process that delays.
    pub(super) fn last_delay(self) -> Option<u64> {
        match self {
            Sites::Dense { programs, .. } => {
                let last = programs.iter().rposition(|&p| p == Program::Delay);
                last.map(|index| index as u64)
            }
            Sites::Sparse(ring) => ring.delays.last().map(|delay| delay.0),
        }
    }

    /// L: the largest distance from one delay to the next.
    pub(super) fn widest_gap(self) -> Option<u64> {
        match self {
            Sites::Dense { programs, .. } => {
                let places = (0..).zip(programs).filter(|(_, p)| **p == Program::Delay);
                bound::widest_gap(places.map(|(at, _)| at), self.len())
            }
            Sites::Sparse(ring) => {
                bound::widest_gap(ring.delays.iter().map(|delay| delay.0), self.len())
            }
        }
    }

    /// Shows the visitor the whole ring, from process `from` once round: from 0, or from
    /// behind the last delay.
    pub(super) fn scan(self, from: u64, visitor: &mut impl Visitor) {
        match self {
            Sites::Dense {
                programs,
                processes,
            } => scan_dense(programs, processes, from as usize, visitor),
            Sites::Sparse(ring) => scan_sparse(ring, from, visitor),
        }
    }
}

fn ascending(mut processes: impl Iterator<Item = u64>, n: u64) -> bool {
    let mut next = 0;
    processes.all(|process| {
        let fits = process >= next && process < n;
        next = process.saturating_add(1);
        fits
    })
}

fn scan_dense(
    programs: &[Program],
    processes: &[Process],
    from: usize,
    visitor: &mut impl Visitor,
) {
    let n = processes.len();
    let mut arriving = processes[(from + n - 1) % n].queued;
    let mut at = 0;
    for range in [from..n, 0..from] {
        let (processes, programs) = (&processes[range.clone()], &programs[range]);
        let mut index = 0;
        while let (Some(process), Some(&program)) = (processes.get(index), programs.get(index)) {
            if process.resting | arriving != 0 {
                visitor.tokens(at, process.resting, arriving);
            }
            if program == Program::Delay {
                visitor.delay(at, process.counter as u32);
            }
            arriving = process.queued;
            index += 1;
            at += 1;
            if arriving > 0 {
                continue;
            }
            // Where nothing arrives, long stretches without tokens are passed quickly.
            loop {
                let delays = plain(&processes[index..], &programs[index..], Program::Delay);
                visitor.delays(at, &processes[index..index + delays]);
                index += delays;
                let relays = plain(&processes[index..], &programs[index..], Program::Relay);
                index += relays;
                let passed = delays + relays;
                at += passed as u64;
                if passed == 0 {
                    break;
                }
            }
        }
    }
}

/// How many of the first processes run this program and have no tokens.
fn plain(processes: &[Process], programs: &[Program], program: Program) -> usize {
    let differs = |(process, &other): (&Process, &Program)| {
        process.queued | process.resting != 0 || other != program
    };
    let mut both = processes.iter().zip(programs);
    both.position(differs).unwrap_or(processes.len())
}

fn scan_sparse(ring: &SparseRing, from: u64, visitor: &mut impl Visitor) {
    let n = ring.processes;
    let position = |process: u64| (process + n - from) % n;
    // Where tokens start: queued ones one further on. Two ascending stretches, which is
    // what sorting is quick about.
    let starts = |start: &dyn Fn(&TokensAt) -> (u64, u32)| {
        let mut starts: Vec<(u64, u32)> = ring.tokens.iter().map(start).collect();
        starts.sort();
        starts.into_iter().peekable()
    };
    let mut resting = starts(&|entry| (position(entry.process), entry.resting));
    let mut queued = starts(&|entry| (position(entry.process + 1), entry.queued));
    // All delays are before `from`, or none is: they ascend as they are.
    let delays = ring.delays.iter();
    let mut delays = delays.map(|d| (position(d.0), d.1)).peekable();
    loop {
        let next = [resting.peek(), queued.peek(), delays.peek()];
        let Some(at) = next.into_iter().flatten().map(|entry| entry.0).min() else {
            return;
        };
        let rest = resting
            .next_if(|entry| entry.0 == at)
            .map_or(0, |entry| entry.1);
        let arrive = queued
            .next_if(|entry| entry.0 == at)
            .map_or(0, |entry| entry.1);
        if rest | arrive != 0 {
            visitor.tokens(at, rest, arrive);
        }
        if let Some((_, counter)) = delays.next_if(|entry| entry.0 == at) {
            visitor.delay(at, counter);
        }
    }
}
