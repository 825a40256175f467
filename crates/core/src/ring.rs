//! All processes together: one synchronous round.
//!
//! [`round`] works on slices and needs no heap. [`Ring`] and [`Configuration`]
//! own their parts: which process runs what, and the variables of all of them.

use crate::program::{delay, measure, measure_as_printed};
use crate::{Measuring, Process, Program, Separation};

#[cfg(feature = "alloc")]
pub use owned::{Configuration, Misfit, Ring, RingError};

/// One synchronous round of the whole ring, in place.
///
/// `measuring` holds the further variables of the measuring processes, in ring
/// order. Every process reads only its own old state and its predecessor's old
/// queue, so the result does not depend on the order of evaluation.
///
/// # Panics
///
/// When `programs` and `processes` differ in length, or `measuring` is shorter
/// than the number of measuring programs.
///
/// ```
/// use headway_core::{ring, Process, Program, Separation};
/// let mut processes = [Process::default(); 4];
/// processes[3].queued = 1;
/// let programs = [Program::Delay, Program::Relay, Program::Relay, Program::Relay];
/// ring::round(Separation::new(2).unwrap(), &programs, &mut processes, &mut []);
/// assert_eq!(processes[0], Process { queued: 1, resting: 0, counter: 1 });
/// ```
pub fn round(
    separation: Separation,
    programs: &[Program],
    processes: &mut [Process],
    measuring: &mut [Measuring],
) {
    assert_eq!(programs.len(), processes.len(), "one program per process");
    let Some(last) = processes.last() else { return };
    let top = separation.top();
    let mut arriving = last.queued;
    let mut measuring = measuring.iter_mut();
    for (process, &program) in processes.iter_mut().zip(programs) {
        let leaving = process.queued;
        *process = match program {
            // A relay is a delay whose counter starts again from 0; written so,
            // the loop has no branch that random placements could mispredict.
            Program::Delay | Program::Relay => {
                let top = if matches!(program, Program::Delay) {
                    top
                } else {
                    0
                };
                delay::round(*process, arriving, top)
            }
            Program::Measure | Program::MeasureAsPrinted => {
                let variables = measuring.next().expect("variables for every measurer");
                let step = if matches!(program, Program::Measure) {
                    measure::round
                } else {
                    measure_as_printed::round
                };
                let (after, measured) = step(*process, *variables, arriving);
                *variables = measured;
                after
            }
        };
        arriving = leaving;
    }
}

#[cfg(feature = "alloc")]
mod owned {
    use alloc::vec;
    use alloc::vec::Vec;
    use core::fmt;

    use crate::legitimate::{self, Illegitimate};
    use crate::{Measuring, Process, ProcessIndex, Program, Separation};

    /// Which process runs what, and the separation d. Never empty.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Ring {
        separation: Separation,
        programs: Vec<Program>,
        /// Where `programs` measure, ascending: derived, kept for quick look-up.
        measurers: Vec<ProcessIndex>,
    }

    /// The variables of all processes: a global state.
    ///
    /// Only a [`Ring`] gives it meaning; [`Ring::admits`] says whether it fits.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct Configuration {
        /// One local state per process.
        pub processes: Vec<Process>,
        /// The further variables of the measuring processes, in ring order.
        pub measuring: Vec<Measuring>,
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
            let measurers = (0..programs.len())
                .filter(|&index| programs[index].measures())
                .collect();
            Ok(Ring {
                separation,
                programs,
                measurers,
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
        pub fn delays(&self) -> impl Iterator<Item = ProcessIndex> + '_ {
            (0..self.len()).filter(|&index| self.programs[index].delays())
        }

        /// The processes that measure, ascending; in step with
        /// [`Configuration::measuring`].
        pub fn measurers(&self) -> &[ProcessIndex] {
            &self.measurers
        }

        /// One synchronous round, in place.
        pub fn round(&self, configuration: &mut Configuration) {
            super::round(
                self.separation,
                &self.programs,
                &mut configuration.processes,
                &mut configuration.measuring,
            );
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
            legitimate::check(
                self.separation,
                &self.programs,
                &configuration.processes,
                &configuration.measuring,
                tokens,
            )
        }

        /// Whether every variable is in its domain.
        ///
        /// # Errors
        ///
        /// The first [`Misfit`] found, by process.
        pub fn admits(&self, configuration: &Configuration) -> Result<(), Misfit> {
            if configuration.processes.len() != self.len() {
                return Err(Misfit::Processes {
                    expected: self.len(),
                    found: configuration.processes.len(),
                });
            }
            if configuration.measuring.len() != self.measurers.len() {
                return Err(Misfit::Measuring {
                    expected: self.measurers.len(),
                    found: configuration.measuring.len(),
                });
            }
            let mut measuring = configuration.measuring.iter();
            for (index, process) in configuration.processes.iter().enumerate() {
                let program = self.programs[index];
                let largest = match program {
                    Program::Relay => 0,
                    Program::Delay => self.separation.top(),
                    Program::Measure | Program::MeasureAsPrinted => {
                        let variables = measuring.next().expect("counted above");
                        admits_measuring(index, program, variables)?;
                        variables.largest_base()
                    }
                };
                let smallest = smallest_value(program);
                if !(smallest..=largest).contains(&process.counter) {
                    return Err(Misfit::Counter {
                        process: index,
                        counter: process.counter,
                        largest,
                    });
                }
            }
            if configuration.tokens() > u64::from(u32::MAX) {
                return Err(Misfit::TooManyTokens {
                    found: configuration.tokens(),
                });
            }
            Ok(())
        }
    }

    /// The printed program reaches -1 by itself; no other program can.
    fn smallest_value(program: Program) -> i32 {
        if program == Program::MeasureAsPrinted {
            -1
        } else {
            0
        }
    }

    fn admits_measuring(
        process: ProcessIndex,
        program: Program,
        variables: &Measuring,
    ) -> Result<(), Misfit> {
        let misfit = |field| Err(Misfit::Variable { process, field });
        if variables.tokens == 0 {
            return misfit("tokens");
        }
        if variables.limit == 0 || variables.limit > i32::MAX as u32 {
            return misfit("limit");
        }
        if variables.elapsed > variables.limit {
            return misfit("elapsed");
        }
        let printed = program == Program::MeasureAsPrinted;
        if i64::from(variables.ignore) >= i64::from(variables.tokens)
            || (variables.ignore < 0 && !printed)
        {
            return misfit("ignore");
        }
        if !(smallest_value(program)..=variables.largest_base()).contains(&variables.base) {
            return misfit("base");
        }
        Ok(())
    }

    impl Configuration {
        /// No tokens, all counters run down, nothing measured; `tokens` and
        /// `limit` are the parameters of measuring processes.
        pub fn empty(ring: &Ring, tokens: u32, limit: u32) -> Configuration {
            Configuration {
                processes: vec![Process::default(); ring.len()],
                measuring: vec![Measuring::new(tokens, limit); ring.measurers().len()],
            }
        }

        /// All tokens resting at one process, all counters run down. Measuring
        /// processes know the number of tokens and a limit of 2n.
        ///
        /// # Panics
        ///
        /// When `process` is not on the ring.
        pub fn piled(ring: &Ring, tokens: u32, process: ProcessIndex) -> Configuration {
            let mut piled = Configuration::empty(ring, tokens, default_limit(ring.len()));
            piled.processes[process].resting = tokens;
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

    /// Where a measuring process's `elapsed` saturates unless it is told
    /// otherwise: twice the ring's size, at most `i32::MAX`.
    pub fn default_limit(processes: usize) -> u32 {
        u32::try_from(processes.saturating_mul(2))
            .unwrap_or(u32::MAX)
            .min(i32::MAX as u32)
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

    /// How a configuration does not fit a ring. Nothing was changed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Misfit {
        /// Not one local state per process.
        Processes {
            /// n.
            expected: usize,
            /// Local states there are.
            found: usize,
        },
        /// Not one set of measuring variables per measuring process.
        Measuring {
            /// Measuring processes.
            expected: usize,
            /// Sets there are.
            found: usize,
        },
        /// A counter is outside its domain.
        Counter {
            /// Where.
            process: ProcessIndex,
            /// Its value.
            counter: i32,
            /// The largest value allowed there.
            largest: i32,
        },
        /// A measuring variable is outside its domain.
        Variable {
            /// Where.
            process: ProcessIndex,
            /// Which: the name in the state file.
            field: &'static str,
        },
        /// More tokens than 2^32 - 1.
        TooManyTokens {
            /// How many.
            found: u64,
        },
    }

    impl fmt::Display for Misfit {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                Misfit::Processes { expected, found } => {
                    write!(f, "{found} local states for {expected} processes")
                }
                Misfit::Measuring { expected, found } => write!(
                    f,
                    "{found} sets of measuring variables for {expected} measuring processes"
                ),
                Misfit::Counter {
                    process,
                    counter,
                    largest,
                } => write!(
                    f,
                    "process {process}: counter is {counter}, expected 0 to {largest}"
                ),
                Misfit::Variable { process, field } => {
                    write!(f, "process {process}: {field} is outside its domain")
                }
                Misfit::TooManyTokens { found } => {
                    write!(f, "{found} tokens, at most 2^32-1 can be represented")
                }
            }
        }
    }

    impl core::error::Error for Misfit {}
}

#[cfg(feature = "alloc")]
pub use owned::default_limit;
