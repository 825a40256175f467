//! `headway export`: the same instance for SPIN, PRISM, Storm and TLC.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use headway_check::Scheduler;
use headway_check::export::{Language, Source, export};
use headway_check::protocol::{self, NotExported};

use super::check::{FileFlags, RingFlags};
use crate::failure::{Answer, Failure, write_to};
use crate::flags::whole_number;

/// Unless said otherwise.
const PROCESSES: usize = 6;

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

    /// Which model to export
    #[arg(
        long,
        value_enum,
        default_value = "delay-relay",
        conflicts_with = "file"
    )]
    model: Exported,

    #[command(flatten)]
    ring: RingFlags<PROCESSES, 2>,

    /// Values of each process of a K-state ring [default: N]
    #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
    values: Option<u32>,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The models that can be exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Exported {
    /// Delay and relay with a known separation
    DelayRelay,
    /// Dijkstra's K-state token ring under the central scheduler
    KState,
}

/// Writes the export.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    let text = match args.file.protocol()? {
        Some(protocol) => {
            if let Some((flag, ..)) = args.of_models().into_iter().find(|(_, given, _)| *given) {
                return Err(
                    Failure::new(format!("{flag} has no meaning for a protocol file"))
                        .help("drop it; --set NAME=VALUE changes a parameter of the file"),
                );
            }
            let scheduler = args.file.scheduler.unwrap_or(protocol.scheduler());
            protocol::export(&protocol, scheduler, args.language).map_err(|error| match error {
                NotExported::Scheduler(_) => {
                    Failure::new(error).help("add --scheduler central or synchronous")
                }
                NotExported::WritesOthers(error) => args.file.failure(&protocol, error.into()),
            })?
        }
        None => export(&args.source()?, args.language),
    };
    write_to(args.output.as_deref(), |out| out.write_all(text.as_bytes()))?;
    Ok(Answer::Yes)
}

impl Args {
    /// Flags of one model only, and whether they are given.
    fn of_models(&self) -> [(&'static str, bool, Exported); 5] {
        use Exported::{DelayRelay, KState};
        let ring = &self.ring;
        [
            ("--processes", ring.size.processes.is_some(), self.model),
            ("--tokens", ring.size.tokens.is_some(), DelayRelay),
            ("--separation", ring.separation.is_some(), DelayRelay),
            ("--delays", ring.delays.is_some(), DelayRelay),
            ("--values", self.values.is_some(), KState),
        ]
    }

    fn source(&self) -> Result<Source, Failure> {
        let ring = &self.ring;
        let scheduler = (
            "--scheduler",
            self.file.scheduler.is_some(),
            Exported::KState,
        );
        let given = self.of_models().into_iter().chain([scheduler]);
        let mut given = given.filter(|(_, given, _)| *given);
        if let Some((flag, ..)) = given.find(|(_, _, model)| *model != self.model) {
            return Err(
                Failure::new(format!("{flag} has no meaning for this --model"))
                    .help("drop it, or choose the other model"),
            );
        }
        if self.model == Exported::DelayRelay {
            let instance = ring.instance();
            let wrong = |error| Failure::new(error).help("see headway export --help");
            return instance.map(Source::DelayRelay).map_err(wrong);
        }
        if self
            .file
            .scheduler
            .is_some_and(|who| who != Scheduler::Central)
        {
            return Err(
                Failure::new("only the central scheduler of k-state can be exported")
                    .help("drop --scheduler, or use headway check k-state"),
            );
        }
        let processes = ring.size.processes.unwrap_or(PROCESSES);
        let default = || u32::try_from(processes).unwrap_or(u32::MAX);
        let values = self.values.unwrap_or_else(default);
        if !(2..=255).contains(&processes) || !(2..=255).contains(&values) {
            return Err(Failure::new(format!(
                "k-state: 2 to 255 processes and 2 to 255 values, not {processes} and {values}"
            ))
            .help("change --processes or --values"));
        }
        Ok(Source::KState { processes, values })
    }
}
