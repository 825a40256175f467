//! A walk for people.

use std::io::{self, Write};

use headway_walk::walk::file::WalkJson;
use headway_walk::walk::hamiltonian::Cycle;
use headway_walk::walk::search::{Found, Request};
use headway_walk::{Network, Node};

use super::Args;
use crate::report::style::{BAD, DIM, GOOD, HEADING};
use crate::report::{count, names};

/// Writes the whole report.
pub(super) fn write(
    out: &mut dyn Write,
    args: &Args,
    network: &Network,
    request: &Request,
    found: &Found,
    json: &WalkJson<'_>,
) -> io::Result<()> {
    let links = network.links().count() as u64;
    writeln!(
        out,
        "{HEADING}{} on a network of {} and {}{HEADING:#}{DIM}; seed {}{DIM:#}\n",
        count(request.tokens as u64, "token"),
        count(network.len() as u64, "node"),
        count(links, "link"),
        request.seed
    )?;
    the_walk(out, args, network, request, found)?;
    distance(out, network, request, found)?;
    writeln!(out)?;
    visits(out, network, found, json)?;
    capacity(out, json)?;
    match args.output {
        Some(_) => Ok(()),
        None => writeln!(
            out,
            "\n{DIM}Add -o walk.json, then: headway run --walk walk.json{DIM:#}"
        ),
    }
}

fn the_walk(
    out: &mut dyn Write,
    args: &Args,
    network: &Network,
    request: &Request,
    found: &Found,
) -> io::Result<()> {
    let how = match args.along {
        Some(_) => "as given".to_owned(),
        None => format!("found by {}", found.method),
    };
    writeln!(
        out,
        "Walk of {HEADING}{}{HEADING:#}, {how}; tokens {} apart on it:",
        count(found.walk.len() as u64, "step"),
        found.separation(request.tokens)
    )?;
    labels(out, network, found.walk.positions())
}

/// The labels of nodes, on a few lines.
pub(super) fn labels(out: &mut dyn Write, network: &Network, nodes: &[Node]) -> io::Result<()> {
    let labels: Vec<_> = nodes.iter().map(|&node| network.label(node)).collect();
    names(out, &labels)
}

fn distance(
    out: &mut dyn Write,
    network: &Network,
    request: &Request,
    found: &Found,
) -> io::Result<()> {
    let (Some(nearest), Some(bound)) = (found.nearest, &found.bound) else {
        return writeln!(out, "\nOne token alone is never near another.");
    };
    let kept = nearest.distance;
    let colour = if kept == 0 || request.wanted.is_some_and(|wanted| kept < wanted) {
        BAD
    } else {
        GOOD
    };
    let (one, other) = nearest.positions;
    let (one, other) = (
        network.label(found.walk.at(one as usize)),
        network.label(found.walk.at(other as usize)),
    );
    if kept == 0 {
        writeln!(
            out,
            "\n{colour}Distance kept in the network: 0{colour:#}: two tokens meet at {one}."
        )?;
    } else {
        writeln!(
            out,
            "\n{colour}Distance kept in the network: {kept}{colour:#}, at all times {DIM}(nearest: \
             {one} and {other}){DIM:#}"
        )?;
    }
    if kept == bound.distance {
        writeln!(out, "No walk of any length keeps more: {}.", bound.reason)?;
    } else {
        writeln!(
            out,
            "No walk keeps more than {}: {}. The gap is {}.",
            bound.distance,
            bound.reason,
            bound.distance - kept
        )?;
    }
    if let Some(longest) = found.proved_up_to {
        writeln!(
            out,
            "Proved: no closed walk of up to {longest} steps over all nodes keeps {} tokens more \
             than {kept} apart.",
            request.tokens
        )?;
    }
    if let Some(wanted) = request.wanted {
        match kept {
            _ if kept >= wanted => writeln!(out, "Wanted {wanted}: {GOOD}kept{GOOD:#}.")?,
            _ if bound.distance < wanted => {
                writeln!(out, "Wanted {wanted}: {BAD}impossible{BAD:#}, on any walk.")?;
            }
            _ => writeln!(
                out,
                "Wanted {wanted}: {BAD}not found{BAD:#}; try --effort 10."
            )?,
        }
    }
    Ok(())
}

fn visits(
    out: &mut dyn Write,
    network: &Network,
    found: &Found,
    json: &WalkJson<'_>,
) -> io::Result<()> {
    let visits = || json.visits_by_node.values().copied();
    let (least, most) = (visits().min().unwrap_or(0), visits().max().unwrap_or(0));
    if least == most {
        writeln!(
            out,
            "Every node is visited {} in a turn: D4 holds.",
            times(most)
        )?;
    } else {
        let often = |&node: &Node| json.visits_by_node[network.name(node)] == most;
        let often: Vec<Node> = network.nodes().filter(often).collect();
        writeln!(
            out,
            "Visits in a turn: {least} to {most} per node (most at {}): D4 does not hold.",
            few(network, &often)
        )?;
    }
    let between = || json.rounds_between_visits.values();
    let least = between().map(|gap| gap[0]).min().unwrap_or(0);
    let most = between().map(|gap| gap[1]).max().unwrap_or(0);
    let waits = match least == most {
        true => count(most, "round"),
        false => format!("{least} to {most} rounds"),
    };
    writeln!(out, "From one visit to the next a node waits {waits}.")?;
    if let Some(words) = &json.equal_visits.because {
        writeln!(out, "{words}.")?;
    }
    match &found.hamiltonian {
        Some(Cycle::Impossible(reason)) => {
            writeln!(out, "No walk visits every node exactly once: {reason}.")
        }
        Some(Cycle::NotFound) => writeln!(
            out,
            "A walk that visits every node exactly once was neither found nor excluded."
        ),
        _ => Ok(()),
    }
}

fn times(number: u32) -> String {
    match number {
        1 => "once".to_owned(),
        more => format!("{more} times"),
    }
}

fn few(network: &Network, nodes: &[Node]) -> String {
    let mut names: Vec<_> = nodes
        .iter()
        .take(4)
        .map(|&node| network.label(node))
        .collect();
    if nodes.len() > names.len() {
        names.push("…".into());
    }
    names.join(", ")
}

fn capacity(out: &mut dyn Write, walk: &WalkJson<'_>) -> io::Result<()> {
    let (Some(by_distance), Some(by_tokens)) = (&walk.capacity, &walk.kept_by_tokens) else {
        return writeln!(
            out,
            "{DIM}(--table tables what other numbers of tokens keep on this walk.){DIM:#}"
        );
    };
    if by_distance.len() > 1 {
        writeln!(
            out,
            "\n{HEADING}Any number of tokens, on this walk{HEADING:#}"
        )?;
        writeln!(
            out,
            "{DIM}  at least so far apart   keep distance   so many fit{DIM:#}"
        )?;
        for row in by_distance.iter().skip(1) {
            writeln!(
                out,
                "  {:>21} {:>15} {:>13}",
                row.separation_on_walk, row.distance, row.tokens
            )?;
        }
    }
    writeln!(
        out,
        "\n{HEADING}Tokens spread evenly, on this walk{HEADING:#}"
    )?;
    writeln!(out, "{DIM}   tokens   apart   keep distance{DIM:#}")?;
    for row in by_tokens {
        writeln!(
            out,
            "  {:>7} {:>7} {:>15}",
            row.tokens,
            row.separation_on_walk,
            row.distance_kept.unwrap_or(0)
        )?;
    }
    Ok(())
}
