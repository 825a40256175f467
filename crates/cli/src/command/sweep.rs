//! `headway sweep`: any grid, in parts if need be.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use headway_lab::journal::{self, Header, Journal, JournalError, Part, Shard};
use headway_lab::model::Engine;
use headway_lab::sweep::{CellResult, Event, Options};
use headway_lab::{Sweep, figure, report, sweep as lab_sweep, table};
use headway_sim::state_file;

use super::experiment::parse;
use crate::failure::{Answer, Failure, warn};
use crate::flags::Seed;
use crate::interrupt::stopped;
use crate::report::progress::Progress;
use crate::report::style::{DIM, HEADING, tick};

mod from_flags;

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
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    samples: Option<u64>,

    /// Seed of every random choice [default: 2009, or as the file says]
    #[arg(long, value_name = "S")]
    seed: Option<Seed>,

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
        /// Where the joined results go
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
    #[arg(long, value_name = "T", help_heading = "Running")]
    threads: Option<NonZeroUsize>,

    /// Go on where an earlier run stopped
    #[arg(long, help_heading = "Running")]
    resume: bool,

    /// Replace other results in the folder
    #[arg(long, conflicts_with = "resume", help_heading = "Running")]
    overwrite: bool,

    /// Do part I of K only; `headway sweep merge` joins them
    #[arg(long, value_name = "I/K", help_heading = "Running")]
    shard: Option<Shard>,

    /// What has a row of its own in a table: cells, or samples as well
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
        value_enum,
        default_value_t,
        hide_short_help = true,
        help_heading = "Running"
    )]
    engine: EngineFlag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// cells.csv
    Cells,
    /// cells.csv and samples.csv
    Samples,
}

/// A sample, by its numbers in samples.csv.
#[derive(Clone, Copy, Debug)]
struct Show {
    cell: u32,
    sample: u64,
}

impl FromStr for Show {
    type Err = String;

    fn from_str(text: &str) -> Result<Show, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(cell, sample)| Some((cell.parse().ok()?, sample.parse().ok()?)));
        let (cell, sample) =
            numbers.ok_or("expected the numbers of a cell and of a sample of it, such as 3/17")?;
        Ok(Show { cell, sample })
    }
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum EngineFlag {
    /// By forecast where that is possible, else round by round
    #[default]
    Auto,
    /// Round by round
    LockStep,
}

/// Runs a sweep, or joins its parts.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    if let Some(Merge::Merge { parts, output }) = &args.merge {
        return merge(parts, output);
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
            let text =
                fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))?;
            let sweep = parse(&text, path)?;
            (text, sweep, format!("headway sweep {}", path.display()))
        }
        None => args.grid.sweep()?,
    };
    sweep.text = Some(text);
    sweep.samples = args.samples.unwrap_or(sweep.samples);
    sweep.seed = args.seed.map_or(sweep.seed, |seed| seed.0);
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

impl Show {
    fn print(self, sweep: &Sweep) -> Result<Answer, Failure> {
        let Show { cell, sample } = self;
        let cells = sweep.cells.len();
        let Some(values) = sweep.cells.get(cell as usize).map(|cell| &cell.values) else {
            let last = cells.saturating_sub(1);
            return Err(Failure::new(format!(
                "--show {cell}/{sample}: there is no cell {cell}; the sweep has cells 0 to {last}"
            )));
        };
        if sample >= sweep.samples {
            let last = sweep.samples - 1;
            return Err(Failure::new(format!(
                "--show {cell}/{sample}: there is no sample {sample}; a cell has samples 0 to {last}"
            ))
            .help(format!("ask for more of them: --samples {}", sample + 1)));
        }
        let Some((ring, state)) = lab_sweep::state(sweep, cell, sample) else {
            return Err(Failure::new(format!(
                "--show: samples of the model {} have no ring file",
                sweep.model.name()
            )));
        };
        let values = values.iter().map(|(axis, value)| format!("{axis} {value}"));
        let _ = writeln!(
            anstream::stderr(),
            "{DIM}sample {sample} of cell {cell}, seed {}: {}{DIM:#}",
            sweep.seed,
            values.collect::<Vec<_>>().join(", ")
        );
        anstream::stdout().write_all(state_file::render(&ring, &state).as_bytes())?;
        Ok(Answer::Yes)
    }
}

fn execute_in_folder(sweep: &Sweep, running: &Running, command: &str) -> Result<Answer, Failure> {
    let default = || PathBuf::from(format!("headway-{}", sweep.name));
    let folder = running.output.clone().unwrap_or_else(default);
    let shard = running.shard.unwrap_or(Shard::WHOLE);
    let (mut journal, mut results) = open(sweep, &folder, shard, running)?;
    let done: BTreeSet<u32> = results.iter().map(|result| result.index).collect();
    let cells: Vec<u32> = (0..sweep.cells.len() as u32)
        .filter(|&cell| shard.has(cell) && !done.contains(&cell))
        .collect();
    let total = cells.len() as u64 * sweep.samples;
    let options = Options {
        threads: running.threads,
        engine: match running.engine {
            EngineFlag::Auto => Engine::Auto,
            EngineFlag::LockStep => Engine::LockStep,
        },
        cells: Some(cells),
    };
    let mut progress = Progress::new(Some(total), "samples");
    let mut samples = 0;
    let finished = lab_sweep::run(sweep, &options, stopped(), |event| {
        match event {
            Event::Samples(more) => {
                samples += more;
                progress.at(samples);
            }
            Event::Rows(rows) => journal
                .append_rows(sweep, &rows)
                .map_err(|error| error.to_string())?,
            Event::Cell(result) => {
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
        return Ok(Answer::No);
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
    publish(sweep, &results, &folder, command)
}

/// Opens the folder's journal: a new one, or one to go on with.
fn open(
    sweep: &Sweep,
    folder: &Path,
    shard: Shard,
    running: &Running,
) -> Result<(Journal, Vec<CellResult>), Failure> {
    let create = || Journal::create(folder, sweep, shard).map_err(journal_failure);
    if running.overwrite {
        return Ok((create()?, Vec::new()));
    }
    let Some(part) = Part::read(folder).map_err(journal_failure)? else {
        return Ok((create()?, Vec::new()));
    };
    let wanted = Header::new(sweep, shard);
    let differs = wanted.differs_from(&part.header).or_else(|| {
        let (mine, theirs) = (shard, part.header.shard);
        (mine != theirs).then(|| {
            format!(
                "it is part {}/{}, not {}/{}",
                theirs.part, theirs.parts, mine.part, mine.parts
            )
        })
    });
    if let Some(how) = differs {
        return Err(Failure::new(format!(
            "{} holds the results of something else: {how}",
            folder.display()
        ))
        .help("choose another --output, or replace them with --overwrite"));
    }
    if running.resume {
        let journal = Journal::resume(&part, sweep).map_err(journal_failure)?;
        return Ok((journal, part.cells.into_values().collect()));
    }
    if part.complete() {
        // The same sweep would give the same results.
        return Ok((create()?, Vec::new()));
    }
    Err(Failure::new(format!(
        "{} holds {} finished cells of this sweep",
        folder.display(),
        part.cells.len()
    ))
    .help("go on with --resume, or start again with --overwrite"))
}

fn merge(folders: &[PathBuf], out: &Path) -> Result<Answer, Failure> {
    let mut parts = Vec::new();
    for folder in folders {
        let part = Part::read(folder)
            .map_err(journal_failure)?
            .ok_or_else(|| {
                Failure::new(format!("{} holds no results of a sweep", folder.display()))
                    .help("give the folders that `headway sweep --shard` wrote")
            })?;
        parts.push(part);
    }
    if Part::read(out).map_err(journal_failure)?.is_some() {
        return Err(
            Failure::new(format!("{} holds results already", out.display()))
                .help("choose another --output"),
        );
    }
    let (sweep, results) = journal::merge(&parts, out).map_err(journal_failure)?;
    let command = format!("headway sweep merge of {} parts", parts.len());
    publish(&sweep, &results, out, &command)
}

fn journal_failure(error: JournalError) -> Failure {
    match error {
        JournalError::File { doing, path, error } => Failure::file(doing, &path, &error),
        other => Failure::new(other),
    }
}

/// Writes tables, figures and the report, and says what there is.
fn publish(
    sweep: &Sweep,
    results: &[CellResult],
    folder: &Path,
    command: &str,
) -> Result<Answer, Failure> {
    let csv = folder.join("cells.csv");
    let write = || -> std::io::Result<()> {
        let mut file = BufWriter::new(fs::File::create(&csv)?);
        table::write_header(&mut file, &table::cell_columns(sweep))?;
        for result in results {
            table::write_row(&mut file, &table::cell_row(sweep, result))?;
        }
        file.flush()
    };
    write().map_err(|error| Failure::file("write", &csv, &error))?;
    #[cfg(feature = "parquet")]
    {
        use headway_lab::parquet;
        parquet::write_cells(sweep, results, &folder.join("cells.parquet"))
            .map_err(Failure::new)?;
        if sweep.sample_rows {
            let csv = folder.join(journal::SAMPLES);
            parquet::write_samples(sweep, &csv, &folder.join("samples.parquet"))
                .map_err(Failure::new)?;
        }
    }
    let mut pictures = Vec::new();
    for figure in &sweep.figures {
        let picture = figure::draw(sweep, figure, results).map_err(Failure::new)?;
        for (suffix, rendered) in [("", &picture.light), ("-dark", &picture.dark)] {
            let stem = format!("{}{suffix}", figure.name);
            let put = |path: PathBuf, bytes: &[u8]| {
                fs::write(&path, bytes).map_err(|error| Failure::file("write", &path, &error))
            };
            put(folder.join(format!("{stem}.svg")), rendered.svg.as_bytes())?;
            put(folder.join(format!("{stem}.png")), &rendered.png)?;
        }
        pictures.push((figure, picture));
    }
    let verdicts = report::verdicts(sweep, results);
    let page = folder.join("report.html");
    fs::write(&page, report::html(sweep, &pictures, &verdicts, command))
        .map_err(|error| Failure::file("write", &page, &error))?;
    say(sweep, folder, &verdicts, pictures.len())?;
    Ok(verdicts
        .iter()
        .all(|verdict| verdict.holds != Some(false))
        .into())
}

fn say(
    sweep: &Sweep,
    folder: &Path,
    verdicts: &[report::Verdict],
    figures: usize,
) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{HEADING}{}{HEADING:#}", sweep.title)?;
    for verdict in verdicts {
        let mark = verdict.holds.map_or_else(|| "?".to_owned(), tick);
        writeln!(out, "{mark} {}", verdict.statement)?;
        writeln!(out, "  {DIM}{}{DIM:#}", verdict.evidence)?;
        if verdict.holds.is_none() {
            writeln!(
                out,
                "  too few samples to tell; try --samples {}",
                10 * sweep.samples
            )?;
        }
    }
    let folder = folder.display();
    let tables = match (sweep.sample_rows, cfg!(feature = "parquet")) {
        (false, false) => "cells.csv",
        (true, false) => "cells.csv, samples.csv",
        (false, true) => "cells.csv and .parquet",
        (true, true) => "cells and samples as .csv and .parquet",
    };
    writeln!(
        out,
        "{} cells of {} samples, seed {}, in {folder}: {tables}, report.html{}",
        sweep.cells.len(),
        sweep.samples,
        sweep.seed,
        match figures {
            0 => String::new(),
            1 => format!(", {}.svg and .png", sweep.figures[0].name),
            more => format!(", {more} figures as .svg and .png"),
        }
    )?;
    Ok(())
}
