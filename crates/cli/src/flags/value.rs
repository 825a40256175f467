//! What flags of several commands mean: one parser for each.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use headway_service::config::parse_duration;
pub(crate) use headway_sim::flags::{one_of, possible_values, seed, whole_number};
use headway_sim::settings::Start;
use strum::{EnumMessage, VariantArray, VariantNames};

/// Digits only, and more than any number has.
fn too_large(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
        && text.trim_start_matches('0').len() > 1
        && text.parse::<u64>().is_err()
}

/// A whole number within these limits.
pub(crate) fn whole_number_in<T>(
    limits: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: TryFrom<u64>,
{
    move |text| {
        let (least, most) = (limits.start(), limits.end());
        let number = whole_number(text).ok();
        let number = number.filter(|number| limits.contains(number));
        let number = number.and_then(|number: u64| number.try_into().ok());
        number.ok_or_else(|| match *most {
            u64::MAX if too_large(text) => "expected a smaller whole number".to_owned(),
            u64::MAX => format!("expected a whole number, at least {least}"),
            most => format!("expected a whole number from {least} to {most}"),
        })
    }
}

/// A number of threads, all of which are started at once.
pub(crate) fn threads(text: &str) -> Result<NonZeroUsize, String> {
    const MOST: usize = 1024;
    match NonZeroUsize::new(whole_number(text)?) {
        None => Err("expected at least 1 thread".to_owned()),
        Some(number) if number.get() > MOST => Err(format!("expected at most {MOST} threads")),
        Some(number) => Ok(number),
    }
}

/// A number with or without decimals.
pub(crate) fn decimal(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a number such as 0.2".to_owned())
}

/// A length of time, as in the configuration of a node.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let expected =
        || "expected a length of time such as 20ms, 1.5s, 5m or 2h, at most ten years".to_owned();
    parse_duration(text).ok_or_else(expected)
}

/// The help of `--start`: every initial state that has a name.
pub(super) fn start_help() -> String {
    let names = <Start as VariantArray>::VARIANTS.iter().map(|start| {
        let means = start.get_documentation().unwrap_or_default();
        format!("- {start}: {}", means.trim_end_matches('.'))
    });
    format!(
        "Initial state [default: {}]\n\n{}\n\nAnything else is the path of a state file, which \
         describes the whole ring; - reads one from standard input.",
        Start::default(),
        names.collect::<Vec<_>>().join("\n")
    )
}

/// An initial state: by name, or a state file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StartOrFile {
    Start(Start),
    File(PathBuf),
}

impl FromStr for StartOrFile {
    type Err = String;

    fn from_str(text: &str) -> Result<StartOrFile, String> {
        match text.parse() {
            Ok(start) => Ok(StartOrFile::Start(start)),
            Err(_) if text == "-" || text.contains(['.', '/', '\\']) => {
                Ok(StartOrFile::File(text.into()))
            }
            Err(_) => Err(format!(
                "expected {}, the path of a state file (with a dot or a slash in it), or - for \
                 standard input",
                <Start as VariantNames>::VARIANTS.join(", ")
            )),
        }
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
