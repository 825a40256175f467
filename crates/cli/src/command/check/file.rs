//! A protocol file on the command line.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use headway_answer::check::{in_protocol, protocol_failure};
use headway_check::protocol::{Compiled, Format, MAX_WRITTEN, Protocol, write_space};
use headway_check::{CheckError, NamedModel, Scheduler};

use crate::failure::{Failure, read_text, write_to};

/// A protocol file and its settings.
#[derive(ClapArgs, Clone, Debug)]
pub(crate) struct FileFlags {
    /// A protocol file, instead of a model: docs/research/protocols.md describes the language
    #[arg(value_name = "FILE", value_parser = protocol_path)]
    pub(crate) file: Option<PathBuf>,

    /// Set a parameter of the protocol file; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_setting, requires = "file")]
    set: Vec<(String, i64)>,

    /// Scheduler of the protocol file [default: as the file says, else central]
    #[arg(long, value_name = "WHO")]
    pub(crate) scheduler: Option<Scheduler>,
}

/// A path: unlike the name of a model it has a dot or a slash.
fn protocol_path(text: &str) -> Result<PathBuf, String> {
    if text == "-" || text.contains(['.', '/', '\\']) {
        return Ok(text.into());
    }
    // In `headway check` they are subcommands, so this is about `headway export`.
    if NamedModel::of(text).is_ok_and(NamedModel::has_file) {
        return Err(format!("this is a model, not a file: give --model {text}"));
    }
    Err(
        "no model has this name, and a file's name has a dot or a slash (- is standard input)"
            .to_owned(),
    )
}

/// NAME=VALUE.
fn parse_setting(text: &str) -> Result<(String, i64), String> {
    let wrong = || "expected NAME=VALUE with a whole number, such as n=5".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    Ok((
        name.trim().to_owned(),
        value.trim().parse().map_err(|_| wrong())?,
    ))
}

impl FileFlags {
    /// The instance, if a file is given.
    pub(crate) fn protocol(&self) -> Result<Option<Protocol>, Failure> {
        let Some(path) = &self.file else {
            return Ok(None);
        };
        let text = read_text(path)?;
        let parsed = Protocol::parse(&text, &self.set);
        parsed
            .map(Some)
            .map_err(|error| in_protocol(path, &text, &error))
    }

    /// What to do about a protocol of this file that cannot be checked.
    pub(crate) fn failure(&self, protocol: &Protocol, error: CheckError) -> Failure {
        let path = self.file.as_deref().unwrap_or(Path::new("-"));
        protocol_failure(path, protocol.text(), error)
    }

    /// Writes the state space.
    pub(super) fn write_states(&self, path: &Path, protocol: &Protocol) -> Result<(), Failure> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let format: Format = extension.unwrap_or("").parse().map_err(|error| {
            Failure::new(format!("--states {}: {error}", path.display()))
                .help("name the file FILE.dot, FILE.aut or FILE.csv")
        })?;
        let model = Compiled::new(protocol).map_err(|error| self.failure(protocol, error))?;
        write_to(Some(path), |mut out| {
            write_space(&model, self.scheduler, format, &mut out)
        })
    }
}

/// Refuses more states than a file is meant for, before they are explored.
pub(super) fn admit_states(path: &Path, protocol: &Protocol) -> Result<(), Failure> {
    let states = protocol.states();
    if states > MAX_WRITTEN.into() {
        return Err(Failure::new(format!(
            "--states {}: {states} states are too many to write; the limit is {MAX_WRITTEN}",
            path.display()
        ))
        .help("drop --states, or make the protocol smaller with --set"));
    }
    Ok(())
}
