//! `headway petri separate`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use headway_petri::circuit::{self, Circuit};
use headway_petri::separate::{self, Method, NotSeparable, Request};
use headway_petri::{Marking, Net, svg};
use serde_json::{Value, json};

use super::input::{
    NetFlags, Plant, Purpose, place_ids, shortened, transition_ids, write_pnml, write_svg,
};
use crate::failure::{Answer, Failure};
use crate::flags::{TextOrJson, one_of, whole_number};
use crate::report::style::{DIM, HEADING};

mod report;

use report::{Side, report, write_text};

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

    /// D: places from one token to the next
    #[arg(short = 'd', long, value_name = "D", value_parser = whole_number::<u32>)]
    separation: Option<u32>,

    /// Transitions for minor rings, by id [default: every D-th of the circuit]
    #[arg(long, value_name = "T1,T2,...", value_delimiter = ',', alias = "at")]
    transitions: Vec<String>,

    /// How to separate
    #[arg(long, value_parser = one_of::<Method>(), default_value_t)]
    method: Method,

    /// Where to write the net with control added
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
    let circuit = match args.ring.as_slice() {
        [auto] if auto == "auto" => match choose(args, &plant)? {
            Some(circuit) => circuit,
            None => return Ok(Answer::Yes),
        },
        names => {
            let names: Vec<&str> = names.iter().map(|name| name.trim()).collect();
            Circuit::named(&plant.net, &names).map_err(|error| {
                Failure::new(format!("--ring: {error}"))
                    .help("name the places in the order of the tokens' way, or use --ring auto")
            })?
        }
    };
    let Some(separation) = args.separation else {
        return Err(Failure::new("--separation is missing")
            .help("say how many places apart the tokens are to be: --separation D"));
    };
    let request = Request {
        at: positions(args, &plant.net, &circuit)?,
        circuit,
        separation,
        method: args.method,
    };
    let done = separate::add(&plant.net, &plant.marking, &request)
        .map_err(|error| refused(&error, &request, &plant.marking))?;
    let before = Side::of(&plant.net, &plant.marking, &request, args)?;
    let after = Side::of(&done.net, &done.marking, &request, args)?;
    let mut out = anstream::stdout().lock();
    match args.format {
        TextOrJson::Text => write_text(&mut out, args, &plant, &request, &done, &before, &after)?,
        TextOrJson::Json => {
            let value = report(args, &plant, &request, &done, &before, &after);
            writeln!(out, "{value:#}")?;
        }
    }
    drop(out);
    if let Some(path) = &args.output {
        write_pnml(Some(path), &done.net, &done.marking)?;
    }
    let highlight = svg::Highlight {
        places: request.circuit.places.clone(),
        added: done.places_added.clone(),
        caption: format!(
            "{}: {} for separation {separation}",
            plant.net.id, args.method
        ),
    };
    write_svg(args.svg.as_deref(), &done.net, &done.marking, &highlight)?;
    // Tokens that stand still forever are not what was asked for, however far apart.
    let stopped =
        |side: &Side| side.behaviour.recurs.is_some() && side.behaviour.circuit_firings == 0;
    let separated = after.behaviour.separated_from.is_some();
    Ok((separated && (stopped(&before) || !stopped(&after))).into())
}

/// Lists circuits; the one to take, if the choice is clear and something is to
/// be done with it.
fn choose(args: &Args, plant: &Plant) -> Result<Option<Circuit>, Failure> {
    let (circuits, all) = circuit::list(&plant.net, args.list);
    let crowded = |circuit: &&Circuit| circuit.tokens(&plant.marking) >= 2;
    let mut candidates = circuits.iter().filter(crowded);
    let first = candidates.next();
    let clear = all && first.is_some() && candidates.next().is_none();
    if args.separation.is_some() && clear {
        return Ok(first.cloned());
    }
    let mut out = anstream::stdout().lock();
    match args.format {
        TextOrJson::Json => {
            let row = |circuit: &Circuit| {
                json!({
                    "place_names": place_ids(&plant.net, &circuit.places),
                    "tokens": circuit.tokens(&plant.marking),
                    "circuit_rounds": circuit.rounds(&plant.net),
                })
            };
            let rows: Vec<Value> = circuits.iter().map(row).collect();
            writeln!(out, "{:#}", json!({ "circuits": rows, "all": all }))?;
        }
        TextOrJson::Text => {
            writeln!(
                out,
                "{HEADING}tokens  rounds  places of the circuit{HEADING:#}"
            )?;
            for circuit in &circuits {
                let places = place_ids(&plant.net, &circuit.places).join(",");
                let (tokens, rounds) = (circuit.tokens(&plant.marking), circuit.rounds(&plant.net));
                writeln!(out, "{tokens:>6}  {rounds:>6}  {places}")?;
            }
            if !all {
                writeln!(out, "{DIM}and more: --list K lists K of them{DIM:#}")?;
            }
        }
    }
    drop(out);
    if args.separation.is_some() || args.output.is_some() {
        return Err(Failure::new(
            "--ring auto: there is not exactly one circuit with two tokens or more",
        )
        .help("choose one of those listed: --ring P1,P2,..."));
    }
    Ok(None)
}

fn positions(args: &Args, net: &Net, circuit: &Circuit) -> Result<Option<Vec<usize>>, Failure> {
    if args.transitions.is_empty() {
        return Ok(None);
    }
    if args.method == Method::Monitor {
        return Err(
            Failure::new("--transitions has no meaning for monitors, which go everywhere")
                .help("drop --transitions, or use --method minor-ring"),
        );
    }
    let position = |name: &String| {
        let found = circuit.transitions.iter().position(|&t| {
            net.transition_id(t) == name.trim() || net.transition_name(t) == name.trim()
        });
        found.ok_or_else(|| {
            let ids = transition_ids(net, circuit.transitions.iter().copied());
            Failure::new(format!(
                "--transitions {name}: not a transition of the circuit"
            ))
            .help(format!("choose among {}", shortened(&ids)))
        })
    };
    args.transitions
        .iter()
        .map(position)
        .collect::<Result<Vec<usize>, Failure>>()
        .map(Some)
}

fn refused(error: &NotSeparable, request: &Request, marking: &Marking) -> Failure {
    let failure = Failure::new(error);
    match error {
        NotSeparable::NoRoom { .. } => {
            let tokens = request.circuit.tokens(marking).max(1);
            let most = request.circuit.places.len() as u64 / tokens;
            failure.help(format!("give --separation {most} or less, or fewer tokens"))
        }
        NotSeparable::Nothing => failure.help("give --separation 1 or more"),
        _ => failure,
    }
}
