//! Why there is no such ring.

use headway_core::{MAX_COUNTED_TOKENS, Misfit, Separation};
use thiserror::Error;

use super::{RingProgram, Setting};
use crate::placement::DelaysError;

/// Why there is no such ring or state.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SettingsError {
    /// n = 0.
    #[error("a ring needs at least one process")]
    NoProcesses,
    /// n > 2^32.
    #[error("a ring has at most 4294967296 processes")]
    TooManyProcesses,
    /// m = 0.
    #[error("there are no tokens, so nothing would ever move")]
    NoTokens,
    /// m ≥ 2^32.
    #[error("at most 4294967295 tokens can be represented")]
    TooManyTokens,
    /// More tokens than can carry counts.
    #[error("at most {MAX_COUNTED_TOKENS} tokens can carry counts")]
    TooManyCounts,
    /// d is 0 or too large.
    #[error("expected 1 to {}", Separation::MAX)]
    Separation,
    /// A separation was given to a program that measures it.
    #[error("contradicts a program that measures the separation by itself")]
    SeparationIsMeasured,
    /// A limit was given to a program that measures nothing.
    #[error("only has a meaning for a program that measures")]
    NothingMeasured,
    /// A moving block where a ring in lock-step is needed.
    #[error("{} has no rounds in lock-step", RingProgram::MovingBlock)]
    NoLockStep,
    /// A setting was given that a moving block does not have, and why.
    #[error("has no meaning for {}: {why}", RingProgram::MovingBlock)]
    Meaningless {
        /// Which.
        setting: Setting,
        /// Why.
        why: &'static str,
    },
    /// A moving block of this size is not simulated.
    #[error(
        "{given}: expected {least} to {most} for {}, which is simulated message by message",
        RingProgram::MovingBlock
    )]
    Size {
        /// Which.
        setting: Setting,
        /// Its value.
        given: u64,
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A horizon was given to a program that has none.
    #[error("only has a meaning for {}", RingProgram::ShortestLapEpochs)]
    NoEpochs,
    /// A horizon of 0.
    #[error("an epoch of 0 turns would forget every lap at once; expected 1 or more")]
    NoHorizon,
    /// A clock that cannot count a lap of the ring.
    #[error("expected at least {0}, the ring's size: a smaller clock cannot measure it")]
    ShortClock(u64),
    /// No such choice of delays.
    #[error("{0}")]
    Delays(#[from] DelaysError),
    /// m·d > n has no worst start.
    #[error(
        "with {tokens} tokens {separation} apart on {processes} processes there is no worst start, \
         because none of them settles"
    )]
    NoWorst {
        /// m.
        tokens: u32,
        /// d.
        separation: Separation,
        /// n.
        processes: usize,
    },
    /// No closed form.
    #[error("the worst start of a measuring ring is not known in closed form")]
    WorstUnknown,
    /// A limit that the ring cannot have.
    #[error("{0}")]
    Misfit(Misfit),
}

impl SettingsError {
    /// The setting to blame.
    pub fn setting(&self) -> Setting {
        match self {
            SettingsError::NoLockStep => Setting::Program,
            SettingsError::Meaningless { setting, .. } | SettingsError::Size { setting, .. } => {
                *setting
            }
            SettingsError::NoProcesses | SettingsError::TooManyProcesses => Setting::Processes,
            SettingsError::NoTokens
            | SettingsError::TooManyTokens
            | SettingsError::TooManyCounts => Setting::Tokens,
            SettingsError::Separation | SettingsError::SeparationIsMeasured => Setting::Separation,
            SettingsError::NothingMeasured
            | SettingsError::ShortClock(_)
            | SettingsError::Misfit(_) => Setting::Limit,
            SettingsError::NoEpochs | SettingsError::NoHorizon => Setting::Horizon,
            SettingsError::Delays(_) => Setting::Delays,
            SettingsError::NoWorst { .. } | SettingsError::WorstUnknown => Setting::Start,
        }
    }
}
