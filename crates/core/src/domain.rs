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
                    if let Some(variable) = out_of_domain(program, variables) {
                        let process = index;
                        return Err(Misfit::Variable { process, variable });
                    }
                    variables.largest_base()
                }
                None if program.delays() => self.separation().top(),
                None => 0,
            };
            if !(smallest_value(program)..=largest).contains(&process.counter) {
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

/// The printed program reaches -1 by itself; no other program can.
fn smallest_value(program: Program) -> i32 {
    -i32::from(program == Program::MeasureAsPrinted)
}

/// The first variable of a measuring process that is outside its domain.
fn out_of_domain(program: Program, variables: &Measuring) -> Option<Variable> {
    let &Measuring {
        tokens,
        limit,
        elapsed,
        ignore,
        base,
        gaps,
        laps,
        ..
    } = variables;
    let printed = program == Program::MeasureAsPrinted;
    let bases = smallest_value(program)..=variables.largest_base();
    let lap = |lap: u32| program != Program::ShortestLapEpochs || (1..=limit).contains(&lap);
    let gap = |gap: u32| program != Program::ShortestLap || gap <= limit;
    [
        (Variable::Tokens, tokens > 0),
        (Variable::Limit, limit > 0 && limit <= i32::MAX as u32),
        (Variable::Elapsed, elapsed <= limit),
        (
            Variable::Ignore,
            i64::from(ignore) < i64::from(tokens) && (ignore >= 0 || printed),
        ),
        (Variable::Base, bases.contains(&base)),
        (Variable::Best, lap(laps.best)),
        (Variable::Last, lap(laps.last)),
        (Variable::Previous, gap(gaps.previous)),
        (Variable::Arrived, gap(gaps.arrived)),
        (Variable::Shortest, gap(gaps.shortest)),
    ]
    .into_iter()
    .find_map(|(variable, fits)| (!fits).then_some(variable))
}

/// A variable or parameter of a measuring process ([`Measuring`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented as fields of Measuring")]
pub enum Variable {
    Tokens,
    Limit,
    Elapsed,
    Ignore,
    Base,
    Best,
    Last,
    Previous,
    Arrived,
    Shortest,
}

impl Variable {
    /// The name in the state file.
    pub const fn name(self) -> &'static str {
        match self {
            Variable::Tokens => "tokens",
            Variable::Limit => "limit",
            Variable::Elapsed => "elapsed",
            Variable::Ignore => "ignore",
            Variable::Base => "base",
            Variable::Best => "best",
            Variable::Last => "last",
            Variable::Previous => "previous",
            Variable::Arrived => "arrived",
            Variable::Shortest => "shortest",
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
