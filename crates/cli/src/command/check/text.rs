//! The report for people.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use headway_check::{Report, Trace};

use crate::report::grouped;
use crate::report::style::{BAD, DIM, GOOD, HEADING, tick};

/// States of a run that are printed; JSON has all.
const SHOWN: usize = 40;

pub(super) fn write(
    out: &mut dyn Write,
    report: &Report,
    elapsed: Duration,
    saved: Option<&Path>,
) -> io::Result<()> {
    let scheduler = report.scheduler.map_or(String::new(), |scheduler| {
        format!(", {scheduler} scheduler")
    });
    writeln!(
        out,
        "{HEADING}{}{HEADING:#}: {}{scheduler}",
        report.model, report.instance
    )?;
    writeln!(
        out,
        "{} states, {} of them legitimate; {:.2} s",
        grouped(&report.states),
        grouped(&report.legitimate),
        elapsed.as_secs_f64()
    )?;
    writeln!(out)?;
    let width = report
        .properties
        .iter()
        .map(|property| property.name.len())
        .max()
        .unwrap_or(0);
    for property in &report.properties {
        let (mark, name) = (tick(property.holds), &property.name);
        writeln!(out, "{mark} {name:<width$}  {}", property.says)?;
        if let Some(counterexample) = &property.counterexample {
            run(out, counterexample)?;
        }
    }
    worst(out, report)?;
    if let Some(engine) = &report.figures.engine {
        writeln!(out, "\nEngine: {engine}")?;
    }
    if !report.reductions.is_empty() {
        writeln!(out, "\nReductions used, each exact:")?;
        for reduction in &report.reductions {
            writeln!(out, "  {reduction}")?;
        }
    }
    witness(out, report, saved)?;
    let all = report.all_hold();
    let style = if all { GOOD } else { BAD };
    let verdict = match (all, report.property("convergence")) {
        (true, Some(_)) => "Every property holds, from every state.",
        (true, None) => "Every property holds.",
        (false, _) => "Not every property holds.",
    };
    writeln!(out, "\n{style}{verdict}{style:#}")
}

fn worst(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let Some(worst) = report.worst else {
        return expected(out, report);
    };
    let mut more = Vec::new();
    if let Some(moves) = worst.moves {
        more.push(format!("{moves} moves"));
    }
    if let Some(rounds) = worst.rounds {
        more.push(format!("{rounds} rounds"));
    }
    let missing = match (worst.rounds, report.scheduler) {
        (None, Some(_)) => "; rounds not counted",
        _ => "",
    };
    let unit = if report.scheduler.is_some() {
        "steps"
    } else {
        "rounds"
    };
    let more = if more.is_empty() {
        String::new()
    } else {
        format!(", at most {}", more.join(" and "))
    };
    let mean = match report.figures.mean {
        Some(mean) => format!("; {mean:.2} on average over all states"),
        _ => String::new(),
    };
    writeln!(
        out,
        "\nWorst case, exactly: {HEADING}{} {unit}{HEADING:#} until legitimate{more}{mean}{missing}",
        worst.steps
    )
}

/// How long it takes on average, where chance decides.
fn expected(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let figures = &report.figures;
    let (Some(low), Some(high)) = (figures.expected_steps_low, figures.expected_steps_high) else {
        return Ok(());
    };
    let until = "until legitimate on average, from the worst start under the worst schedule";
    match &figures.expected_steps_exact {
        Some(exact) => writeln!(
            out,
            "\nExpected, exactly: {HEADING}{exact} steps{HEADING:#} (about {low:.6}) {until}"
        ),
        _ => writeln!(
            out,
            "\nExpected: between {HEADING}{low:.7}{HEADING:#} and {HEADING}{high:.7} \
             steps{HEADING:#} {until}"
        ),
    }
}

fn witness(out: &mut dyn Write, report: &Report, saved: Option<&Path>) -> io::Result<()> {
    let Some(run) = headway_answer::check::witness_of(report) else {
        return Ok(());
    };
    let what = match (report.all_hold(), report.worst) {
        (false, _) => "Counterexample",
        (true, Some(_)) => "Slowest start",
        (true, None) if report.figures.expected_steps_low.is_some() => "Worst start",
        (true, None) => "Closest approach of two tokens, from",
    };
    match saved {
        Some(path) if run.start.is_some() => writeln!(
            out,
            "\n{what}: in {0}; replay it with\n  headway run --start {1}",
            path.display(),
            argument(path)
        ),
        Some(path) => writeln!(out, "\n{what}: in {}, state by state", path.display()),
        None => {
            let first = run.states.first().map_or("", String::as_str);
            let replay = if run.start.is_some() {
                " and replay"
            } else {
                ""
            };
            writeln!(
                out,
                "\n{what}: {first}\n  {DIM}add --witness FILE.json to keep{replay} it{DIM:#}"
            )
        }
    }
}

/// The path as `headway run --start` takes it: a name needs a dot or a slash.
fn argument(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains(['.', '/', '\\']) {
        text
    } else {
        format!("./{text}")
    }
}

fn run(out: &mut dyn Write, run: &Trace) -> io::Result<()> {
    for (index, state) in run.states.iter().take(SHOWN).enumerate() {
        let again = if run.repeats_from == Some(index) {
            "↻"
        } else {
            " "
        };
        writeln!(out, "  {DIM}{index:>4} {again}{DIM:#} {state}")?;
    }
    if run.states.len() > SHOWN {
        writeln!(out, "  {DIM}… {} more{DIM:#}", run.states.len() - SHOWN)?;
    }
    if let Some(index) = run.repeats_from {
        writeln!(out, "  {DIM}and again from {index}, forever{DIM:#}")?;
    }
    Ok(())
}
