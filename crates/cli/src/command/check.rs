//! `headway check`: every initial state, every schedule, exact answers.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args as ClapArgs;
use headway_check::{CheckError, Control, Limits, Report, TooLarge, Trace, protocol};
use headway_sim::state_file;

use crate::failure::{Answer, Failure, write_file};
use crate::flags::{TextOrJson, threads, whole_number};
use crate::memory::available_memory_bytes;

mod file;
mod json;
mod models;
mod progress;
mod ring;
mod text;

pub(crate) use file::FileFlags;
pub(crate) use ring::RingFlags;

/// Flags of `headway check`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway check delay-relay                        4.4·10^10 states, the default
  headway check delay-relay --processes 5 --tokens 2 --separation 3
  headway check delay-relay --processes 8 --tokens 2 --separation 3 --all-placements
  headway check delay-relay --delays at:0 --witness slow.json
  headway check measure-as-printed --processes 6 --tokens 2
  headway check k-state --processes 5 --values 4 --scheduler distributed
  headway check asynchronous --pace 3
  headway check monitor --monitors 0,3
  headway check moving-block --believe-old-news
  headway check examples/protocols/herman.protocol --set n=9
  headway check mine.protocol --scheduler central --states mine.dot

Each model has flags of its own: headway check MODEL --help

Exit codes: 0 every property holds, 1 one does not, 2 the command is wrong or the
instance is too large, 130 it was stopped.")]
#[command(subcommand_value_name = "MODEL", subcommand_help_heading = "Models")]
#[command(disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    model: Option<models::Model>,

    #[command(flatten)]
    file: FileFlags,

    /// How the states of a protocol file are explored
    #[arg(long, value_enum, default_value_t, requires = "file")]
    engine: file::EngineFlag,

    /// Write all states and steps of a protocol file: to FILE.dot, FILE.aut or FILE.csv
    #[arg(long, value_name = "FILE", requires = "file")]
    states: Option<PathBuf>,

    /// Write the slowest start, or the counterexample's, to this file
    #[arg(long, value_name = "FILE.json", global = true)]
    witness: Option<PathBuf>,

    /// Threads to use; the answer is the same [default: one per core]
    #[arg(long, value_name = "T", value_parser = threads, global = true)]
    threads: Option<NonZeroUsize>,

    /// Memory for tables, in MiB [default: three quarters of the free memory]
    #[arg(long, value_name = "MIB", value_parser = whole_number::<u64>, global = true)]
    memory: Option<u64>,

    /// How to print the result
    #[arg(long, value_enum, default_value_t, global = true)]
    format: TextOrJson,
}

/// Checks and reports.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    let limits = limits(args.memory)?;
    // 0 stands for as many as there are cores.
    let threads = args.threads.map_or(0, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Failure::new(format!("--threads {threads}: {error}")))?;
    let control = Control::default();
    let since = Instant::now();
    let protocol = args.file.protocol()?;
    let check = || match (&args.model, &protocol) {
        (Some(model), None) => model.check(limits, &control).map_err(failure),
        (None, Some(protocol)) => {
            let scheduler = args.file.scheduler;
            let engine = args.engine.into();
            protocol::check_with(engine, protocol, scheduler, limits, &control)
                .map_err(file::failure)
        }
        _ => Err(
            Failure::new("what to check? give a model or a protocol file")
                .help("see headway check --help; a file's name has a dot or a slash"),
        ),
    };
    let report = progress::watched(&control, || pool.install(check))?;
    let elapsed = since.elapsed();
    if let (Some(path), Some(protocol)) = (&args.states, &protocol) {
        args.file.write_states(path, protocol)?;
    }
    if let Some(path) = &args.witness {
        let witness = witness_of(&report).ok_or_else(|| {
            Failure::new(format!(
                "--witness: the model {} has no single slowest run",
                report.model
            ))
            .help("drop --witness")
        })?;
        write_witness(path, witness, &report)?;
    }
    let mut out = anstream::stdout().lock();
    match args.format {
        TextOrJson::Text => text::write(&mut out, &report, elapsed, args.witness.as_deref())?,
        TextOrJson::Json => json::write(&mut out, &report)?,
    }
    Ok(report.all_hold().into())
}

/// The run worth keeping: a counterexample if a property fails, else the slowest.
fn witness_of(report: &Report) -> Option<&Trace> {
    let failed = report.properties.iter().filter(|property| !property.holds);
    failed
        .filter_map(|property| property.counterexample.as_ref())
        .max_by_key(|trace| trace.repeats_from.is_some())
        .or(report.witness.as_ref())
}

fn write_witness(path: &Path, witness: &Trace, report: &Report) -> Result<(), Failure> {
    let text = match &witness.start {
        Some((ring, state)) => state_file::render(ring, state),
        None => format!("{:#}\n", json::trace(&report.model, witness)),
    };
    write_file(path, text)
}

fn limits(memory_mib: Option<u64>) -> Result<Limits, Failure> {
    let default = Limits::default();
    let available = available_memory_bytes();
    let free = available.map(|bytes| bytes / 4 * 3);
    let asked = memory_mib.map(|mib| (mib, mib.checked_mul(1 << 20)));
    let memory_bytes = match asked {
        None => free.unwrap_or(default.memory_bytes),
        Some((_, Some(bytes))) if available.is_none_or(|most| bytes <= most) => bytes,
        Some((mib, _)) => {
            let most = available.unwrap_or(u64::MAX) >> 20;
            return Err(
                Failure::new(format!("--memory {mib}: only {most} MiB are free"))
                    .help(format!("give at most --memory {most}")),
            );
        }
    };
    Ok(Limits {
        memory_bytes,
        ..default
    })
}

/// The engine for what is too large for the others.
const DIAGRAMS: &str = if cfg!(feature = "symbolic") {
    ""
} else {
    ", or build with --features symbolic for decision diagrams"
};

fn failure(error: CheckError) -> Failure {
    let help = match &error {
        CheckError::Settings(_) => "see headway check MODEL --help".to_owned(),
        CheckError::TooLarge(TooLarge::Memory { .. }) => {
            format!(
                "give more --memory, or make the ring, the tokens, the separation or the values smaller{DIAGRAMS}"
            )
        }
        CheckError::TooLarge(TooLarge::Cases { .. }) => {
            format!(
                "make it smaller{DIAGRAMS}; `headway worst` tells the worst case of rings of any size"
            )
        }
        CheckError::TooLarge(_) => {
            format!("make the ring, the tokens, the separation or the values smaller{DIAGRAMS}")
        }
        CheckError::Interrupted { .. } => {
            return Failure::interrupted(error)
                .help("run it again to the end for the whole answer");
        }
    };
    Failure::new(error).help(help)
}
