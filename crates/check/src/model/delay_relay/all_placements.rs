//! The report on all placements of the delays together.

use super::Instance;
use super::report::by_own_engines;
use crate::control::Control;
use crate::error::{CheckError, Result, TooLarge};
use crate::model::Search;
use crate::report::{Figure, Report};
use crate::schedule::bits;

#[cfg(test)]
mod tests;

/// Rings of one size with every non-empty set of delays, one per rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllPlacements {
    /// n, at most 24.
    pub processes: usize,
    /// m.
    pub tokens: usize,
    /// d.
    pub separation: u32,
    /// How each is checked.
    pub search: Search,
}

/// Checks all placements and sums up.
///
/// The report's states and legitimate states are totals over the placements
/// checked; the worst case is the worst of all, with its witness.
///
/// # Errors
///
/// As [`check`](super::check); also with more than 24 processes.
pub fn check_all(settings: &AllPlacements, control: &Control) -> Result<Report> {
    let (processes, tokens) = (settings.processes, settings.tokens);
    let (separation, search) = (settings.separation, settings.search);
    TooLarge::bound("processes with all placements of delays", processes, 24)?;
    let mut placements = 0;
    let mut total: Option<Report> = None;
    for set in (1..1_u64 << processes).filter(|&set| is_first_rotation(set, processes)) {
        placements += 1;
        let instance = Instance::with_delays(processes, tokens, separation, bits(set))?;
        let report = by_own_engines(&instance, search, control)?;
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
    total
        .figures
        .retain(|(name, _)| *name == "worst_last_rest" || *name == "never");
    total
        .figures
        .push(("placements", Figure::Number(placements)));
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
    for (name, theirs) in other.figures {
        let mut figures = total.figures.iter_mut();
        let mine = figures
            .find(|(mine, _)| *mine == name)
            .map(|(_, mine)| mine);
        match (mine, theirs) {
            // States that never become legitimate.
            (Some(Figure::Count(mine)), Figure::Count(theirs)) => *mine += theirs,
            (None, theirs @ Figure::Count(_)) => total.figures.push((name, theirs)),
            (Some(Figure::Number(mine)), Figure::Number(theirs)) => *mine = theirs.max(*mine),
            _ => {}
        }
    }
    total
}
