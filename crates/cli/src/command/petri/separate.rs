//! `headway petri separate`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use headway_answer::petri::separate::{Circuits, Question, no_clear_circuit};
use headway_petri::separate::Method;
use headway_petri::svg;

use super::input::{NetFlags, Purpose, write_pnml, write_svg};
use crate::failure::{Answer, Failure};
use crate::flags::{TextOrJson, one_of, whole_number};
use crate::report::print;
use crate::report::style::{DIM, HEADING};

mod report;

use report::write_text;

/// Flags of `headway petri separate`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway petri separate plant.pnml --ring auto
  headway petri separate plant.pnml --ring auto --separation 4 --transitions m1,m7 -o new.pnml
  headway petri separate plant.pnml --ring auto --separation 4 --method monitor

minor-ring conjoins rings of D places with one token at transitions of the circuit:
tokens pass there at least D rounds apart, so that they end up separated from any
marking, and again after any fault. monitor adds a place for every D places in a
row that lets in one token at most: bad states are forbidden outright, but the start
has to be legal, and nodes D places apart are tied together.

Exit code 1: from the marking given the tokens do not become separated, or stop.")]
pub(super) struct Args {
    #[command(flatten)]
    net: NetFlags,

    /// The places of the circuit in order, by id or name, or `auto` to list circuits
    ///
    /// With `auto` and a single circuit of at least two tokens, that one is taken.
    #[arg(long, value_name = "P1,P2,...", value_delimiter = ',', required = true)]
    ring: Vec<String>,

    /// Places to keep between successive tokens
    #[arg(short = 'd', long, value_name = "D", value_parser = whole_number::<u32>)]
    separation: Option<u32>,

    /// Transitions for minor rings, by id [default: every D-th of the circuit]
    #[arg(long, value_name = "T1,T2,...", value_delimiter = ',', alias = "at")]
    transitions: Vec<String>,

    /// How to separate
    #[arg(long, value_parser = one_of::<Method>(), default_value_t)]
    method: Method,

    /// Write the net with control added to this file
    #[arg(short, long, value_name = "FILE.pnml")]
    output: Option<PathBuf>,

    /// Draw the net with control added
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,

    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,

    /// Play at most this many rounds to see what the net does
    #[arg(long, value_name = "R", default_value_t = 100_000, value_parser = whole_number::<u64>)]
    max_rounds: u64,

    /// With `--ring auto`: list at most this many circuits
    #[arg(long, value_name = "K", default_value_t = 100, value_parser = whole_number::<usize>)]
    list: usize,
}

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let plant = args.net.read(Purpose::of(args.output.as_ref()))?;
    let question = Question {
        ring: args.ring.clone(),
        separation: args.separation,
        transitions: args.transitions.clone(),
        method: args.method,
        max_rounds: args.max_rounds,
        list: args.list,
    };
    let circuit = match question.circuit(&plant)? {
        Ok(circuit) => circuit,
        Err(circuits) => {
            show(args, &circuits)?;
            if args.separation.is_some() || args.output.is_some() {
                return Err(no_clear_circuit());
            }
            return Ok(Answer::Yes);
        }
    };
    let found = question.separate(&args.net.file, &plant, circuit)?;
    let done = &found.done;
    print(
        args.format,
        || found.json(&plant),
        |out| write_text(out, &plant, &found, args.output.is_some()),
    )?;
    if let Some(path) = &args.output {
        write_pnml(Some(path), &done.net, &done.marking)?;
    }
    let highlight = svg::Highlight {
        places: found.request.circuit.places.clone(),
        added: done.places_added.clone(),
        caption: format!(
            "{}: {} for separation {}",
            plant.net.id, args.method, found.request.separation
        ),
    };
    write_svg(args.svg.as_deref(), &done.net, &done.marking, &highlight)?;
    Ok(found.holds().into())
}

/// Lists circuits.
fn show(args: &Args, circuits: &Circuits) -> Result<(), Failure> {
    Ok(print(
        args.format,
        || circuits,
        |out| {
            writeln!(
                out,
                "{HEADING}tokens  rounds  places of the circuit{HEADING:#}"
            )?;
            for circuit in &circuits.circuits {
                let places = circuit.place_names.join(",");
                let (tokens, rounds) = (circuit.tokens, circuit.circuit_rounds);
                writeln!(out, "{tokens:>6}  {rounds:>6}  {places}")?;
            }
            if !circuits.all {
                writeln!(out, "{DIM}and more: --list K lists K of them{DIM:#}")?;
            }
            Ok(())
        },
    )?)
}
