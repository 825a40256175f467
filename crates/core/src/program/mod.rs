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
pub mod hop_count;
pub mod measure;
pub mod measure_as_printed;
pub mod relay;
pub mod shortest_lap;
pub mod shortest_lap_epochs;
mod variable;

pub use hop_count::Counts;
pub use measure::Measuring;
pub use shortest_lap::Gaps;
pub use shortest_lap_epochs::Laps;
pub use variable::Variable;

use crate::Process;

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
    /// A delay that uses the shortest lap it has timed until there is a reason not to,
    /// at any number of processes ([`shortest_lap`]).
    ShortestLap,
    /// A delay that uses the shortest lap of late ([`shortest_lap_epochs`]).
    ShortestLapEpochs,
    /// A delay that reads the ring's size off tokens that count their hops
    /// ([`hop_count`]).
    HopCount,
}

impl Program {
    /// All programs, in the order of this list's documentation.
    pub const ALL: [Program; 7] = [
        Program::Delay,
        Program::Relay,
        Program::Measure,
        Program::MeasureAsPrinted,
        Program::ShortestLap,
        Program::ShortestLapEpochs,
        Program::HopCount,
    ];

    /// The name in state files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Program::Delay => "delay",
            Program::Relay => "relay",
            Program::Measure => "measure",
            Program::MeasureAsPrinted => "measure-as-printed",
            Program::ShortestLap => "shortest-lap",
            Program::ShortestLapEpochs => "shortest-lap-epochs",
            Program::HopCount => "hop-count",
        }
    }

    /// Whether the program has a counter, the paper's predicate `delay_i`.
    pub const fn delays(self) -> bool {
        !matches!(self, Program::Relay)
    }

    /// Whether the program has the [`Measuring`] variables.
    pub const fn measures(self) -> bool {
        !matches!(self, Program::Delay | Program::Relay)
    }

    /// Whether the program reads the counts that tokens carry.
    pub const fn reads_counts(self) -> bool {
        matches!(self, Program::HopCount)
    }

    /// One round of a program that measures: from the old state, with the number of
    /// tokens that arrive, to the new one. The others relay.
    pub const fn measuring_round(
        self,
        before: Process,
        variables: Measuring,
        arriving: u32,
        counts: Counts,
    ) -> (Process, Measuring) {
        match self {
            Program::Delay | Program::Relay => (relay::round(before, arriving), variables),
            Program::Measure => measure::round(before, variables, arriving),
            Program::MeasureAsPrinted => measure_as_printed::round(before, variables, arriving),
            Program::ShortestLap => shortest_lap::round(before, variables, arriving),
            Program::ShortestLapEpochs => shortest_lap_epochs::round(before, variables, arriving),
            Program::HopCount => hop_count::round(before, variables, arriving, counts),
        }
    }

    /// What a round without tokens changes of the variables: the clock of those that have one.
    #[inline]
    pub(crate) const fn measuring_pause(self, variables: &mut Measuring) {
        if !self.reads_counts() {
            variables.tick();
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
        f.write_str("expected ")?;
        for (index, program) in Program::ALL.into_iter().enumerate() {
            let before = match Program::ALL.len() - index {
                _ if index == 0 => "",
                1 => " or ",
                _ => ", ",
            };
            write!(f, "{before}{program}")?;
        }
        Ok(())
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
