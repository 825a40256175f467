//! What flags of several commands mean: one parser for each.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use headway_service::config::parse_duration;
use headway_sim::placement::Delays;
use headway_sim::settings::Kind;

/// A number of things; how many there may be is for the command to say.
pub(crate) fn whole_number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("expected a whole number".to_owned());
    }
    let fits = text
        .parse()
        .ok()
        .and_then(|number: u64| number.try_into().ok());
    fits.ok_or_else(|| match 8 * size_of::<T>() {
        64.. => "expected a smaller whole number".to_owned(),
        bits => format!("expected a whole number, at most {}", (1_u64 << bits) - 1),
    })
}

/// A length of time, as in the configuration of a node.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let expected = || "expected a length of time such as 20ms, 1.5s, 5m or 2h".to_owned();
    parse_duration(text).ok_or_else(expected)
}

/// Which processes delay.
pub(crate) fn delays(text: &str) -> Result<Delays, String> {
    text.parse::<Delays>().map_err(|error| error.to_string())
}

/// What the delaying processes run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgramChoice {
    /// Delay with a given separation
    #[default]
    Fixed,
    /// Delay that measures the ring, corrected
    Measure,
    /// Delay that measures the ring, as the paper prints it
    MeasureAsPrinted,
}

impl ProgramChoice {
    pub(super) fn kind(self) -> Kind {
        match self {
            ProgramChoice::Fixed => Kind::Fixed,
            ProgramChoice::Measure => Kind::Measure,
            ProgramChoice::MeasureAsPrinted => Kind::MeasureAsPrinted,
        }
    }
}

/// An initial state: by name, or a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Start {
    #[default]
    Random,
    Piled,
    Spaced,
    Worst,
    File(PathBuf),
}

impl FromStr for Start {
    type Err = String;

    fn from_str(text: &str) -> Result<Start, String> {
        Ok(match text {
            "random" => Start::Random,
            "piled" => Start::Piled,
            "spaced" => Start::Spaced,
            "worst" => Start::Worst,
            path if path.contains(['.', '/', '\\']) => Start::File(PathBuf::from(path)),
            _ => {
                return Err(
                    "expected random, piled, spaced, worst, or the path of a state file \
                     (with a dot or a slash in it)"
                        .to_owned(),
                );
            }
        })
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Start::Random => f.write_str("random"),
            Start::Piled => f.write_str("piled"),
            Start::Spaced => f.write_str("spaced"),
            Start::Worst => f.write_str("worst"),
            Start::File(path) => path.display().fmt(f),
        }
    }
}

/// A seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seed(pub(crate) u64);

impl Default for Seed {
    /// The year of the paper.
    fn default() -> Seed {
        Seed(2009)
    }
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Seed, String> {
        if text == "random" {
            use std::hash::{BuildHasher, RandomState};
            // The standard library's hasher keys come from the operating system.
            return Ok(Seed(RandomState::new().hash_one(0) >> 32));
        }
        text.parse().map(Seed).map_err(|_| {
            "expected a whole number from 0 to 18446744073709551615, or random".to_owned()
        })
    }
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object
    Json,
    /// A table of comma-separated values
    Csv,
}

/// How results that are no table are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// For people
    #[default]
    Text,
    /// One JSON object
    Json,
}
