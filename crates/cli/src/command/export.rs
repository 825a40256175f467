//! `headway export`: the same instance for SPIN, PRISM, Storm and TLC.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use headway_check::Scheduler;
use headway_check::export::{Language, Source, export};

use super::check::{InstanceFlags, ModelName};
use crate::failure::{Answer, Failure, write_file};

/// Flags of `headway export`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway export promela --processes 6 --tokens 2 --separation 3 > ring.pml
  headway export prism --model k-state --processes 4 --values 4 -o k.prism
  headway export tla --processes 5 --tokens 2 --separation 2 --delays at:0,2

How to run the tool is in a comment at the top of every export.")]
pub(crate) struct Args {
    /// promela (for SPIN), prism (for PRISM and Storm) or tla (for TLC)
    language: Language,

    /// What to export: delay-relay, or k-state under the central scheduler
    #[arg(long, value_enum, default_value = "delay-relay")]
    model: ModelName,

    #[command(flatten)]
    instance: InstanceFlags,

    /// Scheduler of the K-state ring; only central can be exported
    #[arg(long, value_name = "WHO", help_heading = "Instance")]
    scheduler: Option<Scheduler>,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the export.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    let source = args.source()?;
    let text = export(&source, args.language);
    match &args.output {
        Some(path) => {
            write_file(path, text)?;
        }
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(Answer::Yes)
}

impl Args {
    fn source(&self) -> Result<Source, Failure> {
        let flags = &self.instance;
        match self.model {
            ModelName::DelayRelay => {
                if flags.values.is_some() || self.scheduler.is_some() {
                    return Err(Failure::new(
                        "--values and --scheduler have no meaning for delay-relay",
                    )
                    .help("drop them, or add --model k-state"));
                }
                let instance = flags
                    .ring_instance(6, 2)
                    .map_err(|error| Failure::new(error).help("see headway export --help"))?;
                Ok(Source::DelayRelay(instance))
            }
            ModelName::KState => {
                if self.scheduler.is_some_and(|who| who != Scheduler::Central) {
                    return Err(Failure::new(
                        "only the central scheduler of k-state can be exported",
                    )
                    .help("drop --scheduler, or use headway check k-state"));
                }
                let processes = flags.processes.unwrap_or(4);
                let values = flags.values.unwrap_or(processes as u32);
                if processes < 2 || !(2..=255).contains(&values) {
                    return Err(Failure::new(format!(
                        "k-state: 2 processes or more and 2 to 255 values, not {processes} and {values}"
                    ))
                    .help("change --processes or --values"));
                }
                Ok(Source::KState { processes, values })
            }
            other => Err(Failure::new(format!("{} cannot be exported", other.name()))
                .help("delay-relay and k-state can; headway check knows all models")),
        }
    }
}
