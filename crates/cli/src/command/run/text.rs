//! A run for people.

use std::io::{self, Write};

use headway_core::desiderata::Desideratum;
use headway_sim::{Outcome, Run};

use super::over_network::OverNetwork;
use crate::flags::Instance;
use crate::report::diagram::Diagram;
use crate::report::style::{self, DIM, HEADING, tick};
use crate::report::{count, try_next};

/// Lines around the diagram.
pub(super) const LINES: usize = 23;

/// Below this many rows, only one thing is suggested to try next.
const TALL_SCREEN_ROWS: usize = 30;

/// Writes the whole report.
pub(super) fn write(
    out: &mut impl Write,
    instance: &Instance,
    run: &Run,
    diagram: &Diagram,
    outcome: &Outcome,
    rows: usize,
    network: Option<&OverNetwork>,
) -> io::Result<()> {
    writeln!(out, "{HEADING}{}{HEADING:#}", title(instance))?;
    writeln!(
        out,
        "{DIM}A capital is a token on its way, a small letter one that rests, a digit a pile.{DIM:#}"
    )?;
    writeln!(out)?;
    diagram.write(out, outcome.rounds)?;
    writeln!(out)?;
    settling(out, instance, outcome)?;
    distances(out, instance, outcome)?;
    recoveries(out, run, outcome)?;
    verdicts(out, instance, outcome)?;
    if let Some(network) = network {
        network.write(out)?;
    }
    suggest(out, instance, rows)
}

/// What was started.
pub(crate) fn title(instance: &Instance) -> String {
    let delays = instance.ring.delay_count();
    let who = if delays == instance.ring.len() {
        "all delay".to_owned()
    } else {
        format!("{delays} of them delay")
    };
    format!(
        "{}, {who}; {}, {} apart; {}, seed {}",
        count(instance.processes(), "process"),
        count(instance.tokens(), "token"),
        instance.separation(),
        instance.start_name,
        instance.seed
    )
}

pub(crate) fn settling(
    out: &mut impl Write,
    instance: &Instance,
    outcome: &Outcome,
) -> io::Result<()> {
    let (good, bad) = (style::GOOD, style::BAD);
    let proved = |worst: Option<u64>| match worst {
        Some(worst) => format!("; proved worst case from any state: {worst}."),
        None => ".".to_owned(),
    };
    let worst_case = instance.worst_case();
    let worst = proved(worst_case.map(|worst| worst.legitimate_at));
    match outcome.legitimate_at {
        Some(0) => writeln!(out, "{good}Legitimate{good:#} from the start{worst}")?,
        Some(round) => writeln!(
            out,
            "{good}Legitimate{good:#} after round {HEADING}{round}{HEADING:#}{worst}"
        )?,
        None => writeln!(
            out,
            "{bad}Not legitimate{bad:#} in {}{worst}",
            count(outcome.rounds, "round")
        )?,
    }
    let worst = proved(worst_case.map(|worst| worst.last_rest));
    match outcome.last_rest {
        Some(round) => writeln!(out, "The last rest was after round {round}{worst}"),
        None => writeln!(out, "No token ever rested{worst}"),
    }
}

pub(crate) fn distances(
    out: &mut impl Write,
    instance: &Instance,
    outcome: &Outcome,
) -> io::Result<()> {
    let hops = |distance: Option<u64>| distance.map_or("-".to_owned(), |hops| hops.to_string());
    writeln!(
        out,
        "Smallest distance between tokens: {} before, {} after; wanted {}.",
        hops(outcome.min_distance_before),
        hops(outcome.min_distance_after),
        instance.separation()
    )
}

fn recoveries(out: &mut impl Write, run: &Run, outcome: &Outcome) -> io::Result<()> {
    let mut struck: Vec<_> = run.faults.iter().collect();
    struck.sort_by_key(|fault| fault.after_round);
    for (fault, recovery) in struck.into_iter().zip(&outcome.recoveries[1..]) {
        match recovery.rounds() {
            Some(rounds) => writeln!(
                out,
                "Fault {fault}: recovered in {}.",
                count(rounds, "round")
            )?,
            None => writeln!(
                out,
                "Fault {fault}: not recovered before the next or the end."
            )?,
        }
    }
    Ok(())
}

fn verdicts(out: &mut impl Write, instance: &Instance, outcome: &Outcome) -> io::Result<()> {
    writeln!(out)?;
    for verdict in &outcome.desiderata {
        let detail = match verdict.of {
            Desideratum::D1 => format!("{} throughout", instance.tokens()),
            Desideratum::D4 => match outcome.visits {
                Some((min, max)) if min == max => {
                    format!("{} each since then", count(min, "visit"))
                }
                Some((min, max)) => format!("{min} to {} each since then", count(max, "visit")),
                None => "never legitimate, so not asked".to_owned(),
            },
            Desideratum::D2 | Desideratum::D3 if outcome.min_distance_after.is_none() => {
                "never legitimate, so not asked".to_owned()
            }
            Desideratum::D2 => format!(
                "at least {} since then",
                outcome.min_distance_after.unwrap_or(0)
            ),
            Desideratum::D3 => "no rest since then".to_owned(),
            Desideratum::D5 => match outcome.recoveries.len() {
                1 => "from this start".to_owned(),
                more => format!("from this start and {}", count(more as u64 - 1, "fault")),
            },
        };
        writeln!(
            out,
            "  {} {} {:<42} {DIM}{detail}{DIM:#}",
            tick(verdict.holds),
            verdict.of.name(),
            verdict.of.asks()
        )?;
    }
    Ok(())
}

fn suggest(out: &mut impl Write, instance: &Instance, rows: usize) -> io::Result<()> {
    let d = instance.separation();
    let too_many = instance.processes() / u64::from(d) + 1;
    let jam = format!("headway run --tokens {too_many} --separation {d}");
    let commands = [
        (
            "headway run --start worst --delays 1",
            "slowest start, one delay for all",
        ),
        (
            "headway run --fault scramble@30 --watch",
            "scramble it while it runs, animated",
        ),
        (jam.as_str(), "one token too many: a traffic jam"),
        ("headway run --seed random", "another start"),
    ];
    let shown = if rows < TALL_SCREEN_ROWS {
        1
    } else {
        commands.len()
    };
    try_next(out, &commands[..shown])
}
