//! `headway check`: every initial state, every schedule, exact answers.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args as ClapArgs;
use headway_answer::check::{self as answer, CheckJson, TraceJson};
use headway_answer::json;
use headway_check::protocol::{self, Engine};
use headway_check::{Control, NamedModel, Report, Trace};
use headway_sim::state_file;

use crate::failure::{Answer, Failure, write_file};
use crate::flags::{TextOrJson, one_of, threads, whole_number};
use crate::report::print;

mod file;
mod models;
mod progress;
mod text;

pub(crate) use file::FileFlags;
pub(crate) use models::{flag, given};

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
instance is too large, 130 stopped by Ctrl-C.")]
#[command(subcommand_value_name = "MODEL", subcommand_help_heading = "Models")]
#[command(disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    model: Option<models::Model>,

    #[command(flatten)]
    file: FileFlags,

    /// How the states of a protocol file are explored
    #[arg(long, value_parser = one_of::<Engine>(), default_value_t, requires = "file")]
    engine: Engine,

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
    let control = Control::new(answer::limits(args.memory)?);
    // 0 stands for as many as there are cores.
    let threads = args.threads.map_or(0, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Failure::new(format!("--threads {threads}: {error}")))?;
    let since = Instant::now();
    let protocol = args.file.protocol()?;
    if let (Some(path), Some(protocol)) = (&args.states, &protocol) {
        file::admit_states(path, protocol)?;
    }
    let check = || match (&args.model, &protocol) {
        (Some(model), None) => {
            let named = NamedModel::of(&model.name);
            let checked = named.and_then(|named| named.check(&model.given, &control));
            checked.map_err(answer::failure)
        }
        (None, Some(protocol)) => {
            let scheduler = args.file.scheduler;
            protocol::check_with(args.engine, protocol, scheduler, &control)
                .map_err(|error| args.file.failure(protocol, error))
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
        let witness = answer::witness_of(&report).ok_or_else(|| {
            Failure::new(format!(
                "--witness: the model {} has no single slowest run",
                report.model
            ))
            .help("drop --witness")
        })?;
        write_witness(path, witness, &report)?;
    }
    print(
        args.format,
        || CheckJson::of(&report),
        |out| text::write(out, &report, elapsed, args.witness.as_deref()),
    )?;
    Ok(report.all_hold().into())
}

fn write_witness(path: &Path, witness: &Trace, report: &Report) -> Result<(), Failure> {
    let text = match &witness.start {
        Some((ring, state)) => state_file::render(ring, state),
        None => json::pretty(&TraceJson::of(&report.model, witness)),
    };
    write_file(path, text)
}
