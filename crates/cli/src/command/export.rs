//! `headway export`: the same instance for SPIN, PRISM, Storm and TLC.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::error::Error;
use clap::{Arg, ArgMatches, Args as ClapArgs, Command, FromArgMatches};
use headway_answer::check;
use headway_check::protocol::{self, Language, NotExported, Protocol};
use headway_check::settings::{Given, Setting};
use headway_check::{CheckError, MODELS, NamedModel};

use super::check::{FileFlags, flag, given};
use crate::failure::{Answer, Failure, write_to};

/// Unless said otherwise: small enough for other tools.
const PROCESSES: usize = 6;
const TOKENS: usize = 2;

/// Flags of `headway export`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway export promela --processes 6 --tokens 2 --separation 3 > ring.pml
  headway export prism --model k-state --processes 4 --values 4 -o k.prism
  headway export prism examples/protocols/herman.protocol --set n=7
  headway export tla --processes 5 --tokens 2 --separation 2 --delays at:0,2

How to run the tool is in a comment at the top of every export.")]
pub(crate) struct Args {
    /// promela (for SPIN), prism (for PRISM and Storm) or tla (for TLC)
    language: Language,

    #[command(flatten)]
    file: FileFlags,

    #[command(flatten)]
    model: Exported,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A model that is a protocol file too, and its flags.
#[derive(Clone, Debug)]
struct Exported {
    model: String,
    given: Given,
}

/// The models that can be exported.
fn models() -> impl Iterator<Item = &'static NamedModel> {
    MODELS.iter().filter(|model| model.has_file())
}

/// What can be set of one of them, apart from how `headway check` goes about it.
fn settings() -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    for setting in models().flat_map(NamedModel::settings) {
        let known = settings.iter().any(|known| known.name == setting.name);
        if !known && !setting.value.is_empty() && setting.name != "scheduler" {
            settings.push(setting);
        }
    }
    for setting in &mut settings {
        setting.excludes = &[];
        let default = match setting.name {
            "processes" => format!(" [default: {PROCESSES}]"),
            "tokens" => format!(" [default: {TOKENS}]"),
            _ => String::new(),
        };
        if let Some((help, _)) = setting.help.split_once(" [default: ") {
            setting.help = format!("{help}{default}");
        }
    }
    settings
}

impl ClapArgs for Exported {
    fn augment_args(command: Command) -> Command {
        let names = models().map(|model| PossibleValue::new(model.name).help(model.help));
        let model = Arg::new("model")
            .long("model")
            .value_name("MODEL")
            .help("Which model to export")
            .value_parser(names.collect::<Vec<_>>())
            .default_value("delay-relay")
            .conflicts_with("file");
        command.arg(model).args(settings().into_iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Exported::augment_args(command)
    }
}

impl FromArgMatches for Exported {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Exported, Error> {
        Ok(Exported {
            model: matches.get_one("model").cloned().unwrap_or_default(),
            given: given(&settings(), matches),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Exported::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Writes the export.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    let file = args.file.protocol()?;
    let protocol = match &file {
        Some(file) => {
            if let Some(name) = args.model.given.keys().next() {
                return Err(
                    Failure::new(format!("--{name} has no meaning for a protocol file"))
                        .help("drop it; --set NAME=VALUE changes a parameter of the file"),
                );
            }
            file.clone()
        }
        None => args
            .protocol()
            .map_err(|error| check::failure(error).help("see headway export --help"))?,
    };
    let scheduler = args.file.scheduler.unwrap_or(protocol.scheduler());
    let text = protocol::export(&protocol, scheduler, args.language);
    let text = text.map_err(|error| match error {
        NotExported::Scheduler(_) => {
            Failure::new(error).help("add --scheduler central or synchronous")
        }
        NotExported::WritesOthers(error) => args.file.failure(&protocol, error.into()),
    })?;
    write_to(args.output.as_deref(), |out| out.write_all(text.as_bytes()))?;
    Ok(Answer::Yes)
}

impl Args {
    /// The model as a protocol.
    fn protocol(&self) -> Result<Protocol, CheckError> {
        let model = NamedModel::of(&self.model.model)?;
        let mut given = self.model.given.clone();
        if let Some(scheduler) = self.file.scheduler {
            given.insert("scheduler".to_owned(), scheduler.to_string());
        }
        let processes = given
            .entry("processes".to_owned())
            .or_insert_with(|| PROCESSES.to_string());
        let tokens = processes.parse().map_or(TOKENS, |n| TOKENS.min(n));
        if model
            .settings()
            .iter()
            .any(|setting| setting.name == "tokens")
        {
            given
                .entry("tokens".to_owned())
                .or_insert_with(|| tokens.to_string());
        }
        model.protocol(&given)
    }
}
