//! `headway chain`: the open system (paper, section 3).

use std::io::Write;

use clap::Args as ClapArgs;
use headway_core::Separation;
use headway_core::chain::Chain;
use headway_sim::open_chain::{Arrivals, OpenChain};
use serde::Serialize;

use crate::failure::{Answer, Failure};
use crate::flags::{
    BYTES_PER_PROCESS, BYTES_PER_TOKEN, Format, check_memory, missing_memory, seed, whole_number,
};
use crate::report::diagram::{Diagram, Dot, Shown};
use crate::report::style::{self, DIM, HEADING, tick};
use crate::report::{print_json, try_next};
use headway_sim::seed::DEFAULT_SEED;

/// Flags of `headway chain`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway chain                                a burst of tokens, thinned out by the first process
  headway chain --arrivals every:3             one too often: they pile up before the first process
  headway chain --arrivals random:20% --scrambled 6
  headway chain --format json

Tokens arrive from outside at the first process, which delays; all others only
relay; the last one lets them out. With a separation of 2 or more, tokens end up at
least that far apart from the second process on, whatever the start and the arrivals.")]
pub(crate) struct Args {
    /// Number of processes
    #[arg(short = 'n', long, value_name = "N", default_value_t = 24, value_parser = whole_number::<usize>)]
    processes: usize,

    /// Hops to keep between successive tokens from the second process on
    #[arg(short = 'd', long, value_name = "D", default_value_t = 5, value_parser = whole_number::<u32>)]
    separation: u32,

    /// When tokens arrive: burst:K (all in round 1), every:K rounds, random:P% a round
    #[arg(long, value_name = "WHEN", default_value = "burst:4")]
    arrivals: Arrivals,

    /// Start with this many tokens scattered over the chain
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = whole_number::<u32>)]
    scrambled: u32,

    /// How many rounds
    #[arg(long, value_name = "R", default_value_t = 24, value_parser = whole_number::<u64>)]
    rounds: u64,

    /// Seed of every random choice: a number, or `random` for a new one [default: 2009]
    #[arg(long, value_name = "S", value_parser = seed)]
    seed: Option<u64>,

    /// How to print the result; csv is every token in every round
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What a run of the chain found.
#[derive(Default)]
struct Outcome {
    arrived: u64,
    left: u64,
    /// The last round, or 0 for the start, after which two tokens from the second
    /// process on were too close, or one rested there.
    last_close: Option<u64>,
    /// The smallest distance from the second process on, after that.
    min_distance_after: Option<u64>,
    waiting: u64,
    separated: bool,
}

/// What `headway chain` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ChainJson {
    seed: u64,
    processes: usize,
    separation: u32,
    rounds: u64,
    /// Tokens that came in.
    arrived: u64,
    /// Tokens that went out.
    left: u64,
    /// Tokens before the first process that are not let in yet.
    tokens_waiting: u64,
    /// The last round after which two tokens were too close, from the second process on.
    last_close: Option<u64>,
    min_distance_after: Option<u64>,
    /// Whether tokens ended up as far apart as wanted.
    separated: bool,
}

/// Refuses more rounds or tokens than anybody can wait for.
fn admit(args: &Args) -> Result<(), Failure> {
    const STEPS_PER_SECOND: u64 = 50_000_000;
    let arriving = match args.arrivals {
        Arrivals::Burst(tokens) => u64::from(tokens),
        Arrivals::Every(rounds) => args.rounds / rounds.max(1),
        Arrivals::Percent(chance) => args.rounds / 100 * chance,
    };
    let tokens = arriving + u64::from(args.scrambled);
    if let Some(missing) = missing_memory(tokens, BYTES_PER_TOKEN) {
        return Err(
            Failure::new(format!("{tokens} tokens on this chain {missing}"))
                .help("give fewer --rounds, --arrivals or --scrambled"),
        );
    }
    let per_round = u128::from(tokens) + args.processes as u128;
    let days = u128::from(args.rounds) * per_round / u128::from(STEPS_PER_SECOND) / 86_400;
    if days > 1 {
        return Err(Failure::new(format!(
            "{} rounds of this chain would take about {days} days",
            args.rounds
        ))
        .help("give fewer --rounds"));
    }
    Ok(())
}

/// Runs and reports.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    let separation = Separation::new(args.separation).ok_or_else(|| {
        Failure::new(format!(
            "--separation {}: expected 1 to {}",
            args.separation,
            Separation::MAX
        ))
    })?;
    if args.processes < 2 {
        return Err(Failure::new(format!(
            "--processes {}: a chain needs a second process for tokens to be apart at",
            args.processes
        ))
        .help("give --processes 2 or more"));
    }
    check_memory("processes", args.processes as u64, BYTES_PER_PROCESS)?;
    admit(args)?;
    let chain = Chain::new(separation, args.processes)
        .ok_or_else(|| Failure::new("a chain needs processes"))?;
    let mut out = anstream::stdout().lock();
    match args.format {
        Format::Text => {
            let (columns, rows) = style::screen();
            let mut delays = vec![false; args.processes];
            delays[0] = true;
            let mut diagram = Diagram::new(delays, columns, rows.saturating_sub(16));
            let outcome = simulate(chain, args, |round, open| {
                diagram.observe(&Shown {
                    round,
                    tokens: dots(open),
                    at_work: Vec::new(),
                    closest: open.chain().min_distance(),
                    legitimate: false,
                    fault: None,
                });
                Ok(())
            })?;
            write_text(&mut out, args, &diagram, &outcome)?;
            Ok(outcome.separated.into())
        }
        Format::Json => {
            let outcome = simulate(chain, args, |_, _| Ok(()))?;
            drop(out);
            print_json(&ChainJson {
                seed: args.seed.unwrap_or(DEFAULT_SEED),
                processes: args.processes,
                separation: args.separation,
                rounds: args.rounds,
                arrived: outcome.arrived,
                left: outcome.left,
                tokens_waiting: outcome.waiting,
                last_close: outcome.last_close,
                min_distance_after: outcome.min_distance_after,
                separated: outcome.separated,
            })?;
            Ok(outcome.separated.into())
        }
        Format::Csv => {
            writeln!(out, "round,token,process,resting")?;
            let outcome = simulate(chain, args, |round, open| {
                for dot in dots(open) {
                    writeln!(out, "{round},{},{},{}", dot.token, dot.process, dot.resting)?;
                }
                Ok(())
            })?;
            Ok(outcome.separated.into())
        }
    }
}

fn simulate(
    chain: Chain,
    args: &Args,
    mut show: impl FnMut(u64, &OpenChain) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let seed = args.seed.unwrap_or(DEFAULT_SEED);
    let mut open = OpenChain::new(chain, args.arrivals, args.scrambled, seed);
    let mut outcome = Outcome::default();
    for round in 0..=args.rounds {
        if round > 0 {
            open.round();
        }
        let chain = open.chain();
        outcome.separated = chain.separated();
        if outcome.separated {
            let smallest = outcome
                .min_distance_after
                .into_iter()
                .chain(chain.min_distance());
            outcome.min_distance_after = smallest.min();
        } else {
            outcome.last_close = Some(round);
            outcome.min_distance_after = None;
        }
        show(round, &open)?;
    }
    (outcome.arrived, outcome.left) = (open.arrived(), open.left());
    outcome.waiting = u64::from(open.chain().processes()[0].resting);
    Ok(outcome)
}

fn dots(open: &OpenChain) -> Vec<Dot> {
    let tokens = open.tokens().into_iter();
    tokens
        .map(|token| Dot {
            process: token.process,
            token: token.number as usize,
            resting: token.resting,
        })
        .collect()
}

fn write_text(
    out: &mut impl Write,
    args: &Args,
    diagram: &Diagram,
    outcome: &Outcome,
) -> std::io::Result<()> {
    writeln!(
        out,
        "{HEADING}An open chain of {} processes, tokens {} apart from the second on, seed {}{HEADING:#}",
        args.processes,
        args.separation,
        args.seed.unwrap_or(DEFAULT_SEED)
    )?;
    writeln!(
        out,
        "{DIM}Tokens come from the left; only the first process delays.{DIM:#}\n"
    )?;
    diagram.write(out, args.rounds)?;
    writeln!(
        out,
        "\n{} tokens arrived, {} left at the end, {} wait at the first process.",
        outcome.arrived, outcome.left, outcome.waiting
    )?;
    match outcome.last_close {
        Some(round) => writeln!(
            out,
            "Too close, or resting on the way, up to round {round}."
        )?,
        None => writeln!(out, "Never too close and never resting on the way.")?,
    }
    let kept = match outcome.min_distance_after {
        Some(hops) => format!("at least {hops} apart since then"),
        None => "never two of them at once since then".to_owned(),
    };
    writeln!(
        out,
        "  {} from the second process on, tokens are {} apart   {DIM}{kept}{DIM:#}",
        tick(outcome.separated),
        args.separation
    )?;
    let commands = [
        (
            "headway chain --arrivals every:3",
            "more than can be let through",
        ),
        ("headway chain --scrambled 9", "from a bad start"),
        ("headway", "the same idea closed to a ring"),
    ];
    try_next(out, &commands)
}
