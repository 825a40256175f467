//! `headway petri import`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use headway_sim::state_file;

use super::input::{NetFlags, Purpose};
use crate::failure::{Answer, Failure, write_to};

/// Flags of `headway petri import`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway petri import ring.pnml -o state.json
  headway run --start state.json

The shape of the net decides which process delays: a minor ring of D places with
one token joined at its transition. A relay has a loop of one place with one
token. Every place holds tokens for one round.")]
pub(super) struct Args {
    #[command(flatten)]
    net: NetFlags,

    /// Write the state file to this file [default: standard output]
    #[arg(short, long, value_name = "FILE.json")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let plant = args.net.read(Purpose::Use)?;
    let (ring, state) = plant.ring().map_err(|why| {
        Failure::new(format!("{}: {why}", args.net.file.display())).help(
            "only nets of rings have a state file; `headway petri analyze` takes any net, \
             `headway petri separate` adds minor rings to one",
        )
    })?;
    let text = state_file::render(&ring, &state);
    write_to(args.output.as_deref(), |out| out.write_all(text.as_bytes()))?;
    Ok(Answer::Yes)
}
