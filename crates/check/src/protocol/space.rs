//! The state space for other programs: DOT, Aldebaran, CSV.

use std::io::{self, Write};

use strum::{Display, EnumString};

use super::Compiled;
use crate::Scheduler;
use crate::schedule::bits;
use crate::traits::Model;

/// In which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString)]
#[strum(serialize_all = "lowercase")]
#[strum(parse_err_ty = UnknownFormat, parse_err_fn = unknown)]
pub enum Format {
    /// For Graphviz: legitimate states have two borders.
    Dot,
    /// Aldebaran, for CADP and mCRL2: state 0 leads to all others, by `start`.
    Aut,
    /// A line for every step.
    Csv,
}

/// The text names no format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected dot, aut or csv")]
pub struct UnknownFormat;

fn unknown(_: &str) -> UnknownFormat {
    UnknownFormat
}

struct Edge {
    from: u64,
    to: u64,
    /// "0.bump+2.copy", and the probability where chance decides.
    label: String,
}

/// The most states that [`write_space`] is meant for: a file of some tens of gigabytes.
pub const MAX_WRITTEN: u64 = 100_000_000;

/// Writes every state and every step.
///
/// # Errors
///
/// When writing fails.
pub fn write_space(
    model: &Compiled<'_>,
    scheduler: Option<Scheduler>,
    format: Format,
    out: &mut impl Write,
) -> io::Result<()> {
    let scheduler = scheduler.unwrap_or(model.protocol().scheduler());
    let ranks = || (0..model.states()).filter(|&rank| model.exists(&model.state(rank)));
    let shown = |rank: u64| model.show(&model.state(rank));
    let legitimate = |rank: u64| model.legitimate(&model.state(rank));
    match format {
        Format::Dot => {
            writeln!(
                out,
                "digraph states {{\n  node [shape=box, fontname=monospace]"
            )?;
            for rank in ranks() {
                let borders = 1 + u8::from(legitimate(rank));
                writeln!(
                    out,
                    "  {rank} [label=\"{}\", peripheries={borders}]",
                    shown(rank)
                )?;
            }
            for edge in edges(model, scheduler, ranks()) {
                writeln!(
                    out,
                    "  {} -> {} [label=\"{}\"]",
                    edge.from, edge.to, edge.label
                )?;
            }
            writeln!(out, "}}")
        }
        Format::Aut => {
            // Without gaps, from 1; a step that leaves the states that are given leads to 0.
            let given: Vec<u64> = ranks().collect();
            let number = |rank: u64| given.binary_search(&rank).map_or(0, |at| at + 1);
            let steps = edges(model, scheduler, ranks()).count();
            let loops = ranks().filter(|&rank| legitimate(rank)).count();
            writeln!(
                out,
                "des (0, {}, {})",
                steps + loops + given.len(),
                given.len() + 1
            )?;
            for rank in ranks() {
                writeln!(out, "(0, \"start\", {})", number(rank))?;
                if legitimate(rank) {
                    writeln!(out, "({0}, \"legitimate\", {0})", number(rank))?;
                }
            }
            for edge in edges(model, scheduler, ranks()) {
                let (from, to) = (number(edge.from), number(edge.to));
                writeln!(out, "({from}, \"{}\", {to})", edge.label)?;
            }
            Ok(())
        }
        Format::Csv => {
            writeln!(
                out,
                "from,to,step,from_legitimate,to_legitimate,from_state,to_state"
            )?;
            for Edge { from, to, label } in edges(model, scheduler, ranks()) {
                let (a, b) = (legitimate(from), legitimate(to));
                writeln!(
                    out,
                    "{from},{to},{label},{a},{b},{},{}",
                    shown(from),
                    shown(to)
                )?;
            }
            Ok(())
        }
    }
}

fn edges<'a>(
    model: &'a Compiled<'_>,
    scheduler: Scheduler,
    ranks: impl Iterator<Item = u64> + 'a,
) -> impl Iterator<Item = Edge> + 'a {
    ranks.flat_map(move |from| steps(model, scheduler, from))
}

fn steps(model: &Compiled<'_>, scheduler: Scheduler, from: u64) -> Vec<Edge> {
    // By process: difference, name, probability.
    #[allow(clippy::type_complexity, reason = "used here only")]
    let mut moves: Vec<Vec<(u64, String, (u64, u64))>> = vec![Vec::new(); 64];
    let mut enabled = 0_u64;
    model.each_choice(from, |process, choice, effects| {
        enabled |= 1 << process;
        let name = &model.action(process, choice.action).name;
        for effect in effects {
            let (p, q) = effect.chance;
            let difference = effect.difference.unwrap_or(0);
            moves[process].push((
                difference,
                format!("{process}.{name}"),
                (p.into(), q.into()),
            ));
        }
    });
    let neighbours = |process| crate::traits::Guarded::neighbours(model, process);
    let mut edges = Vec::new();
    for selected in scheduler.selections(enabled, neighbours) {
        let mut all = vec![(from, String::new(), 1.0)];
        for process in bits(selected) {
            let mut next = Vec::new();
            for (rank, label, chance) in &all {
                for (difference, name, (p, q)) in &moves[process] {
                    let plus = if label.is_empty() { "" } else { "+" };
                    let chance: f64 = chance * *p as f64 / *q as f64;
                    next.push((
                        rank.wrapping_add(*difference),
                        format!("{label}{plus}{name}"),
                        chance,
                    ));
                }
            }
            all = next;
        }
        edges.extend(all.into_iter().map(|(to, mut label, chance)| {
            if chance < 1.0 {
                label.push_str(&format!(" p={chance}"));
            }
            Edge { from, to, label }
        }));
    }
    edges
}
