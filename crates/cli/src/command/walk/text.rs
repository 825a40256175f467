//! A walk for people.

use std::io::{self, Write};

use headway_walk::walk::file::WalkJson;
use headway_walk::{Network, Node};

use super::Args;
use crate::report::style::{BAD, DIM, GOOD, HEADING};
use crate::report::{count, names};

/// Writes the whole report.
pub(super) fn write(
    out: &mut dyn Write,
    args: &Args,
    network: &Network,
    walk: &WalkJson<'_>,
) -> io::Result<()> {
    writeln!(
        out,
        "{HEADING}{} on a network of {} and {}{HEADING:#}{DIM}; seed {}{DIM:#}\n",
        count(walk.tokens as u64, "token"),
        count(network.len() as u64, "node"),
        count(network.links().count() as u64, "link"),
        walk.seed
    )?;
    let how = match args.along {
        Some(_) => "as given".to_owned(),
        None => format!("found by {}", walk.method),
    };
    writeln!(
        out,
        "Walk of {HEADING}{}{HEADING:#}, {how}; tokens {} apart on it:",
        count(walk.length as u64, "step"),
        walk.separation_on_walk
    )?;
    let nodes = network.by_name();
    let nodes: Vec<Node> = walk.walk.iter().map(|name| nodes[name]).collect();
    labels(out, network, &nodes)?;
    distance(out, network, walk)?;
    writeln!(out)?;
    visits(out, network, walk)?;
    capacity(out, walk)?;
    match args.output {
        Some(_) => Ok(()),
        None => writeln!(
            out,
            "\n{DIM}Add -o walk.json, then: headway run --walk walk.json{DIM:#}"
        ),
    }
}

/// The labels of nodes, on a few lines.
pub(super) fn labels(out: &mut dyn Write, network: &Network, nodes: &[Node]) -> io::Result<()> {
    let labels: Vec<_> = nodes.iter().map(|&node| network.label(node)).collect();
    names(out, &labels)
}

fn distance(out: &mut dyn Write, network: &Network, walk: &WalkJson<'_>) -> io::Result<()> {
    let (Some(nearest), Some(kept), Some(bound)) =
        (&walk.nearest, walk.distance_kept, walk.upper_bound)
    else {
        return writeln!(out, "\nOne token alone is never near another.");
    };
    let colour = if kept == 0 || walk.distance_wanted.is_some_and(|wanted| kept < wanted) {
        BAD
    } else {
        GOOD
    };
    let label = |name| network.node(name).map(|node| network.label(node));
    let [one, other] = nearest
        .node_names
        .map(|name| label(name).unwrap_or_default());
    let because = walk.upper_bound_because.as_deref().unwrap_or_default();
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
    if kept == bound {
        writeln!(out, "No walk of any length keeps more: {because}.")?;
    } else {
        writeln!(
            out,
            "No walk keeps more than {bound}: {because}. The gap is {}.",
            bound - kept
        )?;
    }
    if let Some(longest) = walk.proved_best_up_to_length {
        writeln!(
            out,
            "Proved: no closed walk of up to {longest} steps over all nodes keeps {} tokens more \
             than {kept} apart.",
            walk.tokens
        )?;
    }
    match walk.distance_wanted {
        None => Ok(()),
        Some(wanted) if kept >= wanted => {
            writeln!(out, "Wanted {wanted}: {GOOD}kept{GOOD:#}.")
        }
        Some(wanted) if bound < wanted => {
            writeln!(out, "Wanted {wanted}: {BAD}impossible{BAD:#}, on any walk.")
        }
        Some(wanted) => writeln!(
            out,
            "Wanted {wanted}: {BAD}not found{BAD:#}; try --effort 10."
        ),
    }
}

fn visits(out: &mut dyn Write, network: &Network, walk: &WalkJson<'_>) -> io::Result<()> {
    let visits = || walk.visits_by_node.values().copied();
    let (least, most) = (visits().min().unwrap_or(0), visits().max().unwrap_or(0));
    if least == most {
        writeln!(
            out,
            "Every node is visited {} in a turn: D4 holds.",
            times(most)
        )?;
    } else {
        let often = |&node: &Node| walk.visits_by_node[network.name(node)] == most;
        let often: Vec<Node> = network.nodes().filter(often).collect();
        writeln!(
            out,
            "Visits in a turn: {least} to {most} per node (most at {}): D4 does not hold.",
            few(network, &often)
        )?;
    }
    let between = || walk.rounds_between_visits.values();
    let least = between().map(|gap| gap[0]).min().unwrap_or(0);
    let most = between().map(|gap| gap[1]).max().unwrap_or(0);
    let waits = match least == most {
        true => count(most, "round"),
        false => format!("{least} to {most} rounds"),
    };
    writeln!(out, "From one visit to the next a node waits {waits}.")?;
    if let Some(words) = &walk.equal_visits.because {
        writeln!(out, "{words}.")?;
    }
    match walk.hamiltonian_cycle.as_deref() {
        Some("not found") => writeln!(
            out,
            "A walk that visits every node exactly once was neither found nor excluded."
        ),
        Some(said) => match said.strip_prefix("no: ") {
            Some(reason) => {
                writeln!(out, "No walk visits every node exactly once: {reason}.")
            }
            None => Ok(()),
        },
        None => Ok(()),
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
