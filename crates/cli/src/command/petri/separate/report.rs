//! The net before and after, as text and as JSON.

use std::io::Write;

use headway_petri::separate::{self, Behaviour, Request, Separated};
use headway_petri::{EventGraph, Marking, Net, maxplus};
use serde_json::{Value, json};

use super::{Args, Method};
use crate::command::petri::input::{Plant, place_ids, shortened, transition_ids};
use crate::failure::Failure;
use crate::report::style::{BAD, DIM, GOOD, HEADING};

/// What a net does, before or after.
pub(super) struct Side {
    cycle_time: Result<String, String>,
    critical_circuit: Vec<String>,
    pub(super) behaviour: Behaviour,
}

impl Side {
    pub(super) fn of(
        net: &Net,
        marking: &Marking,
        request: &Request,
        args: &Args,
    ) -> Result<Side, Failure> {
        let spectrum = EventGraph::of(net, marking)
            .map_err(|why| why.to_string())
            .and_then(|graph| maxplus::spectrum(&graph).map_err(|why| why.to_string()));
        let behaviour = separate::observe(
            net,
            marking,
            &request.circuit,
            request.separation,
            args.max_rounds,
        )
        .map_err(|error| Failure::new(format!("{}: {error}", args.net.file.display())))?;
        Ok(Side {
            critical_circuit: spectrum
                .as_ref()
                .map_or_else(|_| Vec::new(), |s| place_ids(net, &s.critical_circuit)),
            cycle_time: spectrum.map(|s| s.cycle_time.to_string()),
            behaviour,
        })
    }

    fn json(&self) -> Value {
        let seen = &self.behaviour;
        json!({
            "cycle_time": self.cycle_time.as_ref().ok(),
            "why_no_cycle_time": self.cycle_time.as_ref().err(),
            "critical_circuit": self.critical_circuit,
            "separation_kept": seen.separation,
            "separated_from": seen.separated_from,
            "dead_from": seen.dead_from,
            "stands_still": seen.recurs.is_some() && seen.circuit_firings == 0,
            "recurs_from": seen.recurs.map(|(round, _)| round),
            "period": seen.recurs.map(|(_, period)| period),
            "rounds_played": seen.rounds,
        })
    }

    fn text(&self, required: u32) -> String {
        let seen = &self.behaviour;
        let stands = if let Some(round) = seen.dead_from {
            format!("{BAD}dead{BAD:#}: nothing fires after round {round}")
        } else if seen.recurs.is_some() && seen.circuit_firings == 0 {
            format!("{BAD}the tokens stand still forever{BAD:#}")
        } else {
            String::new()
        };
        let kept = match (seen.separation, seen.separated_from) {
            (_, Some(0)) => format!("{GOOD}at least {required} apart from the start{GOOD:#}"),
            (_, Some(round)) => {
                format!("{GOOD}at least {required} apart from round {round} on{GOOD:#}")
            }
            (Some(0), None) => format!("{BAD}two tokens on one place, again and again{BAD:#}"),
            (Some(kept), None) => format!("{BAD}only {kept} apart, again and again{BAD:#}"),
            (None, None) => format!("not seen to repeat in {} rounds", seen.rounds),
        };
        if stands.is_empty() {
            kept
        } else {
            format!("{stands}; {kept}")
        }
    }
}

/// Everything, as JSON.
pub(super) fn report(
    args: &Args,
    plant: &Plant,
    request: &Request,
    done: &Separated,
    before: &Side,
    after: &Side,
) -> Value {
    json!({
        "net": plant.net.id,
        "method": args.method.to_string(),
        "circuit": place_ids(&plant.net, &request.circuit.places),
        "tokens": request.circuit.tokens(&plant.marking),
        "separation": request.separation,
        "at_transitions": ring_ids(plant, request, done),
        "places_added": done.places_added.len(),
        "transitions_added": done.transitions_added.len(),
        "arcs_added": done.net.arcs().len() - plant.net.arcs().len(),
        "illegal_rows_at_start": done.illegal.len(),
        "stabilization_bound": done.bound.as_ref().ok(),
        "why_no_bound": done.bound.as_ref().err().map(ToString::to_string),
        "before": before.json(),
        "after": after.json(),
    })
}

/// The transitions that have got minor rings.
fn ring_ids(plant: &Plant, request: &Request, done: &Separated) -> Vec<String> {
    let at = done.at.iter();
    let transitions = at.map(|&position| request.circuit.transitions[position]);
    transition_ids(&plant.net, transitions)
}

/// The same for people.
pub(super) fn write_text(
    out: &mut impl Write,
    args: &Args,
    plant: &Plant,
    request: &Request,
    done: &Separated,
    before: &Side,
    after: &Side,
) -> std::io::Result<()> {
    let circuit = &request.circuit;
    writeln!(
        out,
        "{HEADING}{}: {} tokens on a circuit of {} places, to be {} apart, by {}{HEADING:#}",
        plant.net.id,
        circuit.tokens(&plant.marking),
        circuit.places.len(),
        request.separation,
        args.method
    )?;
    writeln!(
        out,
        "{DIM}circuit: {}{DIM:#}",
        shortened(&place_ids(&plant.net, &circuit.places))
    )?;
    if !done.at.is_empty() {
        let ids = ring_ids(plant, request, done);
        writeln!(out, "{DIM}minor rings at: {}{DIM:#}", shortened(&ids))?;
    }
    let none = || "none".to_owned();
    let cycle = |side: &Side| side.cycle_time.clone().unwrap_or_else(|_| none());
    let critical = |side: &Side| {
        if side.critical_circuit.is_empty() {
            none()
        } else {
            shortened(&side.critical_circuit)
        }
    };
    writeln!(out, "\n{HEADING}{:<22}before{HEADING:#}", "")?;
    writeln!(out, "  {:<20}{}", "cycle time", cycle(before))?;
    writeln!(out, "  {:<20}{}", "critical circuit", critical(before))?;
    writeln!(
        out,
        "  {:<20}{}",
        "separation",
        before.text(request.separation)
    )?;
    writeln!(out, "{HEADING}{:<22}after{HEADING:#}", "")?;
    writeln!(out, "  {:<20}{}", "cycle time", cycle(after))?;
    if let Err(why) = &after.cycle_time {
        writeln!(out, "  {:<20}{DIM}{why}{DIM:#}", "")?;
    }
    writeln!(out, "  {:<20}{}", "critical circuit", critical(after))?;
    writeln!(
        out,
        "  {:<20}{}",
        "separation",
        after.text(request.separation)
    )?;
    let bound = match &done.bound {
        Ok(round) => format!("round {round}, from any marking of the circuit and the minor rings"),
        Err(why) => format!("none: {why}"),
    };
    writeln!(out, "  {:<20}{bound}", "stabilization bound")?;
    writeln!(
        out,
        "  {:<20}{} places, {} transitions, {} arcs",
        "added",
        done.places_added.len(),
        done.transitions_added.len(),
        done.net.arcs().len() - plant.net.arcs().len()
    )?;
    match args.method {
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
    if args.output.is_none() {
        writeln!(
            out,
            "\n{DIM}Nothing was written; -o FILE.pnml writes the net.{DIM:#}"
        )?;
    }
    Ok(())
}
