//! `headway petri analyze`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use headway_answer::petri::Analysis;
use headway_petri::markings::NoMarkings;
use headway_petri::{invariant, svg};

use super::input::{NetFlags, Plant, Purpose, place_ids, shortened, write_svg};
use crate::failure::{Answer, Failure};
use crate::flags::{TextOrJson, whole_number};
use crate::interrupt::is_stopped;
use crate::report::progress::Progress;
use crate::report::style::{DIM, HEADING, verdict};
use crate::report::{count, print};

mod behaviour;

/// Flags of `headway petri analyze`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway petri analyze ring.pnml
  headway petri analyze plant.pnml --format json
  headway petri analyze plant.pnml --svg plant.svg        the critical part is coloured

Everything is exact, without floating point or iteration limit. Of an event graph no
markings are searched, and the cycle time comes with a certificate that separate code has
verified. Of other nets markings are made up to a limit; \"?\" comes with the reason. After
Ctrl-C what is known by then is printed; the exit code is 130.")]
pub(super) struct Args {
    #[command(flatten)]
    net: NetFlags,

    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,

    /// Draw the net, critical part coloured
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,

    /// Play at most this many rounds for the transient [default: by the net's size]
    #[arg(long, value_name = "R", value_parser = whole_number::<u64>)]
    max_rounds: Option<u64>,

    /// Visit at most this many markings of a net that is not a live event graph
    /// [default: 100000, fewer with more than 200 places]
    #[arg(long, value_name = "COUNT", value_parser = whole_number::<usize>)]
    max_markings: Option<usize>,
}

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let plant = args.net.read(Purpose::Use)?;
    let mut progress = Progress::new(None, "markings");
    let mut go_on = |made: usize| {
        if made.is_multiple_of(1024) {
            progress.at(made as u64);
        }
        !is_stopped()
    };
    let analysis = Analysis::of(&plant, args.max_rounds, args.max_markings, &mut go_on);
    drop(progress);
    print(
        args.format,
        || analysis.json(&plant),
        |out| write_text(out, &analysis, &plant),
    )?;
    if let Some(path) = &args.svg {
        let spectrum = analysis.spectrum.as_ref().ok();
        let highlight = svg::Highlight {
            places: spectrum.map_or_else(Vec::new, |s| s.critical_arcs.clone()),
            added: Vec::new(),
            caption: spectrum.map_or_else(String::new, |s| {
                format!("{}: cycle time {}", plant.net.id, s.cycle_time)
            }),
        };
        write_svg(Some(path), &plant.net, &plant.marking, &highlight)?;
    }
    let markings = analysis.behaviour.as_ref().map(|found| &found.markings);
    if let Some(Err(NoMarkings::Stopped { .. })) = markings {
        return Err(Failure::interrupted(
            "stopped: this is what was known by then",
        ));
    }
    Ok(Answer::Yes)
}

fn write_text(out: &mut dyn Write, found: &Analysis, plant: &Plant) -> std::io::Result<()> {
    let net = &plant.net;
    writeln!(
        out,
        "{HEADING}{}{HEADING:#}   {}, {}, {}, {}",
        net.id,
        count(net.places() as u64, "place"),
        count(net.transitions() as u64, "transition"),
        count(net.arcs().len() as u64, "arc"),
        count(plant.marking.total(), "token")
    )?;
    if let Some(ring) = &found.ring {
        writeln!(
            out,
            "{DIM}the net of a ring: {} processes ({} delay), {}, separation {}{DIM:#}",
            ring.processes,
            ring.delay_count,
            count(ring.tokens, "token"),
            ring.separation
        )?;
    }
    writeln!(out, "\n{HEADING}Structure{HEADING:#}")?;
    let (holds, why) = &found.event_graph;
    row(
        out,
        Some(*holds),
        "event graph",
        why.as_deref().unwrap_or(""),
    )?;
    row(out, found.strongly_connected, "strongly connected", "")?;
    let why = found.unmarked.as_ref().map_or_else(String::new, |circuit| {
        format!(
            "no token on the circuit {}",
            shortened(&place_ids(net, circuit))
        )
    });
    if let Some(behaviour) = &found.behaviour {
        behaviour::write_text(out, behaviour, plant, (found.live, &why))?;
    } else {
        row(out, found.live, "live", &why)?;
        row(out, found.bounded, "bounded", "")?;
        let most = match found.largest_bound {
            Some(most) => format!("at most {most} on a place, in any order of firing"),
            None if found.safe.is_none() => "too many places to search from each".to_owned(),
            None => String::new(),
        };
        row(out, found.safe, "safe", &most)?;
    }
    if let Some(invariants) = &found.invariants {
        let generate = match invariants.len() {
            1 => "1 circuit generates".to_owned(),
            circuits => format!("{circuits} circuits generate"),
        };
        writeln!(out, "  P-invariants: {generate} all")?;
        for invariant::Invariant { places, tokens } in invariants.iter().take(3) {
            let (tokens, places) = (count(*tokens, "token"), shortened(&place_ids(net, places)));
            writeln!(out, "    {DIM}{tokens} on {places}{DIM:#}")?;
        }
    }
    writeln!(out, "\n{HEADING}Timing{HEADING:#}")?;
    match &found.spectrum {
        Err(why) => writeln!(out, "  no cycle time: {why}")?,
        Ok(spectrum) => {
            writeln!(
                out,
                "  cycle time {HEADING}{}{HEADING:#} rounds per firing   {DIM}certificate verified{DIM:#}",
                spectrum.cycle_time
            )?;
            let circuit = shortened(&place_ids(net, &spectrum.critical_circuit));
            writeln!(out, "  critical circuit: {circuit}")?;
            writeln!(
                out,
                "  critical in all: {}, {}; cyclicity {}",
                count(spectrum.critical_arcs.len() as u64, "place"),
                count(spectrum.critical_nodes.len() as u64, "transition"),
                spectrum.cyclicity
            )?;
        }
    }
    write_transient(out, found)
}

fn write_transient(out: &mut dyn Write, found: &Analysis) -> std::io::Result<()> {
    if let Some(rounds) = found.transient() {
        match &found.transient {
            Ok(played) => {
                writeln!(
                    out,
                    "  transient {HEADING}{rounds}{HEADING:#} rounds, exactly; then the pattern repeats every {}",
                    played.period
                )?;
                if played.rounds != rounds {
                    writeln!(
                        out,
                        "    {DIM}minor rings included: {} rounds{DIM:#}",
                        played.rounds
                    )?;
                }
            }
            Err(why) => writeln!(
                out,
                "  transient {HEADING}{rounds}{HEADING:#} rounds, exactly, by the forecast   {DIM}not played: {why}{DIM:#}"
            )?,
        }
    } else if let Err(why) = &found.transient {
        writeln!(out, "  transient not known: {why}")?;
    }
    if let Some(worst) = found.ring.as_ref().and_then(|ring| ring.worst_last_rest) {
        let what = "worst case over all markings of this ring";
        writeln!(out, "    {DIM}{what}: {worst}{DIM:#}")?;
    }
    for bound in &found.published {
        let bounds = if bound.name.contains(" and ") {
            "bound"
        } else {
            "bounds"
        };
        writeln!(
            out,
            "    {DIM}{} {bounds} the critical transitions' by {} = {} ({}){DIM:#}",
            bound.name, bound.formula, bound.rounds, bound.source
        )?;
    }
    Ok(())
}

fn row(out: &mut dyn Write, holds: Option<bool>, what: &str, why: &str) -> std::io::Result<()> {
    let mark = verdict(holds);
    let why = match (holds, why) {
        (None, "") => "not decided".to_owned(),
        (_, why) => why.to_owned(),
    };
    writeln!(out, "  {mark} {what:<20} {DIM}{why}{DIM:#}")
}
