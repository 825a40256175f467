//! `headway petri`: rings as Petri nets, exact analysis, and separation added to
//! anyone's plant.

use clap::{Args as ClapArgs, Subcommand};

use crate::failure::{Answer, Failure};

mod analyze;
mod export;
mod import;
mod input;
pub(crate) mod play;
mod separate;

/// Flags of `headway petri`.
#[derive(ClapArgs, Debug)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  headway petri export --processes 12 --tokens 3 --separation 4 --to pnml -o ring.pnml
  headway petri analyze ring.pnml --svg ring.svg
  headway petri play ring.pnml --rounds 12
  headway petri import ring.pnml -o state.json
  headway petri separate plant.pnml --ring auto
  headway petri separate plant.pnml --ring auto --separation 4 -o controlled.pnml

A FILE is a net in PNML or a state file of a ring in JSON, detected from its first
character."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write the net of a ring (or another net) as PNML, for TINA or for Graphviz
    Export(Box<export::Args>),
    /// Read the net of a ring and write the ring's state file
    Import(import::Args),
    /// Play a net, round by round
    Play(play::Args),
    /// Structure, cycle time, critical circuit and transient of a net, exactly
    Analyze(analyze::Args),
    /// Keep the tokens of a circuit apart, by control added to a net
    Separate(separate::Args),
}

/// Runs a subcommand.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    match &args.command {
        Command::Export(args) => export::run(args),
        Command::Import(args) => import::run(args),
        Command::Play(args) => play::run(args),
        Command::Analyze(args) => analyze::run(args),
        Command::Separate(args) => separate::run(args),
    }
}
