//! Which values the variables of a ring may have.

use core::fmt;

use crate::{Configuration, Measuring, ProcessIndex, Program, Ring};

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
        if configuration.measuring.len() != self.measurers().len() {
            return Err(Misfit::Measuring {
                expected: self.measurers().len(),
                found: configuration.measuring.len(),
            });
        }
        let mut measuring = configuration.measuring.iter();
        for (index, process) in configuration.processes.iter().enumerate() {
            let program = self.programs()[index];
            let largest = match program {
                Program::Relay => 0,
                Program::Delay => self.separation().top(),
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
