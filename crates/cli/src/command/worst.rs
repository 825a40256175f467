//! `headway worst`: the slowest start of all.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use headway_answer::worst::Worst;
use headway_core::bound::WorstCase;
use headway_sim::forecast::Forecast;
use headway_sim::settings::Start;
use headway_sim::state_file;

use crate::failure::{Answer, Failure, write_wanted};
use crate::flags::{Format, Instance, RingFlags, StartOrFile};
use crate::report::style::{DIM, HEADING};
use crate::report::{count, print_json, try_next};

/// Flags of `headway worst`.
#[derive(ClapArgs, Debug, Default)]
#[command(after_help = "\
Examples:
  headway worst --processes 1000 --tokens 10 --separation 50 --delays every:50
  headway worst --delays 1 --witness worst.json && headway run --start worst.json
  headway worst --format json")]
pub(crate) struct Args {
    #[command(flatten)]
    ring: RingFlags,

    /// Also write the state that attains it, as a state file
    #[arg(long, value_name = "FILE.json", alias = "state")]
    witness: Option<PathBuf>,

    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Finds the worst case and a state that attains it, and checks that it does.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    if !matches!(
        &args.ring.start,
        None | Some(StartOrFile::Start(Start::Worst))
    ) {
        return Err(
            Failure::new("--start has no meaning here: the worst start is the answer")
                .help("drop --start"),
        );
    }
    let flags = RingFlags {
        start: Some(StartOrFile::Start(Start::Worst)),
        ..args.ring.clone()
    };
    let program = args.ring.settings.program();
    if program.measures() {
        let message = format!(
            "--program {program}: the worst start of a ring that measures is not known in closed form"
        );
        return Err(Failure::new(message)
            .help("drop --program, or find it for small rings: `headway check measure --help`"));
    }
    let instance = flags.instance()?;
    let found = Worst::of(&instance)?;
    let (worst, gap, forecast) = (found.case, found.gap, &found.forecast);
    write_wanted(args.witness.as_ref(), || {
        state_file::render(&instance.ring, &instance.start)
    })?;
    match args.format {
        Format::Json => print_json(&found.json(&instance))?,
        Format::Csv => {
            println_csv(&instance, gap, worst, forecast)?;
        }
        Format::Text => {
            let mut out = anstream::stdout().lock();
            writeln!(
                out,
                "{HEADING}{}, {}, {} apart, delays at most {gap} apart{HEADING:#}",
                count(instance.processes(), "process"),
                count(instance.tokens(), "token"),
                instance.separation()
            )?;
            writeln!(
                out,
                "From any state, the last rest is after round {HEADING}{}{HEADING:#} at the latest,\nand the state is legitimate after round {HEADING}{}{HEADING:#} at the latest.",
                worst.last_rest, worst.legitimate_at
            )?;
            writeln!(
                out,
                "{DIM}The last rest: (m-1)·d + max(L, d) - 1 with L the widest gap between delays; the\npaper sketches O(n³).{DIM:#}"
            )?;
            writeln!(
                out,
                "A start that is legitimate after round {}, not before:\n  {}.",
                worst.legitimate_at,
                describe(&instance.start)
            )?;
            match forecast.last_rest() {
                Some(round) if round < worst.last_rest => writeln!(
                    out,
                    "Its last rest is after round {round}; another's is after round {}.",
                    worst.last_rest
                )?,
                _ => writeln!(out, "Its last rest is the latest, too.")?,
            }
            match &args.witness {
                Some(path) => writeln!(out, "Written to {}.", path.display())?,
                None => {
                    let run = instance.command("run", &[]);
                    try_next(&mut out, &[(run, "see it settle")])?;
                }
            }
        }
    }
    Ok(found.attained().into())
}

fn println_csv(
    instance: &Instance,
    gap: u64,
    worst: WorstCase,
    forecast: &Forecast<'_>,
) -> std::io::Result<()> {
    let number = |round: Option<u64>| round.map_or(String::new(), |round| round.to_string());
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "processes,tokens,separation,widest_gap,worst_last_rest,worst_legitimate_at,last_rest,legitimate_at"
    )?;
    writeln!(
        out,
        "{},{},{},{gap},{},{},{},{}",
        instance.processes(),
        instance.tokens(),
        instance.separation(),
        worst.last_rest,
        worst.legitimate_at,
        number(forecast.last_rest()),
        number(forecast.legitimate_at())
    )
}

fn describe(start: &headway_core::Configuration) -> String {
    let processes = || start.processes.iter().enumerate();
    let Some((pile, _)) = processes().find(|(_, process)| process.resting > 0) else {
        return "no token rests".to_owned();
    };
    let mut counters: Vec<String> = processes()
        .filter(|(_, process)| process.counter > 0)
        .map(|(index, process)| format!("counter {} at process {index}", process.counter))
        .collect();
    if counters.is_empty() {
        counters.push("all counters run down".to_owned());
    }
    format!(
        "all tokens resting at process {pile}, {}",
        counters.join(", ")
    )
}
