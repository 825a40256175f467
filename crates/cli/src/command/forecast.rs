//! `headway forecast`: the whole future from one pass over the initial state.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args as ClapArgs;
use headway_answer::forecast::{self as answer, ForecastJson, cycle_time};
use headway_sim::Outcome;
use headway_sim::forecast::{Forecast, Jam, MomentPlace, Movement};

use crate::failure::{Answer, Failure, expect_endings, write_wanted};
use crate::flags::{Format, Instance, RingFlags, whole_number, whole_number_in};
use crate::report::diagram::{Diagram, Dot, Shown, delays};
use crate::report::progress::Progress;
use crate::report::style::{self, DIM, HEADING};
use crate::report::{count, print_json, try_next};

use super::run::text;

/// Flags of `headway forecast`.
#[derive(ClapArgs, Debug, Default)]
#[command(after_help = "\
Examples:
  headway forecast --processes 1000000 --tokens 1000 --separation 900
  headway forecast state.json --waits
  headway forecast --at 0 --at 12 --at 1000000000000
  headway forecast --start worst --delays 1 --svg future.svg
  headway forecast --tokens 6 --separation 5 --format json

Nothing is simulated: release times have a closed form. Rings of delays and
relays only; a ring that measures has to be run.")]
pub(crate) struct Args {
    /// A state file; instead of the ring flags
    #[arg(value_name = "FILE.json")]
    file: Option<PathBuf>,

    #[command(flatten)]
    ring: RingFlags,

    /// Show the state after this round, however large (repeatable)
    #[arg(long, value_name = "ROUND", value_parser = whole_number_in::<u64>(0..=1 << 63))]
    at: Vec<u64>,

    /// List every wait: which token, where, from which round to which
    #[arg(long)]
    waits: bool,

    /// Forecast this many rounds [default: until legitimate, and one turn more]
    #[arg(long, value_name = "R", value_parser = whole_number::<u64>)]
    rounds: Option<u64>,

    /// How to print the result; csv is the list of waits
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Draw the space-time diagram
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,

    /// Draw the space-time diagram for a paper, as TikZ
    #[arg(long, value_name = "FILE.tex")]
    tikz: Option<PathBuf>,
}

/// Forecasts and reports.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    expect_endings(args.svg.as_deref(), args.tikz.as_deref())?;
    let instance = match &args.file {
        Some(path) => args.ring.with_state_file(path)?.instance()?,
        None => args.ring.instance()?,
    };
    let progress = Progress::saying("forecasting");
    let forecast = answer::of(&instance)?;
    let line = forecast.movement();
    let outcome = line.outcome(args.rounds);
    if args.svg.is_some() || args.tikz.is_some() {
        let picture = forecast
            .timeline()
            .picture(outcome.rounds, &instance.title());
        write_wanted(args.tikz.as_ref(), || picture.clone().tikz())?;
        write_wanted(args.svg.as_ref(), || picture.finish())?;
    }
    drop(progress);
    match args.format {
        Format::Json => {
            print_json(&ForecastJson::of(
                &instance, &forecast, &line, &outcome, args.waits, &args.at,
            ))?;
        }
        Format::Csv => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            writeln!(out, "token,process,from,to")?;
            for wait in line.waits(outcome.rounds) {
                writeln!(
                    out,
                    "{},{},{},{}",
                    wait.token, wait.process, wait.from, wait.to
                )?;
            }
            out.flush()?;
        }
        Format::Text => in_text(args, &instance, &forecast, &line, &outcome)?,
    }
    Ok(outcome.legitimate.into())
}

fn in_text(
    args: &Args,
    instance: &Instance,
    forecast: &Forecast<'_>,
    line: &Movement<'_>,
    outcome: &Outcome,
) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{HEADING}{}{HEADING:#}", instance.title())?;
    writeln!(
        out,
        "{DIM}Forecast from the initial state alone; nothing was run.{DIM:#}\n"
    )?;
    if forecast.feasible() {
        text::settling(&mut out, instance, outcome)?;
        text::distances(&mut out, instance.separation(), outcome)?;
    }
    reason(&mut out, instance, forecast)?;
    if let Some(jam) = line.jam() {
        write_jam(&mut out, &jam)?;
    }
    if args.waits {
        write_waits(&mut out, line, outcome)?;
    }
    if !args.at.is_empty() {
        write_states(&mut out, args, instance, forecast)?;
    }
    let command = |flag: &str, value: &str| instance.command("forecast", &[(flag, value)]);
    let mut commands = Vec::new();
    if !args.waits {
        commands.push((command("waits", ""), "every wait"));
    }
    if args.at.is_empty() {
        let far = "the state after round 10^12";
        commands.push((command("at", "1000000000000"), far));
    }
    if args.svg.is_none() {
        commands.push((command("svg", "future.svg"), "the picture"));
    }
    if forecast.feasible() && !instance.is_of_file() {
        let worst = instance.command_without("worst", "start");
        commands.push((worst, "the slowest start"));
    }
    Ok(try_next(&mut out, &commands)?)
}

/// The cycle time and the critical circuit behind it.
fn reason(out: &mut impl Write, instance: &Instance, forecast: &Forecast<'_>) -> io::Result<()> {
    let Some(cycle_time) = cycle_time(forecast) else {
        return Ok(());
    };
    let (n, m, d) = (
        instance.processes(),
        instance.tokens(),
        instance.separation(),
    );
    if forecast.feasible() {
        writeln!(
            out,
            "Cycle time {cycle_time}: the critical circuit is the ring itself, {} with {}.",
            count(n, "place"),
            count(m, "token")
        )
    } else {
        writeln!(
            out,
            "Cycle time {cycle_time}: the critical circuits are the delays' own, {} with one token,\n\
             because {m} tokens {d} apart would need {} processes and there are {n}.",
            count(u64::from(d), "place"),
            u128::from(m) * u128::from(d)
        )
    }
}

/// Queues shown by name; there can be one at every process.
const MAX_QUEUES: usize = 12;

fn write_jam(out: &mut impl Write, jam: &Jam) -> io::Result<()> {
    let bad = style::BAD;
    writeln!(
        out,
        "{bad}A traffic jam.{bad:#} From round {} at the latest the state repeats every {}, and every\n\
         process lets one token through in that time. Where every token waits in every turn:",
        jam.from,
        count(jam.period, "round")
    )?;
    for queue in jam.queues.iter().take(MAX_QUEUES) {
        let tokens = queue.rounds as f64 / jam.period as f64;
        writeln!(
            out,
            "  process {:<8} {:<12} {DIM}{tokens:.1} tokens rest there on average{DIM:#}",
            queue.process,
            count(queue.rounds, "round")
        )?;
    }
    if jam.queues.len() > MAX_QUEUES {
        writeln!(
            out,
            "  and at {} more; --format json has all",
            jam.queues.len() - MAX_QUEUES
        )?;
    }
    Ok(())
}

fn write_waits(out: &mut impl Write, line: &Movement<'_>, outcome: &Outcome) -> io::Result<()> {
    writeln!(
        out,
        "\n{HEADING}token  process  rests after rounds{HEADING:#}"
    )?;
    let mut any = false;
    for wait in line.waits(outcome.rounds) {
        any = true;
        let rounds = if wait.from == wait.to {
            wait.from.to_string()
        } else {
            format!("{} to {}", wait.from, wait.to)
        };
        writeln!(out, "{:>5}  {:>7}  {rounds}", wait.token, wait.process)?;
    }
    if !any {
        writeln!(out, "  none ever rests")?;
    }
    Ok(())
}

fn write_states(
    out: &mut impl Write,
    args: &Args,
    instance: &Instance,
    forecast: &Forecast<'_>,
) -> io::Result<()> {
    let line = forecast.timeline();
    let (columns, _) = style::screen();
    let mut diagram = Diagram::new(delays(&instance.ring), columns, args.at.len());
    let mut rounds = args.at.clone();
    rounds.sort_unstable();
    rounds.dedup();
    for &round in &rounds {
        let places = line.moment(round).places;
        let dot = |(token, place): (usize, &MomentPlace)| Dot {
            process: place.process as usize,
            token,
            resting: place.resting,
        };
        diagram.show(&Shown {
            round,
            tokens: places.iter().enumerate().map(dot).collect(),
            at_work: Vec::new(),
            closest: line.min_distance(round..=round),
            legitimate: false,
            fault: None,
        });
    }
    writeln!(out)?;
    diagram.write(out, rounds.last().copied().unwrap_or(0))
}
