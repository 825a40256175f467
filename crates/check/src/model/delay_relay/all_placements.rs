//! The report on all placements of the delays together.

use super::report::{check_by_cases, check_every_state};
use super::{Instance, Settings};
use crate::control::Control;
use crate::error::{CheckError, Result, TooLarge};
use crate::report::{Figures, Report};
use crate::schedule::bits;
use crate::settings::separation;

#[cfg(test)]
mod tests;

/// Checks every non-empty set of delays, one per rotation, and sums up.
///
/// The report's states and legitimate states are totals over the placements
/// checked; the worst case is the worst of all, with its witness.
pub(super) fn check_all(settings: &Settings, control: &Control) -> Result<Report> {
    let processes = settings.processes;
    let tokens = settings.tokens.on(processes);
    let separation = separation(settings.separation, processes, tokens);
    TooLarge::bound("processes with all placements of delays", processes, 24)?;
    let mut placements = 0;
    let mut total: Option<Report> = None;
    for set in (1..1_u64 << processes).filter(|&set| is_first_rotation(set, processes)) {
        placements += 1;
        let instance = Instance::with_delays(processes, tokens, separation, bits(set))?;
        let report = match settings.unreduced {
            true => check_every_state(&instance, control)?,
            false => check_by_cases(&instance, control)?,
        };
        total = Some(match total {
            None => report,
            Some(total) => combine(total, report),
        });
    }
    let mut total =
        total.ok_or_else(|| CheckError::settings("a ring needs at least one process"))?;
    total.instance = format!(
        "{processes} processes, {tokens} tokens, separation {separation}, all {placements} \
         placements of delays up to rotation"
    );
    total.figures = Figures {
        worst_last_rest: total.figures.worst_last_rest,
        never: total.figures.never,
        placements: Some(placements),
        ..Figures::default()
    };
    Ok(total)
}

/// Whether a set of places is the smallest number among its turns.
fn is_first_rotation(set: u64, processes: usize) -> bool {
    let size = 1 << processes;
    // Twice, side by side: every turn is `processes` neighbouring bits of that.
    let twice = set * (size + 1);
    (1..processes).all(|turn| (twice >> turn) % size >= set)
}

fn combine(mut total: Report, other: Report) -> Report {
    total.states += other.states;
    total.legitimate += other.legitimate;
    // Keep one entry per property: the first that fails, else the first of all.
    for theirs in other.properties {
        let mut properties = total.properties.iter_mut();
        match properties.find(|mine| mine.name == theirs.name) {
            Some(mine) if mine.holds && !theirs.holds => *mine = theirs,
            Some(_) => {}
            None => total.properties.push(theirs),
        }
    }
    match (total.worst, other.worst) {
        (Some(mine), Some(theirs)) if theirs.steps <= mine.steps => {}
        (None, _) => {}
        _ => (total.worst, total.witness) = (other.worst, other.witness),
    }
    let (mine, theirs) = (&mut total.figures, other.figures);
    if let Some((one, other)) = mine.worst_last_rest.zip(theirs.worst_last_rest) {
        mine.worst_last_rest = Some(one.max(other));
    }
    mine.never = match (mine.never.take(), theirs.never) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    };
    total
}
