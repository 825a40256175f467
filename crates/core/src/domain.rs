//! Which values the variables of a ring may have.

use core::fmt;

use crate::program::Variable;
use crate::{Configuration, ProcessIndex, Ring};

impl Ring {
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
        let measuring = &configuration.measuring;
        if !self.measurers().eq(measuring.keys().copied()) {
            return Err(Misfit::Measuring {
                expected: self.measurers().count(),
                found: measuring.len(),
            });
        }
        for (index, process) in configuration.processes.iter().enumerate() {
            let program = self.programs()[index];
            let largest = match measuring.get(&index) {
                Some(variables) => {
                    let misfit = |&&variable: &&Variable| {
                        let value = variable.get(variables);
                        value.is_some_and(|v| !variable.domain(program, variables).contains(&v))
                    };
                    if let Some(&variable) = program.variables().iter().find(misfit) {
                        let process = index;
                        return Err(Misfit::Variable { process, variable });
                    }
                    variables.largest_base()
                }
                None if program.delays() => self.separation().top(),
                None => 0,
            };
            if !(program.least_base()..=largest).contains(&process.counter) {
                return Err(Misfit::Counter {
                    process: index,
                    counter: process.counter,
                    largest,
                });
            }
        }
        let found = configuration.tokens();
        if found > u64::from(u32::MAX) {
            return Err(Misfit::TooManyTokens { found });
        }
        let expected = if self.reads_counts() { found } else { 0 };
        match configuration.counts.len() as u64 {
            found if found != expected => Err(Misfit::Counts { expected, found }),
            _ => Ok(()),
        }
    }
}

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
        /// Which.
        variable: Variable,
    },
    /// Not as many counts as tokens that carry one.
    Counts {
        /// Tokens that carry a count.
        expected: u64,
        /// Counts there are.
        found: u64,
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
            Misfit::Variable { process, variable } => {
                let name = variable.name();
                write!(f, "process {process}: {name} is outside its domain")
            }
            Misfit::Counts { expected, found } => {
                write!(f, "{found} counts for {expected} tokens that carry one")
            }
            Misfit::TooManyTokens { found } => {
                write!(f, "{found} tokens, at most 2^32-1 can be represented")
            }
        }
    }
}

impl core::error::Error for Misfit {}
