//! Which processes delay.

use std::fmt;
use std::str::FromStr;

use headway_core::ProcessIndex;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::seed::{Purpose, Random};

/// A choice of the processes that delay, for a ring of any size; as text `all`, a
/// number, `every:K`, `even:K` or `at:0,5,9`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Delays {
    /// Every process: the uniform protocol.
    #[default]
    All,
    /// This many, chosen by the seed.
    Count(usize),
    /// Processes 0, k, 2k, …
    Every(usize),
    /// This many, as evenly spread as the ring allows.
    Even(usize),
    /// These.
    At(Vec<ProcessIndex>),
}

/// Why no such choice can be made on this ring.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DelaysError {
    /// At least one process has to delay.
    #[error("no process delays, so nothing would pull the tokens apart; at least one has to")]
    None,
    /// More than there are.
    #[error("{count} delays are asked for, but the ring has {processes} processes")]
    TooMany {
        /// Asked for.
        count: usize,
        /// n.
        processes: usize,
    },
    /// Not on the ring.
    #[error("there is no process {process}: the ring has processes 0 to {}", .processes - 1)]
    NoSuchProcess {
        /// Named.
        process: ProcessIndex,
        /// n.
        processes: usize,
    },
}

impl Delays {
    /// The chosen processes of a ring of `processes`, ascending.
    ///
    /// ```
    /// use headway_sim::placement::Delays;
    /// let every: Delays = "every:4".parse().unwrap();
    /// assert_eq!(every.choose(10, 0).unwrap(), [0, 4, 8]);
    /// ```
    ///
    /// # Errors
    ///
    /// When the choice is empty or not on the ring.
    pub fn choose(&self, processes: usize, seed: u64) -> Result<Vec<ProcessIndex>, DelaysError> {
        let chosen = match self {
            Delays::All => (0..processes).collect(),
            &(Delays::Count(count) | Delays::Even(count)) if count > processes => {
                return Err(DelaysError::TooMany { count, processes });
            }
            &Delays::Count(count) => Random::new(seed, Purpose::Delays).distinct(count, processes),
            &Delays::Even(count) => (0..count).map(|k| k * processes / count).collect(),
            &Delays::Every(step) => (0..processes).step_by(step.max(1)).collect(),
            Delays::At(places) => {
                let mut places = places.clone();
                places.sort_unstable();
                places.dedup();
                if let Some(&process) = places.iter().find(|&&place| place >= processes) {
                    return Err(DelaysError::NoSuchProcess { process, processes });
                }
                places
            }
        };
        if chosen.is_empty() {
            return Err(DelaysError::None);
        }
        Ok(chosen)
    }
}

/// The text is no choice of delays.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("expected all, a number K, even:K, every:K (K at least 1) or at:0,5,9")]
pub struct DelaysSyntax;

impl FromStr for Delays {
    type Err = DelaysSyntax;

    fn from_str(text: &str) -> Result<Delays, DelaysSyntax> {
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| DelaysSyntax);
        if text == "all" {
            return Ok(Delays::All);
        }
        if let Some(step) = text.strip_prefix("every:") {
            return match number(step)? {
                0 => Err(DelaysSyntax),
                step => Ok(Delays::Every(step)),
            };
        }
        if let Some(count) = text.strip_prefix("even:") {
            return number(count).map(Delays::Even);
        }
        if let Some(places) = text.strip_prefix("at:") {
            let places = places.split(',').map(number).collect::<Result<_, _>>()?;
            return Ok(Delays::At(places));
        }
        number(text).map(Delays::Count)
    }
}

impl TryFrom<String> for Delays {
    type Error = DelaysSyntax;

    fn try_from(text: String) -> Result<Delays, DelaysSyntax> {
        text.parse()
    }
}

impl From<Delays> for String {
    fn from(delays: Delays) -> String {
        delays.to_string()
    }
}

impl fmt::Display for Delays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Delays::All => f.write_str("all"),
            Delays::Count(count) => write!(f, "{count}"),
            Delays::Every(step) => write!(f, "every:{step}"),
            Delays::Even(count) => write!(f, "even:{count}"),
            Delays::At(places) => {
                f.write_str("at:")?;
                for (index, place) in places.iter().enumerate() {
                    write!(f, "{}{place}", if index == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}
