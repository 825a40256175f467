//! The net before and after, as text.

use std::io::Write;

use headway_answer::petri::separate::{Answer, Side};
use headway_petri::separate::Method;

use crate::command::petri::input::{Plant, place_ids, shortened};
use crate::report::count;
use crate::report::style::{BAD, DIM, GOOD, HEADING};

/// The net before and after, for people.
pub(super) fn write_text(
    out: &mut dyn Write,
    plant: &Plant,
    found: &Answer,
    written: bool,
) -> std::io::Result<()> {
    let Answer {
        request,
        done,
        before,
        after,
    } = found;
    let circuit = &request.circuit;
    writeln!(
        out,
        "{HEADING}{}: {} on a circuit of {}, to be {} apart, by {}{HEADING:#}",
        plant.net.id,
        count(circuit.tokens(&plant.marking), "token"),
        count(circuit.places.len() as u64, "place"),
        request.separation,
        request.method
    )?;
    writeln!(
        out,
        "{DIM}circuit: {}{DIM:#}",
        shortened(&place_ids(&plant.net, &circuit.places))
    )?;
    if !done.at.is_empty() {
        let ids = found.ring_ids(plant);
        writeln!(out, "{DIM}minor rings at: {}{DIM:#}", shortened(&ids))?;
    }
    let cycle = |side: &Side| side.cycle_time.clone().unwrap_or("none".to_owned());
    let critical = |side: &Side| match side.critical_circuit.as_slice() {
        [] => "none".to_owned(),
        circuit => shortened(circuit),
    };
    writeln!(out)?;
    for (when, side) in [("before", before), ("after", after)] {
        writeln!(out, "{HEADING}{:<22}{when}{HEADING:#}", "")?;
        writeln!(out, "  {:<20}{}", "cycle time", cycle(side))?;
        if let ("after", Some(why)) = (when, &side.why_no_cycle_time) {
            writeln!(out, "  {:<20}{DIM}{why}{DIM:#}", "")?;
        }
        writeln!(out, "  {:<20}{}", "critical circuit", critical(side))?;
        let kept = behaviour(side, request.separation);
        writeln!(out, "  {:<20}{kept}", "separation")?;
    }
    let bound = match &done.bound {
        Ok(round) => format!("round {round}, from any marking of the circuit and the minor rings"),
        Err(why) => format!("none: {why}"),
    };
    writeln!(out, "  {:<20}{bound}", "stabilization bound")?;
    writeln!(
        out,
        "  {:<20}{}, {}, {}",
        "added",
        count(done.places_added.len() as u64, "place"),
        count(done.transitions_added.len() as u64, "transition"),
        count(
            (done.net.arcs().len() - plant.net.arcs().len()) as u64,
            "arc"
        )
    )?;
    match request.method {
        Method::MinorRing => {}
        Method::Monitor => {
            writeln!(
                out,
                "\nMonitors need a legal start and tie together nodes {} places apart; a token is given\n\
                 back a round after it leaves a row, so that {} places are kept in effect.",
                request.separation,
                u64::from(request.separation) + 1
            )?;
            if !done.illegal.is_empty() {
                writeln!(
                    out,
                    "{BAD}The start is not legal:{BAD:#} {} rows of {} places have more than one token. \
                     Their monitors'\nsums are wrong and stay wrong whatever fires.",
                    done.illegal.len(),
                    request.separation
                )?;
            }
        }
    }
    if !written {
        writeln!(
            out,
            "\n{DIM}Nothing was written; -o FILE.pnml writes the net.{DIM:#}"
        )?;
    }
    Ok(())
}

fn behaviour(side: &Side, required: u32) -> String {
    let stands = if let Some(round) = side.dead_from {
        format!("{BAD}dead{BAD:#}: nothing fires after round {round}; ")
    } else if side.stands_still {
        format!("{BAD}the tokens are stuck forever{BAD:#}; ")
    } else {
        String::new()
    };
    let kept = match (side.separation_kept, side.separated_from) {
        (_, Some(0)) => format!("{GOOD}at least {required} apart from the start{GOOD:#}"),
        (_, Some(round)) => {
            format!("{GOOD}at least {required} apart from round {round} on{GOOD:#}")
        }
        (Some(0), None) => format!("{BAD}two tokens on one place, again and again{BAD:#}"),
        (Some(kept), None) => format!("{BAD}only {kept} apart, again and again{BAD:#}"),
        (None, None) => format!("not seen to repeat in {} rounds", side.rounds_played),
    };
    stands + &kept
}
