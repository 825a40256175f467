//! `headway experiment`: the experiments that come with Headway, or one's own.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use headway_lab::{Sweep, shipped};

use super::sweep::{self, Running};
use crate::failure::{Answer, Failure, read_text};
use crate::flags::{seed, whole_number_in};
use crate::report::style::{DIM, HEADING};

/// Flags of `headway experiment`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway experiment                          list them
  headway experiment paper                    the paper's four graphs, in seconds
  headway experiment paper --samples 100000 -o paper
  headway experiment placement
  headway experiment my.toml                  your own
  headway experiment jam --print > my.toml    a file to start your own from

The folder of results holds cells.csv, the figures (SVG, for light and dark)
and report.html, one page with everything in it.")]
pub(crate) struct Args {
    /// An experiment's name, or the path of a sweep file [default: list them]
    #[arg(value_name = "NAME | FILE.toml")]
    experiment: Option<String>,

    /// Samples in every cell [default: as the experiment says]
    #[arg(long, value_name = "K", value_parser = whole_number_in::<u64>(1..=u64::MAX))]
    samples: Option<u64>,

    /// Seed of every random choice [default: as the experiment says]
    #[arg(long, value_name = "S", value_parser = seed)]
    seed: Option<u64>,

    /// Print the sweep file instead of running it
    #[arg(long)]
    print: bool,

    #[command(flatten)]
    running: Running,
}

/// Runs an experiment, or lists them.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    let Some(experiment) = &args.experiment else {
        return list();
    };
    let (text, path) = find(experiment)?;
    if args.print {
        std::io::stdout().write_all(text.as_bytes())?;
        return Ok(Answer::Yes);
    }
    let mut sweep = parse(&text, &path)?;
    sweep.samples = args.samples.unwrap_or(sweep.samples);
    sweep.seed = args.seed.unwrap_or(sweep.seed);
    let mut command = format!(
        "headway experiment {experiment} --samples {}",
        sweep.samples
    );
    command.push_str(&format!(" --seed {}", sweep.seed));
    sweep::execute(sweep, &args.running, command)
}

fn find(experiment: &str) -> Result<(String, PathBuf), Failure> {
    if let Some(text) = shipped::named(experiment) {
        let path = PathBuf::from(format!("{experiment}.toml"));
        return Ok((text.to_owned(), path));
    }
    let path = Path::new(experiment);
    if !experiment.contains(['.', '/', '\\']) {
        let names: Vec<&str> = shipped::EXPERIMENTS.iter().map(|(name, _)| *name).collect();
        return Err(
            Failure::new(format!("unknown experiment '{experiment}'")).help(format!(
                "expected {}, or the path of a sweep file (with a dot or a slash in it)",
                names.join(", ")
            )),
        );
    }
    let text = read_text(path)?;
    Ok((text, path.to_owned()))
}

/// Reads a sweep file, with errors that show the place.
pub(crate) fn parse(text: &str, path: &Path) -> Result<Sweep, Failure> {
    Sweep::parse(text).map_err(|error| {
        let (line, column) = error.line_and_column(text);
        Failure::in_text(path, text, line, column, error)
    })
}

fn list() -> Result<Answer, Failure> {
    let mut out = anstream::stdout().lock();
    for (name, text) in shipped::EXPERIMENTS {
        let sweep = parse(text, Path::new(name))?;
        writeln!(
            out,
            "{HEADING}{name:<14}{HEADING:#} {} {DIM}({} cells of {} samples){DIM:#}",
            sweep.title,
            sweep.cells.len(),
            sweep.samples
        )?;
    }
    Ok(Answer::Yes)
}
