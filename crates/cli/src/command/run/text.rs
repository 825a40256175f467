//! A run for people.

use std::io::{self, Write};

use headway_core::desiderata::{Desideratum, Verdict};
use headway_sim::beliefs::Beliefs;
use headway_sim::{Fault, Outcome, Run};

use super::over_network::OverNetwork;
use crate::flags::Instance;
use crate::report::diagram::Diagram;
use crate::report::style::{self, DIM, HEADING, verdict as mark};
use crate::report::{count, try_next};

/// Lines around the diagram.
pub(super) const LINES: usize = 23;

const NOT_JUDGED: &str = "not judged: not legitimate yet";

/// Below this many rows, only one thing is suggested to try next.
const TALL_SCREEN_ROWS: usize = 30;

/// What there is to report of a run.
pub(super) struct Seen<'a> {
    pub(super) diagram: &'a Diagram,
    pub(super) outcome: &'a Outcome,
    pub(super) network: Option<&'a OverNetwork>,
    pub(super) beliefs: Option<&'a Beliefs>,
}

/// Writes the whole report.
pub(super) fn write(
    out: &mut impl Write,
    instance: &Instance,
    run: &Run,
    seen: &Seen<'_>,
    rows: usize,
) -> io::Result<()> {
    let outcome = seen.outcome;
    writeln!(out, "{HEADING}{}{HEADING:#}", instance.title())?;
    writeln!(
        out,
        "{DIM}A capital is a token on its way, a small letter one that rests, a digit a pile.{DIM:#}"
    )?;
    writeln!(out)?;
    seen.diagram.write(out, outcome.rounds)?;
    writeln!(out)?;
    settling(out, instance, outcome)?;
    distances(out, instance.separation(), outcome)?;
    if let Some(beliefs) = seen.beliefs {
        believed(out, instance, beliefs)?;
    }
    recoveries(out, &run.faults, outcome)?;
    verdicts(out, instance.tokens(), outcome, |verdict| {
        recovers(instance, outcome, verdict)
    })?;
    if let Some(network) = seen.network {
        network.write(out)?;
    }
    suggest(out, instance, run, rows)
}

pub(crate) fn settling(
    out: &mut impl Write,
    instance: &Instance,
    outcome: &Outcome,
) -> io::Result<()> {
    let proved = |worst: Option<u64>| match worst {
        Some(worst) => format!("; proved worst case from any state: {worst}."),
        None => ".".to_owned(),
    };
    let worst_case = instance.worst_case();
    let worst = proved(worst_case.map(|worst| worst.legitimate_at));
    legitimate(out, outcome, &worst)?;
    if !instance.feasible() {
        let until = outcome
            .last_rest
            .map_or(String::new(), |round| format!("; here until round {round}"));
        return writeln!(out, "In a jam tokens rest again and again{until}.");
    }
    let worst = proved(worst_case.map(|worst| worst.last_rest));
    let fault_at = outcome.recoveries.last().map_or(0, |last| last.fault_at);
    match outcome.last_rest {
        // The bound counts from the last fault.
        Some(round) if fault_at > 0 => match round.checked_sub(fault_at) {
            Some(rounds) => writeln!(
                out,
                "The last rest was after round {round}, {rounds} after the last fault{worst}"
            ),
            None => writeln!(
                out,
                "The last rest was after round {round}, before the last fault{worst}"
            ),
        },
        Some(round) => writeln!(out, "The last rest was after round {round}{worst}"),
        None => writeln!(out, "No token ever rested{worst}"),
    }
}

/// When the ring became legitimate, if it did; `proved` says what is known beforehand.
pub(super) fn legitimate(out: &mut impl Write, outcome: &Outcome, proved: &str) -> io::Result<()> {
    let (good, bad) = (style::GOOD, style::BAD);
    match outcome.legitimate_at {
        Some(0) => writeln!(out, "{good}Legitimate{good:#} from the start{proved}"),
        Some(round) => {
            let struck = outcome.recoveries.iter().map(|recovery| recovery.fault_at);
            let struck = struck.filter(|at| (1..round).contains(at)).max();
            let since = struck.map(|at| format!(", {} after a fault", round - at));
            let since = since.unwrap_or_default();
            writeln!(
                out,
                "{good}Legitimate{good:#} after round {HEADING}{round}{HEADING:#}{since}{proved}"
            )
        }
        None => {
            let rounds = count(outcome.rounds, "round");
            writeln!(out, "{bad}Not legitimate{bad:#} in {rounds}{proved}")
        }
    }
}

pub(crate) fn distances(out: &mut impl Write, wanted: u32, outcome: &Outcome) -> io::Result<()> {
    let hops = |distance: Option<u64>| distance.map_or("-".to_owned(), |hops| hops.to_string());
    let (before, after) = (
        hops(outcome.min_distance_before),
        hops(outcome.min_distance_after),
    );
    writeln!(
        out,
        "Smallest distance between tokens: {before} before, {after} after; wanted {wanted}."
    )
}

/// Most of a list of what processes believe in.
const MAX_BELIEFS: usize = 32;

/// What processes believe in that find the separation themselves.
fn believed(out: &mut impl Write, instance: &Instance, beliefs: &Beliefs) -> io::Result<()> {
    let d = instance.separation();
    if let Some(round) = beliefs.all_since() {
        return writeln!(
            out,
            "All measuring processes estimate {d} since round {round}."
        );
    }
    let (less, more) = beliefs.wrong();
    let whose = |count: usize, what: &str| match count {
        0 => String::new(),
        1 => format!(" 1 process believes in {what} than {d}."),
        _ => format!(" {count} processes believe in {what} than {d}."),
    };
    let all = beliefs.believed().iter();
    let list: Vec<String> = all
        .map(|belief| belief.map_or("-".to_owned(), |belief| belief.to_string()))
        .collect();
    let list = match list.len() {
        0..=MAX_BELIEFS => format!("Believed by process: {}.", list.join(" ")),
        _ => beliefs.range().map_or(String::new(), |(least, most)| {
            format!("Processes believe in {least} to {most}.")
        }),
    };
    writeln!(out, "{list}{}{}", whose(less, "less"), whose(more, "more"))
}

pub(super) fn recoveries(
    out: &mut impl Write,
    faults: &[Fault],
    outcome: &Outcome,
) -> io::Result<()> {
    let mut struck: Vec<_> = faults.iter().collect();
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

/// A line for each property; `special` says what only this kind of run says of it.
pub(super) fn verdicts(
    out: &mut impl Write,
    tokens: u64,
    outcome: &Outcome,
    special: impl Fn(&Verdict) -> Option<String>,
) -> io::Result<()> {
    writeln!(out)?;
    for verdict in &outcome.desiderata {
        let usual = || match (verdict.of, verdict.holds) {
            (Desideratum::D1, _) => format!("{tokens} throughout"),
            (Desideratum::D4, _) => match outcome.visits {
                Some((min, max)) if min == max => {
                    format!("{} each since then", count(min, "visit"))
                }
                Some((min, max)) => format!("{min} to {} each since then", count(max, "visit")),
                None => NOT_JUDGED.to_owned(),
            },
            (Desideratum::D5, _) => "not judged: it may yet recover".to_owned(),
            (_, None) => NOT_JUDGED.to_owned(),
            (Desideratum::D2, _) => match outcome.min_distance_after {
                Some(hops) => format!("at least {hops} since then"),
                None => "there is only one".to_owned(),
            },
            (Desideratum::D3, _) => "no rest since then".to_owned(),
        };
        writeln!(
            out,
            "  {} {} {:<42} {DIM}{}{DIM:#}",
            mark(verdict.holds),
            verdict.of.name(),
            verdict.of.asks(),
            special(verdict).unwrap_or_else(usual)
        )?;
    }
    Ok(())
}

/// How a ring in lock-step recovers.
fn recovers(instance: &Instance, outcome: &Outcome, verdict: &Verdict) -> Option<String> {
    let holds = verdict.holds.filter(|_| verdict.of == Desideratum::D5)?;
    Some(match (holds, outcome.recoveries.len()) {
        (false, _) if !instance.feasible() => "a jam never ends".to_owned(),
        (false, _) => format!("not in {}", count(outcome.rounds, "round")),
        (true, 1) => "from this start".to_owned(),
        (true, more) => format!("from this start and {}", count(more as u64 - 1, "fault")),
    })
}

fn suggest(out: &mut impl Write, instance: &Instance, run: &Run, rows: usize) -> io::Result<()> {
    let (n, m, d) = (
        instance.processes(),
        instance.tokens(),
        u64::from(instance.separation()),
    );
    let command = |changed: &[(&str, &str)]| instance.command("run", changed);
    let mut commands = Vec::new();
    let watched = command(&[("fault", "scramble@30"), ("watch", "")]);
    if instance.is_of_file() {
        commands.push((watched, "scramble it while it runs, animated"));
        commands.push((instance.command("forecast", &[]), "without running it"));
    } else if instance.ring.measures() {
        commands.push((watched, "scramble it while it runs, animated"));
        commands.push((command(&[("start", "piled")]), "all tokens in one pile"));
        commands.push((command(&[("seed", "random")]), "another start"));
    } else if instance.feasible() {
        let (more, d) = ((n / d + 1).to_string(), d.to_string());
        let slowest = command(&[("start", "worst"), ("delays", "1")]);
        commands.push((slowest, "slowest start, one delay for all"));
        commands.push((watched, "scramble it while it runs, animated"));
        let mut changed = vec![("tokens", &*more), ("separation", &*d)];
        if instance.given.iter().any(|(flag, _)| flag == "start") {
            // There may be no such start of a jam.
            changed.push(("start", "random"));
        }
        let jam = command(&changed);
        commands.push((jam, "one token too many: a traffic jam"));
        let another = command(&[("start", "random"), ("seed", "random")]);
        commands.push((another, "another start"));
    } else {
        if n >= d {
            let (fewer, d) = ((n / d).to_string(), d.to_string());
            let fits = command(&[("tokens", &fewer), ("separation", &d)]);
            commands.push((fits, "as many tokens as fit"));
        }
        if n >= m {
            let closer = (n / m).to_string();
            let fits = command(&[("separation", &closer)]);
            commands.push((fits, "as far apart as these tokens fit"));
        }
        commands.push((
            instance.command("forecast", &[]),
            "where they queue forever",
        ));
    }
    let again = command(&[]);
    commands.retain(|(command, _)| *command != again || !run.faults.is_empty());
    if rows < TALL_SCREEN_ROWS {
        commands.truncate(1);
    }
    try_next(out, &commands)
}
