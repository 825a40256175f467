//! What a process does in one round.
//!
//! Each program is a pure function from the old local state and the number of
//! tokens that arrive (the predecessor's old queue) to the new local state. A
//! process therefore writes only its own variables, where the paper's listings
//! also clear the predecessor's queue; `testsuite` holds the literal listings
//! and shows that the two agree.

use core::fmt;
use core::str::FromStr;

pub mod delay;
pub mod measure;
pub mod measure_as_printed;
pub mod relay;
pub mod shortest_lap;

pub use measure::Measuring;
pub use shortest_lap::Laps;

use crate::Process;

/// From the old state, with the number of tokens that arrive, to the new one.
pub type MeasuringRound = fn(Process, Measuring, u32) -> (Process, Measuring);

/// Which program a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Program {
    /// Releases a token, then waits until d rounds have passed ([`delay`]).
    Delay,
    /// Passes on one token a round ([`relay`]).
    Relay,
    /// A delay that measures the ring and so finds d = ⌊n/m⌋ ([`measure`]).
    Measure,
    /// The same as the paper prints it, two errors included
    /// ([`measure_as_printed`]).
    MeasureAsPrinted,
    /// A delay that uses the shortest lap of late, at any number of processes
    /// ([`shortest_lap`]).
    ShortestLap,
}

impl Program {
    /// All programs, in the order of this list's documentation.
    pub const ALL: [Program; 5] = [
        Program::Delay,
        Program::Relay,
        Program::Measure,
        Program::MeasureAsPrinted,
        Program::ShortestLap,
    ];

    /// The name in state files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Program::Delay => "delay",
            Program::Relay => "relay",
            Program::Measure => "measure",
            Program::MeasureAsPrinted => "measure-as-printed",
            Program::ShortestLap => "shortest-lap",
        }
    }

    /// Whether the program has a counter, the paper's predicate `delay_i`.
    pub const fn delays(self) -> bool {
        !matches!(self, Program::Relay)
    }

    /// Whether the program has the [`Measuring`] variables.
    pub const fn measures(self) -> bool {
        self.measuring_round().is_some()
    }

    /// One round of a program that measures; `None` for the others.
    pub const fn measuring_round(self) -> Option<MeasuringRound> {
        match self {
            Program::Delay | Program::Relay => None,
            Program::Measure => Some(measure::round),
            Program::MeasureAsPrinted => Some(measure_as_printed::round),
            Program::ShortestLap => Some(shortest_lap::round),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownProgram;

impl fmt::Display for UnknownProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected delay, relay, measure, measure-as-printed or shortest-lap")
    }
}

impl core::error::Error for UnknownProgram {}

impl FromStr for Program {
    type Err = UnknownProgram;

    fn from_str(text: &str) -> Result<Program, UnknownProgram> {
        Program::ALL
            .into_iter()
            .find(|program| program.name() == text)
            .ok_or(UnknownProgram)
    }
}
