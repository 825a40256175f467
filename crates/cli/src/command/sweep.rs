//! `headway sweep`: any grid, in parts if need be.

use std::collections::BTreeSet;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use headway_answer::sweep as answer;
use headway_lab::journal::Shard;
use headway_lab::model::Engine;
use headway_lab::sweep::{Options, SweepEvent};
use headway_lab::{Sweep, sweep as lab_sweep};

use super::experiment::parse;
use crate::failure::{Answer, Failure, read_text, warn};
use crate::flags::{one_of, seed, threads, whole_number_in};
use crate::interrupt::stopped;
use crate::report::progress::Progress;

mod folder;
mod from_flags;
mod publish;
mod show;

use show::Show;

/// Flags of `headway sweep`.
#[derive(ClapArgs, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  headway sweep --tokens 2 3 4 --delays 1..24 --x delays --series tokens --name delays
  headway sweep --processes 20..200:20 --delays n/2 --x processes --name sizes
  headway sweep --tokens 1..24 --separation 4 --measure flow density --x density --name jam
  headway sweep my.toml --shard 1/2 -o part-1
  headway sweep my.toml --shard 2/2 -o part-2
  headway sweep merge part-1 part-2 -o whole

Values are numbers, ranges (1..50, 10..190:10), formulas (n/m, 2*d+1; division
rounds down) or words; several make an axis. Every cell is a ring; any sample of
it can be looked at:
  headway sweep --tokens 2 3 4 --show 1/17 > state.json
  headway run --start state.json"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    merge: Option<Merge>,

    /// A sweep file; or describe the sweep by flags
    #[arg(value_name = "FILE.toml")]
    file: Option<PathBuf>,

    #[command(flatten)]
    grid: from_flags::GridFlags,

    /// Samples in every cell [default: 300, or as the file says]
    #[arg(long, value_name = "K", value_parser = whole_number_in::<u64>(1..=u64::MAX))]
    samples: Option<u64>,

    /// Seed of every random choice [default: 2009, or as the file says]
    #[arg(long, value_name = "S", value_parser = seed)]
    seed: Option<u64>,

    #[command(flatten)]
    running: Running,
}

#[derive(Debug, Subcommand)]
enum Merge {
    /// Join the parts of a sweep that --shard made
    Merge {
        /// The folders of the parts
        #[arg(required = true, value_name = "DIR")]
        parts: Vec<PathBuf>,
        /// Folder for the joined results
        #[arg(short, long, value_name = "DIR", alias = "out")]
        output: PathBuf,
    },
}

/// How a sweep is run and where its results go.
#[derive(ClapArgs, Clone, Debug)]
pub(crate) struct Running {
    /// Folder for the results [default: headway-NAME]
    #[arg(
        short,
        long,
        value_name = "DIR",
        alias = "out",
        help_heading = "Running"
    )]
    output: Option<PathBuf>,

    /// Threads; the results do not depend on it [default: one per core]
    #[arg(long, value_name = "T", value_parser = threads, help_heading = "Running")]
    threads: Option<NonZeroUsize>,

    /// Continue an earlier run
    #[arg(long, help_heading = "Running")]
    resume: bool,

    /// Replace other results in the folder
    #[arg(long, conflicts_with = "resume", help_heading = "Running")]
    overwrite: bool,

    /// Do part I of K only; `headway sweep merge` joins them
    #[arg(long, value_name = "I/K", help_heading = "Running")]
    shard: Option<Shard>,

    /// Rows of the tables: cells, or samples as well
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Running")]
    rows: Option<Rows>,

    /// Only print the initial state of a sample, for `headway run --start`
    #[arg(
        long,
        value_name = "CELL/SAMPLE",
        conflicts_with_all = ["resume", "overwrite", "shard", "output"],
        help_heading = "Running"
    )]
    show: Option<Show>,

    /// How ring samples are made; the results are the same
    #[arg(
        long,
        value_parser = one_of::<Engine>(),
        default_value_t,
        hide_short_help = true,
        help_heading = "Running"
    )]
    engine: Engine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// cells.csv
    Cells,
    /// cells.csv and samples.csv
    Samples,
}

/// Runs a sweep, or joins its parts.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    if let Some(Merge::Merge { parts, output }) = &args.merge {
        return folder::merge(parts, output);
    }
    let (text, mut sweep, mut command) = match &args.file {
        Some(path) => {
            if let Some(flag) = args.grid.first_given() {
                return Err(Failure::new(format!(
                    "{flag} contradicts {}, which describes the whole sweep",
                    path.display()
                ))
                .help(format!("drop {flag}, or change the file")));
            }
            let text = read_text(path)?;
            let sweep = parse(&text, path)?;
            (text, sweep, format!("headway sweep {}", path.display()))
        }
        None => args.grid.sweep()?,
    };
    sweep.text = Some(text);
    sweep.samples = args.samples.unwrap_or(sweep.samples);
    sweep.seed = args.seed.unwrap_or(sweep.seed);
    command.push_str(&format!(
        " --samples {} --seed {}",
        sweep.samples, sweep.seed
    ));
    execute(sweep, &args.running, command)
}

/// Runs a sweep to the end, or to Ctrl-C, and writes what is finished.
pub(crate) fn execute(
    mut sweep: Sweep,
    running: &Running,
    mut command: String,
) -> Result<Answer, Failure> {
    if let Some(rows) = running.rows {
        sweep.sample_rows = rows == Rows::Samples;
        command.push_str(match rows {
            Rows::Cells => " --rows cells",
            Rows::Samples => " --rows samples",
        });
    }
    match running.show {
        Some(show) => show.print(&sweep),
        None => execute_in_folder(&sweep, running, &command),
    }
}

fn execute_in_folder(sweep: &Sweep, running: &Running, command: &str) -> Result<Answer, Failure> {
    answer::admit(sweep, running.threads)?;
    let default = || PathBuf::from(format!("headway-{}", sweep.name));
    let folder = running.output.clone().unwrap_or_else(default);
    let shard = running.shard.unwrap_or(Shard::WHOLE);
    let (mut journal, mut results) = folder::open(sweep, &folder, shard, running)?;
    let done: BTreeSet<u32> = results.iter().map(|result| result.index).collect();
    let cells: Vec<u32> = (0..sweep.cells.len() as u32)
        .filter(|&cell| shard.has(cell) && !done.contains(&cell))
        .collect();
    // All of them fit, so these do.
    let total = cells.len() as u64 * sweep.samples;
    let options = Options {
        threads: running.threads,
        engine: running.engine,
        cells: Some(cells),
    };
    let mut progress = Progress::new(Some(total), "samples");
    let mut samples = 0;
    let finished = lab_sweep::run(sweep, &options, &stopped(), |event| {
        match event {
            SweepEvent::Samples(more) => {
                samples += more;
                progress.at(samples);
            }
            SweepEvent::Rows(rows) => journal
                .append_rows(sweep, &rows)
                .map_err(|error| error.to_string())?,
            SweepEvent::Cell(result) => {
                journal.append(&result).map_err(|error| error.to_string())?;
                results.push(result);
            }
        }
        Ok(())
    })
    .map_err(|error| {
        Failure::new(error).help(format!(
            "finished cells are kept in {}; go on with --resume",
            folder.display()
        ))
    })?;
    drop(progress);
    results.sort_by_key(|result| result.index);
    if !finished {
        warn(format_args!(
            "stopped. {} of {} cells are finished and kept in {}; the same command with --resume goes on",
            results.len(),
            (0..sweep.cells.len() as u32)
                .filter(|&cell| shard.has(cell))
                .count(),
            folder.display()
        ));
        return Ok(Answer::Interrupted);
    }
    if shard != Shard::WHOLE {
        let mut out = anstream::stdout().lock();
        writeln!(
            out,
            "part {} of {}: {} cells in {}",
            shard.part,
            shard.parts,
            results.len(),
            folder.display()
        )?;
        return Ok(Answer::Yes);
    }
    publish::publish(sweep, &results, &folder, command)
}
