//! `headway run`, which is also what `headway` alone does.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use headway_sim::run::{EngineChoice, Frame};
use headway_sim::{Fault, Outcome, Run, run as simulate};

use crate::failure::{Answer, Failure, warn};
use crate::flags::{Format, Instance, RingFlags, StartOrFile, one_of, whole_number};
use crate::report::diagram::{Diagram, Shown, dots};
use crate::report::progress::Progress;
use crate::report::style;
use crate::report::{count, json, print_json};

mod over_network;
pub(super) mod text;
mod watch;

use over_network::OverNetwork;

/// Flags of `headway run`.
#[derive(ClapArgs, Debug, Default)]
#[command(after_help = "\
Examples:
  headway run --processes 40 --tokens 5 --separation 8 --delays every:8
  headway run --program measure --processes 30 --tokens 3
  headway run --fault scramble@30 --fault pile:7@60
  headway run --start worst --format json
  headway run --walk walk.json --start piled
  headway run --rounds 100 --trace run.jsonl

Faults: scramble, scramble:25%, scramble:3,5-8, pile, pile:I, move:FROM:TO,
counter:I:VALUE; each followed by @ROUND, after which it strikes.")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) ring: RingFlags,

    /// Run on this walk over a network: a file that `headway walk -o` wrote
    ///
    /// One process for each position of the walk; the tokens and the separation that the
    /// walk was made for, unless told otherwise. Also reports how far apart the tokens
    /// are in the network.
    #[arg(long, value_name = "FILE.json", help_heading = "Ring")]
    walk: Option<PathBuf>,

    /// Stop after this many rounds [default: legitimate and one turn more]
    #[arg(long, value_name = "R", value_parser = whole_number::<u64>)]
    rounds: Option<u64>,

    /// Strike the ring after a round (repeatable)
    #[arg(long = "fault", value_name = "FAULT@ROUND")]
    faults: Vec<Fault>,

    /// How to print the result; csv is every token in every round
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Also write every state to this file, one JSON object a line
    #[arg(long, value_name = "FILE.jsonl")]
    trace: Option<PathBuf>,

    /// Animate the run in the terminal
    #[arg(long)]
    watch: bool,

    /// How to simulate; the result is the same
    #[arg(long, value_parser = one_of::<EngineChoice>(), default_value_t, hide_short_help = true)]
    engine: EngineChoice,
}

/// Runs and reports.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    let (instance, mut network) = args.instance()?;
    for fault in &args.faults {
        fault
            .fits(&instance.ring)
            .map_err(|error| Failure::new(format!("--fault {fault}: {error}")))?;
        if args.rounds.is_some_and(|rounds| fault.after_round > rounds) {
            return Err(
                Failure::new(format!("--fault {fault} would strike after the last round"))
                    .help("give more --rounds, or strike earlier"),
            );
        }
    }
    explain_jam(&instance);
    let run = Run {
        ring: instance.ring.clone(),
        start: instance.start.clone(),
        faults: args.faults.clone(),
        seed: instance.seed,
        rounds: args.rounds,
        engine: args.engine,
    };
    if args.watch {
        if network.is_some() {
            return Err(Failure::new("--watch shows a ring, not a network")
                .help("drop --watch to see the distances in the network"));
        }
        if args.format != Format::Text || args.trace.is_some() {
            return Err(Failure::new("--watch contradicts --format and --trace")
                .help("drop --watch to get the data"));
        }
        return watch::run(&instance, &run);
    }
    let mut trace = args.trace.as_deref().map(Trace::create).transpose()?;
    if let Some(trace) = &mut trace {
        trace.line(&json::trace_header(&instance))?;
    }
    let outcome = match args.format {
        Format::Text => in_text(&instance, &run, trace.as_mut(), network.as_mut())?,
        Format::Json => in_json(&instance, &run, trace.as_mut(), network.as_mut())?,
        Format::Csv => in_csv(&run, trace.as_mut(), network.as_mut())?,
    };
    if let Some(trace) = trace {
        trace.finish()?;
    }
    Ok(outcome.legitimate.into())
}

impl Args {
    /// The ring, and the network below it if it lies on a walk.
    fn instance(&self) -> Result<(Instance, Option<OverNetwork>), Failure> {
        let Some(path) = &self.walk else {
            return Ok((self.ring.instance()?, None));
        };
        let file = over_network::read(path)?;
        let instance = if let Some(StartOrFile::File(_)) = self.ring.start {
            self.ring.instance()?
        } else {
            over_network::flags(&file, path, &self.ring)?.instance()?
        };
        if instance.ring.len() != file.walk.len() {
            return Err(Failure::new(format!(
                "the state file has {} processes and the walk {} has {} positions",
                instance.ring.len(),
                path.display(),
                file.walk.len()
            ))
            .help("one process for each position of the walk"));
        }
        let network = OverNetwork::new(file, &instance);
        Ok((instance, Some(network)))
    }
}

/// Says what is going to happen on an infeasible ring.
fn explain_jam(instance: &Instance) {
    if instance.feasible() {
        return;
    }
    let (n, m, d) = (
        instance.processes(),
        instance.tokens(),
        u64::from(instance.separation()),
    );
    let fits = if n / m >= 1 {
        format!(
            "What fits: {} {} apart, or {} {d} apart.",
            count(m, "token"),
            n / m,
            count(n / d, "token")
        )
    } else {
        format!("What fits: at most {n} tokens.")
    };
    warn(format_args!(
        "{m} tokens {d} apart need {} processes and the ring has {n}: this is a traffic jam. Tokens \
         will queue for ever and each delay lets one through every {d} rounds. {fits}",
        u128::from(m) * u128::from(d),
    ));
}

fn in_text(
    instance: &Instance,
    run: &Run,
    trace: Option<&mut Trace>,
    mut network: Option<&mut OverNetwork>,
) -> Result<Outcome, Failure> {
    let (columns, rows) = style::screen();
    let delays = instance
        .ring
        .programs()
        .iter()
        .map(|p| p.delays())
        .collect();
    let mut diagram = Diagram::new(delays, columns, rows.saturating_sub(text::LINES));
    let outcome = observe(run, trace, |frame| {
        if let Some(network) = &mut network {
            network.observe(frame);
        }
        diagram.observe(&Shown {
            round: frame.round,
            tokens: &dots(frame.tokens),
            closest: frame.tokens.min_distance(),
            settled: frame.legitimate,
            settled_word: "legitimate",
            event: frame.fault.map(ToString::to_string),
        });
        Ok(())
    })?;
    let mut out = anstream::stdout().lock();
    let network = network.as_deref();
    text::write(&mut out, instance, run, &diagram, &outcome, rows, network)?;
    Ok(outcome)
}

fn in_json(
    instance: &Instance,
    run: &Run,
    trace: Option<&mut Trace>,
    mut network: Option<&mut OverNetwork>,
) -> Result<Outcome, Failure> {
    let outcome = observe(run, trace, |frame| {
        if let Some(network) = &mut network {
            network.observe(frame);
        }
        Ok(())
    })?;
    let mut json = json::outcome(instance, &run.faults, &outcome);
    if let Some(network) = network {
        json.insert("network".to_owned(), network.json());
    }
    print_json(&json.into())?;
    Ok(outcome)
}

fn in_csv(
    run: &Run,
    trace: Option<&mut Trace>,
    mut network: Option<&mut OverNetwork>,
) -> Result<Outcome, Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let more = if network.is_some() {
        ",node,network_distance"
    } else {
        ""
    };
    writeln!(out, "round,token,process,resting,legitimate{more}")?;
    let outcome = observe(run, trace, |frame| {
        let least = network.as_mut().and_then(|network| network.observe(frame));
        for (token, place) in frame.tokens.places().iter().enumerate() {
            write!(
                out,
                "{},{token},{},{},{}",
                frame.round,
                place.process(),
                place.resting,
                frame.legitimate
            )?;
            if let Some(network) = &network {
                let node = quoted(network.node(place.process()));
                let least = least.map_or(String::new(), |least| least.to_string());
                write!(out, ",{node},{least}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(outcome)
}

/// A field of comma-separated values.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Runs with progress and trace; the first failure of `show` stops the run.
fn observe(
    run: &Run,
    mut trace: Option<&mut Trace>,
    mut show: impl FnMut(&Frame<'_>) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let mut progress = Progress::new(run.rounds, "rounds");
    let mut failed = None;
    let outcome = simulate(run, |frame| {
        if frame.round % 64 == 0 {
            progress.at(frame.round);
        }
        let traced = match &mut trace {
            Some(trace) => trace.line(&json::trace_line(frame)),
            None => Ok(()),
        };
        match traced.and_then(|()| show(frame)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                failed = Some(failure);
                ControlFlow::Break(())
            }
        }
    })
    .map_err(Failure::new)?;
    match failed {
        Some(failure) => Err(failure),
        None => Ok(outcome),
    }
}

/// The trace file.
struct Trace {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Trace {
    fn create(path: &Path) -> Result<Trace, Failure> {
        let file = File::create(path).map_err(|error| Failure::file("write", path, &error))?;
        Ok(Trace {
            path: path.to_owned(),
            file: BufWriter::new(file),
        })
    }

    fn line(&mut self, value: &serde_json::Value) -> Result<(), Failure> {
        writeln!(self.file, "{value}").map_err(|error| Failure::file("write", &self.path, &error))
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.file
            .flush()
            .map_err(|error| Failure::file("write", &self.path, &error))
    }
}

/// Standard output and input are both a person's.
fn on_a_terminal() -> bool {
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}
