//! `headway`: keep circulating tokens apart, from any state.
//!
//! Flags are parsed to plain values first ([`flags`]); each subcommand is one
//! file under [`command`]; what people see is made in [`report`].
#![forbid(unsafe_code)]
// They panic where nobody reads: `failure::say` and `failure::remark` do not.
#![warn(clippy::print_stdout, clippy::print_stderr)]

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ContextKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use headway_service::config::former;

mod command;
mod failure;
mod flags;
mod interrupt;
mod partial;
mod report;
#[cfg(test)]
mod schemas;

use failure::{Answer, Failure};

const ABOUT: &str = "Keep m tokens at least d hops apart while they circulate on a ring of n processes: \
no coordinator, equal turns, recovery from any state.";

const EXAMPLES: &str = "\
Examples:
  headway                                  a scrambled ring of 24 recovers
  headway --processes 30 --watch           one of 30, animated (run is the default)
  headway run --start worst --delays 1     the slowest initial state
  headway forecast --at 1000000000000      the state after round 10^12
  headway chain                            the open chain that explains the idea
  headway experiment paper                 the paper's graphs, with verdicts
  headway walk --generate grid:4x5         a ring over a network, tokens apart in it
  headway plan groups.txt                  a ring order that keeps replicas apart
  headway check delay-relay                every initial state, the exact worst case
  headway serve                            the dashboard, in a browser
  headway petri export -o ring.pnml        the ring as a Petri net, for other tools
  headway ring --for 5s --transport udp    real nodes on real sockets, with permits
  headway fleet demo --for 20s             five real nodes, one circulating permit
  headway node --config node.toml          this machine as a node of a fleet

Exit codes: 0 success, 1 the answer is no (not legitimate, a property fails),
2 wrong usage or input, 130 stopped by Ctrl-C, 141 broken pipe.";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "headway", version, about = ABOUT, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a ring in lock-step and show what happens (this is the default)
    Run(Box<command::run::Args>),
    /// Forecast the whole future of a ring without running it
    Forecast(Box<command::forecast::Args>),
    /// Find the slowest initial state and how long it takes
    Worst(Box<command::worst::Args>),
    /// Run the open chain of the paper's motivating example
    Chain(command::chain::Args),
    /// Reproduce the paper's evaluation, or run another experiment
    Experiment(command::experiment::Args),
    /// Measure any grid of rings: statistics, tables, pictures
    Sweep(Box<command::sweep::Args>),
    /// Petri nets: exchange, play, exact analysis, and separation added to a plant
    Petri(command::petri::Args),
    /// Lay a ring over a network so that tokens stay apart in it
    Walk(Box<command::walk::Args>),
    /// Order a ring so that conflicting members are never down together
    Plan(command::plan::Args),
    /// Check every initial state and every schedule; exact answers with witnesses
    Check(Box<command::check::Args>),
    /// Write an instance for SPIN, PRISM, Storm or TLC
    Export(Box<command::export::Args>),
    /// Run a ring of real nodes on this machine and inject faults
    Ring(Box<command::ring::Args>),
    /// Serve the dashboard on this machine
    Serve(command::serve::Args),
    /// A node of a fleet: permits for commands, programs and FleetLock clients
    Node(Box<command::node::Args>),
    /// Run one command on every member of a fleet, each under a permit
    Rollout(command::rollout::Args),
    /// Demonstrate a fleet with real nodes on this machine
    Fleet(command::fleet::Args),
    /// Print a completion script for your shell
    Completions(command::generate::CompletionsArgs),
    /// Print the manual page
    Man,
}

fn main() -> ExitCode {
    let cli = match parse(arguments(std::env::args_os())) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match dispatch(cli) {
        Ok(answer) => answer.into(),
        Err(failure) => failure::report(failure),
    }
}

/// What is asked for. clap prints its own errors, which have exit code 2, and help and
/// version, which have 0.
fn parse(arguments: Vec<OsString>) -> Result<Cli, ExitCode> {
    let matches = takes_negative_numbers(Cli::command()).try_get_matches_from(arguments);
    let parsed = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| match error.print() {
        Ok(()) => {
            let wrong = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
            for text in wrong.iter().filter_map(|kind| error.get(*kind)) {
                let text = text.to_string();
                let name = text.split([' ', '=']).next().unwrap_or_default();
                let today = former(name).or_else(|| former(&format!("node {name}")));
                if let Some(today) = today {
                    failure::remark(format_args!("\nnote: `{name}` {today}"));
                }
            }
            ExitCode::from(if error.use_stderr() { 2 } else { 0 })
        }
        Err(unwritten) => failure::report(unwritten.into()),
    })
}

/// `-5` after a flag is a number, and the flag says what is wrong with it.
fn takes_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .allow_negative_numbers(true)
        .mut_subcommands(takes_negative_numbers)
}

/// The arguments, with the default command before flags that belong to none.
fn arguments(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = given.collect();
    let own = ["-h", "--help", "-V", "--version"];
    if let Some(first) = arguments.get(1).and_then(|first| first.to_str())
        && first.starts_with('-')
        && !own.contains(&first)
    {
        arguments.insert(1, "run".into());
    }
    arguments
}

fn dispatch(cli: Cli) -> Result<Answer, Failure> {
    // The service has handlers of its own.
    if !matches!(cli.command, Some(Command::Node(_))) {
        interrupt::listen();
    }
    match cli.command {
        None => command::run::run(&command::run::Args::default()),
        Some(Command::Run(args)) => command::run::run(&args),
        Some(Command::Forecast(args)) => command::forecast::run(&args),
        Some(Command::Worst(args)) => command::worst::run(&args),
        Some(Command::Chain(args)) => command::chain::run(&args),
        Some(Command::Experiment(args)) => command::experiment::run(&args),
        Some(Command::Sweep(args)) => command::sweep::run(&args),
        Some(Command::Petri(args)) => command::petri::run(&args),
        Some(Command::Walk(args)) => command::walk::run(&args),
        Some(Command::Plan(args)) => command::plan::run(&args),
        Some(Command::Check(args)) => command::check::run(&args),
        Some(Command::Export(args)) => command::export::run(&args),
        Some(Command::Ring(args)) => command::ring::run(&args),
        Some(Command::Serve(args)) => command::serve::run(&args),
        Some(Command::Node(args)) => command::node::run(&args),
        Some(Command::Rollout(args)) => command::rollout::run(&args),
        Some(Command::Fleet(args)) => command::fleet::run(&args),
        Some(Command::Completions(args)) => command::generate::completions(&args),
        Some(Command::Man) => command::generate::man(),
    }
}
